package facts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// xargs makes commands of its input.
type xargs struct {
	sh      *shell
	options []given
}

// commands are the commands that xargs makes of words: with those of its input, as many as it takes
// at once.
func (x *xargs) commands(words []Word) (lines [][]Word) {
	mark, in := x.mark(), x.input()
	byMark := slices.ContainsFunc(x.options, func(g given) bool {
		return g.name == "-0" || g.name == "--null" || g.name == "-d" || g.name == "--delimiter"
	})
	if in.known && (in.text == "" || !byMark && strings.TrimSpace(in.text) == "") {
		return [][]Word{words}
	}
	if mark == "" && in.known && x.byLines() && strings.TrimRight(in.text, " \t\n") != "" {
		if lines, ok := x.ofEachLine(words, in.text); ok {
			return lines
		}
	}
	added := x.added(in, mark)
	if mark == "" {
		for part := range slices.Chunk(added, x.atOnce(len(added))) {
			lines = append(lines, append(slices.Clip(words), part...))
		}
		return lines
	}
	out, one := slices.Clone(words), oneOf(added)
	for i := range out {
		if strings.Contains(out[i].Text, mark) {
			out[i].Text = strings.ReplaceAll(out[i].Text, mark, one.Text)
			out[i].Kind, out[i].from, out[i].safe = one.Kind, one.from, one.safe
		}
	}
	return [][]Word{out}
}

// added are the words that the input gives the command, or an unknown word where the input cannot be read. With a
// mark, each line is one word.
func (x *xargs) added(in input, mark string) (added []Word) {
	switch {
	case !in.known:
	case mark == "":
		added = wordsOf(x.split(in.text, " \t\n"))
	default:
		if list := x.split(strings.TrimLeft(in.text, " \t\n"), "\n"); len(list) == 1 {
			added = wordsOf(list)
		}
	}
	if list := in.words; len(added) == 0 && len(list) > 0 && list[0].Kind != Unknown {
		added = list
	}
	if len(added) == 0 || len(added) > mostItems {
		added = []Word{{Text: unknownPart, Kind: Unknown, from: cmp.Or(in.origin, "its input")}}
		if in.origin != "" && isLister[in.origin] {
			added[0].from, added[0].safe = "", true
		}
	}
	return added
}

// mark is the text of -I: the words of the input take its place; "" = they stand at the end.
func (x *xargs) mark() (mark string) {
	for _, g := range x.options {
		if g.name == "-I" || g.name == "--replace" || g.name == "-i" {
			if mark = "{}"; g.value != nil && g.value.Text != "" {
				mark = g.value.Text
			}
		}
	}
	return mark
}

// input is the text that xargs reads: its standard input, or a file.
func (x *xargs) input() input {
	in := x.sh.stdin
	x.sh.takes()
	for _, g := range x.options {
		if (g.name == "-a" || g.name == "--arg-file") && g.value != nil {
			in = input{has: true, origin: "file " + g.value.Text}
		}
	}
	return in
}

// ofEachLine are the commands for the lines of an input; ok is false where a line may go on in the next, or there
// are too many.
func (x *xargs) ofEachLine(words []Word, text string) (lines [][]Word, ok bool) {
	rows := strings.Split(strings.Trim(text, "\n"), "\n")
	if len(rows) > mostItems || strings.Contains(text, " \n") || strings.Contains(text, "\t\n") {
		return nil, false
	}
	for _, row := range rows {
		if more := wordsOf(x.split(row, " \t\n")); len(more) > 0 {
			lines = append(lines, append(slices.Clip(words), more...))
		}
	}
	return lines, true
}

// byLines reports whether xargs runs a command for each line of its input.
func (x *xargs) byLines() bool {
	return slices.ContainsFunc(x.options, func(g given) bool {
		return (g.name == "-l" || g.name == "-L" || g.name == "--max-lines") && (g.value == nil || g.value.Text == "1")
	})
}

// atOnce is how many words xargs takes at once, at most n.
func (x *xargs) atOnce(n int) int {
	for _, g := range x.options {
		if (g.name == "-n" || g.name == "--max-args") && g.value != nil {
			if most, err := strconv.Atoi(g.value.Text); err == nil && most > 0 {
				return min(n, most)
			}
		}
	}
	return n
}

// split are the words that xargs makes of its input: between NULs or delimiters, or as
// separated by ends, where quotes and backslashes count.
func (x *xargs) split(text, ends string) (words []string) {
	for _, g := range x.options {
		mark := "\x00"
		switch g.name {
		case "-d", "--delimiter":
			if g.value == nil || g.value.Kind == Unknown || ansiC(g.value.Text) == "" {
				return nil
			}
			mark = ansiC(g.value.Text)[:1]
		case "-0", "--null":
		default:
			continue
		}
		return strings.Split(strings.TrimSuffix(text, mark), mark)
	}
	var word strings.Builder
	var quote byte
	started := false
	for i := 0; i < len(text); i++ {
		b := text[i]
		switch {
		case quote != 0 && b == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(b)
		case b == '\'' || b == '"':
			quote, started = b, true
		case b == '\\' && i+1 < len(text):
			i++
			word.WriteByte(text[i])
			started = true
		case strings.IndexByte(ends, b) >= 0:
			if started {
				words = append(words, word.String())
			}
			word.Reset()
			started = false
		default:
			word.WriteByte(b)
			started = true
		}
	}
	if started {
		words = append(words, word.String())
	}
	return words
}

// isLister are commands that print names of files and nothing else.
var isLister = map[string]bool{
	"ls": true, "find": true, "fd": true, "rg": true, "grep": true,
	"git ls-files": true, "git grep": true, "git diff": true,
}
