package proc

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/spawn"
)

// cgroup is the folder of one run at a time. A nil one does nothing.
type cgroup struct {
	dir        string
	fd, events int
	spent      bool // has been killed, see kill
}

// makeCgroup makes the folder dir, nil if it cannot.
func makeCgroup(dir string) *cgroup {
	if err := unix.Mkdir(dir, 0o755); err != nil {
		return nil
	}
	g := openCgroup(dir)
	if g == nil {
		unix.Rmdir(dir)
	}
	return g
}

// openCgroup opens the folder dir, nil if it cannot.
func openCgroup(dir string) *cgroup {
	fd, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	events := -1
	if err == nil {
		events, err = unix.Openat(fd, "cgroup.events", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		closeAll([]int{fd})
		return nil
	}
	return &cgroup{dir: dir, fd: fd, events: events}
}

// try starts a process in the cgroup. The system may refuse that, and a kernel
// kills it at once where our own cgroup was killed before (see kill).
func (g *cgroup) try(start starter) bool {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer null.Close()
	fd := int(null.Fd())
	p, err := start(context.Background(), &spawn.Spec{
		Path: "/bin/sh", Args: []string{"-c", ":"}, Files: [3]int{fd, fd, fd}, Cgroup: g.fd,
	})
	if err != nil {
		return false
	}
	closeAll([]int{p.PIDFD})
	var status unix.WaitStatus
	_, err = wait4(p.PID, &status, 0)
	return err == nil && status.Exited()
}

func (g *cgroup) folder() string {
	if g == nil {
		return ""
	}
	return g.dir
}

// descriptor returns that of the folder, 0 for none.
func (g *cgroup) descriptor() int {
	if g == nil {
		return 0
	}
	return g.fd
}

func (g *cgroup) close() { closeAll([]int{g.fd, g.events}) }

// kill sends SIGKILL to every process in the cgroup at once, forks under way
// included. The cgroup cannot be used again: when a process starts in a cgroup
// (CLONE_INTO_CGROUP), Linux compares how often that one and the parent's were
// killed, and kills the new process if the counts differ (seen on 6.18).
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

// left waits until the cgroup is empty, at most until, and returns how many
// processes it still has.
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
	// A folder that cannot be read has gone.
	_ = filepath.WalkDir(g.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "cgroup.procs" {
			b, _ := os.ReadFile(path) // it has gone
			n += bytes.Count(b, []byte("\n"))
		}
		return nil
	})
	return n
}

func (g *cgroup) populated() bool {
	populated, _ := g.state()
	return populated != '0'
}

// state reads cgroup.events: whether the cgroup has a process, and whether it is
// frozen. '0' is no, '?' is not known.
func (g *cgroup) state() (populated, frozen byte) {
	var buf [128]byte
	n, err := unix.Pread(g.events, buf[:], 0)
	if err == unix.ENODEV {
		return '0', '0' // another daemon has removed the folder: it was empty
	}
	populated, frozen = '?', '?'
	for line := range bytes.Lines(buf[:max(n, 0)]) {
		if value, ok := bytes.CutPrefix(line, []byte("populated ")); ok && len(value) > 0 {
			populated = value[0]
		}
		if value, ok := bytes.CutPrefix(line, []byte("frozen ")); ok && len(value) > 0 {
			frozen = value[0]
		}
	}
	return populated, frozen
}

// removeCgroup removes a folder and the folders in it. A folder is busy for a moment
// after its last process has gone.
func removeCgroup(dir string) error {
	entries, _ := os.ReadDir(dir) // then it is not removed
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
