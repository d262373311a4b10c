package pack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/git"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
)

// Lock lists the packs of the home: hooks.lock in the home. The zero Lock has none.
type Lock struct {
	Version int               `json:"version"`
	Packs   map[string]Locked `json:"packs"`
}

// lockVersion is the version of the format.
const lockVersion = 1

// Locked is one pack as it was put in place.
type Locked struct {
	Kind     SourceKind            `json:"kind"`
	URL      string                `json:"url"` // or folder, or name in the gallery
	Path     string                `json:"path,omitempty"`
	Revision string                `json:"revision,omitempty"` // as it was asked for
	Track    bool                  `json:"track,omitempty"`
	Commit   string                `json:"commit,omitempty"`
	Files    map[string]LockedFile `json:"files"` // by path
}

// LockedFile is one file of a pack.
type LockedFile struct {
	SHA256 string `json:"sha256"` // of its bytes, or of the target of a link
	Exec   bool   `json:"exec,omitempty"`
	Link   string `json:"link,omitempty"`
}

// lockOf is the entry of hooks.lock for a fetched pack.
func lockOf(f Fetched) Locked {
	s := f.Source
	l := Locked{Kind: s.Kind, URL: s.Location, Path: s.Path, Revision: s.Revision, Track: s.Track, Commit: f.Commit}
	l.Files = filesOf(f.Content)
	return l
}

func filesOf(c Content) map[string]LockedFile {
	files := map[string]LockedFile{}
	for _, f := range c {
		files[f.Path] = LockedFile{SHA256: f.Sum(), Exec: f.Exec, Link: f.Link}
	}
	return files
}

// Source is where the pack came from.
func (l Locked) Source() Source {
	return Source{Kind: l.Kind, Location: l.URL, Revision: l.Revision, Path: l.Path, Track: l.Track}
}

// HookFolders are the folders of the pack that are hooks, "." for the pack itself.
func (l Locked) HookFolders() []string { return l.content().HookFolders() }

// FilesOf returns which files count as the content of a hook, by the hook's folder: the files
// in the folder, and the files that the pack's hooks share. Documents are none of the latter.
func (l Locked) FilesOf() func(folder string) []string {
	content := l.content()
	parts := content.Parts()
	return func(folder string) (paths []string) {
		for _, i := range parts.Of(folder) {
			if name := content[i].Path; !document(name) || below(name, folder) {
				paths = append(paths, name)
			}
		}
		return paths
	}
}

// document reports whether a file is there for people and for the forge.
func document(name string) bool {
	base := path.Base(name)
	for _, begin := range []string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS", "CHANGELOG"} {
		if strings.HasPrefix(strings.ToUpper(base), begin) {
			return true
		}
	}
	return strings.HasPrefix(name, ".") || slices.Contains([]string{".md", ".rst", ".adoc"}, path.Ext(base))
}

// content has the names without the bytes.
func (l Locked) content() (c Content) {
	for _, name := range slices.Sorted(maps.Keys(l.Files)) {
		c = append(c, File{Path: name})
	}
	return c
}

// Differs names the first file whose content is not as the lock says; "" =
// all of content is.
func (l Locked) Differs(c Content) string {
	now := filesOf(c)
	for _, name := range slices.Sorted(maps.Keys(l.Files)) {
		if now[name] != l.Files[name] {
			return name
		}
	}
	for _, f := range c {
		if _, known := l.Files[f.Path]; !known {
			return f.Path
		}
	}
	return ""
}

// LockFile is the path of hooks.lock.
func (h Home) LockFile() string { return filepath.Join(h.dir, "hooks.lock") }

// Lock reads hooks.lock. A missing file locks nothing; a file that is broken,
// or names an impossible pack, is an error.
func (h Home) Lock() (Lock, error) {
	l := Lock{Version: lockVersion, Packs: map[string]Locked{}}
	text, err := readfile.Read(h.LockFile(), 4*readfile.Limit)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	read := Lock{}
	if err := decoder.Decode(&read); err != nil {
		return l, fmt.Errorf("%s: %w", h.LockFile(), err)
	}
	if read.Version != lockVersion {
		return l, fmt.Errorf("%s: version %d is not known, %d is", h.LockFile(), read.Version, lockVersion)
	}
	for name, p := range read.Packs {
		if err := p.check(name); err != nil {
			return l, fmt.Errorf("%s: pack %q: %w", h.LockFile(), name, err)
		}
	}
	if read.Packs == nil {
		read.Packs = l.Packs
	}
	return read, nil
}

// check refuses an entry that no `hookd add` writes.
func (l Locked) check(name string) error {
	inGallery, ok := strings.CutPrefix(name, Gallery+"/")
	if ok != (l.Kind == FromGallery) || l.Kind == FromGallery && l.URL != inGallery {
		return errors.New("its name and its kind do not fit")
	}
	if err := CheckName(inGallery); err != nil {
		return err
	}
	switch l.Kind {
	case FromGallery, FromFolder:
	case FromGit:
		if !git.IsCommit(l.Commit) {
			return fmt.Errorf("%q is no commit", l.Commit)
		}
		if err := checkURL(l.URL); err != nil {
			return err
		}
	default:
		return fmt.Errorf("unknown kind %q", l.Kind)
	}
	if len(l.Files) > MaxFiles {
		return errLarge
	}
	for name := range l.Files {
		if err := checkPath(name); err != nil {
			return err
		}
	}
	return nil
}

// save writes the lock: wholly or not at all.
func (h Home) save(l Lock) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(l); err != nil {
		return err
	}
	return replacefile.Write(h.LockFile(), text.Bytes())
}
