package rules_test

import (
	"encoding/json"
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

// galleryGuards are the hooks of the gallery that are held against the corpora.
var galleryGuards = []string{"command-guard", "secret-guard", "self-guard"}

// gallery reads the rules of a hook of the gallery.
func gallery(t testing.TB, name string) *rules.Set {
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
	for _, p := range problems {
		t.Errorf("%s:%d:%d: %s (%s)", file, p.Line, p.Column, p.Message, p.Hint)
	}
	return set
}

func env() facts.Env { return facts.Env{Cwd: facttest.Project, Home: facttest.Home} }

// subject is a call of Claude Code, or of another agent by a tool that Claude Code has not.
func subject(t testing.TB, call facttest.TestCall) *rules.Subject {
	data, err := json.Marshal(map[string]any{"tool_name": call.Tool, "tool_input": call.Input})
	if err != nil {
		t.Fatal(err)
	}
	e := &events.Event{Contract: events.LookupIn("claude-code", "PreToolUse")}
	e.Data = data
	return &rules.Subject{
		Facts: facts.Read(dialect.Call(e), env()), Tools: dialect.ToolNames(e), Cwd: call.Cwd,
		Project: facttest.Project, Home: facttest.Home,
		Read: func(line string) *facts.Facts { return facts.Line(line, env()) },
	}
}

// mostPassed is how many of a thousand attacks may pass. One in a hundred is the aim; the
// number only falls.
const mostPassed = 1

// TestGalleryGuards holds the guards of the gallery against attacks and harmless calls: few
// attacks pass, at most one in a hundred harmless calls is asked about, and none is denied.
func TestGalleryGuards(t *testing.T) {
	attacks, err := facttest.Attacks("../../facts/testdata/attacks")
	if err != nil {
		t.Fatal(err)
	}
	harmless, err := facttest.HarmlessCalls("../../facts/testdata/harmless")
	if err != nil {
		t.Fatal(err)
	}
	report := facttest.Judge(attacks, harmless, galleryJudge(t))
	passed, held := report.Wrong()
	t.Log("\n" + report.Table())
	if most := len(attacks) * mostPassed / 1000; len(passed) > most {
		t.Errorf("%d of %d attacks pass, at most %d may", len(passed), len(attacks), most)
	}
	denied := 0
	for _, h := range held {
		if h.Decision == facttest.Deny {
			denied++
			t.Errorf("denied, and harmless: %s (%s)", h.Call.Text(), h.Reason)
		}
	}
	if most := len(harmless) / 100; len(held)-denied > most {
		t.Errorf("%d of %d harmless calls are asked about, at most %d may", len(held)-denied, len(harmless), most)
	}
}

// TestQuietAllowsNoAttack holds the hook that allows against the attacks, alone: no guard is there.
func TestQuietAllowsNoAttack(t *testing.T) {
	attacks, err := facttest.Attacks("../../facts/testdata/attacks")
	if err != nil {
		t.Fatal(err)
	}
	if len(attacks) < 300 {
		t.Fatalf("only %d attacks", len(attacks))
	}
	quiet := gallery(t, "quiet")
	for _, a := range attacks {
		if v := quiet.Judge(subject(t, a.Call())); v.Action == rules.Allow {
			t.Errorf("allowed: %s", a.Call().Text())
		}
	}
}

// TestGalleryExamples holds each rule of the gallery to its own examples.
func TestGalleryExamples(t *testing.T) {
	for _, name := range append([]string{"quiet"}, galleryGuards...) {
		set := gallery(t, name)
		for _, r := range set.Rules {
			only := &rules.Set{Rules: []*rules.Rule{r}}
			for i, e := range append(append([]rules.Example{}, r.Catches...), r.Passes...) {
				var input map[string]any
				if err := json.Unmarshal(e.Data, &input); err != nil {
					t.Fatal(err)
				}
				v := only.Judge(subject(t, facttest.TestCall{Tool: e.Tool, Input: input, Cwd: facttest.Project}))
				if catches := i < len(r.Catches); catches != (v.Action != "") {
					t.Errorf("%s: %s: %s: catches %v, decided %q", name, r.Name, strings.TrimSpace(e.Text), catches,
						v.Action)
				}
			}
		}
	}
}

// TestGalleryLines holds each guard to lines that people and agents type, and that try to get
// by. A line of testdata/NAME.txt begins with the guard's expected answer: deny, ask, stop for
// either or a box, box for a box alone, or pass. An attack that passes is a miss, with the reason behind ##.
// A line that is to be stopped may be stopped by any of the guards: they are installed together.
// A line of testdata/guards.txt is for all of them.
func TestGalleryLines(t *testing.T) {
	var all []*rules.Set
	for _, name := range galleryGuards {
		all = append(all, gallery(t, name))
	}
	for i, name := range append(galleryGuards, "guards") {
		text, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			want, text, ok := strings.Cut(strings.TrimSpace(line), " ")
			if !ok || want == "#" {
				continue
			}
			text, _, _ = strings.Cut(text, "  ## ")
			s, stops, boxed, reason := subject(t, written(t, strings.TrimSpace(text))), false, false, ""
			for j, set := range all {
				if i != j && i < len(all) && want == "pass" {
					continue
				}
				v := set.Judge(s)
				boxed = boxed || v.Action == rules.Contain
				if v.Action == rules.Deny || v.Action == rules.Ask || v.Action == rules.Contain && want != "box" {
					stops, reason = true, v.Reason()
				}
			}
			if stops != (want != "pass" && want != "box" && want != "miss") || want == "box" && !boxed {
				t.Errorf("%s: %s: want %s %s", name, text, want, reason)
			}
		}
	}
}

// written is the call that a line of testdata stands for: a shell line, or @TOOL with its input.
func written(t testing.TB, text string) facttest.TestCall {
	tool, input, isTool := strings.Cut(strings.TrimPrefix(text, "@"), " ")
	if !isTool || !strings.HasPrefix(text, "@") {
		command := strings.ReplaceAll(text, "␤", "\n")
		return facttest.TestCall{Tool: "Bash", Input: map[string]any{"command": command}, Cwd: facttest.Project}
	}
	call := facttest.TestCall{Tool: tool, Cwd: facttest.Project}
	if err := json.Unmarshal([]byte(input), &call.Input); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return call
}

// TestGallerySpellings holds the guards to other spellings of each example that a rule catches: quoted and
// split words, absolute paths, abbreviated options, longer and qualified names, constructs around it.
func TestGallerySpellings(t *testing.T) {
	var all []*rules.Set
	for _, name := range galleryGuards {
		all = append(all, gallery(t, name))
	}
	stopped := func(line string) bool {
		s := subject(t, written(t, line))
		return slices.ContainsFunc(all, func(set *rules.Set) bool {
			d := set.Judge(s).Action
			return d == rules.Deny || d == rules.Ask || d == rules.Contain
		})
	}
	count := 0
	for _, set := range all {
		for _, r := range set.Rules {
			for _, e := range r.Catches {
				if e.Tool != "Bash" {
					continue
				}
				for _, m := range facttest.Mutations(e.Text) {
					if count++; !stopped(m.Line) {
						t.Errorf("%s: %s: %s passes", r.Name, m.Kind, m.Line)
					}
				}
			}
		}
	}
	t.Logf("%d spellings", count)
}

// TestGallerySpellingsOfLines does so with the lines that the guards stop as a whole: one in a
// thousand spellings may pass, as some do something else.
func TestGallerySpellingsOfLines(t *testing.T) {
	var all []*rules.Set
	for _, name := range galleryGuards {
		all = append(all, gallery(t, name))
	}
	text, err := os.ReadFile("testdata/guards.txt")
	if err != nil {
		t.Fatal(err)
	}
	count, passed := 0, 0
	share := hooktest.Amount(8, 24)
	for line := range strings.Lines(string(text)) {
		line, stops := strings.CutPrefix(strings.TrimSpace(line), "stop  ")
		if !stops || strings.HasPrefix(line, "@") {
			continue
		}
		for i, m := range facttest.Mutations(strings.ReplaceAll(line, "␤", "\n")) {
			if i%share != len(line)%share { // others of each line
				continue
			}
			count++
			s := subject(t, written(t, m.Line))
			if !slices.ContainsFunc(all, func(set *rules.Set) bool {
				d := set.Judge(s).Action
				return d == rules.Deny || d == rules.Ask || d == rules.Contain
			}) {
				passed++
				t.Logf("%s: %q passes", m.Kind, m.Line)
			}
		}
	}
	if passed*1000 > count {
		t.Errorf("%d of %d spellings pass", passed, count)
	}
}
