package doctor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/system/systemtest"
)

// Root asks about the system daemon, which acts as another user. A setup that is right for
// that user is no problem, and a guard that is closed to that user is a problem.
func TestSystemDaemonOfAnotherUser(t *testing.T) {
	hooktest.NeedRoot(t)
	place := systemtest.Place(t, "required: false\n")
	hooktest.Must(t, os.Chmod(filepath.Dir(place.Folder), 0o755))
	hooktest.Must(t, os.MkdirAll(place.State, 0o700))
	for _, name := range []string{"hookd.db", "hookd.db-wal", "hookd.lock"} {
		hooktest.Write(t, filepath.Join(place.State, name), "", 0o600)
	}
	daemon := exec.Command("sleep", "1000")
	daemon.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: hooktest.OtherUser, Gid: hooktest.OtherUser}}
	hooktest.Must(t, daemon.Start())
	t.Cleanup(func() {
		_ = daemon.Process.Kill()
		_ = daemon.Wait()
	})
	lock, err := os.OpenFile(filepath.Join(place.State, "hookd.lock"), os.O_RDWR, 0)
	hooktest.Must(t, err)
	defer lock.Close()
	fmt.Fprintln(lock, daemon.Process.Pid)
	hooktest.Must(t, unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	hooktest.Must(t, exec.Command("chown", "-R", fmt.Sprint(hooktest.OtherUser), place.State).Run())

	hooktest.Hook(t, place.Folder, "guard", "events: pre_tool_use\n", "exit 0\n")
	c, err := config.LoadSystem(place, nil)
	hooktest.Must(t, err)
	o := Options{Config: c, Client: client.New(client.Options{Socket: place.Socket}), UserPath: "/usr/bin:/bin"}
	problems := func() (list []string) {
		for _, f := range Look(t.Context(), o) {
			if f.Level == Problem && f.Check != "lock" { // sleep answers nothing
				list = append(list, f.Check+": "+f.Found+": "+f.Do)
			}
		}
		return list
	}
	if got := problems(); len(got) > 0 {
		t.Errorf("all is sound, but %q", got)
	}
	closed := filepath.Join(place.Folder, "hooks", "guard", "run.sh")
	hooktest.Must(t, os.Chmod(closed, 0o700))
	if got := problems(); len(got) != 1 || !strings.Contains(got[0], "closed to the daemon") || !strings.HasSuffix(got[0], closed) {
		t.Errorf("a program that is root's alone: %q", got)
	}
	hooktest.Must(t, os.Chmod(closed, 0o755))
	database, folder := filepath.Join(place.State, "hookd.db"), filepath.Join(place.Folder, "hooks")
	hooktest.Must(t, os.Chown(database, 0, 0))
	got := problems()
	if do := fmt.Sprintf("chown %d %s", hooktest.OtherUser, database); len(got) != 1 || !strings.HasSuffix(got[0], do) {
		t.Fatalf("a database that is root's: %q", got)
	}
	hooktest.Must(t, exec.Command("sh", "-c", got[0][strings.LastIndex(got[0], "chown"):]).Run()) // as typed by root
	hooktest.Must(t, os.Chmod(folder, 0o777))
	if got := problems(); len(got) == 0 || !strings.Contains(got[0], folder+" is writable by every user") {
		t.Errorf("hooks that all users may change: %q", got)
	}
}
