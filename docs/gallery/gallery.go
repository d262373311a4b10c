// Package gallery holds the hooks that hookd brings along, one folder each, as
// they are in the binary. A file that several hooks import stands once, beside the
// folders; Files and Copy give each hook whole. The documents and tests of them
// are in package docs.
package gallery

import (
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed *
var files embed.FS

// shared are the files beside the folders that belong into a hook's folder.
var shared = map[string][]string{
	"ask-desktop": {"asks.py"},
	"ask-ntfy":    {"asks.py"},
	"ask-slack":   {"asks.py"},
}

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

// Files returns the folder of a hook, with the files that it shares with others. An unknown
// name is an error that is fs.ErrNotExist.
func Files(name string) (fs.FS, error) {
	info, err := fs.Stat(files, name)
	if err != nil || !info.IsDir() || name == "." {
		return nil, fmt.Errorf("gallery: no hook %q: %w", name, fs.ErrNotExist)
	}
	own, err := fs.Sub(files, name)
	if err != nil {
		return nil, err
	}
	return folder{own, shared[name]}, nil
}

// folder has a hook's own files and, at its root, the files that it shares.
type folder struct {
	own    fs.FS
	shared []string
}

// Open opens a file of the hook.
func (f folder) Open(name string) (fs.File, error) {
	if slices.Contains(f.shared, name) {
		return files.Open(name)
	}
	file, err := f.own.Open(name)
	if err != nil || name != "." {
		return file, err
	}
	entries, err := fs.ReadDir(f.own, ".")
	if err != nil {
		return nil, err
	}
	for _, name := range f.shared {
		info, err := fs.Stat(files, name)
		if err != nil {
			return nil, err
		}
		entries = append(entries, fs.FileInfoToDirEntry(info))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return &root{file, entries}, nil
}

// root is the open folder of a hook.
type root struct {
	fs.File
	unread []fs.DirEntry
}

// ReadDir works as fs.ReadDirFile says.
func (r *root) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 || n > len(r.unread) {
		if n > 0 && len(r.unread) == 0 {
			return nil, io.EOF
		}
		n = len(r.unread)
	}
	read := r.unread[:n]
	r.unread = r.unread[n:]
	return read, nil
}

// Mode returns the mode of a file: a file in the binary has none. Programs are
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
