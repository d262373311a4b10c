package dialect

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

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

// The table in docs/reference/agents.md says what the code does.
func TestAgentsDoc(t *testing.T) {
	text, err := os.ReadFile(agentsDoc)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), "<!-- generated: abilities -->\n")
	_, tail, ok2 := strings.Cut(rest, "<!-- end -->\n")
	if !ok || !ok2 {
		t.Fatal("docs/reference/agents.md has no generated part")
	}
	want := head + "<!-- generated: abilities -->\n" + abilitiesDoc() + "<!-- end -->\n" + tail
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
