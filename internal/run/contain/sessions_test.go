package contain

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/facts/facttest"
	"github.com/hookd/hookd/internal/hooks/rules"
)

var update = flag.Bool("update", false, "write the table of sessions")

const (
	document = "../../../docs/reference/contain.md"
	begins   = "<!-- generated: sessions -->\n"
	ends     = "<!-- end -->\n"
)

// TestSessions keeps the table of how many harmless calls of real sessions are asked about, with and without boxes.
func TestSessions(t *testing.T) {
	calls, err := facttest.HarmlessCalls("../../facts/testdata/harmless")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorldIn(t, hooktest.HomeDir(t))
	guards := readRules(t, "command-guard", "secret-guard", "self-guard")
	strict := append(readRules(t, "contain"), guards...)
	type counts struct{ calls, asked, unread, strictAsked, contained, passed int }
	rows := map[string]*counts{}
	var lines []string
	for _, h := range calls {
		from := cmp.Or(h.From, "others")
		if rows[from] == nil {
			rows[from] = &counts{}
		}
		c := rows[from]
		c.calls++
		switch judge(t, guards, h.Call()) {
		case rules.Deny, rules.Ask:
			c.asked++
		case rules.Contain:
			c.unread++
		}
		switch judge(t, strict, h.Call()) {
		case rules.Deny, rules.Ask:
			c.strictAsked++
		case rules.Contain:
			if h.Line == "" || w.why(h.Line) != "" {
				c.strictAsked++
				continue
			}
			c.contained++
			lines = append(lines, h.Line)
		default:
			c.passed++
		}
	}
	if file := os.Getenv("HOOKD_CONTAINED"); file != "" { // to run a sample of them in boxes
		text, err := json.Marshal(lines)
		if err == nil {
			err = os.WriteFile(file, text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	b.WriteString("| calls of | number | asked by guards alone | asked | contained | passed |\n| --- | --- | --- | --- | --- | --- |\n")
	sum := counts{}
	for _, from := range slices.Sorted(maps.Keys(rows)) {
		c := *rows[from]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", from, c.calls, c.asked+c.unread, c.strictAsked, c.contained, c.passed)
		sum.calls, sum.asked, sum.strictAsked = sum.calls+c.calls, sum.asked+c.asked+c.unread, sum.strictAsked+c.strictAsked
		sum.contained, sum.passed = sum.contained+c.contained, sum.passed+c.passed
	}
	fmt.Fprintf(&b, "| all | %d | %d | %d | %d | %d |\n", sum.calls, sum.asked, sum.strictAsked, sum.contained, sum.passed)
	old, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(old), begins)
	_, tail, end := strings.Cut(rest, ends)
	if !ok || !end {
		t.Fatalf("%s has no place for the table", document)
	}
	text := head + begins + b.String() + ends + tail
	if *update {
		if err := os.WriteFile(document, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if text != string(old) {
		t.Errorf("%s is not as the guards answer: run this test with -update", document)
	}
}

// why says why a line of a session does not run in a box.
func (w *world) why(line string) string {
	_, why := w.plan(w.call(agent, "PreToolUse", line), contained("project"), "0")
	return why
}

// readRules reads guards of the gallery.
func readRules(t *testing.T, names ...string) (sets []*rules.Set) {
	for _, name := range names {
		file := filepath.Join("../../../docs/gallery", name, "HOOK.yaml")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Rules yaml.Node `yaml:"rules"`
		}
		if err := yaml.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		set, problems := rules.Read(&doc.Rules, nil, rules.Options{Home: facttest.Home, File: file})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		sets = append(sets, set)
	}
	return sets
}

// judge returns the strictest answer of guards to a call.
func judge(t *testing.T, sets []*rules.Set, call facttest.TestCall) (worst rules.Action) {
	data, err := json.Marshal(map[string]any{"tool_name": call.Tool, "tool_input": call.Input})
	if err != nil {
		t.Fatal(err)
	}
	e := &events.Event{Contract: events.LookupIn(events.ClaudeCode, "PreToolUse")}
	e.Data = data
	env := facts.Env{Cwd: facttest.Project, Home: facttest.Home}
	s := &rules.Subject{
		Facts: facts.Read(dialect.Call(e), env), Tools: dialect.ToolNames(e), Cwd: call.Cwd,
		Project: facttest.Project, Home: facttest.Home,
		Read: func(line string) *facts.Facts { return facts.Line(line, env) },
	}
	order := []rules.Action{rules.Deny, rules.Ask, rules.Contain}
	for _, set := range sets {
		d := set.Judge(s).Action
		for _, one := range order {
			if worst == one {
				break
			}
			if d == one {
				worst = d
				break
			}
		}
	}
	return worst
}
