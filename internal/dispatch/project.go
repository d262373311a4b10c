package dispatch

import (
	"sync/atomic"
	"time"

	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match"
)

// Projects find in which working tree a directory is.
type Projects interface {
	// Root is the root of the working tree, "" = in none. It returns at once except for
	// a directory that it has not heard of.
	Root(dir string) string
	// See notes that an event came from the directory now. It never waits.
	See(dir string, now time.Time)
}

// snapshots have the hooks in force.
type snapshots struct {
	*lifetime
	index atomic.Pointer[match.Index]
}

// publish puts a snapshot in force, and returns the one before.
func (s *snapshots) publish(snap *hook.Snapshot) (before *hook.Snapshot) {
	if old := s.index.Swap(match.New(snap, match.Options{Links: s.opts.Links, Fleet: s.opts.Fleet})); old != nil {
		before = old.Snapshot()
	}
	return before
}

// projectOf is the working tree that a directory is in, where hooks of the index
// ask for that.
func (s *snapshots) projectOf(index *match.Index, cwd string, now time.Time) string {
	if cwd == "" || s.opts.Projects == nil {
		return ""
	}
	if !index.Projects() {
		s.opts.Projects.See(cwd, now)
		return ""
	}
	return s.opts.Projects.Root(cwd)
}
