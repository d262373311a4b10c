package facts

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/pattern"
)

// Fit is how surely a pattern fits a command.
type Fit int

// The degrees of a fit, in order.
const (
	No Fit = iota
	Perhaps
	Sure
)

// CommandPattern is a command to look for: its program and words that must follow, such as
// `git push * main`. A word that begins with a dash is an option, which may stand anywhere
// behind the program, abbreviated, joined or with a value. `*` is one word, or at the end any.
type CommandPattern struct {
	Text  string
	words []pattern.Fold // none of them an option; the first is the program
	flags []string
	rest  bool // the last word is `*`
}

// ParsePattern reads a command pattern.
func ParsePattern(text string) (CommandPattern, error) {
	p := CommandPattern{Text: strings.Join(strings.Fields(text), " ")}
	for word := range strings.FieldsSeq(text) {
		if strings.Trim(word, "|&;<>") == "" {
			return CommandPattern{}, fmt.Errorf("%s is no part of a command", word)
		}
		if len(p.words) > 0 && len(word) > 1 && word[0] == '-' {
			p.flags = append(p.flags, word)
			continue
		}
		f, err := pattern.CompileFold(word)
		if err != nil {
			return CommandPattern{}, err
		}
		p.words = append(p.words, f)
	}
	if len(p.words) == 0 {
		return CommandPattern{}, errors.New("no program")
	}
	p.rest = len(p.words) > 1 && p.words[len(p.words)-1].Text == "*"
	return p, nil
}

// Fit reports whether the pattern fits a command: its words in their order, with options and
// their values between them, and more words behind them. In doubt it fits perhaps.
func (p *CommandPattern) Fit(c *Command) Fit {
	if len(c.Words) == 0 {
		return No
	}
	level := p.fitsProgram(c)
	if level == No || c.Words[0].Kind == Unknown && !c.Words[0].safe {
		return level // it may become several words
	}
	for _, flag := range p.flags {
		if level = min(level, givenFlag(flag, c.Words[1:])); level == No {
			return No
		}
	}
	want := p.words[1:]
	if p.rest {
		want = want[:len(want)-1]
		if operands(c.Words[1:]) < len(p.words)-1 {
			return No
		}
	}
	if level = min(level, inOrder(want, c.Words[1:])); c.Guess {
		level = min(level, Perhaps)
	}
	return level
}

// NamesAll reports whether a command has no operands but the operands that the pattern names. A pattern that names
// only a program and its subcommands is about all of their operands.
func (p *CommandPattern) NamesAll(c *Command) bool {
	t, names := programs(), p.words[1:]
	for e := t.program(p.words[0].Text); e != nil && len(names) > 0; names = names[1:] {
		if e = e.sub(names[0].Text); e == nil {
			break
		}
		e = e.ready(t)
	}
	return p.rest || len(names) == 0 || len(c.Words) > 0 && operands(c.Words[1:]) < len(p.words)
}

func (p *CommandPattern) fitsProgram(c *Command) Fit {
	name, w := &p.words[0], &c.Words[0]
	switch {
	case w.Kind == Unknown:
		return Perhaps
	case name.Match(w.Text), name.Match(c.name()) && !strings.Contains(name.Text, "/"):
		return Sure
	case w.Kind == Pattern && (globMatch(w.Text, name.Text) || strings.Contains(w.Text, "(")):
		return Perhaps
	}
	return No
}

// Programs returns the possible programs of the pattern as bits: each fitting command shares a bit with it.
func (p *CommandPattern) Programs() uint64 {
	name := p.words[0].Text
	if strings.ContainsFunc(name, func(r rune) bool {
		return (r|0x20 < 'a' || r|0x20 > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("._-+/@", r)
	}) {
		return ^uint64(0) // a glob
	}
	return programBit(name)
}

// Programs returns the possible programs of the command as bits. See CommandPattern.Programs.
func (c *Command) Programs() uint64 {
	if len(c.Words) == 0 {
		return 0
	}
	if c.Words[0].Kind != Literal {
		return ^uint64(0)
	}
	return programBit(c.Words[0].Text) | programBit(c.name())
}

func programBit(name string) uint64 {
	sum := uint32(2166136261) // FNV-1a
	for _, b := range []byte(strings.ToLower(name)) {
		sum = (sum ^ uint32(b)) * 16777619
	}
	return 1 << (sum >> 26)
}

// operands is the number of words that are no options.
func operands(words []Word) (n int) {
	for i := range words {
		if text := words[i].Text; !strings.HasPrefix(text, "-") || text == "-" {
			n++
		}
	}
	return n
}

// inOrder finds the wanted words in their order, with nothing between them but options and
// possible values of options; the first of them may stand behind such words. It looks at each word
// once for each wanted one, from the last on: a line may be long.
func inOrder(want []pattern.Fold, words []Word) Fit {
	if len(want) == 0 {
		return Sure
	}
	var few [2][fewWords]Fit // an ordinary command needs no memory of its own
	from, next := few[0][:], few[1][:]
	if n := len(words) + 1; n > fewWords {
		from, next = make([]Fit, n), make([]Fit, n)
	}
	for i := range from { // how surely the words behind f follow from an index on
		from[i] = Sure
	}
	for _, f := range slices.Backward(want) {
		next[len(words)] = No
		for i := len(words) - 1; i >= 0; i-- {
			w := &words[i]
			next[i] = min(fitsWord(f, w), from[i+1])
			if w.Kind == Unknown && w.Text == unknownPart && !w.safe {
				next[i] = max(next[i], Perhaps) // it may be any words
			}
			isOption := strings.HasPrefix(w.Text, "-") || strings.HasPrefix(w.Text, "+")
			if isOption || i > 0 && mayTakeValue(&words[i-1]) {
				next[i] = max(next[i], next[i+1])
			}
		}
		from, next = next, from
	}
	return from[0]
}

const fewWords = 32

func mayTakeValue(w *Word) bool {
	return len(w.Text) > 1 && w.Text[0] == '-' && w.Text != "--" && !strings.Contains(w.Text, "=")
}

// fitsWord holds one wanted word against one of a command. A refspec fits by its
// destination: HEAD:main and +refs/heads/main are main.
func fitsWord(f pattern.Fold, w *Word) Fit {
	if w.Kind == Unknown {
		if w.Text == unknownPart || !strings.ContainsAny(f.Text, "*?[") {
			head, _, _ := strings.Cut(w.Text, unknownPart)
			tail := w.Text[strings.LastIndex(w.Text, unknownPart)+len(unknownPart):]
			if strings.HasPrefix(f.Text, head) && strings.HasSuffix(f.Text, tail) || f.Text == "*" {
				return Perhaps
			}
			return No
		}
		return Perhaps
	}
	if f.Match(w.Text) {
		return Sure
	}
	if text := strings.TrimPrefix(w.Text, "+"); text != w.Text && f.Match(text) {
		return Sure
	}
	if _, to, has := strings.Cut(w.Text, ":"); has &&
		(f.Match(to) || f.Match(strings.TrimPrefix(to, "refs/heads/"))) &&
		to != "" {
		return Sure
	}
	if ref, is := strings.CutPrefix(strings.TrimPrefix(w.Text, "+"), "refs/heads/"); is && f.Match(ref) {
		return Sure
	}
	if w.Kind == Pattern && globMatch(w.Text, f.Text) {
		return Perhaps
	}
	return No
}

// givenFlag reports whether an option is among words: as it is, as a beginning of a long one,
// with its value, or each of its letters in clusters of short ones.
func givenFlag(flag string, words []Word) Fit {
	best := No
	letters := map[rune]bool{}
	for _, w := range words {
		text := w.Text
		if text == "--" {
			break
		}
		switch {
		case w.Kind == Unknown && (w.Text == unknownPart && !w.safe || strings.HasPrefix(text, "-")):
			best = max(best, Perhaps)
		case text == flag || strings.HasPrefix(text, flag+"="):
			return Sure
		case strings.HasPrefix(flag, "--"):
			name, _, _ := strings.Cut(text, "=")
			if len(name) > 3 && strings.HasPrefix(name, "--") && (strings.HasPrefix(flag, name) ||
				strings.HasPrefix(name, flag)) {
				return Sure
			}
		case len(text) > 1 && text[0] == '-' && text[1] != '-':
			for _, c := range text[1:] {
				letters[c] = true
			}
			if strings.HasPrefix(text, flag) {
				return Sure
			}
		}
	}
	if !strings.HasPrefix(flag, "--") {
		all := true
		for _, c := range flag[1:] {
			all = all && letters[c]
		}
		if all {
			return Sure
		}
	}
	return best
}

// Alone returns the command that a line consists of, where it is one with all of its words
// written out, and nothing in the line is in doubt: no second command, pipe, redirection,
// assignment, variable, substitution or pattern, and no control character. nil for any other
// line. Commands that it runs itself, such as those of sudo, may be behind it.
func (f *Facts) Alone() *Command {
	if len(f.Doubts) > 0 || len(f.Commands) == 0 || strings.ContainsFunc(f.Text, isControl) {
		return nil
	}
	c := &f.Commands[0]
	blanks := len(f.Text) - len(strings.TrimLeft(f.Text, " \t"))
	whole := Span{blanks, len(strings.TrimRight(f.Text, " \t"))}
	if c.Span != whole || c.Guess || len(c.Env)+len(c.Redirects)+len(c.Via) > 0 ||
		slices.ContainsFunc(c.Words, func(w Word) bool { return w.Kind != Literal || w.made }) ||
		slices.ContainsFunc(f.Commands[1:], func(o Command) bool { return len(o.Via) == 0 }) {
		return nil
	}
	return c
}

// isControl reports whether a character does something else than to be read.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// Covers reports whether the pattern stands for the whole command: each word, word by word,
// where `*` is any text within one word, and a last `*` one or more words.
func (p *CommandPattern) Covers(c *Command) bool {
	_, ok := p.Captures(c)
	return ok
}

// Captures is Covers, with the texts that its `*` stand for, as they are quoted in a shell.
func (p *CommandPattern) Captures(c *Command) (texts []string, ok bool) {
	if c.Guess || len(c.Words) == 0 || slices.ContainsFunc(c.Words, func(w Word) bool { return w.Kind == Unknown }) {
		return nil, false
	}
	want := strings.Fields(p.Text)
	words := c.Words
	if want[0] != words[0].Text && !(want[0] == path.Base(words[0].Text) && genuine(words[0].Text)) {
		return nil, false
	}
	want, words = want[1:], words[1:]
	rest := len(want) > 0 && want[len(want)-1] == "*"
	if rest && len(words) < len(want) || !rest && len(words) != len(want) {
		return nil, false
	}
	for i, glob := range want {
		if rest && i == len(want)-1 {
			var all []string
			for _, w := range words[i:] {
				all = append(all, quote(w))
			}
			return append(texts, strings.Join(all, " ")), true
		}
		if !globMatch(glob, words[i].Text) {
			return nil, false
		}
		if strings.Contains(glob, "*") {
			texts = append(texts, quote(words[i]))
		}
	}
	return texts, true
}

func quote(w Word) string {
	if w.Kind == Pattern {
		return w.Text
	}
	if w.Text != "" &&
		strings.Trim(w.Text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-") == "" {
		return w.Text
	}
	return "'" + strings.ReplaceAll(w.Text, "'", `'\''`) + "'"
}
