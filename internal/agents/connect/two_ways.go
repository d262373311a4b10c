package connect

import (
	"fmt"
	"slices"
)

// runsTwice reports when an agent's events may come by two ways once the plan is
// applied: it may run the hooks in another agent's settings too. The bridge
// answers the second call of an event with no opinion; but whether the payloads of such
// an agent say which calls belong together is not documented. Neither registration is
// left out: where an agent does not run the other one, its guards would be gone.
func (t *target) runsTwice() (notes []string) {
	for _, a := range agents() {
		of := a.Runs
		if of == nil || t.agent.name != a.name && t.agent.name != of.Agent {
			continue
		}
		other := string(a.name)
		if t.agent.name == a.name {
			other = string(of.Agent)
		}
		for _, project := range slices.Compact([]string{"", t.Project}) {
			s := Inspect(Options{Agent: other, Project: project, Home: t.Home, Getenv: t.Getenv})
			if s.State == Connected || s.State == Partly {
				notes = append(notes, fmt.Sprintf("%[1]s may run the hooks of %[2]s's settings beside its own, and %[3]s "+
					"calls hookd for %[4]s: the bridge sends an event of %[1]s once if both payloads name the same call, "+
					"else twice, and each denial counts", of.By, of.Title, s.File, other))
			}
		}
	}
	return notes
}
