package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/readfile"
)

// StartError says for people why a process did not start: the fault, the file, and the
// command to type.
type StartError struct {
	Path    string // the program
	Message string // the whole text, which names the program
	Err     error  // the system's own error
}

func (e *StartError) Error() string { return e.Message }

// Unwrap returns the system's own error.
func (e *StartError) Unwrap() error { return e.Err }

// explain returns the StartError of a start. The system's error does not say which
// of the files it is about, so explain looks at them again.
func explain(s *Spec, err error) error {
	why := explainDir(s.Dir)
	if why == "" {
		why = explainProgram(s, err)
	}
	if why == "" {
		why = err.Error()
	}
	return &StartError{Path: s.Path, Message: "start " + s.Path + ": " + why, Err: err}
}

func explainDir(dir string) string {
	if dir == "" {
		return ""
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("the working directory %s does not exist; type: mkdir -p %s", dir, escape.Quote(dir))
	case err == nil && !info.IsDir():
		return fmt.Sprintf("the working directory %s is not a directory; type: ls -ld %s", dir, escape.Quote(dir))
	case err != nil || unix.Access(dir, unix.X_OK) != nil:
		return fmt.Sprintf("the working directory %s may not be entered; type: chmod u+x %s", dir, escape.Quote(dir))
	}
	return ""
}

func explainProgram(s *Spec, err error) string {
	errno, is := errors.AsType[unix.Errno](err)
	if !is {
		return ""
	}
	path := escape.Quote(s.Path)
	switch errno {
	case unix.ENOENT:
		return explainMissing(s.Path)
	case unix.EACCES, unix.EPERM, unix.EISDIR:
		return explainDenied(s.Path)
	case unix.ENOEXEC:
		return explainFormat(s.Path)
	case unix.ENOTDIR:
		return explainNotDir(s.Path)
	case unix.ELOOP:
		return "too many symbolic links, or its first line leads from script to script; type: ls -l " + path
	case unix.E2BIG:
		return explainTooBig(s)
	case unix.ETXTBSY:
		return "the file is open for writing, so it cannot be run; close the editor or wait for the copy, then type: fuser -v " + path
	case unix.EAGAIN:
		return "the user has too many processes; type: ulimit -u"
	case unix.EMFILE, unix.ENFILE:
		return "too many files are open; type: ulimit -n"
	case unix.ENOMEM:
		return "the system is out of memory; type: top"
	}
	return ""
}

func explainMissing(path string) string {
	if _, err := os.Lstat(path); err != nil {
		return "there is no such file; type: ls -l " + escape.Quote(filepath.Dir(path))
	}
	if _, err := os.Stat(path); err != nil {
		to, _ := os.Readlink(path) // for a message alone
		return fmt.Sprintf("it is a symbolic link to %s, which does not exist; type: ls -l %s", to, escape.Quote(path))
	}
	first := firstLine(path)
	interp, ok := interpreter(first)
	switch {
	case ok && bytes.HasSuffix(first, []byte("\r")):
		return fmt.Sprintf(`its first line ends in a carriage return (Windows line ends), so the system looks for %q; type: %s`,
			interp, rewrite(`tr -d '\r'`, path))
	case ok:
		return fmt.Sprintf("its first line asks for %s, which does not exist; change the line or install it; type: head -n 1 %s", interp, escape.Quote(path))
	case isBinary(first):
		return "it is a program whose loader or libraries are not on this machine (built for another system?); type: file " + escape.Quote(path)
	}
	return "a file that it needs does not exist; type: file " + escape.Quote(path)
}

func explainDenied(path string) string {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "a directory on the way to it may not be entered; type: namei -l " + escape.Quote(path)
	case info.IsDir():
		return "it is a directory, not a program; type: ls " + escape.Quote(path)
	case !info.Mode().IsRegular():
		return "it is not a regular file; type: ls -l " + escape.Quote(path)
	case noexec(path):
		return "its file system is mounted noexec, so nothing on it can be run; move it, or type: mount -o remount,exec " + escape.Quote(mountPoint(path))
	case unix.Access(path, unix.X_OK) != nil:
		return "it is not executable; type: chmod +x " + escape.Quote(path)
	}
	if interp, ok := interpreter(firstLine(path)); ok {
		return fmt.Sprintf("its first line asks for %s, which cannot be run; type: ls -l %s", interp, escape.Quote(interp))
	}
	return "the system does not permit it (a security module, or the mount?); type: ls -l " + escape.Quote(path)
}

func explainFormat(path string) string {
	first := firstLine(path)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.Size() == 0:
		return "it is empty (half written?); put a script in it whose first line is #!/bin/sh"
	case bytes.HasPrefix(first, []byte("\xef\xbb\xbf#!")):
		return "it begins with a byte order mark before #!; type: " + rewrite("tail -c +4", path)
	case bytes.HasPrefix(first, []byte("#!")):
		return "its first line names no interpreter after #!; put #!/bin/sh there; type: head -n 1 " + escape.Quote(path)
	case isBinary(first):
		return "it is a program for another kind of machine, or broken; type: file " + escape.Quote(path)
	}
	return "its first line does not say what runs it; put #!/bin/sh (or #!/usr/bin/env python3) there; type: head -n 1 " + escape.Quote(path)
}

func explainNotDir(path string) string {
	for dir := filepath.Dir(path); dir != "/"; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			return fmt.Sprintf("%s is a file, not a directory; type: ls -l %s", dir, escape.Quote(dir))
		}
	}
	if interp, ok := interpreter(firstLine(path)); ok {
		return fmt.Sprintf("its first line asks for %s, and a part of that path is not a directory; type: head -n 1 %s", interp, escape.Quote(path))
	}
	return ""
}

// explainTooBig names the largest variable, never its value.
func explainTooBig(s *Spec) string {
	total, most, name := len(s.Path), 0, "the arguments"
	for _, a := range s.Args {
		total += len(a) + 1
		most = max(most, len(a))
	}
	for _, e := range s.Env {
		total += len(e) + 1
		if len(e) > most {
			most = len(e)
			key, _, _ := strings.Cut(e, "=")
			name = "the variable " + key
		}
	}
	return fmt.Sprintf("arguments and environment are %d bytes, more than the system accepts; "+
		"the longest is in %s with %d bytes (Linux: at most 131071 each); type: getconf ARG_MAX", total, name, most)
}

// firstLine returns the part of a script's first line that the system reads: at most
// 255 bytes, without the newline. Nothing but a regular file is opened.
func firstLine(path string) []byte {
	head, _ := readfile.Head(path, 255)
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return line
}

// interpreter returns the program that a script's first line asks for,
// execve(2).
func interpreter(first []byte) (string, bool) {
	rest, ok := bytes.CutPrefix(first, []byte("#!"))
	if !ok {
		return "", false
	}
	rest = bytes.TrimLeft(rest, " \t")
	if i := bytes.IndexAny(rest, " \t\x00"); i >= 0 {
		rest = rest[:i]
	}
	return string(rest), len(rest) > 0
}

// isBinary knows ELF and Mach-O.
func isBinary(b []byte) bool {
	for _, magic := range []string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe"} {
		if bytes.HasPrefix(b, []byte(magic)) {
			return true
		}
	}
	return false
}

// mountPoint returns the topmost folder on the file system of path.
func mountPoint(path string) string {
	device := func(p string) (uint64, bool) {
		var st unix.Stat_t
		err := unix.Stat(p, &st)
		return uint64(st.Dev), err == nil
	}
	want, _ := device(path)
	for path != "/" {
		up := filepath.Dir(path)
		if got, ok := device(up); !ok || got != want {
			break
		}
		path = up
	}
	return path
}

// rewrite is a command that filters a file in place and keeps its mode, for
// any POSIX shell.
func rewrite(filter, path string) string {
	old, clean := escape.Quote(path), escape.Quote(path+".clean")
	return filter + " < " + old + " > " + clean + " && cat " + clean + " > " + old + " && rm " + clean
}
