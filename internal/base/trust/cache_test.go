package trust

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// One look at many hooks looks at their shared files once, and at the own files of each
// hook each time; the seals that it makes look at everything again.
func TestOnce(t *testing.T) {
	root := t.TempDir()
	home := filepath.Join(root, "hook")
	hooktest.Must(t, os.Mkdir(home, 0o700))
	own, shared := filepath.Join(home, "run.sh"), filepath.Join(root, "lib.sh")
	for _, path := range []string{own, shared} {
		hooktest.Must(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700))
	}
	files := Files{Folder: home, Run: []string{own, shared}, Own: []string{own, shared}}
	once := New().Cached()
	first := once.Seal(files)
	for _, path := range []string{own, shared} {
		hooktest.Must(t, os.Chmod(path, 0o777))
	}
	if got := first.Check(); got == nil {
		t.Error("a seal does not notice what changed since the look that made it")
	}
	var refused []string
	for _, r := range once.Seal(files).Refusals() {
		refused = append(refused, r.Path)
	}
	if len(refused) != 1 || refused[0] != own {
		t.Errorf("the same look refuses %q, want its own file %s alone", refused, own)
	}
	if got := len(New().Cached().Seal(files).Refusals()); got != 2 {
		t.Errorf("the next look refuses %d files, want 2", got)
	}
}
