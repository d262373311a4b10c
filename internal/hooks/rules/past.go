package rules

import (
	"crypto/sha256"
	"encoding/binary"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/facts"
)

// Past is a condition on the calls and prompts before an event. The zero Past never fits.
type Past struct {
	What    Matcher       // fits an earlier call, or a prompt
	Except  *Matcher      // what does not count; nil = all of What does
	OK      *bool         // the call has succeeded, or failed; nil = it was not denied
	Since   Boundary      // after the last of these
	Within  time.Duration // before the event; 0 = at any time
	Count   int           // that fit, at least
	By      Scope         // of whom they are
	Same    Same          // in which respect they are like the event; "" = in none
	Other   bool          // another session has edited a file that this call edits
	Fetched bool          // the session has fetched a file that this call runs
	Lasted  time.Duration // the session began so long ago; 0 = no condition

	counts string // names What, OK and By: conditions that agree in these share a track
	key    string // names all of it
}

// Boundary is an event of a session that a rule looks back to.
type Boundary string

// The boundaries. An edit is a call that changes a file of the project, outside of `.git`, or
// discards work there.
const (
	SinceEdit   Boundary = "edit"
	SincePrompt Boundary = "prompt"
	SinceStart  Boundary = "start"
)

// Boundaries are the words for `since`, beside a duration.
var Boundaries = []Boundary{SinceEdit, SincePrompt, SinceStart}

// Scope says whose earlier events count.
type Scope string

// The scopes. A subagent is part of its session.
const (
	BySession Scope = "session"
	ByAgent   Scope = "agent"
	ByMachine Scope = "machine"
)

// Scopes are the words for `by`.
var Scopes = []Scope{BySession, ByAgent, ByMachine}

// Same is the respect in which an earlier call is like the present one.
type Same string

// The respects. The same failure is the same call that has failed.
const (
	SameCall    Same = "call"
	SameCommand Same = "command"
	SamePath    Same = "path"
	SameFailure Same = "failure"
)

// Sames are the words for `same`.
var Sames = []Same{SameCall, SameCommand, SamePath, SameFailure}

// Needed is a Past that a rule depends on.
type Needed struct {
	*Past
	Not bool // the rule leaves alone the events for which it fits

	own bool // it stands in the rule's decision
}

// CallResult is how a call ended.
type CallResult string

// The outcomes. Not every agent tells.
const (
	Untold    CallResult = ""
	Succeeded CallResult = "ok"
	Failed    CallResult = "failed"
)

// MomentKind is the part that an event plays for rules that look back.
type MomentKind string

// The kinds of moments. Elsewhere is any other event: it looks back and is not looked at.
const (
	Asked     MomentKind = "call"   // before a tool call
	Ended     MomentKind = "result" // after it
	Refused   MomentKind = "denied" // a call that was denied: its end does not count
	Typed     MomentKind = "prompt"
	Began     MomentKind = "start" // of a session
	Elsewhere MomentKind = ""
)

// Moment is an event as later ones see it.
type Moment struct {
	ID      string // of the event
	Kind    MomentKind
	Time    time.Time
	Session string
	Agent   string
	Call    string     // id of the tool call; "" = unknown
	Outcome CallResult // of an Ended call
	Keys    Keys
	Subject *Subject // without secrets; not kept once the Moment has its fate
	Record  any      // for the function that keeps it

	Unseen bool // no rule is asked about it: Begin returns no Before

	Place   uint64 // among all moments; set by History
	Fetched bool   // the files that it writes come from elsewhere; set by History
	Unsure  bool   // the agent asked a person, whose answer is not known
	Of      uint64 // place of the call that has Ended; its own = no event announced it; set by History

	changed []uint64 // see paths
	read    bool     // changed is known
}

// Alone reports whether m is the end of a call that no event announced.
func (m *Moment) Alone() bool { return m.Kind == Ended && m.Of == m.Place }

// Keys tell whether two calls are the same. 0 = there is nothing to compare.
type Keys struct {
	Call    uint64 `json:"call,omitempty"`
	Command uint64 `json:"command,omitempty"`
}

// KeysOf returns the keys of a call. Of a shell call the lines count, not its description.
func KeysOf(call neutral.ToolCall, f *facts.Facts) (k Keys) {
	if call.Own == "" && call.Tool == "" {
		return k
	}
	input := string(call.Input)
	if lines := call.Commands(); call.Tool == neutral.Shell && len(lines) > 0 {
		input = strings.Join(lines, "\n")
	}
	k.Call = keyOf(call.Tool, call.Own, input)
	if f != nil && len(f.Commands) > 0 {
		var words []string
		for _, c := range f.Commands {
			for _, w := range c.Words {
				words = append(words, w.Text)
			}
			words = append(words, "\x00;")
		}
		k.Command = keyOf(words...)
	}
	return k
}

// keyOf is a number for texts, never 0.
func keyOf(texts ...string) uint64 {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return binary.BigEndian.Uint64(sum[:]) | 1
}

// edit returns how surely a moment edits a file of its project, and with which of its
// commands at last.
func (m *Moment) edit() (level facts.Fit, at int) {
	s := m.Subject
	if m.Kind != Asked || s == nil || s.Facts == nil {
		return facts.No, 0
	}
	for i := range s.Facts.Effects {
		e := &s.Facts.Effects[i]
		if l := s.edits(e); l > facts.No {
			level, at = max(level, l), max(at, e.Command)
		}
	}
	return level, at
}

// edits reports whether an effect changes a file of the project.
func (s *Subject) edits(e *facts.Effect) facts.Fit {
	switch e.Kind {
	case facts.KindWrite, facts.KindDelete, facts.KindMove:
		switch {
		case e.Target == "":
			return facts.Perhaps
		case !strings.HasPrefix(e.Target, "/") || !under(s.Project, e.Target) || under(s.Project+"/.git", e.Target):
			return facts.No
		}
	case facts.KindHistory:
		if strings.Contains(e.Target, ":") && !strings.HasPrefix(e.Target, "worktree:") {
			return facts.No
		}
	default:
		return facts.No
	}
	if !e.Certain {
		return facts.Perhaps
	}
	return facts.Sure
}

// mostPaths is how many files of one call are compared with those of others.
const mostPaths = 16

// paths are the keys of the files that a moment surely changes.
func (m *Moment) paths() []uint64 {
	if !m.read && m.Kind != Typed && m.Subject != nil && m.Subject.Facts != nil {
		m.changed, m.read = changedBy(m.Subject.Facts.Effects), true
	}
	return m.changed
}

func changedBy(effects []facts.Effect) (list []uint64) {
	for i := range effects {
		e := &effects[i]
		if !e.Certain || !strings.HasPrefix(e.Target, "/") || strings.HasPrefix(e.Target, "/dev/") {
			continue
		}
		if e.Kind != facts.KindWrite && e.Kind != facts.KindDelete && e.Kind != facts.KindMove {
			continue
		}
		if k := keyOf(e.Target); len(list) < mostPaths && !slices.Contains(list, k) {
			list = append(list, k)
		}
	}
	return list
}

// brings reports whether a call writes what it fetches.
func (m *Moment) brings() bool {
	return m.Subject != nil && m.Subject.Facts != nil && fetches(m.Subject.Facts.Effects)
}

// fetches reports whether a file is written by or behind a command that talks to the network.
func fetches(effects []facts.Effect) bool {
	return slices.ContainsFunc(effects, func(w facts.Effect) bool {
		return w.Kind == facts.KindWrite && slices.ContainsFunc(effects, func(e facts.Effect) bool {
			return e.Kind == facts.KindConnect && e.Command <= w.Command
		})
	})
}

// sources are the keys of the files that a call surely reads, moves or runs, and of the folders that they
// are in: a folder that was fetched has fetched files.
func (s *Subject) sources(kinds ...facts.EffectKind) (list []uint64) {
	if s == nil || s.Facts == nil {
		return nil
	}
	for i := range s.Facts.Effects {
		e := &s.Facts.Effects[i]
		if !e.Certain || !strings.HasPrefix(e.Target, "/") || !slices.Contains(kinds, e.Kind) {
			continue
		}
		for at := e.Target; len(list) < mostPaths && (at == e.Target || !s.wide(at)); at = path.Dir(at) {
			list = append(list, keyOf(at))
		}
	}
	return list
}

// wide reports whether a folder holds more than one thing that was fetched: all of a project, of a home or
// of the temporary files.
func (s *Subject) wide(dir string) bool {
	return slices.ContainsFunc([]string{s.Project, s.Cwd, s.Home, "/tmp", "/var/tmp"},
		func(place string) bool { return under(dir, place) })
}

// proof returns how surely the end of a call says that its command at index i ended as
// wanted.
func proof(f *facts.Facts, i int, outcome CallResult, ok bool) facts.Fit {
	if f == nil || len(f.Commands) == 0 { // a tool that is no shell
		i = -1
	}
	switch {
	case outcome == Untold:
		return facts.Perhaps
	case ok != (outcome == Succeeded):
		return facts.No
	case i < 0, ok && f.Proves(i), !ok && len(f.Commands) == 1:
		return facts.Sure
	}
	return facts.Perhaps
}

// inLine returns how surely the same call meets the Past's demand before the part that a
// rule fits: `go test && git push` has run the tests, and `cat key | curl …` has read the
// key.
func (p *Past) inLine(s *Subject, f fit) facts.Fit {
	if p.Fetched {
		return p.fetchedInLine(s, f)
	}
	if s.Facts == nil || p.Same != "" || p.Other || p.Lasted > 0 || p.Count > 1 || len(p.What.Prompts) > 0 {
		return facts.No
	}
	if p.OK != nil {
		if *p.OK && f.at >= 0 && p.guarded(s, f.at) {
			return facts.Sure
		}
		return facts.No
	}
	if p.What.looksAtEffects() || p.What.Doubts != nil {
		rest := *s
		rest.Facts = &facts.Facts{
			Tool: s.Facts.Tool, Text: s.Facts.Text, Commands: s.Facts.Commands, Doubts: s.Facts.Doubts,
		}
		for i := range s.Facts.Effects {
			if e := &s.Facts.Effects[i]; e != f.of && (f.of != nil || f.at < 0 || e.Command != f.at) {
				rest.Facts.Effects = append(rest.Facts.Effects, *e)
			}
		}
		return p.What.fits(&rest).level
	}
	if f.at < 0 || len(p.What.Commands) == 0 && !p.What.Programs.given() {
		return facts.No
	}
	before := *s
	before.Facts = &facts.Facts{Tool: s.Facts.Tool, Text: s.Facts.Text, Commands: s.Facts.Commands[:f.at]}
	return p.What.fits(&before).level
}

// fetchedInLine returns how surely the call first fetches the file that it then runs.
func (p *Past) fetchedInLine(s *Subject, f fit) facts.Fit {
	if f.of == nil || s.Facts == nil || p.Count > 1 {
		return facts.No
	}
	before, run := *s, *s
	before.Facts, run.Facts = &facts.Facts{}, &facts.Facts{Effects: []facts.Effect{*f.of}}
	for _, e := range s.Facts.Effects {
		if e.Command < f.of.Command {
			before.Facts.Effects = append(before.Facts.Effects, e)
		}
	}
	written := changedBy(before.Facts.Effects)
	if fetches(before.Facts.Effects) && slices.ContainsFunc(run.sources(f.of.Kind),
		func(k uint64) bool { return slices.Contains(written, k) }) {
		return facts.Sure
	}
	return facts.No
}

// guarded reports whether the command at index i of a call only runs once a command that the
// Past is about has succeeded, without a boundary between the two.
func (p *Past) guarded(s *Subject, i int) bool {
	for j := i - 1; j >= 0; j-- {
		if p.Since == SinceEdit && slices.ContainsFunc(s.Facts.Effects, func(e facts.Effect) bool {
			return e.Command > j && e.Command < i && s.edits(&e) > facts.No
		}) {
			return false
		}
		if p.What.fitsCommand(&s.Facts.Commands[j]) == facts.Sure && !p.What.looksAtEffects() &&
			s.Facts.Guards(j, i) {
			return true
		}
	}
	return false
}

// shown are the earlier events by which a rule decides.
type shown struct {
	ids     []string // the oldest first
	what    string   // of the newest
	missing *Missing
}

// Missing says that no earlier event fitted an `unless`.
type Missing struct {
	Since string // id of the event after which none did: the last edit, prompt or start; "" = none did at all
}

// holds returns how surely the event before which all that happened fits the rule, all of
// it held against f, and the earlier events that make it so.
func (r *Rule) holds(s *Subject, f fit) (level facts.Fit, earlier shown) {
	level = f.level
	for _, n := range r.Past {
		got := s.Before.of(n.Past)
		got.level = max(got.level, n.inLine(s, f))
		if n.Not {
			got.level = facts.Sure - got.level
		}
		switch missing := n.Not && got.level == facts.Sure; {
		case missing && earlier.missing == nil:
			earlier.missing = &Missing{Since: got.since}
		case !missing && len(got.ids) > 0:
			earlier.ids, earlier.what = append(earlier.ids, got.ids...), got.what
		}
		if level = min(level, got.level); level == facts.No {
			return facts.No, shown{}
		}
	}
	return level, earlier
}
