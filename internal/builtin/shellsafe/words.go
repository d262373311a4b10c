package shellsafe

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// maxBraces is how many words one brace expansion may become.
const maxBraces = 256

// args evaluates words as a shell would: quotes and backslashes go, braces
// expand, all else that needs a running shell is marked as computed.
func (s *scan) args(words []*syntax.Word) []arg {
	var out []arg
	for _, w := range words {
		split := &syntax.Word{Parts: slices.Clone(w.Parts)}
		if !s.braces || !syntax.SplitBraces(split) {
			out = append(out, s.word(w))
			continue
		}
		for part, err := range expand.BracesSeq(nil, split) {
			if err != nil || len(out) > maxBraces {
				out = append(out, arg{dynamic: true, split: true, src: s.text(w)})
				break
			}
			out = append(out, s.word(part))
		}
	}
	return out
}

// word evaluates one word without braces.
func (s *scan) word(w *syntax.Word) arg {
	if w == nil {
		return arg{}
	}
	return s.evaluate(w, false)
}

// quotedWord evaluates a word as if it stood in double quotes, as the text of a
// here-document is.
func (s *scan) quotedWord(w *syntax.Word) arg {
	if w == nil {
		return arg{}
	}
	return s.evaluate(w, true)
}

func (s *scan) evaluate(w *syntax.Word, quoted bool) arg {
	v := evaluation{scan: s}
	v.parts(w.Parts, quoted)
	a := arg{
		text: v.text.String(), dynamic: v.dynamic, split: v.split, pattern: v.pattern, solid: v.solid, vanish: v.vanish,
		number: v.counted, src: s.text(w),
	}
	if v.dynamic && v.guessed {
		a.guess = v.guess.String()
	}
	return a
}

// evaluation collects a word's text.
type evaluation struct {
	scan    *scan
	text    strings.Builder // up to the first computed part
	guess   strings.Builder // all of it, as far as variables are known
	dynamic bool
	split   bool
	pattern bool
	solid   bool
	vanish  bool
	empty   bool // the word begins with a solid part that may be empty
	guessed bool // every computed part was a variable that was set in sight
	counted bool // a part is a number that is not known
}

// number adds a number, whichever.
func (v *evaluation) number() {
	v.counted = true
	v.literal("1")
}

func (v *evaluation) literal(s string) {
	if v.empty && s != "" {
		v.solid, v.empty = v.solid && s[0] != '-', false
	}
	if !v.dynamic {
		v.text.WriteString(s)
	}
	v.guess.WriteString(s)
}

// outcome is what is known of a computed part.
type outcome struct {
	guess   string
	guessed bool
	plain   bool // it does not begin with a dash
	filled  bool // it is not empty
	whole   bool // it is one word even without quotes
	list    bool // it may be several words even with quotes
}

func (v *evaluation) computed(quoted bool, o outcome) {
	if !v.dynamic && v.text.Len() == 0 {
		v.solid, v.empty = o.plain, !o.filled
	} else if v.empty {
		v.solid, v.empty = v.solid && o.plain, !o.filled
	}
	v.guessed = o.guessed && (v.guessed || !v.dynamic)
	v.dynamic = true
	v.split = v.split || o.list || !quoted && !o.whole
	v.vanish = v.vanish || !quoted && !o.filled
	v.guess.WriteString(o.guess)
}

func (v *evaluation) parts(parts []syntax.WordPart, quoted bool) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			v.lit(p.Value, quoted)
		case *syntax.SglQuoted:
			if p.Dollar {
				v.literal(ansiC(p.Value))
			} else {
				v.literal(p.Value)
			}
		case *syntax.DblQuoted:
			v.parts(p.Parts, true)
		case *syntax.ParamExp:
			v.param(p, quoted)
		case *syntax.ArithmExp:
			v.number()
		case *syntax.CmdSubst:
			v.substitution(p, quoted)
		case *syntax.ProcSubst:
			v.literal("/dev/fd/63")
		default:
			v.computed(quoted, outcome{})
		}
	}
}

func (v *evaluation) param(p *syntax.ParamExp, quoted bool) {
	if v.scan.isNumberParam(p) {
		v.number()
		return
	}
	o := outcome{list: isList(p)}
	if p.Param != nil && p.Exp == nil && !p.Excl && p.Index == nil && p.Slice == nil && p.Repl == nil {
		name := p.Param.Value
		known := v.scan.values.at(name, p.Pos().Offset())
		o.plain, o.filled, o.whole = known.plain, known.filled, known.whole
		if pathsOfShell.MatchString(name) && v.scan.values.of[name] == nil && !v.scan.values.unknown {
			o.plain, o.filled, o.whole = true, true, name == "HOME"
		}
	}
	o.guess, o.guessed = v.variable(p)
	v.computed(quoted, o)
}

// isList reports whether an expansion may be several words within quotes.
func isList(p *syntax.ParamExp) bool {
	if p.Names != 0 || p.Param == nil || p.Param.Value == "@" {
		return true
	}
	w, ok := p.Index.(*syntax.Word)
	return ok && w.Lit() == "@" || p.Index != nil && !ok
}

func (v *evaluation) substitution(p *syntax.CmdSubst, quoted bool) {
	if v.scan.printsNumber(p.Stmts) {
		if quoted {
			v.number()
			return
		}
		v.computed(quoted, outcome{plain: true, whole: true})
		return
	}
	path, word := v.scan.printsPath(p.Stmts)
	v.computed(quoted, outcome{plain: path || word, whole: word})
}

// lit takes literal text: a backslash stands for what follows it.
func (v *evaluation) lit(text string, quoted bool) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' && i+1 < len(text) {
			i++
			switch {
			case text[i] == '\n':
			case quoted && strings.IndexByte("$`\"\\", text[i]) < 0:
				v.literal(text[i-1 : i+1])
			default:
				v.literal(text[i : i+1])
			}
			continue
		}
		v.pattern = v.pattern || !quoted && strings.IndexByte("*?[", c) >= 0
		if c == '(' && !quoted {
			v.scan.unknown(text, "is a pattern of one shell")
		}
		v.literal(text[i : i+1])
	}
}

// variable guesses what $name is from assignments in sight, or from the
// default in ${name:-default}.
func (v *evaluation) variable(p *syntax.ParamExp) (string, bool) {
	if p.Param == nil || p.Excl || p.Length || p.Width ||
		p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 {
		return "", false
	}
	if value, ok := v.scan.vars[p.Param.Value]; ok && p.Exp == nil {
		return value, true
	}
	if p.Exp == nil || p.Exp.Word == nil {
		return "", false
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull,
		syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		inner := evaluation{scan: v.scan}
		inner.parts(p.Exp.Word.Parts, false)
		return inner.guess.String(), !inner.dynamic
	}
	return "", false
}

// ansiC decodes the text of $'…'.
func ansiC(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch c := text[i]; c {
		case 'x', 'u', 'U':
			i += number(&b, text[i+1:], 16, map[byte]int{'x': 2, 'u': 4, 'U': 8}[c], c != 'x')
		case '0', '1', '2', '3', '4', '5', '6', '7':
			i += number(&b, text[i:], 8, 3, false) - 1
		default:
			if j := strings.IndexByte(`abefnrtvE`, c); j >= 0 {
				b.WriteByte("\a\b\x1b\f\n\r\t\v\x1b"[j])
			} else {
				b.WriteByte(c)
			}
		}
	}
	return b.String()
}

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
