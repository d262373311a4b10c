package trust

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/hooktest"
)

const otherUser = hooktest.OtherUser

// asNobody runs a shell command as the second user.
func asNobody(t *testing.T, script string, args ...string) error {
	t.Helper()
	cmd := exec.Command("/bin/sh", append([]string{"-c", script, "sh"}, args...)...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUser, Gid: otherUser}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// tree is a hook's folder with a definition and a program, in a directory that
// every user may enter.
type tree struct {
	*testing.T
	base, home, folder, yaml, run string
}

func newTree(t *testing.T) *tree {
	base, err := os.MkdirTemp("/tmp", "trust")
	hooktest.Must(t, err)
	t.Cleanup(func() { os.RemoveAll(base) })
	base, err = filepath.EvalSymlinks(base) // on macOS /tmp is a link
	hooktest.Must(t, err)
	hooktest.Must(t, os.Chmod(base, 0o755))
	tr := &tree{T: t, base: base, home: filepath.Join(base, "home")}
	tr.folder = filepath.Join(tr.home, "it's a hook")
	tr.yaml, tr.run = filepath.Join(tr.folder, "HOOK.yaml"), filepath.Join(tr.folder, "run.sh")
	hooktest.Must(t, os.MkdirAll(tr.folder, 0o755))
	hooktest.Must(t, os.WriteFile(tr.yaml, []byte("name: a\n"), 0o644))
	hooktest.Must(t, os.WriteFile(tr.run, []byte("#!/bin/sh\n"), 0o755))
	return tr
}

func (tr *tree) chmod(path string, mode os.FileMode) {
	tr.Helper()
	hooktest.Must(tr.T, os.Chmod(path, mode))
}
func (tr *tree) chown(path string, uid, gid int) {
	tr.Helper()
	hooktest.Must(tr.T, os.Lchown(path, uid, gid))
}
func (tr *tree) move(path string) (moved string) {
	tr.Helper()
	moved = filepath.Join(tr.base, "moved")
	hooktest.Must(tr.T, os.Rename(path, moved))
	return moved
}
func (tr *tree) files() Files {
	return Files{Folder: tr.folder, Read: []string{tr.yaml}, Run: []string{tr.run}, Own: []string{tr.run}}
}
func (tr *tree) seal() *Seal                          { return New().Seal(tr.files()) }
func (tr *tree) refusals(c *Checker) (list []Refusal) { return c.Seal(tr.files()).Refusals() }
func (tr *tree) mkdir(path string, mode os.FileMode) {
	tr.Helper()
	hooktest.Must(tr.T, os.Mkdir(path, 0o700))
	tr.chmod(path, mode)
}

// Each of these lets another user change the files that run, so each is refused, with
// the path, the fact, and a command that mends it.
func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		name string
		root bool // it takes root to make it
		make func(*tree) (path string)
		fact string
		do   string // %s is the quoted path; "" is not tried
	}{
		{"world-writable-folder", false, func(tr *tree) string { tr.chmod(tr.folder, 0o757); return tr.folder }, "writable by every user (mode 0757)", "chmod o-w %s"},
		{"world-writable-script", false, func(tr *tree) string { tr.chmod(tr.run, 0o777); return tr.run }, "writable by every user (mode 0777)", "chmod go-w %s"},
		{"world-writable-definition", false, func(tr *tree) string { tr.chmod(tr.yaml, 0o666); return tr.yaml }, "writable by every user", "chmod go-w %s"},
		{"world-writable-parent", false, func(tr *tree) string { tr.chmod(tr.home, 0o777); return tr.home }, "writable by every user (mode 0777)", "chmod go-w %s"},
		{"sticky-folder", false, func(tr *tree) string { tr.chmod(tr.folder, 0o777|os.ModeSticky); return tr.folder }, "writable by every user (mode 1777)", "chmod go-w %s"},
		{"setuid", false, func(tr *tree) string { tr.chmod(tr.run, 0o755|os.ModeSetuid); return tr.run }, "setuid or setgid", "chmod ug-s %s"},
		{"setgid", false, func(tr *tree) string { tr.chmod(tr.run, 0o755|os.ModeSetgid); return tr.run }, "setuid or setgid", "chmod ug-s %s"},
		{"others-script", true, func(tr *tree) string { tr.chown(tr.run, otherUser, 0); return tr.run }, "is owned by", "chown root %s"},
		{"others-definition", true, func(tr *tree) string { tr.chown(tr.yaml, otherUser, 0); return tr.yaml }, "uid 65534", "chown root %s"},
		{"others-folder", true, func(tr *tree) string { tr.chown(tr.folder, otherUser, 0); return tr.folder }, "is owned by", "chown root %s"},
		{"others-parent", true, func(tr *tree) string { tr.chown(tr.home, otherUser, 0); return tr.home }, "is owned by", "chown root %s"},
		{"shared-group", true, func(tr *tree) string { tr.chown(tr.run, 0, otherUser); tr.chmod(tr.run, 0o775); return tr.run }, "writable by group", "chmod g-w %s"},
		{"others-sticky-parent", true, func(tr *tree) string {
			tr.chmod(tr.home, 0o777|os.ModeSticky)
			tr.chown(tr.home, otherUser, 0)
			return tr.home
		}, "is owned by", ""},
		{"link-to-others-script", true, func(tr *tree) string {
			moved := tr.move(tr.run)
			tr.chown(moved, otherUser, 0)
			hooktest.Must(tr.T, os.Symlink("../../moved", tr.run))
			return moved
		}, "is owned by", "chown root %s"},
		{"link-through-open-directory", false, func(tr *tree) string {
			open := filepath.Join(tr.base, "open")
			tr.mkdir(open, 0o777)
			hooktest.Must(tr.T, os.Symlink(tr.move(tr.run), filepath.Join(open, "second")))
			hooktest.Must(tr.T, os.Symlink(filepath.Join(open, "second"), tr.run))
			return open
		}, "writable by every user", "chmod go-w %s"},
		{"link-in-the-folder-part", false, func(tr *tree) string {
			open := filepath.Join(tr.base, "open")
			tr.mkdir(open, 0o777)
			hooktest.Must(tr.T, os.Rename(tr.folder, filepath.Join(open, "real")))
			hooktest.Must(tr.T, os.Symlink("../home/../open/real", tr.folder))
			return open
		}, "writable by every user", "chmod go-w %s"},
		{"others-link", true, func(tr *tree) string {
			sticky := filepath.Join(tr.base, "sticky")
			tr.mkdir(sticky, 0o777|os.ModeSticky)
			moved, link := tr.move(tr.run), filepath.Join(sticky, "link")
			hooktest.Must(tr.T, asNobody(tr.T, `ln -s "$1" "$2"`, moved, link))
			hooktest.Must(tr.T, os.Symlink(link, tr.run))
			return link
		}, "is owned by", ""},
		{"others-file-in-sticky", true, func(tr *tree) string {
			sticky := filepath.Join(tr.base, "sticky")
			tr.mkdir(sticky, 0o777|os.ModeSticky)
			script := filepath.Join(sticky, "run.sh")
			hooktest.Must(tr.T, asNobody(tr.T, `echo '#!/bin/sh' >"$1" && chmod 755 "$1"`, script))
			hooktest.Must(tr.T, os.Remove(tr.run))
			hooktest.Must(tr.T, os.Symlink(script, tr.run))
			return script
		}, "is owned by", "chown root %s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.root {
				hooktest.NeedRoot(t)
			}
			tr := newTree(t)
			if bad := tr.refusals(New()); len(bad) > 0 {
				t.Fatalf("refused before: %v", bad)
			}
			path := tt.make(tr)
			bad := tr.refusals(New())
			if len(bad) != 1 || bad[0].Path != path || !strings.Contains(bad[0].Fact, tt.fact) {
				t.Fatalf("refusals %+v, want one of %s: %s", bad, path, tt.fact)
			}
			if text := bad[0].Error(); !strings.Contains(text, escape.Quote(path)) || !strings.Contains(text, "; type `"+bad[0].Do+"`") {
				t.Errorf("text %q does not name the path and the command", text)
			}
			if tt.do == "" {
				return
			}
			if os.Getuid() == 0 && bad[0].Do != fmt.Sprintf(tt.do, escape.Quote(path)) {
				t.Errorf("command %q, want %q", bad[0].Do, fmt.Sprintf(tt.do, escape.Quote(path)))
			}
			if out, err := exec.Command("/bin/sh", "-c", bad[0].Do).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", bad[0].Do, err, out)
			}
			if bad := tr.refusals(New()); len(bad) > 0 {
				t.Errorf("still refused after the command: %v", bad)
			}
		})
	}
}

// A path that no other user can change passes.
func TestTrusted(t *testing.T) {
	for _, tt := range []struct {
		name string
		root bool
		make func(*tree)
	}{
		{"plain", false, func(*tree) {}},
		{"private", false, func(tr *tree) { tr.chmod(tr.home, 0o700); tr.chmod(tr.run, 0o700) }},
		{"links", false, func(tr *tree) {
			moved := tr.move(tr.run)
			hooktest.Must(tr.T, os.Symlink("../../home/../moved", filepath.Join(tr.home, "it's a hook", "second")))
			hooktest.Must(tr.T, os.Symlink("second", tr.run))
			_ = moved
		}},
		{"sticky-parent-of-root", true, func(tr *tree) { tr.chmod(tr.home, 0o777|os.ModeSticky) }},
		{"setgid-directory", false, func(tr *tree) { tr.chmod(tr.folder, 0o755|os.ModeSetgid) }},
		{"roots-own-group", true, func(tr *tree) { tr.chmod(tr.folder, 0o775); tr.chmod(tr.run, 0o775) }},
		{"missing-program", false, func(tr *tree) { hooktest.Must(tr.T, os.Remove(tr.run)) }},
		{"link-to-nowhere", false, func(tr *tree) {
			hooktest.Must(tr.T, os.Remove(tr.run))
			hooktest.Must(tr.T, os.Symlink("/nowhere/at/all", tr.run))
		}},
		{"link-to-itself", false, func(tr *tree) {
			hooktest.Must(tr.T, os.Remove(tr.run))
			hooktest.Must(tr.T, os.Symlink("run.sh", tr.run))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.root {
				hooktest.NeedRoot(t)
			}
			tr := newTree(t)
			tt.make(tr)
			c := New()
			if tt.name == "roots-own-group" {
				c = newChecker(0, writeText(t, "root:x:0:0::/root:/bin/sh\n"), writeText(t, "root:x:0:\n"))
			}
			if bad := tr.refusals(c); len(bad) > 0 {
				t.Errorf("refused: %v", bad)
			}
		})
	}
}

// No refusal proposes to break the system's own setuid programs.
func TestSystemsSetuidProgramsAreSpared(t *testing.T) {
	for _, path := range []string{"/usr/bin/passwd", "/usr/bin/su", "/bin/su"} {
		if info, err := os.Stat(path); err != nil || info.Mode()&os.ModeSetuid == 0 {
			continue
		}
		bad := New().Seal(Files{Run: []string{path}}).Refusals()
		if len(bad) != 1 || strings.Contains(bad[0].Do, "chmod") || !strings.Contains(bad[0].Fact, "a script may call it") {
			t.Errorf("refusals %+v, want one that leaves %s alone", bad, path)
		}
		return
	}
	t.Skip("SKIP-TOOL setuid: no setuid program here")
}

// A user other than root has root's files and their own, and no other files.
func TestOtherUsersView(t *testing.T) {
	hooktest.NeedRoot(t)
	tr := newTree(t)
	c := newChecker(otherUser, "/etc/passwd", "/etc/group")
	if bad := tr.refusals(c); len(bad) > 0 {
		t.Errorf("root's files are refused: %v", bad)
	}
	tr.chown(tr.run, otherUser, 0)
	if bad := tr.refusals(c); len(bad) > 0 {
		t.Errorf("the user's own file is refused: %v", bad)
	}
	tr.chown(tr.run, 12345, 0)
	bad := tr.refusals(c)
	if len(bad) != 1 || !strings.HasPrefix(bad[0].Do, "sudo chown ") {
		t.Errorf("refusals %+v, want one that needs sudo", bad)
	}
	tr.chown(tr.run, 0, 0)
	tr.chmod(tr.home, 0o777)
	if bad := tr.refusals(c); len(bad) != 1 || bad[0].Do != "sudo chmod go-w "+escape.Quote(tr.home) {
		t.Errorf("refusals %+v, want one that needs sudo", bad)
	}
}

// The point of all this: another user really cannot swap a path that passes, and can
// swap a path that is refused.
func TestAnotherUserCannotSwapWhatIsTrusted(t *testing.T) {
	hooktest.NeedRoot(t)
	const swap = `echo evil >"$1/new" && mv "$1/new" "$1/run.sh"`
	tr := newTree(t)
	if bad := tr.refusals(New()); len(bad) > 0 {
		t.Fatal(bad)
	}
	if asNobody(t, swap, tr.folder) == nil {
		t.Error("a trusted program was swapped")
	}
	tr.chmod(tr.folder, 0o777)
	if bad := tr.refusals(New()); len(bad) == 0 {
		t.Error("an open folder is trusted")
	}
	if err := asNobody(t, swap, tr.folder); err != nil {
		t.Errorf("the open folder is safe after all: %v", err)
	}
}

func TestPrivateGroups(t *testing.T) {
	passwd := writeText(t, "root:x:0:0::/root:/bin/sh\nme:x:1000:1000::/home/me:/bin/sh\nyou:x:1001:100::/home/you:/bin/sh\nlone:x:1002:100::/:/bin/sh\nodd:x:1003:2003::/:/bin/sh\nbroken\n# me:x:1:1:::\n")
	group := writeText(t, "root:x:0:\nme:x:1000:me\nusers:x:100:\nteam:x:200:me,you\nempty:x:300:\nodd2:x:2003:\nrooted:x:1005:root\n")
	g := &groups{passwd: passwd, group: group}
	for _, tt := range []struct {
		name     string
		uid, gid uint32
		want     bool
	}{
		{"own", 1000, 1000, true},
		{"of-another", 1001, 1000, false},
		{"everybodys-primary", 1001, 100, false},
		{"with-members", 1000, 200, false},
		{"unknown", 1000, 4711, false},
		{"not-primary", 1000, 300, false},
		{"another-name", 1003, 2003, false},
		{"roots", 1000, 0, true},
		{"roots-for-root", 0, 0, true},
		{"no-account", 5555, 1000, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if administrators[tt.gid] {
				t.Skip("its members are administrators here")
			}
			if got := g.private(tt.uid, tt.gid); got != tt.want {
				t.Errorf("private(%d, %d) = %t, want %t", tt.uid, tt.gid, got, tt.want)
			}
		})
	}
	// A member who joins later counts at once.
	hooktest.Must(t, os.WriteFile(group, []byte("root:x:0:you\nme:x:1000:me, you\n"), 0o600))
	if g.private(1000, 1000) {
		t.Error("a group with a new member is private")
	}
	if !administrators[0] && g.private(1000, 0) {
		t.Error("root's group with a member is private")
	}
	if (&groups{passwd: "/nowhere", group: "/nowhere"}).private(0, 0) != administrators[0] {
		t.Error("without the files nothing is known, so nothing is private")
	}
	// The user of a line that cannot be read is in the group, too.
	cut := writeText(t, "root:x:0:0:::\nme:x:1000:1000:::\n#"+strings.Repeat("x", 1<<20)+"\nyou:x:1001:1000:::\n")
	if (&groups{passwd: cut, group: writeText(t, "me:x:1000:\n")}).private(1000, 1000) {
		t.Error("a group is private by a file that was not read to its end")
	}
}

func TestACLNeedsMoreThanThePrivateGroup(t *testing.T) {
	hooktest.NeedRoot(t)
	if _, err := exec.LookPath("setfacl"); err != nil {
		t.Skip("SKIP-TOOL setfacl: the access list cannot be made without it")
	}
	tr := newTree(t)
	if out, err := exec.Command("setfacl", "-m", "u:65534:rw", tr.run).CombinedOutput(); err != nil {
		t.Skipf("SKIP-TOOL acl: %v: %s", err, out)
	}
	bad := tr.refusals(newChecker(0, writeText(t, "root:x:0:0::/root:/bin/sh\n"), writeText(t, "root:x:0:\n")))
	if len(bad) != 1 || bad[0].Do != "setfacl -b "+escape.Quote(tr.run) {
		t.Errorf("refusals %+v, want the access list", bad)
	}
}

func TestCheckOfOnePath(t *testing.T) {
	tr := newTree(t)
	if err := New().Check(tr.yaml); err != nil {
		t.Error(err)
	}
	tr.chmod(tr.yaml, 0o606)
	var r *Refusal
	if err := New().Check(tr.yaml); !errors.As(err, &r) || r.Path != tr.yaml {
		t.Errorf("got %v, want a refusal", err)
	}
}

func writeText(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	hooktest.Must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// No refusal advises to change a device of the system.
func TestDevicesAreLeftAlone(t *testing.T) {
	var bad *Refusal
	if err := New().Check("/dev/zero"); !errors.As(err, &bad) || bad.Do != "ls -l /dev/zero" {
		t.Errorf("got %v", err)
	}
}
