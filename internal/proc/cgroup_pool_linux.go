package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// maxCgroups bounds the folders. With more runs at once, or more background
// children that live on, a run has no cgroup.
const maxCgroups = 512

// After maxFaults starts in a row that failed because of their cgroup, runs have
// none for faultPause.
const (
	maxFaults  = 3
	faultPause = time.Minute
)

// cgroups is a pool of cgroup folders. They are used again, because making one costs
// as much as a process. A nil pool is empty.
type cgroups struct {
	mount, root string // where the hierarchy is mounted, and which folder of it is there
	parent      string // <own cgroup>/hookd-<pid>-<random>

	mu     sync.Mutex // guards what is below
	free   []*cgroup
	busy   []*cgroup // with background children
	open   int       // folders that exist
	made   int       // for their names
	faults int       // in a row
	paused time.Time // until then acquire returns nil
	closed bool
}

// newCgroups finds this process's cgroup and tries it: a folder can be made, all
// processes in it can be killed, and a process that starts in it lives. It returns
// nil if that fails.
func newCgroups(start starter) *cgroups {
	mount, root, own := ownCgroup()
	if own == "" || unix.Access(filepath.Join(own, "cgroup.procs"), unix.W_OK) != nil {
		return nil
	}
	sweepCgroups(own)
	parent, err := os.MkdirTemp(own, "hookd-"+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil
	}
	c := &cgroups{mount: mount, root: root, parent: parent}
	g := c.acquire()
	if g == nil || unix.Access(filepath.Join(g.dir, "cgroup.kill"), unix.W_OK) != nil || !g.try(start) {
		c.release(g)
		c.close()
		return nil
	}
	c.release(g)
	return c
}

// sweepCgroups removes the empty folders of daemons that were killed.
func sweepCgroups(own string) {
	left, _ := filepath.Glob(filepath.Join(own, "hookd-*-*")) // the pattern is right
	for _, dir := range left {
		pid, err := strconv.Atoi(strings.Split(filepath.Base(dir), "-")[1])
		if err == nil && unix.Kill(pid, 0) == unix.ESRCH {
			removeCgroup(dir)
		}
	}
}

func (c *cgroups) folder() string {
	if c == nil {
		return ""
	}
	return c.parent
}

// acquire returns an empty cgroup, or nil.
func (c *cgroups) acquire() *cgroup {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || time.Now().Before(c.paused) {
		return nil
	}
	if len(c.free) == 0 {
		c.recheck()
	}
	if n := len(c.free); n > 0 {
		g := c.free[n-1]
		c.free = c.free[:n-1]
		return g
	}
	if c.open == maxCgroups {
		return nil
	}
	g := makeCgroup(filepath.Join(c.parent, "run-"+strconv.Itoa(c.made)))
	if g != nil {
		c.made++
		c.open++
	}
	return g
}

// recheck frees cgroups whose background children have ended: a few at a time, the
// oldest first.
func (c *cgroups) recheck() {
	for range min(len(c.busy), 8) {
		g := c.busy[0]
		c.busy = c.busy[1:]
		c.sort(g)
	}
}

// sort adds a cgroup to free or busy after its run, or removes it.
func (c *cgroups) sort(g *cgroup) {
	populated, frozen := g.state()
	switch {
	case populated != '0':
		c.busy = append(c.busy, g)
	case !c.closed && !g.spent && frozen == '0':
		c.free = append(c.free, g)
	case c.remove(g) != nil:
		c.busy = append(c.busy, g)
	}
}

// release returns a cgroup to the pool after its run.
func (c *cgroups) release(g *cgroup) {
	if g == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sort(g)
	if c.closed {
		c.finish()
	}
}

// discard removes a cgroup in which a start has failed.
func (c *cgroups) discard(g *cgroup) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.faults++; c.faults >= maxFaults {
		c.faults, c.paused = 0, time.Now().Add(faultPause)
	}
	g.spent = true
	c.sort(g)
}

// noteStart is called when a process has started in a cgroup.
func (c *cgroups) noteStart() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = 0
}

// remove removes an empty cgroup.
func (c *cgroups) remove(g *cgroup) error {
	if err := removeCgroup(g.dir); err != nil {
		return err
	}
	g.close()
	c.open--
	return nil
}

func (c *cgroups) close() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return c.finish()
}

// finish removes the empty cgroups and closes the others.
func (c *cgroups) finish() error {
	var errs []error
	for _, g := range append(c.free, c.busy...) {
		if err := c.remove(g); err != nil {
			g.close()
			if !errors.Is(err, unix.EBUSY) {
				errs = append(errs, err)
			}
		}
	}
	c.free, c.busy = nil, nil
	switch err := unix.Rmdir(c.parent); err {
	case nil, unix.ENOENT, unix.EBUSY, unix.ENOTEMPTY:
	default:
		errs = append(errs, &fs.PathError{Op: "remove", Path: c.parent, Err: err})
	}
	return errors.Join(errs...)
}

// of returns the folder of the run that pid is in.
func (c *cgroups) of(pid int) string {
	if c == nil || pid <= 0 {
		return ""
	}
	var buf [1024]byte
	text, err := readAbout(pid, "cgroup", buf[:])
	if err != nil {
		return ""
	}
	below, ok := strings.CutPrefix(cgroupDir(text, c.mount, c.root), c.parent+"/")
	if !ok {
		return ""
	}
	run, _, _ := strings.Cut(below, "/") // the run may have made folders of its own
	return c.parent + "/" + run
}
