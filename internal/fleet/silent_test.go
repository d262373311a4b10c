package fleet_test

import (
	"strings"
	"syscall"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/fleet/fleettest"
	"github.com/hookd/hookd/internal/fleet/jetstream"
)

// A server that hangs keeps its connections: a machine goes to another one when it has
// acknowledged nothing for a while, and says so.
func TestSilentServerIsLeft(t *testing.T) {
	if !hooktest.All() {
		t.Skip("a server may be silent for 10 s")
	}
	servers := fleettest.Cluster(t, 3)
	var urls []string
	for _, s := range servers {
		urls = append(urls, s.URL())
	}
	said, lines := observer.New(zap.WarnLevel)
	b, err := jetstream.Connect(engine.Options{Servers: urls, Machine: "laptop"}, zap.New(said))
	hooktest.Must(t, err)
	defer b.Close()
	stream := engine.Stream{Name: "NOTES", Subjects: []string{"notes"}, MaxBytes: 1 << 20}
	stores := func() bool {
		return b.Publish(t.Context(), []engine.Message{{Subject: "notes", Data: []byte("{}")}})[0] == nil
	}
	hooktest.Until(t, "there is a stream", func() bool { return b.Prepare(t.Context(), []engine.Stream{stream}) == nil })
	hooktest.Until(t, "it takes messages", stores)
	first := b.State().Server
	for _, s := range servers {
		if strings.HasSuffix(s.URL(), first) {
			s.Signal(syscall.SIGSTOP)
			defer s.Signal(syscall.SIGCONT)
		}
	}
	// Messages under way when the server stopped may be acknowledged.
	hooktest.Until(t, "another server stores", func() bool { return stores() && b.State().Server != first })
	if lines.FilterMessageSnippet("acknowledges nothing").Len() == 0 {
		t.Errorf("the log says %v", lines.All())
	}
}
