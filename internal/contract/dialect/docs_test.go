package dialect

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

var update = flag.Bool("update", false, "write the generated part of docs/reference/agents.md")

const agentsDoc = "../../../docs/reference/agents.md"

func abilitiesDoc() string {
	var names []string
	for _, d := range events.Dialects() {
		if d != events.Hookd {
			names = append(names, string(d))
		}
	}
	slices.Sort(names)
	var tables []string
	for some := range slices.Chunk(names, 10) { // a table of all would be too wide to read
		tables = append(tables, abilitiesOf(some))
	}
	return strings.Join(tables, "\n")
}

func abilitiesOf(names []string) string {
	var b strings.Builder
	b.WriteString("| a hook can | " + strings.Join(names, " | ") + " |\n| --- |" + strings.Repeat(" --- |", len(names)) + "\n")
	for i, ability := range abilities() {
		b.WriteString("| " + ability.Name + " |")
		for _, name := range names {
			b.WriteString(map[bool]string{true: " yes |", false: " – |"}[Abilities(events.Dialect(name))[i].Can])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// callsDoc says of each agent that asks about calls by which tool a kind of call reaches guards.
func callsDoc() string {
	kinds := []neutral.CallKind{
		neutral.RunCall, neutral.WriteCall, neutral.ReadCall, neutral.FetchCall, neutral.SearchCall, neutral.MCPCall,
		neutral.StartCall, neutral.InsideCall, neutral.LineCall,
	}
	var b strings.Builder
	b.WriteString("| agent |")
	for _, k := range kinds {
		b.WriteString(" " + string(k) + " |")
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(kinds)) + "\n")
	for _, d := range slices.Sorted(slices.Values(events.Dialects())) {
		list := Coverage(d)
		if list == nil {
			continue
		}
		b.WriteString("| " + string(d) + " |")
		for _, k := range kinds {
			cell := ""
			if i := slices.IndexFunc(list, func(c Covered) bool { return c.Kind == k }); i >= 0 {
				cell = callCell(d, list[i])
			}
			b.WriteString(strings.TrimRight(" "+cell, " ") + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// toolsDoc says of each tool of an agent whose tables have more than the usual tools how guards see it.
func toolsDoc() string {
	var b strings.Builder
	b.WriteString("| agent | tools | a guard sees | they reach |\n| --- | --- | --- | --- |\n")
	for _, d := range events.Dialects() {
		reach, others := Reach(d), strings.Fields(table(d).Others)
		if reach == nil {
			continue
		}
		line := func(tools []string, sees, what string) {
			b.WriteString("| " + string(d) + " | `" + strings.Join(tools, "` `") + "` | " + sees + " | " + what + " |\n")
		}
		var canonicals []string
		own := map[string][]string{}
		for _, n := range table(d).Tools {
			if own[n.Canonical] == nil {
				canonicals = append(canonicals, n.Canonical)
			}
			own[n.Canonical] = append(own[n.Canonical], n.Own)
		}
		unseen := func(tool string) bool {
			return slices.ContainsFunc(reach, func(r neutral.Reach) bool {
				return r.Unseen != "" && slices.Contains(strings.Fields(r.Tools), tool)
			})
		}
		for _, name := range canonicals {
			if tools := slices.DeleteFunc(own[name], unseen); len(tools) > 0 {
				line(tools, "`"+name+"`", "what `"+name+"` does")
			}
		}
		for _, r := range reach {
			sees := "its own name"
			if r.Unseen != "" {
				sees = "**nothing**: " + r.Unseen
			}
			line(strings.Fields(r.Tools), sees, r.What)
		}
		if len(others) > 0 {
			line(others, "its own name", "nothing of the above, or only the agent's own notes")
		}
	}
	return b.String()
}

// callCell is the tool of a call as its agent names it in the event that guards get; "no" and "not known"
// say that no event, or perhaps none, reports it.
func callCell(d events.Dialect, c Covered) string {
	switch {
	case c.Unknown:
		return "not known"
	case c.Why != "":
		return "**no**"
	case c.Kind == neutral.InsideCall:
		return "yes"
	}
	e := &events.Event{
		Envelope: events.Envelope{Event: c.Probe.Event, Dialect: d, Data: json.RawMessage(c.Probe.Payload)},
		Contract: events.For(d, c.Probe.Event),
	}
	if names := ToolNames(e); len(names) > 0 {
		return "`" + names[0] + "`"
	}
	return "yes"
}

// withPart returns a document with text in its generated part; false = it has none of that name.
func withPart(doc, name, text string) (string, bool) {
	mark := "<!-- generated: " + name + " -->\n"
	head, rest, ok := strings.Cut(doc, mark)
	_, tail, ok2 := strings.Cut(rest, "<!-- end -->\n")
	return head + mark + text + "<!-- end -->\n" + tail, ok && ok2
}

// The tables in docs/reference/agents.md say the same as the code.
func TestAgentsDoc(t *testing.T) {
	text, err := os.ReadFile(agentsDoc)
	if err != nil {
		t.Fatal(err)
	}
	want, ok := withPart(string(text), "abilities", abilitiesDoc())
	want, ok2 := withPart(want, "calls", callsDoc())
	want, ok3 := withPart(want, "tools", toolsDoc())
	if !ok || !ok2 || !ok3 {
		t.Fatal("docs/reference/agents.md lacks a generated part")
	}
	_, tail, _ := strings.Cut(want, "<!-- end -->\n")
	switch {
	case want == string(text):
	case *update:
		if err := os.WriteFile(agentsDoc, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("docs/reference/agents.md is not what the code does: type go test ./internal/contract/dialect -run TestAgentsDoc -update")
	}
	for _, name := range append(slices.Clone(plugged), dialects(Agents())...) {
		if !strings.Contains(tail, "**"+string(name)+"**") {
			t.Errorf("docs/reference/agents.md has no notes on %s", name)
		}
	}
}

func dialects(names []string) (list []events.Dialect) {
	for _, name := range names {
		list = append(list, events.Dialect(name))
	}
	return list
}
