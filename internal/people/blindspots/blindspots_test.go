package blindspots

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
)

// history is a Record of one session.
type history struct {
	session   string
	accepted  []client.AcceptedEvent
	decisions []client.Decision
	executed  *client.Executed
}

func (h history) Accepted(_ context.Context, q client.EventQuery) ([]client.AcceptedEvent, error) {
	if q.Session != h.session {
		return nil, nil
	}
	return h.accepted, nil
}

func (h history) Decisions(_ context.Context, q client.DecisionQuery) (list []client.Decision, _ error) {
	for _, d := range h.decisions {
		words := strings.Split(q.Decision, ",")
		if slices.Contains(words, string(d.Guarded)) || q.Session == h.session && slices.Contains(words, string(d.Decision)) {
			list = append(list, d)
		}
	}
	return list, nil
}

func (h history) Sessions(context.Context, client.SessionQuery) ([]client.Session, error) {
	return []client.Session{{SessionID: h.session, Dialect: events.ClaudeCode, Tools: 2}}, nil
}

func (h history) Status(context.Context) (client.DaemonInfo, error) {
	return client.DaemonInfo{Unguarded: []client.Unguarded{{Agent: events.ClaudeCode, Executed: h.executed}}}, nil
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// wrote is the text that Claude Code writes about a call and its result.
func wrote(session, id string, minute int, failed bool) string {
	at := noon.Add(time.Duration(minute) * time.Minute).Format(time.RFC3339)
	head := fmt.Sprintf(`"timestamp":%q,"cwd":"/p","sessionId":%q,"version":"2.1.330"`, at, session)
	return fmt.Sprintf(`{"type":"assistant",%s,"message":{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"ls"}}]}}
{"type":"user",%[1]s,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%[2]q,"content":"x","is_error":%[3]t}]},"toolUseResult":{"stdout":"x"}}
`, head, id, failed)
}

// Each call of a transcript was asked about, or not, or ran against the answer. A session that is not on
// record is counted apart, and a call that the record shows already is not counted again.
func TestLook(t *testing.T) {
	home := t.TempDir()
	dir := home + "/.claude/projects/-p/"
	hooktest.Write(t, dir+"s1.jsonl", wrote("s1", "early", -9, false)+wrote("s1", "asked", 1, false)+wrote("s1", "denied", 2, false)+
		wrote("s1", "obeyed", 2, true)+wrote("s1", "unseen", 3, false)+wrote("s1", "known", 4, false)+wrote("s1", "young", 60, false), 0o600)
	hooktest.Write(t, dir+"s1/subagents/agent-1.jsonl", strings.ReplaceAll(wrote("s1", "inside", 5, false), `"cwd"`, `"isSidechain":true,"agentId":"1","cwd"`), 0o600)
	hooktest.Write(t, dir+"s2.jsonl", wrote("s2", "a", 1, false)+wrote("s2", "b", 2, false), 0o600)
	accepted := func(id string) client.AcceptedEvent {
		return client.AcceptedEvent{Kind: "tool.before", EventHead: client.EventHead{
			EventID: "E" + id, Time: noon, Dialect: events.ClaudeCode, SessionID: "s1", Tool: "Bash", CallID: id,
		}}
	}
	h := history{
		session:  "s1",
		accepted: []client.AcceptedEvent{accepted("asked"), accepted("denied"), accepted("obeyed")},
		decisions: []client.Decision{
			{SessionID: "s1", Dialect: events.ClaudeCode, CallID: "denied", Decision: "deny", Tool: "Bash", Guarded: "asked"},
			{SessionID: "s1", Dialect: events.ClaudeCode, CallID: "obeyed", Decision: "deny", Tool: "Bash", Guarded: "asked"},
			{SessionID: "s1", Dialect: events.ClaudeCode, CallID: "known", Decision: "none", Tool: "Bash", Guarded: "not asked", Time: noon},
		},
	}
	r, err := Look(t.Context(), Options{Record: h, Home: home, Since: noon.Add(-time.Hour), Now: noon.Add(time.Hour)})
	hooktest.Must(t, err)
	if len(r.Agents) != 1 || r.Clean() {
		t.Fatalf("found %+v", r)
	}
	a := r.Agents[0]
	if a.Asked != 2 || a.NotAsked != 3 || a.Disobeyed != 1 || a.Away != 2 || a.Sessions != 1 || a.Do != "hookd doctor claude-code" {
		t.Errorf("found %+v", a)
	}
	if len(a.Tools) != 1 || a.Tools[0].Subagent != 1 || a.Tools[0].NotAsked != 3 || !a.Tools[0].Last.Equal(noon.Add(5*time.Minute)) {
		t.Errorf("by tool: %+v", a.Tools)
	}
	if r, err = Look(t.Context(), Options{Record: history{session: "s1"}, Agent: "codex"}); err != nil || !r.Clean() {
		t.Errorf("another agent: %+v, %v", r, err)
	}
}

// A command that no call explains is a blind spot; an agent's own programs are none.
func TestExecuted(t *testing.T) {
	h := history{session: "s1", executed: &client.Executed{Asked: 3, Unasked: 2, Programs: []client.Program{{Name: "git", Count: 2}}}}
	r, err := Look(t.Context(), Options{Record: h})
	if err != nil || !r.Clean() || r.Agents[0].Executed != h.executed || r.Agents[0].Do != "" {
		t.Errorf("found %+v, %v", r, err)
	}
	h.executed.Commands = 1
	if r, err = Look(t.Context(), Options{Record: h}); err != nil || r.Clean() || r.Agents[0].Do == "" {
		t.Errorf("found %+v, %v", r, err)
	}
	if r, err = Look(t.Context(), Options{Record: h, Agent: "codex"}); err != nil || !r.Clean() {
		t.Errorf("another agent: %+v, %v", r, err)
	}
}
