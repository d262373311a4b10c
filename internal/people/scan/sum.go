package scan

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/hookd/hookd/internal/agents/transcripts"
	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/rules"
	"github.com/hookd/hookd/internal/people/learn"
)

// sum adds up calls. Each worker has its own.
type sum struct {
	evidence                        *learn.Evidence
	first, last, back               time.Time
	bytes                           int64
	read, failed, skipped           int
	calls, stopped, asks, subagents int
	left                            int // questions that quiet would not have answered, and those of guards
	rules                           map[string]int
	agents                          map[string]*Agent
	days                            map[string][2]int // calls, stopped
	secrets                         SecretSum
	sequences                       SequenceSum
	sequenceExamples                map[string][]Example // by rule
	hooks                           map[string]bool      // of sequences
	edits                           []edit               // see lookedAcross
	destroyedCalls, destroyedThings int
	examples, destroyed             map[string][]Example // by rule
}

func newSum(evidence *learn.Evidence) *sum {
	return &sum{evidence: evidence, rules: map[string]int{}, agents: map[string]*Agent{}, days: map[string][2]int{},
		secrets: SecretSum{Kinds: map[string]int{}}, sequences: SequenceSum{Rules: map[string]int{}},
		sequenceExamples: map[string][]Example{}, hooks: map[string]bool{}, examples: map[string][]Example{},
		destroyed: map[string][]Example{}}
}

// session has the facts that are known of a transcript so far.
type session struct {
	found   bool // a call
	secrets int  // that were read since something was sent
}

// file adds the calls of a transcript.
func (s *sum) file(ctx context.Context, f *transcripts.File, since time.Time, j *judge, once *transcripts.Once) {
	a := s.agent(string(f.Agent))
	sessions := map[string]*session{}
	before := newPast(j)
	stats, err := f.Read(ctx, since, func(c *transcripts.Call) {
		in := sessions[c.Session]
		if in == nil {
			if len(sessions) > mostSessions {
				clear(sessions)
			}
			in = &session{}
			sessions[c.Session] = in
		}
		if !c.Subagent && !in.found {
			in.found = true
			a.Sessions++
		}
		seen := j.look(c)
		v := before.judge(c, seen)
		if once.First(c) {
			s.call(c, a, in, j, seen)
			s.lookedBack(c, seen, v, j)
			s.edited(c, seen, v, j)
		}
	})
	s.skipped += stats.Skipped
	switch {
	case stats.Whole:
		s.read++
	case err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled):
		s.failed++
	}
	s.bytes += f.Size
	if s.back.IsZero() || f.Written.Before(s.back) {
		s.back = f.Written
	}
}

// mostSessions bounds the sessions of one database that are remembered at once.
const mostSessions = 10_000

func (s *sum) agent(name string) *Agent {
	a := s.agents[name]
	if a == nil {
		known := events.Dialect(name)
		a = &Agent{Agent: name, Title: transcripts.Title(known), Prompts: transcripts.PromptsOf(known)}
		s.agents[name] = a
	}
	return a
}

// call adds one call.
func (s *sum) call(c *transcripts.Call, a *Agent, in *session, j *judge, seen *look) {
	d := j.call(c, seen)
	s.calls++
	a.Calls++
	if c.Subagent {
		a.Subagents++
		s.subagents++
	}
	if !c.Time.IsZero() {
		if s.first.IsZero() || c.Time.Before(s.first) {
			s.first = c.Time
		}
		if c.Time.After(s.last) {
			s.last = c.Time
		}
	}
	s.prompt(c, a, d)
	s.decided(c, a, d)
	s.secret(d, in)
	switch c.Outcome {
	case transcripts.Failed:
		a.Failed++
	case transcripts.Denied:
		a.Denied++
	}
	if c.Outcome == transcripts.Ran && len(d.destroys) > 0 {
		s.destroyedCalls++
		s.destroyedThings += len(d.destroys)
		s.example(s.destroyed, d.line, c, d)
	}
}

// prompt counts the questions of then, and the questions that would be left.
func (s *sum) prompt(c *transcripts.Call, a *Agent, d *judged) {
	if c.Prompt.Asked {
		a.Asked++
		if c.Prompt.Yes {
			a.Yes++
		} else {
			a.No++
		}
	}
	switch {
	case d.decision == rules.Ask, d.decision == "" && c.Prompt.Asked && !(d.reads && c.Prompt.Yes):
		s.left++
	}
	if d.learns {
		d.learn(s.evidence, c)
	}
}

// learn takes a call as evidence.
func (d *judged) learn(evidence *learn.Evidence, c *transcripts.Call) {
	evidence.Add(d.shapes, d.decision != "", learn.Reaction{
		Asked: c.Prompt.Asked, Yes: c.Prompt.Yes, Estimated: c.Prompt.Estimated, Time: c.Time, Agent: string(c.Agent),
		Root: d.place, Alone: d.alone, Line: d.line, Whole: d.whole, Cwd: c.Cwd,
	})
}

// decided counts the decisions that guards would have made.
func (s *sum) decided(c *transcripts.Call, a *Agent, d *judged) {
	day := ""
	if !c.Time.IsZero() {
		day = c.Time.UTC().Format(time.DateOnly)
	}
	n := s.days[day]
	n[0]++
	switch d.decision {
	case rules.Deny:
		s.stopped++
		a.Stopped++
		n[1]++
	case rules.Ask:
		s.asks++
	}
	if day != "" && (len(s.days) < 10*mostDays || n[0] > 1) {
		s.days[day] = n
	}
	if d.decision != "" {
		s.rules[d.rule]++
		s.example(s.examples, string(d.decision)+" "+d.rule, c, d)
	}
}

// secret counts a secret that was read, and sent by a later call of the session.
func (s *sum) secret(d *judged, in *session) {
	if d.sends && in.secrets > 0 {
		s.secrets.Sent += in.secrets
		in.secrets = 0
	}
	if d.secret == "" {
		return
	}
	if d.carried {
		s.secrets.Carried++
	} else {
		s.secrets.Read++
		in.secrets++
	}
	if _, known := s.secrets.Kinds[d.secret]; known || len(s.secrets.Kinds) < 50 {
		s.secrets.Kinds[d.secret]++
	}
}

// example remembers a few calls of a sort.
func (s *sum) example(of map[string][]Example, sort string, c *transcripts.Call, d *judged) {
	if len(of) > 500 && of[sort] == nil {
		return
	}
	e := Example{Time: c.Time, Agent: string(c.Agent), Title: transcripts.Title(c.Agent), Line: d.line, Marks: d.marks,
		Decision: string(d.decision),
		Rule:     d.rule, Why: d.why, Then: string(c.Outcome), By: string(c.By), Lost: d.destroys}
	if c.Cwd+c.Root != "" && d.root != "/" {
		e.Project = escape.Line(path.Base(d.root), 24)
	}
	if e.Then == "" {
		e.Then = "not known"
	}
	of[sort] = few(append(of[sort], e))
}

// few are the first of some examples, each line once.
func few(list []Example) []Example {
	slices.SortStableFunc(list, before)
	kept := list[:0]
	for _, e := range list {
		if len(kept) < mostExamples && !slices.ContainsFunc(kept, func(o Example) bool { return o.Line == e.Line }) {
			kept = append(kept, e)
		}
	}
	return kept
}

// merge adds another sum.
func (s *sum) merge(o *sum) {
	if s.first.IsZero() || !o.first.IsZero() && o.first.Before(s.first) {
		s.first = o.first
	}
	if o.last.After(s.last) {
		s.last = o.last
	}
	if s.back.IsZero() || !o.back.IsZero() && o.back.Before(s.back) {
		s.back = o.back
	}
	s.bytes += o.bytes
	s.read, s.failed, s.skipped = s.read+o.read, s.failed+o.failed, s.skipped+o.skipped
	s.calls, s.stopped, s.asks = s.calls+o.calls, s.stopped+o.stopped, s.asks+o.asks
	s.subagents, s.left = s.subagents+o.subagents, s.left+o.left
	s.destroyedCalls, s.destroyedThings = s.destroyedCalls+o.destroyedCalls, s.destroyedThings+o.destroyedThings
	s.secrets.Read, s.secrets.Carried = s.secrets.Read+o.secrets.Read, s.secrets.Carried+o.secrets.Carried
	s.secrets.Sent += o.secrets.Sent
	add(s.rules, o.rules)
	add(s.secrets.Kinds, o.secrets.Kinds)
	s.sequences.Calls += o.sequences.Calls
	add(s.sequences.Rules, o.sequences.Rules)
	maps.Copy(s.hooks, o.hooks)
	s.edits = append(s.edits, o.edits[:min(len(o.edits), max(0, mostEdits-len(s.edits)))]...)
	for sort, list := range o.sequenceExamples {
		s.sequenceExamples[sort] = few(append(s.sequenceExamples[sort], list...))
	}
	for day, n := range o.days {
		was := s.days[day]
		s.days[day] = [2]int{was[0] + n[0], was[1] + n[1]}
	}
	for name, b := range o.agents {
		a := s.agent(name)
		a.Sessions, a.Calls, a.Subagents = a.Sessions+b.Sessions, a.Calls+b.Calls, a.Subagents+b.Subagents
		a.Asked, a.Yes, a.No = a.Asked+b.Asked, a.Yes+b.Yes, a.No+b.No
		a.Stopped, a.Failed, a.Denied = a.Stopped+b.Stopped, a.Failed+b.Failed, a.Denied+b.Denied
	}
	for sort, list := range o.examples {
		s.examples[sort] = few(append(s.examples[sort], list...))
	}
	for sort, list := range o.destroyed {
		s.destroyed[sort] = few(append(s.destroyed[sort], list...))
	}
}

func add(to, from map[string]int) {
	for name, n := range from {
		to[name] += n
	}
}
