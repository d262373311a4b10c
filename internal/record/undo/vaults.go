package undo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/git"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
)

// vaults has the places of all vaults: hookd's home, and each other file system with kept files, there as
// near its top as the user may write.
type vaults struct {
	home string // <home>/vault

	mu    sync.Mutex
	other map[uint64]string // by device; "" = there can be none
	known []string          // of all other vaults ever made that still exist
}

// listFile names the other vaults.
const listFile = "places"

// openVaults makes the vault in the home, and finds the others.
func openVaults(home string) (*vaults, error) {
	if err := os.MkdirAll(filepath.Dir(home), 0o700); err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(filepath.Dir(home))
	if err != nil {
		return nil, err
	}
	p := &vaults{home: filepath.Join(real, filepath.Base(home)), other: map[uint64]string{}}
	for _, dir := range []string{p.home, p.calls()} {
		if err := makePrivate(dir); err != nil {
			return nil, fmt.Errorf("make the vault %s: %w", dir, err)
		}
	}
	text, err := readfile.Read(filepath.Join(p.home, listFile), readfile.Limit)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read the list of vaults: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if dir := strings.TrimSuffix(line, "\n"); checkPrivate(dir) == nil {
			p.known = append(p.known, dir)
		}
	}
	return p, nil
}

// calls is the folder of all calls' folders.
func (p *vaults) calls() string { return filepath.Join(p.home, "calls") }

// leastID is shorter than the id of any call: other names in the folder of calls are of files.
const leastID = 10

// unwritten returns the calls whose keeping was killed before a line of the manifest was written. Links in their
// folders would stay for ever.
func (p *vaults) unwritten() (ids []string) {
	names, folders := namesIn(p.calls())
	for _, name := range names {
		is, err := look(filepath.Join(p.calls(), name, manifestFile))
		if err == nil && is.Size == 0 && len(name) >= leastID && slices.Contains(folders, name) {
			ids = append(ids, name)
		}
	}
	return ids
}

// all returns every vault.
func (p *vaults) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{p.home}, p.known...)
}

// holds returns the vault that path is in or that is in path; "" = none.
func (p *vaults) holds(path string, tree bool) string {
	for _, vault := range p.all() {
		if inside(path, vault) || tree && inside(vault, path) {
			return vault
		}
	}
	return ""
}

// inside reports whether path is dir or below it.
func inside(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// never reports whether a setting forbids to keep a path.
func (s *Settings) never(path string) bool {
	for _, glob := range s.Never {
		if glob.Match(path) || !strings.Contains(glob.Text, "/") && glob.Match(filepath.Base(path)) {
			return true
		}
	}
	return false
}

// nearest returns the vault on the file system of a folder; "" = there can be none.
func (p *vaults) nearest(folder string, dev uint64) string {
	p.mu.Lock()
	dir, known := p.other[dev]
	p.mu.Unlock()
	if known && (dir == "" || checkPrivate(dir) == nil) {
		return dir
	}
	dir = p.make(folder, dev)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.other[dev] = dir
	return dir
}

// make makes a vault as near the top of a file system as the user may write, outside of working
// trees and of folders that every user can write to.
func (p *vaults) make(folder string, dev uint64) string {
	var candidates []string // from the top
	for dir := folder; ; dir = filepath.Dir(dir) {
		is, err := look(dir)
		if err != nil || is.Kind != kindDir || is.Dev != dev {
			break
		}
		if is.Mode&0o002 == 0 {
			candidates = append(candidates, dir)
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	slices.Reverse(candidates)
	for _, dir := range candidates {
		if git.Top(dir) != "" {
			break // and so are those below
		}
		vault := filepath.Join(dir, fmt.Sprintf(".hookd-vault-%d", os.Geteuid()))
		if makePrivate(vault) == nil && p.remember(vault) == nil {
			return vault
		}
	}
	return ""
}

// remember puts a vault on the list of all.
func (p *vaults) remember(vault string) error {
	if strings.Contains(vault, "\n") {
		return errors.New("the name has a line break")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Contains(p.known, vault) {
		return nil
	}
	p.known = append(p.known, vault)
	return replacefile.Write(filepath.Join(p.home, listFile), []byte(strings.Join(p.known, "\n")+"\n"))
}

// cacheTag tells backups to leave a folder out: it holds secrets, and for a short time only.
const cacheTag = "Signature: 8a477f597d28d172789f06886806bc55\n# Files that hookd keeps for `hookd undo`.\n"

// makePrivate makes a folder that only this user can read.
func makePrivate(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if err := checkPrivate(dir); err != nil {
		return err
	}
	for name, text := range map[string]string{"CACHEDIR.TAG": cacheTag, ".metadata_never_index": ""} {
		path := filepath.Join(dir, name)
		if is, err := look(path); err == nil && is.Kind == kindGone {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkPrivate fails unless dir is a folder of this user, which it closes for others; a link is
// none.
func checkPrivate(dir string) error {
	is, err := look(dir)
	switch {
	case err != nil:
		return err
	case is.Kind != kindDir:
		return errors.New("it is no folder")
	case int(is.UID) != os.Geteuid():
		return errors.New("it belongs to another user")
	case is.Mode&0o7777 != 0o700:
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// openPlace opens a new folder of a vault.
func openPlace(vault, id string) (fd int, path string, err error) {
	path = filepath.Join(vault, id)
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return -1, "", err
	}
	fd, err = openFolder(unix.AT_FDCWD, path)
	return fd, path, err
}
