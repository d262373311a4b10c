package pack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/docs/gallery"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// hooks are the files of a pack of three.
func hooks() map[string]string {
	files := map[string]string{"README.md": "a pack\n", "hooks/lib.sh": "level=1\n"}
	for _, name := range []string{"one", "two", "three"} {
		files["hooks/"+name+"/HOOK.yaml"] = "name: " + name + "\nevents: pre_tool_use\ncommand: ./run.sh\n"
		files["hooks/"+name+"/run.sh"] = "#!/bin/sh\necho " + name + "\n"
	}
	return files
}

// server serves a repository of three hooks, with a tag and a branch.
func server(t *testing.T) (dir, url string) {
	t.Helper()
	root := t.TempDir()
	dir = filepath.Join(root, "team")
	hooktest.GitCommit(t, dir, hooks())
	hooktest.Git(t, dir, "tag", "-a", "v1.0.0", "-m", "one")
	hooktest.Git(t, dir, "branch", "next")
	url, _ = hooktest.GitServer(t, root)
	return dir, url + "/team/.git"
}

func fetch(t *testing.T, s Source) Fetched {
	t.Helper()
	f, err := Fetch(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func paths(c Content) (list []string) {
	for _, f := range c {
		list = append(list, f.Path)
	}
	return list
}

// A tag, a commit and HEAD are commits; a branch has to be meant.
func TestRevisions(t *testing.T) {
	dir, url := server(t)
	first := hooktest.Git(t, dir, "rev-parse", "HEAD")
	second := hooktest.GitCommit(t, dir, map[string]string{"hooks/one/run.sh": "#!/bin/sh\necho more\n"})
	for _, tt := range []struct {
		revision, commit, err string
		track                 bool
	}{
		{revision: "v1.0.0", commit: first},
		{revision: first, commit: first},
		{revision: second, commit: second},
		{revision: "", commit: second},
		{revision: "HEAD", commit: second},
		{revision: "main", track: true, commit: second},
		{revision: "next", track: true, commit: first},
		{revision: "next", err: "next is a branch, which moves: follow it with --track, or name its commit " + first},
		{revision: "v1.0.0", track: true, err: "it has no branch v1.0.0"},
		{revision: "v2", err: "it has no tag or branch v2"},
		{revision: first[:12], err: "with all its 40 digits"},
		{revision: strings.Repeat("0", 40), err: strings.Repeat("0", 40)},
		{revision: "--upload-pack=touch /tmp/x", err: "it has no tag or branch"},
	} {
		s := Source{Kind: FromGit, Location: url, Revision: tt.revision, Track: tt.track}
		f, err := Fetch(t.Context(), s)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: %v, want %s", tt.revision, err, tt.err)
			}
			continue
		}
		if err != nil || f.Commit != tt.commit || len(f.Content) != len(hooks()) {
			t.Errorf("%q: commit %s with %v, %v; want %s", tt.revision, f.Commit, paths(f.Content), err, tt.commit)
		}
	}
	hooktest.Git(t, dir, "branch", "v1.0.0", second)
	_, err := Fetch(t.Context(), Source{Kind: FromGit, Location: url, Revision: "v1.0.0"})
	if err == nil || !strings.Contains(err.Error(), "is a tag and a branch") {
		t.Errorf("one name for two commits: %v", err)
	}
	f := fetch(t, Source{Kind: FromGit, Location: url, Revision: first, Path: "hooks/two"})
	two := []string{"HOOK.yaml", "run.sh"}
	if got := paths(f.Content); !slices.Equal(got, two) || !f.Content[1].Exec || f.Content[0].Exec {
		t.Errorf("one folder of it: %v", f.Content)
	}
}

// Whatever a repository, its server or the user's own configuration could make
// git execute is not executed; the files that are not fetched are told.
func TestNothingOfARepositoryIsExecuted(t *testing.T) {
	dir, url := server(t)
	mark := filepath.Join(t.TempDir(), "executed")
	canary := "touch " + mark + ";"
	hooktest.GitCommit(t, dir, map[string]string{
		".gitattributes":      "*.sh filter=evil diff=evil merge=evil export-subst text eol=crlf\n*.bin filter=lfs\n",
		"hooks/one/model.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 7\n",
		"hooks/one/run.sh":    "#!/bin/sh\n" + canary + "\n",
		".gitmodules":         "[submodule \"sub\"]\n\tpath = sub\n\turl = ext::sh -c '" + canary + "'\n",
	})
	inner := filepath.Join(t.TempDir(), "inner")
	commit := hooktest.GitCommit(t, inner, map[string]string{"a": "b"})
	hooktest.Git(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+commit+",sub")
	hooktest.Git(t, dir, "commit", "-q", "-m", "a submodule")
	for _, name := range []string{"core.fsmonitor", "core.alternateRefsCommand", "core.pager", "core.sshCommand"} {
		hooktest.Git(t, dir, "config", name, canary) // of the server's side
	}
	home := t.TempDir()
	for _, name := range []string{"post-checkout", "post-merge", "reference-transaction", "post-rewrite"} {
		hooktest.Write(t, filepath.Join(home, "hooks", name), "#!/bin/sh\n"+canary+"\n", 0o755)
		hooktest.Write(t, filepath.Join(home, "template", "hooks", name), "#!/bin/sh\n"+canary+"\n", 0o755)
		hooktest.Write(t, filepath.Join(dir, ".git", "hooks", name), "#!/bin/sh\n"+canary+"\n", 0o755)
	}
	hooktest.Write(t, filepath.Join(home, ".gitconfig"), fmt.Sprintf(`[core]
	fsmonitor = "%[1]s"
	hooksPath = %[2]s/hooks
	pager = "%[1]s"
[init]
	templateDir = %[2]s/template
[filter "evil"]
	smudge = "%[1]s cat"
	required = true
[filter "lfs"]
	smudge = "%[1]s cat"
	process = "%[1]s"
[submodule]
	recurse = true
[fetch]
	recurseSubmodules = true
[protocol]
	allow = always
`, canary, home), 0o600)
	t.Setenv("HOME", home)
	t.Setenv("GIT_EXTERNAL_DIFF", canary)
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.hooksPath")
	t.Setenv("GIT_CONFIG_VALUE_0", home+"/hooks")

	f := fetch(t, Source{Kind: FromGit, Location: url})
	staged, err := NewHome(t.TempDir()).Stage("team", f)
	hooktest.Must(t, err)
	hooktest.Must(t, staged.Put())
	if _, err := os.Stat(mark); err == nil {
		t.Error("something was executed")
	}
	told := strings.Join(f.Notes, "\n")
	for _, want := range []string{"sub is a submodule: it is not fetched", "model.bin is only a pointer of git LFS"} {
		if !strings.Contains(told, want) {
			t.Errorf("not told that %s: %q", want, told)
		}
	}
	for _, file := range f.Content {
		if file.Path == "hooks/one/run.sh" && strings.Contains(string(file.Data), "\r") {
			t.Error("the bytes are not those of the commit")
		}
	}
}

// A link that stays in the pack is a link; a link that leaves the pack refuses the pack.
func TestLinks(t *testing.T) {
	dir, url := server(t)
	for link, good := range map[string]bool{
		"lib.sh": true, "one/run.sh": true, "./one/../lib.sh": true, "../README.md": true,
		"../../etc/passwd": false, "/etc/passwd": false, "..": false, "../..": false, "one": false, "nowhere": false,
		"../../team/README.md": false,
	} {
		_ = os.Remove(filepath.Join(dir, "hooks", "link")) // of the case before
		hooktest.Must(t, os.Symlink(link, filepath.Join(dir, "hooks", "link")))
		hooktest.GitCommit(t, dir, nil)
		for _, s := range []Source{{Kind: FromGit, Location: url}, {Kind: FromFolder, Location: dir}} {
			f, err := Fetch(t.Context(), s)
			if good != (err == nil) || !good && !strings.Contains(err.Error(), "link") {
				t.Errorf("%s, a link to %s: %v", s.Kind, link, err)
				continue
			}
			if !good {
				continue
			}
			staged, err := NewHome(t.TempDir()).Stage("team", f)
			hooktest.Must(t, err)
			if text, err := os.ReadFile(filepath.Join(staged.Dir, "hooks", "link")); err != nil || len(text) == 0 {
				t.Errorf("%s, a link to %s leads to %q, %v", s.Kind, link, text, err)
			}
		}
	}
}

// A folder may hold anything; a pack may not.
func TestWhatAFolderMayNotHold(t *testing.T) {
	for what, add := range map[string]func(dir string) error{
		"is a pipe":   func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "x"), 0o600) },
		"is a socket": func(dir string) error { return listen(filepath.Join(dir, "x")) },
		"is setuid or setgid": func(dir string) error {
			return os.Chmod(filepath.Join(dir, "hooks", "one", "run.sh"), 0o755|os.ModeSetuid)
		},
		"more than 10000 files": func(dir string) error {
			for i := range MaxFiles { // hard links: 10,000 files would slow down the tests beside it
				if err := os.Link(filepath.Join(dir, "README.md"), filepath.Join(dir, fmt.Sprintf("f%d", i))); err != nil {
					return err
				}
			}
			return nil
		},
		"32 MiB": func(dir string) error { return os.Truncate(filepath.Join(dir, "README.md"), MaxBytes+1) },
		"the same name": func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "HOOKS"), 0o700),
				os.WriteFile(filepath.Join(dir, "HOOKS", "x"), nil, 0o600))
		},
		"no name that": func(dir string) error { return os.WriteFile(filepath.Join(dir, "\u202egnp.sh"), nil, 0o600) },
		"may have":     func(dir string) error { return os.WriteFile(filepath.Join(dir, "a\x1b[2J"), nil, 0o600) },
		"no hook in":   func(dir string) error { return os.RemoveAll(filepath.Join(dir, "hooks")) },
		"with --path": func(dir string) error {
			return os.Rename(filepath.Join(dir, "hooks"), filepath.Join(dir, "deep"))
		},
	} {
		dir := hooktest.ShortDir(t)
		for name, text := range hooks() {
			if what == "with --path" {
				name = strings.Replace(name, "hooks/", "hooks/more/", 1)
			}
			hooktest.Write(t, filepath.Join(dir, name), text, 0o644)
		}
		hooktest.Must(t, add(dir))
		_, err := Fetch(t.Context(), Source{Kind: FromFolder, Location: dir})
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func listen(path string) error {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return syscall.Bind(fd, &syscall.SockaddrUnix{Name: path})
}

// Whatever path passes stays below the pack, and is no repository's.
func FuzzPath(f *testing.F) {
	for _, path := range []string{"a/b", "../a", "/a", "a/../../b", ".git/x", "a/.GIT/x", "", ".", "..", "a\\b", "a//b"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if checkPath(path) != nil {
			return
		}
		if !filepath.IsLocal(path) || filepath.Join("/pack", path) != "/pack/"+path {
			t.Errorf("%q leaves the pack", path)
		}
		if strings.Contains("/"+strings.ToLower(path)+"/", "/.git/") {
			t.Errorf("%q is a repository's", path)
		}
	})
}

func TestParse(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]Source{
		"gallery/command-guard":                {Kind: FromGallery, Location: "command-guard"},
		dir:                                    {Kind: FromFolder, Location: dir},
		"https://example.org/team/hooks.git":   {Kind: FromGit, Location: "https://example.org/team/hooks.git"},
		"https://example.org/t/h.git@v1":       {Kind: FromGit, Location: "https://example.org/t/h.git", Revision: "v1"},
		"https://u@example.org/h@feature/x":    {Kind: FromGit, Location: "https://u@example.org/h", Revision: "feature/x"},
		"git@example.org:team/hooks.git":       {Kind: FromGit, Location: "git@example.org:team/hooks.git"},
		"git@example.org:team/hooks.git@v1":    {Kind: FromGit, Location: "git@example.org:team/hooks.git", Revision: "v1"},
		"ssh://git@example.org/hooks.git@main": {Kind: FromGit, Location: "ssh://git@example.org/hooks.git", Revision: "main"},
		"file:///srv/hooks@v1":                 {Kind: FromGit, Location: "file:///srv/hooks", Revision: "v1"},
	} {
		if got, err := Parse(text, "/home/u"); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"ext::sh -c true":           "names no program",
		"ext://x/y":                 "is not fetched from",
		"https://-oProxyCommand=x/": "is no URL",
		"-u:x/y":                    "does not begin with -",
		"./no-such":                 "is no folder",
		dir + "@v1":                 "a folder has no revisions",
		"gallery/../x":              "is no name",
		"https://":                  "is no URL",
	} {
		if s, err := Parse(text, "/home/u"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", text, s, err)
		}
	}
	for location, want := range map[string]string{
		"https://example.org/team/hooks.git": "hooks", "git@example.org:hooks": "hooks", "https://example.org/h/": "h",
		"file:///srv/.hookd": "hookd",
	} {
		if got := (Source{Kind: FromGit, Location: location}).Name(); got != want {
			t.Errorf("%s is called %q", location, got)
		}
	}
}

// place puts the content of a source in place.
func place(t *testing.T, h Home, name string, s Source) Locked {
	t.Helper()
	staged, err := h.Stage(name, fetch(t, s))
	hooktest.Must(t, err)
	hooktest.Must(t, staged.Put())
	lock, err := h.Lock()
	hooktest.Must(t, err)
	return lock.Packs[name]
}

// A pack is put in place as a whole, noted in the lock, replaced, and removed.
func TestPutAndRemove(t *testing.T) {
	dir, url := server(t)
	h := NewHome(t.TempDir())
	s := Source{Kind: FromGit, Location: url, Revision: "main", Track: true}
	l := place(t, h, "team", s)
	if l.Source() != s || l.Files["hooks/one/run.sh"].SHA256 == "" || !l.Files["hooks/one/run.sh"].Exec {
		t.Errorf("locked as %+v", l)
	}
	if got := l.HookFolders(); !slices.Equal(got, []string{"hooks/one", "hooks/three", "hooks/two"}) {
		t.Errorf("hooks in %v", got)
	}
	files := []string{"hooks/lib.sh", "hooks/one/HOOK.yaml", "hooks/one/run.sh"}
	if got := l.FilesOf()("hooks/one"); !slices.Equal(got, files) {
		t.Errorf("hook one is made of %v", got)
	}
	installed, err := h.Installed("team")
	if err != nil || l.Differs(installed) != "" {
		t.Errorf("in place is another %q: %v", l.Differs(installed), err)
	}
	hooktest.Git(t, dir, "rm", "-q", "hooks/three/run.sh")
	hooktest.GitCommit(t, dir, map[string]string{"hooks/one/run.sh": "#!/bin/sh\nexit 2\n"})
	next := place(t, h, "team", s)
	if installed, err = h.Installed("team"); err != nil || next.Differs(installed) != "" || l.Differs(installed) == "" {
		t.Errorf("after an update in place is %v: %v", paths(installed), err)
	}
	place(t, h, "gallery/command-guard", Source{Kind: FromGallery, Location: "command-guard"})
	hooktest.Must(t, h.Remove("team"))
	hooktest.Must(t, h.Remove("gallery/command-guard"))
	left, err := filepath.Glob(filepath.Join(h.PacksDir(), "[^.]*"))
	lock, lockErr := h.Lock()
	if err != nil || lockErr != nil || len(left) > 0 || len(lock.Packs) > 0 {
		t.Errorf("left are %v and %v: %v, %v", left, lock.Packs, err, lockErr)
	}
	staged, err := h.Stage("team", fetch(t, s))
	hooktest.Must(t, err)
	hooktest.Must(t, staged.Discard())
	hidden, err := filepath.Glob(filepath.Join(h.PacksDir(), ".new*"))
	if err != nil || len(hidden) > 0 {
		t.Errorf("what was discarded is still there: %v, %v", hidden, err)
	}
}

// A lock that no hookd has written is refused as a whole.
func TestBrokenLock(t *testing.T) {
	for _, text := range []string{
		"{", "[]", `{"version":2,"packs":{}}`, `{"version":1,"packs":{"../x":{"kind":"folder","url":"/"}}}`,
		`{"version":1,"packs":{"x":{"kind":"gallery","url":"x"}}}`,
		`{"version":1,"packs":{"x":{"kind":"other","url":"x"}}}`,
		`{"version":1,"packs":{"x":{"kind":"git","url":"https://h/x","commit":"main"}}}`,
		`{"version":1,"packs":{"x":{"kind":"git","url":"ext::x","commit":"` + strings.Repeat("a", 40) + `"}}}`,
		`{"version":1,"packs":{"x":{"kind":"folder","url":"/","files":{"../y":{}}}}}`,
		`{"version":1,"packs":{},"more":1}`,
	} {
		h := NewHome(t.TempDir())
		hooktest.Must(t, os.WriteFile(h.LockFile(), []byte(text), 0o600))
		if l, err := h.Lock(); err == nil || len(l.Packs) > 0 {
			t.Errorf("%s: %v, %v", text, l, err)
		}
	}
}

// --frozen: packs in place stay, and cached packs need no server. A pack that
// differs from the lock is an error and changes nothing.
func TestFrozen(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "team")
	commit := hooktest.GitCommit(t, dir, hooks())
	url, stop := hooktest.GitServer(t, root)
	s := Source{Kind: FromGit, Location: url + "/team/.git", Revision: commit}
	h, cache := NewHome(t.TempDir()), NewCache(filepath.Join(t.TempDir(), "cache"))
	place(t, h, "team", s)
	place(t, h, "gallery/command-guard", Source{Kind: FromGallery, Location: "command-guard"})
	hooktest.Must(t, cache.Put(fetch(t, s)))
	want := func(what string, h Home, cache Cache, from ...string) {
		t.Helper()
		list, err := h.Frozen(t.Context(), cache)
		var got []string
		for _, r := range list {
			got = append(got, r.From)
		}
		if err != nil || !slices.Equal(got, from) {
			t.Errorf("%s: from %v, %v, want %v", what, got, err, from)
		}
		lock, err := h.Lock()
		hooktest.Must(t, err)
		for name, l := range lock.Packs {
			if c, err := h.Installed(name); err != nil || l.Differs(c) != "" {
				t.Errorf("%s: %s is not as it is locked: %v", what, name, err)
			}
		}
	}
	other := func() Home {
		o := NewHome(t.TempDir())
		text, err := os.ReadFile(h.LockFile())
		hooktest.Must(t, err)
		hooktest.Must(t, os.WriteFile(o.LockFile(), text, 0o600))
		return o
	}
	want("nothing differs", h, Cache{}, "in place", "in place")
	want("a new home with the server", other(), Cache{}, "gallery/command-guard", s.String())
	stop()
	want("a new home without it", other(), cache, "gallery/command-guard", "cache")
	hooktest.Must(t, os.WriteFile(filepath.Join(h.Dir("team"), "hooks", "one", "run.sh"), []byte("#!/bin/sh\n"), 0o700))
	want("a file was edited", h, cache, "in place", "cache")
	if list, err := other().Frozen(t.Context(), Cache{}); err == nil {
		t.Errorf("neither server nor cache: %v", list)
	}
	if _, err := NewHome(t.TempDir()).Frozen(t.Context(), cache); err == nil {
		t.Error("a home without a lock is as it is locked")
	}

	folder := t.TempDir()
	hooktest.Write(t, filepath.Join(folder, "HOOK.yaml"), "name: x\nevents: x\ncommand: x\n", 0o644)
	place(t, h, "own", Source{Kind: FromFolder, Location: folder})
	hooktest.Write(t, filepath.Join(folder, "HOOK.yaml"), "name: y\nevents: x\ncommand: x\n", 0o644)
	want("the folder has changed, the pack not", h, cache, "in place", "in place", "in place")
	hooktest.Must(t, os.RemoveAll(h.Dir("own")))
	if _, err := h.Frozen(t.Context(), cache); err == nil || !strings.Contains(err.Error(), "HOOK.yaml from "+folder) {
		t.Errorf("a folder that is another: %v", err)
	}
}

func TestOutdated(t *testing.T) {
	dir, url := server(t)
	h := NewHome(t.TempDir())
	first := hooktest.Git(t, dir, "rev-parse", "HEAD")
	add := func(name, revision string, track bool) {
		place(t, h, name, Source{Kind: FromGit, Location: url, Revision: revision, Track: track})
	}
	add("tag", "v1.0.0", false)
	add("branch", "main", true)
	add("commit", first, false)
	folder := t.TempDir()
	hooktest.Write(t, filepath.Join(folder, "HOOK.yaml"), "name: x\nevents: x\ncommand: x\n", 0o644)
	place(t, h, "folder", Source{Kind: FromFolder, Location: folder})
	look := func(name string) Newer {
		t.Helper()
		lock, err := h.Lock()
		hooktest.Must(t, err)
		n, err := Outdated(t.Context(), name, lock.Packs[name])
		hooktest.Must(t, err)
		return n
	}
	for _, name := range []string{"tag", "branch", "commit", "folder"} {
		if n := look(name); n.Outdated || n.Moved {
			t.Errorf("just added, and %+v", n)
		}
	}
	second := hooktest.GitCommit(t, dir, map[string]string{"hooks/one/run.sh": "#!/bin/sh\nexit 2\n"})
	for _, tag := range []string{"v1.10.0", "v1.2.0", "v2.0.0-rc1", "nightly"} {
		hooktest.Git(t, dir, "tag", tag)
	}
	hooktest.Write(t, filepath.Join(folder, "more.sh"), "exit\n", 0o644)
	if n := look("tag"); !n.Outdated || n.Moved || n.Revision != "v1.10.0" {
		t.Errorf("a newer version: %+v", n)
	}
	if n := look("branch"); !n.Outdated || n.Revision != "" || !strings.Contains(n.Latest, second[:12]) {
		t.Errorf("a branch that has moved: %+v", n)
	}
	if n := look("commit"); !n.Outdated || n.Revision != second {
		t.Errorf("a commit that is not the newest: %+v", n)
	}
	if n := look("folder"); !n.Outdated || n.Latest != "more.sh differs" {
		t.Errorf("a folder with one more file: %+v", n)
	}
	hooktest.Git(t, dir, "tag", "-f", "v1.0.0", second)
	n := look("tag")
	if !n.Moved || n.Revision != second || !strings.Contains(n.Why, "was moved from commit "+first[:12]) {
		t.Errorf("a tag that was moved: %+v", n)
	}
}

// Every hook of the gallery can be added.
func TestGallery(t *testing.T) {
	for _, name := range gallery.Names() {
		f := fetch(t, Source{Kind: FromGallery, Location: name})
		if got := f.Content.HookFolders(); !slices.Equal(got, []string{"."}) || len(f.Notes) > 0 {
			t.Errorf("%s: hooks in %v, %v", name, got, f.Notes)
		}
	}
	if _, err := Fetch(t.Context(), Source{Kind: FromGallery, Location: "no-such"}); err == nil ||
		!strings.Contains(err.Error(), "there are "+strings.Join(gallery.Names(), ", ")) {
		t.Errorf("a hook that the gallery does not have: %v", err)
	}
}

// Two commands at once: the second one says so and changes nothing.
func TestLocked(t *testing.T) {
	h := NewHome(t.TempDir())
	err := h.locked(func() error { return h.Remove("x") })
	if err == nil || !strings.Contains(err.Error(), "another hookd command") {
		t.Errorf("two at once: %v", err)
	}
	if failed := errors.New("failed"); !errors.Is(h.locked(func() error { return failed }), failed) {
		t.Error("an error is lost")
	}
}

// Each hook is made of the files in its folder, and of those in no hook's folder.
func TestParts(t *testing.T) {
	all := func(paths ...string) (c Content) {
		for _, p := range paths {
			c = append(c, File{Path: p})
		}
		return c
	}
	many := all("README.md", "a/HOOK.yaml", "a/deep/er/x", "hooks/HOOK.yaml", "hooks/b/HOOK.yaml", "hooks/b/run", "hooks/lib")
	for _, c := range []struct {
		content Content
		folder  string
		want    []int
	}{
		{many, "a", []int{0, 1, 2}},
		{many, "hooks", []int{0, 3, 4, 5, 6}}, // a hook's folder within another's is part of both
		{many, "hooks/b", []int{0, 4, 5}},
		{many, "none", []int{0}},
		{all("HOOK.yaml", "lib/x"), ".", []int{0, 1}},
		{all("/HOOK.yaml", "/etc/x"), ".", []int{0, 1}}, // no such path is in checked content
	} {
		if got := c.content.Parts().Of(c.folder); !slices.Equal(got, c.want) {
			t.Errorf("%s is made of %v, want %v", c.folder, got, c.want)
		}
	}
}

// Names that some file system takes for one are refused, of files and of folders; others
// are not.
func TestNamesThatAreTheSameSomewhere(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"a/run.sh", "a/RUN.sh", true},
		{"a/run.sh", "A/other.sh", true},
		{"a/\u00e9.sh", "a/e\u0301.sh", true},        // é, composed and not
		{"\u00e9/a.sh", "e\u0301/b.sh", true},        // the folder
		{"a/\u00c9.sh", "a/e\u0301.sh", true},        // and in another letter case
		{"a/\u212b", "a/\u00e5", true},               // the sign of the angstrom, and a letter
		{"a/\u212a", "a/k", true},                    // the sign of the kelvin, and a letter
		{"a/\uac00", "a/\u1100\u1161", true},         // Hangul
		{"a/stra\u00dfe", "a/STRASSE", true},         // one letter that is two
		{"a/\u03c3", "a/\u03c2", true},               // two forms of a letter
		{"a/o\u0323\u0302", "a/o\u0302\u0323", true}, // marks in another order
		{"a/e", "a/\u00e9", false},
		{"a/run.sh", "a/run.sh.bak", false},
		{"a/x/run.sh", "a/y/run.sh", false},
		{"\u00e9/a.sh", "\u00e9/b.sh", false},
	} {
		_, _, err := Content{{Path: c.a}, {Path: c.b}}.Check()
		if (err != nil) != c.same || err != nil && !strings.Contains(err.Error(), "same name") {
			t.Errorf("%q and %q: %v", c.a, c.b, err)
		}
	}
}
