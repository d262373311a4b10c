package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/project"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/pack"
)

// home returns the settings of a new home.
func home(t *testing.T) config.Config {
	t.Helper()
	return config.Default(hooktest.ShortDir(t))
}

// states lists all hooks of the settings as name=state.
func states(c config.Config) string {
	var list []string
	for _, e := range Scan(c).Entries {
		list = append(list, e.Name+"="+string(e.State))
	}
	return strings.Join(list, " ")
}

func wantStates(t *testing.T, c config.Config, what, want string) {
	t.Helper()
	if got := states(c); got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

const guard = "events: pre_tool_use\ncommand: ./run.sh\n"

// addPack puts a pack of two hooks in place, one with a file that they share.
func addPack(t *testing.T, c config.Config, name string) (source string) {
	t.Helper()
	source = t.TempDir()
	for _, hook := range []string{"a", "b"} {
		hooktest.Write(t, filepath.Join(source, hook, "HOOK.yaml"), "name: "+hook+"\n"+guard, 0o644)
		hooktest.Write(t, filepath.Join(source, hook, "run.sh"), "#!/bin/sh\n. ../lib.sh\n", 0o755)
	}
	hooktest.Write(t, filepath.Join(source, "lib.sh"), "level=1\n", 0o644)
	put(t, c, name, source)
	return source
}

func put(t *testing.T, c config.Config, name, source string) {
	t.Helper()
	f, err := pack.Fetch(t.Context(), pack.Source{Kind: pack.FromFolder, Location: source})
	hooktest.Must(t, err)
	staged, err := pack.NewHome(c.Home).Stage(name, f)
	hooktest.Must(t, err)
	hooktest.Must(t, CheckHooks(ReadPack(c, staged.Dir, name, f.Content)))
	hooktest.Must(t, staged.Put())
}

func allowAll(t *testing.T, c config.Config) {
	t.Helper()
	for _, p := range Waiting(c) {
		hooktest.Must(t, Allow(c, p))
	}
}

// Hooks of a pack wait under every reload.mode, each for itself; a file that they
// share counts for both, a document for none.
func TestPacksWait(t *testing.T) {
	for _, mode := range []string{"auto", "manual", "ask"} {
		c := home(t)
		c.ReloadMode = mode
		hooktest.Hook(t, c.Home, "a", "events: x\n", "exit 0\n")
		allowAll(t, c)
		source := addPack(t, c, "team")
		wantStates(t, c, mode+", added", "a=active team/a=waiting team/b=waiting")
		for _, e := range Scan(c).Entries[1:] {
			if e.Hook != nil {
				t.Errorf("%s, %s is in force before it is allowed", mode, e.Name)
			}
		}
		for _, p := range Waiting(c) {
			if p.Name == "team/a" {
				hooktest.Must(t, Allow(c, p))
			}
		}
		wantStates(t, c, mode+", one is allowed", "a=active team/a=active team/b=waiting")
		allowAll(t, c)
		hooktest.Write(t, filepath.Join(source, "README.md"), "read me\n", 0o644)
		hooktest.Write(t, filepath.Join(source, "b", "more.txt"), "x\n", 0o644)
		put(t, c, "team", source)
		wantStates(t, c, mode+", one has another file", "a=active team/a=active team/b=waiting")
		hooktest.Write(t, filepath.Join(source, "lib.sh"), "level=2\n", 0o644)
		put(t, c, "team", source)
		wantStates(t, c, mode+", a file of both differs", "a=active team/a=waiting team/b=waiting")
		for _, e := range Scan(c).Entries[1:] {
			if e.Hook == nil || len(e.Hook.Seal.Refusals()) == 0 {
				t.Errorf("%s, %s: a guard that was allowed does not deny", mode, e.Name)
			}
		}
		hooktest.Must(t, RemovePack(c, "team"))
		wantStates(t, c, mode+", removed", "a=active")
		put(t, c, "team", source)
		wantStates(t, c, mode+", added again", "a=active team/a=waiting team/b=waiting")
	}
}

// A pack cannot have two hooks of one name, nor a name that looks like another's.
func TestNamesInPacks(t *testing.T) {
	for names, want := range map[string]string{
		"same same": "are both called team/same", "a b/c": "is no name of a shared hook", "a project:x": "is no name",
		"a \u0430": "is no name",
	} {
		c, dir := home(t), t.TempDir()
		for i, name := range strings.Fields(names) {
			text := fmt.Sprintf("name: %q\nevents: x\ntype: script\nscript: exit 0\n", name)
			hooktest.Write(t, filepath.Join(dir, fmt.Sprint(i), "HOOK.yaml"), text, 0o644)
		}
		f, err := pack.Fetch(t.Context(), pack.Source{Kind: pack.FromFolder, Location: dir})
		hooktest.Must(t, err)
		staged, err := pack.NewHome(c.Home).Stage("team", f)
		hooktest.Must(t, err)
		err = CheckHooks(ReadPack(c, staged.Dir, "team", f.Content))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", names, err)
		}
	}
}

// Hooks of the gallery are as the user's own.
func TestGalleryDoesNotWait(t *testing.T) {
	c := home(t)
	f, err := pack.Fetch(t.Context(), pack.Source{Kind: pack.FromGallery, Location: "rate-limit"})
	hooktest.Must(t, err)
	staged, err := pack.NewHome(c.Home).Stage("gallery/rate-limit", f)
	hooktest.Must(t, err)
	hooktest.Must(t, staged.Put())
	wantStates(t, c, "added", "gallery/rate-limit=active")
	c.ReloadMode = "ask"
	wantStates(t, c, "with reload.mode: ask", "gallery/rate-limit=waiting")
}

// A source of type hookdir is a folder of hooks of the user's own, or one hook.
func TestHookDirSource(t *testing.T) {
	c := home(t)
	dir := filepath.Join(c.Home, "mine")
	hooktest.Write(t, filepath.Join(dir, "one", "HOOK.yaml"), "name: one\n"+guard, 0o644)
	hooktest.Write(t, filepath.Join(dir, "one", "run.sh"), "#!/bin/sh\n", 0o755)
	c.Sources = []config.Source{{Type: config.HookDir, Path: dir}}
	wantStates(t, c, "a folder of hooks", "one=active")
	c.Sources[0].Path = filepath.Join(dir, "one")
	wantStates(t, c, "one hook", "one=active")
	c.Sources = append(c.Sources, config.Source{Type: config.HookDir, Path: dir})
	wantStates(t, c, "named twice", "one=active")
	c.Sources[0].Path = filepath.Join(c.Home, "no-such")
	if p := Scan(c).Problems; len(p) != 1 || p[0].Hint != "see `sources` in hookd.yaml" {
		t.Errorf("a folder that is not there: %v", p)
	}
}

// repository makes one with a hook.
func repository(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	hooktest.Must(t, err)
	hooktest.GitCommit(t, root, files)
	return root
}

var projectHook = map[string]string{
	".hookd/hooks/guard/HOOK.yaml": "name: guard\n" + guard,
	".hookd/hooks/guard/run.sh":    "#!/bin/sh\n. ./lib.sh\n",
	".hookd/hooks/guard/lib.sh":    "level=1\n",
}

func look(t *testing.T, c config.Config, root string) Project {
	t.Helper()
	p, err := LookAtProject(c, root)
	hooktest.Must(t, err)
	return p
}

// Trust is bound to the content, wherever a working tree of the repository is,
// and to the repository: a copy elsewhere is another one.
func TestTrust(t *testing.T) {
	c, root := home(t), repository(t, projectHook)
	wantStates(t, c, "not trusted", "")
	p := look(t, c, root)
	if p.Trusted || len(p.Waiting) != 1 || len(p.Waiting[0].Diffs) != 3 || len(p.Waiting[0].Hidden) > 0 {
		t.Fatalf("looked at: %+v", p)
	}
	hooktest.Must(t, p.Trust(c))
	wantStates(t, c, "trusted", "project:guard=active")
	e := Scan(c).Entries[0]
	if e.Hook.Project != root || e.Hook.ID != "project:guard@"+root || e.Hook.Layer != hook.LayerProject {
		t.Errorf("it is %+v", e.Hook)
	}
	tree := filepath.Join(c.Home, "tree")
	hooktest.Git(t, root, "worktree", "add", "-q", "-b", "other", tree)
	wantStates(t, c, "a working tree", "project:guard=active project:guard=active")
	hooktest.Git(t, root, "clone", "-q", root, filepath.Join(c.Home, "clone"))
	wantStates(t, c, "a clone", "project:guard=active project:guard=active")

	// Another branch has another version: both are trusted, each in its tree.
	hooktest.Write(t, filepath.Join(tree, ".hookd/hooks/guard/lib.sh"), "level=2\n", 0o644)
	wantStates(t, c, "changed there", "project:guard=active project:guard=waiting")
	hooktest.Must(t, look(t, c, tree).Trust(c))
	wantStates(t, c, "trusted there", "project:guard=active project:guard=active")
	for i, text := range []string{"level=3\n", "level=1\n", "level=2\n"} {
		hooktest.Write(t, filepath.Join(root, ".hookd/hooks/guard/lib.sh"), text, 0o644)
		want := "project:guard=active project:guard=active"
		if i == 0 {
			want = "project:guard=waiting project:guard=active"
		}
		wantStates(t, c, text, want)
	}
	shared := filepath.Join(root, ".git")
	if list := ListTrusted(c); len(list) != 1 || list[0].Repository != shared || len(list[0].Versions) != 2 {
		t.Errorf("trusted: %+v", list)
	}
	r, _ := project.Find(tree)
	hooktest.Must(t, Revoke(c, r.ID))
	hooktest.Must(t, Revoke(c, r.ID))
	wantStates(t, c, "revoked", "")
}

// `hookd allow` of a project's hook is the same as to trust this hook alone.
func TestAllowOfAProject(t *testing.T) {
	c, root := home(t), repository(t, projectHook)
	hooktest.Must(t, look(t, c, root).Trust(c))
	for _, name := range []string{"b", "c"} {
		text := "name: " + name + "\nevents: x\ntype: script\nscript: exit 0\n"
		hooktest.Write(t, filepath.Join(root, ".hookd/hooks", name, "HOOK.yaml"), text, 0o644)
	}
	wantStates(t, c, "two are new", "project:b=waiting project:c=waiting project:guard=active")
	for _, p := range Waiting(c) {
		if p.Name == "project:b" {
			hooktest.Must(t, Allow(c, p))
		}
	}
	wantStates(t, c, "one is allowed", "project:b=active project:c=waiting project:guard=active")
	c.ReloadMode = "ask"
	wantStates(t, c, "with reload.mode: ask", "project:b=active project:c=waiting project:guard=active")
	hooktest.Must(t, os.RemoveAll(filepath.Join(root, ".hookd")))
	wantStates(t, c, "another branch without hooks", "")
}

// Whatever a repository puts into .hookd, looking at it ends, runs nothing, and
// content that is not plain cannot be trusted into force.
func TestHostileProject(t *testing.T) {
	elsewhere := t.TempDir()
	hooktest.Write(t, filepath.Join(elsewhere, "guard", "HOOK.yaml"), "name: guard\n"+guard, 0o644)
	hooktest.Write(t, filepath.Join(elsewhere, "guard", "run.sh"), "#!/bin/sh\n", 0o755)
	for what, tt := range map[string]struct {
		spoil func(hooks string) error
		want  string // states once it is trusted
	}{
		"a pipe as HOOK.yaml": {func(dir string) error {
			pipe := func(p string) error { return syscall.Mkfifo(p, 0o600) }
			return replace(filepath.Join(dir, "guard", "HOOK.yaml"), pipe)
		}, "guard=rejected"},
		"a pipe beside it": {func(dir string) error {
			return syscall.Mkfifo(filepath.Join(dir, "guard", "pipe"), 0o600)
		}, "guard=refused"},
		"a link beside it": {func(dir string) error {
			return os.Symlink("/etc/passwd", filepath.Join(dir, "guard", "link"))
		}, "guard=refused"},
		"a link as its program": {func(dir string) error {
			link := func(p string) error { return os.Symlink("/bin/true", p) }
			return replace(filepath.Join(dir, "guard", "run.sh"), link)
		}, "guard=refused"},
		"a link as the hook": {func(dir string) error {
			return replace(filepath.Join(dir, "guard"), func(p string) error {
				return os.Symlink(filepath.Join(elsewhere, "guard"), p)
			})
		}, ""},
		"a link as the folder of hooks": {func(dir string) error {
			return replace(dir, func(p string) error { return os.Symlink(elsewhere, p) })
		}, "guard=refused"},
		"many files": {func(dir string) error {
			for i := range maxContent {
				if err := os.WriteFile(filepath.Join(dir, "guard", fmt.Sprint(i)), nil, 0o600); err != nil {
					return err
				}
			}
			return nil
		}, "guard=refused"},
		"a large file": {func(dir string) error {
			p := filepath.Join(dir, "guard", "large")
			if err := os.WriteFile(p, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(p, maxContentBytes+1)
		}, "guard=refused"},
		"a name with a colon": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "guard", "HOOK.yaml"), []byte("name: 'a:b'\n"+guard), 0o600)
		}, "guard=rejected"},
		"a file as the folder": {func(dir string) error {
			return replace(dir, func(p string) error { return os.WriteFile(p, nil, 0o600) })
		}, ""},
	} {
		c, root := home(t), repository(t, projectHook)
		hooktest.Must(t, tt.spoil(filepath.Join(root, ".hookd", "hooks")))
		hooktest.Must(t, look(t, c, root).Trust(c))
		if got := strings.ReplaceAll(states(c), ProjectPrefix, ""); got != tt.want {
			t.Errorf("%s: %q, want %q", what, got, tt.want)
		}
	}
}

func replace(path string, by func(string) error) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return by(path)
}

// A repository with hooks without end costs each scan no more than a limit.
func TestManyProjectHooks(t *testing.T) {
	files := map[string]string{}
	for i := range 150 {
		text := fmt.Sprintf("name: h%d\nevents: x\ntype: script\nscript: exit 0\n", i)
		files[fmt.Sprintf(".hookd/hooks/h%03d/HOOK.yaml", i)] = text
	}
	c, root := home(t), repository(t, files)
	hooktest.Must(t, look(t, c, root).Trust(c))
	s := Scan(c)
	if len(s.Entries) != 100 || len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Message, "more than 100 hooks") {
		t.Errorf("%d hooks, %v", len(s.Entries), s.Problems)
	}
}

// Without a look only the files are allowed that were just written, nothing that has taken their place.
func TestOnlyWhatWasWrittenIsAllowed(t *testing.T) {
	c := home(t)
	dir := hooktest.Hook(t, c.Home, "guard", "events: pre_tool_use\nargs: [lib.sh]\n", "exit 0\n")
	hooktest.Write(t, filepath.Join(dir, "lib.sh"), "level=1\n", 0o644)
	written, err := pack.ReadFolder(dir)
	hooktest.Must(t, err)
	sums := map[string]string{}
	for _, f := range written {
		sums[f.Path] = f.Sum()
	}
	wantIs := func(want bool, after string) {
		t.Helper()
		list := Waiting(c)
		if len(list) != 1 || list[0].Is(dir, sums) != want {
			t.Errorf("%s: %+v waits, want the version that was written: %t", after, list, want)
		}
	}
	wantIs(true, "as written")
	for name, text := range map[string]string{
		"lib.sh":    "level=0\n",
		"run.sh":    "#!/bin/sh\nexit 0 # always\n",
		"HOOK.yaml": "name: guard\nevents: pre_tool_use\ncommand: ./run.sh lib.sh\nenabled: true\n",
	} {
		was, err := os.ReadFile(filepath.Join(dir, name))
		hooktest.Must(t, err)
		hooktest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
		wantIs(false, name)
		hooktest.Must(t, os.WriteFile(filepath.Join(dir, name), was, 0o755))
	}
	delete(sums, "lib.sh")
	wantIs(false, "a file that was not written")
}

// A version is not allowed if another file took the place of one of its programs before its
// text was read: a person was shown neither.
func TestWhatCouldNotBeShownIsNotAllowed(t *testing.T) {
	c := home(t)
	dir := hooktest.Hook(t, c.Home, "guard", "events: pre_tool_use\n", "exit 0\n")
	c.ReloadMode = "ask"
	for name, text := range map[string]string{
		"short": "#!/bin/sh\nexit 2\n", "too long to be shown": "#!/bin/sh\n" + strings.Repeat("#\n", 64<<10),
	} {
		run := filepath.Join(dir, "run.sh")
		hooktest.Must(t, os.WriteFile(run, []byte("#!/bin/sh\nexit 0\n"), 0o755))
		h := Scan(c).Entries[0].Waits
		hooktest.Must(t, os.WriteFile(run, []byte(text), 0o755))
		p := pending(h, discovery.Approval{}, false)
		if err := Allow(c, p); err == nil || !strings.Contains(err.Error(), run) {
			t.Errorf("%s: allowed, and %q is said to be too long: %v", name, p.Hidden, err)
		}
		hooktest.Must(t, os.WriteFile(run, []byte("#!/bin/sh\nexit 0\n"), 0o755))
		if err := Allow(c, pending(Scan(c).Entries[0].Waits, discovery.Approval{}, false)); err != nil {
			t.Errorf("%s: as it is shown: %v", name, err)
		}
		hooktest.Must(t, os.RemoveAll(c.AllowedDir()))
	}
}
