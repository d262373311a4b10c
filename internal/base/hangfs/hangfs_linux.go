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

// Mount is a mounted file system. It is served by a process of its own, because the
// process under test may hang.
type Mount struct {
	Dir string

	t      *testing.T
	orders *bufio.Writer
	done   *bufio.Reader
}

// New mounts a folder with files, by name, which are all programs. When the test ends
// it answers all requests and is unmounted.
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

// order sends an order to the serving process and waits until it is done.
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

// Hang stops answering requests of these kinds; without ops, of all kinds.
func (m *Mount) Hang(ops ...Op) {
	words := []any{"hang"}
	for _, op := range ops {
		words = append(words, uint32(op))
	}
	m.order(words...)
}

// Held waits until there is a request that is not answered.
func (m *Mount) Held() { m.order("held") }

// Answer answers all requests, earlier ones without an answer and later ones.
func (m *Mount) Answer() { m.order("answer") }
