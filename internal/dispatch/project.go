package dispatch

import (
	"time"

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

// projectOf is the working tree that a directory is in, where hooks of the index
// ask for that.
func (d *Dispatcher) projectOf(index *match.Index, cwd string, now time.Time) string {
	if cwd == "" || d.opts.Projects == nil {
		return ""
	}
	if !index.Projects() {
		d.opts.Projects.See(cwd, now)
		return ""
	}
	return d.opts.Projects.Root(cwd)
}
