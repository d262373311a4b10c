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

// Markers switch hooks off without changing their files: each is an empty file in a
// folder of its own. The zero Markers disables nothing.
type Markers struct{ dir string }

// NewMarkers returns the markers in dir, which need not exist.
func NewMarkers(dir string) Markers { return Markers{dir} }

// Disabled returns which hooks are switched off. A marker that cannot be read counts
// as absent: a guard must not vanish because of an error.
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
	const flags = os.O_CREATE | os.O_WRONLY | syscall.O_NONBLOCK // the open of a pipe would block
	f, err := os.OpenFile(m.file(name), flags, 0o600)
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

// marker returns the file name of a hook's marker, also for a name with slashes.
func marker(name string) string { return url.PathEscape(name) + ".off" }
