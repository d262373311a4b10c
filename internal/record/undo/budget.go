package undo

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookd/hookd/internal/base/git"
	"github.com/hookd/hookd/wire"
)

// budget bounds the keeping of one call: its time, and the bytes that are copied.
type budget struct {
	until   time.Time
	copied  int64 // so far
	callMax int64
	fileMax int64
	tooMuch error // of a file of more than fileMax
	noCopy  bool  // the disk is too full
	stopped atomic.Bool
	looks   atomic.Int64 // at the clock: a keeping that makes none hangs
	slow    atomic.Bool  // a large clone is made, which first writes to the disk what is in memory alone
	repos   map[string]*git.Repo
}

// over reports whether the time is over.
func (b *budget) over() bool {
	b.looks.Add(1)
	return b.stopped.Load() || time.Now().After(b.until)
}

// takes reserves room for a copy.
func (b *budget) takes(size int64) error {
	switch {
	case b.noCopy:
		return errFull
	case size > b.fileMax && b.tooMuch != nil:
		return b.tooMuch
	case size > b.fileMax || b.copied+size > b.callMax:
		return errLarge
	case b.over():
		return errLate
	}
	b.copied += size
	return nil
}

// losses counts the things that are not kept, by reason.
type losses struct {
	list  []Lost
	count map[string]int // by reason
	first map[string]string
	order []string
}

// mostLost is how many losses of one reason are named.
const mostLost = 3

func (l *losses) add(what, why string) {
	if l.count == nil {
		l.count, l.first = map[string]int{}, map[string]string{}
	}
	if l.count[why]++; l.count[why] == 1 {
		l.order = append(l.order, why)
	}
	if l.count[why] <= mostLost {
		l.list = append(l.list, Lost{What: what, Why: why})
	}
}

// all returns the losses, grouped by reason, with a count of the losses that are not named.
func (l *losses) all() []Lost {
	var all []Lost
	for _, why := range l.order {
		for _, one := range l.list {
			if one.Why == why {
				all = append(all, one)
			}
		}
		if more := l.count[why] - mostLost; more > 0 {
			all = append(all, Lost{What: fmt.Sprintf("%d more", more), Why: why, Count: more})
		}
	}
	return all
}

// againWords begins the reason of a thing that can be made again: nothing is lost.
const againWords = "it can be made again"

// wordOf says how much is kept.
func wordOf(files int, lost []Lost) string {
	real := slices.ContainsFunc(lost, func(l Lost) bool { return !strings.HasPrefix(l.Why, againWords) })
	switch {
	case files == 0 && len(lost) == 0:
		return ""
	case files == 0:
		return None
	case real:
		return Part
	}
	return Kept
}

// otherWords begin the name of the other hard links of a file.
const otherWords = "the other names of "

// hangWords name the effects of a call whose file system does not answer.
const hangWords = "what it destroys"

// Known reports whether something is known that the call destroys.
func (r *Copied) Known() bool {
	return r.Files > 0 || slices.ContainsFunc(r.Lost, func(l Lost) bool {
		return l.What != wire.LostElse && l.What != hangWords
	})
}

// Undoable reports whether everything that the call is known to destroy can come back, or
// can be made again.
func (r *Copied) Undoable() bool {
	return r.Deny == "" && !r.Late && !slices.ContainsFunc(r.Lost, func(l Lost) bool {
		return l.What != wire.LostElse && !strings.HasPrefix(l.Why, againWords)
	})
}

// counter counts the files of trees while these are kept, so that a verdict can say how many are not.
type counter struct {
	files       atomic.Int64
	whole, stop atomic.Bool
}

// below counts the names below a folder that are no folders.
func (c *counter) below(parent int, path string) {
	fd, err := openFolder(parent, path)
	if err != nil {
		return
	}
	dir := os.NewFile(uintptr(fd), path)
	defer dir.Close()
	for !c.stop.Load() {
		list, err := dir.ReadDir(512)
		for _, d := range list {
			if d.IsDir() {
				c.below(fd, d.Name())
			} else {
				c.files.Add(1)
			}
		}
		if err != nil || len(list) == 0 {
			return
		}
	}
}

// of tells how many files are kept of how many; "" = they are not counted.
func (c *counter) of(kept int) string {
	switch n := int(c.files.Load()); {
	case n <= kept:
		return fmt.Sprintf(": %d files are kept so far", kept)
	case c.whole.Load():
		return fmt.Sprintf(": %d of %d files are kept so far", kept, n)
	default:
		return fmt.Sprintf(": %d of more than %d files are kept so far", kept, n)
	}
}
