// Package starter chooses the hooks that `hookd init` puts into a new home, and takes them out
// again: which hooks of the gallery are offered, which of them work on this
// machine, and which are still as they were put there.
//
// It promises: a hook's folder appears complete or not at all; a folder that is there
// already is never changed; Remove takes out only files that are as the gallery has
// them; the files that a hook has written are kept. It asks nothing and prints nothing.
package starter

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/docs/gallery"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
	"github.com/hookd/hookd/internal/base/trust"
)

// Offered are the hooks of the gallery that `hookd init` offers: three guards that
// work with every agent.
var Offered = []string{"command-guard", "secret-guard", "self-guard"}

// State is how a hook of the gallery stands in a hooks directory.
type State string

const (
	Absent  State = "absent"
	There   State = "there"   // as the gallery has it
	Changed State = "changed" // by the user, or of another version
)

// Offer is one hook that is offered.
type Offer struct {
	Name  string
	About string   // its description, one sentence
	Dir   string   // where it is, or would be
	State State    //
	Lacks []string // programs that it needs and PATH has not
}

// Hooks returns the hooks that are offered for a hooks directory. path is the PATH
// that hooks will have; its folders into which others can put programs do not count,
// as hookd leaves them out.
func Hooks(hooksDir, path string) (list []Offer, err error) {
	path, _ = trust.SafePath(path)
	for _, name := range Offered {
		h := Offer{Name: name, Dir: filepath.Join(hooksDir, name)}
		files, err := gallery.Files(name)
		if err != nil {
			return nil, err
		}
		if h.About, err = about(files); err != nil {
			return nil, err
		}
		if h.Lacks, err = lacks(files, path); err != nil {
			return nil, err
		}
		if h.State, _, err = stateOf(files, h.Dir); err != nil {
			return nil, err
		}
		list = append(list, h)
	}
	return list, nil
}

// about is the first sentence of a hook's description.
func about(files fs.FS) (string, error) {
	text, err := fs.ReadFile(files, "HOOK.yaml")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "description: "); ok {
			sentence, _, _ := strings.Cut(strings.TrimSpace(rest), ". ")
			return strings.TrimSuffix(sentence, "."), nil
		}
	}
	return "", nil
}

// lacks lists the interpreters of a hook's programs that path does not have.
func lacks(files fs.FS, path string) (names []string, err error) {
	err = fs.WalkDir(files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return err
		}
		first, _, _ := bytes.Cut(text, []byte("\n"))
		line, ok := strings.CutPrefix(string(first), "#!")
		if !ok {
			return nil
		}
		words := strings.Fields(line)
		program := words[0]
		if filepath.Base(program) == "env" && len(words) > 1 {
			program = words[1]
		}
		if !onPath(program, path) && !slices.Contains(names, program) {
			names = append(names, program)
		}
		return nil
	})
	return names, err
}

// onPath reports whether a program can be started with that PATH.
func onPath(program, path string) bool {
	if filepath.IsAbs(program) {
		_, err := exec.LookPath(program)
		return err == nil
	}
	for _, dir := range filepath.SplitList(path) {
		if _, err := exec.LookPath(filepath.Join(dir, program)); err == nil && filepath.IsAbs(dir) {
			return true
		}
	}
	return false
}

// stateOf compares a folder with the gallery's. own are the files in it that the
// gallery has not.
func stateOf(files fs.FS, dir string) (s State, own []string, err error) {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return Absent, nil, nil
	} else if err != nil {
		return "", nil, err
	}
	if _, err := os.ReadDir(dir); err != nil {
		return Changed, nil, nil // it is no folder, or not one to read
	}
	own, err = notIn(files, dir)
	if err != nil {
		return "", nil, err
	}
	s = There
	err = fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		want, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		have, err := readfile.Read(filepath.Join(dir, path), readfile.Limit)
		if err != nil || !bytes.Equal(have, want) {
			s = Changed
		}
		return nil
	})
	return s, own, err
}

// notIn lists the files that a folder has and the gallery has not; of folders the name alone.
func notIn(files fs.FS, dir string) (own []string, err error) {
	err = fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if _, err := fs.Stat(files, path); err == nil {
			return nil
		}
		own = append(own, path)
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return own, err
}

// Add puts a hook of the gallery into a hooks directory, which is made where it is
// missing. A folder that is there already stays: the error is then fs.ErrExist.
func Add(hooksDir, name string) (err error) {
	target := filepath.Join(hooksDir, name)
	if _, err := os.Lstat(target); err == nil {
		return fmt.Errorf("add %s: %w", name, fs.ErrExist)
	}
	if err := replacefile.MkdirAll(hooksDir); err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	draft, err := replacefile.MkdirTemp(hooksDir, ".init-") // such names are no hooks
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	defer os.RemoveAll(draft)
	if err := gallery.Copy(name, filepath.Join(draft, name)); err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	if err := os.Rename(filepath.Join(draft, name), target); err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

// Removed names the things that Remove left.
type Removed struct {
	Kept string // the folder, where the hook was changed and stays; "" = it is gone
	Left string // the folder in which what the hook has written stays; "" = nothing is left
}

// Remove takes a hook of the gallery out of a hooks directory. A hook that was
// changed stays.
func Remove(hooksDir, name string) (r Removed, err error) {
	files, err := gallery.Files(name)
	if err != nil {
		return r, err
	}
	dir := filepath.Join(hooksDir, name)
	s, own, err := stateOf(files, dir)
	switch {
	case err != nil:
		return r, fmt.Errorf("remove %s: %w", name, err)
	case s == Absent:
		return r, nil
	case s == Changed:
		return Removed{Kept: dir}, nil
	}
	// In one step: a folder without its HOOK.yaml would be a hook with a mistake.
	gone := dir + ".disabled"
	if _, err := os.Lstat(gone); err == nil {
		return r, fmt.Errorf("remove %s: %s: %w", name, gone, fs.ErrExist)
	}
	if err := os.Rename(dir, gone); err != nil {
		return r, fmt.Errorf("remove %s: %w", name, err)
	}
	var folders []string
	err = fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			folders = append(folders, path)
			return nil
		}
		return os.Remove(filepath.Join(gone, path))
	})
	if err != nil {
		return r, fmt.Errorf("remove %s: %w", name, err)
	}
	for _, folder := range slices.Backward(folders) { // the innermost first; those with files of the hook stay
		err = os.Remove(filepath.Join(gone, folder))
	}
	if len(own) > 0 {
		return Removed{Left: gone}, nil
	}
	return r, err
}
