package match

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/dialect"
	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/rawjson"
)

// Sample returns env with data that the hook runs for, if there is any that can be
// guessed: the documented fields with values as an agent sends them, and of a tool
// call the tool that the hook's matcher and filter ask for, under the name that the
// agent of env's dialect has for it. The agent and the folder that the hook asks for
// are filled in where env has none.
func Sample(h *hook.Hook, env events.Envelope) events.Envelope {
	c := events.For(env.Dialect, env.Event)
	example := c.Example()
	env.AgentName = cmp.Or(env.AgentName, h.Agent, Exact(h.Filter.Agents))
	env.Cwd = cmp.Or(env.Cwd, h.Project, Exact(h.Filter.Workspaces))
	field := ToolField(c)
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
			return env
		}
		if field == "" {
			break
		}
	}
	env.Data = example
	return env
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
func Exact(patterns []hook.Pattern) string {
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

// sampleTools are tools to try, the likeliest first: those that the hook names, those
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

// sampleInput are arguments that any of the usual tools could have: what h's
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
