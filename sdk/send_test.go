package sdk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	hooktest.RemovePrograms()
	os.Exit(code)
}

// Each sender tells, asks, follows and is refused, with one answer for an event that it
// sends twice.
func TestSenders(t *testing.T) {
	home := hooktest.ShortDir(t)
	hooktest.Hook(t, home, "no-sudo", "events: [PreToolUse]\n", "if grep -q sudo; then echo 'no sudo' >&2; exit 2; fi\n")
	socket := filepath.Join(home, "hookd.sock")
	hooktest.Serve(t, home)
	answers := client.New(client.Options{Socket: socket})
	hooktest.Until(t, "it is ready", func() bool { return answers.Ready(t.Context()) == nil })
	for _, r := range runtimes(t) {
		t.Run(r.name, func(t *testing.T) {
			cmd := r.command(t, "send")
			cmd.Env = append(cmd.Env, "HOOKD_SOCKET="+socket)
			got := strings.ToLower(string(output(t, cmd, nil)))
			if want := "true\ntrue \nfalse no sudo\ntrue\nbad_event_name\n"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
