package trust

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/hookd/hookd/internal/readfile"
)

// Launch says what a process is started with: all that tells which files it
// executes.
type Launch struct {
	Program string
	Args    []string
	Script  string // text for a shell, given on its command line
	Dir     string // where it runs
	Path    string // its variable PATH
	Home    string // what ~ means in Script; "" = nothing
	Preload string // values of variables that make programs load files first, see Preloads
}

// Preloads are the variables that name files which a shell, the dynamic linker
// or an interpreter executes before anything else.
var Preloads = []string{
	"BASH_ENV", "ENV", "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "PYTHONSTARTUP", "NODE_OPTIONS", "PERL5OPT", "RUBYOPT",
}

// maxParts bounds what one hook may be made of: each part is looked at before
// each start.
const maxParts = 1024

// Add adds to f what l executes. No program is known by its name: each
// argument that names a file, whole or behind a = or an option's letter, is a
// part of the hook, as are the interpreters and the arguments that #! lines
// name, the programs that a word means in l.Path, and the words of shell text.
// Words that name no file are noted, so that one which comes later is noticed.
func (c *Checker) Add(f Files, l Launch) Files {
	p := &parts{c: c, l: l, files: f, seen: map[string]bool{}}
	if l.Program != "" {
		p.part(l.Program, true)
	}
	for _, arg := range l.Args {
		p.word(arg)
	}
	p.script(l.Script, 0)
	p.script(l.Preload, 0)
	for at := 0; at < len(p.queue); at++ { // it grows
		p.shebang(p.queue[at])
	}
	if n := len(p.seen); n > maxParts {
		p.refuse(l.Program, fmt.Sprintf("names %d files, and %d are the most that are looked at before each start", n, maxParts), "hookd new my-hook --lang sh")
	}
	return p.files
}

// parts gathers the files of a launch.
type parts struct {
	c     *Checker
	l     Launch
	files Files
	seen  map[string]bool
	queue []string // files whose #! line has not been read
}

func (p *parts) first(path string) bool {
	was := p.seen[path]
	p.seen[path] = true
	return !was && len(p.seen) <= maxParts
}

func (p *parts) refuse(path, fact, do string) {
	p.files.Bad = append(p.files.Bad, Refusal{Path: path, Fact: fact, Do: do})
}

// part adds a file. What root has installed is judged, but is not the hook's
// own: an upgrade of the system is no change of a hook.
func (p *parts) part(path string, executed bool) {
	if !p.first(path) {
		return
	}
	if executed {
		p.files.Run = append(p.files.Run, path)
	} else {
		p.files.Read = append(p.files.Read, path)
	}
	if !p.c.installed(path) {
		p.files.Own = append(p.files.Own, path)
	}
	p.queue = append(p.queue, path)
}

// word adds what an argument names.
func (p *parts) word(word string) {
	if p.file(word) {
		return
	}
	if strings.ContainsAny(word, " \t\n;|&()<>`$'\"") {
		p.script(word, 0) // for env -S, sh -c and their like
	}
	if strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
		if !strings.HasPrefix(word, "--") && len(word) > 2 {
			p.file(word[2:])
		}
		_, value, _ := strings.Cut(word, "=")
		p.file(value)
		for _, piece := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ':' || r == '=' }) {
			p.file(piece)
		}
		return
	}
	p.program(word)
}

// file adds the file of that name in the directory of the run, and reports
// whether there is one.
func (p *parts) file(name string) bool {
	if name == "" || len(name) > 4096 || strings.IndexByte(name, 0) >= 0 {
		return false
	}
	path := name
	if !filepath.IsAbs(name) {
		path = p.l.Dir + "/" + name
	}
	if !strings.Contains(path, "..") { // which is not to be cleaned: what it means depends on links
		path = filepath.Clean(path)
	}
	switch info, err := p.c.stat(path); {
	case err == nil && info.Mode().IsRegular():
		p.part(path, true)
		return true
	case err == nil && info.IsDir():
		p.folder(path)
	case errors.Is(err, fs.ErrNotExist) && p.first(path):
		p.files.Absent = append(p.files.Absent, path)
		p.unended(path)
	}
	return false
}

// begins are what the names of files begin with that an interpreter or a build
// tool executes when it is given their directory: python3 DIR, node DIR, make -C DIR.
// Those with a whole name that are not there yet are noted.
var begins = []string{
	"__main__.py", "index.js", "package.json", "Makefile", "makefile", "GNUmakefile", "main.go",
	"__init__.", "__main__.", "index.", "main.", "build.", "rakefile", "justfile", "taskfile.", "dockerfile", "compose.", "docker-compose.",
	"cargo.toml", "cmakelists.txt", "deno.json", "mod.", "go.mod", "pom.xml",
}

// folder adds what is executed of a directory that is named, where not only
// root fills it.
func (p *parts) folder(dir string) {
	info, err := p.c.stat(dir)
	if err != nil || p.c.installed(dir) || info.Mode()&fs.ModeSticky != 0 || !p.first(dir+"/.") {
		return // in a sticky one, as /tmp, others may have files of any name
	}
	for _, name := range names(dir) {
		lower := strings.ToLower(name)
		if strings.HasSuffix(lower, ".go") || slices.ContainsFunc(begins, func(b string) bool { return strings.HasPrefix(lower, strings.ToLower(b)) }) {
			p.beside(dir, name)
		}
	}
	for _, name := range begins[:7] {
		if path := filepath.Join(dir, name); p.first(path) {
			p.files.Absent = append(p.files.Absent, path)
		}
	}
}

// unended adds the files that path names but for their ending: node finds
// guard.js by the word guard.
func (p *parts) unended(path string) {
	dir, base := filepath.Dir(path), filepath.Base(path)
	if info, err := p.c.stat(dir); err != nil || info.Mode()&fs.ModeSticky != 0 {
		return
	}
	if strings.HasPrefix(base, "-") || strings.ContainsAny(base, " *?;|&$") || p.c.installed(dir) {
		return
	}
	for _, name := range names(dir) {
		if strings.HasPrefix(name, base+".") {
			p.beside(dir, name)
		}
	}
}

func (p *parts) beside(dir, name string) {
	path := filepath.Join(dir, name)
	if info, err := p.c.stat(path); err == nil && info.Mode().IsRegular() {
		p.part(path, false)
	}
}

// maxNames is how much of a directory is looked at.
const maxNames = 4096

func names(dir string) []string {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.Readdirnames(maxNames) // what could be read of it counts
	return list
}

// program adds the program that a word means in PATH. A directory that comes
// before it, and that not only root fills, may get one of that name later.
func (p *parts) program(name string) (found bool) {
	if name == "" || len(name) > 255 || strings.ContainsAny(name, "/\x00") {
		return false
	}
	for _, dir := range filepath.SplitList(p.l.Path) {
		if !filepath.IsAbs(dir) {
			continue // no hook runs with such a PATH, see CleanPath
		}
		path := dir + "/" + name
		info, err := p.c.stat(path)
		switch {
		case err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0:
			p.part(path, false)
			return true
		case errors.Is(err, fs.ErrNotExist) && !p.c.installed(dir) && p.first(path):
			p.files.Absent = append(p.files.Absent, path)
		}
	}
	return false
}

// CleanPath returns a PATH without the entries that mean another directory in
// each: those that are empty or relative.
func CleanPath(path string) string {
	dirs := slices.DeleteFunc(strings.Split(path, ":"), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(dirs, ":")
}

// shebang adds what the first line of a script names: the interpreter, and
// what is in its argument, which env -S takes apart.
func (p *parts) shebang(file string) {
	line, ok := strings.CutPrefix(p.c.firstLine(file, p.l.Dir), "#!")
	line = strings.Trim(line, " \t\r")
	interpreter, rest := line, ""
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		interpreter, rest = line[:i], strings.TrimLeft(line[i:], " \t")
	}
	if !ok || interpreter == "" {
		return
	}
	if !filepath.IsAbs(interpreter) {
		p.refuse(file, "names the interpreter "+Quote(interpreter)+", which is another in each directory", "sed -i '1s|#!.*|#!/bin/sh|' "+Quote(file))
		return
	}
	p.part(interpreter, true)
	if rest == "" {
		return
	}
	p.file(rest) // the kernel hands it over in one piece
	for _, word := range strings.Fields(rest) {
		p.word(word)
	}
}

// installed reports whether root has put a file there: for root itself only
// the folders of the system count as such.
func (c *Checker) installed(path string) bool {
	info, err := c.stat(path)
	if err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 || info.IsDir() && info.Mode()&0o022 != 0 {
		return false
	}
	return c.uid != 0 || slices.ContainsFunc(systemFolders, func(dir string) bool { return strings.HasPrefix(path, dir) })
}

var systemFolders = []string{"/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/opt/", "/snap/", "/nix/", "/bin", "/sbin"}

// stat looks at what a path leads to, for a look at many hooks once.
func (c *Checker) stat(path string) (fs.FileInfo, error) {
	s := remembered(c, path, "", func(m *memory) map[string]status { return m.status }, func() status {
		info, err := os.Stat(path)
		return status{info, err}
	})
	return s.info, s.err
}

// firstLine reads the beginning of a regular file; nothing of any other.
func firstLine(file string) string {
	head, err := readfile.Head(file, 512) // as far as any kernel reads
	if err != nil {
		return ""
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return string(line)
}
