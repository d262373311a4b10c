package trust

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// digest is the Digest of files that have just been sealed.
func digest(sum string, files ...string) string {
	return New().Seal(Files{Run: files, Definition: sum, Digested: files}).Digest()
}

// Everything a digest is made of changes it, and nothing else does.
func TestDigestChanges(t *testing.T) {
	dir := t.TempDir()
	file, link, other := filepath.Join(dir, "run.sh"), filepath.Join(dir, "link"), filepath.Join(dir, "other.sh")
	at := time.Unix(1_700_000_000, 1)
	for _, name := range []string{file, other} {
		hooktest.Must(t, os.WriteFile(name, []byte("#!/bin/sh\n"), 0o700))
		hooktest.Must(t, os.Chtimes(name, at, at))
	}
	hooktest.Must(t, os.Symlink(file, link))
	now := func() string { return digest(Sum([]byte("name: a\n")), link) }

	base := now()
	if len(base) != 64 {
		t.Fatalf("digest has %d digits, want 64", len(base))
	}
	hooktest.Must(t, os.WriteFile(filepath.Join(dir, "log"), []byte("x"), 0o600))
	if got := now(); got != base {
		t.Error("a file beside the command changed the digest")
	}
	if digest(Sum([]byte("name: b\n")), link) == base {
		t.Error("another definition has the same digest")
	}
	if digest(Sum([]byte("name: a\n")), file) == base {
		t.Error("another path has the same digest")
	}
	last := base
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"mode", func() error { return os.Chmod(file, 0o600) }},
		{"mtime", func() error { return os.Chtimes(file, at, at.Add(time.Nanosecond)) }},
		{"size", func() error { return os.Truncate(file, 3) }},
		{"target", func() error {
			hooktest.Must(t, os.Remove(link))
			return os.Symlink(other, link)
		}},
		{"missing", func() error { return os.Remove(other) }},
	} {
		hooktest.Must(t, step.do())
		got := now()
		if got == last {
			t.Errorf("%s: the digest did not change", step.name)
		}
		if again := now(); again != got {
			t.Errorf("%s: two digests of the same files differ", step.name)
		}
		last = got
	}
}

// The parts are kept apart: moving bytes from one to the next is a change.
func TestDigestParts(t *testing.T) {
	a := digest("x\nfile \"/no\" missing")
	b := digest("x", "/no")
	if a == b {
		t.Error("a definition can imitate a file")
	}
}

// A digest is made of this text, which does not change: an upgrade would change each hook.
func TestDigestsStay(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	hooktest.Must(t, os.WriteFile(path("a \"b\"\n"), []byte("text"), 0o640))
	hooktest.Must(t, os.WriteFile(path("setuid"), nil, 0o700))
	hooktest.Must(t, os.Chmod(path("setuid"), 0o700|os.ModeSetuid|os.ModeSetgid))
	hooktest.Must(t, os.Mkdir(path("folder"), 0o700))
	hooktest.Must(t, os.Chmod(path("folder"), 0o777|os.ModeSticky))
	hooktest.Must(t, syscall.Mkfifo(path("pipe"), 0o600))
	for link, to := range map[string]string{"one": "setuid", "two": "one", "nowhere": "missing", "circle": "circle", "to-folder": "folder"} {
		hooktest.Must(t, os.Symlink(to, path(link)))
	}
	files := []string{"/dev/null", "/", path("missing")}
	entries, err := os.ReadDir(dir)
	hooktest.Must(t, err)
	for _, e := range entries {
		files = append(files, path(e.Name()))
	}
	for _, name := range files {
		text := fmt.Sprintf("definition %q\n", "sum")
		target, err := filepath.EvalSymlinks(name)
		switch info, err2 := os.Stat(name); {
		case err != nil || err2 != nil:
			text += fmt.Sprintf("file %q missing\n", name)
		default:
			if itself, err := os.Lstat(name); err != nil || itself.Mode()&os.ModeSymlink == 0 {
				target = ""
			}
			text += fmt.Sprintf("file %q %q %d %d %d %v\n",
				name, target, info.Sys().(*syscall.Stat_t).Ino, info.Size(), info.ModTime().UnixNano(), info.Mode())
		}
		if got := digest("sum", name); got != Sum([]byte(text)) {
			t.Errorf("%s: its digest is not that of %q", name, text)
		}
	}
}
