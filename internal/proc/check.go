package proc

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/escape"
)

// Check returns why s would not start, as a *StartError, or nil if it finds nothing
// wrong. It starts nothing: it looks at the working directory, the program, and the
// interpreter that its first line names, which it looks up as env does, in the PATH
// of s.Env. It uses Path, Env and Dir of s.
func Check(s Spec) error {
	if errno := foresee(s.Path); errno != 0 || explainDir(s.Dir) != "" {
		return explain(&s, errno)
	}
	name := lookedUp(firstLine(s.Path))
	if name == "" || inPath(strings.TrimSuffix(name, "\r"), s.Env) && !strings.HasSuffix(name, "\r") {
		return nil
	}
	why := "its first line asks env for " + escape.Quote(name) + ", which is not in the PATH of hooks; " +
		"install it, or set `path` in hookd.yaml; type: command -v " + escape.Quote(name)
	if strings.HasSuffix(name, "\r") {
		why = "its first line ends in a carriage return (Windows line ends), " +
			"so env looks for a program of that name; type: " + rewrite(`tr -d '\r'`, s.Path)
	}
	return &StartError{Path: s.Path, Message: "start " + s.Path + ": " + why, Err: unix.ENOENT}
}

// foresee returns the error that execve(2) would give for path, 0 for none.
func foresee(path string) unix.Errno {
	if _, err := os.Stat(path); err != nil {
		return errnoOf(err)
	}
	if !executable(path) || noexec(path) {
		return unix.EACCES
	}
	if unix.Access(path, unix.R_OK) != nil {
		return 0 // a program need not be readable
	}
	first := firstLine(path)
	interp, script := interpreter(first)
	switch {
	case !script && !isBinary(first):
		return unix.ENOEXEC
	case !script:
		return 0
	}
	if _, err := os.Stat(interp); err != nil {
		return errnoOf(err)
	}
	if !executable(interp) {
		return unix.EACCES
	}
	return 0
}

func errnoOf(err error) unix.Errno {
	if errno, is := errors.AsType[unix.Errno](err); is {
		return errno
	}
	return unix.EACCES
}

// lookedUp returns the program that a first line has env find in PATH; "" for
// other lines.
func lookedUp(first []byte) string {
	interp, ok := interpreter(first)
	if !ok || filepath.Base(interp) != "env" {
		return ""
	}
	_, rest, _ := bytes.Cut(first, []byte(interp))
	for _, word := range strings.FieldsFunc(string(rest), func(c rune) bool { return c == ' ' || c == '\t' }) {
		if !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
			return word
		}
	}
	return ""
}

// inPath reports whether a program is found in the last PATH of env.
func inPath(name string, env []string) bool {
	if strings.Contains(name, "/") {
		return executable(name)
	}
	path := ""
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, "PATH="); ok {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if executable(filepath.Join(dir, name)) {
			return true
		}
	}
	return false
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && unix.Access(path, unix.X_OK) == nil
}
