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
	row := events.LookupIn(d, e.Probe)
	if row == nil || row.Kind != events.KindToolBefore {
		return nil
	}
	list = append(list, Covered{Kind: neutral.RunCall, Tool: neutral.Shell, Probe: Probe(d)})
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
	if e.ownProbe(line.Kind).Event != "" {
		line.Probe = e.probeOf(line.Kind, line.Tool, runsTrue)
	}
	if line.Why != "" || line.Probe.Event != "" {
		list = append(list, line)
	}
	if e.Inside != neutral.InsideNone {
		list = append(list, e.inside())
	}
	return list
}

// runsTrue is the input of a command that does nothing.
const runsTrue = `{"command":"true"}`

// ownProbe returns the probe that e itself has for a kind of call; the zero Probe = none.
func (e *entry) ownProbe(kind neutral.CallKind) neutral.Probe {
	if i := slices.IndexFunc(e.Probes, func(p neutral.Probe) bool { return p.Kind == kind }); i >= 0 {
		return e.Probes[i]
	}
	return neutral.Probe{}
}

// probeOf returns a call of a canonical tool as the agent reports it; its zero value if the
// agent has no such tool, or its name is not known.
func (e *entry) probeOf(kind neutral.CallKind, tool, input string) neutral.Probe {
	t, own := table(e.Name), e.ownProbe(kind)
	has := func(n neutral.ToolName) bool { return n.Canonical == tool && !n.OneWay }
	switch {
	case own.Payload != "":
		return own
	case kind == neutral.MCPCall:
		tool = e.MCPTool
	case own.Event == "" && tool != neutral.Shell && !e.Canonical && !slices.ContainsFunc(t.Tools, has):
		return neutral.Probe{}
	}
	if tool == "" {
		return neutral.Probe{}
	}
	row := events.LookupIn(e.Name, cmp.Or(own.Event, e.Probe))
	f := neutral.Facts{neutral.Tool: rawjson.Quote(tool), neutral.Input: json.RawMessage(input)}
	f.Set(neutral.Session, "$SESSION")
	f.Set(neutral.Turn, "$SESSION")
	f.Set(neutral.Cwd, "$CWD")
	f.Set(neutral.Event, row.Name)
	f.Set(neutral.Call, "call_probe")
	switch kind {
	case neutral.MCPCall:
		f.Set(neutral.MCPServer, "hookd")
		f.Set(neutral.MCPTool, "probe")
	case neutral.InsideCall:
		f.Set(neutral.AgentID, "hookd-doctor")
		f.Set(neutral.AgentType, "hookd-doctor")
	}
	payload := rawjson.With(nil, t.Write(row, f)...)
	if name, _ := t.OwnCall(tool, nil); !slices.Contains(t.Names(row.Name, payload), name) {
		return neutral.Probe{} // the payload of the event has no place for the name
	}
	return neutral.Probe{Kind: kind, Event: row.Name, Payload: string(payload)}
}

// inside is the command of a subagent.
func (e *entry) inside() Covered {
	c := Covered{Kind: neutral.InsideCall, Tool: neutral.Shell}
	switch e.Inside {
	case neutral.InsideSilent:
		c.Why = "its subagents' calls are not reported"
	case neutral.InsideUnknown:
		c.Unknown, c.Why = true, "it is not known whether its subagents' calls are reported"
	default:
		if c.Probe = e.ownProbe(neutral.RunCall); c.Probe.Event == "" {
			c.Probe = e.probeOf(c.Kind, c.Tool, runsTrue)
		}
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
		return isName && (r.Events == "" || slices.Contains(strings.Fields(r.Events), e.Probe))
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
