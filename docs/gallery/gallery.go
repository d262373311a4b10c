// Package gallery holds the hooks that hookd brings along, one folder each, as
// they are in the binary. The documents and tests of them are in package docs.
package gallery

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed *
var files embed.FS

// Names returns the names of the hooks, sorted.
func Names() (names []string) {
	entries, _ := files.ReadDir(".") // of a folder that is compiled in
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// Files returns the folder of a hook. An unknown name is an error that is
// fs.ErrNotExist.
func Files(name string) (fs.FS, error) {
	info, err := fs.Stat(files, name)
	if err != nil || !info.IsDir() || name == "." {
		return nil, fmt.Errorf("gallery: no hook %q: %w", name, fs.ErrNotExist)
	}
	return fs.Sub(files, name)
}

// Mode returns the mode of a file: what the binary holds has none. Programs are
// the files that begin with an interpreter line.
func Mode(text []byte) fs.FileMode {
	if strings.HasPrefix(string(text), "#!") {
		return 0o755
	}
	return 0o644
}

// Copy writes the folder of a hook to dir, which must not exist yet.
func Copy(name, dir string) error {
	folder, err := Files(name)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	return fs.WalkDir(folder, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || path == ".":
			return err
		case d.IsDir():
			return os.Mkdir(filepath.Join(dir, path), 0o755)
		}
		text, err := fs.ReadFile(folder, path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, path), text, Mode(text))
	})
}
