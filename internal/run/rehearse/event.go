package rehearse

import (
	"os"
	"path/filepath"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match"
)

// Event returns the event of one of h's tests, with what the test does not say filled in as
// match.Sample does. A test that names no folder is of the folder project in the home.
func Event(h *hook.Hook, t hook.Test) events.Envelope {
	env := events.Envelope{Event: t.Event, Dialect: t.Dialect, Cwd: t.Cwd, Data: t.Data, Wait: true}
	env = match.Sample(h, env, t.Tool)
	if home, err := os.UserHomeDir(); err == nil && env.Cwd == "" {
		env.Cwd = filepath.Join(home, "project")
	}
	return env
}
