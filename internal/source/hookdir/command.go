package hookdir

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"gopkg.in/yaml.v3"
)

// findCommand sets Path and Args by the rules of SPEC section 4. A command
// that cannot be started is a warning: the hook loads, and each of its runs
// says so again.
func (d *draft) findCommand(at *yaml.Node) {
	h := &d.hook
	word, args := h.Command, d.args
	path, found := d.locate(word)
	if args == nil && !found {
		words := strings.Fields(word)
		word, args = words[0], words[1:]
		path, _ = d.locate(word)
	}
	h.Path, h.Args = path, args
	if message, hint := unstartable(path); message != "" {
		if !strings.Contains(word, "/") && message == missingFile {
			message = "not found in the folder nor in PATH"
		}
		d.warn(at, hint, "command %s: %s", word, message)
	}
}

// locate returns the absolute path a word of a command stands for, and
// whether a file is there. Without one it is the place in the folder.
func (d *draft) locate(word string) (path string, found bool) {
	path = d.opt.home(word)
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.hook.Dir, path)
	}
	if found = isFile(path); found || strings.Contains(word, "/") {
		return path, found
	}
	for _, dir := range filepath.SplitList(d.opt.Path) {
		// What a relative entry means depends on where the daemon was started.
		if name := filepath.Join(dir, word); filepath.IsAbs(dir) && isFile(name) && executable(name) == nil {
			return name, true
		}
	}
	return path, false
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func executable(path string) error {
	const mayExecute = 1
	return syscall.Access(path, mayExecute)
}

const missingFile = "no such file"

// unstartable says why the system would not start path, and what to type
// next. It is empty when nothing speaks against it.
func unstartable(path string) (message, hint string) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return missingFile, ""
	case err != nil:
		return cause(err).Error(), ""
	case info.IsDir():
		return "is a directory", ""
	case !info.Mode().IsRegular():
		return "is not a regular file", ""
	case executable(path) != nil:
		return "is not executable", "chmod +x " + quote(path)
	}
	return badHead(path)
}

// badHead looks at the first line of a script. Programs in machine code, and
// scripts that may not be read, pass.
func badHead(path string) (message, hint string) {
	head, err := readHead(path)
	if err != nil || bytes.IndexByte(head, 0) >= 0 {
		return "", ""
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	interpreter, ok := bytes.CutPrefix(line, []byte("#!"))
	switch {
	case !ok:
		return "has no #! line, the system cannot start it", "make its first line #!/bin/sh"
	case bytes.HasSuffix(line, []byte("\r")):
		old, clean := quote(path), quote(path+".clean")
		return "has Windows line ends, the system looks for an interpreter with \\r in its name",
			"tr -d '\\r' < " + old + " > " + clean + " && cat " + clean + " > " + old + " && rm " + clean // keeps its mode
	}
	words := bytes.Fields(interpreter)
	if len(words) == 0 {
		return "has an empty #! line", "make it #!/bin/sh"
	}
	if name := string(words[0]); filepath.IsAbs(name) && !isFile(name) {
		return "its interpreter " + name + " does not exist", ""
	}
	return "", ""
}

func readHead(path string) ([]byte, error) {
	head, _, err := readRegular(path, 512)
	return head, err
}

// quote makes a path safe to paste into a shell.
func quote(path string) string {
	if !strings.ContainsFunc(path, func(r rune) bool { return !strings.ContainsRune(plainPath, r) }) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

const plainPath = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%,="

func firstWord(command string) string {
	if words := strings.Fields(command); len(words) > 0 {
		return words[0]
	}
	return ""
}
