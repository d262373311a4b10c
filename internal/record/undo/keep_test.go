package undo

import (
	"fmt"
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

// a vaultTest is a folder with a vault beside it.
type vaultTest struct {
	*testing.T
	k    *Keeper
	work string
}

func newVaultTest(t *testing.T) *vaultTest {
	return &vaultTest{t, newKeeper(t, t.TempDir()), t.TempDir()}
}

// ran keeps for a line and runs it. It returns the id of the call.
func (v *vaultTest) ran(session, line string) string {
	v.Helper()
	c := call(v.work)
	c.Session = session
	v.k.Keep(c, factsOf(line, v.work))
	sh(v.T, v.work, line)
	v.k.Ran(c.ID)
	v.k.waitClosed(session, time.Now().Add(time.Minute))
	return c.ID
}

func (v *vaultTest) write(name, text string) {
	v.Helper()
	hooktest.Write(v.T, filepath.Join(v.work, name), text, 0o644)
}

func (v *vaultTest) want(name, text string) {
	v.Helper()
	got, err := os.ReadFile(filepath.Join(v.work, name))
	if string(got) != text || err != nil && text != "" {
		v.Errorf("%s is %q, %v; want %q", name, got, err, text)
	}
}

func (v *vaultTest) undo(r wire.UndoRequest) wire.UndoAnswer {
	v.Helper()
	a, bad := v.k.Undo(id(), r)
	if bad != nil {
		v.Fatalf("undo: %v", bad)
	}
	return a
}

// kept is how many files the vaults hold for calls.
func (v *vaultTest) kept() (n int) {
	found, err := filepath.Glob(filepath.Join(v.k.vaults.calls(), "*", keptFolder, "0*"))
	hooktest.Must(v.T, err)
	return len(found)
}

func TestWhatTheCallDidNotTouchIsDropped(t *testing.T) {
	v := newVaultTest(t)
	v.write("a", "old")
	for name, line := range map[string]string{
		"a call that is refused": "rm a", "a write of the same bytes": "printf old > a", "no such file": "rm -f b",
	} {
		c := call(v.work)
		v.k.Keep(c, factsOf(line, v.work))
		v.k.Ended(c.Session)
		v.k.waitClosed(c.Session, time.Now().Add(time.Minute))
		if got := v.k.List(wire.UndoQuery{}); len(got.Calls) > 0 || v.kept() > 0 {
			t.Errorf("%s: %d calls and %d files are kept", name, len(got.Calls), v.kept())
		}
	}
	hooktest.Write(t, filepath.Join(v.work, "a"), "newer", 0o644) // a link to it would have reached the vault
	v.want("a", "newer")
}

// An undo that was itself taken back has the bytes: the call alone does not bring them back, and says where to look.
func TestWhereTheBytesOfAnUndoneUndoAre(t *testing.T) {
	v := newVaultTest(t)
	v.write("a", "old")
	c := v.ran("s", "rm a")
	first := v.undo(wire.UndoRequest{Calls: []string{c}})
	second := v.undo(wire.UndoRequest{Calls: []string{first.ID}})
	again := v.undo(wire.UndoRequest{Calls: []string{c}})
	if len(again.Items) != 1 || again.Items[0].Why != errMoved.Error() {
		t.Errorf("undo of the call again: %+v", again)
	}
	v.undo(wire.UndoRequest{Calls: []string{second.ID}})
	v.want("a", "old")
}

// A look at a call that waits for an answer must not drop the files kept for it.
func TestALookDropsNothing(t *testing.T) {
	v := newVaultTest(t)
	v.write("a", "old")
	c := call(v.work)
	v.k.Keep(c, factsOf("rm a", v.work))
	a, bad := v.k.Undo(id(), wire.UndoRequest{Calls: []string{c.ID}, Preview: true})
	if bad != nil || a.Word != wire.UndoNothing || len(a.Calls) != 1 || a.Calls[0].Files != 1 {
		t.Errorf("a preview of a call that has not run: %v, %+v", bad, a)
	}
	sh(t, v.work, "rm a")
	if a := v.undo(wire.UndoRequest{Calls: []string{c.ID}}); a.Word != wire.UndoAll {
		t.Errorf("undo before its result: %+v", a)
	}
	v.want("a", "old")
	v.k.Ran(c.ID)
	v.k.waitClosed("s", time.Now().Add(time.Minute))
	v.want("a", "old")
}

// A call that destroys things elsewhere is in the list once it ran, with what does not come back.
func TestACallElsewhereIsListed(t *testing.T) {
	v := newVaultTest(t)
	for end, want := range map[string]int{"ran": 1, "refused": 0} {
		c := call(v.work)
		c.Session = end
		if r := v.k.Keep(c, factsOf("docker volume rm shop", v.work)); r.Word != None {
			t.Errorf("before the call: %+v", r)
		}
		r := wire.UndoRequest{Calls: []string{c.ID}, Preview: true}
		if a := v.undo(r); a.Word != wire.UndoNothing || len(a.Lost) != 1 {
			t.Errorf("%s: a preview before the call: %+v", end, a)
		}
		if end == "ran" {
			v.k.Ran(c.ID)
		} else {
			v.k.Ended(end)
		}
		v.k.waitClosed(end, time.Now().Add(time.Minute))
		if list := v.k.List(wire.UndoQuery{Session: end}).Calls; len(list) != want {
			t.Errorf("%s: the list has %+v", end, list)
		}
	}
}

// A full vault and a full disk copy no large file, and say which of the two it is.
// A command in the background goes on after the result of its call, and after the session has come to rest.
func TestACommandInTheBackground(t *testing.T) {
	v := newVaultTest(t)
	v.write("a", "old")
	c := v.ran("s", "(sleep 0.2; rm a) > /dev/null 2>&1 &")
	v.k.Ended("s")
	v.ran("s", "true")
	v.want("a", "old")
	hooktest.Until(t, "the file goes", func() bool { return !exists(filepath.Join(v.work, "a")) })
	v.undo(wire.UndoRequest{Calls: []string{c}})
	v.want("a", "old")
}

func TestWhyALargeFileIsNotCopied(t *testing.T) {
	b := budget{callMax: 1 << 40, fileMax: smallCopy, until: time.Now().Add(time.Hour)}
	for _, want := range []error{errLarge, errCap, errFull} {
		if b.tooMuch = want; want == errLarge {
			b.tooMuch = nil
		}
		if err := b.takes(smallCopy + 1); err != want {
			t.Errorf("%v, want %v", err, want)
		}
		if err := b.takes(1); err != nil {
			t.Error(err)
		}
	}
}

func TestADeniedCallLeavesNothing(t *testing.T) {
	v := newVaultTest(t)
	v.write("a", "old")
	c := call(v.work)
	v.k.Keep(c, factsOf("rm a", v.work))
	v.k.Discard(c.ID)
	if is, _ := look(filepath.Join(v.work, "a")); is.Names != 1 || v.kept() > 0 {
		t.Errorf("the file has %d names, the vault %d files", is.Names, v.kept())
	}
}

func TestWhatChangedSinceIsNotOverwritten(t *testing.T) {
	v := newVaultTest(t)
	v.write("a", "1\n2\n3\n4\n5\n")
	v.write("b", "b")
	c := v.ran("s", "sed -i s/1/one/ a; rm b")
	v.write("a", "one\n2\n3\n4\nfive\n")
	r := wire.UndoRequest{Calls: []string{c}}
	if a := v.undo(r); a.Word != wire.UndoRefused || a.Count[wire.UndoConflict] != 1 {
		t.Errorf("undo: %+v", a)
	}
	v.want("b", "")
	r.Skip = true
	if a := v.undo(r); a.Word != wire.UndoPart {
		t.Errorf("undo --skip: %+v", a)
	}
	v.want("b", "b")
	v.want("a", "one\n2\n3\n4\nfive\n")
	r.Skip, r.Beside = false, true
	v.undo(r)
	v.want("a", "one\n2\n3\n4\nfive\n")
	v.want("a.before-"+c[len(c)-6:], "1\n2\n3\n4\n5\n")
	r.Beside, r.Merge = false, true
	if a := v.undo(r); a.Count[wire.UndoMerged] != 1 {
		t.Errorf("undo --merge: %+v", a)
	}
	v.want("a", "1\n2\n3\n4\nfive\n")
}

// A link in the vault is worth nothing once its file was written to under another name.
func TestAFileThatLivesOnUnderAnotherName(t *testing.T) {
	v := newVaultTest(t)
	v.write("a", "old")
	v.ran("s", "mv a b")
	v.ran("s", "echo new > b")
	if a := v.undo(wire.UndoRequest{Session: "s"}); a.Word != wire.UndoAll {
		t.Errorf("undo of both: %+v", a)
	}
	v.want("a", "old")
	v.want("b", "")

	v.write("c", "old")
	hooktest.Must(t, os.Link(filepath.Join(v.work, "c"), filepath.Join(v.work, "d")))
	c := v.ran("t", "rm c")
	v.write("d", "mine")
	if a := v.undo(wire.UndoRequest{Calls: []string{c}}); a.Word != wire.UndoPart || a.Count[wire.UndoLeft] != 1 {
		t.Errorf("undo of a link whose bytes are gone: %+v", a)
	}
	v.want("c", "")
	v.want("d", "mine")
}

// git status, which editors run all the time, writes the index again: that is no change.
func TestAnIndexThatGitRefreshed(t *testing.T) {
	for name, c := range map[string]struct {
		line, since string
		word        string
	}{
		"a reset":                           {"git reset -q", "touch -d 2001-01-01 gone; git status", wire.UndoAll},
		"a reset to a commit":               {"git reset -q HEAD~1", "touch -d 2001-01-01 gone; git status", wire.UndoAll},
		"a hard reset":                      {"git reset -q --hard", "touch -d 2001-01-01 gone; git status", wire.UndoAll},
		"git rm":                            {"git rm -q --cached tracked", "touch -d 2001-01-01 gone; git status", wire.UndoAll},
		"a reset, and another index":        {"git reset -q", "git add other", wire.UndoPart},
		"a reset to a commit, and an index": {"git reset -q HEAD~1", "git add other", wire.UndoPart},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVaultTest(t)
			sh(t, v.work, repository+"echo 3 > tracked; git commit -qam second; echo new > new; git add new; echo o > other")
			said := func() string {
				cmd := exec.Command("git", "-c", "status.branch=true", "log", "-1", "--format=%H")
				cmd.Dir = v.work
				head, err := cmd.Output()
				hooktest.Must(t, err)
				cmd = exec.Command("git", "ls-files", "--stage")
				cmd.Dir = v.work
				index, err := cmd.Output()
				hooktest.Must(t, err)
				return string(head) + string(index)
			}
			was := said()
			call := v.ran("s", c.line)
			index, _ := look(filepath.Join(v.work, ".git/index"))
			sh(t, v.work, c.since)
			if now, _ := look(filepath.Join(v.work, ".git/index")); index.untouched(now) {
				t.Fatal("git has not written its index")
			}
			ran := said()
			undo := id()
			a, bad := v.k.Undo(undo, wire.UndoRequest{Calls: []string{call}})
			if bad != nil || a.Word != c.word {
				t.Fatalf("undo: %v, %+v", bad, a)
			}
			if c.word == wire.UndoPart {
				if got := said(); got != ran {
					t.Errorf("a part of git's state is back:\n%s", got)
				}
				return
			}
			if got := said(); got != was {
				t.Errorf("after the undo:\n%swant\n%s", got, was)
			}
			sh(t, v.work, "touch tracked gone; git status")
			if a := v.undo(wire.UndoRequest{Calls: []string{undo}}); a.Word != wire.UndoAll {
				t.Errorf("undo of the undo: %+v", a)
			}
			if got := said(); got != ran {
				t.Errorf("after the undo of the undo:\n%swant\n%s", got, ran)
			}
		})
	}
}

// Bytes that a call has written through one name of a file, and that stay under another, are told.
func TestOtherNamesOfAFile(t *testing.T) {
	v := newVaultTest(t)
	v.write("a", "old")
	sh(t, v.work, "ln a b")
	c := call(v.work)
	if r := v.k.Keep(c, factsOf("echo new > a; rm a", v.work)); r.Word != Part || r.Undoable() {
		t.Errorf("before the call: %+v", r)
	}
	v.k.Discard(c.ID)
	first := v.ran("s", "echo new > a; rm a")
	if a := v.undo(wire.UndoRequest{Calls: []string{first}}); a.Word != wire.UndoPart {
		t.Errorf("undo: %+v", a)
	}
	v.want("a", "old")
	v.want("b", "new\n")

	v.write("c", "old")
	sh(t, v.work, "ln c d")
	was := treeOf(t, v.work)
	c = call(v.work)
	v.k.Keep(c, factsOf("echo new > c", v.work))
	sh(t, v.work, "echo new > x; mv x c") // a program that puts another file in its place
	v.k.Ran(c.ID)
	v.k.waitClosed("s", time.Now().Add(time.Minute))
	if a := v.undo(wire.UndoRequest{Calls: []string{c.ID}}); a.Word != wire.UndoAll {
		t.Errorf("undo: %+v", a)
	}
	same(t, "after the undo", treeOf(t, v.work), was)
}

// A moved file is kept by its place. It goes back, or stays there: the undo never takes it away.
func TestAMovedFile(t *testing.T) {
	v := newVaultTest(t)
	v.write("a", "old")
	c := v.ran("s", "mv a b")
	if v.kept() > 0 {
		t.Errorf("the vault has %d names of it", v.kept())
	}
	v.write("a", "mine")
	for name, r := range map[string]wire.UndoRequest{"skip": {Skip: true}, "beside": {Beside: true}} {
		r.Calls = []string{c}
		v.undo(r)
		v.want("b", "old")
		v.want("a", "mine")
		if _, err := os.Stat(filepath.Join(v.work, "a.before-"+c[len(c)-6:])); name == "beside" && err != nil {
			t.Error(err)
		}
	}
	hooktest.Must(t, os.Remove(filepath.Join(v.work, "a")))
	v.ran("s", "rm b")
	if a := v.undo(wire.UndoRequest{Calls: []string{c}}); a.Word != wire.UndoAll {
		t.Errorf("undo of a move whose file was deleted by a later call: %+v", a)
	}
	v.want("a", "old")
}

func TestOneSessionsUndoLeavesTheOthers(t *testing.T) {
	v := newVaultTest(t)
	v.write("a", "a")
	v.write("b", "b")
	v.write("c", "c")
	v.ran("one-session", "rm a")
	v.ran("two-session", "rm b")
	v.ran("one-session", "echo new > c; rm c")
	v.undo(wire.UndoRequest{Session: "one-session"})
	v.want("a", "a")
	v.want("b", "")
	v.want("c", "c")
	v.undo(wire.UndoRequest{Since: time.Now().Add(-time.Minute)})
	v.want("b", "b")
}

func TestCallsOnOnePathGoBackToTheOldest(t *testing.T) {
	v := newVaultTest(t)
	v.write("a", "1")
	v.ran("s", "echo 2 > a")
	second := v.ran("s", "echo 3 > a")
	v.ran("s", "mv a b")
	if a := v.undo(wire.UndoRequest{Calls: []string{second}}); a.Word != wire.UndoAll {
		t.Logf("the file was moved since: %+v", a.Items)
	}
	v = newVaultTest(t)
	v.write("a", "1")
	v.ran("s", "echo 2 > a")
	v.ran("s", "echo 3 > a")
	v.undo(wire.UndoRequest{Session: "s", Since: time.Now().Add(-time.Hour)})
	v.want("a", "1")
}

func TestAFolderThatIsALinkNowIsRefused(t *testing.T) {
	v := newVaultTest(t)
	hooktest.Must(t, os.Mkdir(filepath.Join(v.work, "d"), 0o755))
	v.write("d/a", "old")
	c := v.ran("s", "rm d/a")
	elsewhere := t.TempDir()
	hooktest.Must(t, os.Remove(filepath.Join(v.work, "d")))
	hooktest.Must(t, os.Symlink(elsewhere, filepath.Join(v.work, "d")))
	for _, preview := range []bool{true, false} {
		a := v.undo(wire.UndoRequest{Calls: []string{c}, Preview: preview})
		if a.Word != wire.UndoPart || a.Count[wire.UndoLeft] != 1 {
			t.Errorf("undo, preview %v: %+v", preview, a)
		}
	}
	if names, _ := namesIn(elsewhere); len(names) > 0 {
		t.Errorf("it came back elsewhere: %v", names)
	}
}

func TestAWriteThatWasNotForeseenIsTold(t *testing.T) {
	v := newVaultTest(t)
	v.write("a", "old")
	c := call(v.work)
	v.k.Keep(c, factsOf("rm a", v.work))
	hooktest.Must(t, os.WriteFile(filepath.Join(v.work, "a"), []byte("written"), 0o644)) // another line ran
	v.k.Ran(c.ID)
	v.k.waitClosed("s", time.Now().Add(time.Minute))
	list := v.k.List(wire.UndoQuery{}).Calls
	if len(list) != 1 || list[0].Word != None || len(list[0].Lost) != 1 {
		t.Errorf("the list has %+v", list)
	}
	if a := v.undo(wire.UndoRequest{Calls: []string{c.ID}}); a.Word != wire.UndoPart {
		t.Errorf("undo: %s", a.Word)
	}
	v.want("a", "written")
}

func TestNoCallDestroysAVault(t *testing.T) {
	v := newVaultTest(t)
	vault := v.k.vaults.home
	for _, line := range []string{
		"rm -rf " + vault, "rm -rf " + filepath.Dir(vault), "rm -rf " + vault + "/calls/x", "mv " + filepath.Dir(vault) + " x",
		"find " + filepath.Dir(vault) + " -delete",
	} {
		if r := v.k.Keep(call(v.work), factsOf(line, v.work)); r.Deny == "" {
			t.Errorf("%s: %+v", line, r)
		}
	}
	if r := v.k.Keep(call(v.work), factsOf("rm -rf "+vault+"x", v.work)); r.Deny != "" {
		t.Errorf("a folder beside the vault: %s", r.Deny)
	}
}

func TestTheVaultIsPrivate(t *testing.T) {
	old := unix.Umask(0)
	defer unix.Umask(old)
	v := newVaultTest(t)
	v.write(".env", "key")
	v.ran("s", "echo x > .env")
	err := filepath.WalkDir(v.k.vaults.home, func(path string, d os.DirEntry, err error) error {
		info, _ := d.Info()
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
		return nil
	})
	hooktest.Must(t, err)
	dir := t.TempDir()
	hooktest.Must(t, os.Symlink(t.TempDir(), filepath.Join(dir, "vault")))
	if _, err := Open(filepath.Join(dir, "vault"), nil); err == nil {
		t.Error("a link was taken for the vault")
	}
}

func TestALargeFolderNeverMakesAVerdictLate(t *testing.T) {
	hooktest.Long(t)
	v := newVaultTest(t)
	s := DefaultSettings()
	s.Most = 0
	v.k.Configure(s)
	for i := range 100 {
		dir := filepath.Join(v.work, "d", fmt.Sprint(i))
		hooktest.Must(t, os.MkdirAll(dir, 0o755))
		for j := range 200 {
			hooktest.Must(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(j)), nil, 0o644))
		}
	}
	c := call(v.work)
	r := v.k.Keep(c, factsOf("rm -rf d", v.work))
	t.Logf("%d files kept after %v: %s, late %v, %v", r.Files, r.Took, r.Word, r.Late, r.Lost)
	sh(t, v.work, "rm -rf d")
	v.k.Ran(c.ID)
	v.k.waitClosed("s", time.Now().Add(time.Minute))
	a := v.undo(wire.UndoRequest{Calls: []string{c.ID}})
	t.Logf("%v of 20000 files are back: %s, %d lost", a.Count[wire.UndoBack], a.Word, len(a.Lost))
	if back := a.Count[wire.UndoBack]; back < 20_000 && a.Word == wire.UndoAll {
		t.Errorf("%d of 20000 files are back, and it says all", back)
	}
	s.Most = time.Minute
	v.k.Configure(s)
	c = call(v.work)
	if r = v.k.Keep(c, factsOf("rm -rf d", v.work)); r.Word != Kept || r.Late || r.Files != a.Count[wire.UndoBack] {
		t.Errorf("with more time %d files are kept: %s, %v", r.Files, r.Word, r.Lost)
	}
}

func TestTheOldestGoes(t *testing.T) {
	v := newVaultTest(t)
	now := time.Now()
	for range leastCalls + 5 {
		v.write("a", strings.Repeat("x", 1000))
		v.ran("s", "rm a")
	}
	s := DefaultSettings()
	s.Max = 1
	v.k.Configure(s)
	if n := v.k.Expire(now.Add(time.Minute)); n != 0 {
		t.Errorf("%d calls of the last hour went", n)
	}
	if n := v.k.Expire(now.Add(2 * time.Hour)); n != 5 {
		t.Errorf("%d calls went, want 5: the last %d stay", n, leastCalls)
	}
	if n := v.k.Expire(now.Add(15 * 24 * time.Hour)); n != leastCalls || v.kept() != 0 {
		t.Errorf("%d calls went after their term, %d files are left", n, v.kept())
	}
}

func TestLossesAreCounted(t *testing.T) {
	var l losses
	for i := range 10 {
		l.add(fmt.Sprint(i), "one reason")
	}
	l.add("all", "another")
	if n := wire.CountLost(l.all()); n != 11 {
		t.Errorf("%d things do not come back, want 11: %v", n, l.all())
	}
}

// The holes of a file take no room of a vault: the calls before it stay.
func TestHolesFillNoVault(t *testing.T) {
	v := newVaultTest(t)
	v.write("sparse", "x")
	hooktest.Must(t, os.Truncate(filepath.Join(v.work, "sparse"), 2*DefaultSettings().Max))
	v.ran("s", "echo new > sparse")
	if used := v.k.used.Load(); used > 1<<20 {
		t.Errorf("%d bytes are used for a file with one block", used)
	}
}

func TestFilesThatAreTooLargeToCopyAreTold(t *testing.T) {
	v := newVaultTest(t)
	s := DefaultSettings()
	s.Wait, s.FileMax = 10*time.Second, 10
	v.k.Configure(s)
	v.write("a", "more than ten bytes")
	probe, err := openToRead(unix.AT_FDCWD, filepath.Join(v.work, "a"))
	hooktest.Must(t, err)
	defer probe.Close()
	dir, err := openFolder(unix.AT_FDCWD, v.work)
	hooktest.Must(t, err)
	defer unix.Close(dir)
	if clone(int(probe.Fd()), dir, "clone") == nil {
		t.Skip("the file system shares blocks: nothing is too large")
	}
	r := v.k.Keep(call(v.work), factsOf("echo > a", v.work))
	if r.Word != None || len(r.Lost) != 1 || r.Lost[0].Why != errLarge.Error() || r.Undoable() {
		t.Errorf("%+v", r)
	}
}

// keepInChild is the environment of a child that keeps or undoes until it is killed.
const keepInChild = "HOOKD_TEST_UNDO_CHILD"

func TestMain(m *testing.M) {
	if line := os.Getenv(keepInChild); line != "" {
		childOfKill(line)
	}
	os.Exit(m.Run())
}

// childOfKill keeps for a line in the current folder, or undoes the call whose id it is.
func childOfKill(line string) {
	cwd, _ := os.Getwd()
	k, err := Open(os.Getenv("HOOKD_TEST_VAULT"), nil)
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	if rest, is := strings.CutPrefix(line, "undo "); is {
		k.Undo(id(), wire.UndoRequest{Calls: []string{rest}, Skip: true})
	} else {
		s := DefaultSettings()
		s.Wait = hooktest.Patience
		if wait, err := time.ParseDuration(os.Getenv("HOOKD_TEST_WAIT")); err == nil {
			s.Wait = wait
		}
		k.Configure(s)
		r := k.Keep(call(cwd), factsOf(line, cwd))
		fmt.Println(r.Word, r.Lost)
	}
	os.Exit(0)
}

// kill starts a child and kills it after a while.
func (v *vaultTest) kill(vault, line string, after time.Duration) {
	v.Helper()
	cmd := v.child(vault, line)
	out, err := cmd.StdoutPipe()
	hooktest.Must(v.T, err)
	hooktest.Must(v.T, cmd.Start())
	ready := make([]byte, 6)
	_, _ = out.Read(ready)
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
	defer timer.Stop()
	_ = cmd.Wait()
}

// child is a process that keeps or undoes.
func (v *vaultTest) child(vault, line string, before ...string) *exec.Cmd {
	v.Helper()
	self, err := os.Executable()
	hooktest.Must(v.T, err)
	args := append(before, self)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = v.work, append(os.Environ(), keepInChild+"="+line, "HOOKD_TEST_VAULT="+vault)
	return cmd
}

// killAt kills a child at its n-th call that changes the disk. It returns false when there were fewer.
func (v *vaultTest) killAt(vault, line string, n int) bool {
	v.Helper()
	cmd := v.child(vault, line, "strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", "trace="+changing, "-e",
		fmt.Sprintf("inject=%s:signal=KILL:when=%d", changing, n))
	cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
	err := cmd.Run()
	if err != nil && !strings.Contains(err.Error(), "killed") && cmd.ProcessState.ExitCode() != 137 {
		v.Fatalf("strace: %v", err)
	}
	return err != nil
}

// changing are the system calls that change files. strace counts them by thread.
const changing = "linkat,symlinkat,mkdirat,unlinkat,renameat,renameat2,write,pwrite64,ftruncate,fchmod,fchmodat,fchown,fchownat,utimensat"

// ended counts the children in a row that came to their end.
func ended(before int, killed bool) int {
	if killed {
		return 0
	}
	return before + 1
}

// At each step of keeping and undoing a kill leaves every path as it was before or after.
// Without HOOKTEST_ALL it is killed at each fifth.
func TestAKillAtEachStepLosesNothing(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil || exec.Command("strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "true").Run() != nil {
		t.Skip("SKIP-TOOL strace: it cannot be used")
	}
	const line = "rm -rf d; echo new > w; mv m n; python3 -c 'import os; os.remove(\"p\")'"
	begin := func() (v *vaultTest, vault string, was map[string]string) {
		v = newVaultTest(t)
		sh(t, v.work, "mkdir -p d/e; echo 1 > d/1; echo 2 > d/e/2; ln -s x d/l; echo old > w; echo m > m; echo p > p")
		return v, v.k.vaults.home, treeOf(t, v.work)
	}
	steps, step := 0, hooktest.Amount(1, 5)
	for n, more := 1, 0; more < 2; n += step { // strace counts by thread
		v, vault, was := begin()
		more = ended(more, v.killAt(vault, line, n))
		same(t, fmt.Sprintf("killed at step %d of keeping", n), withoutNames(treeOf(t, v.work)), withoutNames(was))
		k, err := Open(vault, nil)
		hooktest.Must(t, err)
		k.CloseOld(time.Now().Add(time.Hour))
		if list := k.List(wire.UndoQuery{}); len(list.Calls) > 0 {
			t.Errorf("killed at step %d of keeping: the list has %+v", n, list.Calls)
		}
		same(t, fmt.Sprintf("killed at step %d of keeping, and settled", n), treeOf(t, v.work), was)
		steps++
	}
	for n, more := 1, 0; more < 2; n += step { // strace counts by thread
		v, vault, was := begin()
		c := v.ran("s", line)
		more = ended(more, v.killAt(vault, "undo "+c, n))
		k, err := Open(vault, nil)
		hooktest.Must(t, err)
		k.CloseOld(time.Now().Add(time.Hour))
		_, bad := k.Undo(id(), wire.UndoRequest{Calls: []string{c}, Changed: true})
		if bad != nil {
			t.Errorf("killed at step %d of an undo, and asked again: %v", n, bad)
		}
		same(t, fmt.Sprintf("killed at step %d of an undo, and asked again", n), treeOf(t, v.work), was)
		steps++
	}
	t.Logf("%d steps", steps)
}

func TestAKillLosesNothing(t *testing.T) {
	kills := 4
	if hooktest.All() {
		kills = 24
	}
	for i := range kills {
		after := time.Duration(i) * 400 * time.Microsecond
		v := newVaultTest(t)
		vault := v.k.vaults.home
		sh(t, v.work, "mkdir -p d/e; for i in $(seq 60); do echo $i > d/$i; echo $i > d/e/$i; done; echo old > w; ln d/1 l")
		was := treeOf(t, v.work)
		v.kill(vault, "rm -rf d; echo new > w", after)
		same(t, fmt.Sprintf("killed while it kept, after %v", after), withoutNames(treeOf(t, v.work)), withoutNames(was))
		if t.Failed() {
			return
		}
		k, err := Open(vault, nil)
		hooktest.Must(t, err)
		k.CloseOld(time.Now().Add(time.Hour))
		v.k = k
		v.k.Configure(Settings{Wait: 10 * time.Second, FileMax: 1 << 30, CallMax: 1 << 30, Max: 1 << 40, MaxAge: time.Hour})
		c := v.ran("s", "rm -rf d; echo new > w")
		v.kill(vault, "undo "+c, after)
		k, err = Open(vault, nil)
		hooktest.Must(t, err)
		k.CloseOld(time.Now().Add(time.Hour))
		if a, bad := k.Undo(id(), wire.UndoRequest{Calls: []string{c}}); bad != nil || a.Count[wire.UndoLeft]+a.Count[wire.UndoConflict] > 0 {
			t.Errorf("killed in an undo after %v, and asked again: %v, %+v", after, bad, a)
		}
		same(t, fmt.Sprintf("killed in an undo after %v, and asked again", after), treeOf(t, v.work), was)
		if t.Failed() {
			return
		}
	}
}

// What a program fills again is not kept; a repository in such a folder is.
func TestCachesAreMadeAgain(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	sh(t, home, "mkdir -p .cache/pip/http .cache/app/src notes; git -C .cache/app init -q")
	for name, want := range map[string]bool{".cache/pip": true, ".cache": true, ".cache/app": false, ".cache/app/src": false, "notes": false} {
		if _, is := rebuilt(filepath.Join(home, name), func(string) bool { return false }); is != want {
			t.Errorf("%s is made again: %v, want %v", name, is, want)
		}
	}
}
