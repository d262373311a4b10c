package main

import (
	"testing"

	"github.com/hookd/hookd/internal/facts"
)

// The gallery's self-guard denies the commands that weaken guards, and not the commands that
// only look. The table of programs and the table of impacts say the same.
func TestSelfGuardKnowsCommands(t *testing.T) {
	for _, c := range newRoot(&app{}).Commands() {
		e, known := impacts[c.Name()]
		if !known || e.only != nil || len(e.unless) > 0 || c.HasSubCommands() {
			continue // what it does depends on its words
		}
		guards := facts.Line("hookd "+c.Name(), facts.Env{Cwd: "/home/me/project", Home: "/home/me"}).Has(facts.KindGuard)
		if e.kind == weakens && !guards {
			t.Errorf("hookd %s weakens guards and is let pass", c.Name())
		}
		if e.kind == looks && guards {
			t.Errorf("hookd %s only looks and is denied", c.Name())
		}
	}
}
