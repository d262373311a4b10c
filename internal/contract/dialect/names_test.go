package dialect_test

import (
	"testing"

	. "github.com/hookd/hookd/internal/events"
)

// A name stands for one kind, whichever agent says it: else a hook that lists the name
// for one agent would run for another moment of another. A row may be of a second kind
// too (Also), for which its name does not stand.
func TestOneNameOneKind(t *testing.T) {
	first := map[string]*Contract{}
	for _, row := range All() {
		if other := first[row.Name]; other != nil && other.Kind != row.Kind {
			t.Errorf("%s is %s to %s and %s to %s", row.Name, other.Kind, other.Dialect, row.Kind, row.Dialect)
		}
		if first[row.Name] == nil {
			first[row.Name] = row
		}
	}
	for name, row := range first {
		for _, other := range row.Aliases() {
			if is := first[other.Name]; is.Kind != row.Kind && is.Kind != row.Also {
				t.Errorf("%s goes by %s, which is %s", name, other.Name, is.Kind)
			}
		}
	}
}
