package undo

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/wire"
)

// Each source of old bytes is found, and the command that it types brings them.
func TestFind(t *testing.T) {
	const mark = "the old bytes\n"
	for name, tt := range map[string]struct {
		before string // runs in a folder of the home, whose file is "a b"
		where  string
		typed  bool // Type is a command that writes "a b.found"
		repo   bool
	}{
		"the index":            {before: "git add 'a b'; rm 'a b'", where: "the index of git", typed: true, repo: true},
		"a commit":             {before: "git add 'a b'; git commit -qm x; git rm -q 'a b'; git commit -qm y", where: "a commit", typed: true, repo: true},
		"a stash":              {before: "mv 'a b' x; echo n > 'a b'; git add 'a b'; git commit -qm x; mv x 'a b'; git stash -q; git rm -q 'a b'", where: "a stash", typed: true, repo: true},
		"a dropped stash":      {before: "echo 1 > c; git add c; git commit -qm x; git add 'a b'; git stash -q; git stash drop -q", where: "a commit that no branch names", typed: true, repo: true},
		"a deleted branch":     {before: "echo 1 > c; git add c; git commit -qm x; git checkout -qb side; git add 'a b'; git commit -qm y; git checkout -q -; git branch -qD side", where: "a commit that no branch names", typed: true, repo: true},
		"the trash":            {before: "mkdir -p ~/.local/share/Trash/files; mv 'a b' ~/.local/share/Trash/files", where: "the trash"},
		"the trash of macOS":   {before: "mkdir ~/.Trash; mv 'a b' ~/.Trash", where: "the trash"},
		"a backup beside it":   {before: "mv 'a b' 'a b~'", where: "a file beside it"},
		"an old version":       {before: "mv 'a b' 'a b.before-123456'", where: "a file beside it"},
		"the copies of Gemini": {before: "mkdir -p ~/.gemini/history/x; mv 'a b' ~/.gemini/history/x", where: "a copy of Gemini CLI"},
		"a snapshot":           {before: "mkdir -p ../.snapshots/1/snapshot/p; mv 'a b' ../.snapshots/1/snapshot/p", where: "a snapshot of snapper"},
		"the history of VS Code": {before: `mkdir -p ~/.config/Code/User/History/1; mv 'a b' ~/.config/Code/User/History/1/x; echo "{\"resource\":\"$PWD/a b\"}" > ~/.config/Code/User/History/1/entries.json`,
			where: "the history of VS Code"},
		"a transcript of Kimi Code": {before: `mkdir -p ~/.kimi-code/sessions/s; rm 'a b'
			echo "{\"file_path\":\"$PWD/a b\"}" > ~/.kimi-code/sessions/s/wire.jsonl`, where: "a transcript names it"},
		"a transcript": {before: `mkdir -p ~/.claude/projects/p; mkfifo ~/.claude/projects/p/a.jsonl; rm 'a b'
			{ head -c 300000 /dev/zero | tr '\0' x; echo "{\"file_path\":\"$PWD/a b\"}"; } > ~/.claude/projects/p/b.jsonl`, where: "a transcript names it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			work := filepath.Join(home, "p")
			hooktest.Write(t, filepath.Join(work, "a b"), mark, 0o644)
			before := "export HOME=" + home + "; "
			if tt.repo {
				before += "git init -q; git config user.email a@b.c; git config user.name n; "
			}
			sh(t, work, before+tt.before)
			at := -1
			found := Find(filepath.Join(work, "a b"), "", foldersOf(home, nil), jsonLines(t, home))
			for i, f := range found {
				if at < 0 && strings.HasPrefix(f.Where, tt.where) {
					at = i
				}
			}
			if at < 0 {
				t.Fatalf("found %+v", found)
			}
			switch f := found[at]; {
			case tt.typed:
				last := found[len(found)-1] // the newest commit may be the one without the file
				for _, one := range found {
					if strings.HasPrefix(one.Where, tt.where) {
						last = one
					}
				}
				sh(t, work, last.Type)
				text, err := os.ReadFile(filepath.Join(work, "a b.found"))
				if string(text) != mark || !f.Whole {
					t.Errorf("%s gives %q, %v", last.Type, text, err)
				}
			case f.Whole != (tt.where != "a transcript names it"):
				t.Errorf("found %+v", f)
			}
		})
	}
}

// foldersOf are the folders of a home, with variables of an environment.
func foldersOf(home string, env map[string]string) Folders {
	return Folders{Home: home, Env: func(name string) string { return env[name] }, Copies: []Copies{
		{"a copy of Gemini CLI", cmp.Or(env["GEM"], home+"/.gemini"), "history/*/{name}"},
		{"a copy of Claude Code", cmp.Or(env["OWN"], home+"/.claude"), "file-history/*/{sum}@v*"},
	}}
}

// Copies are found where variables put them, and by the name of the file, whatever letters that has.
func TestFindCopies(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"a b", "a[1]*.md", "a?", `a\[b`} {
		path := filepath.Join(home, "work", name)
		sum := sha256.Sum256([]byte(path))
		for where, copied := range map[string]string{
			"a copy of Claude Code": "own/file-history/s/" + hex.EncodeToString(sum[:])[:16] + "@v2",
			"a copy of Gemini CLI":  "gem/history/p/" + name, "the history of VS Code": "config/Code/User/History/1/entries.json",
			"the undo of vim": "state/nvim/swap/" + strings.ReplaceAll(path, "/", "%") + ".swp",
		} {
			text, err := json.Marshal(path)
			hooktest.Must(t, err)
			hooktest.Write(t, filepath.Join(home, copied), string(text), 0o644)
			env := map[string]string{"OWN": home + "/own", "GEM": home + "/gem", "XDG_CONFIG_HOME": home + "/config",
				"XDG_STATE_HOME": home + "/state"}
			found := Find(path, "", foldersOf(home, env), nil)
			if !slices.ContainsFunc(found, func(f wire.UndoFound) bool { return f.Where == where }) {
				t.Errorf("%s: no %s in %+v", name, where, found)
			}
			hooktest.Must(t, os.Remove(filepath.Join(home, copied)))
		}
	}
}

// jsonLines lists the files below a folder that end in .jsonl, as a list of transcripts.
func jsonLines(t *testing.T, folder string) (files []string) {
	t.Helper()
	hooktest.Must(t, filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".jsonl" {
			files = append(files, path)
		}
		return err
	}))
	return files
}

func TestFindInTheVaultAndInProcesses(t *testing.T) {
	v := newVaultTest(t)
	v.write("a b", "old")
	reader := exec.Command("sleep", "1000")
	f, err := os.Open(filepath.Join(v.work, "a b"))
	hooktest.Must(t, err)
	defer f.Close()
	reader.Stdin = f
	hooktest.Must(t, reader.Start())
	defer func() {
		_ = reader.Process.Signal(syscall.SIGKILL)
		_ = reader.Wait()
	}()
	c := v.ran("s", "echo new > 'a b'; rm 'a b'")
	found := Find(filepath.Join(v.work, "a b"), v.k.vaults.home, foldersOf(t.TempDir(), nil), nil)
	want := map[string]string{"kept for a call": "hookd undo " + c + " --path '" + filepath.Join(v.work, "a b") + "'",
		"a process has it open: copy it now": ""}
	for _, f := range found {
		if typed, is := want[f.Where]; is && strings.HasPrefix(f.Type, typed) {
			delete(want, f.Where)
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v; found %+v", want, found)
	}
	var copied wire.UndoFound
	for _, f := range found {
		if strings.HasPrefix(f.Type, "cp ") {
			copied = f
		}
	}
	sh(t, v.work, copied.Type)
	v.want("a b.found", "new\n")
}
