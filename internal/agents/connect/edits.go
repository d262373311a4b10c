package connect

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// edits are replacements of parts of a text.
type edits []edit

type edit struct {
	at, cut int
	text    string
}

// put inserts text at an offset; cut removes the text between two. Insertions at
// one offset keep their order.
func (e *edits) put(offset int, text string) { *e = append(*e, edit{offset, 0, text}) }
func (e *edits) cut(from, to int)            { *e = append(*e, edit{from, to - from, ""}) }

// apply makes the edits. Text that is cut twice is gone once.
func (e edits) apply(text []byte) []byte {
	slices.SortStableFunc(e, func(a, b edit) int { return a.at - b.at })
	var out bytes.Buffer
	done := 0
	for _, c := range e {
		if c.at > done {
			out.Write(text[done:c.at])
			done = c.at
		}
		out.WriteString(c.text)
		done = max(done, c.at+c.cut)
	}
	out.Write(text[done:])
	return out.Bytes()
}

// object is a new object of a settings file that holds others.
type object []member

// keysOf are the keys that leaves begin with, each once, in order.
func keysOf(leaves []leaf) (keys []string) {
	for _, l := range leaves {
		key := l.Key
		if len(l.Path) > 0 {
			key = l.Path[0]
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// under splits off the leaves that key leads to: further leaves, or a leaf of its own.
func under(leaves []leaf, key string) (below []leaf, own leaf) {
	for _, l := range leaves {
		switch {
		case len(l.Path) == 0 && l.Key == key:
			own = l
		case len(l.Path) > 0 && l.Path[0] == key:
			l.Path = l.Path[1:]
			below = append(below, l)
		}
	}
	return below, own
}

// nested is the new value of a key.
func nested(below []leaf, own leaf) any {
	switch {
	case len(below) == 0 && own.List:
		return []any{own.Value}
	case len(below) == 0:
		return own.Value
	}
	var o object
	for _, key := range keysOf(below) {
		further, leaf := under(below, key)
		o = append(o, member{Key: key, Value: nested(further, leaf)})
	}
	return o
}

// oneLine writes a value as JSON on one line, with blanks as people write them.
func oneLine(v any) string { return flow(v, jsonString) }

// flow writes a value on one line, as JSON and YAML both have it; quote writes
// texts.
func flow(v any, quote func(string) string) string {
	var parts []string
	switch v := v.(type) {
	case object:
		return flow([]member(v), quote)
	case []member:
		for _, m := range v {
			parts = append(parts, quote(m.Key)+": "+flow(m.Value, quote))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case [][]member:
		for _, m := range v {
			parts = append(parts, flow(m, quote))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case []any:
		for _, m := range v {
			parts = append(parts, flow(m, quote))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return quote(v)
	}
	return fmt.Sprint(v)
}

func jsonString(s string) string {
	text, _ := rawjson.Encode(s) // text always encodes
	return string(text)
}

// newline is the line end of a text: the line end of its first line.
func newline(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
