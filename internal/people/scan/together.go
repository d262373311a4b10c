package scan

import (
	"slices"

	"github.com/hookd/hookd/internal/agents/transcripts"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/hooks/rules"
)

// Together is the hook of the gallery that judges a call by those of other sessions.
const Together = "two-sessions"

// mostEdits bounds the edits that are compared with those of other sessions: later files of the scan are left out.
const mostEdits = 200_000

// edit is a call that changes files, without its arguments.
type edit struct {
	call    transcripts.Call
	effects []facts.Effect
	decided bool // a guard, or a rule about its own session, decides it
	shown   judged
}

// edited remembers a call that changes files, for a look at all sessions at once.
func (s *sum) edited(c *transcripts.Call, seen *look, v rules.Opinion, j *judge) {
	if c.Time.IsZero() || len(s.edits) >= mostEdits {
		return
	}
	var effects []facts.Effect
	for _, e := range seen.subject.Facts.Effects {
		if e.Kind == facts.KindWrite || e.Kind == facts.KindDelete || e.Kind == facts.KindMove {
			e.Command, e.Why = -1, ""
			effects = append(effects, e)
		}
	}
	if len(effects) == 0 {
		return
	}
	d := j.call(c, seen)
	e := edit{call: *c, effects: effects}
	e.decided = d.decision != "" || v.Action == rules.Deny || v.Action == rules.Ask
	e.call.Input = nil
	e.shown = judged{root: d.root, destroys: d.destroys}
	e.shown.line, e.shown.marks = shown(seen.call, seen.subject.Facts, effects[0].Span, j.home)
	s.edits = append(s.edits, e)
}

// lookedAcross judges the edits of all sessions in the order of their times.
func (s *sum) lookedAcross(j *judge) {
	slices.SortStableFunc(s.edits, func(a, b edit) int { return a.call.Time.Compare(b.call.Time) })
	p := &past{j: j, history: rules.NewHistory(nil), turns: map[string]int{}}
	_ = p.history.Use([]*rules.Set{j.together}, nil) // which only fails where something is read
	for i := range s.edits {
		e := &s.edits[i]
		cwd := e.call.Cwd
		subject := &rules.Subject{Facts: &facts.Facts{Effects: e.effects}, Cwd: cwd, Project: cwd, Home: j.home}
		m := p.begin(&e.call, rules.Asked, subject, rules.Keys{})
		v := j.together.Judge(subject)
		p.history.End(m.ID, e.call.Outcome == transcripts.Denied, false)
		if e.decided || v.Action != rules.Deny && v.Action != rules.Ask {
			continue
		}
		s.sequences.Calls++
		s.sequences.Rules[v.Rule.Name]++
		s.hooks[Together] = true
		e.shown.decision, e.shown.rule, e.shown.why = v.Action, v.Rule.Name, v.Rule.Why
		s.example(s.sequenceExamples, v.Rule.Name, &e.call, &e.shown)
	}
	s.edits = nil
}
