package trust

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Programs returns what starting a command line executes: the program, the
// script that it is told to run when it is an interpreter, and the
// interpreters that #! lines name. own are those of them whose content is the
// hook's own: the script, else the program. Relative names are found in dir,
// those that env looks up in the directories of path.
func Programs(program string, args []string, dir, path string) (run, own []string) {
	return new(Checker).Programs(program, args, dir, path)
}

// Programs is the function of that name, with what c remembers of interpreters.
func (c *Checker) Programs(program string, args []string, dir, path string) (run, own []string) {
	if program == "" {
		return nil, nil
	}
	run, own = []string{program}, []string{program}
	if script := scriptOf(program, args, dir); script != "" {
		run, own = append(run, script), []string{script}
	}
	next := c.shebang(run[len(run)-1], dir, path)
	for range 4 { // as deep as the kernel goes
		if next == nil {
			break
		}
		run = append(run, next...)
		next = c.shebang(run[len(run)-1], dir, path)
	}
	return run, own
}

// interpreters run the file that their first plain argument names.
var interpreters = []string{
	"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "python", "pypy", "node", "nodejs", "deno", "bun", "tsx",
	"ruby", "perl", "php", "lua", "luajit", "tclsh", "expect", "Rscript", "pwsh", "osascript", "groovy", "julia", "guile", "uv", "env", "nice", "timeout", "nohup", "setsid",
}

// scriptOf returns the file that an interpreter is told to run, "" for other
// programs and for text given on the command line. Options may have values, so
// it is the first argument that names a file.
func scriptOf(program string, args []string, dir string) string {
	name := strings.TrimRight(filepath.Base(program), "0123456789.")
	if !slices.Contains(interpreters, name) {
		return ""
	}
	for _, arg := range args {
		if arg == "-c" || arg == "-e" || arg == "-m" {
			return ""
		}
		if arg == "" || strings.HasPrefix(arg, "-") {
			continue
		}
		if !filepath.IsAbs(arg) {
			arg = filepath.Join(dir, arg)
		}
		if info, err := os.Stat(arg); err == nil && info.Mode().IsRegular() {
			return arg
		}
	}
	return ""
}

// shebang returns the interpreter that the first line of a script names, and
// with env also the program that env looks up. Nil for what is no script.
func shebang(file, path string) []string {
	line, ok := bytes.CutPrefix(firstLine(file), []byte("#!"))
	words := strings.Fields(string(line))
	if !ok || len(words) == 0 || !filepath.IsAbs(words[0]) {
		return nil
	}
	if filepath.Base(words[0]) != "env" {
		return words[:1]
	}
	for _, word := range words[1:] {
		if strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue
		}
		if found := inPath(word, path); found != "" {
			return []string{words[0], found}
		}
		break
	}
	return words[:1]
}

func inPath(name, path string) string {
	if filepath.IsAbs(name) {
		return name
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && filepath.IsAbs(file) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return ""
}

// firstLine reads the beginning of a regular file; nothing of any other.
func firstLine(file string) []byte {
	fd, err := retry(func() (int, error) {
		return syscall.Open(file, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	}) // a pipe would block for ever
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if syscall.Fstat(fd, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil
	}
	head := make([]byte, 256)
	n, _ := retry(func() (int, error) { return syscall.Read(fd, head) })
	line, _, _ := bytes.Cut(head[:max(n, 0)], []byte("\n"))
	return line
}

// retry repeats a call that a signal interrupted.
func retry(call func() (int, error)) (n int, err error) {
	for n, err = call(); err == syscall.EINTR; n, err = call() {
	}
	return n, err
}
