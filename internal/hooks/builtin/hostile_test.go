package builtin

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// hostile makes a repository that names a program wherever git would start one,
// in dir. Each program writes its name into the folder that is returned.
func hostile(t *testing.T, dir string) (ran string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIP-TOOL git: ", err)
	}
	ran = t.TempDir()
	program := func(name string) string {
		path := filepath.Join(ran, "programs", name)
		hooktest.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		hooktest.Must(t, os.WriteFile(path, []byte("#!/bin/sh\necho ran >>"+ran+"/ran."+name+"\ncat\n"), 0o755))
		return path
	}
	plainGit(t, dir, "init", "-q", "-b", "main")
	for _, name := range []string{"a.txt", "b.txt", "c=d.txt"} {
		hooktest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte("one\n"), 0o644))
	}
	plainGit(t, dir, "add", ".")
	plainGit(t, dir, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first")
	signed := strings.Replace(plainGit(t, dir, "cat-file", "commit", "HEAD"), "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n", 1)
	hooktest.Must(t, os.WriteFile(filepath.Join(ran, "commit"), []byte(signed), 0o644))
	plainGit(t, dir, "update-ref", "HEAD", strings.TrimSpace(plainGit(t, dir, "hash-object", "-t", "commit", "-w", filepath.Join(ran, "commit"))))

	sub := filepath.Join(dir, "sub") // a submodule with a monitor of its own
	hooktest.Must(t, os.Mkdir(sub, 0o755))
	plainGit(t, sub, "init", "-q", "-b", "main")
	plainGit(t, sub, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "sub")
	plainGit(t, sub, "config", "core.fsmonitor", program("sub-fsmonitor"))
	plainGit(t, sub, "config", "filter.subfilter.clean", program("sub-clean"))
	hooktest.Must(t, os.WriteFile(filepath.Join(dir, ".gitmodules"), []byte("[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n"), 0o644))
	plainGit(t, dir, "add", "sub", ".gitmodules")

	for key, value := range map[string]string{
		"core.fsmonitor": program("fsmonitor"), "core.pager": program("pager"), "pager.log": program("pager-log"), "core.editor": program("editor"),
		"core.sshCommand": program("ssh"), "core.askPass": program("askpass"), "core.gitProxy": program("proxy"), "credential.helper": program("credential"),
		"core.alternateRefsCommand": program("alternate"), "core.hooksPath": filepath.Join(ran, "programs"),
		"diff.external": program("diff-external"), "diff.own.command": program("diff-command"), "diff.own.textconv": program("textconv"),
		"filter.own.clean": program("clean"), "filter.own.smudge": program("smudge"), "filter.two.process": program("process"),
		"filter.x=y z.clean": program("odd-clean"), "filter.a.b.clean": program("dotted-clean"), "merge.own.driver": program("merge"),
		"gpg.program": program("gpg"), "log.showSignature": "true", "status.submoduleSummary": "true", "diff.submodule": "diff",
		"submodule.recurse": "true", "submodule.sub.ignore": "none", "diff.ignoreSubmodules": "none", "protocol.ext.allow": "always",
		"remote.origin.url": "ext::" + program("remote"), "remote.origin.promisor": "true", "extensions.partialClone": "origin",
		"core.repositoryFormatVersion": "1", "core.worktree": ran,
	} {
		plainGit(t, dir, "config", key, value)
	}
	for _, hook := range []string{"post-index-change", "pre-auto-gc", "reference-transaction"} {
		program(hook)
	}
	hooktest.Must(t, os.WriteFile(filepath.Join(ran, "included"), []byte("[filter \"included\"]\n\tclean = "+program("included-clean")+"\n"), 0o644))
	plainGit(t, dir, "config", "include.path", filepath.Join(ran, "included"))
	attributes := "a.txt filter=own diff=own\nb.txt filter=two\n* filter=included\nc=d.txt filter=a.b\n"
	hooktest.Must(t, os.WriteFile(filepath.Join(dir, ".gitattributes"), []byte(attributes), 0o644))
	hooktest.Must(t, os.WriteFile(filepath.Join(dir, ".git", "info", "attributes"), []byte("b.txt diff=own\n.gitattributes filter=\"x=y z\"\n"), 0o644))
	for _, name := range []string{"a.txt", "b.txt", "c=d.txt"} {
		// Of another size: git that believes the monitor may take a change of the same
		// second and size for none.
		hooktest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte("two words\n"), 0o644))
	}
	return ran
}

// plainGit is git without any care.
func plainGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return string(out)
}

func started(t *testing.T, ran string) (names []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(ran, "ran.*"))
	hooktest.Must(t, err)
	for _, path := range found {
		names = append(names, filepath.Base(path))
		hooktest.Must(t, os.Remove(path))
	}
	return names
}

// askAll runs each built-in that looks at a repository.
func askAll(t *testing.T, dir string, environ []string) map[string]string {
	t.Helper()
	said := map[string]string{}
	for _, ask := range []struct {
		name string
		args []string
	}{{"add_git_status", nil}, {"add_git_diff", nil}, {"add_git_diff", []string{"full"}}, {"add_recent_commits", nil}} {
		b, _ := Lookup(ask.name)
		call := &Invocation{Event: b.Events[0], Payload: []byte("{}"), Args: ask.args, Cwd: dir, Environ: environ, Env: os.Getenv, DataDir: t.TempDir()}
		out, err := b.Run(t.Context(), call)
		hooktest.Must(t, err)
		said[fmt.Sprint(ask.name, ask.args)] = string(out)
	}
	return said
}

// A repository's own settings name many programs: none is started, and the
// answer is still right.
func TestAHostileRepositoryRunsNothing(t *testing.T) {
	dir := t.TempDir()
	ran := hostile(t, dir)
	cmd := exec.Command("git", "-c", "core.worktree="+dir, "status")
	cmd.Dir = dir
	_ = cmd.Run() // whatever it says: it starts something
	if len(started(t, ran)) == 0 {
		t.Fatal("the repository is harmless to git itself: this test shows nothing")
	}
	environ := append(os.Environ(), "GIT_DIR="+ran, "GIT_EXTERNAL_DIFF="+ran+"/programs/diff-external", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0="+ran+"/programs/fsmonitor", "PAGER="+ran+"/programs/pager")
	said := askAll(t, dir, environ)
	if names := started(t, ran); len(names) > 0 {
		t.Errorf("started %q", names)
	}
	for name, part := range map[string]string{
		"add_git_status[]": " M a.txt", "add_git_diff[]": "a.txt", "add_git_diff[full]": "-one\\n+two", "add_recent_commits[]": "first",
	} {
		if !strings.Contains(said[name], part) {
			t.Errorf("%s says %s, want %q in it", name, said[name], part)
		}
	}
}

// A bare repository, as a folder of any repository may hold one, is none.
func TestABareRepositoryIsNone(t *testing.T) {
	for _, around := range []bool{false, true} {
		dir := t.TempDir()
		if around {
			plainGit(t, dir, "init", "-q")
		}
		bare, ran := filepath.Join(dir, "docs"), filepath.Join(dir, "ran.fsmonitor")
		plainGit(t, dir, "init", "-q", "--bare", bare)
		plainGit(t, bare, "config", "core.bare", "false")
		plainGit(t, bare, "config", "core.worktree", bare)
		plainGit(t, bare, "config", "core.fsmonitor", "echo ran >>"+ran+"; false")
		for name, text := range askAll(t, bare, nil) {
			if text != "" {
				t.Errorf("%s says %s", name, text)
			}
		}
		if names := started(t, dir); len(names) > 0 {
			t.Errorf("started %q", names)
		}
	}
}

// An endless command is ended, and the built-in does not wait for a command that hangs on a pipe.
func TestARepositoryWithAPipeForASetting(t *testing.T) {
	dir := t.TempDir()
	plainGit(t, dir, "init", "-q")
	plainGit(t, dir, "config", "core.attributesFile", filepath.Join(dir, "pipe"))
	hooktest.Must(t, exec.Command("mkfifo", filepath.Join(dir, "pipe")).Run())
	if said := askAll(t, dir, nil)["add_git_status[]"]; !strings.Contains(said, "pipe") && !strings.Contains(said, "main") && !strings.Contains(said, "master") {
		t.Errorf("status says %s", said)
	}
}

// add_prompt_files gives the model nothing that another user wrote, nothing
// behind a link that leaves the repository, and nothing from above it.
func TestPromptFilesOfOthers(t *testing.T) {
	base := t.TempDir()
	repo, home := filepath.Join(base, "repo"), filepath.Join(base, "home")
	work := filepath.Join(repo, "a", "b")
	hooktest.Must(t, os.MkdirAll(work, 0o755))
	hooktest.Must(t, os.MkdirAll(filepath.Join(home, "dots"), 0o755))
	hooktest.Must(t, os.Mkdir(filepath.Join(repo, ".git"), 0o755))
	hooktest.Must(t, os.WriteFile(filepath.Join(repo, ".git", "HEAD"), nil, 0o644))
	write := func(path, text string) { hooktest.Must(t, os.WriteFile(path, []byte(text), 0o644)) }
	link := func(target, path string) { hooktest.Must(t, os.Symlink(target, path)) }
	write(filepath.Join(base, "ABOVE.md"), "secret above")
	write(filepath.Join(base, "outside"), "secret outside")
	write(filepath.Join(repo, "TOP.md"), "good top")
	write(filepath.Join(home, "dots", "HOME.md"), "good home")
	link("dots/HOME.md", filepath.Join(home, "HOME.md"))
	link("../../../outside", filepath.Join(work, "OUT.md"))
	link(filepath.Join(base, "outside"), filepath.Join(work, "ABSOLUTE.md"))
	link("../../..", filepath.Join(work, "dir"))
	link("../../TOP.md", filepath.Join(work, "IN.md"))
	hooktest.Must(t, exec.Command("mkfifo", filepath.Join(work, "PIPE.md")).Run())
	names := []string{"TOP.md", "IN.md", "HOME.md", "ABOVE.md", "OUT.md", "ABSOLUTE.md", "dir/outside", "../../../outside", "PIPE.md"}
	if os.Getuid() == 0 {
		write(filepath.Join(work, "OTHERS.md"), "secret of another user")
		hooktest.Must(t, os.Chown(filepath.Join(work, "OTHERS.md"), 65534, 65534))
		names = append(names, "OTHERS.md", filepath.Join(work, "OTHERS.md"))
	}
	b, _ := Lookup("add_prompt_files")
	out, err := b.Run(t.Context(), &Invocation{Event: "turn_start", Payload: []byte("{}"), Args: names, Cwd: work,
		Env: func(name string) string { return map[string]string{"HOME": home}[name] }})
	hooktest.Must(t, err)
	for _, want := range []string{"good top", "good home"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is missing in %s", want, out)
		}
	}
	if strings.Count(string(out), "good top") != 2 || strings.Contains(string(out), "secret") {
		t.Errorf("got %s", out)
	}
}
