package trust

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// look is a first look at files that have been left alone for long enough.
func look(t *testing.T, s *Seal) (l *Look) {
	t.Helper()
	hooktest.Until(t, "the files are old enough", func() bool {
		var err error
		l, err = s.Look(func(string) {})
		hooktest.Must(t, err)
		return l.Young() == 0
	})
	return l
}

// A second look sees whatever was changed since the first, also if it is as it was. A hook
// that writes in its own folder while it runs makes no change.
func TestASecondLook(t *testing.T) {
	away := func(path string, between func()) {
		hooktest.Must(t, os.Rename(path, path+".away"))
		between()
		hooktest.Must(t, os.Rename(path+".away", path))
	}
	for _, tt := range []struct {
		name    string
		do      func(*tree)
		swapped bool
	}{
		{"nothing", func(*tree) {}, false},
		{"a-file-of-the-hook's-own", func(tr *tree) {
			hooktest.Must(t, os.WriteFile(filepath.Join(tr.folder, "log"), []byte("x"), 0o600))
		}, false},
		{"another-hook", func(tr *tree) { hooktest.Must(t, os.Mkdir(tr.folder+"2", 0o755)) }, false},
		{"written-and-put-back", func(tr *tree) {
			was, err := os.ReadFile(tr.run)
			hooktest.Must(t, err)
			info, err := os.Stat(tr.run)
			hooktest.Must(t, err)
			hooktest.Must(t, os.WriteFile(tr.run, []byte("#!/bin/ls\n"), 0o755))
			hooktest.Must(t, os.WriteFile(tr.run, was, 0o755))
			hooktest.Must(t, os.Chtimes(tr.run, info.ModTime(), info.ModTime()))
		}, true},
		{"renamed-and-put-back", func(tr *tree) {
			away(tr.run, func() {
				hooktest.Must(t, os.WriteFile(tr.run, []byte("#!/bin/ls\n"), 0o755))
				hooktest.Must(t, os.Remove(tr.run))
			})
		}, true},
		{"its-folder-renamed-and-put-back", func(tr *tree) { away(tr.folder, func() {}) }, true},
		{"its-folder-swapped-and-written-to", func(tr *tree) {
			away(tr.folder, func() {})
			hooktest.Must(t, os.WriteFile(filepath.Join(tr.folder, "log"), nil, 0o600))
		}, true},
		{"a-folder-above-renamed-and-put-back", func(tr *tree) { away(tr.home, func() {}) }, true},
		{"removed", func(tr *tree) { hooktest.Must(t, os.Remove(tr.run)) }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := newTree(t)
			first := look(t, tr.seal())
			tt.do(tr)
			var swapped *Swapped
			if err := first.Again(func(string) {}); errors.As(err, &swapped) != tt.swapped || !tt.swapped && err != nil {
				t.Errorf("a second look says %v, want a change: %t", err, tt.swapped)
			}
			if tt.name == "removed" { // there is no file that could have a date
				return
			}
			now, err := tr.seal().Look(func(string) {})
			if hooktest.Must(t, err); tt.swapped && now.last() <= first.last() {
				t.Errorf("the last change is of %d, as before", now.last())
			}
		})
	}
	if err := (*Look)(nil).Again(func(string) {}); err != nil {
		t.Errorf("nothing to look at: %v", err)
	}
}

// A file that comes into the hook's own folder makes the hook's files no younger.
func TestAFileBesideAHookIsNoChange(t *testing.T) {
	tr := newTree(t)
	first := look(t, tr.seal())
	hooktest.Until(t, "a file is created well after the folder above was changed", func() bool {
		hooktest.Must(t, os.WriteFile(filepath.Join(tr.folder, "log"), nil, 0o600))
		hooktest.Must(t, os.Remove(filepath.Join(tr.folder, "log")))
		now, err := tr.seal().Look(func(string) {})
		hooktest.Must(t, err)
		return now.last() == first.last()
	})
}

// After the clock was set back files have dates that are to come: a start does not wait until then.
func TestFilesOfTomorrowAreNotYoung(t *testing.T) {
	for ahead, young := range map[time.Duration]bool{time.Hour: false, -time.Hour: false, 0: true} {
		l := &Look{newest: time.Now().Add(ahead).UnixNano()}
		if got := l.Young(); (got > 0) != young || got > clockTick {
			t.Errorf("a change %s ahead is young for %s", ahead, got)
		}
	}
}
