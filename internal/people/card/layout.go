package card

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/wire"
)

// line is a line of the input before it is made visible.
type line struct {
	is       string // as in a row
	text     string
	argument string // that the text is a part of; "" = marks cannot be in it
	at       int    // where the text begins in the argument
}

// spoken are arguments of a shell tool that say something to people, or how long it may
// take: the command itself stands before them.
var spoken = []string{
	"description", "justification", "explanation", "timeout", "timeout_ms", "yield_time_ms", "max_output_tokens",
}

// The names by which tools take the two texts of an edit.
var edits = [][2]string{{"old_string", "new_string"}, {"oldString", "newString"}, {"old_str", "new_str"}}

// longValue is how long a value is that gets lines of its own, in bytes.
const longValue = 200

// argument is one member of the input.
type argument struct {
	name string
	raw  json.RawMessage
	text string
	is   bool // a string, which text is
}

// layout is the input of a tool, line by line: of a shell the command first; an edit as
// a difference; other arguments by name. Nothing of the input is left out.
func layout(tool string, input json.RawMessage) (out []line) {
	input = bytes.TrimSpace(input)
	if len(input) == 0 {
		return nil
	}
	if input[0] != '{' {
		if text, ok := rawjson.Text(input); ok {
			return split(nil, "", "", text)
		}
		return tree(nil, "", input)
	}
	args := arguments(input)
	if i := onlyText(args); i >= 0 {
		first := args[i]
		out = split(out, "", first.name, first.text)
		args = slices.Delete(args, i, i+1)
	}
	out, args = edit(out, args)
	for _, long := range []bool{false, true} {
		for _, a := range args {
			if isLong := a.is && (len(a.text) > longValue || strings.Contains(a.text, "\n")); isLong == long {
				out = a.lines(out, isLong)
			}
		}
	}
	return out
}

// arguments are the members of an object, by name; members of one name in their order.
func arguments(input json.RawMessage) (list []argument) {
	for name, value := range rawjson.Members(input) {
		a := argument{name: name, raw: value}
		a.text, a.is = rawjson.Text(value)
		list = append(list, a)
	}
	slices.SortStableFunc(list, func(a, b argument) int { return strings.Compare(a.name, b.name) })
	return list
}

// repeated are the names that several members of the input have, whatever the case of
// their letters.
func repeated(input json.RawMessage) (names []string) {
	seen := map[string]int{}
	for name := range rawjson.Members(bytes.TrimSpace(input)) {
		name = strings.ToLower(name)
		if seen[name]++; seen[name] == 2 {
			names = append(names, name)
		}
	}
	return names[:min(len(names), mostKinds)]
}

// onlyText is where the only argument is that is not spoken, if it is a text; -1 = there
// is none.
func onlyText(args []argument) (at int) {
	at = -1
	for i, a := range args {
		if slices.Contains(spoken, a.name) {
			continue
		}
		if at >= 0 || !a.is {
			return -1
		}
		at = i
	}
	return at
}

// edit appends the difference that an edit makes, and returns the other arguments.
func edit(out []line, args []argument) ([]line, []argument) {
	find := func(name string) int {
		at := -1
		for i, a := range args {
			if a.name == name && a.is {
				if at >= 0 {
					return -1 // which of the two counts is not known
				}
				at = i
			}
		}
		return at
	}
	for _, names := range edits {
		from, to := find(names[0]), find(names[1])
		if from < 0 || to < 0 {
			continue
		}
		old, now := args[from], args[to]
		var rest []argument
		for i, a := range args {
			if i != from && i != to {
				rest = append(rest, a)
			}
		}
		for _, a := range rest {
			if !a.is || len(a.text) <= longValue && !strings.Contains(a.text, "\n") {
				out = a.lines(out, false)
			}
		}
		rest = slices.DeleteFunc(rest, func(a argument) bool {
			return !a.is || len(a.text) <= longValue && !strings.Contains(a.text, "\n")
		})
		removed := split(nil, wire.RowRemoved, old.name, old.text)
		added := split(nil, wire.RowAdded, now.name, now.text)
		head, tail := same(removed, added)
		for _, l := range removed[:head] {
			out = append(out, line{text: l.text})
		}
		out = append(append(out, removed[head:len(removed)-tail]...), added[head:len(added)-tail]...)
		for _, l := range removed[len(removed)-tail:] {
			out = append(out, line{text: l.text})
		}
		return out, rest
	}
	return out, args
}

// same is how many lines two texts have in common at their beginning and their end.
func same(a, b []line) (head, tail int) {
	for head < min(len(a), len(b)) && a[head].text == b[head].text {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail].text == b[len(b)-1-tail].text {
		tail++
	}
	return head, tail
}

// lines appends an argument: its name and its value on one line, or the name before the
// lines of a long one.
func (a argument) lines(out []line, long bool) []line {
	switch {
	case long:
		return split(append(out, line{is: wire.RowName, text: a.name}), "", a.name, a.text)
	case a.is:
		name := a.name + ": "
		return append(out, line{is: wire.RowValue, text: name + a.text, argument: a.name, at: -len(name)})
	}
	return tree(out, a.name, a.raw)
}

// split appends the lines of a text. The first characters of a patch's line say its kind.
func split(out []line, is, argument, text string) []line {
	at := 0
	patch := is == "" && (strings.HasPrefix(text, "*** Begin Patch") || strings.HasPrefix(text, "diff --git ") ||
		strings.HasPrefix(text, "--- "))
	for part := range strings.SplitSeq(text, "\n") {
		l := line{is: is, text: part, argument: argument, at: at}
		at += len(part) + 1
		if patch && strings.HasPrefix(part, "+") && !strings.HasPrefix(part, "+++") {
			l.is, l.text, l.at = wire.RowAdded, part[1:], l.at+1
		} else if patch && strings.HasPrefix(part, "-") && !strings.HasPrefix(part, "---") {
			l.is, l.text, l.at = wire.RowRemoved, part[1:], l.at+1
		}
		out = append(out, l)
	}
	return out
}

// mostDepth is how deep values are indented.
const mostDepth = 20

// tree appends a value that is no text: on one line if it is short, else each of its
// members on a line of its own. Texts in it are written as they are, and lines in them
// as \n.
func tree(out []line, name string, raw json.RawMessage) []line {
	w := treeWriter{}
	if name != "" {
		w.b.WriteString(name + ": ")
	}
	oneLine := len(raw) <= longValue
	w.write(raw, oneLine)
	for part := range strings.SplitSeq(w.b.String(), "\n") {
		out = append(out, line{is: wire.RowValue, text: part})
	}
	return out
}

type treeWriter struct{ b strings.Builder }

// write writes JSON with its texts unescaped.
func (w *treeWriter) write(raw json.RawMessage, oneLine bool) {
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber()
	depth, first := 0, true
	var objects []bool // which of the open brackets are objects
	key := false       // the next token of an object is a key
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			w.b.WriteString(strings.ReplaceAll(string(raw), "\n", " ")) // it cannot be read: all of it as it is
			return
		}
		closes := token == json.Delim('}') || token == json.Delim(']')
		if closes {
			depth--
			if !first {
				w.next(depth, oneLine)
			}
			w.b.WriteString(token.(json.Delim).String())
			objects = objects[:len(objects)-1]
			first = false
			key = len(objects) > 0 && objects[len(objects)-1]
			continue
		}
		if value := len(objects) > 0 && objects[len(objects)-1] && !key; !value && len(objects) > 0 {
			if !first {
				w.b.WriteString(",")
			}
			if !first || !oneLine {
				w.next(depth, oneLine)
			}
		}
		first = false
		switch v := token.(type) {
		case json.Delim:
			w.b.WriteString(v.String())
			objects = append(objects, v == '{')
			depth++
			first = true
			key = v == '{'
			continue
		case string:
			w.b.WriteString(quoted(v))
		case json.Number:
			w.b.WriteString(v.String())
		case bool:
			w.b.WriteString(strconv.FormatBool(v))
		case nil:
			w.b.WriteString("null")
		}
		if key {
			w.b.WriteString(": ")
			key = false
		} else {
			key = len(objects) > 0 && objects[len(objects)-1]
		}
	}
}

func (w *treeWriter) next(depth int, oneLine bool) {
	if oneLine {
		w.b.WriteString(" ")
		return
	}
	w.b.WriteString("\n" + strings.Repeat("  ", min(depth, mostDepth)))
}

// quoted is a text in JSON's quotes, with hidden characters as they are: a card spells
// them out.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}

// rowsOf makes the rows of all lines. Several empty ones are one row.
func rowsOf(lines []line, spans []wire.CardSpan) (rows []wire.CardRow) {
	number := 0
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		if l.is == wire.RowName {
			rows = append(rows, wire.CardRow{Is: l.is, Bytes: len(l.text), Parts: parts(l.text, 0, nil)})
			continue
		}
		number++
		n := 0
		for j := i; j < len(lines) && empty(lines[j]) && lines[j].is == l.is; j++ {
			n++
		}
		if n > 1 {
			row := wire.CardRow{Is: wire.RowEmpty, Lines: n}
			for _, one := range lines[i : i+n] {
				row.Bytes += len(one.text) + 1
			}
			row.Parts = []wire.CardPart{{Text: Plural(n, "empty line"), Is: wire.PartBlank}}
			rows = append(rows, row)
			i += n - 1
			number += n - 1
			continue
		}
		var marks []span
		if l.argument != "" {
			for _, s := range spans {
				if s.Argument == l.argument {
					marks = append(marks, span{s.From, s.To})
				}
			}
		}
		row := wire.CardRow{Line: number, Is: l.is, Bytes: len(l.text) + 1, Parts: parts(l.text, l.at, marks)}
		rows = append(rows, row)
	}
	return rows
}

// empty reports whether a line has no more than a few blanks.
func empty(l line) bool { return len(l.text) <= indent && strings.Trim(l.text, " \t") == "" }
