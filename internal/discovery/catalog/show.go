package catalog

import (
	"cmp"

	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/wire"
)

// Show describes an entry for people and programs, as far as its files say.
func Show(e hook.Entry) wire.Hook {
	a := wire.Hook{
		ID:       e.Name,
		Name:     e.Name,
		State:    string(e.State),
		Layer:    layer(e).Text(),
		Source:   e.Source.String(),
		File:     e.File,
		Problems: listed(e.Problems),
	}
	if h := cmp.Or(e.Hook, e.Waits); h != nil {
		a.ID, a.Name, a.Description, a.Type, a.Digest = h.ID, h.Name, h.Description, string(h.Type), h.Digest
		a.Command, a.Args, a.TimeoutMS = h.Path, h.Args, h.Timeout.Milliseconds()
		a.Order, a.Concurrency = string(h.Order), h.Concurrency
		a.Warm, a.Shadow, a.DebounceMS, a.Tests = h.IsWarm(), h.Shadow, h.Debounce.Milliseconds(), len(h.Tests)
		a.Throttle, a.Matcher, a.Decides = h.Throttle.String(), h.MatcherText, h.DecidesByName()
		a.Failure, a.NoStart = h.Failure(), h.NoStart
		a.Scope = string(h.Scope)
		for _, c := range h.When {
			a.When = append(a.When, c.String())
		}
		for _, p := range h.Patterns {
			a.Events = append(a.Events, p.Text)
		}
	}
	return a
}

// layer is where a hook comes from: for a hook that cannot be read, its name says it.
func layer(e hook.Entry) hook.Layer {
	if h := cmp.Or(e.Hook, e.Waits); h != nil {
		return h.Layer
	}
	return LayerOf(e.Name)
}
