package match

import (
	"slices"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// patterns finds the hooks with a pattern that matches a name, without trying each:
// plain names are looked up; globs are looked up by the plain text that they begin or
// end with. matchNames applies the other rules.
type patterns struct {
	exact map[string][]int32 // places in the list of hooks
	heads affixes            // by what a name must begin with
	tails affixes            // by what it must end with
}

// affixes holds globs by a part that is plain text.
type affixes struct {
	globs   map[string][]globAt
	lengths []int // of the keys
}

type globAt struct {
	pattern pattern.Pattern
	at      int32
}

func newPatterns(hooks []*hook.Hook) patterns {
	ps := patterns{
		exact: map[string][]int32{},
		heads: affixes{globs: map[string][]globAt{}},
		tails: affixes{globs: map[string][]globAt{}},
	}
	for i, h := range hooks {
		for _, p := range h.Patterns {
			ps.add(p, int32(i))
		}
	}
	ps.heads.measure()
	ps.tails.measure()
	return ps
}

func (ps *patterns) add(p pattern.Pattern, at int32) {
	head, tail := p.Affixes()
	switch {
	case p.Literal():
		ps.exact[p.Text] = append(ps.exact[p.Text], at)
	case len(tail) > len(head):
		ps.tails.globs[tail] = append(ps.tails.globs[tail], globAt{p, at})
	default:
		ps.heads.globs[head] = append(ps.heads.globs[head], globAt{p, at})
	}
}

func (a *affixes) measure() {
	for text := range a.globs {
		if !slices.Contains(a.lengths, len(text)) {
			a.lengths = append(a.lengths, len(text))
		}
	}
}

// hooksFor returns the places of the hooks with a pattern that matches one of
// these names, in registration order.
func (ps *patterns) hooksFor(names []*events.Contract) (places []int32) {
	for _, c := range names {
		places = append(places, ps.exact[c.Name]...)
		for _, n := range ps.heads.lengths {
			if n <= len(c.Name) {
				places = matching(places, ps.heads.globs[c.Name[:n]], c.Name)
			}
		}
		for _, n := range ps.tails.lengths {
			if n <= len(c.Name) {
				places = matching(places, ps.tails.globs[c.Name[len(c.Name)-n:]], c.Name)
			}
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

func matching(places []int32, globs []globAt, name string) []int32 {
	for _, g := range globs {
		if g.pattern.Match(name) {
			places = append(places, g.at)
		}
	}
	return places
}
