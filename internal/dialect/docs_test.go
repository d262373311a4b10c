package dialect

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/verdict"
)

var update = flag.Bool("update", false, "write the generated part of docs/agents.md")

const agentsDoc = "../../docs/agents.md"

// abilities are the rows of the table in docs/agents.md: what a hook answers
// to an event of a kind.
var abilities = []struct {
	name   string
	kind   events.Kind
	answer verdict.Answer
}{
	{"deny a tool call", events.KindToolBefore, verdict.Answer{ExitCode: 2, Stderr: "R"}},
	{"ask a person about it", events.KindToolBefore, verdict.Answer{PermissionDecision: "ask"}},
	{"approve it", events.KindToolBefore, verdict.Answer{PermissionDecision: "allow"}},
	{"rewrite it", events.KindToolBefore, verdict.Answer{UpdatedInput: json.RawMessage(`{"a":1}`)}},
	{"add context to it", events.KindToolBefore, verdict.Answer{Context: "T"}},
	{"answer a permission request", events.KindPermissionRequest, verdict.Answer{PermissionDecision: "allow"}},
	{"replace a tool's result", events.KindToolAfter, verdict.Answer{UpdatedResponse: json.RawMessage(`"x"`)}},
	{"add context to a result", events.KindToolAfter, verdict.Answer{Context: "T"}},
	{"block a prompt", events.KindPromptSubmit, verdict.Answer{ExitCode: 2, Stderr: "R"}},
	{"add context to a prompt", events.KindPromptSubmit, verdict.Answer{Context: "T"}},
	{"add context at the start", events.KindSessionStart, verdict.Answer{Context: "T"}},
	{"keep the agent working at its stop", events.KindTurnStop, verdict.Answer{ExitCode: 2, Stderr: "R"}},
	{"stop the agent", events.KindToolAfter, verdict.Answer{Continue: new(bool), StopReason: "S"}},
	{"block a compaction", events.KindCompactBefore, verdict.Answer{ExitCode: 2, Stderr: "R"}},
	{"tell the user something", events.KindToolBefore, verdict.Answer{SystemMessage: "M"}},
}

// can reports whether the agent is told anything when a hook gives the answer.
func can(d events.Dialect, kind events.Kind, answer verdict.Answer) bool {
	agent := Agent(d)
	answer.Policy = verdict.Policy{Name: "hook", Blocking: true}
	rows := events.OfKind(kind)
	if answer.UpdatedResponse != nil {
		rows = append(rows, events.OfKind(events.KindToolTransform)...)
	}
	for _, row := range rows {
		a := neutral.Asked{Event: row.Name, Payload: json.RawMessage(`{"tool_name":"MCP:x"}`)}
		if row.Dialect != d {
			continue
		}
		a.Verdict = &verdict.Verdict{Allowed: true, Continue: true}
		none := agent.Answer(a)
		a.Verdict = verdict.Fold(row, a.Payload, []verdict.Answer{answer})
		if answer.UpdatedResponse != nil && agent.Replaces != nil && agent.Replaces(row.Name, a.Payload) {
			a.Verdict.UpdatedToolResponse = answer.UpdatedResponse // of the tool.transform before it
		}
		noise := answer.SystemMessage == "" && a.Verdict.SystemMessage != "" // "this event cannot do that"
		if asked := a.Asks() && !a.Is(agent.Asks); !asked && !noise && agent.Answer(a) != none {
			return true
		}
	}
	return false
}

// pluginsCan are the abilities of the agents that take a plugin, as the tests of
// internal/bridge/shims show them.
var pluginsCan = map[events.Dialect]string{
	events.OpenCode: "deny a tool call, rewrite it, replace a tool's result, add context to a result, block a prompt, add context to a prompt, add context at the start",
	events.OpenClaw: "deny a tool call, ask a person about it, rewrite it, replace a tool's result, add context to a result, block a prompt, add context to a prompt, add context at the start, keep the agent working at its stop",
}

func abilitiesDoc() string {
	var names []string
	for _, d := range events.Dialects() {
		if d != events.Hookd {
			names = append(names, string(d))
		}
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString("| a hook can | " + strings.Join(names, " | ") + " |\n| --- |" + strings.Repeat(" --- |", len(names)) + "\n")
	for _, ability := range abilities {
		b.WriteString("| " + ability.name + " |")
		for _, name := range names {
			d := events.Dialect(name)
			yes := slices.Contains(strings.Split(pluginsCan[d], ", "), ability.name)
			if !slices.Contains(plugged, d) {
				yes = can(d, ability.kind, ability.answer)
			}
			b.WriteString(map[bool]string{true: " yes |", false: " – |"}[yes])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// The table in docs/agents.md says what the code does.
func TestAgentsDoc(t *testing.T) {
	text, err := os.ReadFile(agentsDoc)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), "<!-- generated: abilities -->\n")
	_, tail, ok2 := strings.Cut(rest, "<!-- end -->\n")
	if !ok || !ok2 {
		t.Fatal("docs/agents.md has no generated part")
	}
	want := head + "<!-- generated: abilities -->\n" + abilitiesDoc() + "<!-- end -->\n" + tail
	switch {
	case want == string(text):
	case *update:
		if err := os.WriteFile(agentsDoc, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("docs/agents.md is not what the code does: type go test ./internal/dialect -run TestAgentsDoc -update")
	}
	for _, name := range append(Agents(), string(events.OpenCode), string(events.OpenClaw)) {
		if !strings.Contains(tail, "**"+name+"**") {
			t.Errorf("docs/agents.md has no notes on %s", name)
		}
	}
}
