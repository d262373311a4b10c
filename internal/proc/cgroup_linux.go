package proc

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxCgroups bounds the folders: more runs at once than that, or more
// background children that live on, and a run does without.
const maxCgroups = 512

// maxFaults is how many starts may fail because of their cgroup before runs
// do without.
const maxFaults = 3

// cgroups is a pool of cgroup folders. They are kept, for making one costs as
// much as a process. A nil pool gives nothing.
type cgroups struct {
	mount, root string // where the hierarchy is mounted, and what of it
	parent      string // <own cgroup>/hookd-<pid>-<random>

	mu     sync.Mutex // guards what is below
	free   []*cgroup
	busy   []*cgroup // with background children
	open   int       // folders that exist
	made   int       // for their names
	faults int
	closed bool
}

// cgroup is the folder of one run at a time. A nil one does nothing.
type cgroup struct {
	dir        string
	fd, events int
	spent      bool // has been killed, see kill
}

// newCgroups looks for the own cgroup and tries whether it can be used: the
// folder can be made, all in it can be killed, and a process that starts in it
// lives.
func newCgroups() *cgroups {
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
	g := c.take()
	if g == nil || unix.Access(filepath.Join(g.dir, "cgroup.kill"), unix.W_OK) != nil || !g.try() {
		c.put(g)
		c.close()
		return nil
	}
	c.put(g)
	return c
}

// try starts a process in the cgroup. clone3 may be forbidden, and a kernel
// kills it at once where our own cgroup was killed before (see kill).
func (g *cgroup) try() bool {
	pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", ":"}, &syscall.ProcAttr{
		Sys: &syscall.SysProcAttr{Setsid: true, UseCgroupFD: true, CgroupFD: g.fd},
	})
	if err != nil {
		return false
	}
	var status unix.WaitStatus
	_, err = wait4(pid, &status, 0)
	return err == nil && status.Exited()
}

// sweepCgroups removes the empty folders of daemons that were killed.
func sweepCgroups(own string) {
	left, _ := filepath.Glob(filepath.Join(own, "hookd-*-*"))
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

// take returns an empty cgroup, or nil.
func (c *cgroups) take() *cgroup {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.faults >= maxFaults {
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
	return c.make()
}

// recheck looks whether background children have ended, a few at a time, and
// those that wait longest first.
func (c *cgroups) recheck() {
	for range min(len(c.busy), 8) {
		g := c.busy[0]
		c.busy = c.busy[1:]
		c.sort(g)
	}
}

// sort puts a cgroup where it belongs after its run.
func (c *cgroups) sort(g *cgroup) {
	switch {
	case g.populated():
		c.busy = append(c.busy, g)
	case !c.closed && !g.spent && g.state("frozen") == '0':
		c.free = append(c.free, g)
	case c.remove(g) != nil:
		c.busy = append(c.busy, g)
	}
}

func (c *cgroups) make() *cgroup {
	dir := filepath.Join(c.parent, "run-"+strconv.Itoa(c.made))
	if err := unix.Mkdir(dir, 0o755); err != nil {
		return nil
	}
	fd, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	events := -1
	if err == nil {
		events, err = unix.Openat(fd, "cgroup.events", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		closeAll([]int{fd})
		unix.Rmdir(dir)
		return nil
	}
	c.made++
	c.open++
	return &cgroup{dir: dir, fd: fd, events: events}
}

// put gives a cgroup back after its run.
func (c *cgroups) put(g *cgroup) {
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

// drop throws away a cgroup that nothing could be started in.
func (c *cgroups) drop(g *cgroup) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults++
	g.spent = true
	c.sort(g)
}

// remove removes an empty cgroup.
func (c *cgroups) remove(g *cgroup) error {
	if err := removeCgroup(g.dir); err != nil {
		return err
	}
	g.release()
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

// finish removes what is empty, and lets go of what is not.
func (c *cgroups) finish() error {
	var errs []error
	for _, g := range append(c.free, c.busy...) {
		if err := c.remove(g); err != nil {
			g.release()
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

// of returns the run folder that pid lives in.
func (c *cgroups) of(pid int) string {
	if c == nil || pid <= 0 {
		return ""
	}
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		return ""
	}
	below, ok := strings.CutPrefix(cgroupDir(b, c.mount, c.root), c.parent+"/")
	if !ok {
		return ""
	}
	run, _, _ := strings.Cut(below, "/") // it may have made folders of its own
	return c.parent + "/" + run
}

func (g *cgroup) folder() string {
	if g == nil {
		return ""
	}
	return g.dir
}

func (g *cgroup) release() { closeAll([]int{g.fd, g.events}) }

// kill sends SIGKILL to every process in the cgroup at once, forks under way
// included. It is spent then: Linux counts the kills of a cgroup, and compares
// the count of the parent's cgroup with that of the child's when a process
// starts in it (CLONE_INTO_CGROUP; seen on 6.18), so every later one would be
// killed by its birth.
func (g *cgroup) kill() bool {
	if g == nil {
		return false
	}
	fd, err := unix.Openat(g.fd, "cgroup.kill", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	g.spent = true
	_, err = unix.Write(fd, []byte("1"))
	return err == nil
}

// left waits until the cgroup is empty, at most until, and counts the
// processes that are still there.
func (g *cgroup) left(until time.Time) int {
	for nap := shortNap; g.populated(); nap = longer(nap) {
		if !time.Now().Before(until) {
			return max(g.count(), 1)
		}
		time.Sleep(nap)
	}
	return 0
}

func (g *cgroup) count() (n int) {
	filepath.WalkDir(g.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "cgroup.procs" {
			b, _ := os.ReadFile(path)
			n += bytes.Count(b, []byte("\n"))
		}
		return nil
	})
	return n
}

func (g *cgroup) populated() bool { return g.state("populated") != '0' }

// state reads a line of cgroup.events; '?' if it cannot.
func (g *cgroup) state(key string) byte {
	var buf [128]byte
	n, err := unix.Pread(g.events, buf[:], 0)
	if err != nil {
		return '?'
	}
	for line := range bytes.Lines(buf[:n]) {
		if value, ok := bytes.CutPrefix(line, []byte(key+" ")); ok && len(value) > 0 {
			return value[0]
		}
	}
	return '?'
}

// removeCgroup removes a folder and those in it. A folder is busy for a
// moment after its last process has gone.
func removeCgroup(dir string) error {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			removeCgroup(filepath.Join(dir, e.Name()))
		}
	}
	var err error
	for range 3 {
		if err = unix.Rmdir(dir); err != unix.EBUSY {
			break
		}
		time.Sleep(shortNap)
	}
	if err == nil || err == unix.ENOENT {
		return nil
	}
	return &fs.PathError{Op: "remove", Path: dir, Err: err}
}
