package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// jsonFormat is JSON, with comments and trailing commas where a file has them.
type jsonFormat struct{}

// hujsonPlace finds the place in an error of hujson.
var hujsonPlace = lazyregexp.New(`^hujson: line (\d+), column (\d+): (.*)$`)

func (jsonFormat) root(text []byte) (hujson.Value, error) {
	v, err := hujson.Parse(text)
	if err != nil {
		if m := hujsonPlace.FindStringSubmatch(err.Error()); m != nil {
			line, _ := strconv.Atoi(m[1])
			column, _ := strconv.Atoi(m[2])
			return v, &whereError{line, column, errors.New("not valid JSON: " + m[3])}
		}
		return v, fmt.Errorf("not valid JSON: %w", err)
	}
	if _, ok := v.Value.(*hujson.Object); !ok {
		return v, at(text, v.StartOffset, "want an object, found %s", kindOf(v))
	}
	return v, refuseDuplicates(text, &v)
}

// refuseDuplicates refuses an object that has a key two times: which one counts is each
// reader's own choice.
func refuseDuplicates(text []byte, v *hujson.Value) error {
	switch v := v.Value.(type) {
	case *hujson.Object:
		seen := map[string]bool{}
		for i := range v.Members {
			key := nameOf(v.Members[i].Name)
			if seen[key] {
				return at(text, v.Members[i].Name.StartOffset, "the key %q stands there twice", key)
			}
			seen[key] = true
			if err := refuseDuplicates(text, &v.Members[i].Value); err != nil {
				return err
			}
		}
	case *hujson.Array:
		for i := range v.Elements {
			if err := refuseDuplicates(text, &v.Elements[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f jsonFormat) parse(text []byte) (map[string]any, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return map[string]any{}, nil
	}
	v, err := f.root(text)
	if err != nil {
		return nil, err
	}
	v = v.Clone() // Standardize writes over the text that v shares
	v.Standardize()
	var tree map[string]any
	d := json.NewDecoder(bytes.NewReader(v.Pack()))
	d.UseNumber() // 1e400 is a number too
	if err := d.Decode(&tree); err != nil {
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	return tree, nil
}

func (f jsonFormat) add(text []byte, leaves []leaf) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = append(bytes.Clone(text), "{}\n"...)
	}
	list, err := f.additions(text, leaves)
	if err != nil {
		return nil, err
	}
	return list.apply(text), nil
}

// additions are the edits that insert leaves.
func (f jsonFormat) additions(text []byte, leaves []leaf) (edits, error) {
	root, err := f.root(text)
	if err != nil {
		return nil, err
	}
	e := &jsonEdit{text: text, newline: newline(text)}
	e.step = e.indentOf(&root)
	if err := e.object(&root, leaves); err != nil {
		return nil, err
	}
	return e.edits, nil
}

// jsonEdit collects the edits of one text.
type jsonEdit struct {
	edits
	text    []byte
	newline string
	step    string // one step of indentation
}

// object adds leaves to an object.
func (e *jsonEdit) object(v *hujson.Value, leaves []leaf) error {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return at(e.text, v.StartOffset, "want an object of hooks, found %s", kindOf(*v))
	}
	var fresh []member
	for _, key := range keysOf(leaves) {
		below, own := under(leaves, key)
		m := memberOf(o, key)
		switch {
		case m == nil:
			fresh = append(fresh, member{Key: key, Value: nested(below, own)})
		case len(below) > 0:
			if err := e.object(&m.Value, below); err != nil {
				return err
			}
		case own.List:
			if err := e.array(&m.Value, own.Value); err != nil {
				return err
			}
		}
	}
	if len(fresh) > 0 {
		e.insert(v, lastOf(o), o.AfterExtra, func(indent string, inline bool) (items []string) {
			for _, m := range fresh {
				text := oneLine(m.Value)
				if !inline {
					text = e.render(m.Value, indent)
				}
				items = append(items, jsonString(m.Key)+": "+text)
			}
			return items
		})
	}
	return nil
}

// array adds an item to a list.
func (e *jsonEdit) array(v *hujson.Value, item any) error {
	a, ok := v.Value.(*hujson.Array)
	if !ok {
		return at(e.text, v.StartOffset, "want a list of hooks, found %s", kindOf(*v))
	}
	var last *placed
	if n := len(a.Elements); n > 0 {
		last = &placed{a.Elements[0].StartOffset, a.Elements[n-1].StartOffset, &a.Elements[n-1]}
	}
	e.insert(v, last, a.AfterExtra, func(string, bool) []string { return []string{oneLine(item)} })
	return nil
}

// placed is where the members of an object, or the elements of a list, stand.
type placed struct {
	first, start int           // of the first and of the last one
	last         *hujson.Value // the value of the last one
}

func lastOf(o *hujson.Object) *placed {
	n := len(o.Members)
	if n == 0 {
		return nil
	}
	return &placed{o.Members[0].Name.StartOffset, o.Members[n-1].Name.StartOffset, &o.Members[n-1].Value}
}

// insert puts items behind the last one of v, in the style of v: each on a line
// of its own, unless the present items begin on the line of the bracket.
func (e *jsonEdit) insert(
	v *hujson.Value, p *placed, rest hujson.Extra, items func(indent string, inline bool) []string,
) {
	closing := v.EndOffset - 1
	if p == nil {
		outer := e.indentAt(v.StartOffset)
		indent := outer + e.step
		text := e.newline + indent + strings.Join(items(indent, false), ","+e.newline+indent)
		inner := bytes.TrimRight(e.text[v.StartOffset+1:closing], " \t\r\n")
		if !bytes.Contains(e.text[v.StartOffset+1+len(inner):closing], []byte("\n")) {
			text += e.newline + outer
		}
		e.put(v.StartOffset+1+len(inner), text)
		return
	}
	separator, indent := " ", ""
	if bytes.Contains(e.text[v.StartOffset:p.first], []byte("\n")) {
		indent = e.indentAt(p.start)
		separator = e.newline + indent
	}
	lines := items(indent, separator == " ")
	text := separator + strings.Join(lines, ","+separator)
	from := p.last.EndOffset
	if p.last.AfterExtra == nil { // no trailing comma
		e.put(from, ",")
	} else {
		from += len(p.last.AfterExtra) + 1
		text += ","
	}
	e.put(from+e.comment(from, closing), text)
}

// comment is the length of the comments that follow on the same line.
func (e *jsonEdit) comment(from, to int) int {
	line, _, _ := bytes.Cut(e.text[from:to], []byte("\n"))
	line = bytes.TrimRight(line, " \t\r")
	rest := bytes.TrimLeft(line, " \t")
	isBlock := bytes.HasPrefix(rest, []byte("/*")) && bytes.HasSuffix(rest, []byte("*/"))
	if isBlock || bytes.HasPrefix(rest, []byte("//")) {
		return len(line)
	}
	return 0
}

// indentAt is the white space that the line of an offset begins with.
func (e *jsonEdit) indentAt(offset int) string {
	line := e.text[bytes.LastIndexByte(e.text[:offset], '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// indentOf is one step of indentation: the step of the first member.
func (e *jsonEdit) indentOf(root *hujson.Value) string {
	p := lastOf(root.Value.(*hujson.Object))
	if p != nil && bytes.Contains(e.text[root.StartOffset:p.first], []byte("\n")) {
		if step := strings.TrimPrefix(e.indentAt(p.first), e.indentAt(root.StartOffset)); step != "" {
			return step
		}
	}
	return "  "
}

// render writes a value: objects of objects on lines of their own, the hooks
// of an event on one.
func (e *jsonEdit) render(v any, indent string) string {
	m, ok := v.(object)
	if !ok {
		return oneLine(v)
	}
	var lines []string
	for _, f := range m {
		lines = append(lines, jsonString(f.Key)+": "+e.render(f.Value, indent+e.step))
	}
	inner := e.newline + indent + e.step
	return "{" + inner + strings.Join(lines, ","+inner) + e.newline + indent + "}"
}

func memberOf(o *hujson.Object, key string) *hujson.ObjectMember {
	i := slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return nameOf(m.Name) == key })
	if i < 0 {
		return nil
	}
	return &o.Members[i]
}

func nameOf(v hujson.Value) string { return v.Value.(hujson.Literal).String() }

func kindOf(v hujson.Value) string {
	switch v.Value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "text"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return "true or false"
}
