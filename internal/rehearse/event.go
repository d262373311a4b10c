package rehearse

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/hookd/hookd/internal/dialect"
	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/match"
	"github.com/hookd/hookd/internal/rawjson"
)

// Event returns the event of one of h's tests. What the test does not say is filled in:
// the hook's first event, the fields that are documented for it with values as an agent
// sends them, and for arguments alone the tool that takes them, by the name that the
// event's agent has for it.
func Event(h *hook.Hook, t hook.Test) events.Envelope {
	env := events.Envelope{
		Event: cmp.Or(t.Event, match.FirstEvent(h)), Dialect: t.Dialect, Cwd: t.Cwd, Wait: true,
		AgentName: cmp.Or(h.Agent, match.Exact(h.Filter.Agents)),
	}
	c := events.For(env.Dialect, env.Event)
	data := c.Example()
	if t.Cwd != "" && isField(c, "cwd") {
		data = rawjson.With(data, rawjson.StringMember("cwd", t.Cwd))
	}
	env.Data = rawjson.With(data, given(c, t)...)
	env.SessionID, _ = rawjson.GetString(env.Data, "session_id")
	env.Cwd = cmp.Or(env.Cwd, match.Exact(h.Filter.Workspaces), h.Project)
	return env
}

// given are the members of the payload that a test says something of.
func given(c *events.Contract, t hook.Test) (members []rawjson.Member) {
	tool, input := match.ToolField(c), match.InputField(c)
	whole := rawjson.Get(t.Data, tool) != nil || rawjson.Get(t.Data, input) != nil
	if tool == "" || input == "" || whole {
		for key, value := range rawjson.Members(t.Data) {
			members = append(members, rawjson.Member{Key: key, Value: value})
		}
		if tool != "" && t.Tool != "" {
			own, _ := dialect.OwnCall(c.Dialect, t.Tool, nil)
			members = append(members, rawjson.StringMember(tool, own))
		}
		return members
	}
	args := t.Data
	if args == nil {
		args = json.RawMessage("{}")
	}
	own, args := dialect.OwnCall(c.Dialect, cmp.Or(t.Tool, toolOf(args)), args)
	return []rawjson.Member{rawjson.StringMember(tool, own), {Key: input, Value: args}}
}

// tools are the canonical tools by the argument that identifies them, the surest first.
var tools = []struct{ argument, tool string }{
	{"command", neutral.Shell}, {"old_string", "Edit"}, {"edits", "MultiEdit"}, {"notebook_path", "NotebookEdit"},
	{"content", "Write"}, {"file_path", "Read"}, {"url", "WebFetch"}, {"query", "WebSearch"},
	{"pattern", "Grep"}, {"subagent_type", "Task"}, {"path", "LS"},
}

// toolOf is the canonical tool that takes such arguments.
func toolOf(args json.RawMessage) string {
	for _, t := range tools {
		if rawjson.Get(args, t.argument) != nil {
			return t.tool
		}
	}
	return neutral.Shell
}

func isField(c *events.Contract, name string) bool {
	return slices.ContainsFunc(c.Fields, func(f events.Field) bool { return f.Name == name })
}
