package discovery

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
)

// Markers switch hooks off without changing their files: each is a file NAME.off in a
// folder of its own, with the person and the program that made it. NAME.on has the person
// and the program that switched a hook on. A marker may have an end, after which it counts
// as absent. The zero Markers disables nothing.
type Markers struct{ dir string }

// NewMarkers returns the markers in dir, which need not exist.
func NewMarkers(dir string) Markers { return Markers{dir} }

// Disabled returns which hooks are switched off. A marker that cannot be read counts
// as absent: a guard must not vanish because of an error.
func (m Markers) Disabled() func(name string) bool {
	off := map[string]bool{}
	if m.dir != "" {
		entries, _ := os.ReadDir(m.dir) // an error leaves the hooks on
		for _, e := range entries {
			until := m.until(e.Name())
			off[e.Name()] = until.IsZero() || !Snoozed{Until: until}.Over()
		}
	}
	return func(name string) bool { return len(off) > 0 && off[marker(name)] }
}

// Disable switches a hook off; it need not exist. by names the person and the program that do
// so; "" = that is not known. After an error the hook is as it was.
func (m Markers) Disable(name, by string) error {
	if err := replacefile.MkdirAll(m.dir); err != nil {
		return fmt.Errorf("disable hook %s: %w", name, err)
	}
	if err := replacefile.Write(m.file(name), []byte(by)); err != nil {
		return fmt.Errorf("disable hook %s: %w", name, err)
	}
	return nil
}

// Snooze is Disable until a time, after which the hook is on again.
func (m Markers) Snooze(name, by string, until time.Time) error {
	return m.Disable(name, by+untilWord+until.UTC().Format(time.RFC3339))
}

// untilWord stands before the end of a marker.
const untilWord = ", snoozed until "

// A Snoozed hook is off until a time.
type Snoozed struct {
	Hook  string
	Until time.Time
	By    string
}

// MostSnooze is how long a hook may be off with an end.
const MostSnooze = 7 * 24 * time.Hour

// Over reports whether the end has come. An end further ahead than MostSnooze was set by another clock, and has, too.
func (s Snoozed) Over() bool {
	left := time.Until(s.Until)
	return left <= 0 || left > MostSnooze+time.Minute
}

// Snoozed returns the hooks whose markers have an end, also those whose end is over.
func (m Markers) Snoozed() (list []Snoozed) {
	if m.dir == "" {
		return nil
	}
	entries, _ := os.ReadDir(m.dir) // an error leaves the hooks on
	for _, e := range entries {
		encoded, is := strings.CutSuffix(e.Name(), ".off")
		name, err := url.PathUnescape(encoded)
		if until := m.until(e.Name()); is && err == nil && !until.IsZero() {
			by, _, _ := strings.Cut(m.By(name), untilWord)
			list = append(list, Snoozed{name, until, by})
		}
	}
	return list
}

// until is the end of the marker in a file; zero = it has none.
func (m Markers) until(file string) time.Time {
	text, err := readfile.Head(filepath.Join(m.dir, file), maxBy)
	if err != nil {
		return time.Time{}
	}
	_, end, _ := strings.Cut(string(text), untilWord)
	at, _ := time.Parse(time.RFC3339, end) // without an end it is zero
	return at
}

// Enable removes the marker. It is no error when there is none. by is as for Disable.
func (m Markers) Enable(name, by string) error {
	switch err := os.Remove(m.file(name)); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("enable hook %s: %w", name, err)
	default:
		_ = replacefile.Write(m.onFile(name), []byte(by)) // the hook is on all the same
	}
	return nil
}

// By returns the person and the program that switched a hook off, or, if it is on, that last
// switched it on; "" = that is not known.
func (m Markers) By(name string) string {
	text, err := readfile.Head(m.file(name), maxBy)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = readfile.Head(m.onFile(name), maxBy)
	}
	if err != nil || !utf8.Valid(text) {
		return ""
	}
	return string(text)
}

// maxBy is how much of a marker is read, in bytes.
const maxBy = 512

func (m Markers) file(name string) string { return filepath.Join(m.dir, marker(name)) }

func (m Markers) onFile(name string) string {
	return filepath.Join(m.dir, url.PathEscape(name)+".on")
}

// marker returns the file name of a hook's marker, also for a name with slashes.
func marker(name string) string { return url.PathEscape(name) + ".off" }
