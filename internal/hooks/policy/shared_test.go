package policy

import (
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/replacefile"
)

// Each bundle that root puts in force is whole for the system daemon, another user, as soon
// as policy.json names it: also the second, which fills folders that were made before.
func TestBundlesOfASharedFolderAreReadableAtOnce(t *testing.T) {
	root := t.TempDir()
	was := syscall.Umask(0o077)
	t.Cleanup(func() { syscall.Umask(was) })
	t.Cleanup(replacefile.Share(root))
	s, h := newSigner(t), NewHome(filepath.Join(root, "hookd", "policy"))
	source := filepath.Join(t.TempDir(), "bundle")
	for sequence := uint64(1); sequence < 4; sequence++ {
		hooktest.Write(t, source, string(s.bundle(t, sequence, nil)), 0o600)
		_, err := h.Set(t.Context(), source, s.public, "root", "", anything)
		hooktest.Must(t, err)
		hooktest.Must(t, filepath.WalkDir(filepath.Join(root, "hookd"), func(path string, d fs.DirEntry, err error) error {
			hooktest.Must(t, err)
			info, err := d.Info()
			hooktest.Must(t, err)
			want := replacefile.FileMode(path, info.Mode()&0o100 != 0)
			if d.Name() != ".lock" && (info.Mode().Perm() != want || want&0o004 == 0) {
				t.Errorf("sequence %d: %s has mode %04o, want %04o", sequence, path, info.Mode().Perm(), want)
			}
			return nil
		}))
		hooktest.Must(t, h.Sweep())
	}
}
