package hook

import (
	"errors"
	"strings"

	"github.com/gobwas/glob"
)

// Pattern is a compiled event pattern: a gobwas/glob without separators, so
// `*` matches everything and `agent:*` all agent events. The zero Pattern
// matches nothing.
type Pattern struct {
	Text string
	glob *glob.Pattern // nil for a text without wildcards
}

// CompilePattern compiles text. With separators, `*` stops at each of them;
// only workspace filters use that.
func CompilePattern(text string, separators ...rune) (Pattern, error) {
	if text == "" {
		return Pattern{}, errors.New("empty pattern")
	}
	if !strings.ContainsAny(text, `*?[]{}\`) {
		return Pattern{Text: text}, nil
	}
	g, err := glob.Compile(text, separators...)
	if err != nil {
		return Pattern{}, err
	}
	return Pattern{Text: text, glob: g}, nil
}

// Match reports whether the pattern matches the whole of name.
func (p Pattern) Match(name string) bool {
	if p.glob == nil {
		return p.Text != "" && p.Text == name
	}
	return p.glob.Match(name)
}

// Exact reports whether the pattern has none of `*`, `?` and `[`
// (SPEC section 4, blocking).
func (p Pattern) Exact() bool { return !strings.ContainsAny(p.Text, "*?[") }

// Reserved reports whether the pattern asks for hookd's own events.
func (p Pattern) Reserved() bool { return strings.HasPrefix(p.Text, "hookd:") }
