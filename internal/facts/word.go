package facts

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// mostBraces is how many words one brace expansion may become.
const mostBraces = 256

// wordCost is the cost of a word beside its text.
const wordCost = 16

// literal is a word that is known in full.
func literal(text string) Word { return Word{Text: text, Kind: Literal} }

// words evaluates words as a shell does: quotes and backslashes go, braces expand, the
// unknown parts are marked.
func (sh *shell) words(list []*syntax.Word) []Word {
	out := make([]Word, 0, min(len(list), maxWords+1))
	for _, w := range list {
		if len(out) > maxWords {
			sh.r.doubt(DoubtLimits, "a command has too many words", sh.span(w), -1)
			break
		}
		braces, closing, splits := 0, 0, false
		for _, part := range w.Parts {
			if lit, is := part.(*syntax.Lit); is {
				braces += strings.Count(lit.Value, "{")
				closing += strings.Count(lit.Value, "}")
				splits = splits || strings.Contains(lit.Value, ",")
			}
		}
		if splits && braces > 0 && closing > braces { // bash may take a later } for the end: {p},q}
			sh.fields(w, w)
			out = append(out, Word{Text: unknownPart, Kind: Unknown, span: sh.span(w)})
			continue
		}
		isMany := braces > maxBraces // splitting copies the content of each open one
		split := &syntax.Word{}
		if braces > 0 {
			split.Parts = slices.Clone(w.Parts)
		}
		if !isMany && !syntax.SplitBraces(split) {
			out = append(out, sh.fields(w, w)...)
			continue
		}
		if isMany || len(split.Parts) > 2*maxBraces {
			sh.r.doubt(DoubtLimits, "a word has too many braces", sh.span(w), -1)
			out = append(out, Word{Text: unknownPart, Kind: Unknown})
			continue
		}
		n, from := 0, len(out)
		for part, err := range expand.BracesSeq(nil, split) {
			if n++; err != nil || n > mostBraces {
				out = append(out, Word{Text: unknownPart, Kind: Unknown})
				break
			}
			if lengthensName(part) { // $a{1,2} is $a1 $a2
				out = append(out, Word{Text: unknownPart, Kind: Unknown})
				continue
			}
			out = append(out, sh.fields(part, w)...)
		}
		for i := range out[from:] {
			out[from+i].made = true
		}
	}
	return out
}

// lengthensName reports whether a brace expansion has put a letter or a digit behind $name.
func lengthensName(w *syntax.Word) bool {
	for i, part := range w.Parts[:max(0, len(w.Parts)-1)] {
		p, is := part.(*syntax.ParamExp)
		next, text := w.Parts[i+1].(*syntax.Lit)
		if is && p.Short && text && next.Value != "" && strings.Trim(next.Value[:1], nameLetters) == "" {
			return true
		}
	}
	return false
}

const nameLetters = "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// fields evaluates one word without braces; an expansion without quotes may make several.
func (sh *shell) fields(w, at *syntax.Word) []Word {
	ev := evaluation{sh: sh, split: true}
	ev.parts(w.Parts, false, true)
	ev.flush()
	for i := range ev.out {
		ev.out[i].span = sh.span(at)
	}
	return ev.out
}

// word evaluates a word that stays one, such as the target of a redirection.
func (sh *shell) word(w *syntax.Word) Word { return sh.evaluate(w, false) }

// assigned evaluates the value of an assignment.
func (sh *shell) assigned(w *syntax.Word) Word { return sh.evaluate(w, false) }

// quoted evaluates a word as within double quotes, as the text of a here-document is.
func (sh *shell) quoted(w *syntax.Word) Word { return sh.evaluate(w, true) }

func (sh *shell) evaluate(w *syntax.Word, quoted bool) Word {
	if w == nil {
		return Word{Kind: Literal}
	}
	ev := evaluation{sh: sh}
	ev.parts(w.Parts, quoted, !quoted)
	ev.started = true
	ev.flush()
	return ev.out[0]
}

// evaluation collects the fields of a word.
type evaluation struct {
	sh      *shell
	split   bool // expansions without quotes are split
	out     []Word
	text    strings.Builder
	glob    bool
	unknown bool
	unsafe  bool
	from    string
	made    bool
	several bool
	started bool
}

func (ev *evaluation) flush() {
	if !ev.started && ev.text.Len() == 0 {
		return
	}
	w := Word{Text: ev.text.String(), Kind: Literal, from: ev.from, made: ev.made}
	switch {
	case ev.unknown:
		w.Kind, w.safe, w.several = Unknown, !ev.unsafe, ev.several && w.Text == unknownPart
	case ev.glob:
		w.Kind = Pattern
	}
	ev.out = append(ev.out, w)
	*ev = evaluation{sh: ev.sh, split: ev.split, out: ev.out}
}

func (ev *evaluation) literal(text string) {
	ev.started = true
	ev.text.WriteString(text)
}

// dark adds a part that is not known.
func (ev *evaluation) dark(safe bool, from string) {
	ev.started, ev.unknown = true, true
	ev.unsafe = ev.unsafe || !safe
	if ev.from == "" || printsContent(from) {
		ev.from = from
	}
	ev.text.WriteString(unknownPart)
}

// value adds the known value of an expansion.
func (ev *evaluation) value(w Word, quoted bool) {
	w = ev.sh.r.expanded(w)
	if w.Kind == Unknown && w.Text == unknownPart {
		ev.several = ev.several || !quoted && ev.split
		ev.dark(w.safe, w.from)
		return
	}
	if ifs, set := ev.sh.vars["IFS"]; set && !quoted && ev.split && strings.Trim(ifs.Text, " \t\n") != "" &&
		strings.ContainsAny(w.Text, ifs.Text) {
		ev.dark(false, w.from) // it becomes several words
		return
	}
	if quoted || !ev.split || !strings.ContainsAny(w.Text, " \t\n") {
		if w.Text != "" || quoted {
			ev.started = true
		}
		ev.text.WriteString(w.Text)
		ev.add(w, quoted)
		return
	}
	fields := strings.Fields(w.Text)
	ev.sh.r.expansions += wordCost * len(fields)
	if strings.ContainsAny(w.Text[:1], " \t\n") {
		ev.flush()
	}
	for i, f := range fields {
		if i > 0 {
			ev.flush()
		}
		ev.literal(f)
		part := w
		part.Text = f // whether a field is a pattern is asked of the field alone
		ev.add(part, quoted)
	}
	if strings.ContainsAny(w.Text[len(w.Text)-1:], " \t\n") {
		ev.flush()
	}
}

// values adds the known values of an expansion, each a word of its own.
func (ev *evaluation) values(list iter.Seq[Word], quoted bool) {
	first := true
	for w := range list {
		if !first {
			ev.flush()
		}
		first = false
		ev.sh.r.expansions += wordCost
		ev.value(w, quoted)
		if ev.sh.r.expansions > maxExpanded {
			return
		}
	}
}

func (ev *evaluation) add(w Word, quoted bool) {
	ev.made = true
	switch {
	case w.Kind == Unknown:
		ev.unknown, ev.unsafe = true, ev.unsafe || !w.safe
	case (w.Kind == Pattern || strings.ContainsAny(w.Text, "*?[")) && !quoted:
		ev.glob = true
	case w.Kind == Pattern: // the value of a loop over files
		ev.glob = true
	}
	ev.from = cmp.Or(ev.from, w.from)
}

func (ev *evaluation) parts(parts []syntax.WordPart, quoted, first bool) {
	for i, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			text := p.Value
			ev.made = ev.made || !quoted && (i == 0 && first && startsMade(text) || madeBehind.MatchString(text))
			if i == 0 && first && strings.HasPrefix(text, "~") {
				text = ev.tilde(text, len(parts) == 1)
			}
			ev.lit(text, quoted)
		case *syntax.SglQuoted:
			if p.Dollar {
				if _, behind, has := strings.Cut(p.Value, `\'`); has && strings.ContainsAny(behind, ";|&\n") {
					ev.sh.r.doubt(DoubtParse, "dash ends $'…' at another quote", ev.sh.span(p), -1)
				}
				ev.literal(ansiC(p.Value))
				ev.made = true
			} else {
				ev.literal(p.Value)
			}
		case *syntax.DblQuoted:
			ev.started, ev.made = ev.started || !ev.sh.vanishes(p), ev.made || p.Dollar
			ev.parts(p.Parts, true, false)
		case *syntax.ParamExp:
			ev.param(p, quoted)
			ev.several = ev.several || quoted && p.Param != nil && namesOption.MatchString(p.Param.Value)
		case *syntax.ArithmExp:
			ev.sh.inner(p)
			ev.dark(true, "")
		case *syntax.CmdSubst:
			ev.command(p.Stmts, quoted)
		case *syntax.ProcSubst:
			out := ev.sh.fork().stmts(p.Stmts)
			ev.literal("/dev/fd/63")
			ev.from = cmp.Or(out.origin, "a command")
		case *syntax.ExtGlob:
			if qualifier := p.Pattern.Value; runsQualifier.MatchString(qualifier) {
				ev.sh.r.doubt(DoubtEval, "zsh runs the qualifier "+qualifier, ev.sh.base, -1)
			}
			ev.literal("*") // readers of targets know no other word that fits so much
			ev.glob = true
		default:
			ev.dark(false, "")
		}
	}
}

// namesOption finds a variable whose name says that an option is in it, also where it stays one word: "$FLAGS".
var namesOption = lazyregexp.New(`(?i)(?:^|_)(?:opts?|options?|flags?|args?|mode|action|expr|expression|switch)$`)

// vanishes reports whether a word in double quotes is no word: "$@" where there are no
// parameters.
func (sh *shell) vanishes(quoted *syntax.DblQuoted) bool {
	for _, part := range quoted.Parts {
		p, is := part.(*syntax.ParamExp)
		if !is || p.Param == nil || p.Exp != nil || p.Length || p.Excl || p.Slice != nil || p.Repl != nil {
			return false
		}
		if w, of := p.Index.(*syntax.Word); of && w.Lit() == "@" {
			if all, known := sh.vars[p.Param.Value+"[@]"]; !known || all.Text != "" {
				return false
			}
		} else if p.Param.Value != "@" || sh.params == nil || len(sh.params) > 0 {
			return false
		}
	}
	return len(quoted.Parts) > 0
}

// startsMade reports whether a shell makes another word of a word that begins with text; zsh does
// so with =NAME.
func startsMade(text string) bool { return text != "" && (text[0] == '~' || text[0] == '=') }

// madeBehind finds a ~ that a shell may expand within a word.
var madeBehind = lazyregexp.New(`[:=]~`)

// runsQualifier finds a qualifier of zsh's globs that runs a command: *(e:'rm x':).
var runsQualifier = lazyregexp.New(`^(?:e[^\w\s|]|\+\w)`)

var userName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// tilde expands ~ and ~NAME at the beginning of a word.
func (ev *evaluation) tilde(text string, whole bool) string {
	name, rest, has := strings.Cut(text[1:], "/")
	if !has && !whole {
		return text
	}
	var folder string
	switch {
	case name == "":
		if folder = ev.sh.r.env.Home; folder == "" {
			return text
		}
	case name == "+":
		folder = ev.sh.cwd
	case name == "root":
		folder = "/root"
	case userName.MatchString(name) && ev.sh.r.env.Home != "":
		folder = path.Join(path.Dir(ev.sh.r.env.Home), name)
	default:
		return text
	}
	if has {
		return folder + "/" + rest
	}
	return folder
}

// lit takes literal text: a backslash stands for the character behind it.
func (ev *evaluation) lit(text string, quoted bool) {
	ev.started = ev.started || text != ""
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' && i+1 < len(text) {
			i++
			switch {
			case text[i] == '\n':
			case quoted && strings.IndexByte("$`\"\\", text[i]) < 0:
				ev.text.WriteString(text[i-1 : i+1])
			default:
				ev.text.WriteByte(text[i])
			}
			continue
		}
		if c == '\\' && !quoted { // the line ends with it, and bash leaves it out of a script
			ev.made = true
			ev.dark(true, "")
			return
		}
		ev.glob = ev.glob || !quoted && (c == '*' || c == '?' || c == '[' && strings.IndexByte(text[i:], ']') > 0)
		ev.text.WriteByte(c)
	}
}

func (ev *evaluation) command(stmts []*syntax.Stmt, quoted bool) {
	out := ev.sh.substitute(stmts)
	switch {
	case out.known:
		ev.value(Word{Text: strings.TrimRight(out.text, "\n"), Kind: Literal, from: out.origin}, quoted)
	case out.words != nil:
		ev.values(slices.Values(out.words), quoted)
	default:
		ev.dark(out.safe, cmp.Or(out.origin, "a command"))
	}
}

// scalars are variables of the shell that hold one plain word.
var scalars = map[string]bool{
	"#": true, "?": true, "$": true, "!": true, "RANDOM": true, "SECONDS": true, "LINENO": true, "UID": true,
	"EUID": true, "PPID": true,
	"BASHPID": true, "EPOCHSECONDS": true, "SHLVL": true, "USER": true, "LOGNAME": true, "HOSTNAME": true,
	"OSTYPE": true, "HOSTTYPE": true,
	"i": false,
}

// alwaysSet are parameters for which a default never stands.
var alwaysSet = names("# ? $ - 0")

// parameter is an expansion ${…} while it is evaluated.
type parameter struct {
	p      *syntax.ParamExp
	quoted bool
	name   string
	w      Word // the value of the variable
	known  bool
}

// param evaluates ${…}.
func (ev *evaluation) param(p *syntax.ParamExp, quoted bool) {
	switch {
	case p.Param == nil:
		ev.dark(false, "")
		return
	case p.Index != nil:
		ev.element(p, quoted)
		return
	case p.Length || p.Width:
		ev.dark(true, "")
		return
	}
	name := p.Param.Value
	if (name == "@" || name == "*") && p.Exp == nil && p.Slice == nil && p.Repl == nil {
		ev.values(slices.Values(ev.sh.positional()), quoted)
		return
	}
	x := parameter{p: p, quoted: quoted, name: name}
	x.w, x.known = ev.sh.variable(name)
	ev.sh.secretVariable(p, name, x.w, x.known)
	switch {
	case p.Excl || p.Slice != nil || p.Repl != nil || p.Names != 0:
		if p.Repl != nil {
			ev.inner(p.Repl.Orig, p.Repl.With)
		}
		ev.dark(false, x.w.from)
	case p.Exp == nil:
		ev.plain(&x)
	default:
		ev.operation(&x, ev.operand(&x))
	}
}

// element evaluates one element of an array, or each.
func (ev *evaluation) element(p *syntax.ParamExp, quoted bool) {
	ev.sh.inner(p.Index)
	w, ok := p.Index.(*syntax.Word)
	isAll := ok && (w.Lit() == "@" || w.Lit() == "*") && p.Exp == nil && !p.Excl && !p.Length
	all, known := ev.sh.vars[p.Param.Value+"[@]"]
	if !isAll || !known {
		ev.dark(false, "")
		return
	}
	ev.values(func(add func(Word) bool) {
		for text := range strings.SplitSeq(strings.TrimPrefix(all.Text, "\x00"), "\x00") {
			if all.Text == "" || !add(literal(text)) {
				return
			}
		}
	}, quoted)
}

// plain is the value of the variable itself.
func (ev *evaluation) plain(x *parameter) {
	w := x.w
	if !x.known {
		w = Word{Text: unknownPart, Kind: Unknown, safe: scalars[x.name]}
	}
	ev.value(w, x.quoted)
}

// operand is the word behind the operator of an expansion.
func (ev *evaluation) operand(x *parameter) Word {
	if x.p.Exp.Word == nil {
		return Word{Kind: Literal}
	}
	sh := ev.sh
	text := sh.text(x.p.Exp.Word)
	i := strings.Index(text, "<(")
	if i < 0 {
		i = strings.Index(text, ">(")
	}
	if i >= 0 { // is text to the parser
		c := sh.fork()
		c.base, c.exact, c.guess, c.depth = sh.span(x.p), false, true, sh.depth+1
		c.line(strings.TrimRight(text[i+2:], ")"))
		return Word{Text: unknownPart, Kind: Unknown, from: "a command"}
	}
	inner := evaluation{sh: sh}
	inner.parts(x.p.Exp.Word.Parts, x.quoted, true)
	inner.started = true
	inner.flush()
	return inner.out[0]
}

// operation evaluates the operator of an expansion. other is the word behind it.
func (ev *evaluation) operation(x *parameter, other Word) {
	switch op := x.p.Exp.Op; op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
		ev.fallback(x, other)
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if value, set := ev.fallback(x, other); !set {
			ev.sh.vars[x.name] = value
		}
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		ev.plain(x)
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix, syntax.RemSmallPrefix, syntax.RemLargePrefix:
		if cut, ok := trimmed(x.w, x.known, op, other); ok {
			ev.value(cut, x.quoted)
			return
		}
		ev.dark(x.known && x.w.Kind != Unknown, x.w.from)
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		switch {
		case !x.known || x.w.Kind == Unknown: // it is that, or nothing
			ev.dark(false, cmp.Or(other.from, x.w.from))
		case x.w.Text != "" || op == syntax.AlternateUnset:
			ev.value(other, x.quoted)
		}
	case syntax.LowerAll, syntax.UpperAll:
		ev.inCase(x, op, other)
	default:
		if op == syntax.OtherParamOps && other.Text == "P" {
			ev.sh.r.doubt(DoubtEval, "${"+x.name+"@P} runs what the variable holds", ev.sh.span(x.p), -1)
		}
		ev.dark(false, x.w.from)
	}
}

// fallback is the value of the variable, or the other word where the variable has none, which it returns then. set is
// true where the variable has a value. A variable with a usual value mostly has none where the line runs.
func (ev *evaluation) fallback(x *parameter, other Word) (value Word, set bool) {
	_, byLine := ev.sh.vars[x.name]
	usual, isUsual := ev.sh.r.usualPath(x.name)
	switch {
	case !byLine && isUsual:
		if ev.sh.r.defaults = true; ev.sh.r.unset {
			other = literal(usual)
		}
		ev.value(other, x.quoted)
	case x.known && x.w.Text != "":
		ev.value(x.w, x.quoted)
		return x.w, true
	case x.known:
		ev.value(other, x.quoted)
	case alwaysSet[x.name]:
		ev.dark(true, "")
	default: // it may be set by the environment; the default is what the line says
		other.from = cmp.Or(other.from, "${"+x.name+"}")
		ev.value(other, x.quoted)
	}
	return other, false
}

// inCase is the value of the variable in small or in capital letters. of is the pattern of letters that change.
func (ev *evaluation) inCase(x *parameter, op syntax.ParExpOperator, of Word) {
	if !x.known || x.w.Kind != Literal || of.Text != "" {
		ev.dark(false, x.w.from)
		return
	}
	w := x.w
	if op == syntax.LowerAll {
		w.Text = strings.ToLower(w.Text)
	} else {
		w.Text = strings.ToUpper(w.Text)
	}
	ev.value(w, x.quoted)
}

func (ev *evaluation) inner(words ...*syntax.Word) {
	for _, w := range words {
		if w != nil {
			ev.sh.word(w)
		}
	}
}

// trimmed cuts a plain pattern off a known value.
func trimmed(w Word, known bool, op syntax.ParExpOperator, cut Word) (Word, bool) {
	if !known || w.Kind == Unknown || cut.Kind == Unknown {
		return Word{}, false
	}
	glob := cut.Text
	switch {
	case op == syntax.RemSmallSuffix && !strings.ContainsAny(glob, "*?["):
		w.Text = strings.TrimSuffix(w.Text, glob)
	case op == syntax.RemLargeSuffix && !strings.ContainsAny(glob, "*?["):
		w.Text = strings.TrimSuffix(w.Text, glob)
	case op == syntax.RemSmallSuffix && strings.HasPrefix(glob, ".") && strings.Trim(glob[1:], "*") == "":
		if i := strings.LastIndexByte(w.Text, '.'); i >= 0 {
			w.Text = w.Text[:i]
		}
	case op == syntax.RemSmallSuffix && glob == "/*":
		if i := strings.LastIndexByte(w.Text, '/'); i >= 0 {
			w.Text = w.Text[:i]
		}
	case op == syntax.RemLargePrefix && glob == "*/":
		w.Text = w.Text[strings.LastIndexByte(w.Text, '/')+1:]
	case (op == syntax.RemSmallPrefix || op == syntax.RemLargePrefix) && !strings.ContainsAny(glob, "*?["):
		w.Text = strings.TrimPrefix(w.Text, glob)
	default:
		return Word{}, false
	}
	return w, true
}

// variable returns the known value of a variable.
func (sh *shell) variable(name string) (Word, bool) {
	if name == "_" || name == "BASH_ARGV" || name == "BASH_COMMAND" {
		return Word{Text: unknownPart, Kind: Unknown}, true
	}
	if w, ok := sh.vars[name]; ok {
		return w, true
	}
	if n, err := strconv.Atoi(name); err == nil {
		switch {
		case n == 0 && sh.zero != nil:
			return *sh.zero, true
		case n == 0:
			return Word{}, false
		case sh.params != nil && n <= len(sh.params):
			return sh.params[n-1], true
		case sh.params != nil:
			return Word{Kind: Literal}, true
		}
		return Word{}, false
	}
	switch name {
	case "HOME":
		if sh.r.env.Home != "" {
			return Word{Text: sh.r.env.Home, Kind: Literal}, true
		}
	case "PWD":
		if sh.cwd != "" {
			return Word{Text: sh.cwd, Kind: Literal}, true
		}
	case "OLDPWD":
		if sh.old != "" {
			return Word{Text: sh.old, Kind: Literal}, true
		}
	case "IFS":
		return Word{Text: " ", Kind: Literal}, true
	}
	path, ok := sh.r.usualPath(name)
	if !ok {
		return Word{}, false
	}
	if sh.r.unset {
		return Word{Kind: Literal}, true
	}
	sh.r.usual = name
	return literal(path), true
}

// usualPath is the value that a variable of the environment mostly has, where it has one.
func (r *reading) usualPath(name string) (path string, ok bool) {
	path, ok = variables().Paths[name]
	if !ok || r.env.Home == "" && strings.HasPrefix(path, "~") {
		return "", false
	}
	return strings.Replace(path, "~", r.env.Home, 1), true
}

// ansiC decodes the text of $'…', and of a format of printf.
func ansiC(text string) string { return unescaped(text, false) }

// unescaped decodes backslashes. of echo -e: only \0NNN is a number, quotes keep theirs, and
// \c ends the text.
func unescaped(text string, ofEcho bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		c := text[i]
		j := strings.IndexByte(`abefnrtvE\'"?`, c)
		switch {
		case c == 'x' && !ofEcho && isBraced.MatchString(text[i+1:]):
			i += 1 + number(&b, text[i+2:], 16, 2, false)
			if strings.HasPrefix(text[i+1:], "}") {
				i++
			}
		case c == 'x' || c == 'u' || c == 'U':
			n := number(&b, text[i+1:], 16, map[byte]int{'x': 2, 'u': 4, 'U': 8}[c], c != 'x')
			if i += n; n == 0 {
				b.WriteString(text[i-1 : i+1])
			}
		case c == '0' && ofEcho:
			n := number(&b, text[i+1:], 8, 3, false)
			if i += n; n == 0 {
				b.WriteByte(0)
			}
		case c >= '0' && c <= '7' && !ofEcho:
			i += number(&b, text[i:], 8, 3, false) - 1
		case c == 'c' && ofEcho:
			return b.String()
		case j >= 0 && (j < 10 || !ofEcho):
			b.WriteByte("\a\b\x1b\f\n\r\t\v\x1b\\'\"?"[j])
		default:
			b.WriteString(text[i-1 : i+1])
		}
	}
	return b.String()
}

// isBraced finds the number of \x{41}.
var isBraced = lazyregexp.New(`^\{[0-9A-Fa-f]`)

// number writes the character whose number text begins with, and returns how
// many digits it had.
func number(b *strings.Builder, text string, base, most int, wide bool) int {
	n := 0
	for n < len(text) && n < most && isDigit(text[n], base) {
		n++
	}
	if n == 0 {
		return 0
	}
	code, err := strconv.ParseUint(text[:n], base, 32)
	if err != nil {
		return n
	}
	if wide {
		b.WriteRune(rune(code))
	} else {
		b.WriteByte(byte(code))
	}
	return n
}

func isDigit(c byte, base int) bool {
	if base == 16 && 'A' <= c && c <= 'F' {
		return true
	}
	return strings.IndexByte("0123456789abcdef"[:base], c) >= 0
}
