package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/hookd/hookd/docs/gallery"
)

// Each hook is there, with its shared files, and nothing is written over another's
// files.
func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gallery")
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range gallery.Names() {
		if info, err := os.Stat(filepath.Join(dir, name, "HOOK.yaml")); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "ask-slack", "asks.py")); err != nil {
		t.Error(err)
	}
	if err := write(dir); !errors.Is(err, fs.ErrExist) {
		t.Errorf("written twice: %v", err)
	}
}
