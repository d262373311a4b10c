package facts

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/pattern"
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

// TestGlobsOfTables holds the globs of all tables to the language of globs: a class is one range, or letters without one.
// A glob that cannot be read would stand for its own text.
func TestGlobsOfTables(t *testing.T) {
	class := regexp.MustCompile(`\[!?[^]]+-[^]]+]`)
	seen := map[string]bool{}
	check := func(where, glob string) {
		if seen[glob] || !strings.ContainsAny(glob, "*?[{") {
			return
		}
		seen[glob] = true
		for _, c := range class.FindAllString(glob, -1) {
			if len(strings.Trim(c, "[!]")) > 3 {
				t.Errorf("%s: %s has two ranges in one bracket: write {[a-z],[A-Z]}", where, glob)
			}
		}
		if _, err := pattern.Compile(glob); err != nil {
			t.Errorf("%s: %s: %v", where, glob, err)
		}
	}
	condition := func(where string, c condition) {
		for _, all := range c {
			for _, a := range all {
				check(where, a.text)
				check(where, a.value)
			}
		}
	}
	var walk func(where string, e *entry)
	walk = func(where string, e *entry) {
		e.ready(programs())
		for _, w := range slices.Concat(e.with, e.wordWith) {
			condition(where, w.when)
		}
		condition(where, parseCondition(e.Without))
		for i := range e.Modes {
			condition(where, parseCondition(e.Modes[i].If))
			walk(where, e.over(&e.Modes[i]))
		}
		for name := range e.Env {
			check(where, name)
		}
		for _, s := range e.subs {
			check(where, s.name)
			walk(where+" "+s.name, s.to)
		}
		if e.Bare != nil {
			walk(where, e.Bare)
		}
	}
	for _, b := range programs().programs {
		walk(b.file+": "+b.key, b.parse().entry)
	}
	for _, g := range slices.Concat(variables().globs, variables().codes) {
		check("variables.yaml", g.name)
		check("variables.yaml", g.value)
	}
	for of, all := range variables().Settings {
		for name := range all {
			check("variables.yaml: "+of, name)
		}
	}
	for _, name := range slices.Concat(variables().Secret, variables().Except) {
		check("variables.yaml", name)
	}
}

// TestWordListsAreUsed holds the lists of words.yaml to the code: each list that the code names is there, and no other.
func TestWordListsAreUsed(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`wordLists\["(\w+)"]`).FindAllStringSubmatch(string(text), -1) {
			if named[m[1]] = true; len(wordLists[m[1]]) == 0 {
				t.Errorf("%s: words.yaml has no list %s", file, m[1])
			}
		}
	}
	for name := range wordLists {
		if !named[name] {
			t.Errorf("words.yaml: no code names the list %s", name)
		}
	}
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
