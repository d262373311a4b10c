// Package pack gets hooks that are shared: from the gallery in the program, from a folder,
// or from a git repository at a fixed commit. It knows the files that a pack may hold, and
// keeps packs under the home. It records in hooks.lock the origin of each pack, and the
// hash and kind of every file.
//
// It promises: nothing of a pack is executed, and no configuration of a
// repository counts; a pack is bounded in files and bytes; links that leave it,
// setuid files, devices, pipes and sockets are refused; a pack is put in place
// as a whole or not at all, and the lock is written last.
//
// It prints nothing, asks nothing and allows nothing: commands do.
package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/hookd/hookd/internal/base/lazyregexp"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
)

// The limits of a pack.
const (
	MaxFiles = 10_000
	MaxBytes = 32 << 20
)

// maxDepth is how many folders deep a file of a pack may stand: a few megabytes of paths
// would be millions of folders.
const maxDepth = 32

// maxLink is how long the target of a link may be.
const maxLink = 4096

// Gallery is the pack of hooks that come with the program.
const Gallery = "gallery"

// Content is the files of a pack, in byte order of the paths.
type Content []File

// File is a file or a link of a pack.
type File struct {
	Path string // with slashes, relative to the pack
	Exec bool   // a program
	Link string // target of a link; "" = it is a file
	Data []byte // of a file
}

// Sum is the sha256 of the file's bytes, or of a link's target, in hexadecimal.
func (f File) Sum() string {
	sum := sha256.Sum256(f.Data)
	if f.Link != "" {
		sum = sha256.Sum256([]byte(f.Link))
	}
	return hex.EncodeToString(sum[:])
}

// HookFolders are the folders of a pack that are hooks: the pack itself (".") if
// it has a HOOK.yaml, else the folders in it and in its folder hooks that have
// one.
func (c Content) HookFolders() []string {
	var found []string
	for _, f := range c {
		if path.Base(f.Path) != hookdir.FileName {
			continue
		}
		dir := path.Dir(f.Path)
		if dir == "." {
			return []string{"."}
		}
		if parent := path.Dir(dir); parent == "." || parent == "hooks" {
			found = append(found, dir)
		}
	}
	return found
}

// File returns the file of that path, of checked content; false = there is none.
func (c Content) File(path string) (f File, found bool) {
	i, found := slices.BinarySearchFunc(c, path, func(f File, path string) int { return strings.Compare(f.Path, path) })
	if !found {
		return f, false
	}
	return c[i], true
}

// Below is the part of the content that stands in one of its folders.
func (c Content) Below(dir string) (part Content) {
	for _, f := range c {
		if below(f.Path, dir) {
			part = append(part, f)
		}
	}
	return part
}

// below reports whether a file stands in a folder, at any depth.
func below(name, dir string) bool { return dir == "." || strings.HasPrefix(name, dir+"/") }

// otherFolders are folders with a HOOK.yaml wherever they stand, for a hint.
func (c Content) otherFolders() (list []string) {
	for _, f := range c {
		if path.Base(f.Path) == hookdir.FileName {
			list = append(list, path.Dir(path.Dir(f.Path)))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

var names = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// CheckName says why a pack cannot have that name.
func CheckName(name string) error {
	if !names.MatchString(name) || strings.HasSuffix(name, ".lock") {
		return fmt.Errorf("%q is no name of a pack: letters, digits, dots, - and _, at most 64", name)
	}
	return nil
}

// lfsPointer begins a file that stands for a file that git LFS would get.
var lfsPointer = []byte("version https://git-lfs.github.com/spec/")

// Check refuses the files that a pack may not hold and sorts the rest. Notes tell of files
// that are there and not as they look.
func (c Content) Check() (sorted Content, notes []string, err error) {
	slices.SortFunc(c, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	there := map[string]bool{}
	size := 0
	for _, f := range c {
		if err := checkPath(f.Path); err != nil {
			return nil, nil, err
		}
		if there[f.Path] {
			return nil, nil, fmt.Errorf("%q is there twice", f.Path)
		}
		there[f.Path] = true
		size += len(f.Data)
		if bytes.HasPrefix(f.Data, lfsPointer) {
			notes = append(notes, f.Path+" is only a pointer of git LFS: the file itself is not fetched")
		}
	}
	if len(c) > MaxFiles || size > MaxBytes {
		return nil, nil, errLarge
	}
	if err := checkSpelling(c); err != nil {
		return nil, nil, err
	}
	for _, f := range c {
		if f.Link != "" {
			if err := checkLink(f, there); err != nil {
				return nil, nil, err
			}
		}
		for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
			if there[dir] {
				return nil, nil, fmt.Errorf("%q is a file and a folder", dir)
			}
		}
	}
	return c, notes, nil
}

var errLarge = fmt.Errorf("it has more than %d files or %d MiB: name the folder of the hooks with --path",
	MaxFiles, MaxBytes>>20)

// checkPath refuses a path that could be written outside of the pack, that git
// or a terminal would take for something else, or that no file system has.
func checkPath(name string) error {
	bad := func(r rune) bool { return !unicode.IsPrint(r) || r == '\\' } // some turn the text around on a terminal
	if len(name) > 1024 || !utf8.ValidString(name) || strings.ContainsFunc(name, bad) {
		return fmt.Errorf("%q is no name that a file of a pack may have", name)
	}
	if path.Clean(name) != name || path.IsAbs(name) || name == "." {
		return fmt.Errorf("%q leaves the pack", name)
	}
	if strings.Count(name, "/") > maxDepth {
		return fmt.Errorf("%q is more than %d folders deep", name, maxDepth)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return fmt.Errorf("%q leaves the pack", name)
		}
		if strings.EqualFold(part, ".git") {
			return fmt.Errorf("%q is a repository's own: a pack holds none", name)
		}
	}
	return nil
}

// checkSpelling refuses names of files or folders that differ by letter case or by Unicode form
// alone: where a file system does not tell them apart, one would take the place of another. Then
// the shown file would not be the one to run. macOS has both kinds of such systems.
func checkSpelling(c Content) error {
	spelled := map[string]string{}
	for _, f := range c {
		for name := f.Path; name != "."; name = path.Dir(name) {
			key := folded(name)
			was, again := spelled[key]
			if again && was != name {
				return fmt.Errorf("%q and %q are the same name to some file systems", was, name)
			}
			if again {
				break // with all folders above it
			}
			spelled[key] = name
		}
	}
	return nil
}

// folded is the same for all names that some file system takes for one.
func folded(name string) string {
	ascii := true
	for i := range len(name) {
		ascii = ascii && name[i] < utf8.RuneSelf
	}
	if ascii {
		return strings.ToLower(name)
	}
	return norm.NFD.String(cases.Fold().String(norm.NFD.String(name)))
}

// checkLink refuses a link that leads out of the pack, or over another link: the meaning
// of the latter cannot be told from the text alone.
func checkLink(f File, there map[string]bool) error {
	target := path.Join(path.Dir(f.Path), f.Link)
	if path.IsAbs(f.Link) || len(f.Link) > maxLink || target == ".." || strings.HasPrefix(target, "../") {
		return fmt.Errorf("%s is a link that leaves the pack, to %q", f.Path, f.Link)
	}
	if !there[target] {
		return fmt.Errorf("%s is a link to %q, which is no file of the pack", f.Path, f.Link)
	}
	return nil
}

// errNoHooks says that a pack has none.
var errNoHooks = errors.New("there is no hook in it")

// NeedHooks is an error where the content has no hook.
func (c Content) NeedHooks(kind string) error {
	if len(c.HookFolders()) > 0 {
		return nil
	}
	if others := c.otherFolders(); len(others) > 0 {
		return fmt.Errorf("%w where hooks are looked for; this %s has some in %s: name one with --path",
			errNoHooks, kind, strings.Join(others[:min(3, len(others))], ", "))
	}
	return fmt.Errorf("%w: a hook is a folder with a HOOK.yaml, in the %s or in its folder hooks", errNoHooks, kind)
}
