package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// printsFolder are commands that print the folder of installed programs.
var printsFolder = map[string]bool{
	"go env": true, "npm bin": true, "npm root": true, "npm prefix": true, "yarn bin": true, "pnpm bin": true,
	"brew --prefix": true, "brew": true, "pyenv root": true, "rbenv root": true, "gem environment": true,
}

// computed follows a command whose program is not known.
func (c *finder) computed() output {
	c.sh.applyRedirects(c.redirects, c.index, output{}, false)
	name := c.words[0]
	if base := path.Base(name.Text); printsFolder[name.from] && !strings.Contains(base, unknownPart) {
		return c.program(base, c.words[1:])
	}
	if name.from != "" && !strings.HasPrefix(name.from, "${") {
		c.doubt(DoubtEval, "what "+name.from+" prints is run as a command")
	} else {
		c.doubt(DoubtWord, "which program "+short(c.text)+" runs is only known when it runs")
	}
	if len(c.words) > 1 {
		return c.guesses(c.words[1:])
	}
	return output{origin: "a command"}
}

// guesses reads words that may be run: each as the beginning of a command, and each text as a line.
func (c *finder) guesses(words []Word) output {
	sh := c.nested("?")
	sh.guess = true
	if sh.depth > maxDepth {
		return output{origin: "a command"}
	}
	for i, w := range words {
		if w.Kind == Unknown {
			if i > 0 && takesCode[words[i-1].Text] && w.from != "" {
				c.doubt(DoubtEval, short(c.text)+" may run what "+w.from+" prints")
			}
			continue
		}
		text := w.Text
		if strings.HasPrefix(text, "/dev/fd/") && w.from != "" && !strings.Contains(c.words[0].Text, "/") {
			c.doubt(DoubtEval, short(c.text)+" may run what "+w.from+" prints")
			continue
		}
		if strings.ContainsAny(text, " \t\n;|&`") || strings.Contains(text, "$(") {
			for _, part := range linesIn(text) {
				if looksLikeLine(part) {
					sh.line(strings.TrimLeft(part, "!:@|"))
				}
			}
			if strings.ContainsAny(text, `'"(!`) {
				c.quotedLines(text, false) // linesIn has the whole text
			}
			continue
		}
		e := sh.r.t.program(programName(text))
		if e == nil || i+1 >= len(words) || strings.HasPrefix(text, "-") ||
			ordinary[programName(text)] && !strings.Contains(text, "/") &&
				(len(e.subs) == 0 || e.sub(words[i+1].Text) == nil) {
			continue
		}
		sh.run(words[i:], &finder{text: c.text, span: c.span, env: c.env})
		break
	}
	return output{origin: c.name()}
}

// takesCode are options that give code to most interpreters.
var takesCode = names("-c -e -E -x --eval --exec --execute --expression --command --code --run --script -batch")

// ordinary are programs whose names are common words: as arguments they are mostly no
// command.
var ordinary = names(`
	test time install open link file at set type start run history true false date host service write split top
	watch view jobs read make go node code users w . : [ yes command source dir format find sort cut join fold
	look last less more head tail net reg python ruby java docker git test.exe batch local export select env echo
	which stat expr claude codex gemini npm bun deno make.exe psql mysql redis
	init`)

// linesIn are the parts of a word that may be a line: the whole word, the part after an =, and the
// part after a short option.
func linesIn(word string) []string {
	all := []string{word}
	if _, value, has := strings.Cut(word, "="); has {
		all = append(all, value)
	}
	if len(word) > 2 && word[0] == '-' && word[1] != '-' {
		all = append(all, word[2:])
	}
	return all
}

// looksLikeLine reports whether a text begins as a command that the tables know.
func looksLikeLine(text string) bool {
	text = strings.TrimLeft(text, "!:@| \t\n")
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(";\n|&`(){}", r) }) {
		words := strings.Fields(part)
		for len(words) > 0 && (strings.Contains(words[0], "=") || words[0] == "sudo") {
			words = words[1:]
		}
		if len(words) > 0 && programs().program(programName(strings.Trim(words[0], `'"\$`))) != nil {
			return true
		}
	}
	return false
}

// program follows a command by the entry of its program.
func (c *finder) program(word string, rest []Word) output {
	r := c.sh.r
	name := programName(word)
	if keyName.MatchString(word) && len(rest) == 0 && slices.ContainsFunc(c.sh.via, func(v string) bool {
		return strings.HasPrefix(v, "tmux ")
	}) {
		return output{origin: name}
	}
	if c.isMade(word) {
		c.doubt(DoubtMade, "the line makes "+word+" and runs it")
	}
	if strings.ContainsAny(word, `/\`) {
		target, _ := c.absolute(word)
		c.runsMade(target, "", word)
		if !genuine(word) {
			return c.strange(word, target, rest)
		}
	}
	if out, ok := c.builtin(name, rest); ok {
		return out
	}
	switch {
	case name == "cmd":
		rest = cmdLine(rest)
	case name == "autossh" && len(rest) > 1 && rest[0].Text == "-M": // the port that it watches
		rest = rest[2:]
	}
	e := r.t.program(name)
	if e == nil && strings.HasPrefix(name, "git-") { // git-push is git push
		if g := r.t.program("git"); g != nil {
			return c.entry(g, "git", append([]Word{literal(name[4:])}, rest...))
		}
	}
	if e == nil {
		if base := strings.TrimRight(name, "0123456789."); base != name && base != "" { // python3.11
			e = r.t.program(base)
		}
	}
	if e == nil {
		return c.unknown(word, rest)
	}
	return c.entry(e, name, rest)
}

// strange follows a program that lies where the known ones do not: another may have the same name.
func (c *finder) strange(word, target string, rest []Word) output {
	name := programName(word)
	c.effect(KindRun, target, true)
	if c.isInstalled(name) {
		c.doubt(DoubtMade, "the line installs "+word+" and runs it")
	}
	c.inGuarded()
	if e := c.sh.r.t.program(name); e != nil && !e.Open {
		sh := *c.sh // it may be the program of that name
		k := *c
		k.sh = &sh
		return k.entry(e, name, rest)
	}
	if cwd := c.sh.r.env.Cwd; !strings.HasPrefix(target, strings.TrimSuffix(cwd, "/")+"/") || cwd == "" {
		c.doubt(DoubtProgram, word+" is not in the tables")
		(&guesser{c.guessed()}).verbs(name, rest)
	}
	return c.guesses(rest)
}

// unknown follows a program that no table knows.
func (c *finder) unknown(word string, rest []Word) output {
	name := programName(word)
	if isAssignment.MatchString(word) {
		return output{known: true}
	}
	if len(rest) == 1 && slices.Contains(lookups[:2], rest[0].Text) {
		return output{origin: name}
	}
	c.doubt(DoubtProgram, word+" is not in the tables")
	if secretTool.MatchString(name) && len(rest) > 0 {
		c.effect(KindSecret, "tool:"+name, false)
	}
	if c.isInstalled(name) {
		c.doubt(DoubtMade, "the line installs "+word+" and runs it")
	}
	(&guesser{c.guessed()}).verbs(name, rest)
	return c.guesses(rest)
}

// keyName finds a key that tmux presses: C-c, Enter.
var keyName = lazyregexp.New(`^(?:[CMS]-.{1,6}|Enter|Escape|Space|Tab|BSpace|Up|Down|Left|Right|Home|End|[a-z])$`)

// beginsLine are the options of cmd behind which a line stands.
var beginsLine = names("/c /k /r")

// cmdLine joins the words behind cmd /c, which are one line.
func cmdLine(words []Word) []Word {
	i := slices.IndexFunc(words, func(w Word) bool { return beginsLine[strings.ToLower(w.Text)] })
	if i < 0 || i+2 >= len(words) {
		return words
	}
	line := words[i+1]
	for _, w := range words[i+2:] {
		line.Text += " " + w.Text
		if w.Kind == Unknown {
			line.Kind = Unknown
		}
	}
	return append(slices.Clone(words[:i+1]), line)
}

// secretTool finds programs that manage secrets by their names.
var secretTool = lazyregexp.New(`secret|vault|credential|passw|keychain|keyring`)

// isInstalled reports whether the call installs a package of that name.
func (c *finder) isInstalled(name string) bool {
	return slices.ContainsFunc(c.sh.r.out.Effects, func(e Effect) bool {
		text, is := strings.CutPrefix(e.Target, "package:")
		text, _, _ = strings.Cut(strings.TrimSuffix(text, ".git"), "@")
		base := path.Base(text)
		if i := strings.Index(base, "-"); strings.HasSuffix(base, ".whl") && i > 0 { // NAME-VERSION-py3-none-any.whl
			base = base[:i]
		}
		return is && e.Kind == KindInstall && strings.TrimSuffix(base, ".whl") == name
	})
}

var isAssignment = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)
