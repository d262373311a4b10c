package gallery

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the binary holds is what stands in the folders, with the same modes.
func TestCopy(t *testing.T) {
	names := Names()
	if len(names) < 13 {
		t.Fatalf("only %d hooks: %v", len(names), names)
	}
	for _, name := range names {
		dir := filepath.Join(t.TempDir(), name)
		if err := Copy(name, dir); err != nil {
			t.Fatal(err)
		}
		files := 0
		err := filepath.WalkDir(name, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			files++
			same(t, file, filepath.Join(dir, strings.TrimPrefix(file, name)))
			return nil
		})
		if err != nil || files < 2 {
			t.Fatalf("%s has %d files, %v", name, files, err)
		}
		if err := Copy(name, dir); !errors.Is(err, fs.ErrExist) {
			t.Errorf("copying %s over another: %v", name, err)
		}
	}
}

func same(t *testing.T, a, b string) {
	t.Helper()
	was, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	is, err := os.ReadFile(b)
	if err != nil || !bytes.Equal(was, is) {
		t.Errorf("%s is not %s: %v", b, a, err)
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX != nil || errY != nil || x.Mode()&0o111 != y.Mode()&0o111 {
		t.Errorf("%s has mode %v, %s has %v", b, y.Mode(), a, x.Mode())
	}
}

func TestFilesOfNoHook(t *testing.T) {
	for _, name := range []string{"no-such", "", ".", "..", "../gallery", "gallery.go", "command-guard/guard.py", "/etc"} {
		if _, err := Files(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
