package facts

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// Builtins of a shell that change the shell's own state.

// hidesCode finds an index with a substitution: a shell that evaluates such a text runs it.
var hidesCode = lazyregexp.New("\\[[^]]*(?:\\$\\(|`)")

// evaluating are the builtins that evaluate their words as expressions or names.
var evaluating = names("printf read declare typeset local export readonly unset let test [ mapfile readarray getopts wait shift exit return")

// evaluates follows words of a builtin that evaluates them: 'a[$(id)]' runs id.
func (c *finder) evaluates(name string, words []Word) {
	if !evaluating[name] {
		return
	}
	for _, w := range words {
		if w.Kind != Unknown && hidesCode.MatchString(w.Text) {
			c.hiddenIndex(w.Text)
		}
	}
}

func (c *finder) hiddenIndex(text string) {
	c.doubt(DoubtEval, short(text)+" holds a command that a shell may run")
	sh := c.nested("index")
	sh.guess = true
	sh.line(": " + text[strings.IndexByte(text, '[')+1:])
}

// builtin is a command that a shell runs itself, or changes its own state by.
type builtin struct {
	*finder
	called string
	rest   []Word // the words behind the name
}

// builtin follows a builtin of shells; ok is false where name is none that is followed here.
func (c *finder) builtin(name string, rest []Word) (out output, ok bool) {
	b := builtin{c, name, rest}
	switch name {
	case "cd", "pushd", "chdir":
		return b.changeFolder(), true
	case "popd":
		return b.popFolder(), true
	case "[", "test":
		return b.test(), true
	case "alias":
		return b.alias(), true
	case "apply_patch", "applypatch":
		return b.patch(), true
	}
	c.evaluates(name, rest)
	switch name {
	case "eval":
		return b.eval(), true
	case "set":
		return output{known: true}, b.setParams()
	case "setenv": // of csh
		if len(rest) > 1 && !strings.Contains(rest[0].Text, "=") {
			b.sh.export(rest[0].Text)
			c.set(rest[0].Text, rest[1])
		}
		return output{}, false
	case "shift":
		b.shiftParams()
	case "unset":
		b.unsetNames()
	case "read", "mapfile", "readarray":
		b.readInto()
	case "trap":
		return output{origin: "trap"}, b.trap()
	case "printf":
		if len(rest) > 2 && rest[0].Text == "-v" {
			c.set(rest[1].Text, Word{Text: unknownPart, Kind: Unknown})
		}
		return output{}, false
	default:
		return output{}, false
	}
	return output{known: true}, true
}

// test follows the words of [: an index in one may run a command.
func (b *builtin) test() output {
	for _, w := range b.rest {
		if w.Kind != Unknown && strings.ContainsRune(w.Text, '[') && strings.ContainsAny(w.Text, "$`") {
			b.nested("[").line(": " + w.Text[strings.IndexByte(w.Text, '[')+1:])
		}
	}
	return output{known: true}
}

// patch follows apply_patch, which a shell of an agent has.
func (b *builtin) patch() output {
	for _, w := range append(slices.Clone(b.rest), Word{Text: b.sh.stdin.text}) {
		b.sh.r.patch(w.Text)
	}
	if len(b.rest) == 0 && !b.sh.stdin.known || len(b.rest) > 0 && b.rest[0].Kind == Unknown {
		b.doubt(DoubtWord, "which files the patch changes is only known when it runs")
	}
	return output{origin: b.called}
}

// unsetNames follows unset NAME NAME.
func (b *builtin) unsetNames() {
	for _, w := range b.rest {
		if !strings.HasPrefix(w.Text, "-") {
			b.sh.vars[w.Text] = Word{Kind: Literal}
			delete(b.sh.funcs, w.Text)
			b.unset(w.Text)
		}
	}
}

// changeFolder follows cd.
func (b *builtin) changeFolder() output {
	rest := b.rest
	var to *Word
	for i := range rest {
		if !strings.HasPrefix(rest[i].Text, "-") || rest[i].Text == "-" {
			to = &rest[i]
		}
	}
	if b.sh.where != "" {
		return output{known: true}
	}
	from := b.sh.cwd
	switch pushes := b.called == "pushd"; {
	case to == nil && !pushes:
		b.sh.cwd = b.sh.r.env.Home
	case to != nil && to.Text == "-":
		b.sh.cwd = b.sh.old
	case to != nil && to.Kind == Literal && !(pushes && strings.HasPrefix(to.Text, "+")):
		b.sh.cwd, _ = b.sh.absolute(to.Text)
		if !strings.HasPrefix(b.sh.cwd, "/") {
			b.sh.cwd = ""
		}
	case to != nil && to.from == "project":
	default:
		b.sh.cwd = ""
	}
	b.sh.old = from
	if b.called == "pushd" {
		b.sh.pushed = append(slices.Clip(b.sh.pushed), from)
	}
	return output{known: true}
}

// popFolder follows popd. Folders that were pushed before the line are not known.
func (b *builtin) popFolder() output {
	if b.sh.where != "" {
		return output{known: true}
	}
	b.sh.old, b.sh.cwd = b.sh.cwd, ""
	if last := len(b.sh.pushed) - 1; last >= 0 && len(b.rest) == 0 {
		b.sh.cwd, b.sh.pushed = b.sh.pushed[last], b.sh.pushed[:last]
	} else {
		b.sh.pushed = nil
	}
	return output{known: true}
}

// alias follows the line that a name is made to stand for.
func (b *builtin) alias() output {
	rest := b.rest
	for _, w := range rest {
		name, value, has := strings.Cut(w.Text, "=")
		if !has {
			continue
		}
		sh := b.nested("alias " + name)
		sh.guess = true
		sh.line(value)
		b.doubt(DoubtVariable, "alias changes what "+name+" runs")
	}
	return output{known: true}
}

// printsSettings are commands that print lines for eval which only set variables and functions of
// their own.
var printsSettings = map[string]bool{
	"ssh-agent": true, "direnv hook": true, "brew shellenv": true, "pyenv init": true, "rbenv init": true,
	"starship init": true, "zoxide init": true, "mise activate": true, "fnm env": true, "dircolors": true,
	"opam env": true,
}

// eval follows a line in the shell itself: its variables stay set.
func (b *builtin) eval() output {
	words := b.rest
	if len(words) > 0 && words[0].Text == "--" {
		words = words[1:]
	}
	texts, unknown := make([]string, len(words)), false
	for i, w := range words {
		texts[i] = w.Text
		unknown = unknown || w.Kind == Unknown
	}
	sh := b.nested("eval")
	sh.params, sh.calls, sh.stdin = b.sh.params, b.sh.calls, b.sh.stdin
	text := b.sh.r.expanded(Word{Text: strings.Join(texts, " "), Kind: Literal})
	if unknown && len(words) == 1 && words[0].Text == unknownPart && printsSettings[words[0].from] {
		return output{known: true}
	}
	if unknown {
		text.Kind = Unknown
	}
	out := b.shellText(sh, text)
	for _, a := range b.env {
		sh.vars[a.Name] = Word{Text: unknownPart, Kind: Unknown} // as it was, but in a POSIX shell
	}
	b.sh.place, b.sh.vars, b.sh.funcs, b.sh.src, b.sh.params = sh.place, sh.vars, sh.funcs, sh.src, sh.params
	return out
}

// setParams follows set -- A B, and set A B.
func (b *builtin) setParams() bool {
	rest := b.rest
	for i, w := range rest {
		switch {
		case w.Text == "--":
			b.sh.params = append([]Word{}, rest[i+1:]...)
			return true
		case w.Kind == Unknown && !w.safe:
			b.sh.params = nil
			return true
		case strings.HasPrefix(w.Text, "-") || strings.HasPrefix(w.Text, "+"):
			if w.Text == "-o" && i+1 < len(rest) && rest[i+1].Text == "allexport" ||
				w.Text[0] == '-' && w.Text[1:] != "" && strings.Contains(w.Text, "a") {
				b.sh.export("*")
			}
			if w.Text == "-o" || w.Text == "+o" {
				return false
			}
		default:
			if name, value, has := strings.Cut(w.Text, "="); has { // of cmd
				b.variable(name, w.with(value))
			} else if i > 0 && i+1 < len(rest) && strings.Contains(rest[i-1].Text, "x") { // of fish: set -gx NAME VALUE
				b.variable(w.Text, rest[i+1])
			}
			b.sh.params = append([]Word{}, rest[i:]...)
			return true
		}
	}
	return false
}

func (b *builtin) shiftParams() {
	rest := b.rest
	n := 1
	if len(rest) > 0 {
		var err error
		if n, err = strconv.Atoi(rest[0].Text); err != nil || n < 0 {
			b.sh.params = nil
			return
		}
	}
	if b.sh.lost || b.sh.params == nil {
		b.sh.params = nil
	} else if n <= len(b.sh.params) {
		b.sh.params = b.sh.params[n:]
	}
}

// escaped finds the characters from which read takes a backslash away.
var escaped = lazyregexp.New(`\\(.)`)

// readInto follows read and mapfile: the variables that they fill, and the line of -C.
func (b *builtin) readInto() {
	rest := b.rest
	v := Word{Text: unknownPart, Kind: Unknown}
	if b.sh.stdin.has {
		v.from = b.sh.stdin.origin
		isKnown := b.sh.stdin.known || b.sh.stdin.used != nil && *b.sh.stdin.used // a loop reads it again
		if text := strings.TrimSpace(b.sh.stdin.text); isKnown && text != "" && !strings.Contains(text, "\n") {
			v = Word{Text: text, Kind: Literal}
		}
		if list := b.sh.stdin.words; len(list) > 0 {
			v = oneOf(list)
		}
	}
	if v.Kind == Literal && b.called == "read" && !slices.ContainsFunc(rest, func(w Word) bool {
		return strings.HasPrefix(w.Text, "-") && strings.Contains(w.Text, "r")
	}) {
		v.Text = escaped.ReplaceAllString(v.Text, "$1")
	}
	b.sh.takes()
	b.sh.stdin.known = false
	var names []string
	for i := 0; i < len(rest); i++ {
		text := rest[i].Text
		switch {
		case strings.HasPrefix(text, "-C") && (text != "-C" || i+1 < len(rest)): // its line is given each line
			line := rest[i].with(text[2:])
			if text == "-C" {
				i++
				line = rest[i]
			}
			sh := b.nested(b.name())
			sh.guess = true
			sh.vars["_index"] = Word{Text: unknownPart, Kind: Unknown, safe: true}
			sh.vars["_line"] = Word{Text: unknownPart, Kind: Unknown}
			b.shellText(sh, line.with(line.Text+` "$_index" "$_line"`))
		case strings.HasPrefix(text, "-") && len(text) == 2 && strings.Contains("adinNptucs", text[1:]) &&
			i+1 < len(rest):
			if i++; text == "-a" {
				names = append(names, rest[i].Text)
			}
		case !strings.HasPrefix(text, "-"):
			names = append(names, text)
		}
	}
	if len(names) == 0 {
		names = []string{"REPLY"}
		if b.called != "read" {
			names = []string{"MAPFILE"}
		}
	}
	for i, n := range names {
		w := v
		if len(names) > 1 && v.Kind == Literal {
			if fields := strings.Fields(v.Text); i < len(fields) {
				w.Text = fields[i]
				if i == len(names)-1 {
					w.Text = strings.Join(fields[i:], " ")
				}
			} else {
				w.Text = ""
			}
		}
		b.set(n, w)
	}
}

// set follows a builtin that sets a variable.
func (c *finder) set(name string, w Word) {
	c.sh.vars[name] = w
	c.variable(name, w)
}

// unset follows that a variable is taken away.
func (c *finder) unset(name string) {
	if what, _ := variables().code(name); what == "guard" {
		c.variable(name, Word{Kind: Literal})
	}
	if name == "HISTFILE" {
		c.path(KindDelete, Word{Text: "~/.bash_history", Kind: Literal})
	}
}

// trap follows the action of trap ACTION SIGNAL as the shell stands, where a signal may come at once, and at its end:
// variables may have other values then.
func (b *builtin) trap() bool {
	rest := b.rest
	if len(rest) > 0 && rest[0].Text == "--" {
		rest = rest[1:]
	}
	if len(rest) < 2 || rest[0].Text == "-" || rest[0].Text == "" || rest[0].Text == "-l" || rest[0].Text == "-p" {
		return true
	}
	for _, w := range rest[1:] {
		switch strings.TrimPrefix(strings.ToUpper(w.Text), "SIG") {
		case "EXIT", "0", "INT", "TERM", "HUP", "QUIT": // at the end
		case "DEBUG", "ERR", "RETURN":
			sh := b.nested("trap")
			for name := range sh.vars {
				sh.vars[name] = Word{Text: unknownPart, Kind: Unknown}
			}
			b.shellText(sh, rest[0])
			fallthrough
		default:
			b.shellText(b.nested("trap"), rest[0])
		}
	}
	b.sh.r.traps = append(b.sh.r.traps, trapped{b.finder, rest[0], maps.Clone(b.sh.vars)})
	return true
}

// trapped is an action of trap that runs at the end.
type trapped struct {
	by   *finder
	text Word
	vars map[string]Word // that were set by then
}

// runTraps follows the actions of traps, with the variables that their shells have now, and with those of before.
func (sh *shell) runTraps() {
	traps := sh.r.traps
	sh.r.traps = nil
	for _, t := range traps {
		t.by.shellText(t.by.nested("trap"), t.text)
		early := t.by.nested("trap")
		before := maps.Clone(early.vars)
		maps.Copy(early.vars, t.vars)
		if !maps.EqualFunc(before, early.vars, func(a, b Word) bool { return a.Text == b.Text && a.Kind == b.Kind }) {
			t.by.shellText(early, t.text)
		}
	}
}

// shellProgram follows a call of a shell: options, then the text of -c with its parameters, a
// script, or the shell's input. ok is false where its options are not those of a plain shell.
func (c *finder) shellProgram(called string, words []Word) (out output, ok bool) {
	i, text, odd := 0, false, false
	for ; i < len(words); i++ {
		w := words[i]
		if w.Text == "-" { // as --
			i++
			break
		}
		if len(w.Text) < 2 || w.Kind != Literal || w.Text[0] != '-' && w.Text[0] != '+' {
			break
		}
		if w.Text == "--" {
			i++
			break
		}
		if strings.HasPrefix(w.Text, "--") {
			odd = odd || !slices.Contains([]string{"--login", "--norc", "--noprofile", "--posix", "--noediting",
				"--restricted"}, w.Text)
			if w.Text == "--rcfile" || w.Text == "--init-file" {
				i++
			}
			continue
		}
		letters := w.Text[1:]
		odd = odd || strings.Trim(letters, "abcefhiklmnoprstuvxBCDEHPT") != ""
		text = text || w.Text[0] == '-' && strings.Contains(letters, "c")
		if text && odd && i+1 < len(words) && strings.HasPrefix(words[i+1].Text, "-") {
			c.doubt(DoubtEval, "which word of "+short(c.text)+" it runs is only known when it runs")
		}
		if strings.ContainsAny(letters, "oO") {
			i++ // the name of a setting
		}
	}
	if odd || !text || i >= len(words) {
		return output{}, false
	}
	sh := c.nested(called)
	sh.params = append([]Word{}, words[i+1:]...)
	if len(sh.params) > 0 {
		sh.zero, sh.params = &sh.params[0], sh.params[1:]
	}
	return c.shellText(sh, words[i]), true
}
