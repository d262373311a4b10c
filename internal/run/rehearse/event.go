package rehearse

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match"
	"github.com/hookd/hookd/internal/run/runner"
	"github.com/hookd/hookd/wire"
)

// before returns the events before a test of h, whose event is env; nil = h does not look
// back.
func before(h *hook.Hook, t hook.Test, env events.Envelope, now time.Time) *runner.Past {
	if !h.Rules.Looks() {
		return nil
	}
	home, _ := os.UserHomeDir() // without one, ~ stays in targets
	past := runner.NewSequence(h, home)
	agent := events.For(env.Dialect, env.Event).Dialect
	for i, g := range t.Given {
		for n := range max(g.Times, 1) {
			e, ok := happened(g, agent, env)
			if !ok {
				continue
			}
			e.EventID, e.Time = fmt.Sprintf("given %d.%d", i+1, n+1), now.Add(-g.Ago)
			e.CallID = e.EventID
			ended := map[string]dialect.Ending{"true": dialect.EndedOK, "false": dialect.EndedFailed}[g.OK]
			decided, end := wire.OutcomeNone, &ended
			if g.Denied {
				decided = wire.OutcomeDeny
			}
			if g.Running {
				end = nil
			}
			past.Happened(e, decided, end)
		}
	}
	return past
}

// toolCall returns the event of an agent that is about to call a tool, which may have its
// canonical name. session may be "". It is false for an agent that has no such event.
func toolCall(agent events.Dialect, call hook.Test, session string) (events.Envelope, bool) {
	rows := events.All()
	i := slices.IndexFunc(rows, func(c *events.Contract) bool {
		return c.Dialect == agent && c.Kind == events.KindToolBefore && c.ToolMatched && c.Tools == ""
	})
	if i < 0 {
		return events.Envelope{}, false
	}
	call.Event, call.Dialect = rows[i].Name, agent
	env := Event(&hook.Hook{}, call)
	env.SessionID = session
	if match.IsField(rows[i], "session_id") {
		env.Data = rawjson.With(env.Data, rawjson.StringMember("session_id", session))
	}
	return env, true
}

// happened is the event of something that happened to an agent before a test. ok is false for
// an agent that has no such event.
func happened(g hook.Given, agent events.Dialect, test events.Envelope) (e *events.Event, ok bool) {
	session := cmp.Or(g.Session, test.SessionID)
	env, ok := toolCall(agent, hook.Test{Tool: g.Tool, Data: g.Data, Cwd: test.Cwd}, session)
	kind := events.KindToolBefore
	if g.Prompt != "" || g.Start {
		kind = events.KindPromptSubmit
		if g.Start {
			kind = events.KindSessionStart
		}
		rows := events.All()
		i := slices.IndexFunc(rows, func(c *events.Contract) bool { return c.Dialect == agent && c.Kind == kind })
		if ok = i >= 0; ok {
			env = events.Envelope{Event: rows[i].Name, Dialect: agent, Cwd: test.Cwd}
			env.Data = rawjson.With([]byte("{}"), rawjson.StringMember("prompt", g.Prompt))
		}
	}
	if !ok {
		return nil, false
	}
	env.SessionID, env.AgentID, env.AgentName = session, test.AgentID, test.AgentName
	e = &events.Event{Envelope: env, Contract: events.For(env.Dialect, env.Event)}
	e.Dialect = e.Contract.Dialect
	return e, true
}

// Event returns the event of one of h's tests. It fills in the parts that the test does not say as
// match.Sample does. A test that names no folder is of the folder project in the home.
func Event(h *hook.Hook, t hook.Test) events.Envelope {
	env := events.Envelope{Event: t.Event, Dialect: t.Dialect, Cwd: t.Cwd, Data: t.Data, Wait: true}
	env = match.Sample(h, env, t.Tool)
	if home, err := os.UserHomeDir(); err == nil && env.Cwd == "" {
		env.Cwd = filepath.Join(home, "project")
	}
	return env
}
