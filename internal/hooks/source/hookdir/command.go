package hookdir

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/readfile"
)

// findCommand sets Path and Args. With args, command is one exact path. Without, it
// is the whole string if a file has that name, else it is split at white space; no
// shell is involved. A word without a slash is looked up in the folder, then in PATH.
// A command that cannot be started is a warning: the hook loads, and its runs fail.
func (c checks) findCommand(at *yaml.Node) {
	h := c.hook
	word, args := h.Command, c.args
	path, found := c.locate(word)
	if args == nil && !found.file {
		words := strings.Fields(word)
		word, args = words[0], words[1:]
		path, found = c.locate(word)
	}
	h.Path, h.Args = path, args
	if message := found.message; message != "" {
		if !strings.Contains(word, "/") && message == missingFile {
			message, found.missing = "not found in the folder nor in PATH", c.opt.inPath(word)
		}
		h.NoStart, h.Missing = true, found.missing
		c.warn(at, found.hint, "command %s: %s", word, message)
	}
}

// locate returns the absolute path that a word of a command means, and the program there.
// If there is no file it is the path in the folder.
func (c checks) locate(word string) (path string, found program) {
	path = c.opt.home(word)
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.hook.Dir, path)
	}
	if found = c.look(path); found.file || strings.Contains(word, "/") {
		return path, found
	}
	for _, name := range c.opt.inPath(word) {
		if p := c.look(name); p.executable {
			return name, p
		}
	}
	return path, found
}

// inPath returns the paths that a name may have in PATH. Of relative folders there are none: they depend on
// where the daemon was started.
func (o Options) inPath(name string) (paths []string) {
	for _, dir := range filepath.SplitList(o.Path) {
		if filepath.IsAbs(dir) {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return paths
}

// program describes the file at a path.
type program struct {
	file          bool     // it exists and is no directory
	executable    bool     // it may be executed
	message, hint string   // why the system would not start it, and what to type; "" = it would
	missing       []string // its interpreter, wherever that may be
}

// look inspects a program. Programs outside of the hook's own folder are shared by
// many hooks, so Once caches them.
func (c checks) look(path string) program {
	if c.opt.Blind {
		return program{}
	}
	if rest, inside := strings.CutPrefix(path, c.hook.Dir); inside && strings.HasPrefix(rest, "/") {
		return c.opt.lookAt(path)
	}
	return found(&c.opt.once.programs, path, func() program { return c.opt.lookAt(path) })
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func mayExecute(path string) bool {
	const execute = 1
	return syscall.Access(path, execute) == nil
}

const missingFile = "no such file"

func (o Options) lookAt(path string) (p program) {
	if f, known := o.Content(path); known && f.Exec {
		p.file, p.executable = true, true
		p.readHead(o, path, f.Data[:min(len(f.Data), maxHead)])
		return p
	}
	info, err := os.Stat(path)
	p.file = err == nil && !info.IsDir()
	p.executable = p.file && mayExecute(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.message = missingFile
	case err != nil:
		p.message = readfile.Cause(err).Error()
	case info.IsDir():
		p.message = "is a directory"
	case !info.Mode().IsRegular():
		p.message = "is not a regular file"
	case !p.executable:
		p.message, p.hint = "is not executable", "chmod +x "+escape.Quote(path)
	default:
		if head, err := readfile.Head(path, maxHead); err == nil { // one that cannot be read passes
			p.readHead(o, path, head)
		}
	}
	return p
}

// maxHead is how much of a program is looked at for its first line, in bytes.
const maxHead = 512

// readHead finds the mistake in the first line of a script, whose first bytes are
// head. Programs in machine code pass.
func (p *program) readHead(o Options, path string, head []byte) {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	interpreter, ok := bytes.CutPrefix(line, []byte("#!"))
	switch {
	case bytes.IndexByte(head, 0) >= 0:
		return
	case !ok:
		p.message, p.hint = "has no #! line, the system cannot start it", "make its first line #!/bin/sh"
		return
	case bytes.HasSuffix(line, []byte("\r")):
		old, clean := escape.Quote(path), escape.Quote(path+".clean")
		p.message = "has Windows line ends, the system looks for an interpreter with \\r in its name"
		// cat, not mv: the file's mode stays
		p.hint = "tr -d '\\r' < " + old + " > " + clean + " && cat " + clean + " > " + old + " && rm " + clean
		return
	}
	words := bytes.Fields(interpreter)
	if len(words) == 0 {
		p.message, p.hint = "has an empty #! line", "make it #!/bin/sh"
		return
	}
	if name := string(words[0]); filepath.IsAbs(name) && !o.isFile(name) {
		p.message, p.hint = "its interpreter "+name+" does not exist", "head -n 1 "+escape.Quote(path)
		p.missing = []string{name}
	} else if name := askedOfEnv(words); name != "" && !o.isInPath(name) {
		p.message, p.hint = "its interpreter "+name+" is not in PATH", "command -v "+escape.Quote(name)
		p.missing = o.inPath(name)
	}
}

// askedOfEnv returns the program that a first line such as #!/usr/bin/env -S NAME asks
// for by its name alone; "" = it asks for none.
func askedOfEnv(words [][]byte) string {
	if filepath.Base(string(words[0])) != "env" {
		return ""
	}
	for _, word := range words[1:] {
		if word[0] != '-' {
			if strings.ContainsAny(string(word), "/=") {
				return ""
			}
			return string(word)
		}
	}
	return ""
}

func (o Options) isFile(path string) bool {
	return found(&o.once.files, path, func() bool { return isFile(path) })
}

// isInPath reports whether env finds a program of that name.
func (o Options) isInPath(name string) bool {
	return found(&o.once.inPath, name, func() bool {
		return slices.ContainsFunc(o.inPath(name), func(path string) bool { return isFile(path) && mayExecute(path) })
	})
}

func firstWord(command string) string {
	if words := strings.Fields(command); len(words) > 0 {
		return words[0]
	}
	return ""
}
