package rules

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/facts"
)

// Judge judges an event.
func (s *Set) Judge(subject *Subject) Opinion {
	v := s.judge(subject)
	if v.Action == "" && len(s.of(Rewrite)) > 0 || v.Action == Allow || v.Action == Contain {
		v = s.rewrite(subject, v)
	}
	return v
}

// rewrite applies the rules that rewrite, and judges the result once more.
func (s *Set) rewrite(subject *Subject, v Opinion) Opinion {
	changed, by, span, what := s.rewritten(subject)
	if by == nil {
		return v
	}
	again := *subject
	again.Facts = subject.Read(changed)
	if next := s.judge(&again); next.Action == Deny || next.Action == Ask || next.Action == Contain {
		next.Context = v.Context
		return next
	}
	v.Action, v.Rule, v.Span, v.What, v.Effect, v.Line = Rewrite, by, span, what, nil, changed
	return v
}

func (s *Set) of(d Action) (list []*Rule) {
	for _, r := range s.Rules {
		if r.Action == d {
			list = append(list, r)
		}
	}
	return list
}

// judge is Judge without rewrites.
func (s *Set) judge(subject *Subject) Opinion {
	var v Opinion
	var perhaps Opinion // of a deny that fits only perhaps
	has := subject.has()
	for _, r := range s.Rules {
		if r.What.gate.misses(has) || r.Action == Rewrite || r.Action == Allow {
			continue
		}
		f := r.fits(subject)
		if f.level == facts.No || r.spares(subject, &f) {
			continue
		}
		var earlier shown
		if f.level, earlier = r.holds(subject, f); f.level == facts.No {
			continue
		}
		found := Opinion{Action: r.Action, Rule: r, Span: f.span, What: f.what, Effect: f.of,
			Perhaps: f.level == facts.Perhaps, Earlier: earlier.ids, After: earlier.what, Missing: earlier.missing}
		switch {
		case r.Action == Context:
			if f.level == facts.Sure {
				v.Context = append(v.Context, r.Why)
			}
		case r.Action == Deny && f.level == facts.Sure:
			found.Context = v.Context
			return found
		case r.Action == Deny:
			if found.Action = Ask; perhaps.Rule == nil {
				perhaps = found
			}
		case v.Rule == nil || rank(r.Action) < rank(v.Action) || r.Action == v.Action && v.Perhaps && !found.Perhaps:
			found.Context = v.Context
			v = found
		}
	}
	if perhaps.Rule != nil && v.Action != Ask {
		perhaps.Context = v.Context
		v = perhaps
	}
	if v.Action == "" {
		if r := s.allows(subject); r != nil {
			v.Action, v.Rule = Allow, r
		}
	}
	return v
}

func rank(d Action) int { return slices.Index(Actions, d) }

// fits is the matcher's fit; a rule about commands or effects is about calls alone.
func (r *Rule) fits(subject *Subject) fit { return r.What.fits(subject) }

// allows returns the first rule that allows the call, if the rules that allow cover all of
// its commands and all that it does, and nothing is in doubt; nil otherwise.
func (s *Set) allows(subject *Subject) (first *Rule) {
	rules := s.of(Allow)
	f := subject.Facts
	if len(rules) == 0 || f == nil || len(f.Doubts) > 0 || len(f.Commands)+len(f.Effects) == 0 {
		return nil
	}
	covered := make([]bool, len(f.Commands)) // with all that it does
	for i := range f.Commands {
		c := &f.Commands[i]
		if c.Guess {
			return nil
		}
		for _, r := range rules {
			if r.leaves(subject) || len(r.What.Commands) == 0 || r.What.looksAtEffects() {
				continue
			}
			if slices.ContainsFunc(r.What.Commands, func(p facts.CommandPattern) bool { return p.Covers(c) }) {
				covered[i] = true
				first = cmp.Or(first, r)
				break
			}
		}
	}
	done := make([]bool, len(f.Commands)) // each of its effects is covered by a rule about effects
	for i := range done {
		done[i] = covered[i]
	}
	seen := make([]bool, len(f.Commands))
	for i := range f.Effects {
		e := &f.Effects[i]
		owned := e.Command >= 0 && e.Command < len(covered)
		if owned {
			seen[e.Command] = true
		}
		if owned && covered[e.Command] && !(e.Kind == facts.KindWrite && fromRedirect(f, e)) {
			continue
		}
		by := s.allowsEffect(subject, rules, e)
		if by == nil {
			return nil
		}
		first = cmp.Or(first, by)
	}
	for i := range covered {
		if covered[i] || seen[i] {
			continue
		}
		by := s.allowsHarmless(subject, rules, &f.Commands[i])
		if by == nil {
			return nil
		}
		first = cmp.Or(first, by)
	}
	return first
}

// spares reports whether `unless` fits each part of the call that the rule fits: a command before it spares none. f is
// the part that it does not fit.
func (r *Rule) spares(s *Subject, f *fit) bool {
	u := r.Unless
	if u == nil || u.fits(s).level != facts.Sure {
		return false
	}
	var left fit
	switch {
	case !u.looksAtCall() || u.Doubts != nil: // it is about the call as a whole
	case !r.What.looksAtCall(): // and the rule is
		if !u.fitsAll(s) {
			return false
		}
	case r.What.looksAtEffects():
		left = r.What.fitsEffects(s, u)
	case r.What.Doubts != nil:
		left = r.What.fitsDoubts(s, u)
	default:
		left = r.What.fitsCommands(s, u)
	}
	if left.level == facts.No {
		return true
	}
	*f = left
	return false
}

// fitsPart reports whether the matcher surely fits an effect. It also does where it is about effects of other kinds.
func (m *Matcher) fitsPart(s *Subject, e *facts.Effect) bool {
	if len(m.Effects) > 0 && !slices.Contains(m.Effects, e.Kind) {
		return true
	}
	return min(m.fitsEffect(s, e), m.fitsOwner(s, e.Command)) == facts.Sure
}

// fitsWhole reports whether the matcher surely fits the command at index i: itself, or each of its effects.
func (m *Matcher) fitsWhole(s *Subject, i int) bool {
	if !m.looksAtEffects() {
		return m.fitsOwner(s, i) == facts.Sure
	}
	return !slices.ContainsFunc(s.Facts.Effects, func(e facts.Effect) bool {
		return e.Command == i && !m.fitsPart(s, &e)
	})
}

// fitsAll reports whether the matcher surely fits each command of the call, or each of its effects.
func (m *Matcher) fitsAll(s *Subject) bool {
	if m.looksAtEffects() {
		return !slices.ContainsFunc(s.Facts.Effects, func(e facts.Effect) bool {
			return min(m.fitsEffect(s, &e), m.fitsOwner(s, e.Command)) != facts.Sure
		})
	}
	for i := range s.Facts.Commands {
		if m.fitsOwner(s, i) != facts.Sure {
			return false
		}
	}
	return true
}

// leaves reports whether the rule leaves the event alone by its `unless`, or by its
// conditions on the event itself.
func (r *Rule) leaves(subject *Subject) bool {
	if r.Unless != nil && r.Unless.fits(subject).level != facts.No {
		return true
	}
	if level, _ := r.holds(subject, sure); level != facts.Sure || r.What.Cwd.given() && !r.What.staysIn(subject) {
		return true
	}
	m := r.What
	m.Commands, m.Programs, m.Doubts = nil, Choice{}, nil
	m.Effects, m.Paths, m.Hosts, m.Targets, m.Outside, m.Inside = nil, Choice{}, Choice{}, Choice{}, nil, nil
	m.Emptied, m.Undoable = false, ""
	return m.fits(subject).level != facts.Sure
}

// fromRedirect reports whether an effect is the write of a redirection to a file that keeps
// it.
func fromRedirect(f *facts.Facts, e *facts.Effect) bool {
	if e.Target == "/dev/null" || strings.HasPrefix(e.Target, "/dev/std") {
		return false
	}
	return slices.ContainsFunc(f.Commands[e.Command].Redirects, func(r facts.Redirect) bool {
		return r.Span.From <= e.Span.From && e.Span.To <= r.Span.To && r.Span != facts.Span{}
	})
}

// allowsEffect returns the rule about effects that allows e; nil = none does.
func (s *Set) allowsEffect(subject *Subject, rules []*Rule, e *facts.Effect) *Rule {
	for _, r := range rules {
		if r.leaves(subject) || !r.What.looksAtEffects() {
			continue
		}
		if min(r.What.fitsEffect(subject, e), r.What.fitsOwner(subject, e.Command)) == facts.Sure {
			return r
		}
	}
	return nil
}

// allowsHarmless returns the rule that covers a command without an effect: a rule that allows
// reading; nil = there is none.
func (s *Set) allowsHarmless(subject *Subject, rules []*Rule, c *facts.Command) *Rule {
	i := slices.IndexFunc(rules, func(r *Rule) bool {
		m := &r.What
		return !r.leaves(subject) && slices.Contains(m.Effects, facts.KindRead) && !m.Paths.given() &&
			(len(m.Commands) == 0 && !m.Programs.given() || m.fitsCommand(c) == facts.Sure)
	})
	if i < 0 {
		return nil
	}
	return rules[i]
}
