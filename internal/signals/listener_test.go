package signals

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// TestMain plays the daemon when a test starts this program as one.
func TestMain(m *testing.M) {
	if os.Getenv("SIGNALS_TEST_ROLE") != "" {
		os.Exit(takeListener())
	}
	os.Exit(m.Run())
}

// takeListener reports the result of Listener, and answers one client.
func takeListener() int {
	l, err := Listener()
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	if l == nil {
		fmt.Println("none")
		return 0
	}
	again, err := Listener()
	fmt.Println(l.Addr(), again, err, os.Getenv("LISTEN_FDS")+os.Getenv("LISTEN_PID"))
	conn, err := l.Accept()
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Fprint(conn, "hello")
	conn.Close()
	l.Close()
	return 0
}

// activate starts this program as systemd does: with the sockets as
// descriptors from 3 on and its own pid in LISTEN_PID, which only a process
// between fork and exec can write: the shell.
func activate(t *testing.T, pid string, files ...*os.File) (said string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", fmt.Sprintf("export LISTEN_PID=%s LISTEN_FDS=%d; exec %q", pid, len(files), exe))
	cmd.Env = append(os.Environ(), "SIGNALS_TEST_ROLE=daemon", "GORACE=atexit_sleep_ms=0")
	cmd.ExtraFiles = files
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer timer.Stop()
	cmd.Wait()
	return out.String()
}

func unixSocket(t *testing.T) (string, *os.File) {
	t.Helper()
	dir := hooktest.ShortDir(t)
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	f, err := l.(*net.UnixListener).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return path, f
}

func TestListenerIsTheServiceManagers(t *testing.T) {
	path, f := unixSocket(t)
	conn, err := net.Dial("unix", path) // before it accepts
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got, want := activate(t, "$$", f), path+" <nil> <nil> \n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	buf := make([]byte, 16)
	conn.SetReadDeadline(time.Now().Add(time.Minute))
	if n, err := conn.Read(buf); string(buf[:n]) != "hello" {
		t.Errorf("the client that waited got %q, %v", buf[:n], err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the socket was removed: %v", err)
	}
}

func TestListenerOfAnotherProcess(t *testing.T) {
	_, f := unixSocket(t)
	if got := activate(t, "1", f); got != "none\n" {
		t.Errorf("got %q, want none: the variables are another process's", got)
	}
	if got := activate(t, "$$"); got != "none\n" {
		t.Errorf("got %q without sockets", got)
	}
}

func TestListenerRefusesWhatItCannotServe(t *testing.T) {
	_, f := unixSocket(t)
	_, g := unixSocket(t)
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	internet, err := tcp.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer internet.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for want, files := range map[string][]*os.File{"there are 2": {f, g}, "no Unix socket": {internet}, "take the service manager's socket: ": {null}} {
		if got := activate(t, "$$", files...); !strings.HasPrefix(got, "error: ") || !strings.Contains(got, want) {
			t.Errorf("got %q, want an error with %q", got, want)
		}
	}
}
