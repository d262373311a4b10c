package undo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/wire"
)

// newRepositoryTest is a vaultTest in a repository with a few files.
func newRepositoryTest(t *testing.T) *vaultTest {
	v := newVaultTest(t)
	sh(t, v.work, repository+"mkdir d; echo a > d/a; echo b > d/b; printf '%s\\n' .env node_modules big > .gitignore; echo key > .env")
	return v
}

// unknown keeps for a program that hookd does not read.
func (v *vaultTest) unknown(session string) (id string, r Copied) {
	v.Helper()
	c := call(v.work)
	c.Session = session
	r = v.k.Keep(c, factsOf("python3 x.py", v.work))
	return c.ID, r
}

func (v *vaultTest) ended(session, id string) {
	v.k.Ran(id)
	v.k.waitClosed(session, time.Now().Add(time.Minute))
}

// Files that git does not track, of submodules, and of its own are lost without a word of git.
func TestWhatGitLoses(t *testing.T) {
	const (
		other    = "git checkout -qb side; echo s > n; git add n; git commit -qm s; git checkout -q -; "
		under    = "git checkout -qb side; echo s > tracked; git commit -qam s; git checkout -q -; echo o > tracked; git commit -qam o; git merge -q side || "
		commit   = "git -C .s config user.email a@b.c; git -C .s config user.name n; echo 1 > .s/a; git -C .s add a; git -C .s commit -qm a; "
		sub      = "git init -q .s; " + commit + "git -c protocol.file.allow=always submodule --quiet add ./.s sub; echo mine > sub/a"
		branches = "git branch one; echo 3 > tracked; git commit -qam 3; git branch two; git tag v"
	)
	for _, c := range []struct{ before, line, file string }{
		{other + "echo mine > n", "git checkout -qf side", "n"},
		{other + "echo n > .gitignore; echo mine > n", "git checkout -q side", "n"},
		{other + "echo n > .gitignore; echo mine > n", "git merge -q side", "n"},
		{under + "echo mine > tracked", "git merge --abort", "tracked"},
		{under + "echo mine > tracked", "git merge --abort", ".git/MERGE_HEAD"},
		{under + "echo mine > tracked", "git reset -q --hard", ".git/MERGE_MSG"},
		{sub, "git -c protocol.file.allow=always submodule -q update -f", "sub/a"},
		{sub, "git submodule -q foreach 'git reset -q --hard'", "sub/a"},
		{sub, "git checkout -q -f --recurse-submodules HEAD", "sub/a"},
		{branches, "git branch -f one two", ".git/refs/heads/one"},
		{branches, "git branch -M one two", ".git/refs/heads/one"},
		{branches, "git checkout -q -B one two", ".git/refs/heads/one"},
		{branches, "git tag -f v one", ".git/refs/tags/v"},
		{branches + "; git clone -q --bare . b", "git -C b branch -q -D one", "b/packed-refs"},
	} {
		v := newVaultTest(t)
		sh(t, v.work, repository+c.before)
		was, err := os.ReadFile(filepath.Join(v.work, c.file))
		hooktest.Must(t, err)
		v.undo(wire.UndoRequest{Calls: []string{v.ran("s", c.line)}})
		if is, err := os.ReadFile(filepath.Join(v.work, c.file)); string(is) != string(was) {
			t.Errorf("%s: %s is %q, %v", c.line, c.file, is, err)
		}
	}
}

// A person's own edits while a program runs are never taken back without a word.
func TestChangesWhileAProgramRanAreToldAsAConflict(t *testing.T) {
	v := newRepositoryTest(t)
	c, _ := v.unknown("s")
	sh(t, v.work, "rm d/a .env; echo mine > d/b")
	v.ended("s", c)
	r := wire.UndoRequest{Calls: []string{c}, Preview: true}
	a := v.undo(r)
	if a.Word != wire.UndoRefused || a.Count[wire.UndoConflict] != 1 || a.Count[wire.UndoBack] != 2 || !strings.Contains(fmt.Sprint(a.Items), "or by you") {
		t.Errorf("preview: %+v", a)
	}
	r.Preview, r.Skip = false, true
	v.undo(r)
	v.want("d/a", "a\n")
	v.want(".env", "key\n")
	v.want("d/b", "mine\n")
	r.Skip, r.Changed = false, true
	v.undo(r)
	v.want("d/b", "b\n")
}

func TestTwoSessionsInOneRepository(t *testing.T) {
	v := newRepositoryTest(t)
	one, _ := v.unknown("one")
	two, _ := v.unknown("two")
	known := call(v.work)
	known.Session = "three"
	v.k.Keep(known, factsOf("rm tracked", v.work))
	sh(t, v.work, "rm d/a d/b tracked")
	v.ended("three", known.ID)
	v.ended("one", one)
	v.ended("two", two)
	for _, of := range []string{one, two} {
		a, bad := v.k.Undo(id(), wire.UndoRequest{Calls: []string{of}})
		if bad == nil && a.Word != wire.UndoRefused {
			t.Errorf("undo of a call beside another: %+v", a)
		}
		if strings.Contains(fmt.Sprint(a.Items), "tracked") {
			t.Errorf("the undo takes a third call back: %+v", a)
		}
	}
	v.want("d/a", "")
	v.undo(wire.UndoRequest{Calls: []string{one}, Changed: true})
	v.want("d/a", "a\n")
	v.want("tracked", "")
}

func TestASnapshotHasWhatChangedSinceTheLast(t *testing.T) {
	v := newRepositoryTest(t)
	sh(t, v.work, "echo '{}' > package.json; mkdir -p node_modules/x; echo 1 > node_modules/x/1; echo k > node_modules/.env; truncate -s 17M big; ln -s tracked l")
	v.ran("s", "python3 -V")
	b, err := v.k.bases.of(rootOf(v.work))
	hooktest.Must(t, err)
	v.k.bases.refresh(b.top)
	first := b.last.Load().files
	for name, want := range map[string]bool{
		"tracked": true, ".env": true, "d": true, "l": true, "node_modules/.env": true, "node_modules/x/1": false, ".git/HEAD": false,
	} {
		if _, has := first[filepath.Join(b.top, name)]; has != want {
			t.Errorf("%s is in the snapshot: %v", name, has)
		}
	}
	v.write("tracked", "second")
	sh(t, v.work, "rm d/b")
	v.k.bases.refresh(b.top)
	second := b.last.Load().files
	if _, has := second[filepath.Join(b.top, "d/b")]; has {
		t.Error("a file that went is in the snapshot")
	}
	at := filepath.Join(b.top, "tracked")
	if first[at].Kept == second[at].Kept {
		t.Error("a file that changed was not copied again")
	}
	v.k.Expire(time.Now())
	if exists(filepath.Join(b.dir, first[at].Kept)) || !exists(filepath.Join(b.dir, second[at].Kept)) {
		t.Error("the copies are not those of the last snapshot")
	}
	again, err := Open(v.k.vaults.home, nil)
	hooktest.Must(t, err)
	if b, err := again.bases.of(b.top); err != nil || b.last.Load().files[at].Kept != second[at].Kept {
		t.Errorf("a new process does not know the snapshot: %v", err)
	}
}

// A look that another one holds up never makes a verdict late: the last snapshot stands, and says its age.
func TestABusyLookIsNotWaitedFor(t *testing.T) {
	v := newRepositoryTest(t)
	b, err := v.k.bases.of(rootOf(v.work))
	hooktest.Must(t, err)
	v.k.bases.refresh(b.top)
	b.take(time.Now())
	c, r := v.unknown("s")
	if len(r.Lost) != 1 || !strings.Contains(r.Lost[0].Why, "as it was at") {
		t.Errorf("before the call: %+v", r)
	}
	sh(t, v.work, "rm d/a")
	b.give()
	v.ended("s", c)
	v.undo(wire.UndoRequest{Calls: []string{c}})
	v.want("d/a", "a\n")
}

// Files that the call has written when the look reaches them are not taken for those before it.
func TestALookThatGoesOnTakesNoWorkOfTheCall(t *testing.T) {
	v := newRepositoryTest(t)
	b, err := v.k.bases.of(rootOf(v.work))
	hooktest.Must(t, err)
	v.k.bases.refresh(b.top)
	s := &sight{}
	s.runs.Store(true)
	begun := time.Now()
	sh(t, v.work, "echo bad > tracked; rm d/a; echo made > new")
	b.take(time.Now().Add(time.Minute))
	seen, err := b.look(v.k.settings.Load(), begun, time.Now().Add(time.Minute), &s.runs, "")
	b.give()
	hooktest.Must(t, err)
	if was := seen.files[filepath.Join(b.top, "tracked")]; was.Was.Size != 2 {
		t.Errorf("the snapshot has %+v", was)
	}
	if _, has := seen.files[filepath.Join(b.top, "d/a")]; !has {
		t.Error("a file that the call deleted is not in the snapshot")
	}
	if _, has := seen.files[filepath.Join(b.top, "new")]; has {
		t.Error("a file that the call made is in the snapshot")
	}
}

func TestTheSnapshotOfACallOutlivesAKill(t *testing.T) {
	v := newRepositoryTest(t)
	vault := v.k.vaults.home
	hooktest.Write(t, filepath.Join(v.work, "x.sh"), "rm -r d .env; echo bad > tracked", 0o644)
	was := treeOf(t, v.work)
	v.kill(vault, "bash x.sh", time.Minute) // it ends when the verdict would be given
	sh(t, v.work, "bash x.sh")
	k, err := Open(vault, nil)
	hooktest.Must(t, err)
	v.k = k
	k.CloseOld(time.Now().Add(time.Hour))
	list := k.List(wire.UndoQuery{}).Calls
	if len(list) != 1 {
		t.Fatalf("the list has %+v", list)
	}
	v.undo(wire.UndoRequest{Calls: []string{list[0].ID}, Changed: true})
	same(t, "after the undo", treeOf(t, v.work), was)
}

func TestAFolderThatIsNoRepository(t *testing.T) {
	v := newVaultTest(t)
	v.write("a", "old")
	c, r := v.unknown("s")
	if r.Word != Part || !strings.Contains(fmt.Sprint(r.Lost), "its folder is kept") {
		t.Errorf("before the call: %+v", r)
	}
	sh(t, v.work, "rm a")
	v.ended("s", c)
	v.undo(wire.UndoRequest{Calls: []string{c}})
	v.want("a", "old")
	home, err := os.UserHomeDir()
	hooktest.Must(t, err)
	for _, dir := range []string{"/", "/tmp", "/usr", home, filepath.Dir(home)} {
		if top := rootOf(dir); top != "" {
			t.Errorf("all of %s is kept", top)
		}
	}
}

// docker-agent's snapshots: a turn, and a tool in it, are steps; a change counts once.
func TestSteps(t *testing.T) {
	v := newRepositoryTest(t)
	begin := func(mark string) {
		c := call(v.work)
		c.Tool, c.Mark = Step, mark
		hooktest.Must(t, v.k.Begin(c))
	}
	begin("turn")
	begin("tool:1")
	v.write("tracked", "by the tool")
	v.write("made", "by the tool")
	v.k.End("s", "tool:1")
	v.k.Ended("s") // the rest of a session ends no turn
	v.k.CloseOld(time.Now().Add(time.Hour))
	v.k.End("s", "turn") // what the tool did is not counted again
	begin("turn")
	v.k.End("s", "turn")
	list := v.k.List(wire.UndoQuery{}).Calls
	if len(list) != 1 || list[0].Tool != Step {
		t.Fatalf("the list has %+v", list)
	}
	v.undo(wire.UndoRequest{Calls: []string{list[0].ID}, Changed: true})
	v.want("tracked", "1\n")
	v.want("made", "")
	begin("turn")
	v.k.Forget("s")
	outside := call(t.TempDir())
	outside.Mark = "turn"
	hooktest.Must(t, v.k.Begin(outside))
	if open := v.k.OpenCalls(""); len(open) > 0 {
		t.Errorf("open: %+v", open)
	}
}

// The copies of repositories count as much as those of calls. Beyond the limit the ones go that were not used for
// the longest time.
func TestCopiesOfRepositoriesCount(t *testing.T) {
	v := newVaultTest(t)
	var tops []string
	for _, name := range []string{"one", "two", "three"} {
		top := filepath.Join(v.work, name)
		hooktest.Must(t, os.Mkdir(top, 0o755))
		sh(t, top, repository+"head -c 100000 /dev/urandom > big")
		v.k.bases.refresh(rootOf(top))
		tops = append(tops, rootOf(top))
	}
	now := time.Now()
	v.k.Expire(now)
	if held := v.k.List(wire.UndoQuery{}).Bytes; held < 300_000 {
		t.Errorf("three repositories hold %d bytes", held)
	}
	b, err := v.k.bases.of(tops[0])
	hooktest.Must(t, err)
	old := now.Add(-time.Hour)
	hooktest.Must(t, os.Chtimes(filepath.Join(b.dir, baselineLogFile), old, old))
	s := *v.k.settings.Load()
	s.Max = 2 * 250_000
	v.k.Configure(s)
	v.k.Expire(now)
	if held := v.k.List(wire.UndoQuery{}).Bytes; held < 200_000 || held > 250_000 {
		t.Errorf("beyond the limit %d bytes are held", held)
	}
	if b.last.Load() != nil {
		t.Error("the oldest one stays")
	}
	c := v.ran("s", "cd one && python3 -c 'import os; os.remove(\"big\")'") // its copy is made again
	if _, bad := v.k.Undo(id(), wire.UndoRequest{Calls: []string{c}}); bad != nil {
		t.Logf("the first call after that: %v", bad)
	}
	again, err := Open(v.k.vaults.home, nil)
	hooktest.Must(t, err)
	s.Max = 2
	again.Configure(s)
	again.Expire(now)
	if held := again.bases.sweep(s.MaxAge, 1<<40, again.openAt); held > 250_000 { // one of three, with an old version
		t.Errorf("another process holds %d bytes", held)
	}
}
