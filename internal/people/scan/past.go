package scan

import (
	"fmt"

	"github.com/hookd/hookd/internal/agents/transcripts"
	"github.com/hookd/hookd/internal/hooks/rules"
)

// Looking are the hooks of the gallery that judge a call by the calls before it in its session. A rule that
// looks at a branch of that day is not among them.
var Looking = []string{"leak-guard", "loop-guard", "tests-before-push", "review-before-push"}

// past judges the calls of one transcript in their order, as their results came.
type past struct {
	j       *judge
	history *rules.History
	turns   map[string]int // prompts of each session that the history knows
	n       int            // moments
}

func newPast(j *judge) *past {
	p := &past{j: j, history: rules.NewHistory(nil), turns: map[string]int{}}
	_ = p.history.Use([]*rules.Set{j.looking}, nil) // which only fails where something is read
	return p
}

// judge returns the verdict about a call, and lets it happen. Without a time nothing is known.
func (p *past) judge(c *transcripts.Call, seen *look) rules.Opinion {
	if c.Time.IsZero() {
		return rules.Opinion{}
	}
	if len(p.turns) > mostSessions {
		clear(p.turns)
	}
	if p.turns[c.Session] < c.Turn {
		p.turns[c.Session] = c.Turn
		p.history.End(p.begin(c, rules.Typed, &rules.Subject{}, rules.Keys{}).ID, false, false)
	}
	subject, keys := *seen.subject, rules.KeysOf(seen.call, seen.subject.Facts)
	m := p.begin(c, rules.Asked, &subject, keys)
	set := p.j.looking
	if c.Turn == 0 {
		set = p.j.unturned
	}
	v := set.Judge(&subject)
	p.history.End(m.ID, c.Outcome == transcripts.Denied, false)
	if c.Outcome == transcripts.Ran || c.Outcome == transcripts.Failed {
		p.begin(c, rules.Ended, &subject, keys)
	}
	return v
}

// begin lets a moment happen, and subject see the past.
func (p *past) begin(
	c *transcripts.Call, kind rules.MomentKind, subject *rules.Subject, keys rules.Keys,
) *rules.Moment {
	p.n++
	m := &rules.Moment{ID: fmt.Sprint(p.n), Kind: kind, Time: c.Time, Session: c.Session, Agent: string(c.Agent),
		Call: c.ID, Keys: keys, Subject: subject, Unseen: kind != rules.Asked}
	switch c.Outcome {
	case transcripts.Ran:
		m.Outcome = rules.Succeeded
	case transcripts.Failed:
		m.Outcome = rules.Failed
	}
	subject.Before = p.history.Begin(m)
	return m
}

// lookedBack counts a call that rules that look back decide, and no guard.
func (s *sum) lookedBack(c *transcripts.Call, seen *look, v rules.Opinion, j *judge) {
	d := *j.call(c, seen)
	if v.Action != rules.Deny && v.Action != rules.Ask || d.decision != "" {
		return
	}
	s.sequences.Calls++
	s.sequences.Rules[v.Rule.Name]++
	s.hooks[v.Rule.File] = true
	d.decision, d.rule, d.why = v.Action, v.Rule.Name, v.Rule.Why
	d.line, d.marks = shown(seen.call, seen.subject.Facts, v.Span, j.home)
	s.example(s.sequenceExamples, v.Rule.Name, c, &d)
}
