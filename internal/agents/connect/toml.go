package connect

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// tomlFormat is TOML with hooks as an array of tables, [[hooks]], which is
// added to at the end of the file.
type tomlFormat struct{}

func (tomlFormat) parse(text []byte) (map[string]any, error) {
	tree := map[string]any{}
	err := toml.Unmarshal(text, &tree)
	var place *toml.DecodeError
	if errors.As(err, &place) {
		line, column := place.Position()
		return nil, &whereError{line, column, fmt.Errorf("not valid TOML: %w", err)}
	}
	if err != nil {
		return nil, fmt.Errorf("not valid TOML: %w", err)
	}
	return tree, nil
}

func (f tomlFormat) add(text []byte, leaves []leaf) ([]byte, error) {
	nl := newline(text)
	out := bytes.Clone(text)
	if len(out) > 0 && !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, nl...)
	}
	for _, l := range leaves {
		if len(out) > 0 {
			out = append(out, nl...)
		}
		out = append(out, "[["+l.Key+"]]"+nl...)
		for _, m := range l.Value.([]member) {
			out = append(out, m.Key+" = "+tomlValue(m.Value)+nl...)
		}
	}
	if _, err := f.parse(out); err != nil {
		return nil, fmt.Errorf("its hooks are not written as [[%s]] tables, so none can be added", leaves[0].Key)
	}
	return out, nil
}

// tomlValue writes a value; JSON's text is TOML's basic string, except for the
// one character that JSON lets stand bare.
func tomlValue(v any) string {
	return strings.ReplaceAll(oneLine(v), "\x7f", `\u007F`)
}

func (f tomlFormat) remove(text []byte, a *agent, ours func(call) bool, _ func([]string) bool) ([]byte, error) {
	tree, err := f.parse(text)
	if err != nil {
		return nil, err
	}
	hooks, _ := neutral.Value(tree, a.At...).([]any)
	var e edits
	n := 0
	for _, t := range tables(text) {
		if t.name != a.At[0] || n >= len(hooks) {
			continue
		}
		hook, _ := hooks[n].(map[string]any)
		n++
		if c, ok := a.callIn(hook); ok && ours(c) {
			e.cut(blankBefore(text, t.start), t.end)
		}
	}
	return e.apply(text), nil
}

// table is a [[table]] of a text: from its header to the line end behind its
// last value.
type table struct {
	name       string
	start, end int
}

func tables(text []byte) (list []table) {
	var p unstable.Parser
	p.Reset(text)
	var open *table
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.ArrayTable, unstable.Table:
			open = nil
			var names []string
			var key unstable.Range
			for it := e.Key(); it.Next(); {
				key = it.Node().Raw
				names = append(names, string(it.Node().Data))
			}
			if e.Kind == unstable.ArrayTable && len(names) == 1 {
				start := bytes.LastIndexByte(text[:key.Offset], '\n') + 1
				list = append(list, table{names[0], start, lineEnd(text, int(key.Offset))})
				open = &list[len(list)-1]
			}
		case unstable.KeyValue:
			if open != nil {
				open.end = lineEnd(text, int(e.Raw.Offset+e.Raw.Length)-1)
			}
		}
	}
	return list
}

// lineEnd is the offset behind the line end of an offset's line.
func lineEnd(text []byte, offset int) int {
	offset = min(max(offset, 0), len(text))
	if i := bytes.IndexByte(text[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(text)
}

// blankBefore is the start of the blank line before an offset that begins a
// line; the offset itself if there is none.
func blankBefore(text []byte, offset int) int {
	rest, ok := bytes.CutSuffix(text[:offset], []byte("\n"))
	rest = bytes.TrimSuffix(rest, []byte("\r"))
	if ok && (len(rest) == 0 || rest[len(rest)-1] == '\n') {
		return len(rest)
	}
	return offset
}
