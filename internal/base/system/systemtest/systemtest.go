// Package systemtest gives tests a place for a system daemon that is theirs: for it the
// test's own user counts as root. Programs do not import it.
package systemtest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/system"
)

// Place makes a place with these settings, which counts for the whole program until the
// test ends. Nothing listens there.
func Place(t testing.TB, settings string) system.Place {
	t.Helper()
	dir := hooktest.ShortDir(t)
	p := system.Place{
		Folder: filepath.Join(dir, "etc"), Socket: filepath.Join(dir, "run", "s"),
		State: filepath.Join(dir, "state"), Root: os.Geteuid(),
	}
	for _, folder := range []string{filepath.Join(p.Folder, "hooks"), filepath.Dir(p.Socket)} {
		hooktest.Must(t, os.MkdirAll(folder, 0o755))
	}
	hooktest.Must(t, errors.Join(os.WriteFile(p.Settings(), []byte(settings), 0o644)))
	t.Cleanup(system.Substitute(p))
	return p
}
