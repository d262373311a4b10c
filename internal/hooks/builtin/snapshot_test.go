package builtin

import (
	"errors"
	"slices"
	"testing"

	"github.com/hookd/hookd/internal/events"
)

// noted is a Steps that remembers the calls of its methods.
type noted struct {
	did []string
	err error
}

func (n *noted) Begin(c *Invocation, mark string) error {
	n.did = append(n.did, "begin "+c.SessionID+" "+mark)
	return n.err
}
func (n *noted) End(session, mark string) { n.did = append(n.did, "end "+session+" "+mark) }
func (n *noted) Forget(session string)    { n.did = append(n.did, "forget "+session) }

// Turns and tool calls are steps, whatever an agent calls its events.
func TestSnapshotSteps(t *testing.T) {
	for _, test := range []struct {
		dialect events.Dialect
		event   string
		want    []string
	}{
		{"", "session_start", []string{"begin s turn"}},
		{"", "turn_start", []string{"begin s turn"}},
		{"", "turn_end", []string{"end s turn", "begin s turn"}},
		{"", "pre_tool_use", []string{"begin s tool:1"}},
		{"", "post_tool_use", []string{"end s tool:1"}},
		{"", "session_end", []string{"forget s"}},
		{events.ClaudeCode, "UserPromptSubmit", []string{"begin s turn"}},
		{events.ClaudeCode, "Stop", []string{"end s turn", "begin s turn"}},
		{"", "on_error", nil},
	} {
		n := &noted{}
		c := callOf(events.For(test.dialect, test.event), `{"tool_name":"shell","tool_use_id":"1"}`)
		c.Cwd, c.SessionID, c.Steps = t.TempDir(), "s", n
		if out, err := snapshot.Run(t.Context(), &c); len(out) != 0 || err != nil || !slices.Equal(n.did, test.want) {
			t.Errorf("%s: %q, %q, %v; want %q", test.event, n.did, out, err, test.want)
		}
	}
}

func TestSnapshotErrorsAreOnlyLogged(t *testing.T) {
	var logged error
	c := callOf(events.LookupIn(events.DockerAgent, "turn_start"), "{}")
	c.Cwd, c.SessionID, c.Log = t.TempDir(), "s", func(_ string, err error) { logged = err }
	c.Steps = &noted{err: errors.New("full")}
	if out, err := snapshot.Run(t.Context(), &c); len(out) != 0 || err != nil || logged == nil {
		t.Errorf("got %q, %v, logged %v, want only a log entry", out, err, logged)
	}
	c.Steps = nil
	if _, err := snapshot.Run(t.Context(), &c); err != nil {
		t.Errorf("without a vault: %v", err)
	}
}
