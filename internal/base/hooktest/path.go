package hooktest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// PathWithout returns PATH without these programs, so that one that is installed on the machine is not found by a
// test of its absence. A folder that holds one is replaced by a folder of links to all else in it, until the test ends.
func PathWithout(t testing.TB, programs ...string) string {
	t.Helper()
	folders := filepath.SplitList(os.Getenv("PATH"))
	for i, folder := range folders {
		if !slices.ContainsFunc(programs, func(name string) bool {
			_, err := os.Lstat(filepath.Join(folder, name))
			return err == nil
		}) {
			continue
		}
		entries, err := os.ReadDir(folder)
		Must(t, err)
		folders[i] = t.TempDir()
		for _, e := range entries {
			if !slices.Contains(programs, e.Name()) {
				Must(t, os.Symlink(filepath.Join(folder, e.Name()), filepath.Join(folders[i], e.Name())))
			}
		}
	}
	return strings.Join(folders, string(filepath.ListSeparator))
}
