package match

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// Whole returns env with its data as an agent sends it. A person may write the arguments of a tool
// call alone: they get the tool that takes them, by the name that the agent of env's dialect has for
// the tool. tool is its name, canonical or the agent's own; "" = the tool that takes such arguments.
// changed is false where env had all of that: then env stays as it is.
func Whole(env events.Envelope, tool string) (_ events.Envelope, changed bool) {
	c := events.For(env.Dialect, env.Event)
	field, input := ToolField(c), InputField(c)
	empty := len(env.Data) == 0 || string(env.Data) == "{}"
	switch {
	case field == "":
		return env, false
	case input != "" && (isShort(c, env.Data) || empty && tool != ""):
		args := env.Data
		if len(args) == 0 {
			args = json.RawMessage("{}")
		}
		own, args := dialect.OwnCall(c.Dialect, cmp.Or(tool, toolOf(args)), args)
		env.Data = rawjson.With(nil, rawjson.StringMember(field, own), rawjson.Member{Key: input, Value: args})
		return env, true
	case tool != "":
		own, _ := dialect.OwnCall(c.Dialect, tool, nil)
		env.Data = rawjson.With(env.Data, rawjson.StringMember(field, own))
		return env, true
	}
	return env, false
}

// isShort reports whether data is the arguments of a tool call: it has members, and none that is
// documented for an event with contract c or tells the event's place.
func isShort(c *events.Contract, data json.RawMessage) bool {
	any := false
	for key := range rawjson.Members(data) {
		if IsField(c, key) || slices.Contains(placeFields, key) {
			return false
		}
		any = true
	}
	return any
}

// placeFields tell of any event where it happened.
var placeFields = []string{"session_id", "agent_id", "agent_name", "hook_event_name", "transcript_path"}

// IsField reports whether a field is documented for an event with contract c.
func IsField(c *events.Contract, name string) bool {
	return slices.ContainsFunc(c.Fields, func(f events.Field) bool { return f.Name == name })
}

// toolArguments are the canonical tools by the argument that identifies them, the surest first.
var toolArguments = []struct{ argument, tool string }{
	{"command", neutral.Shell}, {"cmd", neutral.Shell}, {"old_string", "Edit"}, {"edits", "MultiEdit"},
	{"notebook_path", "NotebookEdit"}, {"content", "Write"}, {"file_path", "Read"}, {"url", "WebFetch"},
	{"query", "WebSearch"}, {"pattern", "Grep"}, {"subagent_type", "Task"}, {"path", "LS"},
}

// toolOf is the canonical tool that takes such arguments.
func toolOf(args json.RawMessage) string {
	for _, t := range toolArguments {
		if rawjson.Get(args, t.argument) != nil {
			return t.tool
		}
	}
	return neutral.Shell
}

// Sample returns env as an agent might send it to h, whose first event it is unless env names one.
// The missing parts of env are filled in: the documented fields with values of an agent, the agent and
// the folder that the hook asks for, and for arguments alone the tool, see Whole. Without data that
// is a tool call that the hook runs for, if any can be guessed.
func Sample(h *hook.Hook, env events.Envelope, tool string) events.Envelope {
	env.Event = cmp.Or(env.Event, FirstEvent(h))
	c := events.For(env.Dialect, env.Event)
	env.AgentName = cmp.Or(env.AgentName, h.Agent, Exact(h.Filter.Agents))
	if tool == "" && (len(env.Data) == 0 || string(env.Data) == "{}") {
		env.Cwd = cmp.Or(env.Cwd, h.Project, Exact(h.Filter.Workspaces))
		env.Data = guessed(h, env, c)
		return env
	}
	whole, _ := Whole(env, tool)
	data := c.Example()
	if env.Cwd != "" && IsField(c, "cwd") {
		data = rawjson.With(data, rawjson.StringMember("cwd", env.Cwd))
	}
	var given []rawjson.Member
	for key, value := range rawjson.Members(whole.Data) {
		given = append(given, rawjson.Member{Key: key, Value: value})
	}
	env.Data = rawjson.With(data, given...)
	if env.SessionID == "" {
		env.SessionID = rawjson.StringIn(env.Data, "session_id")
	}
	env.Cwd = cmp.Or(env.Cwd, Exact(h.Filter.Workspaces), h.Project)
	return env
}

// guessed is the data of a tool call that h runs for: the tool that its matcher and filter ask for,
// under the name that the agent of env's dialect has for it.
func guessed(h *hook.Hook, env events.Envelope, c *events.Contract) json.RawMessage {
	example, field := c.Example(), ToolField(c)
	single := NewSingle(h, nil)
	for _, tool := range sampleTools(h, c.Dialect) {
		env.Data = example
		if field != "" {
			members := []rawjson.Member{{Key: field, Value: rawjson.Quote(tool)}}
			if input := InputField(c); input != "" {
				members = append(members, rawjson.Member{Key: input, Value: sampleInput(h, tool)})
			}
			env.Data = rawjson.With(example, members...)
		}
		e := &events.Event{Envelope: env, Contract: c, Project: h.Project}
		e.Dialect = c.Dialect
		if _, why := single.Match(e); why == "" {
			return env.Data
		}
		if field == "" {
			break
		}
	}
	return example
}

// FirstEvent is the first of h's patterns that is a name, else the first known name
// that one matches.
func FirstEvent(h *hook.Hook) string {
	for _, p := range h.Patterns {
		if events.CheckName(p.Text) == nil {
			return p.Text
		}
	}
	for _, p := range h.Patterns {
		for _, c := range events.All() {
			if p.Match(c.Name) {
				return c.Name
			}
		}
	}
	return "test"
}

// Exact returns the first pattern that is a text; "" = none is.
func Exact(patterns []pattern.Pattern) string {
	for _, p := range patterns {
		if p.Exact() {
			return p.Text
		}
	}
	return ""
}

// ToolField is the field of an event that names its tool; "" = it has none.
func ToolField(c *events.Contract) string { return firstField(c, "tool_name", "toolName", "tool") }

// InputField is the field that holds the tool's arguments; "" = none does.
func InputField(c *events.Contract) string {
	return firstField(c, "tool_input", "tool_args", "toolInput", "toolArgs", "parameters")
}

func firstField(c *events.Contract, names ...string) string {
	for _, name := range names {
		if slices.ContainsFunc(c.Fields, func(f events.Field) bool { return f.Name == name }) {
			return name
		}
	}
	return ""
}

// sampleTools are tools to try, the likeliest first: the tools that the hook names, the tools
// that the agent has, the canonical ones.
func sampleTools(h *hook.Hook, d events.Dialect) []string {
	tools := slices.Clone(h.Filter.Tools)
	outside := func(r rune) bool { return strings.ContainsRune("|^$()?", r) }
	for word := range strings.FieldsFuncSeq(h.MatcherText, outside) {
		word = strings.NewReplacer(".*", "example", ".+", "example", `\`, "", "*", "").Replace(word)
		if word != "" {
			tools = append(tools, word)
		}
	}
	for _, c := range h.When {
		for _, f := range c.Tools {
			tools = append(tools, literal(f.Text))
		}
	}
	tools = append(tools, dialect.OwnTools(d)...)
	return append(tools, neutral.Shell, "shell", "Edit", "Write", "Read", "WebFetch", "mcp__example__tool")
}

// sampleInput are arguments that any of the usual tools could have: the values that h's
// conditions ask for where they ask for something.
func sampleInput(h *hook.Hook, tool string) json.RawMessage {
	command, file := "echo hello", "/tmp/example.txt"
	for _, c := range h.When {
		if len(c.Commands) > 0 {
			command = literal(c.Commands[0].Text)
		}
		if len(c.Paths) > 0 {
			file = literal(c.Paths[0].Text)
		}
	}
	path := rawjson.StringMember("file_path", file)
	switch canonical := dialect.CanonicalTool(tool); {
	case canonical == "Bash" || tool == "shell":
		return rawjson.With(nil, rawjson.StringMember("command", command), rawjson.StringMember("cmd", command))
	case canonical == "WebFetch":
		return json.RawMessage(`{"url":"https://example.com/"}`)
	case canonical == "Edit":
		return rawjson.With(nil, path,
			rawjson.StringMember("old_string", "hello"), rawjson.StringMember("new_string", "hello, world"))
	case canonical == "Write":
		return rawjson.With(nil, path, rawjson.StringMember("content", "hello\n"))
	}
	return rawjson.With(nil, path)
}

// literal is a text that a glob is likely to match.
func literal(glob string) string {
	if before, rest, ok := strings.Cut(glob, "{"); ok {
		words, after, _ := strings.Cut(rest, "}")
		first, _, _ := strings.Cut(words, ",")
		glob = before + first + literal(after)
	}
	return strings.NewReplacer("**", "example", "*", "example", "?", "x").Replace(glob)
}
