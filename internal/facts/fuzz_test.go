package facts

import (
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/facts/facttest"
)

// Bounds of a line of at most boundedLine bytes: time, and allocated bytes. The time is far
// above a line's usual time, so that a loaded machine does not fail the test.
const (
	boundedLine  = 16 << 10
	mostTime     = 2 * time.Second
	mostAllocate = 16 << 20
)

var fuzzEnv = Env{Cwd: facttest.Project, Home: facttest.Home, Guard: []Dependency{{Target: facttest.Home + "/.librefang", Tree: true}}}

// FuzzLine: whatever a line is, it is read without a panic, in bounded time and memory, twice
// the same; each span is a place in it. A command alone is the same with all words quoted.
func FuzzLine(f *testing.F) {
	if !testing.Short() {
		for _, line := range worstLines() {
			f.Add(line)
		}
	}
	attacks, err := facttest.Attacks("testdata/attacks")
	if err != nil {
		f.Fatal(err)
	}
	for i, a := range attacks {
		if line := a.Line; line != "" && i%7 == 0 {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) > boundedLine {
			return
		}
		checkLine(t, line)
	})
}

func checkLine(t *testing.T, line string) {
	t.Helper()
	facts, took, bytes := measured(line)
	for range 3 { // others use the machine, too
		if took <= mostTime && bytes <= mostAllocate {
			break
		}
		_, took, bytes = measured(line)
	}
	if !testing.Short() && (took > mostTime || bytes > mostAllocate) { // the race detector runs them short
		t.Errorf("a line of %d bytes takes %v and %d KiB: %.200q", len(line), took, bytes>>10, line)
	}
	checkSpans(t, facts)
	if again := Line(line, fuzzEnv); string(again.JSON()) != string(facts.JSON()) {
		t.Errorf("%q is read in two ways:\n%s\n%s", line, facts.JSON(), again.JSON())
	}
	if slices.ContainsFunc(facts.Doubts, func(d Doubt) bool { return d.Text == panicked }) {
		t.Errorf("the reader panics at %q", line)
	}
	if c := facts.Alone(); c != nil {
		var quoted []string
		for _, w := range c.Words {
			quoted = append(quoted, "'"+strings.ReplaceAll(w.Text, "'", `'\''`)+"'")
		}
		if again := Line(strings.Join(quoted, " "), fuzzEnv).Alone(); again == nil || !slices.Equal(texts(again), texts(c)) {
			t.Errorf("%q is the command %q alone, and quoted %+v", line, texts(c), again)
		}
	}
}

func measured(line string) (f *Facts, took time.Duration, bytes uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f = Line(line, fuzzEnv)
	took = time.Since(start)
	runtime.ReadMemStats(&after)
	return f, took, after.TotalAlloc - before.TotalAlloc
}

// checkSpans: each span is a place in the text of the call.
func checkSpans(t *testing.T, f *Facts) {
	t.Helper()
	in := func(s Span, of string) {
		if s.From < 0 || s.From > s.To || s.To > len(f.Text) {
			t.Errorf("the span %v of %s is not in %q", s, of, f.Text)
		}
	}
	for _, c := range f.Commands {
		in(c.Span, c.Text)
		for _, r := range c.Redirects {
			in(r.Span, r.Op)
		}
	}
	for _, e := range f.Effects {
		in(e.Span, string(e.Kind))
		if e.Command < -1 || e.Command >= len(f.Commands) {
			t.Errorf("the effect %+v is of no command", e)
		}
	}
	for _, d := range f.Doubts {
		in(d.Span, d.Text)
		if d.Command < -1 || d.Command >= len(f.Commands) {
			t.Errorf("the doubt %+v is of no command", d)
		}
	}
}

// FuzzCall: whatever the arguments of a tool are, the call is read without a panic, and each span
// is a place in its text.
func FuzzCall(f *testing.F) {
	attacks, err := facttest.Attacks("testdata/attacks")
	if err != nil {
		f.Fatal(err)
	}
	for _, a := range attacks {
		if a.Tool != "" {
			input, err := json.Marshal(a.Input)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(a.Tool, string(input))
		}
	}
	f.Add("Bash", `{"command":["bash","-c","rm x"]}`)
	f.Fuzz(func(t *testing.T, tool, input string) {
		if len(input) > boundedLine || !json.Valid([]byte(input)) {
			return
		}
		given := json.RawMessage(input)
		facts := Read(neutral.ToolCall{Own: tool, Tool: tool, Input: given, Given: given}, fuzzEnv)
		checkSpans(t, facts)
		if slices.ContainsFunc(facts.Doubts, func(d Doubt) bool { return d.Text == panicked }) {
			t.Errorf("the reader panics at %s %s", tool, input)
		}
	})
}
