package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/wire"
)

// playRole is another process of a test: the test binary run again.
func playRole(role string) int {
	socket := os.Getenv("SERVER_TEST_SOCKET")
	switch role {
	case "serve": // until it is killed
		d := newDaemon()
		s, err := Listen(options(d, socket))
		if err != nil {
			fmt.Println(err)
			return 1
		}
		if kept := os.Getenv("SERVER_TEST_KEPT"); kept != "" {
			if err := startHeir(s, kept == "lock"); err != nil {
				fmt.Println(err)
				return 1
			}
		}
		fmt.Println("ready")
		s.Serve(context.Background())
		return 0
	case "heir": // has a killed daemon's descriptors until a process connects
		f := os.NewFile(3, "socket")
		l, err := net.FileListener(f)
		f.Close()
		if err == nil {
			l.(*net.UnixListener).SetUnlinkOnClose(false)
			l.(*net.UnixListener).SetDeadline(time.Now().Add(time.Minute))
			_, err = l.Accept()
		}
		if err != nil {
			return 1
		}
		return 0
	case "send": // one event, and print the answer
		conn, err := net.Dial("unix", socket)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		conn.SetDeadline(time.Now().Add(time.Minute))
		io.WriteString(conn, "{\"event\":\"agent:end\"}\n")
		conn.(*net.UnixConn).CloseWrite()
		answer, _ := io.ReadAll(conn)
		fmt.Printf("answer %q", answer)
		return 0
	}
	return 2
}

// startHeir starts a process that has the socket of a server, and its lock if it is to.
func startHeir(s *Server, lock bool) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	socket, err := s.listener.(*net.UnixListener).File()
	if err != nil {
		return err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "SERVER_TEST_ROLE=heir")
	if cmd.ExtraFiles = []*os.File{socket}; lock {
		cmd.ExtraFiles = append(cmd.ExtraFiles, s.lock)
	}
	return cmd.Start()
}

func role(t *testing.T, name, socket string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "SERVER_TEST_ROLE="+name, "SERVER_TEST_SOCKET="+socket)
	return cmd
}

// startRole starts another daemon and waits until it listens.
func startRole(t *testing.T, socket string) *exec.Cmd {
	t.Helper()
	cmd := role(t, "serve", socket)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	said := make([]byte, 5)
	if _, err := io.ReadFull(out, said); err != nil || string(said) != "ready" {
		t.Fatalf("other daemon said %q, %v", said, err)
	}
	return cmd
}

func TestSecondDaemonSaysWhoHoldsTheHome(t *testing.T) {
	socket := filepath.Join(hooktest.ShortDir(t), "s")
	first := startRole(t, socket)
	_, err := Listen(options(newDaemon(), socket))
	var locked *LockedError
	if !errors.As(err, &locked) || locked.PID != first.Process.Pid {
		t.Fatalf("got %v, want a LockedError with pid %d", err, first.Process.Pid)
	}
	if want := fmt.Sprintf("kill %d", first.Process.Pid); !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "hookd status") {
		t.Errorf("error %q does not say what to type", err)
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatalf("the first daemon lost its socket: %v", err)
	}
	conn.Close()
}

func TestKilledDaemonLeavesNothingInTheWay(t *testing.T) {
	socket := filepath.Join(hooktest.ShortDir(t), "s")
	first := startRole(t, socket)
	first.Process.Kill()
	first.Wait()
	if _, err := os.Lstat(socket); err != nil {
		t.Fatalf("no stale socket to test with: %v", err)
	}
	s, err := Listen(options(newDaemon(), socket))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Shutdown(t.Context())
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

// A process that a killed daemon was about to start may have its socket, and its lock,
// for longer than the daemon itself: the next daemon waits for that.
func TestWhatAKilledDaemonsChildHoldsIsWaitedFor(t *testing.T) {
	for _, kept := range []string{"socket", "lock"} {
		t.Run(kept, func(t *testing.T) {
			socket := filepath.Join(hooktest.ShortDir(t), "s")
			t.Setenv("SERVER_TEST_KEPT", kept)
			first := startRole(t, socket)
			first.Process.Kill()
			first.Wait()
			listened := make(chan error)
			go func() {
				s, err := Listen(options(newDaemon(), socket))
				if err == nil {
					s.Shutdown(t.Context())
				}
				listened <- err
			}()
			if kept == "lock" { // nothing else connects
				conn, err := net.Dial("unix", socket)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
			}
			if err := <-listened; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSocketOfAnotherHomeIsNotTaken(t *testing.T) {
	dir := hooktest.ShortDir(t)
	startRole(t, filepath.Join(dir, "s"))
	opt := options(newDaemon(), filepath.Join(dir, "s"))
	opt.Lock = filepath.Join(dir, "other.lock")
	if _, err := Listen(opt); err == nil || !strings.Contains(err.Error(), "another process listens there") {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsNotASocketStays(t *testing.T) {
	path := filepath.Join(hooktest.ShortDir(t), "s")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(options(newDaemon(), path)); err == nil || !strings.Contains(err.Error(), "not a socket") {
		t.Errorf("got %v", err)
	}
	if text, _ := os.ReadFile(path); string(text) != "precious" {
		t.Errorf("file now holds %q", text)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Error(err)
	}
}

func TestPathTooLong(t *testing.T) {
	dir := hooktest.ShortDir(t)
	fits := filepath.Join(dir, strings.Repeat("x", maxPath-len(dir)-1))
	s, err := Listen(options(newDaemon(), fits))
	if err != nil {
		t.Fatalf("a path of %d bytes: %v", len(fits), err)
	}
	s.Shutdown(t.Context())

	_, err = Listen(options(newDaemon(), fits+"x"))
	if err == nil {
		t.Fatal("a path that is too long was taken")
	}
	for _, want := range []string{fmt.Sprint(maxPath + 1), fmt.Sprint("allows ", maxPath), "LIBREFANG_HOME", "`socket:`"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
}

func TestSocketIsPrivateWhateverTheUmask(t *testing.T) {
	old := unix.Umask(0)
	defer unix.Umask(old)
	dir := filepath.Join(hooktest.ShortDir(t), "home")
	s, err := Listen(options(newDaemon(), filepath.Join(dir, "s")))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Shutdown(t.Context())
	for name, want := range map[string]os.FileMode{"": 0o700, "s": 0o600, "hookd.lock": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%q has mode %o, want %o", name, got, want)
		}
	}
}

func TestForeignUserIsClosedUnread(t *testing.T) {
	hooktest.NeedRoot(t)
	f := start(t, nil)
	// Let the other user as far as the socket: the check itself is under test.
	for path, mode := range map[string]os.FileMode{f.socket: 0o666, filepath.Dir(f.socket): 0o755} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Skip("SKIP-TOOL proc: no /proc/self/exe to copy the test binary from")
	}
	dir := hooktest.ShortDir(t)
	binary := filepath.Join(dir, "other")
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(binary, self, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := role(t, "send", f.socket)
	cmd.Path = binary
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.Output()
	if err != nil || string(out) != `answer ""` {
		t.Errorf("foreign user got %q, %v", out, err)
	}
	if n := f.accepted.Load(); n != 0 {
		t.Errorf("%d events accepted", n)
	}
	entries := f.logs.FilterMessage("connection refused").All()
	if len(entries) != 1 || entries[0].ContextMap()["uid"] != int64(65534) {
		t.Errorf("logged %v", entries)
	}
}

func TestSilentClientIsClosed(t *testing.T) {
	f := start(t, func(o *Options) { o.Silence = 20 * time.Millisecond })
	if got := f.dial().read(); got != "EOF" {
		t.Errorf("read %q, want the end", got)
	}
}

func TestSlowClientsDelayNobody(t *testing.T) {
	f := start(t, nil)
	var silent []*line
	for range tooManySilent + 50 {
		silent = append(silent, f.dial())
	}
	if got := code(t, f.dial().ask(`{"event":"agent:end"}`)); got != "ok" {
		t.Errorf("got %s", got)
	}
	if got := silent[0].read(); !strings.Contains(got, "EOF") && !strings.Contains(got, "reset") {
		t.Errorf("the oldest one read %q, want its end", got)
	}
	if got := code(t, silent[len(silent)-1].ask(`{"event":"agent:end"}`)); got != "ok" {
		t.Errorf("the newest one got %s", got)
	}
	if n := f.logs.FilterMessageSnippet("have sent nothing").Len(); n == 0 || n > 6 {
		t.Errorf("logged %d lines, want some of a kind", n)
	}
}

// Connections leave descriptors to runs: beyond their number a silent connection goes,
// then the one which was waited for longest. A connection that is served never goes.
func TestConnectionsAreLimited(t *testing.T) {
	f := start(t, func(o *Options) { o.MaxConns = 4 })
	waiting := f.dial()
	waiting.send(`{"event":"test:wait","wait":true}` + "\n")
	hooktest.Until(t, "it waits", func() bool { return f.waiting.Load() == 1 })
	idle := f.dial()
	if got := code(t, idle.ask(`{"event":"agent:end"}`)); got != "ok" {
		t.Fatal(got)
	}
	hooktest.Until(t, "it is known to be idle", func() bool { return idles(f.server) == 1 })
	silent := f.dial()
	for range 10 {
		if got := code(t, f.dial().ask(`{"event":"agent:end"}`)); got != "ok" {
			t.Fatal(got)
		}
	}
	for name, l := range map[string]*line{"silent": silent, "idle": idle} {
		if got := l.read(); got != "EOF" {
			t.Errorf("the %s one read %q, want its end", name, got)
		}
	}
	close(f.release)
	if r := parseReply(t, waiting.read()); r.Verdict == nil {
		t.Error("the one that was served has lost its answer")
	}
}

func idles(s *Server) (n int) {
	s.conns.mu.Lock()
	defer s.conns.mu.Unlock()
	for c := range s.conns.conns {
		if c.idle.Load() > 0 {
			n++
		}
	}
	return n
}

func TestRemovedSocketIsBoundAgain(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"told":      nil,
		"looked at": func(o *Options) { o.lookAgain = 5 * time.Millisecond },
	} {
		t.Run(name, func(t *testing.T) { testRemovedSocket(t, start(t, change)) })
	}
}

func testRemovedSocket(t *testing.T, f *fixture) {
	before := f.dial()
	if got := code(t, before.ask(`{"event":"agent:end"}`)); got != "ok" { // it is taken now
		t.Fatalf("got %s", got)
	}
	for range 3 {
		if err := os.Remove(f.socket); err != nil {
			t.Fatal(err)
		}
		hooktest.Until(t, "it is there again", func() bool {
			conn, err := net.Dial("unix", f.socket)
			if err == nil {
				conn.Close()
			}
			return err == nil
		})
		if got := code(t, f.dial().ask(`{"event":"agent:end"}`)); got != "ok" {
			t.Errorf("got %s", got)
		}
	}
	if got := code(t, before.ask(`{"event":"agent:end"}`)); got != "ok" {
		t.Errorf("a connection of before got %s", got)
	}
}

func TestSocketThatCannotBeBoundAgainEndsTheServer(t *testing.T) {
	d := newDaemon()
	socket := filepath.Join(hooktest.ShortDir(t), "s")
	opt := options(d, socket)
	opt.lookAgain = 5 * time.Millisecond
	s, err := Listen(opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(socket); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(socket, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(t.Context()); err == nil || !strings.Contains(err.Error(), socket) {
		t.Errorf("serve ended with %v, want the reason", err)
	}
}

// Half-sent large events have a fixed share of memory together; a sender that stops in
// the middle of one gives way to a sender that sends its whole event.
func TestHalfSentEventsAreBounded(t *testing.T) {
	const most = 1 << 20
	f := start(t, func(o *Options) { o.MaxEventBytes = most })
	half := `{"event":"agent:end","data":{"t":"` + strings.Repeat("x", most/2)
	body := fmt.Sprintf("POST /v1/events HTTP/1.1\r\nHost: hookd\r\nContent-Length: %d\r\n\r\n", most-10)
	chunked := "POST /v1/events HTTP/1.1\r\nHost: hookd\r\nTransfer-Encoding: chunked\r\n\r\n80000\r\n"
	var senders []*line
	for i := range 6 {
		l := f.dial()
		senders = append(senders, l)
		go io.WriteString(l, []string{"", body, chunked}[i%3]+half) // it may find no reader
	}
	hooktest.Until(t, "some are read", func() bool { return held(f.server.intake) > 0 })
	for range 3 {
		if got := code(t, f.dial().ask(half+`"}}`)); got != "ok" && got != string(wire.CodeQueueFull) {
			t.Errorf("a whole event got %s", got)
		}
		if n := held(f.server.intake); n > most {
			t.Errorf("%d bytes are held", n)
		}
	}
	hooktest.Until(t, "a whole event gets its turn", func() bool { return code(t, f.dial().ask(half+`"}}`)) == "ok" })
	for _, l := range senders {
		l.Close()
	}
	hooktest.Until(t, "all is given back", func() bool { return held(f.server.intake) == 0 })
}

func held(in *intake) (n int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for s := range in.held {
		n += s.bytes
	}
	return n
}

// A large event that waits for its runs leaves its room to others.
func TestRoomIsFreeWhileRunsAreWaitedFor(t *testing.T) {
	f := start(t, func(o *Options) { o.MaxEventBytes = 1 << 20 })
	large := `{"event":"test:disk","wait":true,"data":{"t":"` + strings.Repeat("x", 1<<19) + `"}}`
	var waiting []*line
	for range 5 {
		l := f.dial()
		waiting = append(waiting, l)
		l.send(large + "\n")
	}
	web := f.dial()
	waiting = append(waiting, web)
	web.send(fmt.Sprintf("POST /v1/events HTTP/1.1\r\nHost: hookd\r\nContent-Length: %d\r\n\r\n%s", len(large), large))
	if got := code(t, f.dial().ask(strings.Replace(large, "test:disk", "agent:end", 1))); !strings.HasPrefix(got, "ok") {
		t.Errorf("got %s", got)
	}
	hooktest.Until(t, "nothing is held", func() bool { return held(f.server.intake) == 0 })
	close(f.release)
	for _, l := range waiting {
		if got := l.read(); strings.Contains(got, "EOF") {
			t.Error("an answer is lost")
		}
	}
}

// The answer to a ping comes before those of events that wait.
func TestPing(t *testing.T) {
	f := start(t, nil)
	l := f.dial()
	l.send(wire.PingLine + "\n" + `{"event":"test:wait","wait":true}` + "\n")
	if got := l.read(); got+"\n" != wire.PongLine {
		t.Errorf("got %s", got)
	}
	close(f.release)
	if r := parseReply(t, l.read()); r.Verdict == nil {
		t.Error("no verdict")
	}
}

// A client that asks for 100 Continue gets it, and the answers to its lines.
func TestContinueOfNDJSON(t *testing.T) {
	f := start(t, nil)
	l := f.dial()
	event := `{"event":"agent:end"}` + "\n"
	l.send(fmt.Sprintf("POST /v1/events HTTP/1.1\r\nHost: hookd\r\nContent-Type: application/x-ndjson\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(event)))
	if got := l.read(); got != "HTTP/1.1 100 Continue\r" {
		t.Fatalf("got %q", got)
	}
	l.send(event)
	for got := ""; !strings.Contains(got, `"ok":true`); {
		if got = l.read(); strings.Contains(got, "EOF") {
			t.Fatal("no answer")
		}
	}
}

func TestFirstByteDecides(t *testing.T) {
	f := start(t, nil)
	for _, first := range []string{" {", "\n{", "\xef\xbb\xbf{", "[", "\x00", "\x16\x03\x01"} {
		conn := f.dial()
		conn.send(first + `"event":"agent:end"}` + "\n")
		if got := code(t, conn.read()); got != "bad_request" {
			t.Errorf("%q answered %s", first, got)
		}
		if got := conn.read(); got != "EOF" {
			t.Errorf("%q then %q, want the end", first, got)
		}
	}
}

func TestIdleLinesStayOpen(t *testing.T) {
	f := start(t, func(o *Options) { o.Silence = 30 * time.Millisecond })
	conn, idle := f.dial(), f.dial()
	conn.ask(`{"event":"agent:end"}`)
	if got := idle.read(); got != "EOF" { // longer than Silence has passed
		t.Fatalf("silent one read %q", got)
	}
	if got := code(t, conn.ask(`{"event":"agent:end"}`)); got != "ok" {
		t.Errorf("got %s", got)
	}
}
