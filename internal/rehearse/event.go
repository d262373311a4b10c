package rehearse

import (
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/match"
)

// Event returns the event of one of h's tests, with what the test does not say filled in as
// match.Sample does.
func Event(h *hook.Hook, t hook.Test) events.Envelope {
	env := events.Envelope{Event: t.Event, Dialect: t.Dialect, Cwd: t.Cwd, Data: t.Data, Wait: true}
	return match.Sample(h, env, t.Tool)
}
