package hook

import (
	"slices"
	"time"
)

// Snapshot is all hooks at one moment, in registration order. It is never
// changed after it was published.
type Snapshot struct {
	Generation uint64
	Loaded     time.Time
	Entries    []Entry
	Problems   []Problem // that belong to no hook, such as an unreadable root
}

// Runnable returns the hooks that events are matched with, in registration
// order: the hooks that may run, and the hooks whose runs are refused.
func (s *Snapshot) Runnable() []*Hook {
	var hooks []*Hook
	for _, e := range s.Entries {
		if e.Hook != nil && e.State != Disabled && e.State != Rejected {
			hooks = append(hooks, e.Hook)
		}
	}
	return hooks
}

// Readable returns all hooks whose files could be read, also the hooks that are switched off.
func (s *Snapshot) Readable() []*Hook {
	var hooks []*Hook
	for _, e := range s.Entries {
		if e.Hook != nil {
			hooks = append(hooks, e.Hook)
		}
	}
	return hooks
}

// States counts the entries by state.
func (s *Snapshot) States() map[string]int {
	count := map[string]int{}
	for _, e := range s.Entries {
		count[string(e.State)]++
	}
	return count
}

// Projects returns the working trees that have hooks of their own which are trusted,
// also if these wait.
func (s *Snapshot) Projects() (roots []string) {
	for _, e := range s.Entries {
		for _, h := range []*Hook{e.Hook, e.Waits} {
			if h != nil && h.Project != "" && !slices.Contains(roots, h.Project) {
				roots = append(roots, h.Project)
			}
		}
	}
	return roots
}

// Change is a hook with the word for its change: added, removed or changed.
type Change struct {
	Hook *Hook // as it is now, or as it was last
	What string
}

// Since returns how the runnable hooks differ from those of an earlier snapshot.
func (s *Snapshot) Since(before *Snapshot) (list []Change) {
	old := map[string]*Hook{}
	for _, h := range before.Runnable() {
		old[h.ID] = h
	}
	for _, h := range s.Runnable() {
		was, known := old[h.ID]
		delete(old, h.ID)
		switch {
		case !known:
			list = append(list, Change{h, "added"})
		case was.Digest != h.Digest:
			list = append(list, Change{h, "changed"})
		}
	}
	for _, h := range before.Runnable() {
		if _, gone := old[h.ID]; gone {
			list = append(list, Change{h, "removed"})
		}
	}
	return list
}
