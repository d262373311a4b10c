package discovery

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// tellApart gives hooks of different files that have one name names of their own:
// each of them gets its file behind it, so that the name that one had alone never
// becomes another's. A hook whose name is its identity, such as one of the hooks
// directory, keeps it, and so does a project's: it never runs for an event of
// another working tree.
func tellApart(sources []*scannedSource) {
	alike := map[string][]*hook.Hook{}
	for _, u := range sources {
		for _, h := range u.candidates() {
			alike[plainName(h)] = append(alike[plainName(h)], h)
		}
	}
	for _, u := range sources {
		for _, h := range u.candidates() {
			name := plainName(h)
			if same := alike[name]; len(same) > 1 && h.ID != h.Name && h.Project == "" {
				name += "@" + apart(h, same)
			}
			if name != h.Name {
				u.rename(h, name)
			}
		}
	}
}

// plainName is the name that h has in its file.
func plainName(h *hook.Hook) string { return cmp.Or(h.PlainName, h.Name) }

// apart returns the text that distinguishes h from all others of hooks: the name of its file, else
// the whole path, else its place in there.
func apart(h *hook.Hook, hooks []*hook.Hook) string {
	for _, of := range []func(*hook.Hook) string{
		func(h *hook.Hook) string { return filepath.Base(h.Source.Path) },
		func(h *hook.Hook) string { return h.Source.Path },
	} {
		if !slices.ContainsFunc(hooks, func(other *hook.Hook) bool { return other != h && of(other) == of(h) }) {
			return of(h)
		}
	}
	return h.ID
}

// rename gives the hook was another name wherever u names it. Published hooks
// stay as they are.
func (u *scannedSource) rename(was *hook.Hook, name string) {
	named := func(h *hook.Hook) *hook.Hook {
		if h == nil || h.ID != was.ID {
			return h
		}
		other := *h
		other.Name, other.PlainName = name, plainName(h)
		return &other
	}
	var typed []string // commands with the name in them
	for _, command := range []string{"hookd allow ", "hookd allow --gone ", "hookd enable "} {
		typed = append(typed, command+escape.Quote(was.Name), command+escape.Quote(name))
	}
	quoted := func(p hook.Problem) hook.Problem {
		with := strings.NewReplacer(typed...)
		p.Message, p.Hint = with.Replace(p.Message), with.Replace(p.Hint)
		return p
	}
	u.hooks, u.good = mapped(u.hooks, named), mapped(u.good, named)
	u.own[was.ID] = mapped(u.own[was.ID], quoted)
	if w, ok := u.waits[was.ID]; ok {
		u.waits[was.ID] = waiting{hook: named(w.hook), inForce: named(w.inForce), problem: quoted(w.problem)}
	}
}

func mapped[T any](list []T, change func(T) T) []T {
	out := make([]T, len(list))
	for i, v := range list {
		out[i] = change(v)
	}
	return out
}
