package server

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// manager is a service manager's end of a socket: it stays open whatever the
// daemon does with its copies.
type manager struct {
	t      *testing.T
	socket string
	own    *net.UnixListener
}

func newManager(t *testing.T) *manager {
	t.Helper()
	m := &manager{t: t, socket: filepath.Join(hooktest.ShortDir(t), "s")}
	l, err := net.Listen("unix", m.socket)
	if err != nil {
		t.Fatal(err)
	}
	m.own = l.(*net.UnixListener)
	t.Cleanup(func() { m.own.Close() })
	return m
}

// give returns a copy for the daemon.
func (m *manager) give() net.Listener {
	m.t.Helper()
	f, err := m.own.File()
	if err != nil {
		m.t.Fatal(err)
	}
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		m.t.Fatal(err)
	}
	return l
}

func (m *manager) start() *fixture {
	m.t.Helper()
	f := start(m.t, func(o *Options) { o.Socket, o.Lock, o.Listener = m.socket, m.socket+".lock", m.give() })
	f.socket = m.socket
	return f
}

func TestGivenSocketIsTaken(t *testing.T) {
	m := newManager(t)
	if err := os.Chmod(m.socket, 0o666); err != nil {
		t.Fatal(err)
	}
	f := m.start()
	if got := code(t, f.dial().ask(`{"event":"agent:end"}`)); got != "ok" {
		t.Errorf("got %s", got)
	}
	if info, err := os.Stat(m.socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want a socket for the user alone", info, err)
	}
	if err := f.server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(m.socket); err != nil {
		t.Errorf("the manager's socket is gone: %v", err)
	}
}

// Who connects while one daemon stops is answered by the next.
func TestClientsWaitForTheNextDaemon(t *testing.T) {
	m := newManager(t)
	first := m.start()
	open := first.dial()
	if got := code(t, open.ask(`{"event":"agent:end"}`)); got != "ok" {
		t.Errorf("got %s", got)
	}
	first.server.LetWait()
	if got := code(t, open.ask(`{"event":"agent:end"}`)); got != "ok" {
		t.Errorf("got %s from a connection that was open before", got)
	}
	waiting := first.dial() // in the kernel
	waiting.send("{\"event\":\"agent:end\"}\n")
	if err := first.server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if n := first.accepted.Load(); n != 2 {
		t.Errorf("the first daemon took %d events, want 2", n)
	}
	next := m.start()
	if got := code(t, waiting.read()); got != "ok" {
		t.Errorf("got %s, want the next daemon's answer", got)
	}
	if n := next.accepted.Load(); n != 1 {
		t.Errorf("the next daemon took %d events, want 1", n)
	}
}

func TestGivenSocketIsChecked(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(m *manager, o *Options)
		want  string
	}{
		{"another-path", func(m *manager, o *Options) { o.Socket = filepath.Join(filepath.Dir(m.socket), "other") }, "the settings say"},
		{"removed", func(m *manager, _ *Options) { os.Remove(m.socket) }, "systemctl --user restart hookd.socket"},
		{"a-file-now", func(m *manager, _ *Options) {
			os.Remove(m.socket)
			os.WriteFile(m.socket, nil, 0o600)
		}, "is none any more"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newManager(t)
			given := m.give()
			defer given.Close()
			o := options(newDaemon(), m.socket)
			o.Listener = given
			tt.spoil(m, &o)
			_, err := Listen(o)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want it to say %q", err, tt.want)
			}
			lock, _, err := takeLock(withDefaults(o).Lock)
			if err != nil {
				t.Fatalf("the lock is still held: %v", err)
			}
			lock.Close()
		})
	}
}

// A folder may be reached by a link: the socket is the same.
func TestGivenSocketBehindALink(t *testing.T) {
	m := newManager(t)
	link := filepath.Join(hooktest.ShortDir(t), "link")
	if err := os.Symlink(filepath.Dir(m.socket), link); err != nil {
		t.Fatal(err)
	}
	o := options(newDaemon(), filepath.Join(link, "s"))
	o.Listener = m.give()
	s, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}
