package sdk

import (
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/daemon"
	"github.com/hookd/hookd/internal/hooktest"
)

// Each sender tells, asks, follows and is refused, with one answer for an event that it
// sends twice.
func TestSenders(t *testing.T) {
	home := hooktest.ShortDir(t)
	hooktest.Hook(t, home, "no-sudo", "events: [PreToolUse]\n", "if grep -q sudo; then echo 'no sudo' >&2; exit 2; fi\n")
	c := config.Default(home)
	d, err := daemon.New(daemon.Options{Config: c, Version: "test"})
	hooktest.Must(t, err)
	hooktest.Run(t, d.Run)
	answers := client.New(client.Options{Socket: c.Socket})
	hooktest.Until(t, "it is ready", func() bool { return answers.Ready(t.Context()) == nil })
	for _, r := range runtimes(t) {
		t.Run(r.name, func(t *testing.T) {
			cmd := r.command(t, "send")
			cmd.Env = append(cmd.Env, "HOOKD_SOCKET="+c.Socket)
			got := strings.ToLower(string(output(t, cmd, nil)))
			if want := "true\ntrue \nfalse no sudo\ntrue\nbad_event_name\n"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
