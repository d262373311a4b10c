package discovery

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
)

// Markers switch hooks off without touching their files: one empty file a
// hook, in a folder of their own. The zero Markers disables nothing.
type Markers struct{ dir string }

// NewMarkers returns the markers that lie in dir, which need not exist.
func NewMarkers(dir string) Markers { return Markers{dir} }

// Disabled looks which hooks are switched off now. What cannot be looked at
// counts as absent: a guard must not vanish because of an error.
func (m Markers) Disabled() func(name string) bool {
	off := map[string]bool{}
	if m.dir != "" {
		entries, _ := os.ReadDir(m.dir)
		for _, e := range entries {
			off[e.Name()] = true
		}
	}
	return func(name string) bool { return len(off) > 0 && off[marker(name)] }
}

// Disable switches a hook off; it need not exist.
func (m Markers) Disable(name string) error {
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return fmt.Errorf("disable hook %s: %w", name, err)
	}
	f, err := os.OpenFile(m.file(name), os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o600) // a pipe would block for ever
	if err != nil {
		return fmt.Errorf("disable hook %s: %w", name, err)
	}
	return f.Close()
}

// Enable removes the marker. It is no error when there is none.
func (m Markers) Enable(name string) error {
	if err := os.Remove(m.file(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("enable hook %s: %w", name, err)
	}
	return nil
}

func (m Markers) file(name string) string { return filepath.Join(m.dir, marker(name)) }

// marker keeps any name, also one with slashes, a single plain file.
func marker(name string) string { return url.PathEscape(name) + ".off" }
