package server

import "testing"

// Each route says how it can affect guards, and no route that only looks is a request that
// changes something.
func TestEachRouteHasAnImpact(t *testing.T) {
	for _, r := range new(Server).routes() {
		switch {
		case r.impact != looks && r.impact != acts && r.impact != weakens && r.impact != answers:
			t.Errorf("%s %s has the impact %q: can a guard become weaker by it?", r.method, r.path, r.impact)
		case r.impact == looks && r.method != "GET", r.method == "DELETE" && r.impact != weakens:
			t.Errorf("%s %s only %s", r.method, r.path, r.impact)
		}
	}
}
