package main

import (
	"testing"

	"github.com/hookd/hookd/client"
)

// A reason names its hook once, also where the hook writes its name before it.
func TestReasonsNameTheirHookOnce(t *testing.T) {
	for _, tt := range []struct {
		by   []string
		said string
		want string
	}{
		{[]string{"guard"}, "guard: no", "no (guard)"},
		{[]string{"team/guard"}, "guard: no", "no (team/guard)"},
		{[]string{"gallery/guard", "other"}, "guard: no\nmore", "no … (gallery/guard, other)"},
		{[]string{"guard"}, "no: see guard", "no: see guard (guard)"},
		{[]string{"guard"}, "", "guard"},
		{nil, "guard: no", "guard: no"},
		{[]string{"a", "b", "c"}, "no", "no (a, b, c)"},
	} {
		if got := reasonAndDeciders(new(printer), client.Decision{DecidedBy: tt.by, Reason: tt.said}); got != tt.want {
			t.Errorf("%q of %q: %q, want %q", tt.said, tt.by, got, tt.want)
		}
	}
	d := client.Decision{DecidedBy: []string{"a", "b", "c"}, Reason: "no"}
	if got := reasonAndDeciders((&printer{width: 80}), d); got != "no (a +2)" {
		t.Errorf("on a terminal: %q", got)
	}
	if got := reasonAndDeciders((&printer{width: 80, wide: true}), d); got != "no (a, b, c)" {
		t.Errorf("with all columns: %q", got)
	}
	if got := would(client.Shadowed{Hook: "a/b", Decision: client.OutcomeDeny, Reason: "b: no"}); got != "a/b would deny: no" {
		t.Errorf("a shadow: %q", got)
	}
}
