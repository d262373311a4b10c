package rules

import (
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/facts"
)

// rewritten applies the rules that rewrite, in their order, each to the first command that
// it fits surely. by is the last that did; nil = none.
func (s *Set) rewritten(subject *Subject) (line string, by *Rule, span facts.Span, what string) {
	if subject.Facts == nil || subject.Read == nil {
		return "", nil, facts.Span{}, ""
	}
	now := *subject
	line = now.Facts.Text
	for _, r := range s.of(Rewrite) {
		if r.leaves(&now) {
			continue
		}
		for i := range now.Facts.Commands {
			c := &now.Facts.Commands[i]
			next, ok := r.replace(now.Facts, c)
			if !ok || next == line {
				continue
			}
			after := subject.Read(next)
			if !same(now.Facts, after, i) {
				continue
			}
			line, by, span, what = next, r, c.Span, shortened(c.Text)
			now.Facts = after
			break
		}
	}
	return line, by, span, what
}

// replace returns the line with the command replaced by the rule's; ok is false where the
// rule does not fit the whole command, or its place in the line is not exactly known.
func (r *Rule) replace(f *facts.Facts, c *facts.Command) (line string, ok bool) {
	s := c.Span
	if c.Guess || s.To <= s.From || s.To > len(f.Text) || f.Text[s.From:s.To] != c.Text {
		return "", false
	}
	for _, p := range r.What.Commands {
		texts, covers := p.Captures(c)
		if !covers {
			continue
		}
		if strings.Count(r.To, "*") > len(texts) {
			return "", false
		}
		to := r.To
		for _, text := range texts {
			to = strings.Replace(to, "*", text, 1)
		}
		return f.Text[:s.From] + to + f.Text[s.To:], true
	}
	return "", false
}

// same reports whether two readings have the same commands except for the one at index i, and
// the new line can be read.
func same(before, after *facts.Facts, i int) bool {
	rest := len(before.Commands) - i - 1
	if len(after.Commands) < i+1+rest ||
		slices.ContainsFunc(after.Doubts, func(d facts.Doubt) bool { return d.Kind == facts.DoubtParse }) {
		return false
	}
	equal := func(a, b facts.Command) bool { return a.Text == b.Text && slices.Equal(a.Via, b.Via) }
	return slices.EqualFunc(before.Commands[:i], after.Commands[:i], equal) &&
		slices.EqualFunc(before.Commands[i+1:], after.Commands[len(after.Commands)-rest:], equal)
}
