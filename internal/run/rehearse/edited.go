package rehearse

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
)

// Limits of a hook's folder of which there can be an edited copy.
const (
	maxText   = 128 << 10 // bytes of a file that can be edited
	maxFolder = 8 << 20   // bytes of all files
	mostFiles = 200
)

// errNoFolder is the error for a hook that is not a folder with a HOOK.yaml.
var errNoFolder = errors.New("only a hook in a folder of its own can be edited")

// Texts returns the files in the folder of h that can be edited, by their paths in it.
// It is empty for a hook that has no folder.
func Texts(h *hook.Hook) (map[string]string, error) {
	texts := map[string]string{}
	err := inFolder(h, func(path string, _ fs.FileMode, content []byte) error {
		if len(content) <= maxText && utf8.Valid(content) && !slices.Contains(content, 0) {
			texts[path] = string(content)
		}
		return nil
	})
	if errors.Is(err, errNoFolder) {
		return texts, nil
	}
	return texts, err
}

// Edited returns a copy of h, below the folder dir, in which some files have other
// texts. It keeps its name: the copy is compared with the decisions of h.
func Edited(c config.Config, h *hook.Hook, dir string, texts map[string]string) (*hook.Hook, error) {
	folder := filepath.Join(dir, filepath.Base(filepath.Dir(h.File)))
	left := maps.Clone(texts)
	err := inFolder(h, func(path string, mode fs.FileMode, content []byte) error {
		if text, ok := texts[path]; ok {
			content = []byte(text)
			delete(left, path)
		}
		to := filepath.Join(folder, path)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		return os.WriteFile(to, content, mode&0o700)
	})
	if err != nil {
		return nil, err
	}
	for path := range left {
		return nil, fmt.Errorf("hook %s has no file %q", h.Name, path)
	}
	edited, err := catalog.Find(c, folder)
	if err != nil {
		return nil, err
	}
	edited.Name = h.Name
	return edited, nil
}

// inFolder calls do with each file in the folder of h. A link, a pipe or a device in it
// is an error, as is a folder that is too large.
func inFolder(h *hook.Hook, do func(path string, mode fs.FileMode, content []byte) error) error {
	if filepath.Base(h.File) != hookdir.FileName {
		return errNoFolder
	}
	folder, size, files := filepath.Dir(h.File), 0, 0
	return filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no file: such a hook cannot be edited here", path)
		}
		content, err := readfile.Read(path, maxFolder)
		if err != nil {
			return err
		}
		if size, files = size+len(content), files+1; size > maxFolder || files > mostFiles {
			const more = "%s has more than %d files or %d bytes: edit a copy on disk"
			return fmt.Errorf(more, folder, mostFiles, maxFolder)
		}
		inside, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		return do(inside, info.Mode().Perm(), content)
	})
}
