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
		{[]string{"guard"}, "guard: no", "guard: no"},
		{[]string{"team/guard"}, "guard: no", "team/guard: no"},
		{[]string{"gallery/guard", "other"}, "guard: no\nmore", "gallery/guard, other: no …"},
		{[]string{"guard"}, "no: see guard", "guard: no: see guard"},
		{nil, "guard: no", "guard: no"},
	} {
		if got := because(client.Decision{DecidedBy: tt.by, Reason: tt.said}); got != tt.want {
			t.Errorf("%q of %q: %q, want %q", tt.said, tt.by, got, tt.want)
		}
	}
	if got := would(client.Shadowed{Hook: "a/b", Decision: client.OutcomeDeny, Reason: "b: no"}); got != "a/b would deny: no" {
		t.Errorf("a shadow: %q", got)
	}
}
