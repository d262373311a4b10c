package bridge

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/door/server"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

func TestMain(m *testing.M) {
	if os.Getenv("BRIDGE_TEST_MAIN") != "" {
		Main()
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		hooktest.RemovePrograms()
		os.Exit(code)
	}))
}

// said is everything that a call of the bridge left behind.
type said struct {
	stdout, stderr string
	exit           int
}

// called runs the bridge with a payload on stdin, as the program does.
func called(t *testing.T, o Options, payload string) said {
	t.Helper()
	var stdout, stderr strings.Builder
	o.Stdin, o.Stdout, o.Stderr = strings.NewReader(payload), &stdout, &stderr
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.State == "" {
		o.State = t.TempDir()
	}
	if o.Exit == nil {
		o.Exit = func(code int) { t.Errorf("something has hung: the process would have ended with %d", code) }
	}
	exit := Run(t.Context(), o)
	return said{stdout.String(), stderr.String(), exit}
}

// emitter stands behind a real server and answers events.
type emitter func(context.Context, events.Envelope) (wire.Answer, *wire.Error)

// emitting is an emitter as the server wants it; ctx ends with the server.
type emitting struct {
	emitter
	ctx context.Context
}

func (e emitting) Begin(_ server.Peer, env *events.Envelope) (wire.Answer, server.Rest, *wire.Error) {
	own := *env // without the connection's memory
	own.Data = slices.Clone(env.Data)
	return wire.Answer{}, func() (wire.Answer, *wire.Error) { return e.emitter(e.ctx, own) }, nil
}

// serve runs a real server and returns its socket.
func serve(t *testing.T, decide emitter) string {
	t.Helper()
	socket := filepath.Join(hooktest.ShortDir(t), "s")
	ctx, cancel := context.WithCancel(context.Background())
	s, err := server.Listen(server.Options{Socket: socket, Emitter: emitting{decide, ctx}})
	hooktest.Must(t, err)
	hooktest.Run(t, s.Serve)
	t.Cleanup(cancel) // before the server waits for its answers
	return socket
}
