package builtin

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/hookd/hookd/internal/base/git"
	"github.com/hookd/hookd/internal/base/readfile"
)

// Bounds of add_prompt_files. docker-agent documents none; these keep one
// answer well below the limit of a verdict, and a walk short.
const (
	maxPromptFile  = 128 << 10 // bytes of one file
	maxPromptTotal = 512 << 10 // bytes of all files
	maxPromptIndex = 200       // files listed by --depth
)

var addPromptFiles = Builtin{
	Name: "add_prompt_files", Events: []string{"turn_start"},
	Args: "[--depth=N] FILE...: --depth also lists files of these names up to N levels below the working directory",
	Doc:  "gives the model the named files, each from the nearest directory above the working directory, up to the repository's top or the home directory, and from that; no file of another user's, and none behind a link that leaves them",
	Run:  promptFiles,
}

func promptFiles(ctx context.Context, c *Invocation) ([]byte, error) {
	depth, names := promptArgs(c.Args)
	var parts []string
	room := maxPromptTotal
	for _, file := range promptPaths(names, c.Cwd, c.getenv("HOME")) {
		text, err := file.read(min(room, maxPromptFile))
		if err != nil {
			c.log("read prompt file", err)
			continue
		}
		room -= len(text)
		parts = append(parts, "Instructions from: "+file.path()+"\n"+text)
	}
	if list := promptIndex(ctx, names, c.Cwd, depth); list != "" {
		parts = append(parts, list)
	}
	return contextText(strings.Join(parts, "\n\n"))
}

// promptArgs takes a leading --depth=N off args; a bad N counts as none.
func promptArgs(args []string) (depth int, names []string) {
	if len(args) > 0 {
		if value, ok := strings.CutPrefix(args[0], "--depth="); ok {
			if n, err := strconv.Atoi(value); err == nil && n > 0 {
				depth = n
			}
			args = args[1:]
		}
	}
	return depth, args
}

// prompt is a file that may be read, seen from a directory that it must not leave.
type prompt struct{ within, rel string }

func (p prompt) path() string { return filepath.Join(p.within, p.rel) }

// promptPaths returns the files that the names stand for, in order: for each
// the nearest one at or above cwd, then the one in home if that is another. The
// search ends at the top of the repository or at home, and no link leads out of
// these; outside of both none leads out of the folder that a file is found in.
func promptPaths(names []string, cwd, home string) []prompt {
	var found []prompt
	limit := searchLimit(cwd, home)
	for _, name := range names {
		if name == "" {
			continue
		}
		if filepath.IsAbs(name) { // the hook names it: it may lead anywhere
			found = append(found, prompt{"/", name})
			continue
		}
		near, ok := nearest(cwd, limit, name)
		if ok {
			found = append(found, near)
		}
		inHome := prompt{home, name}
		if filepath.IsAbs(home) && inHome.path() != near.path() && exists(inHome.path()) {
			found = append(found, inHome)
		}
	}
	return found
}

// searchLimit is the last directory at or above cwd that is searched, "" for /.
func searchLimit(cwd, home string) string {
	if top := git.Top(cwd); top != "" {
		return top
	}
	if home != "" && strings.HasPrefix(cwd+"/", filepath.Clean(home)+"/") {
		return filepath.Clean(home)
	}
	return ""
}

func nearest(dir, limit, name string) (prompt, bool) {
	if !filepath.IsAbs(dir) {
		return prompt{}, false
	}
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		if path := filepath.Join(dir, name); exists(path) {
			rel, err := filepath.Rel(cmp.Or(limit, dir), path)
			return prompt{cmp.Or(limit, dir), rel}, err == nil
		}
		if dir == limit || dir == filepath.Dir(dir) {
			return prompt{}, false
		}
	}
}

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// read returns the first limit bytes. It must be a regular file of the user or
// root, reached by no link that leaves p.within.
func (p prompt) read(limit int) (text string, err error) {
	readfile.Apart(p.path(), func() { text, err = p.readOpen(limit) })
	return text, err
}

func (p prompt) readOpen(limit int) (string, error) {
	f, err := p.open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", &fs.PathError{Op: "read", Path: p.path(), Err: errors.New("not a regular file")}
	case !ownedByUsOrRoot(info):
		return "", &fs.PathError{Op: "read", Path: p.path(), Err: errors.New("it belongs to another user")}
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return "", err
	}
	return capped(strings.TrimRight(string(data), "\r\n"), limit), nil
}

// open does not wait for the other end of a pipe.
func (p prompt) open() (*os.File, error) {
	const flags = os.O_RDONLY | syscall.O_NONBLOCK
	if p.within == "/" {
		return os.OpenFile(p.rel, flags, 0)
	}
	root, err := os.OpenRoot(p.within)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenFile(p.rel, flags, 0)
}

// promptIndex lists the files below cwd, down to depth levels, that have one
// of the names. Hidden directories and symlinks are not entered.
func promptIndex(ctx context.Context, names []string, cwd string, depth int) string {
	if depth == 0 || cwd == "" || len(names) == 0 {
		return ""
	}
	var found []string
	// An unreadable directory has no files to add.
	_ = filepath.WalkDir(cwd, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(cwd, path)
		switch {
		case ctx.Err() != nil, len(found) == maxPromptIndex:
			return filepath.SkipAll
		case err != nil || rel == ".":
			return nil // what cannot be read is not listed
		case d.IsDir():
			if strings.HasPrefix(d.Name(), ".") || strings.Count(rel, string(filepath.Separator)) >= depth {
				return filepath.SkipDir
			}
		case strings.ContainsRune(rel, filepath.Separator) && hasName(names, d.Name()):
			found = append(found, "- "+path)
		}
		return nil
	})
	if len(found) == 0 {
		return ""
	}
	return "More instructions below the working directory; read the ones for the directory you work in:\n" + strings.Join(found, "\n")
}

func hasName(names []string, base string) bool {
	for _, n := range names {
		if filepath.Base(n) == base {
			return true
		}
	}
	return false
}
