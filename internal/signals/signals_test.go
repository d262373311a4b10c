package signals

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestSignalsBecomeIntents(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	intents := Watch(ctx)
	for _, tt := range []struct {
		signal syscall.Signal
		want   Intent
	}{{syscall.SIGHUP, Reload}, {syscall.SIGHUP, Reload}, {syscall.SIGTERM, Drain}, {syscall.SIGINT, Now}} {
		if err := syscall.Kill(os.Getpid(), tt.signal); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-intents:
			if got != tt.want {
				t.Errorf("%s became intent %d, want %d", tt.signal, got, tt.want)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s became nothing", tt.signal)
		}
	}
}

func TestTheServiceManagerIsTold(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "h")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	t.Setenv("NOTIFY_SOCKET", socket)
	for _, tt := range []struct {
		tell func()
		want string
	}{
		{func() { Ready("3 hooks, 1 degraded") }, "READY=1\nSTATUS=3 hooks, 1 degraded"},
		{Reloading, "RELOADING=1\n"},
		{Stopping, "STOPPING=1"},
	} {
		tt.tell()
		if err := conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 512)
		n, err := conn.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(buf[:n]); !strings.HasPrefix(got, tt.want) {
			t.Errorf("told %q, want %q", got, tt.want)
		}
	}
}

func TestWithoutAServiceManagerNothingHappens(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	Ready("fine")
	t.Setenv("NOTIFY_SOCKET", "/nowhere/at/all")
	Stopping()
}
