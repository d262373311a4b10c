package hook

import (
	"maps"
	"slices"
	"testing"
)

func TestSnapshot(t *testing.T) {
	entry := func(id, digest string, state State) Entry {
		return Entry{Name: id, State: state, Hook: &Hook{ID: id, Name: id, Digest: digest}}
	}
	before := &Snapshot{Entries: []Entry{
		entry("same", "1", Active), entry("edited", "1", Active), entry("dropped", "1", Active), entry("off", "1", Active),
	}}
	project, waiting := entry("shared", "1", Refused), entry("next", "1", Waiting)
	project.Hook.Project = "/repo"
	waiting.Hook, waiting.Waits = nil, &Hook{ID: "next", Project: "/other"}
	again := entry("again", "1", Degraded)
	again.Hook.Project = "/repo"
	now := &Snapshot{Entries: []Entry{
		entry("same", "1", Active), entry("edited", "2", Active), entry("off", "1", Disabled), project, waiting, again,
		{Name: "broken", State: Rejected},
	}}
	var got []string
	for _, c := range now.Since(before) {
		got = append(got, c.What+" "+c.Hook.ID+" "+c.Hook.Digest)
	}
	want := []string{"changed edited 2", "added shared 1", "added again 1", "removed dropped 1", "removed off 1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if list := now.Since(now); len(list) != 0 {
		t.Errorf("a snapshot differs from itself: %v", list)
	}
	if got := now.Projects(); !slices.Equal(got, []string{"/repo", "/other"}) {
		t.Errorf("got projects %q", got)
	}
	states := map[string]int{"active": 2, "disabled": 1, "refused": 1, "waiting": 1, "degraded": 1, "rejected": 1}
	if got := now.States(); !maps.Equal(got, states) {
		t.Errorf("got %v, want %v", got, states)
	}
}
