package main

import (
	"testing"

	"github.com/hookd/hookd/internal/run/contain"
)

// A machine whose boxes hold is as it should be, also where it cannot make each kind.
func TestBoxesHold(t *testing.T) {
	for _, test := range []struct {
		name    string
		results []string
		want    string
	}{
		{"all", []string{contain.Kept, contain.Works, contain.Skipped}, ""},
		{"one kind is missing", []string{contain.Works, contain.NoBox}, ""},
		{"none", []string{contain.NoBox, contain.NoBox}, "this machine makes no box"},
		{"an attack got out", []string{contain.Kept, contain.Reached}, "a box does not hold: it"},
		{"a box breaks", []string{contain.Kept, contain.Broken, contain.NoBox}, "a box does not hold: it"},
	} {
		var list []contain.Check
		for _, result := range test.results {
			list = append(list, contain.Check{Try: "it", Result: result})
		}
		got := ""
		if err := boxesHold(list); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: %q, not %q", test.name, got, test.want)
		}
	}
}
