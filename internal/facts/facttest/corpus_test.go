package facttest

import (
	"flag"
	"os"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

var corpus = flag.String("corpus", "../testdata", "the folder with attacks and harmless")

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// The corpus is as wide as it says: classes of many attacks, nearly all with a proof, and harmless calls of
// several agents.
func TestCorpus(t *testing.T) {
	attacks, err := Attacks(*corpus + "/attacks")
	if err != nil {
		t.Fatal(err)
	}
	harmless, err := HarmlessCalls(*corpus + "/harmless")
	if err != nil {
		t.Fatal(err)
	}
	classes, agents, seen, static := map[string]int{}, map[string]int{}, map[string]bool{}, 0
	for _, a := range attacks {
		classes[a.Class]++
		if a.Proof["static"] != "" {
			static++
		}
		if text := a.Call().Text() + a.Stdin; seen[text] {
			t.Errorf("%s: twice: %s", a.Class, text)
		} else {
			seen[text] = true
		}
	}
	for _, h := range harmless {
		agents[h.From]++
		if text := h.Call().Text(); seen[text] {
			t.Errorf("%s: %s is twice, or an attack too", h.From, text)
		} else {
			seen[text] = true
		}
	}
	for class, n := range classes {
		if n < 20 {
			t.Errorf("class %s has only %d attacks", class, n)
		}
	}
	if len(attacks) < 4000 || len(classes) < 27 || len(harmless) < 800 || len(agents) < 4 || static*8 > len(attacks) {
		t.Errorf("%d attacks in %d classes, %d of them without proof; %d harmless calls of %d agents",
			len(attacks), len(classes), static, len(harmless), len(agents))
	}
}

// Each attack does its stated harm: the jail sees it. Without HOOKD_LINES each sixth is run in `make test-all`, else each fortieth.
func TestAttacksWork(t *testing.T) {
	all, err := Attacks(*corpus + "/attacks")
	if err != nil {
		t.Fatal(err)
	}
	const jails = 2
	share := hooktest.Amount(6, 40)
	if os.Getenv("HOOKD_LINES") != "" {
		share = 1
	}
	for n := range jails {
		t.Run("jail", func(t *testing.T) {
			t.Parallel()
			j := NewJail(t)
			for i, a := range all {
				if i/share%jails != n || i%share != 0 || a.Proof["static"] != "" {
					continue
				}
				r, err := j.Run(a)
				if err != nil {
					t.Fatalf("%s: %s: %v", a.Class, a.Call().Text(), err)
				}
				if !r.Done {
					t.Errorf("%s: %s\n\t%s\n\t%.300q", a.Class, a.Call().Text(), r.Saw, r.Output)
				}
			}
		})
	}
}
