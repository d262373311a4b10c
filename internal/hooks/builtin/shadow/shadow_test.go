package shadow

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// source is a real repository with files in every state.
type source struct {
	*testing.T
	dir, data string
}

func newSource(t *testing.T) source {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIP-TOOL git: not installed")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	s := source{t, filepath.Join(home, "src"), filepath.Join(home, "data")}
	s.must(os.Mkdir(s.dir, 0o755))
	s.git("init", "-q", "-b", "main")
	s.write(".gitignore", "*.log\n")
	s.write("a.txt", "a1\n")
	s.write("b.txt", "b1\n")
	s.write("dir/run.sh", "#!/bin/sh\n")
	s.must(os.Chmod(s.path("dir/run.sh"), 0o755))
	s.must(os.Symlink("a.txt", s.path("link")))
	s.git("add", "-A")
	s.git("-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "-m", "one")
	s.write("a.txt", "a2 staged\n")
	s.git("add", "a.txt")
	s.write("b.txt", "b2 unstaged\n")
	s.must(os.Chmod(s.path("a.txt"), 0o600)) // git does not know of this
	s.write("new.txt", "new\n")
	s.write("debug.log", "ignored\n")
	return s
}

func (s source) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s source) path(name string) string { return filepath.Join(s.dir, name) }

func (s source) write(name, text string) {
	s.Helper()
	s.must(os.MkdirAll(filepath.Dir(s.path(name)), 0o755))
	s.must(os.WriteFile(s.path(name), []byte(text), 0o644))
}

func (s source) git(args ...string) string {
	s.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = s.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

func (s source) open() *Repo {
	s.Helper()
	r, err := Open(s.Context(), s.data, s.dir, nil)
	s.must(err)
	return r
}

func (s source) capture(r *Repo) string {
	s.Helper()
	tree, err := captured(s.Context(), r)
	s.must(err)
	return tree
}

// captured captures the working tree.
func captured(ctx context.Context, r *Repo) (tree string, err error) {
	err = r.locked(ctx, func() error {
		tree, err = r.capture(ctx)
		return err
	})
	return tree, err
}

// step records the changes of f as a checkpoint.
func (s source) step(r *Repo, f func()) Checkpoint {
	s.Helper()
	s.must(r.Mark(s.Context(), "steps", "step"))
	f()
	cp, changed, err := r.Since(s.Context(), "steps", "step", "step", false)
	s.must(err)
	s.must(r.Forget(s.Context(), "steps"))
	if !changed {
		s.Fatal("no checkpoint")
	}
	return cp
}

// files maps every path below dir, without .git, to its kind, mode and content.
func (s source) files() map[string]string {
	s.Helper()
	all := map[string]string{}
	s.must(filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" && d.IsDir() {
			return filepath.SkipDir
		}
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(s.dir, path)
		info, err := d.Info()
		text := info.Mode().String() + "\n"
		switch {
		case err != nil:
			return err
		case info.Mode()&os.ModeSymlink != 0:
			to, err := os.Readlink(path)
			all[rel] = text + to
			return err
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			all[rel] = text + string(content)
			return err
		}
		all[rel] = text
		return nil
	}))
	return all
}

// dotGit maps every file of .git to its content.
func (s source) dotGit() map[string]string {
	s.Helper()
	inner := source{s.T, s.path(".git"), s.data}
	all := map[string]string{}
	s.must(filepath.WalkDir(inner.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		all[path] = string(content)
		return err
	}))
	return all
}

func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %s: got %.80q, want %.80q", what, name, got[name], want[name])
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s should not be there", what, name)
		}
	}
}

func (s source) wreck() {
	s.write("a.txt", "a3\n")
	s.write("b.txt", "b3\n")
	s.write("deep/er/added.txt", "added\n")
	s.must(os.Remove(s.path("new.txt")))
	s.must(os.Chmod(s.path("dir/run.sh"), 0o644))
	s.must(os.Remove(s.path("link")))
	s.must(os.Symlink("b.txt", s.path("link")))
}

func TestUndoBringsTheTreeBack(t *testing.T) {
	s := newSource(t)
	r := s.open()
	before, gitBefore, staged := s.files(), s.dotGit(), s.git("--no-optional-locks", "diff", "--cached")
	cp := s.step(r, s.wreck)
	if cp.Changed != 6 || slices.ContainsFunc(cp.Files, func(f File) bool { return f.Path == "debug.log" }) {
		t.Errorf("got files %v, want the 6 changed ones", cp.Files)
	}
	s.write("other.txt", "mine\n")
	s.write("debug.log", "ignored, later\n")
	before["other.txt"], before["debug.log"] = s.files()["other.txt"], s.files()["debug.log"]
	u, err := r.Reset(t.Context(), 0, false)
	s.must(err)
	if len(u.Files) != 6 || u.Before == "" {
		t.Errorf("got %+v, want 6 files", u)
	}
	same(t, "tree", s.files(), before)
	same(t, ".git", s.dotGit(), gitBefore)
	if got := s.git("--no-optional-locks", "diff", "--cached"); got != staged {
		t.Errorf("staged: got %q, want %q", got, staged)
	}
	if _, err := r.Reset(t.Context(), 0, false); !errors.Is(err, ErrNoCheckpoint) {
		t.Errorf("second undo: got %v, want ErrNoCheckpoint", err)
	}
}

func TestUndoRefusesWhatChangedSince(t *testing.T) {
	s := newSource(t)
	r := s.open()
	before := s.files()
	s.step(r, s.wreck)
	s.write("b.txt", "b4 by a person\n")
	wrecked := s.files()
	var conflict *ConflictError
	if _, err := r.Reset(t.Context(), 0, false); !errors.As(err, &conflict) || !slices.Equal(conflict.Paths, []string{"b.txt"}) {
		t.Fatalf("got %v, want a conflict in b.txt", err)
	}
	same(t, "refused", s.files(), wrecked)
	u, err := r.Reset(t.Context(), 0, true)
	s.must(err)
	same(t, "forced", s.files(), before)
	if got, err := r.git(t.Context(), nil, "show", u.Before+":b.txt"); err != nil || string(got) != "b4 by a person\n" {
		t.Errorf("overwritten content: got %q, %v", got, err)
	}
}

func TestReset(t *testing.T) {
	s := newSource(t)
	r := s.open()
	first := s.files()
	one := s.step(r, s.wreck)
	second := s.files()
	two := s.step(r, func() { s.write("a.txt", "a4\n") })
	// a file becomes a directory, and a new file becomes ignored
	s.step(r, func() {
		s.must(os.Remove(s.path("b.txt")))
		s.write("b.txt/in", "x\n")
		s.must(os.MkdirAll(s.path("b.txt/empty/too"), 0o755))
		s.write(".gitignore", "*.log\nadded.txt\n")
	})
	if _, err := r.Reset(t.Context(), 99, false); !errors.Is(err, ErrNoCheckpoint) {
		t.Errorf("got %v, want ErrNoCheckpoint", err)
	}
	diff, err := r.Show(t.Context(), two.N)
	if err != nil || !strings.Contains(diff, "-a3\n+a4\n") {
		t.Errorf("show: got %q, %v", diff, err)
	}
	_, err = r.Reset(t.Context(), two.N, false)
	s.must(err)
	same(t, "reset 2", s.files(), second)
	list, err := r.List(t.Context())
	if err != nil || len(list) != 1 || list[0].N != one.N {
		t.Errorf("list: got %v, %v", list, err)
	}
	_, err = r.Reset(t.Context(), one.N, false)
	s.must(err)
	same(t, "reset 1", s.files(), first)
}

func TestUndoKeepsFilesThatWereIgnored(t *testing.T) {
	s := newSource(t)
	r := s.open()
	before := s.files()
	s.write(":(odd).log", "odd")
	before[":(odd).log"] = s.files()[":(odd).log"]
	s.step(r, func() { s.write(".gitignore", "") })
	u, err := r.Reset(t.Context(), 0, false)
	s.must(err)
	same(t, "tree", s.files(), before)
	if !slices.Equal(u.Kept, []string{":(odd).log", "debug.log"}) {
		t.Errorf("kept: got %v, want the log files", u.Kept)
	}
}

func TestUndoOfANewIgnoreRule(t *testing.T) {
	s := newSource(t)
	r := s.open()
	before := s.files()
	one := s.step(r, func() { s.write("x.tmp", "x\n") })
	s.step(r, func() { s.write("sub/.gitignore", "*.o\n"); s.write(".gitignore", "*.log\n*.tmp\n") })
	_, err := r.Reset(t.Context(), one.N, false)
	s.must(err)
	same(t, "tree", s.files(), before)
}

// tree lists the paths of a tree.
func (s source) tree(r *Repo, tree string) []string {
	s.Helper()
	all, err := r.entries(s.Context(), tree)
	s.must(err)
	var paths []string
	for p := range all {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}

func TestCaptureLeavesOut(t *testing.T) {
	s := newSource(t)
	s.write("secret.key", "x")
	s.write("mine.swp", "x")
	s.write("back\\slash git~1", "x")
	s.must(os.MkdirAll(s.path(".git/info"), 0o755))
	s.must(os.WriteFile(s.path(".git/info/exclude"), []byte("secret.key\n"), 0o644))
	s.must(os.MkdirAll(filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "git"), 0o755))
	s.must(os.WriteFile(filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "git", "ignore"), []byte("*.swp\n"), 0o644))
	s.write("big.bin", strings.Repeat("x", 3<<20))
	s.write("tracked.log", "tracked though ignored\n")
	s.write("huge.dat", strings.Repeat("y", 3<<20))
	s.git("add", "-f", "tracked.log", "huge.dat")
	s.write("nested/file", "x")
	(source{t, s.path("nested"), s.data}).git("init", "-q")
	s.data = s.path("da ta*") // the data directory inside the source
	r := s.open()
	want := []string{".gitignore", "a.txt", "b.txt", "back\\slash git~1", "dir/run.sh", "huge.dat", "link", "new.txt", "tracked.log"}
	for range 2 {
		if got := s.tree(r, s.capture(r)); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	// a large file that shrinks was there before: it is not new
	s.write("big.bin", "small")
	if got := s.tree(r, s.capture(r)); !slices.Equal(got, want) {
		t.Errorf("shrunk: got %q, want %q", got, want)
	}
}

func TestUndoDoesNotWriteThroughALink(t *testing.T) {
	s := newSource(t)
	r := s.open()
	outside := t.TempDir()
	s.step(r, func() { s.write("dir/run.sh", "changed\n") })
	s.must(os.RemoveAll(s.path("dir")))
	s.must(os.Symlink(outside, s.path("dir")))
	for _, force := range []bool{false, true} {
		var conflict *ConflictError
		if _, err := r.Reset(t.Context(), 0, force); !errors.As(err, &conflict) {
			t.Errorf("force %v: got %v, want a conflict", force, err)
		}
	}
	if list, err := os.ReadDir(outside); err != nil || len(list) != 0 {
		t.Errorf("outside: got %v, %v, want nothing", list, err)
	}
}

func TestOpenOutsideARepository(t *testing.T) {
	s := newSource(t)
	for name, dir := range map[string]string{"plain": t.TempDir(), "missing": filepath.Join(t.TempDir(), "no"), "inside .git": s.path(".git")} {
		if _, err := Open(t.Context(), s.data, dir, nil); !errors.Is(err, ErrNotRepository) {
			t.Errorf("%s: got %v, want ErrNotRepository", name, err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Open(t.Context(), s.data, s.dir, nil); !errors.Is(err, ErrNotRepository) {
		t.Errorf("no git: got %v, want ErrNotRepository", err)
	}
	if _, err := os.Stat(s.data); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("data directory: got %v, want none", err)
	}
}

func TestCallersGitEnvironmentDoesNotCount(t *testing.T) {
	s := newSource(t)
	other := newSource(t)
	t.Setenv("GIT_DIR", other.path(".git"))
	t.Setenv("GIT_INDEX_FILE", other.path("index"))
	r := s.open()
	if r.Root == other.dir || len(s.tree(r, s.capture(r))) != 6 {
		t.Errorf("got root %s", r.Root)
	}
}

func TestLinkedWorktree(t *testing.T) {
	s := newSource(t)
	s.must(os.WriteFile(s.path(".git/info/exclude"), []byte("*.skip\n"), 0o644))
	linked := source{t, filepath.Join(t.TempDir(), "linked"), s.data}
	s.git("worktree", "add", "-q", linked.dir)
	linked.write("x.skip", "x")
	main, r := s.open(), linked.open()
	if main.dir == r.dir {
		t.Error("the worktrees share a shadow")
	}
	before := linked.files()
	linked.step(r, func() { linked.write("a.txt", "changed\n"); linked.write("n", "n\n") })
	if got := linked.tree(r, linked.capture(r)); slices.Contains(got, "x.skip") {
		t.Errorf("got %v, want no x.skip", got)
	}
	_, err := r.Reset(t.Context(), 0, false)
	s.must(err)
	same(t, "tree", linked.files(), before)
}

func TestConcurrentCaptures(t *testing.T) {
	s := newSource(t)
	trees, errs := make([]string, 8), make([]error, 8)
	var wg sync.WaitGroup
	for i := range trees {
		r := s.open()
		wg.Go(func() { trees[i], errs[i] = captured(context.Background(), r) })
	}
	wg.Wait()
	for i := range trees {
		if errs[i] != nil || trees[i] != trees[0] {
			t.Errorf("capture %d: got %s, %v, want %s", i, trees[i], errs[i], trees[0])
		}
	}
}

func TestCheckpointsSurviveGC(t *testing.T) {
	s := newSource(t)
	r := s.open()
	before := s.files()
	s.must(r.Mark(t.Context(), "s", "turn"))
	s.step(r, s.wreck)
	s.must(r.Prune(t.Context()))
	_, err := r.git(t.Context(), nil, "gc", "--quiet", "--prune=now")
	s.must(err)
	_, err = r.Reset(t.Context(), 0, false)
	s.must(err)
	same(t, "tree", s.files(), before)
}

func TestNoFilterRuns(t *testing.T) {
	s := newSource(t)
	s.write(".gitattributes", "* text eol=crlf filter=evil\n")
	s.git("config", "filter.evil.clean", "touch ran; cat")
	s.git("config", "core.fsmonitor", "touch "+s.path("ran"))
	s.write("crlf.txt", "a\r\nb\n")
	r := s.open()
	before := s.files()
	if _, ran := before["ran"]; ran {
		t.Error("a program of the source ran")
	}
	s.step(r, func() { s.write("crlf.txt", "c\r\n") })
	_, err := r.Reset(t.Context(), 0, false)
	s.must(err)
	same(t, "tree", s.files(), before)
	if text, _ := os.ReadFile(s.path("crlf.txt")); !bytes.Equal(text, []byte("a\r\nb\n")) {
		t.Errorf("got %q", text)
	}
}

func TestLockOfAKilledGit(t *testing.T) {
	s := newSource(t)
	r := s.open()
	s.capture(r)
	s.must(os.WriteFile(r.index()+".lock", nil, 0o600))
	s.write("c.txt", "c\n")
	if got := s.tree(r, s.capture(r)); !slices.Contains(got, "c.txt") {
		t.Errorf("got %v, want c.txt in it", got)
	}
}

func TestLockEndsWithTheContext(t *testing.T) {
	s := newSource(t)
	r := s.open()
	ctx, cancel := context.WithCancel(t.Context())
	s.must(r.locked(t.Context(), func() error {
		cancel()
		if _, err := captured(ctx, r); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		return nil
	}))
}

func TestPruneForgetsTheOld(t *testing.T) {
	s := newSource(t)
	r := s.open()
	s.must(r.Prune(t.Context())) // nothing there yet
	cp := s.step(r, s.wreck)
	s.must(r.Mark(t.Context(), "old", "turn"))
	st, err := r.load()
	s.must(err)
	st.Checkpoints[0].Time = cp.Time.Add(-2 * maxAge)
	m := st.Marks["old"]
	m.Time = m.Time.Add(-2 * maxMarkAge)
	st.Marks["old"] = m
	s.must(r.save(st))
	s.must(r.Prune(t.Context()))
	if st, err = r.load(); err != nil || len(st.Checkpoints) != 0 || len(st.Marks) != 0 || st.Next != 2 {
		t.Errorf("got %+v, %v, want an empty state", st, err)
	}
	if refs, err := r.git(t.Context(), nil, "for-each-ref"); err != nil || len(refs) != 0 {
		t.Errorf("refs: got %q, %v, want none", refs, err)
	}
}

func TestCaptureSkipsWhatItCannotRead(t *testing.T) {
	s := newSource(t)
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	s.must(os.WriteFile(s.path("locked.txt"), []byte("x"), 0o000))
	r := s.open()
	if got := s.tree(r, s.capture(r)); slices.Contains(got, "locked.txt") {
		t.Errorf("got %v, want no locked.txt", got)
	}
}
