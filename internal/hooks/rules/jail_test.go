package rules_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/facts/facttest"
)

func TestMain(m *testing.M) {
	facttest.Main()
	os.Exit(m.Run())
}

// fewestSeen is of how many hundred lines the jail must see the harm. The others need files, names or answers that
// its world has not: they are logged one by one.
const fewestSeen = 70

// TestLinesDoHarm runs the lines of guards.txt that are to be stopped in a jail, and looks for any harm. Without
// HOOKD_LINES each sixtieth is run in `make test-all`, else half of these. With HOOKD_FROM only the lines behind that comment are.
func TestLinesDoHarm(t *testing.T) {
	text, err := os.ReadFile("testdata/guards.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, behind, ok := strings.Cut(string(text), os.Getenv("HOOKD_FROM"))
	if !ok {
		t.Fatalf("no line has %q", os.Getenv("HOOKD_FROM"))
	}
	share := hooktest.Amount(60, 120)
	if os.Getenv("HOOKD_LINES") != "" {
		share = 1
	}
	var lines, programs []string
	for line := range strings.Lines(behind) {
		want, line, _ := strings.Cut(strings.TrimSpace(line), " ")
		line, _, _ = strings.Cut(strings.TrimSpace(line), "  ## ")
		if want != "stop" && want != "miss" || strings.HasPrefix(line, "@") || len(line)%share != 0 {
			continue
		}
		line = strings.ReplaceAll(line, "\u2424", "\n")
		lines = append(lines, line)
		read := facts.Line(line, env())
		for i := range read.Commands {
			if name, known := read.Commands[i].Program(); known && !strings.ContainsAny(name, "/ ") {
				programs = append(programs, name)
			}
		}
	}
	slices.Sort(programs)
	const jails = 2
	seen := make([]int, jails)
	t.Run("jails", func(t *testing.T) {
		for n := range jails {
			t.Run("jail", func(t *testing.T) {
				t.Parallel()
				j := facttest.NewJail(t, slices.Compact(slices.Clone(programs))...)
				for i := n; i < len(lines); i += jails {
					r, err := j.Run(facttest.Attack{Line: lines[i], Proof: map[string]string{"any": "harm"}})
					switch {
					case err != nil:
						t.Fatalf("%s: %v", lines[i], err)
					case r.Done:
						seen[n]++
						t.Logf("seen: %q: %.80q", lines[i], r.Seen)
					default:
						t.Logf("not seen: %q: %.160q", lines[i], r.Output)
					}
				}
			})
		}
	})
	if all := seen[0] + seen[1]; len(lines) > 0 && all*100 < len(lines)*fewestSeen {
		t.Errorf("the harm of %d of %d lines was seen", all, len(lines))
	} else {
		t.Logf("the harm of %d of %d lines was seen", all, len(lines))
	}
}
