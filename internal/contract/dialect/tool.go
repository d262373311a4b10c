package dialect

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// ToolNames returns the names of e's tool that a matcher may use: the agent's
// own first, then the canonical ones, which are Claude Code's. Of an event that
// no table knows it is tool_name. It returns nil for an event without a tool.
func ToolNames(e *events.Event) []string {
	names := reader(e).Names(e.Contract.Name, e.Data)
	if len(names) == 1 && e.Contract.Kind == events.KindToolTransform {
		names = anyNames(names[0], e.Data) // it may stand for any agent's tool.after
	}
	if names != nil {
		return names
	}
	if name := rawjson.StringIn(e.Data, "tool_name"); name != "" {
		return []string{name}
	}
	return nil
}

// anyNames returns own and its canonical names in any dialect that knows it.
func anyNames(own string, data json.RawMessage) []string {
	names := []string{own}
	if canonical(own) {
		return names
	}
	for _, d := range events.Dialects() {
		for _, name := range table(d).Names("", data) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// canonical reports whether tool is a name that dialects translate to.
func canonical(tool string) bool {
	for _, d := range events.Dialects() {
		if slices.ContainsFunc(table(d).Tools, func(n neutral.ToolName) bool { return n.Canonical == tool }) {
			return true
		}
	}
	return false
}

// IsCanonical reports whether tool is a name that dialects translate to.
func IsCanonical(tool string) bool { return canonical(tool) }

// Call returns the tool call that e is about, as the tool of the agent that sent it
// takes its arguments. A tool that this agent's dialect does not know is the tool that
// another dialect calls so; the call says that this is a guess.
func Call(e *events.Event) neutral.ToolCall {
	c := reader(e).Call(e.Contract.Name, e.Data)
	if c.Own == "" && c.Tool == "" {
		c.Own = rawjson.StringIn(e.Data, "tool_name")
		c.Tool, c.Given = c.Own, rawjson.Get(e.Data, "tool_input")
		c.Input = c.Given
	}
	if c.Known() { // most are, and the look at every table is long
		return c
	}
	for _, d := range events.Dialects() {
		if guess, ok := table(d).Guess(c); ok {
			return guess
		}
	}
	return c
}

// Made returns a call that the agent of a dialect has made, without an event: as Call and ToolNames
// return it, except for MCP tools that have their server in another field.
func Made(d events.Dialect, own string, given json.RawMessage) (neutral.ToolCall, []string) {
	c, names := table(d).Made(own, given)
	if c.Known() {
		return c, names
	}
	for _, other := range events.Dialects() {
		if guess, ok := table(other).Guess(c); ok {
			return guess, names
		}
	}
	return c, names
}

// Answer returns a, the answer of a hook that was given the event under the name given,
// in the words of the emitted event, e with the rewrites of hooks before it: the
// members of a new input are called as e's own tool calls them. A change of a member
// that is no argument of the tool is a failure.
func Answer(e *events.Event, given string, a verdict.Answer) verdict.Answer {
	if a.UpdatedInput == nil {
		return a
	}
	row, own := rowOf(e.Contract, given), first(ToolNames(e))
	if row != e.Contract {
		from, to := table(row.Dialect), reader(e)
		a.UpdatedInput = from.Args(from.Own(to.Read(e.Contract.Name, e.Data)), a.UpdatedInput, to, own)
	}
	change, why := reader(e).OwnChange(own, Call(e).Given, a.UpdatedInput)
	if why != "" {
		return verdict.Answer{Terms: a.Terms, ExitCode: a.ExitCode, Stderr: a.Stderr, Failure: why}
	}
	a.UpdatedInput = change
	if agent := Agent(e.Contract.Dialect); agent != nil && agent.Completed != nil {
		a.UpdatedInput = agent.Completed(own, a.UpdatedInput)
	}
	return a
}

func first(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// OwnTools returns the names that the agent of a dialect gives its usual tools, tools
// that run a command first; nil where no table has them.
func OwnTools(d events.Dialect) (names []string) {
	tools := table(d).Tools
	for _, shell := range []bool{true, false} {
		for _, n := range tools {
			if !n.OneWay && (n.Canonical == neutral.Shell) == shell {
				names = append(names, n.Own)
			}
		}
	}
	return names
}

// Tools returns the names that a matcher finds the tools of an agent by: its own and the
// canonical ones. A dialect that calls tools by their canonical names has those alone.
func Tools(d events.Dialect) (names []string) {
	t := table(d)
	names = append(OwnTools(d), strings.Fields(t.Others)...)
	for _, r := range Reach(d) {
		names = append(names, strings.Fields(r.Tools)...)
	}
	for _, n := range t.Tools {
		for _, name := range []string{n.Own, n.Canonical} {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Reach returns the tools of the agent of a dialect that reach something under a name of their own.
func Reach(d events.Dialect) []neutral.Reach {
	if s := Settings(d); s != nil {
		return s.Reach
	}
	return nil
}

// OwnCall returns a call of a canonical tool as the agent of a dialect makes it. A tool
// that is not canonical stays as it is, with its arguments.
func OwnCall(d events.Dialect, tool string, input json.RawMessage) (own string, _ json.RawMessage) {
	return table(d).OwnCall(tool, input)
}

// CanonicalTool returns the name that dialects share for a tool of any of them; a
// name that none knows is returned as it is.
func CanonicalTool(tool string) string {
	if canonical(tool) {
		return tool
	}
	for _, d := range events.Dialects() {
		for _, n := range table(d).Tools {
			if n.Own == tool {
				return n.Canonical
			}
		}
	}
	return tool
}

// CanonicalToolOf returns the name that dialects share for a tool of one of them; a name that its table
// does not know as CanonicalTool does.
func CanonicalToolOf(d events.Dialect, tool string) string {
	for _, n := range table(d).Tools {
		if n.Own == tool {
			return n.Canonical
		}
	}
	return CanonicalTool(tool)
}

// StartsAgents reports whether a canonical tool starts agents, whose own calls hookd is to be asked about.
func StartsAgents(tool string) bool {
	return slices.Contains([]string{"Agent", "Workflow", "SendMessage"}, tool)
}

// CommandIn returns the command of a model that the agent of a dialect gives to a shell with a line. It is
// false for another line, and where no form of the line is known that says so.
func CommandIn(d events.Dialect, line string) (command string, is bool) {
	a := Agent(d)
	if a == nil || a.Commands == nil {
		return "", false
	}
	found := a.Commands().FindStringSubmatch(line)
	if line == "" || found == nil {
		return "", false
	}
	return strings.NewReplacer(`'"'"'`, "'", `'\''`, "'").Replace(found[1]), true
}
