package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// systemdStandIn speaks both protocols by which systemd runs a Type=notify service with a
// socket unit. It holds the socket and gives it to the daemon by
// sd_listen_fds(3). It hears the daemon's messages by sd_notify(3).
type systemdStandIn struct {
	t      *testing.T
	home   string
	socket *os.File // the listening socket; open for the whole test
	notify string
	heard  chan string
	extra  []string // environment
	cmd    *exec.Cmd
}

func newStandIn(t *testing.T) *systemdStandIn {
	t.Helper()
	home := hooktest.ShortDir(t)
	s := &systemdStandIn{t: t, home: home, notify: filepath.Join(home, "notify"), heard: make(chan string, 4096)}
	l, err := net.Listen("unix", s.path())
	if err != nil {
		t.Fatal(err)
	}
	if s.socket, err = l.(*net.UnixListener).File(); err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close() // s.socket is the copy that stays
	t.Cleanup(func() { s.socket.Close() })
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: s.notify, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := conn.Read(buf)
			if err != nil {
				return
			}
			s.heard <- string(buf[:n])
		}
	}()
	t.Cleanup(func() {
		if s.cmd != nil {
			s.cmd.Process.Kill()
			s.cmd.Wait()
		}
	})
	return s
}

func (s *systemdStandIn) path() string { return filepath.Join(s.home, "hookd.sock") }

// start starts the daemon and waits until it says that it is ready. The shell
// writes the pid between fork and exec, as systemd does.
func (s *systemdStandIn) start() {
	s.t.Helper()
	s.cmd = exec.Command("/bin/sh", "-c", `export LISTEN_PID=$$ WATCHDOG_PID=$$; exec "$0" serve`, hookdProgram(s.t))
	s.cmd.Env = append(os.Environ(), "LIBREFANG_HOME="+s.home, "NOTIFY_SOCKET="+s.notify, "LISTEN_FDS=1", "LISTEN_FDNAMES=hookd.socket", "HOOKD_FIRE_STARTUP=false")
	s.cmd.Env = append(s.cmd.Env, s.extra...)
	s.cmd.ExtraFiles = []*os.File{s.socket}
	log, err := os.OpenFile(filepath.Join(s.home, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	s.cmd.Stderr = log
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.hear("READY=1")
}

// hookdProgram is this test under the name by which it is hookd.
func hookdProgram(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "hookd")
	if err := os.Symlink(exe, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// hear waits for a message with this line, and returns it.
func (s *systemdStandIn) hear(line string) string {
	s.t.Helper()
	for deadline := time.After(patience); ; {
		select {
		case m := <-s.heard:
			if strings.Contains("\n"+m, "\n"+line) {
				return m
			}
		case <-deadline:
			log, _ := os.ReadFile(filepath.Join(s.home, "log"))
			s.t.Fatalf("%s did not come within %s; log:\n%s", line, patience, log)
		}
	}
}

// end sends a signal and waits until the daemon has ended.
func (s *systemdStandIn) end(sig syscall.Signal) error {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
	err := s.cmd.Wait()
	s.cmd = nil
	return err
}

func (s *systemdStandIn) hook(name, yaml string) {
	s.t.Helper()
	dir := filepath.Join(s.home, "hooks", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "HOOK.yaml"), []byte("name: "+name+"\n"+yaml), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func TestServiceTellsItsManager(t *testing.T) {
	t.Parallel()
	s := newStandIn(t)
	s.hook("show", "events: ask\ntype: script\nscript: env >\"$LIBREFANG_HOME/env\"\n")
	s.hook("broken", "events: [")
	s.extra = []string{"WATCHDOG_USEC=200000"}
	waiting, err := net.Dial("unix", s.path()) // before there is a daemon
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Close()
	if _, err := io.WriteString(waiting, `{"event":"ask","wait":true}`+"\n"); err != nil {
		t.Fatal(err)
	}
	s.start()
	s.hear("WATCHDOG=1")
	s.hear("WATCHDOG=1")
	waiting.SetReadDeadline(time.Now().Add(patience))
	answer, err := bufio.NewReader(waiting).ReadString('\n')
	if err != nil || !strings.Contains(answer, `"ok":true`) || !strings.Contains(answer, `"hook":"show"`) {
		t.Errorf("the client that waited got %q, %v", answer, err)
	}

	// The manager's own variables are not for hooks.
	env, err := os.ReadFile(filepath.Join(s.home, "env"))
	if err != nil || !strings.Contains(string(env), "HOOK_EVENT=ask") {
		t.Fatalf("the hook saw %q, %v", env, err)
	}
	for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_", "LISTEN_"} {
		if strings.Contains("\n"+string(env), "\n"+name) {
			t.Errorf("the hook inherited %s of\n%s", name, env)
		}
	}

	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if m := s.hear("RELOADING=1"); !strings.Contains(m, "\nMONOTONIC_USEC=") {
		t.Errorf("said %q, want the time with it", m)
	}
	if m := s.hear("READY=1"); !strings.Contains(m, "STATUS=1 hooks, 1 rejected") {
		t.Errorf("said %q, want the hooks counted", m)
	}
	if err := s.end(syscall.SIGTERM); err != nil {
		t.Errorf("it ended with %v", err)
	}
	s.hear("STOPPING=1")
	if _, err := os.Lstat(s.path()); err != nil {
		t.Errorf("the manager's socket was removed: %v", err)
	}
}

// Eight senders send while the service is restarted, and once killed: no
// connection is refused, a sender of one event gets its answer, and all that was
// accepted runs.
func TestRestartsUnderLoadLoseNothing(t *testing.T) {
	t.Parallel()
	const senders, each = 8, 40
	s := newStandIn(t)
	s.hook("count", "events: load:*\ntype: script\nscript: echo \"$HOOK_EVENT_DATA\" >>\"$LIBREFANG_HOME/seen\"\n")
	s.start()
	var all sync.WaitGroup
	var accepted, refused atomic.Int64
	for n := range senders {
		all.Go(func() {
			sender := &loadSender{path: s.path(), keep: n%2 == 1}
			defer sender.close()
			for i := range each {
				again, err := sender.send(fmt.Sprintf(`{"event":"load:one","id":"%d-%d","sender":"load","data":{"n":"%d-%d"}}`, n, i, n, i))
				if err != nil {
					t.Errorf("sender %d: %v", n, err)
					return
				}
				accepted.Add(1)
				refused.Add(int64(again))
			}
		})
	}
	for round := range 4 {
		hooktest.Until(t, "a part is accepted", func() bool { return accepted.Load() >= int64((round+1)*senders*each/6) || t.Failed() })
		if round == 2 {
			s.end(syscall.SIGKILL)
		} else if err := s.end(syscall.SIGTERM); err != nil {
			t.Errorf("it ended with %v", err)
		}
		s.start()
	}
	all.Wait()
	t.Logf("%d events accepted, sent %d times more after a refusal or a cut connection", accepted.Load(), refused.Load())
	if n := accepted.Load(); n != senders*each {
		t.Fatalf("%d events were accepted, want %d", n, senders*each)
	}
	hooktest.Until(t, "each has run", func() bool {
		text, _ := os.ReadFile(filepath.Join(s.home, "seen"))
		ran := map[string]bool{}
		for line := range strings.Lines(string(text)) {
			ran[line] = true
		}
		return len(ran) == senders*each
	})
	if err := s.end(syscall.SIGTERM); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// loadSender sends events over one connection, or one for each.
type loadSender struct {
	path string
	keep bool
	conn net.Conn
	in   *bufio.Reader
}

// send sends until the event is accepted, with the same id, so that it is
// accepted once. A refusal while the daemon stops is for connections that were
// open before; others wait for the next daemon. A connection may be cut by
// SIGKILL.
func (l *loadSender) send(line string) (again int, err error) {
	for ; ; again++ {
		if l.conn == nil {
			if l.conn, err = net.Dial("unix", l.path); err != nil {
				return again, err
			}
			l.conn.SetDeadline(time.Now().Add(2 * patience))
			l.in = bufio.NewReader(l.conn)
		}
		_, err := io.WriteString(l.conn, line+"\n")
		answer := ""
		if err == nil {
			answer, err = l.in.ReadString('\n')
		}
		if err != nil || !l.keep {
			l.close()
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return again, fmt.Errorf("no answer to %s", line)
		case err != nil:
		case strings.Contains(answer, `"ok":true`):
			return again, nil
		case !strings.Contains(answer, "draining") || !l.keep:
			return again, fmt.Errorf("%s was answered with %s", line, answer)
		default:
			l.close()
		}
	}
}

func (l *loadSender) close() {
	if l.conn != nil {
		l.conn.Close()
		l.conn = nil
	}
}

// A hook was under way when hookd was killed: the next hookd ends it with all
// its descendants, and no other process.
func TestKilledDaemonsRunsAreEnded(t *testing.T) {
	t.Parallel()
	for _, cgroup := range []string{"true", "false"} {
		t.Run("cgroup="+cgroup, func(t *testing.T) {
			s := newStandIn(t)
			s.extra = []string{"HOOKD_CGROUP=" + cgroup}
			mark := underWay(t, s)
			s.end(syscall.SIGKILL)
			if n := len(processesWith(mark)); n != 3 {
				t.Fatalf("%d processes are left, want 3: this shows nothing", n)
			}
			s.start()
			hooktest.Until(t, "they are gone", func() bool { return len(processesWith(mark)) == 0 })
			log, err := os.ReadFile(filepath.Join(s.home, "log"))
			if err != nil || !strings.Contains(string(log), "ended runs that a killed hookd left under way") {
				t.Errorf("the log does not tell, %v:\n%s", err, log)
			}
		})
	}
}

// The record names a process that started at another time: a pid that was used
// again. It lives.
func TestAProcessWithAPidThatWasUsedAgainLives(t *testing.T) {
	t.Parallel()
	s := newStandIn(t)
	s.extra = []string{"HOOKD_CGROUP=false"}
	mark := underWay(t, s)
	s.end(syscall.SIGKILL)
	record := filepath.Join(s.home, "hookd", "runs")
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	var e struct {
		PID   int       `json:"pid"`
		Start [2]uint64 `json:"start"`
	}
	head, slot := text[:8<<10], text[8<<10:]
	if err := json.Unmarshal(slot, &e); err != nil {
		t.Fatalf("%q: %v", slot, err)
	}
	e.Start[0] -= 500
	e.Start[1] = e.Start[0] + 1
	edited, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("%-255s\n", edited)
	if err := os.WriteFile(record, append(head, line...), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start()
	if n := len(processesWith(mark)); n != 3 {
		t.Errorf("%d processes are left, want 3", n)
	}
}

// underWay starts the daemon and a hook with two children that outlast the
// test. One child is in a session of its own. underWay returns the mark that they have in common.
func underWay(t *testing.T, s *systemdStandIn) (mark string) {
	t.Helper()
	mark = "MARK=" + filepath.Base(s.home)
	name, value, _ := strings.Cut(mark, "=")
	s.hook("slow", "events: go\ntype: script\ntimeout: 10m\nenv: {"+name+": "+value+"}\nscript: |\n"+
		"  [ -e \"$LIBREFANG_HOME/ready\" ] && exit\n  sleep 300 & setsid sleep 300 & touch \"$LIBREFANG_HOME/ready\"; wait\n")
	t.Cleanup(func() {
		for _, pid := range processesWith(mark) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	s.start()
	sender := &loadSender{path: s.path()}
	if _, err := sender.send(`{"event":"go"}`); err != nil {
		t.Fatal(err)
	}
	hooktest.Until(t, "the hook runs", func() bool {
		_, err := os.Stat(filepath.Join(s.home, "ready"))
		return err == nil && len(processesWith(mark)) == 3
	})
	return mark
}

// processesWith returns the processes that have a variable.
func processesWith(variable string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		env, _ := os.ReadFile(f)
		if strings.Contains("\x00"+string(env), "\x00"+variable+"\x00") {
			if pid, err := strconv.Atoi(strings.Split(f, "/")[2]); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
