package facts

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// testEnv is the Env of the tables' examples.
var testEnv = Env{Cwd: "/home/me/shop", Home: "/home/me"}

// TestTables compares each program's examples with the reading by the tables.
func TestTables(t *testing.T) {
	tables := programs()
	addExample(t, tables)
	seen := map[*entry]bool{}
	examples, failed := 0, 0
	for _, name := range sorted(tables.programs) {
		e := tables.program(name)
		if seen[e] {
			continue
		}
		seen[e] = true
		var walk func(e *entry, name string)
		walk = func(e *entry, name string) {
			for _, line := range sorted(e.Catches) {
				examples++
				if missing := missingEffects(line, e.Catches[line]); missing != "" {
					failed++
					t.Errorf("%s: %s\n\twants %s, has %s", name, line, missing, shownFacts(Line(line, testEnv)))
				}
			}
			for _, line := range e.Passes {
				examples++
				f := Line(line, testEnv)
				if len(f.Doubts) > 0 || slices.ContainsFunc(f.Effects, func(e Effect) bool {
					return e.Kind != KindRead && e.Kind != KindConnect &&
						!(e.Kind == KindRun && strings.HasPrefix(e.Target, "project:")) &&
						e.Kind != KindWrite
				}) {
					failed++
					t.Errorf("%s: %s\n\tpasses, has %s", name, line, shownFacts(f))
				}
			}
			once := map[string]bool{}
			for _, sub := range sorted(e.Sub) {
				for one := range strings.FieldsSeq(sub) {
					if once[one] {
						t.Errorf("%s has %s twice", name, one)
					}
					once[one] = true
				}
				walk(e.Sub[sub], name+" "+sub)
			}
		}
		walk(e, name)
	}
	for name, b := range tables.programs {
		if also := b.also(); !slices.EqualFunc(also, b.parse().entry.Also, strings.EqualFold) {
			t.Errorf("%s: %s is also %v, found without parsing: %v", b.file, name, b.entry.Also, also)
		}
	}
	t.Logf("%d programs, %d examples, %d failed", len(seen), examples, failed)
}

// addExample adds the program that the README of the tables shows.
func addExample(t *testing.T, tables *tables) {
	t.Helper()
	text, err := os.ReadFile("programs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	for _, b := range split("README.md", example) {
		for _, name := range append(b.also(), b.key) {
			tables.programs[name] = b
		}
	}
	if tables.programs["cratectl"] == nil {
		t.Fatal("programs/README.md shows no program")
	}
}

// missingEffects returns the first effect or doubt of want that a line does not have.
func missingEffects(line, want string) string {
	f := Line(line, testEnv)
	c := &finder{sh: &shell{r: newReading(testEnv, "", ""), place: place{cwd: testEnv.Cwd}}}
	for _, one := range templates(list{want}) {
		if one.kind == "doubt" {
			if !slices.ContainsFunc(f.Doubts, func(d Doubt) bool { return string(d.Kind) == one.target }) {
				return "doubt " + one.target
			}
			continue
		}
		targets := []string{one.target}
		if !strings.Contains(one.target, ":") || strings.HasPrefix(one.target, "/") {
			if path, _ := c.absolute(one.target); one.target != "" {
				targets = append(targets, path)
			}
		}
		if !slices.ContainsFunc(f.Effects, func(e Effect) bool {
			return string(e.Kind) == one.kind && (one.target == "" || slices.Contains(targets, e.Target) ||
				strings.HasSuffix(one.target, ":") && strings.HasPrefix(e.Target, one.target) ||
				strings.HasSuffix(one.target, "/") && strings.Contains(one.target, ":") &&
					strings.HasPrefix(e.Target, one.target))
		}) {
			return one.kind + " " + one.target
		}
	}
	return ""
}

func shownFacts(f *Facts) string {
	var parts []string
	for _, e := range f.Effects {
		sure := ""
		if !e.Certain {
			sure = "?"
		}
		parts = append(parts, fmt.Sprintf("%s%s %s", e.Kind, sure, e.Target))
	}
	for _, d := range f.Doubts {
		parts = append(parts, fmt.Sprintf("doubt %s (%s)", d.Kind, d.Text))
	}
	return strings.Join(parts, "; ")
}
