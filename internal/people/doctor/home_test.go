package doctor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/proc"
)

// A daemon that is stopped takes no signal to end: it has to go on first.
func TestStoppedDaemon(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	pid := cmd.Process.Pid
	home := t.TempDir()
	lock, err := os.Create(filepath.Join(home, "hookd.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	fmt.Fprintln(lock, pid)
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	advice := func() string {
		v := &visit{}
		v.Config.Home, v.Config.State = home, home
		v.lock()
		return v.found[0].Do
	}
	if got := advice(); got != (&visit{}).replace(pid) {
		t.Errorf("one that hangs: %q", got)
	}
	if err := cmd.Process.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	hooktest.Until(t, "it is stopped", func() bool { return proc.Stopped(pid) })
	if got := advice(); !strings.HasPrefix(got, "kill -CONT ") {
		t.Errorf("one that is stopped: %q", got)
	}
}

// A home that the daemon could not make or write to is a problem, with the command that mends it.
func TestClosedHome(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	closed := t.TempDir()
	if err := os.Chmod(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ home, found, do string }{
		{closed, "may not be written by you", "chmod u+rwx " + closed},
		{filepath.Join(closed, "a", "b"), closed + " may not be written by you", chooseHome},
	} {
		v := &visit{uid: os.Geteuid()}
		v.Config.Home = tt.home
		v.home()
		if len(v.found) != 1 || v.found[0].Level != Problem || v.found[0].Do != tt.do ||
			!strings.Contains(v.found[0].Found, tt.found) {
			t.Errorf("%s: got %+v", tt.home, v.found)
		}
	}
}
