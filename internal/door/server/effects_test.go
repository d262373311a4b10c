package server

import "testing"

// Each route says how it can affect guards, and no route that only looks is a request that
// changes something.
func TestEachRouteHasAnEffect(t *testing.T) {
	for _, r := range new(Server).routes() {
		switch {
		case r.effect != looks && r.effect != acts && r.effect != weakens && r.effect != answers:
			t.Errorf("%s %s has the effect %q: can a guard become weaker by it?", r.method, r.path, r.effect)
		case r.effect == looks && r.method != "GET", r.method == "DELETE" && r.effect != weakens:
			t.Errorf("%s %s only %s", r.method, r.path, r.effect)
		}
	}
}
