package replacefile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "a.json"), filepath.Join(dir, "other")
	hooktest.Must(t, os.WriteFile(other, []byte("mine"), 0o644))
	hooktest.Must(t, os.Symlink(other, path))
	for _, text := range []string{"first", "", "a longer text"} {
		hooktest.Must(t, Write(path, []byte(text)))
		got, err := os.ReadFile(path)
		info, statErr := os.Lstat(path)
		if err != nil || statErr != nil || string(got) != text || info.Mode() != 0o600 {
			t.Errorf("got %q with mode %v, want %q with 0600: %v, %v", got, info.Mode(), text, err, statErr)
		}
	}
	if got, err := os.ReadFile(other); err != nil || string(got) != "mine" {
		t.Errorf("what the link led to is %q, %v", got, err)
	}
	only(t, dir, 2)
}

// Of texts that are written at the same time one is there, whole.
func TestWriteAtOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	var writers sync.WaitGroup
	for i := range byte(8) {
		writers.Go(func() {
			if err := Write(path, bytes.Repeat([]byte{'a' + i}, 100_000)); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	got, err := os.ReadFile(path)
	if err != nil || len(got) != 100_000 || !bytes.Equal(got, bytes.Repeat(got[:1], len(got))) {
		t.Errorf("got %d bytes that begin with %.10q, %v", len(got), got, err)
	}
	only(t, dir, 1)
}

// A folder stands where the file should be: the folder stays, and nothing is left over.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	hooktest.Must(t, os.MkdirAll(filepath.Join(taken, "full"), 0o700))
	if err := Write(taken, []byte("x")); err == nil {
		t.Error("a folder was replaced")
	}
	if err := Write(filepath.Join(dir, "no-such", "a"), []byte("x")); !os.IsNotExist(err) {
		t.Errorf("got %v for a folder that does not exist", err)
	}
	only(t, dir, 1)
}

func only(t *testing.T, dir string, want int) {
	t.Helper()
	if list, err := os.ReadDir(dir); err != nil || len(list) != want {
		t.Errorf("the folder has %v, %v", list, err)
	}
}

// A file written below a shared folder is for every user to read, whatever the umask, and
// a file beside that folder stays private.
func TestShare(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "etc")
	was := syscall.Umask(0o077)
	t.Cleanup(func() { syscall.Umask(was) })
	stop := Share(folder)
	for path, want := range map[string]os.FileMode{folder: 0o755, folder + "/a/b": 0o755, folder + "2": 0o700} {
		hooktest.Must(t, MkdirAll(path))
		made, err := MkdirTemp(path, ".new-*")
		hooktest.Must(t, err)
		file := filepath.Join(path, "f")
		hooktest.Must(t, Write(file, []byte("text")))
		for at, want := range map[string]os.FileMode{path: want, made: want, file: want &^ 0o111} {
			if info, err := os.Stat(at); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v, want %04o", at, info.Mode(), err, want)
			}
		}
	}
	stop()
	if got := FileMode(folder+"/f", false); got != 0o600 {
		t.Errorf("after its end: %04o", got)
	}
}

// A file system that syncs no folders is no error; a folder that is not there is one.
func TestSyncDir(t *testing.T) {
	if err := SyncDir(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if err := SyncDir(t.TempDir()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat("/proc/self"); err == nil {
		if err := SyncDir("/proc/self"); err != nil {
			t.Errorf("a file system that cannot: %v", err)
		}
	}
}
