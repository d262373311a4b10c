package builtin

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Bounds of add_prompt_files. docker-agent documents none; these keep one
// answer well below what a verdict may carry, and a walk short.
const (
	maxPromptFile  = 128 << 10 // bytes of one file
	maxPromptTotal = 512 << 10 // bytes of all files
	maxPromptIndex = 200       // files listed by --depth
)

var addPromptFiles = Builtin{
	Name: "add_prompt_files", Events: []string{"turn_start"},
	Args: "[--depth=N] FILE...: --depth also lists files of these names up to N levels below the working directory",
	Doc:  "gives the model the named files, each from the nearest directory above the working directory and from the home directory",
	Run:  promptFiles,
}

func promptFiles(ctx context.Context, c *Call) ([]byte, error) {
	depth, names := promptArgs(c.Args)
	var parts []string
	room := maxPromptTotal
	for _, path := range promptPaths(names, c.Cwd, c.getenv("HOME")) {
		text, err := readPrompt(path, min(room, maxPromptFile))
		if err != nil {
			c.log("read prompt file", err)
			continue
		}
		room -= len(text)
		parts = append(parts, "Instructions from: "+path+"\n"+text)
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

// promptPaths returns the files that the names stand for, in order: for each
// the nearest one at or above cwd, then the one in home if that is another.
func promptPaths(names []string, cwd, home string) []string {
	var paths []string
	for _, name := range names {
		if name == "" {
			continue
		}
		if filepath.IsAbs(name) {
			paths = append(paths, name)
			continue
		}
		found := nearest(cwd, name)
		if found != "" {
			paths = append(paths, found)
		}
		if inHome := filepath.Join(home, name); home != "" && inHome != found && isFile(inHome) {
			paths = append(paths, inHome)
		}
	}
	return paths
}

func nearest(dir, name string) string {
	if dir == "" {
		return ""
	}
	for {
		if path := filepath.Join(dir, name); isFile(path) {
			return path
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// readPrompt returns the first limit bytes of a regular file.
func readPrompt(path string, limit int) (string, error) {
	if !isFile(path) {
		return "", &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return "", err
	}
	return capped(strings.TrimRight(string(data), "\r\n"), limit), nil
}

// promptIndex lists the files below cwd, down to depth levels, that have one
// of the names. Hidden directories and symlinks are not entered.
func promptIndex(ctx context.Context, names []string, cwd string, depth int) string {
	if depth == 0 || cwd == "" || len(names) == 0 {
		return ""
	}
	var found []string
	filepath.WalkDir(cwd, func(path string, d fs.DirEntry, err error) error {
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
	return "More instructions below the working directory; read those of the directory you work in:\n" + strings.Join(found, "\n")
}

func hasName(names []string, base string) bool {
	for _, n := range names {
		if filepath.Base(n) == base {
			return true
		}
	}
	return false
}
