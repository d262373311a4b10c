package builtin

import (
	"context"
	"github.com/hookd/hookd/internal/events"
)

var snapshot = Builtin{
	Name: "snapshot", Events: []string{"session_start", "turn_start", "turn_end", "pre_tool_use", "post_tool_use", "session_end"},
	Doc: "keeps the changes of each turn and tool call in a git working tree for `hookd undo`; it never answers",
	Run: takeSnapshot,
}

// turnMark is the mark of a turn; a tool's is "tool:" and the call's id.
const turnMark = "turn"

// takeSnapshot begins a step where work begins and ends it where work ends: `hookd undo` lists it if files changed. A
// snapshot that fails stops no agent: errors are logged only.
func takeSnapshot(_ context.Context, c *Invocation) ([]byte, error) {
	if c.Cwd == "" || c.SessionID == "" || c.Steps == nil {
		return nil, nil
	}
	if err := c.step(); err != nil {
		c.log("snapshot on "+c.Event, err)
	}
	return nil, nil
}

// step finds the meaning of an event for snapshots: docker-agent's turns by name, the rest by kind, which
// serves other agents' names of the same moments.
func (c *Invocation) step() error {
	kind := c.Row.Kind
	switch c.Row.Name {
	case "turn_start":
		kind = events.KindPromptSubmit
	case "turn_end":
		kind = events.KindTurnStop
	}
	switch kind {
	case events.KindSessionStart, events.KindPromptSubmit:
		return c.Steps.Begin(c, turnMark)
	case events.KindTurnStop: // without a turn_start hook the next turn is measured from here
		c.Steps.End(c.SessionID, turnMark)
		return c.Steps.Begin(c, turnMark)
	case events.KindSessionEnd:
		c.Steps.Forget(c.SessionID)
	case events.KindToolBefore, events.KindToolAfter:
		var p struct {
			ID string `json:"tool_use_id"`
		}
		if err := c.read(&p); err != nil {
			return err
		}
		if kind == events.KindToolBefore {
			return c.Steps.Begin(c, "tool:"+p.ID)
		}
		c.Steps.End(c.SessionID, "tool:"+p.ID)
	}
	return nil
}
