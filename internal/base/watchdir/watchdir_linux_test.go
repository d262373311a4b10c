package watchdir

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// Each way in which a file or its folder can change is told.
func TestChangesAreTold(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"written":      func(dir string) error { return os.WriteFile(dir+"/in/a", []byte("x"), 0o600) },
		"replaced":     func(dir string) error { return os.Rename(dir+"/in/b", dir+"/in/a") },
		"moved away":   func(dir string) error { return os.Rename(dir+"/in/a", dir+"/a") },
		"removed":      func(dir string) error { return os.Remove(dir + "/in/a") },
		"its mode":     func(dir string) error { return os.Chmod(dir+"/in/a", 0o700) },
		"made":         func(dir string) error { return os.WriteFile(dir+"/in/new", nil, 0o600) },
		"folder moved": func(dir string) error { return os.Rename(dir+"/in", dir+"/out") },
		"all of it":    func(dir string) error { return os.RemoveAll(dir + "/in") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			hooktest.Write(t, dir+"/in/a", "", 0o600)
			hooktest.Write(t, dir+"/in/b", "", 0o600)
			w, err := New()
			hooktest.Must(t, err)
			defer w.Close()
			names := Names{}
			names.Add(dir, "in")
			names.Add(filepath.Join(dir, "in"), "a")
			names.Add(filepath.Join(dir, "in"), "new")
			names.Add(filepath.Join(dir, "gone"), "")
			hooktest.Must(t, w.Watch(names))
			hooktest.Must(t, change(dir))
			<-w.Changed()
		})
	}
}

// Other names, and a folder's own mode, are not reported.
func TestOthersDoNotMatter(t *testing.T) {
	w := &Watcher{names: map[int]map[string]bool{1: {"a": true}, 2: nil}}
	for _, tt := range []struct {
		number int
		what   uint32
		name   string
		want   bool
	}{
		{1, unix.IN_CREATE, "a", true}, {1, unix.IN_CREATE, "b", false}, {1, unix.IN_ATTRIB, "", false},
		{1, unix.IN_MOVE_SELF, "", true}, {2, unix.IN_CREATE, "b", true}, {3, unix.IN_CREATE, "a", false},
		{-1, unix.IN_Q_OVERFLOW, "", true},
	} {
		if got := w.matters(tt.number, tt.what, tt.name); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}
