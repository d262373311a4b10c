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
				out = append(out, arg{dynamic: true, split: true})
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
	v := evaluation{vars: s.vars}
	v.parts(w.Parts, false)
	a := arg{text: v.text.String(), dynamic: v.dynamic, split: v.split, pattern: v.pattern}
	if v.dynamic && v.guessed {
		a.guess = v.guess.String()
	}
	return a
}

// evaluation collects a word's text.
type evaluation struct {
	vars    map[string]string
	text    strings.Builder // up to the first computed part
	guess   strings.Builder // all of it, as far as variables are known
	dynamic bool
	split   bool
	pattern bool
	guessed bool // every computed part was a variable that was set in sight
}

func (v *evaluation) literal(s string) {
	if !v.dynamic {
		v.text.WriteString(s)
	}
	v.guess.WriteString(s)
}

func (v *evaluation) computed(quoted bool, guess string, ok bool) {
	v.guessed = ok && (v.guessed || !v.dynamic)
	v.dynamic = true
	v.split = v.split || !quoted
	v.guess.WriteString(guess)
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
			guess, ok := v.variable(p)
			v.computed(quoted, guess, ok)
		case *syntax.ProcSubst:
			v.literal("/dev/fd/63")
		default:
			v.computed(quoted, "", false)
		}
	}
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
		v.literal(text[i : i+1])
	}
}

// variable guesses what $name is from assignments in sight, or from the
// default in ${name:-default}.
func (v *evaluation) variable(p *syntax.ParamExp) (string, bool) {
	if p.Param == nil || p.Excl || p.Length || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 {
		return "", false
	}
	if value, ok := v.vars[p.Param.Value]; ok && p.Exp == nil {
		return value, true
	}
	if p.Exp == nil || p.Exp.Word == nil {
		return "", false
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull, syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		inner := evaluation{vars: v.vars}
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
