package system_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/peer"
	"github.com/hookd/hookd/internal/base/system"
	"github.com/hookd/hookd/internal/base/system/systemtest"
)

func TestRequired(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                    false,
		"log: {level: debug}\n":               false,
		"required: true\n":                    true,
		"\ufeffrequired: true\n":              true,
		"required: false\n":                   false,
		"required: false # not yet\r\n":       false,
		"# required: true\n":                  false,
		"  # required: true":                  false,
		"{required: true}":                    true,
		"\"required\": yes":                   true,
		"required:\n  true":                   true,
		" required: false\n":                  true, // of another mapping, or a mistake
		"a: b\nrequired : true # yes\nc: d\n": true,
		"required: \"false\"":                 true,
	} {
		if got := system.Required([]byte(text)); got != want {
			t.Errorf("%q is required: %v, want %v", text, got, want)
		}
	}
}

// No environment moves the place, and a file that cannot be read must be answered.
func TestLook(t *testing.T) {
	t.Setenv("LIBREFANG_HOME", t.TempDir())
	t.Setenv("HOOKD_SOCKET", "/tmp/elsewhere")
	if p := system.Here(); p.Folder != "/etc/hookd" || filepath.Base(p.Socket) != "hookd.sock" {
		t.Errorf("it is %+v", p)
	}
	p := systemtest.Place(t, "required: false\n")
	look := func() [2]bool {
		present, required := system.Here().Look()
		return [2]bool{present, required}
	}
	if got := look(); got != [2]bool{true, false} {
		t.Errorf("present, required: %v", got)
	}
	hooktest.Must(t, os.Remove(p.Settings()))
	if got := look(); got != [2]bool{false, false} {
		t.Errorf("without settings: %v", got)
	}
	hooktest.Must(t, os.Mkdir(p.Settings(), 0o755)) // it cannot be read
	if got := look(); got != [2]bool{true, true} {
		t.Errorf("settings that cannot be read: %v", got)
	}
	hooktest.Must(t, os.Remove(p.Settings()))
	hooktest.Must(t, os.Symlink("/nowhere", p.Settings()))
	if got := look(); got != [2]bool{true, true} {
		t.Errorf("a link that leads nowhere: %v", got)
	}
}

func TestCheck(t *testing.T) {
	p := systemtest.Place(t, "")
	run := filepath.Dir(p.Socket)
	trusted := func(uid int) bool { return p.Check(peer.Process{UID: uid, PID: 1}) == nil }
	if !trusted(p.Root) || trusted(hooktest.OtherUser) {
		t.Error("root's daemon is refused, or that of a user who does not own the folder is not")
	}
	hooktest.Must(t, os.Chmod(run, 0o777))
	if trusted(hooktest.OtherUser) {
		t.Error("a folder that all can write to says who the daemon is")
	}
	hooktest.Must(t, os.Chmod(run, 0o755))
	hooktest.NeedRoot(t)
	hooktest.Must(t, os.Chown(run, hooktest.OtherUser, hooktest.OtherUser))
	if !trusted(hooktest.OtherUser) || trusted(hooktest.OtherUser-1) {
		t.Error("the owner of the folder is refused, or another user is not")
	}
	if !p.Shown(p.Root) || !p.Shown(hooktest.OtherUser) || p.Shown(hooktest.OtherUser-1) {
		t.Error("the state is shown to another user than root and the daemon's, or not to these")
	}
	hooktest.Must(t, os.Chmod(filepath.Dir(run), 0o777)) // now any user can have made it
	if trusted(hooktest.OtherUser) {
		t.Error("a folder that any user can have made says who the daemon is")
	}
}
