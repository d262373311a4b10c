package gallery

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// A copy has the files of the hook's folder and the shared files, with the same modes,
// and nothing else.
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
		want := under(t, name)
		for _, file := range shared[name] {
			same(t, file, filepath.Join(dir, file))
			want = append(want, file)
		}
		for _, file := range under(t, name) {
			same(t, filepath.Join(name, file), filepath.Join(dir, file))
		}
		slices.Sort(want)
		if got := under(t, dir); !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", name, got, want)
		}
		if err := Copy(name, dir); !errors.Is(err, fs.ErrExist) {
			t.Errorf("copying %s over another: %v", name, err)
		}
	}
}

// under lists the files in a folder and below it, sorted.
func under(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, strings.TrimPrefix(file, dir+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
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

// A hook's folder is a file system as any other.
func TestFiles(t *testing.T) {
	for _, name := range Names() {
		folder, err := Files(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := fstest.TestFS(folder, append([]string{"HOOK.yaml"}, shared[name]...)...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The files beside the folders that a hook imports are the files that it shares.
func TestShared(t *testing.T) {
	beside, err := filepath.Glob("*.py")
	if err != nil || len(beside) == 0 {
		t.Fatalf("shared: %v, %v", beside, err)
	}
	for _, name := range Names() {
		folder, err := Files(name)
		if err != nil {
			t.Fatal(err)
		}
		programs, err := fs.Glob(folder, "*.py")
		if err != nil {
			t.Fatal(err)
		}
		imported := map[string]bool{}
		for _, file := range programs {
			text, err := fs.ReadFile(folder, file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^(?:import|from) (\w+)`).FindAllSubmatch(text, -1) {
				imported[string(m[1])+".py"] = true
			}
		}
		for _, file := range beside {
			if got := slices.Contains(shared[name], file); got != imported[file] {
				t.Errorf("%s: %s is shared: %v, imported: %v", name, file, got, imported[file])
			}
		}
	}
}

func TestFilesOfNoHook(t *testing.T) {
	for _, name := range []string{"no-such", "", ".", "..", "../gallery", "gallery.go", "asks.py", "ask-slack/ask.py", "/etc"} {
		if _, err := Files(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
