package dialect

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Covered is one kind of call that an agent makes, and how to see whether it reaches hookd.
type Covered struct {
	Kind  neutral.CallKind
	Tool  string        // its canonical name
	Probe neutral.Probe // as the agent would report it; its zero value = it cannot be made
	Why   string        // it is not reported, or that is not known; "" = it is reported
	// Unknown: it is not known whether it is reported.
	Unknown bool
}

// kinds are the calls that most agents can make, beside running a command, with input as
// the canonical tool takes it.
var kinds = []struct {
	kind        neutral.CallKind
	tool, input string
}{
	{neutral.WriteCall, "Write", `{"file_path":"$FILE","content":""}`},
	{neutral.ReadCall, "Read", `{"file_path":"$FILE"}`},
	{neutral.FetchCall, "WebFetch", `{"url":"https://hookd.invalid/","prompt":"nothing"}`},
	{neutral.SearchCall, "WebSearch", `{"query":"nothing"}`},
	{neutral.MCPCall, "mcp__hookd__probe", `{}`},
	{neutral.StartCall, "Agent", `{"description":"nothing","prompt":"nothing","subagent_type":"general-purpose"}`},
}

// Coverage returns the kinds of call that the agent of d makes, as far as its table of
// tools says, a command first and a subagent's command last. It is nil for an agent that
// reports no call before it runs.
func Coverage(d events.Dialect) (list []Covered) {
	e := find(d)
	if e == nil {
		return nil
	}
	row := events.LookupIn(d, e.Probe.Event)
	if row == nil || row.Kind != events.KindToolBefore {
		return nil
	}
	first := e.Probe
	first.Kind = neutral.RunCall
	list = append(list, Covered{Kind: first.Kind, Tool: neutral.Shell, Probe: first})
	for _, k := range kinds {
		c := Covered{Kind: k.kind, Tool: k.tool, Why: e.Unreported[k.kind]}
		if c.Why == "" {
			c.Probe = e.probeOf(k.kind, k.tool, k.input)
		}
		if c.Why != "" || c.Probe.Event != "" {
			list = append(list, c)
		}
	}
	line := Covered{Kind: neutral.LineCall, Tool: neutral.Shell, Why: e.Unreported[neutral.LineCall]}
	if i := slices.IndexFunc(e.Probes, func(p neutral.Probe) bool { return p.Kind == line.Kind }); i >= 0 {
		line.Probe = e.Probes[i]
	}
	if line.Why != "" || line.Probe.Event != "" {
		list = append(list, line)
	}
	if e.Inside != neutral.InsideNone {
		list = append(list, e.inside(row))
	}
	return list
}

// probeOf returns the probe of a kind of call; its zero value if the agent has no such
// tool, or its name is not known.
func (e *entry) probeOf(kind neutral.CallKind, tool, input string) neutral.Probe {
	if i := slices.IndexFunc(e.Probes, func(p neutral.Probe) bool { return p.Kind == kind }); i >= 0 {
		return e.Probes[i]
	}
	t, own, given := table(e.Name), e.MCPTool, json.RawMessage(input)
	if kind != neutral.MCPCall {
		has := func(n neutral.ToolName) bool { return n.Canonical == tool && !n.OneWay }
		if !slices.ContainsFunc(t.Tools, has) && !e.Canonical {
			return neutral.Probe{}
		}
		own, given = t.OwnCall(tool, given)
	}
	if own == "" {
		return neutral.Probe{}
	}
	p, ok := e.Probe.Of(t, kind, own, given)
	if !ok {
		return neutral.Probe{}
	}
	return p
}

// inside is the command of a subagent.
func (e *entry) inside(row *events.Contract) Covered {
	c := Covered{Kind: neutral.InsideCall, Tool: neutral.Shell}
	switch e.Inside {
	case neutral.InsideSilent:
		c.Why = "its subagents' calls are not reported"
	case neutral.InsideUnknown:
		c.Unknown, c.Why = true, "it is not known whether its subagents' calls are reported"
	default:
		c.Probe = e.Probe.Within(table(e.Name), func(field string) bool {
			return slices.ContainsFunc(row.Fields, func(f events.Field) bool { return f.Name == field })
		})
	}
	return c
}

// Tells says whether the agent of d tells by an event that a call is of a kind: "" = it does, else Untold or Lacked.
func Tells(d events.Dialect, kind neutral.CallKind) string {
	e := find(d)
	if e == nil {
		return neutral.Untold
	}
	how := e.Ways[kind]
	if how != "" && how != neutral.Lacked && how != neutral.Untold {
		return ""
	}
	switch kind {
	case neutral.InsideCall:
		if e.Inside == neutral.InsideNone {
			return neutral.Lacked
		}
		if how == "" && !e.tellsInside() {
			return neutral.Untold
		}
	case neutral.MCPCall:
		if how == "" && e.probeOf(kind, "mcp__hookd__probe", "{}").Event == "" {
			return neutral.Untold
		}
	}
	return how
}

// tellsInside reports whether a field of the payload, or its form, says that a call is a subagent's.
func (e *entry) tellsInside() bool {
	a := Agent(e.Name)
	return a != nil && (a.OfSubagent != nil || slices.ContainsFunc(a.Table.Rows, func(r neutral.FieldFact) bool {
		isName := r.Fact == neutral.AgentID || r.Fact == neutral.ParentAgent || r.Fact == neutral.ParentSession
		return isName && (r.Events == "" || slices.Contains(strings.Fields(r.Events), e.Probe.Event))
	}))
}

// IsOf reports whether e tells that it is a call of a kind.
func IsOf(e *events.Event, kind neutral.CallKind) bool {
	switch kind {
	case neutral.LineCall:
		return e.Contract.Name == "PreSkillShellCommand"
	case neutral.SlashCall:
		isPrompt := e.Contract.Kind == events.KindPromptSubmit
		return e.Contract.Name == "UserPromptExpansion" ||
			isPrompt && strings.HasPrefix(neutral.TextOf(Fact(e, neutral.Prompt)), "/")
	}
	if e.Contract.Kind != events.KindToolBefore || Tells(e.Dialect, kind) != "" {
		return false
	}
	switch how := find(e.Dialect).Ways[kind]; kind {
	case neutral.InsideCall:
		return ByAgent(e) || neutral.TextOf(Fact(e, neutral.AgentID)) != ""
	case neutral.MCPCall:
		own := first(ToolNames(e))
		return strings.HasPrefix(Call(e).Tool, "mcp__") || how != "" && strings.Contains(own, how)
	case neutral.BackCall:
		name, value, _ := strings.Cut(cmp.Or(how, "run_in_background=true"), "=")
		return strings.Trim(string(rawjson.Get(Call(e).Input, name)), `"`) == value
	}
	return false
}
