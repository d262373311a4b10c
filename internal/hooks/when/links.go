package when

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Limits of Disk.
const (
	looks    = 8                     // at once, those that hang included
	patience = 50 * time.Millisecond // for one
	maxLinks = 40                    // on the way to one file
)

// Disk finds where links lead on this machine's file systems. A file system that does not answer
// holds up an event for a moment, and few of them; after that nothing is sure. Safe for
// concurrent use.
type Disk struct{ free chan struct{} }

// NewDisk returns a Disk.
func NewDisk() *Disk { return &Disk{free: make(chan struct{}, looks)} }

// Real is that of Links.
func (d *Disk) Real(path string) (real string, ok bool) {
	return ask(d, func() (string, bool) { return follow(path) })
}

// mostText is how many bytes of a file Text returns.
const mostText = 64 << 10

// Text returns a regular file of at most 64 KiB, as facts.Env has it.
func (d *Disk) Text(path string) (text string, ok bool) {
	return ask(d, func() (string, bool) {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > mostText {
			return "", false
		}
		text, err := os.ReadFile(path)
		return string(text), err == nil
	})
}

// ask waits for an answer of the file system, for a moment and while few others wait.
func ask(d *Disk, look func() (string, bool)) (string, bool) {
	select {
	case d.free <- struct{}{}:
	default: // others hang
		return "", false
	}
	type answer struct {
		text string
		ok   bool
	}
	done := make(chan answer, 1)
	go func() {
		defer func() { <-d.free }()
		text, ok := look()
		done <- answer{text, ok}
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case a := <-done:
		return a.text, a.ok
	case <-timer.C:
		return "", false
	}
}

// follow returns an absolute path with each of its links followed. A path that does not exist
// stays as it is written: a tool may be about to make the file.
func follow(path string) (string, bool) {
	real, rest := "/", split(path)
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if name == ".." {
			real = filepath.Dir(real)
			continue
		}
		next := filepath.Join(real, name)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			real = next
			continue
		case err != nil:
			return "", false
		case info.Mode()&fs.ModeSymlink == 0:
			real = next
			continue
		}
		to, err := os.Readlink(next)
		if links++; err != nil || links > maxLinks {
			return "", false
		}
		if filepath.IsAbs(to) {
			real = "/"
		}
		rest = append(split(to), rest...)
	}
	return real, true
}

// split returns the parts of a path that lead anywhere.
func split(path string) (parts []string) {
	for part := range strings.SplitSeq(path, "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	return parts
}
