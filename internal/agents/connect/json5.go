package connect

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// json5Format is JSON5: JSON with comments, trailing commas, names without
// quotes, and more ways to write texts and numbers. It is read as the JSON with
// comments that says the same, and its edits are made in the text.
type json5Format struct{ jsonFormat }

func (f json5Format) parse(text []byte) (map[string]any, error) {
	plain := plainJSON(text)
	tree, err := f.jsonFormat.parse(plain.text)
	return tree, plain.located(text, err)
}

func (f json5Format) add(text []byte, leaves []leaf) ([]byte, error) {
	return f.edit(text, func(plain []byte) (edits, error) { return f.additions(plain, leaves) })
}

// drop cuts out the leaves that text has, JSON too, and the objects and lists that hold
// nothing afterwards unless keep names them.
func (f json5Format) drop(text []byte, leaves []leaf, keep func(path []string) bool) ([]byte, error) {
	return f.edit(text, func(plain []byte) (edits, error) { return f.cuts(plain, leaves, keep) })
}

func (json5Format) edit(text []byte, plan func(plain []byte) (edits, error)) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = append(bytes.Clone(text), "{}\n"...)
	}
	plain := plainJSON(text)
	list, err := plan(plain.text)
	if err != nil {
		return nil, plain.located(text, err)
	}
	for i, e := range list {
		list[i] = edit{plain.from[e.at], plain.from[e.at+e.cut] - plain.from[e.at], e.text}
	}
	return list.apply(text), nil
}

// mapped is a text as JSON with comments; from says where in the text each of its bytes,
// and its end, came from.
type mapped struct {
	text []byte
	from []int
}

// located moves the place of an error to where it is in the text itself.
func (p mapped) located(text []byte, err error) error {
	w, ok := err.(*whereError)
	if !ok {
		return err
	}
	lines := bytes.SplitAfter(p.text, []byte("\n"))
	offset := len(bytes.Join(lines[:min(w.line-1, len(lines))], nil)) + w.column - 1
	return at(text, p.from[min(offset, len(p.from)-1)], "%w", w.err)
}

func (p *mapped) write(from int, text string) {
	for i := range len(text) {
		p.text, p.from = append(p.text, text[i]), append(p.from, from)
	}
}

// plainJSON rewrites names, texts, numbers and white space, and copies the rest.
func plainJSON(text []byte) mapped {
	p := mapped{}
	for i := 0; i < len(text); {
		end := i + 1
		switch c := text[i]; {
		case bytes.HasPrefix(text[i:], []byte("//")), bytes.HasPrefix(text[i:], []byte("/*")):
			end = i + comment(text[i:])
			p.copy(text, i, end)
		case c == '"' || c == '\'':
			end = i + quotedLength(text[i:])
			p.write(i, jsonString(unquoted(text[i:end])))
		case c == '\v' || c == '\f':
			p.write(i, " ")
		case wordLength(text[i:]) > 0:
			end = i + wordLength(text[i:])
			if word := text[i:end]; json.Valid(word) {
				p.copy(text, i, end)
			} else {
				p.write(i, jsonString(string(word)))
			}
		default:
			if r, size := utf8.DecodeRune(text[i:]); strings.ContainsRune("\u00a0\u2028\u2029\ufeff", r) && size > 1 {
				end = i + size
				p.write(i, " ")
			} else {
				p.copy(text, i, end)
			}
		}
		i = end
	}
	p.from = append(p.from, len(text))
	return p
}

func (p *mapped) copy(text []byte, from, to int) {
	for i := from; i < to; i++ {
		p.text, p.from = append(p.text, text[i]), append(p.from, i)
	}
}

func comment(text []byte) int {
	end, extra := []byte("\n"), 0
	if text[1] == '*' {
		end, extra = []byte("*/"), 2
	}
	i := bytes.Index(text[2:], end)
	if i < 0 {
		return len(text)
	}
	return 2 + i + extra
}

// quotedLength is the length of the text that begins here, with its quotes.
func quotedLength(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1
		}
	}
	return len(text)
}

// wordLength is the length of the name or number that begins here; 0 = none does.
func wordLength(text []byte) (n int) {
	for n < len(text) {
		r, size := utf8.DecodeRune(text[n:])
		plain := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune("_$+-.\\", r)
		letter := r >= utf8.RuneSelf && r != utf8.RuneError && !strings.ContainsRune("\u00a0\u2028\u2029\ufeff", r)
		if !letter && !plain {
			break
		}
		n += size
	}
	return n
}

// unquoted is the text inside quotes. An escape of JSON5 alone is taken for
// the character behind it, or for nothing at the end of a line.
func unquoted(quoted []byte) string {
	inner := quoted[1:max(len(quoted)-1, 1)]
	var out strings.Builder
	for i := 0; i < len(inner); i++ {
		c := inner[i]
		switch {
		case c == '"':
			out.WriteString(`\"`)
		case c < ' ':
			out.WriteString(strings.Trim(jsonString(string(c)), `"`))
		case c != '\\' || i+1 == len(inner):
			out.WriteByte(c)
		case strings.IndexByte(`"\/bfnrtu`, inner[i+1]) >= 0:
			out.Write(inner[i : i+2])
			i++
		case inner[i+1] == 'x' && i+3 < len(inner):
			out.WriteString(`\u00` + string(inner[i+2:i+4]))
			i += 3
		case inner[i+1] == '\n', inner[i+1] == '\r':
			i++
		default:
			i++
			out.WriteByte(inner[i])
		}
	}
	var text string
	if json.Unmarshal([]byte(`"`+out.String()+`"`), &text) != nil {
		return string(inner)
	}
	return text
}
