package scan

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/hookd/hookd/internal/agents/transcripts"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/people/learn"
)

// Report has the findings of a scan.
type Report struct {
	Since       time.Time      `json:"since,omitzero"` // that was asked for
	First       time.Time      `json:"first,omitzero"` // of the calls
	Last        time.Time      `json:"last,omitzero"`
	TookMS      int64          `json:"took_ms"`
	Bytes       int64          `json:"bytes"` // of the transcripts that were read
	Transcripts Transcripts    `json:"transcripts"`
	Agents      []Agent        `json:"agents"`   // those with calls, most first
	Calls       int            `json:"calls"`    // each once
	Distinct    int            `json:"distinct"` // judgements that were made for them
	Stopped     int            `json:"stopped"`  // that guards would have denied
	AskedAbout  int            `json:"asked_about"`
	Rules       map[string]int `json:"rules"`    // how often each rule would have decided
	Examples    []Example      `json:"examples"` // at most mostExamples, the oldest first
	Prompts     PromptSum      `json:"prompts"`
	Subagents   int            `json:"subagent_calls"`
	Secrets     SecretSum      `json:"secrets"`
	Destroyed   DestroyedSum   `json:"destroyed"`
	Sequences   SequenceSum    `json:"sequences"`
	Days        []Day          `json:"days"`

	proposals []learn.Proposal
	hooks     map[string]bool // see Hooks
}

// Transcripts counts the files.
type Transcripts struct {
	Found    int       `json:"found"`
	Read     int       `json:"read"` // to their end
	Failed   int       `json:"failed"`
	Back     time.Time `json:"back_to,omitzero"` // where the time was over before all were read: how far back it came
	Older    int       `json:"older"`            // not in the time that was asked for
	TooLarge int       `json:"too_large"`
	Foreign  int       `json:"foreign"`          // of another user
	Unread   []string  `json:"unread,omitempty"` // agents that keep transcripts in a form that is not read
	Skipped  int       `json:"skipped"`          // lines and calls that could not be read
}

// Agent has the acts of one agent.
type Agent struct {
	Agent     string              `json:"agent"`
	Title     string              `json:"title"` // as people call it
	Sessions  int                 `json:"sessions"`
	Calls     int                 `json:"calls"`
	Subagents int                 `json:"subagent_calls"`
	Asked     int                 `json:"asked"` // that a person was
	Yes       int                 `json:"yes"`
	No        int                 `json:"no"`
	Prompts   transcripts.Prompts `json:"prompts"` // how well Asked is known
	Stopped   int                 `json:"stopped"`
	Failed    int                 `json:"failed"`
	Denied    int                 `json:"denied"` // that did not run then
}

// PromptSum is how often a person was asked, and how many questions would be left.
type PromptSum struct {
	Asked    int              `json:"asked"`
	Yes      int              `json:"yes"`
	No       int              `json:"no"`
	Saved    learn.Saved      `json:"saved"` // that rules would have answered
	Left     int              `json:"left"`  // questions of guards, and those of agents that stay
	Learn    int              `json:"learn"` // rules that `hookd learn` proposes
	Examples []learn.Proposal `json:"examples"`
}

// SecretSum counts secrets by kind; it has none.
type SecretSum struct {
	Read    int            `json:"read"`    // calls that read a place of secrets
	Carried int            `json:"carried"` // calls with a secret in their arguments
	Sent    int            `json:"sent"`    // of those, in sessions that sent something out later
	Kinds   map[string]int `json:"kinds"`
}

// SequenceSum counts the calls that rules that look back would have asked about or denied, and no guard would.
type SequenceSum struct {
	Calls    int            `json:"calls"`
	Rules    map[string]int `json:"rules"`
	Examples []Example      `json:"examples"`
}

// DestroyedSum counts the things that calls that ran have deleted or lost.
type DestroyedSum struct {
	Calls    int       `json:"calls"`
	Things   int       `json:"things"` // that they named: a folder counts once, whatever is in it
	Examples []Example `json:"examples"`
}

// Day counts the calls of one.
type Day struct {
	Day     string `json:"day"` // 2026-11-23
	Calls   int    `json:"calls"`
	Stopped int    `json:"stopped"`
}

// Example is a call as a person is shown it.
type Example struct {
	Time     time.Time    `json:"time"`
	Agent    string       `json:"agent"`
	Title    string       `json:"title"`
	Project  string       `json:"project,omitempty"`
	Line     string       `json:"line"` // without secrets, shortened
	Marks    []facts.Span `json:"marks,omitempty"`
	Decision string       `json:"decision,omitempty"`
	Rule     string       `json:"rule,omitempty"`
	Why      string       `json:"why,omitempty"`
	Then     string       `json:"then"` // what happened: ran, failed, denied
	By       string       `json:"by,omitempty"`
	Lost     []string     `json:"lost,omitempty"`
}

// mostExamples is how many examples of a sort are shown.
const mostExamples = 5

// Hooks are those of Looking that would have decided, sorted.
func (r *Report) Hooks() []string { return slices.Sorted(maps.Keys(r.hooks)) }

// Proposals are the rules that `hookd learn` proposes.
func (r *Report) Proposals() []learn.Proposal { return r.proposals }

// report makes the report of a sum.
func (s *sum) report(found transcripts.Found, opt Options) *Report {
	r := &Report{Since: opt.Since, First: s.first, Last: s.last, Bytes: s.bytes, Rules: s.rules, Calls: s.calls,
		Secrets: s.secrets, Stopped: s.stopped, AskedAbout: s.asks, Subagents: s.subagents}
	r.Transcripts = Transcripts{Found: len(found.Files), Read: s.read, Failed: s.failed, Older: found.Older,
		TooLarge: found.TooLarge, Foreign: found.Foreign, Skipped: s.skipped, Unread: found.Unread}
	if s.read+s.failed < len(found.Files) {
		r.Transcripts.Back = s.back
	}
	for _, a := range s.agents {
		if a.Calls > 0 {
			r.Agents = append(r.Agents, *a)
			r.Prompts.Asked += a.Asked
			r.Prompts.Yes += a.Yes
			r.Prompts.No += a.No
		}
	}
	slices.SortFunc(r.Agents, func(x, y Agent) int { return cmp.Or(y.Calls-x.Calls, cmp.Compare(x.Agent, y.Agent)) })
	r.proposals, r.Prompts.Saved = s.evidence.Proposals(opt.Home)
	r.Prompts.Learn = len(r.proposals)
	r.Prompts.Examples = r.proposals[:min(len(r.proposals), mostExamples)]
	r.Prompts.Left = s.left - r.Prompts.Saved.Learned
	r.Examples = choose(s.examples)
	r.Destroyed = DestroyedSum{Calls: s.destroyedCalls, Things: s.destroyedThings, Examples: choose(s.destroyed)}
	r.Sequences, r.hooks = s.sequences, s.hooks
	r.Sequences.Examples = choose(s.sequenceExamples)
	r.Days = s.daysBetween()
	return r
}

// daysBetween are all days from the first to the last call, at most mostDays.
func (s *sum) daysBetween() (days []Day) {
	if s.first.IsZero() {
		return nil
	}
	last := s.last.UTC().Truncate(24 * time.Hour)
	for d := s.first.UTC().Truncate(24 * time.Hour); !d.After(last); d = d.AddDate(0, 0, 1) {
		name := d.Format(time.DateOnly)
		n := s.days[name]
		days = append(days, Day{name, n[0], n[1]})
	}
	return days[max(0, len(days)-mostDays):]
}

// mostDays is how many days a report has.
const mostDays = 400

// before orders examples by weight: denials and calls that ran first, then the newest.
func before(x, y Example) int {
	rank := func(e Example) int {
		n := 0
		if e.Decision != "deny" {
			n += 2
		}
		if e.Then != "ran" {
			n++
		}
		return n
	}
	return cmp.Or(rank(x)-rank(y), y.Time.Compare(x.Time), cmp.Compare(x.Line, y.Line))
}

// choose takes examples that differ, of each rule the first.
func choose(of map[string][]Example) (list []Example) {
	var firsts, rest []Example
	for _, name := range slices.Sorted(maps.Keys(of)) {
		own := slices.Clone(of[name])
		slices.SortFunc(own, before)
		firsts, rest = append(firsts, own[0]), append(rest, own[1:]...)
	}
	slices.SortFunc(firsts, before)
	slices.SortFunc(rest, before)
	for _, e := range append(firsts, rest...) {
		if len(list) < mostExamples && !slices.ContainsFunc(list, func(o Example) bool { return o.Line == e.Line }) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(x, y Example) int { return x.Time.Compare(y.Time) })
	return list
}
