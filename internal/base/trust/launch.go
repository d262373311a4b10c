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
	"sync"
	"syscall"
	"time"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/readfile"
)

// Launch holds the values that a process is started with and that decide which files
// are executed.
type Launch struct {
	Program string
	Args    []string
	Script  string   // text for a shell, given on its command line
	Dir     string   // where it runs
	Path    string   // its variable PATH
	Home    string   // what ~ means in Script; "" = nothing
	Env     []string // NAME=value that the hook itself sets
}

// maxParts bounds the files of one hook: each is checked before each start.
const maxParts = 1024

// Add adds the files that l executes to f. It needs no list of known programs: each
// argument that names a file, whole or in a part (see pieces), is a part of the hook,
// and so are the interpreters and the arguments that #! lines name, the programs that a
// word means in l.Path, the words of shell text, and the files named by variables that
// decide which code runs. Of a directory its code is. Words that name no file go to
// Files.Absent, so that a file of that name changes the hook.
func (c *Checker) Add(f Files, l Launch) Files {
	p := &parts{c: c, l: l, files: f, seen: map[string]bool{}}
	if l.Program != "" {
		p.part(l.Program, true)
	}
	p.giving = l.Program != "" && !p.opens(l.Program)
	for _, arg := range l.Args {
		before := len(p.files.Run)
		p.word(arg)
		p.giving = p.giving || len(p.files.Run) > before // an interpreter opens the first file that it is given
	}
	p.giving = false
	p.script(l.Script, 0)
	for _, variable := range l.Env {
		p.variable(variable)
	}
	for at := 0; at < len(p.queue); at++ { // it grows
		p.shebang(p.queue[at])
	}
	if n := len(p.seen); n > maxParts {
		tooMany := fmt.Sprintf("names %d files, and at most %d are checked before each start", n, maxParts)
		p.refuse(l.Program, tooMany, "hookd new my-hook --lang sh")
	}
	return p.files
}

// parts collects the files of a launch.
type parts struct {
	c     *Checker
	l     Launch
	files Files
	seen  map[string]bool
	queue []string // files whose #! line has not been read

	giving bool // the words are given to a program that executes none of the files that they name
}

func (p *parts) firstTime(path string) bool {
	was := p.seen[path]
	p.seen[path] = true
	return !was && len(p.seen) <= maxParts
}

func (p *parts) refuse(path, fact, do string) {
	p.files.Bad = append(p.files.Bad, Refusal{Path: path, Fact: fact, Do: do})
}

// part adds a file. A file that root has installed is judged, but is not the hook's
// own: an upgrade of the system does not change a hook.
func (p *parts) part(path string, executed bool) {
	if !p.giving { // another part of the launch has it executed
		p.files.Given = slices.DeleteFunc(p.files.Given, func(one string) bool { return one == path })
	}
	if !p.firstTime(path) {
		return
	}
	if p.giving && executed && p.isData(path) {
		p.files.Given = append(p.files.Given, path)
	}
	if executed {
		p.files.Run = append(p.files.Run, path)
	} else {
		p.files.Read = append(p.files.Read, path)
	}
	if p.c.installed(path) {
		p.files.installed = append(p.files.installed, path)
	} else {
		p.files.Own = append(p.files.Own, path)
	}
	p.queue = append(p.queue, path)
}

// openers are programs that execute a file that they are given, without the digits and dots
// of their version.
var openers = []string{
	".", "source", "exec", "eval", "command", "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "busybox", "csh", "tcsh",
	"env", "xargs", "nice", "nohup", "setsid", "timeout", "time", "stdbuf", "sudo", "doas", "chroot", "unshare", "parallel",
	"python", "pypy", "uv", "perl", "ruby", "node", "nodejs", "deno", "bun", "tsx", "npx", "php", "lua", "luajit", "tclsh", "Rscript",
	"java", "dotnet", "mono", "go", "cargo", "make", "gmake", "just", "task", "awk", "gawk", "mawk", "nawk", "sed", "jq", "expect",
	"osascript", "pwsh", "guile", "racket", "sbcl", "emacs", "vim", "julia", "elixir", "escript", "erl", "swift", "docker", "podman",
}

// opens reports whether a program may execute a file that it is given: an interpreter, and a
// program of the hook's own that is no script.
func (p *parts) opens(program string) bool {
	if slices.Contains(openers, strings.TrimRight(filepath.Base(program), "0123456789.-")) || program == "." {
		return true
	}
	return !p.c.installed(program) && !strings.HasPrefix(p.c.firstLine(program, p.l.Dir), "#!")
}

// isData reports whether a file looks like no program.
func (p *parts) isData(path string) bool {
	info, err := p.c.stat(path)
	return err == nil && info.Mode()&0o111 == 0 && !isCode(filepath.Base(path))
}

// word adds the files that an argument names.
func (p *parts) word(word string) {
	if p.file(word) {
		return
	}
	if strings.ContainsAny(word, " \t\n;|&()<>`$'\"") {
		p.script(word, 0) // for env -S, sh -c and their like
	}
	p.pieces(word)
	if !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
		p.program(word)
	}
}

// maxPieces is how many parts of one word are looked for.
const maxPieces = 256

// pieces adds the files that parts of a word name: behind the letter of an option, the
// parts that =, : and , divide, and each of these behind @ or file://. So it finds them
// in -fFILE, --opt=FILE, -cp A:B, -javaagent:FILE=x, a=@FILE and file://FILE.
func (p *parts) pieces(word string) {
	if strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && len(word) > 2 {
		p.file(word[2:])
	}
	_, url, isURL := strings.Cut(word, "file://")
	if isURL {
		p.file(strings.TrimPrefix(url, "localhost"))
	}
	_, value, _ := strings.Cut(word, "=")
	p.file(value)
	divided := strings.FieldsFunc(word, func(r rune) bool { return r == ',' || r == ':' || r == '=' })
	if len(divided) > maxPieces {
		return // data, or the text of a program
	}
	for _, piece := range divided {
		_, behind, _ := strings.Cut(piece, "@")
		p.file(behind)
		if len(divided) > 1 {
			p.file(piece)
		}
	}
}

// variable adds the files that a variable of the hook's own env names, if it decides
// which code runs.
func (p *parts) variable(variable string) {
	name, value, _ := strings.Cut(variable, "=")
	if name == "PATH" || !decidesCode(name) {
		return
	}
	p.script(strings.ReplaceAll(value, ":", " "), 0)
	for _, word := range strings.Fields(value) {
		p.file(word)
		p.pieces(word)
	}
}

// codeWords are words in the names of variables that have shells, the dynamic linker,
// interpreters and tools load or execute the files that they name: LD_PRELOAD,
// BASH_ENV, PYTHONPATH, PERL5OPT, NODE_OPTIONS, RUBYLIB, JAVA_TOOL_OPTIONS,
// GIT_SSH_COMMAND.
var codeWords = []string{
	"PATH", "LIB", "PRELOAD", "AUDIT", "INSERT", "OPT", "FLAGS", "ENV", "STARTUP", "INIT", "PROFILE", "PLUGIN", "MODULE",
	"CONF", "COMMAND", "EDITOR", "PAGER", "SHELL", "EXEC", "LOADER", "AGENT", "HOOK", "OPEN", "RC",
}

// writtenWords are the words, between underscores, of variables that name the files a
// hook writes: LOG_PATH.
var writtenWords = []string{"LOG", "LOGS", "LOGFILE", "OUT", "OUTPUT"}

func decidesCode(name string) bool {
	name = strings.ToUpper(name)
	for _, word := range strings.Split(name, "_") {
		if slices.Contains(writtenWords, word) {
			return false
		}
	}
	return slices.ContainsFunc(codeWords, func(word string) bool { return strings.Contains(name, word) })
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
	if !strings.Contains(path, "..") { // Clean would change what .. means behind a link
		path = filepath.Clean(path)
	}
	switch info, err := p.c.stat(path); {
	case err == nil && info.Mode().IsRegular():
		p.part(path, true)
		return true
	case errors.Is(err, syscall.ENAMETOOLONG) || err == nil && isDevice(path):
	case p.firstTime(path): // a file may come in the place of whatever is there now
		p.files.Absent = append(p.files.Absent, path)
		if err == nil && info.IsDir() {
			p.folder(path)
		} else if errors.Is(err, fs.ErrNotExist) {
			p.withExtensions(path)
		}
	}
	return false
}

// isDevice reports whether a path that exists is of the kernel's own files.
func isDevice(path string) bool {
	path = filepath.Clean(path)
	return filepath.Dir(path) == "/dev" || strings.HasPrefix(path, "/proc/")
}

// entries are the names, and their beginnings, of files that an interpreter or a build
// tool executes when it gets their directory: python3 DIR, node DIR, make -C DIR.
var entries = []string{
	"__init__.", "__main__.", "index.", "main.", "build.", "makefile", "gnumakefile", "rakefile", "justfile", "taskfile.",
	"package.json", "dockerfile", "compose.", "docker-compose.", "cargo.toml", "cmakelists.txt", "deno.json", "mod.",
	"go.mod", "pom.xml",
}

// codeEndings are the endings of files that interpreters load from a directory that they
// search: python3 with PYTHONPATH, perl -I, java -cp, a linker with LD_LIBRARY_PATH.
var codeEndings = []string{
	".go", ".py", ".pyc", ".pth", ".so", ".dylib", ".js", ".mjs", ".cjs", ".ts", ".node", ".pl", ".pm", ".al", ".rb", ".php",
	".lua", ".jar", ".class", ".sh", ".bash", ".zsh", ".tcl", ".jl", ".r", ".scm", ".el", ".wasm",
}

// isEntry reports whether a tool executes the file of that name in a directory.
func isEntry(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(entries, func(entry string) bool { return strings.HasPrefix(name, entry) })
}

func isPackage(name string) bool {
	return strings.HasPrefix(name, "__init__.") || strings.HasPrefix(name, "index.") || name == "package.json"
}

func isCode(name string) bool {
	lower := strings.ToLower(name)
	endsSo := func(ending string) bool { return strings.HasSuffix(lower, ending) }
	return isEntry(name) || strings.Contains(lower, ".so.") || slices.ContainsFunc(codeEndings, endsSo)
}

// folder adds the code of a directory, unless only root can fill it.
func (p *parts) folder(dir string) {
	info, err := p.c.stat(dir)
	if err != nil || p.c.installed(dir) || info.Mode()&fs.ModeSticky != 0 || !p.firstTime(dir+"/.") {
		return // in a sticky one, such as /tmp, other users may have files of any name
	}
	p.files.Code = append(p.files.Code, dir)
	for _, path := range codeIn(dir) {
		p.part(path, false)
	}
}

// maxCode is how many files of one directory are parts of a hook.
const maxCode = 256

// codeIn returns the files of code in a directory, and the files by which each directory
// in it is a package to an interpreter. Of more than maxCode it returns only the files
// of the directory by which a tool begins.
func codeIn(dir string) (paths []string) {
	all := files(dir, isCode)
	for _, name := range names(dir) {
		if !strings.HasPrefix(name, ".") && !strings.Contains(name, ".") {
			all = append(all, files(filepath.Join(dir, name), isPackage)...)
		}
	}
	if len(all) > maxCode {
		all = files(dir, isEntry)
	}
	return all[:min(len(all), maxCode)]
}

// files returns the regular files of a directory whose names pass, in byte order.
func files(dir string, pass func(string) bool) (paths []string) {
	for _, name := range names(dir) {
		if !pass(name) {
			continue
		}
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			paths = append(paths, path)
		}
	}
	return paths
}

// withExtensions adds the files whose name is path and an extension: node finds
// guard.js by the word guard.
func (p *parts) withExtensions(path string) {
	dir, base := filepath.Dir(path), filepath.Base(path)
	if info, err := p.c.stat(dir); err != nil || info.Mode()&fs.ModeSticky != 0 {
		return
	}
	if strings.HasPrefix(base, "-") || strings.ContainsAny(base, " *?;|&$") || p.c.installed(dir) {
		return
	}
	for _, name := range names(dir) {
		if strings.HasPrefix(name, base+".") {
			p.addIn(dir, name)
		}
	}
}

func (p *parts) addIn(dir, name string) {
	path := filepath.Join(dir, name)
	if info, err := p.c.stat(path); err == nil && info.Mode().IsRegular() {
		p.part(path, false)
	}
}

// maxNames is how many entries of a directory are read.
const maxNames = 4096

func names(dir string) []string {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.Readdirnames(maxNames) // an error leaves the names before it
	slices.Sort(list)
	return list
}

// program adds the program that a word means in PATH. A directory before it that
// not only root can fill may get a program of that name later, so that path is
// Absent.
func (p *parts) program(name string) {
	if name == "" || len(name) > 255 || strings.ContainsAny(name, "/\x00") {
		return
	}
	for _, dir := range filepath.SplitList(p.l.Path) {
		if !filepath.IsAbs(dir) {
			continue // no hook runs with such a PATH, see CleanPath
		}
		path := dir + "/" + name
		info, err := p.c.stat(path)
		isFile := err == nil && info.Mode().IsRegular()
		switch {
		case isFile && info.Mode()&0o111 != 0:
			p.part(path, false)
			return
		case p.c.installed(dir):
		case isFile: // it may be made a program
			p.part(path, false)
		case p.firstTime(path):
			p.files.Absent = append(p.files.Absent, path)
		}
	}
}

// folderTime is how long a folder of PATH may take to answer.
const folderTime = 2 * time.Second

var pathFolders = readfile.NewPatience(folderTime, nil)

// SafePath returns a PATH without the entries that CleanPath removes, and without
// the folders in which another user could put a program, or which do not answer
// within 2 s: left says why.
func SafePath(path string) (safe string, left []Refusal) {
	c := New()
	dirs := filepath.SplitList(CleanPath(path))
	refused := make([][]Refusal, len(dirs))
	var looked sync.WaitGroup
	for i, dir := range dirs {
		looked.Go(func() { refused[i] = c.searched(dir) })
	}
	looked.Wait()
	var safes []string
	for i, dir := range dirs {
		if len(refused[i]) > 0 {
			left = append(left, refused[i][0])
		} else {
			safes = append(safes, dir)
		}
	}
	return strings.Join(safes, ":"), left
}

// searched returns the faults of a folder of PATH.
func (c *Checker) searched(dir string) []Refusal {
	found := make(chan []Refusal, 1)
	if !pathFolders.Try(dir, func() {
		w := c.walk()
		w.search(dir)
		found <- w.refusals
	}) {
		return []Refusal{{Path: dir, Fact: "does not answer, its file system hangs", Do: "mount"}}
	}
	return <-found
}

// CleanPath returns a PATH without empty and relative entries, which depend on the
// working directory.
func CleanPath(path string) string {
	dirs := slices.DeleteFunc(strings.Split(path, ":"), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(dirs, ":")
}

// shebang adds the files that the first line of a script names: the interpreter, and
// the files in its argument, which env -S splits.
func (p *parts) shebang(file string) {
	line, ok := strings.CutPrefix(p.firstLine(file), "#!")
	line = strings.Trim(line, " \t\r")
	interpreter, rest := line, ""
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		interpreter, rest = line[:i], strings.TrimLeft(line[i:], " \t")
	}
	if !ok || interpreter == "" {
		return
	}
	if !filepath.IsAbs(interpreter) {
		fact := "names the interpreter " + escape.Quote(interpreter) + ", which depends on the working directory"
		p.refuse(file, fact, "sed -i '1s|#!.*|#!/bin/sh|' "+escape.Quote(file))
		return
	}
	p.part(interpreter, true)
	if rest == "" {
		return
	}
	p.file(rest) // the kernel passes it as one argument
	for _, word := range strings.Fields(rest) {
		p.word(word)
	}
}

// firstLine is the first line of a file. Where its bytes count it is read as a whole, once
// for its line and for its digest.
func (p *parts) firstLine(file string) string {
	if _, signed := p.files.Signed[file]; !signed && !(p.files.Contents && slices.Contains(p.files.Own, file)) {
		return p.c.firstLine(file, p.l.Dir)
	}
	r := p.c.sum(file, p.l.Dir)
	p.files.read = append(p.files.read, r)
	return r.line
}

// installed reports whether only root can change a file or directory, or the way to it. For
// root itself only the folders of the system count.
func (c *Checker) installed(path string) bool {
	info, err := c.stat(path)
	if err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 || info.IsDir() && info.Mode()&0o022 != 0 {
		return false
	}
	return c.isSystem(path) && cached(c, path, "", func(m *cache) map[string]bool { return m.root }, func() bool {
		w := c.walk()
		_, ok := w.path(path, above)
		return ok && w.led == ""
	})
}

// isSystem reports whether a path of root's belongs to the system. For root itself only the
// folders of the system do.
func (c *Checker) isSystem(path string) bool { return c.uid != 0 || inSystem(path) }

func inSystem(path string) bool {
	return slices.ContainsFunc(systemFolders, func(dir string) bool { return strings.HasPrefix(path+"/", dir) })
}

var systemFolders = []string{"/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/opt/", "/snap/", "/nix/"}

// stat is os.Stat with the cache.
func (c *Checker) stat(path string) (fs.FileInfo, error) {
	s := cached(c, path, "", func(m *cache) map[string]status { return m.status }, func() status {
		info, err := os.Stat(path)
		return status{info, err}
	})
	return s.info, s.err
}

// maxLine is as far as any kernel reads a #! line.
const maxLine = 512

// firstLine returns the first line of a regular file; "" for any other.
func firstLine(file string) string {
	head, err := readfile.Head(file, maxLine)
	if err != nil {
		return ""
	}
	return lineOf(head)
}

func lineOf(text []byte) string {
	line, _, _ := bytes.Cut(text[:min(len(text), maxLine)], []byte("\n"))
	return string(line)
}
