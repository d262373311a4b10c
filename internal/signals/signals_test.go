package signals

import (
	"context"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

func TestSignalsBecomeIntents(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	intents := Watch(ctx, func() { t.Error("the process is ended") })
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

// A SIGHUP after the first SIGTERM asks for nothing, however many come before
// a loop reads it; and whatever hangs, the last SIGTERM ends the process.
func TestASignalToStopIsTheLastWord(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{}, 10)
	intents := Watch(ctx, func() { ended <- struct{}{} })
	marks := make(chan os.Signal, 100) // has one for each signal that has arrived
	signal.Notify(marks, syscall.SIGHUP, syscall.SIGTERM)
	defer signal.Stop(marks)
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGHUP, syscall.SIGHUP, syscall.SIGHUP, syscall.SIGHUP, syscall.SIGHUP,
		syscall.SIGTERM, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGTERM} {
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
		<-marks
	}
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("the third SIGTERM does not end the process")
	}
	var got []Intent
	for len(intents) > 0 {
		got = append(got, <-intents)
	}
	if !slices.Equal(got, []Intent{Reload, Drain, Now}) {
		t.Errorf("asked for %v, want a reload, a drain, and now", got)
	}
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("nothing ends the process some time after the second SIGTERM")
	}
}

func TestStateIsReportedToTheServiceManager(t *testing.T) {
	dir := hooktest.ShortDir(t)
	socket := filepath.Join(dir, "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	t.Setenv("NOTIFY_SOCKET", socket)
	for _, tt := range []struct {
		report func()
		want   string
	}{
		{func() { Ready("3 hooks, 1 degraded") }, "READY=1\nSTATUS=3 hooks, 1 degraded"},
		{Reloading, "RELOADING=1\n"},
		{func() { Stopping("10 s left") }, "STOPPING=1\nSTATUS=10 s left"},
	} {
		tt.report()
		if err := conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 512)
		n, err := conn.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(buf[:n]); !strings.HasPrefix(got, tt.want) {
			t.Errorf("reported %q, want %q", got, tt.want)
		}
	}
}

// While alive blocks no ping is sent: the manager's patience runs out.
func TestWatchdogCallsAlive(t *testing.T) {
	dir := hooktest.ShortDir(t)
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	t.Setenv("NOTIFY_SOCKET", filepath.Join(dir, "notify"))
	t.Setenv("WATCHDOG_USEC", "2000")
	t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
	ctx, cancel := context.WithCancel(t.Context())
	asked, answer, ended := make(chan bool), make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		Watchdog(ctx, func() { asked <- true; <-answer })
	}()
	read := func(within time.Duration) string {
		buf := make([]byte, 64)
		conn.SetReadDeadline(time.Now().Add(within))
		n, _ := conn.Read(buf)
		return string(buf[:n])
	}
	for range 3 {
		<-asked
		if got := read(20 * time.Millisecond); got != "" {
			t.Errorf("reported %q before the daemon was alive", got)
		}
		answer <- true
		if got := read(30 * time.Second); got != "WATCHDOG=1" {
			t.Errorf("reported %q, want a ping", got)
		}
	}
	cancel()
	for { // a tick may have been first
		select {
		case <-asked:
			answer <- true
		case <-ended:
			return
		}
	}
}

func TestWatchdogOnlyWhereAskedFor(t *testing.T) {
	for name, vars := range map[string][2]string{"off": {"", ""}, "another process's": {"2000", "1"}, "nonsense": {"soon", ""}} {
		t.Setenv("WATCHDOG_USEC", vars[0])
		t.Setenv("WATCHDOG_PID", vars[1])
		Watchdog(t.Context(), func() { t.Errorf("%s: alive is called", name) }) // returns at once
	}
}

func TestWithoutAServiceManagerNothingHappens(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	Ready("fine")
	t.Setenv("NOTIFY_SOCKET", "/nowhere/at/all")
	Stopping("")
}
