package hangfs

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// Op is a kind of request, as the kernel numbers it.
type Op uint32

// The requests that a test may want to hang.
const (
	Lookup  Op = 1
	GetAttr Op = 3
	Open    Op = 14
	Read    Op = 15
	Flush   Op = 25 // a copy of a descriptor is closed
)

// Mount is a mounted file system. It is served by a process of its own: the one
// under test may stand still because of it.
type Mount struct {
	Dir string

	t      *testing.T
	orders *bufio.Writer
	done   *bufio.Reader
}

// New mounts a folder with files, by name, which are all programs. It is
// unmounted, and what hangs is let go, when the test ends.
func New(t *testing.T, files map[string]string) *Mount {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIP-TOOL fuse: mounting needs root")
	}
	fuse, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("SKIP-TOOL fuse: %v", err)
	}
	defer fuse.Close()
	m := &Mount{Dir: t.TempDir(), t: t}
	options := fmt.Sprintf("fd=%d,rootmode=40755,user_id=0,group_id=0,default_permissions,allow_other", fuse.Fd())
	const flags = unix.MS_NODEV | unix.MS_NOSUID | unix.MS_RDONLY
	if err := unix.Mount("hangfs", m.Dir, "fuse.hangfs", flags, options); err != nil {
		t.Skipf("SKIP-TOOL fuse: mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(m.Dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", m.Dir, err)
		}
	})
	m.start(fuse, files)
	return m
}

// start starts the process that serves, which ends with its stdin.
func (m *Mount) start(fuse *os.File, files map[string]string) {
	m.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		m.t.Fatal(err)
	}
	text, err := json.Marshal(files)
	if err != nil {
		m.t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), serveVar+"="+string(text))
	cmd.Stderr, cmd.ExtraFiles = os.Stderr, []*os.File{fuse}
	in, err := cmd.StdinPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.orders, m.done = bufio.NewWriter(in), bufio.NewReader(out)
	m.t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			m.t.Errorf("the file system: %v", err)
		}
	})
}

// order has the serving process do something, and waits until it has.
func (m *Mount) order(words ...any) {
	fmt.Fprintln(m.orders, words...)
	err := m.orders.Flush()
	if err == nil {
		_, err = m.done.ReadString('\n')
	}
	if err != nil {
		m.t.Errorf("%v: %v", words, err)
	}
}

// Hang has no request answered from now on whose kind is one of ops, none at all
// without ops.
func (m *Mount) Hang(ops ...Op) {
	words := []any{"hang"}
	for _, op := range ops {
		words = append(words, uint32(op))
	}
	m.order(words...)
}

// Held waits until a request is held.
func (m *Mount) Held() { m.order("held") }

// Answer answers what is held, and all that comes.
func (m *Mount) Answer() { m.order("answer") }
