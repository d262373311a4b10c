package facts

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// madeFile is a file that the call itself makes.
type madeFile struct {
	by    string // the program
	text  string // as far as it is known
	whole bool   // text is the whole
	read  bool   // the text was followed as code
}

// keepers are programs that change a file, but not its meaning.
var keepers = wordLists["keepers"]

// compilers are programs that make a program of files of the project.
var compilers = wordLists["compilers"]

// fetchers are programs that bring in files from elsewhere.
var fetchers = wordLists["fetchers"]

// unpacks are programs that write all that lies below a folder.
var unpacks = names("tar bsdtar unzip 7z 7za cpio git gh jar unrar rsync svn hg expand-archive")

// makes notes that the call writes a file.
func (c *finder) makes(target string) {
	name := c.name()
	if keepers[name] || compilers[name] && !slices.ContainsFunc(c.words, func(w Word) bool {
		return w.Text == "-" || c.isMadeWord(w) || strings.HasPrefix(w.Text, "/tmp/") && name != "go"
	}) {
		return
	}
	m := &madeFile{by: name}
	if name == "git" && plainFirst(c.words[1:]) == "mv" { // it fetches nothing
		m.by = "mv"
	}
	if in := c.sh.stdin; (name == "tee" || name == "sponge") && in.known {
		m.text, m.whole = in.text, !c.sh.lost
	}
	c.sh.r.made[target] = m
	if unpacks[name] && c.sh.stdin.origin == "git archive" && strings.HasPrefix(target+"/", c.sh.r.env.Cwd+"/") {
		c.effect(KindHistory, "worktree", true)
	}
	if unpacks[name] && target != "" {
		c.sh.r.folder[target] = true
		if c.sh.where == "" {
			c.guarded(target, false, true)
		}
	}
}

// says notes the content of a file that a redirection has written.
func (c *finder) says(target string, out output, appends bool) {
	m := c.sh.r.made[target]
	if m == nil || !out.known {
		return
	}
	m.text, m.whole = out.text, !appends && !c.sh.lost
}

// restores adds that work is lost where git's kept version of a file is written over the file.
func (c *finder) restores() {
	if name := c.name(); name != "git" || c.sh.where != "" {
		return
	}
	for _, rd := range c.redirects {
		target := c.anyPath(rd.Target)
		if rd.Op == "<" || c.sh.r.env.Cwd == "" || !strings.HasPrefix(target, c.sh.r.env.Cwd+"/") {
			continue
		}
		if slices.ContainsFunc(c.words, func(w Word) bool {
			_, file, has := strings.Cut(w.Text, ":")
			return has && path.Base(file) == path.Base(target)
		}) {
			c.effect(KindHistory, "worktree", true)
		}
	}
}

// bringsTree notes that a command takes the files of the project from another place than its own remotes:
// git pull URL, curl URL | git am, git checkout FETCH_HEAD.
func (p *applier) bringsTree() {
	name := p.name()
	if p.folder() == "" || p.sh.where != "" || name == "gh" || name == "glab" { // a pull request is the project's
		return
	}
	mine := p.sh.r.out.Effects[p.from:]
	connects := slices.ContainsFunc(mine, func(e Effect) bool {
		return e.Kind == KindConnect && strings.HasPrefix(e.Target, "host:")
	}) || slices.ContainsFunc(p.a.operands, func(w Word) bool { return isURL(w.Text) }) ||
		p.sh.stdin.has && !p.sh.stdin.known && !strings.HasPrefix(p.sh.stdin.origin, "file ") // curl URL | git am
	fetched := slices.ContainsFunc(p.a.operands, func(w Word) bool { return w.Text == "FETCH_HEAD" })
	changes := slices.ContainsFunc(mine, func(e Effect) bool {
		return e.Kind == KindWrite && e.Target == "worktree"
	})
	if connects && changes || fetched && slices.ContainsFunc(p.sh.r.out.Effects, func(e Effect) bool {
		return e.Kind == KindConnect && strings.HasPrefix(e.Target, "host:")
	}) {
		p.sh.r.folder[p.folder()] = true
	}
}

// isMade reports whether the call makes a file, or a folder above it.
func (r *reading) isMade(target string) bool { return r.madeAt(target) != nil }

func (r *reading) madeAt(target string) *madeFile {
	if m := r.made[target]; m != nil {
		return m
	}
	for folder := range r.folder {
		if folder == target || strings.HasPrefix(target, strings.TrimSuffix(folder, "/")+"/") {
			return &madeFile{by: "tar"}
		}
	}
	isPattern := strings.ContainsAny(target, "*?[")
	for file, m := range r.made {
		if isPattern && fitsAnyDepth(target, file) {
			return m
		}
		if (m.by == "split" || m.by == "csplit") && strings.HasPrefix(target, file) { // it is the beginning of names
			return m
		}
	}
	return nil
}

// isMade reports whether the line has made a program that a name without a folder may mean.
func (c *finder) isMade(word string) bool {
	return slices.ContainsFunc(c.sh.r.path, func(folder string) bool { return c.sh.r.isMade(folder + "/" + word) })
}

// isMadeWord reports whether a word names a file that the call makes.
func (c *finder) isMadeWord(w Word) bool {
	t, _ := c.target(w)
	return t != "" && c.sh.r.isMade(t)
}

// endings are the endings that interpreters add to the name of a module.
var endings = map[string][]string{
	"node":   {"", ".js", ".mjs", ".cjs", ".ts", ".json", "/index.js", "/index.mjs", "/index.ts", "/package.json"},
	"python": {"", ".py", "/__init__.py", "/__main__.py", ".pyc"},
	"ruby":   {"", ".rb"}, "perl": {"", ".pm", ".pl"}, "lua": {"", ".lua", "/init.lua"}, "php": {"", ".php"},
}

// runsMade follows a file that is run, or loaded, where the call makes it: its text as far as
// that is known, and a doubt where it is not known in full. It reports whether the call makes the file.
func (c *finder) runsMade(target, lang, shown string) (made bool) {
	if c.sh.where != "" || target == "" {
		return false
	}
	all := endings[lang]
	if all == nil {
		all = []string{""}
	}
	for _, ending := range all {
		m := c.sh.r.madeAt(target + ending)
		if m == nil {
			continue
		}
		made = true
		of := cmp.Or(lang, languageOf(target+ending, m.text))
		if of == "" && m.whole {
			of = "sh"
		}
		if !c.follow(m, of) {
			c.doubt(DoubtMade, "the line makes "+shown+ending+" and runs it")
		}
	}
	return made
}

// languageOf is the language of a file by its name and its first line; "" = it is not known.
func languageOf(file, text string) string {
	if first, _, _ := strings.Cut(text, "\n"); strings.HasPrefix(first, "#!") {
		words := strings.Fields(strings.TrimPrefix(first, "#!"))
		if len(words) > 0 && path.Base(words[0]) == "env" {
			words = words[1:]
		}
		for len(words) > 0 && strings.HasPrefix(words[0], "-") {
			words = words[1:]
		}
		if len(words) > 0 {
			name := strings.TrimRight(path.Base(words[0]), "0123456789.")
			switch name {
			case "sh", "bash", "dash", "zsh", "ksh", "ash":
				return "sh"
			case "awk", "sed", "make":
				return name
			}
			return cmp.Or(languageNames[name], name)
		}
	}
	switch path.Base(file) {
	case "Makefile", "makefile", "GNUmakefile", "justfile", "Justfile":
		return "make"
	case "Rakefile", "Gemfile":
		return "ruby"
	}
	switch path.Ext(file) {
	case ".sh", ".bash", ".zsh", ".envrc", ".bats":
		return "sh"
	case ".py", ".pyw":
		return "python"
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx":
		return "node"
	case ".rb", ".rake":
		return "ruby"
	case ".pl", ".pm":
		return "perl"
	case ".php":
		return "php"
	case ".lua":
		return "lua"
	case ".mk":
		return "make"
	case ".json", ".yaml", ".yml", ".toml", ".cfg", ".ini":
		return "settings"
	case ".sql":
		return "sql"
	case ".ps1":
		return "powershell"
	case ".go", ".rs", ".java":
		return path.Ext(file)[1:]
	case ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp":
		return "c"
	}
	return ""
}

// follow follows the text of a file that the call makes and runs. known means that nothing of
// it is in doubt: the text is all of the file, in a language that is read.
func (c *finder) follow(m *madeFile, lang string) (known bool) {
	reads := lang == "sh" || lang == "make" || lang == "settings" || lang == "sql" || languages()[lang] != nil
	if !reads || m.text == "" && !m.whole {
		return false
	}
	if m.read {
		return m.whole
	}
	m.read = true
	inner := *c
	sh := *c.sh
	sh.stdin = input{has: true, known: true}
	inner.sh, inner.loaded = &sh, true
	if lang == "settings" {
		inner.quotedLines(m.text, true)
	} else {
		inner.code(lang, Word{Text: m.text, Kind: Literal})
	}
	return m.whole
}

// buildFiles are files with commands or code that a build of a project runs.
var buildFiles = wordLists["buildFiles"]

// runsProject follows that the call runs code of the project, where the line has made some of the code.
func (c *finder) runsProject() {
	folder := c.folder()
	if folder == "" || c.sh.where != "" {
		return
	}
	c.inGuarded()
	files := sorted(c.sh.r.made)
	for _, file := range files {
		m := c.sh.r.made[file]
		if m.read || !strings.HasPrefix(file, folder+"/") {
			continue
		}
		lang := languageOf(file, m.text)
		isBuild := buildFiles[path.Base(file)] && path.Dir(file) == folder
		switch {
		case lang == "" && !isBuild:
		case c.follow(m, lang):
		case isBuild, fetchers[m.by] && lang != "settings":
			c.doubt(DoubtMade, "the line makes "+path.Base(file)+", which "+c.name()+" may run")
		}
	}
	if c.sh.r.isMade(folder) {
		c.doubt(DoubtMade, "the line makes what "+c.name()+" runs")
	}
}

// inGuarded adds that a program that is not known runs where a guard's files lie: it may change them.
func (c *finder) inGuarded() {
	if folder := c.folder(); folder != "" && c.sh.where == "" && folder != c.sh.r.env.Home && folder != c.sh.r.env.Cwd {
		c.guarded(folder, false, true)
	}
}

// imported follows a module that code loads.
func (c *finder) imported(lang, name string) {
	if c.isInstalled(name) {
		c.doubt(DoubtMade, "the line installs "+name+" and runs it")
	}
	switch {
	case strings.HasPrefix(name, ".") && lang == "python":
		name = strings.TrimLeft(name, ".")
	case lang == "node" && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "/"):
		name = "node_modules/" + name
	}
	if lang == "python" || lang == "lua" {
		name = strings.ReplaceAll(name, ".", "/")
	}
	if target, ok := c.absolute(strings.ReplaceAll(name, "::", "/")); ok && name != "" {
		c.runsMade(target, lang, name)
	}
}
