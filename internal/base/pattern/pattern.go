// Package pattern compiles the globs that people write: names of events, paths, tools,
// hosts. Matching takes time in proportion to the text, whatever the pattern is. It is pure
// and knows nothing of hooks.
package pattern

import (
	"errors"
	"path"
	"strings"
	"unicode/utf8"
)

// Pattern is a compiled event pattern: a gobwas/glob without separators, so
// `*` matches everything and `agent:*` all agent events. The zero Pattern
// matches nothing.
type Pattern struct {
	Text   string
	glob   *bounded // nil for a text that needs none
	prefix bool     // Text is plain except for one `*` at its end
}

const wildcards = `*?[]{}\`

// Compile compiles text. With separators, `*` stops at each of them; only
// patterns of paths use that.
func Compile(text string, separators ...rune) (Pattern, error) {
	if text == "" {
		return Pattern{}, errors.New("empty pattern")
	}
	if !utf8.ValidString(text) {
		return Pattern{}, errors.New("pattern is not UTF-8")
	}
	switch i := strings.IndexAny(text, wildcards); {
	case i < 0:
		return Pattern{Text: text}, nil
	case i == len(text)-1 && text[i] == '*' && len(separators) == 0:
		return Pattern{Text: text, prefix: true}, nil
	}
	g, err := compileGlob(text, separators)
	if err != nil {
		return Pattern{}, err
	}
	return Pattern{Text: text, glob: g}, nil
}

// Match reports whether the pattern matches the whole of name.
func (p Pattern) Match(name string) bool {
	if p.glob != nil {
		return p.glob.Match(name)
	}
	if p.prefix {
		return strings.HasPrefix(name, p.Text[:len(p.Text)-1])
	}
	return p.Text != "" && p.Text == name
}

// MatchPath holds a path against a pattern as shells write it, in which [!a] is a class like [^a]. The error is that of
// path.Match; a class such as [[:digit:]] is not read, and fits nothing or the wrong names.
func MatchPath(text, name string) (bool, error) {
	return path.Match(strings.ReplaceAll(text, "[!", "[^"), name)
}

// Literal reports whether Text is a plain name, the only name that matches.
func (p Pattern) Literal() bool { return p.glob == nil && !p.prefix }

// Affixes returns the plain text that every matching name begins with, and the text
// that it ends with. Either may be empty; of a literal, both are the name.
func (p Pattern) Affixes() (head, tail string) {
	first := strings.IndexAny(p.Text, wildcards)
	if first < 0 {
		return p.Text, p.Text
	}
	return p.Text[:first], p.Text[strings.LastIndexAny(p.Text, wildcards)+1:]
}

// Exact reports whether the pattern has none of `*`, `?` and `[`. A hook blocks by
// default only on exact patterns.
func (p Pattern) Exact() bool { return !strings.ContainsAny(p.Text, "*?[") }

// Reserved reports whether the pattern asks for hookd's own events.
func (p Pattern) Reserved() bool { return strings.HasPrefix(p.Text, "hookd:") }
