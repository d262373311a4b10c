package trust

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// exchange exchanges two paths again and again until stop is called.
func exchange(t *testing.T, one, other string) (stop func()) {
	done := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				hooktest.Must(t, unix.Renameat2(unix.AT_FDCWD, one, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE))
			}
		}
	})
	return func() {
		close(done)
		swapping.Wait()
	}
}

// While a folder is exchanged for another one and put back, again and again, no seal has the
// facts of a file of one folder with the content of the other.
func TestASealIsOfOneVersion(t *testing.T) {
	tr := newTree(t)
	here, there := filepath.Join(tr.folder, "part"), filepath.Join(tr.home, "other")
	sums := map[uint64]string{} // by inode
	for dir, text := range map[string]string{here: "#!/bin/sh\n", there: "#!/bin/ls\n"} {
		file := filepath.Join(dir, "guard.sh")
		hooktest.Must(t, os.Mkdir(dir, 0o755))
		hooktest.Must(t, os.WriteFile(file, []byte(text), 0o755))
		sums[lstat(file).ino] = Sum([]byte(text))
	}
	defer exchange(t, here, there)()
	file, whole := filepath.Join(here, "guard.sh"), 0
	files := Files{Folder: tr.folder, Run: []string{file}, Own: []string{file}, Contents: true}
	for range hooktest.Amount(20_000, 4000) {
		s := New().Seal(files)
		f, sum := s.own[0], s.Contents()[file]
		if sum == "" {
			continue
		}
		if whole++; sum != sums[f.ino] {
			t.Errorf("the file with the inode %d has the content of another one", f.ino)
			break
		}
	}
	if whole == 0 {
		t.Error("no seal has a file's content")
	}
}

// While a script is exchanged for another one and put back, no seal that passes has the parts
// of one script and the content of the other.
func TestASealHasThePartsOfOneVersion(t *testing.T) {
	tr := newTree(t)
	first, other := filepath.Join(tr.home, "first"), filepath.Join(tr.home, "other")
	hooktest.Must(t, os.Mkdir(first, 0o755))
	const allowed = "#!/usr/bin/env true\n"
	hooktest.Write(t, tr.run, allowed, 0o755)
	hooktest.Write(t, other, "#!/usr/bin/env sh\n", 0o755)
	defer exchange(t, tr.run, other)()
	later, passed := filepath.Join(first, "true"), 0
	for range hooktest.Amount(20_000, 2000) {
		files := New().Add(Files{Contents: true}, Launch{Program: tr.run, Dir: tr.home, Path: first + ":/bin:/usr/bin"})
		s := New().Seal(files)
		if len(s.Refusals()) > 0 {
			continue
		}
		passed++
		isAllowed, looks := s.Contents()[tr.run] == Sum([]byte(allowed)), slices.Contains(files.Absent, later)
		if isAllowed != looks {
			t.Fatalf("the script that was allowed: %t, but a program that it calls counts: %t", isAllowed, looks)
		}
	}
	if passed == 0 {
		t.Error("no seal passes")
	}
}
