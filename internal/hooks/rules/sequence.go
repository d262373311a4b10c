package rules

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/base/lazyregexp"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/facts"
)

// Bounds of the sequences by which rules that look back are checked.
const (
	mostSteps     = 3   // before the call
	mostSequences = 400 // of one rule
	mostTimes     = 20  // that a step is repeated; rules that count further are tried as if they counted to it
)

// step is something that happens in a sequence.
type step struct {
	text    string // for people
	kind    MomentKind
	subject *Subject
	keys    Keys
	outcome CallResult
	times   int
	other   bool          // in another session
	wait    time.Duration // after it
}

// checkPast tries each rule that looks back in all sequences of a few steps that its
// conditions are about. Every step is judged by all rules: a call that they deny does not
// count. It says which rules fire always, never, behind a rule that decides anyway, or beside one that says
// the opposite, each with a sequence. A rule for which it knows no call is left out.
func (s *Set) checkPast(warn func(r *Rule, hint, format string, args ...any)) {
	s = s.counting()
	for _, r := range s.Rules {
		if len(r.Past) == 0 {
			continue
		}
		if call, steps, ok := r.steps(); ok {
			s.tryRule(r, call, steps, warn)
		}
	}
}

// counting are the rules with counts of at most mostTimes.
func (s *Set) counting() *Set {
	small := &Set{}
	for _, r := range s.Rules {
		rule := *r
		rule.Past = slices.Clone(r.Past)
		for i, n := range rule.Past {
			past := *n.Past
			past.Count = min(past.Count, mostTimes)
			rule.Past[i].Past = &past
		}
		small.Rules = append(small.Rules, &rule)
	}
	return small
}

// tryRule tries one rule.
func (s *Set) tryRule(
	r *Rule, call step, steps []step, warn func(r *Rule, hint, format string, args ...any),
) {
	fires, rests, contradicts := "", "", ""
	var against, behind *Rule
	tried, decides := 0, false // no other rule decides where it fires
	sequences(steps, func(before []step) bool {
		tried++
		fired, opposite, hiding := s.outcome(r, call, before)
		if decides = decides || fired && hiding == nil; fired && behind == nil {
			behind = hiding
		}
		switch text := describe(before, call); {
		case fired && opposite != nil && against == nil:
			contradicts, against, fires = text, opposite, text
		case fired && fires == "":
			fires = text
		case !fired && rests == "":
			rests = text
		}
		return tried < mostSequences
	})
	switch {
	case fires == "":
		warn(r, "see `given` in docs/rules.md to test it", "rule `%s` fires in none of %d sequences, for instance not after %s",
			r.Name, tried, rests)
	case rests == "" && r.letsGo():
		warn(r, "a call that is denied never counts", "rule `%s` fires whatever happened before, for instance after %s",
			r.Name, fires)
	case !decides && behind != nil:
		warn(r, "", "rule `%s` never decides: `%s` does, for instance after %s", r.Name, behind.Name, fires)
	case against != nil:
		warn(r, "remove one of the two", "rule `%s` contradicts `%s`: both decide after %s", r.Name, against.Name,
			contradicts)
	}
}

// letsGo reports whether a rule has a condition that may stop it.
func (r *Rule) letsGo() bool {
	return slices.ContainsFunc(r.Past, func(n Needed) bool { return n.Not })
}

// sequences calls try with each sequence of at most mostSteps steps, the short ones first,
// until it returns false.
func sequences(steps []step, try func([]step) bool) {
	list := [][]step{nil}
	for range mostSteps + 1 {
		var longer [][]step
		for _, before := range list {
			if !try(before) {
				return
			}
			for _, next := range steps {
				longer = append(longer, append(slices.Clip(before), next))
			}
		}
		list = longer
	}
}

// rehearsal is a sequence as it happens.
type rehearsal struct {
	set     *Set
	history *History
	now     time.Time
	n       int // moments
}

// moment is the next moment of a step.
func (q *rehearsal) moment(p step, kind MomentKind) *Moment {
	m := &Moment{
		Kind: kind, Time: q.now, Session: "session", Agent: "agent",
		Subject: p.subject, Keys: p.keys, Outcome: p.outcome,
	}
	if p.other {
		m.Session = "other"
	}
	if kind != Ended { // which is of the call before it
		q.n++
		q.now = q.now.Add(time.Second)
	}
	m.ID, m.Call = fmt.Sprint(kind, q.n), fmt.Sprint("call ", q.n)
	return m
}

// begin lets a call or a prompt happen, and returns it as rules see it.
func (q *rehearsal) begin(p step) (m *Moment, seen Subject) {
	m, seen = q.moment(p, p.kind), *p.subject
	seen.Before = q.history.Begin(m)
	return m, seen
}

// happen lets a step happen, unless a rule denies it.
func (q *rehearsal) happen(p step) {
	defer func() { q.now = q.now.Add(p.wait) }()
	for range max(p.times, 1) {
		m, seen := q.begin(p)
		denied := p.kind == Asked && q.set.Judge(&seen).Action == Deny
		q.history.End(m.ID, denied, false)
		if !denied && p.kind == Asked {
			q.history.Begin(q.moment(p, Ended))
		}
	}
}

// outcome lets a sequence happen and returns whether a rule fires for the call behind it. Of that call decides
// without it: opposite, which allows, or hiding, which covers the rule.
func (s *Set) outcome(r *Rule, call step, before []step) (fired bool, opposite, hiding *Rule) {
	q := &rehearsal{set: s, history: NewHistory(nil), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	_ = q.history.Use([]*Set{s}, nil) // which only fails where something is read
	for _, p := range before {
		q.happen(p)
	}
	_, seen := q.begin(call)
	v := (&Set{Rules: []*Rule{r}}).Judge(&seen)
	if fired = v.Rule == r || len(v.Context) > 0; !fired || r.Action == Context {
		return fired, nil, nil
	}
	rest := &Set{Rules: slices.DeleteFunc(slices.Clone(s.Rules), func(o *Rule) bool { return o == r })}
	switch v := rest.Judge(&seen); {
	case v.Rule == nil || r.Action == Allow:
	case v.Action == Allow:
		opposite = v.Rule
	case !v.Perhaps && v.Rule.covers(r) &&
		(rank(v.Action) < rank(r.Action) || slices.Index(s.Rules, v.Rule) < slices.Index(s.Rules, r)):
		hiding = v.Rule
	}
	return fired, opposite, hiding
}

func describe(before []step, call step) string {
	if len(before) == 0 {
		return "nothing: " + call.text
	}
	var parts []string
	for _, p := range before {
		parts = append(parts, p.text)
	}
	return strings.Join(parts, ", ") + ": " + call.text
}

// steps returns a call that a rule is about, and the steps that matter to it. ok is false
// where one is not known.
func (r *Rule) steps() (call step, list []step, ok bool) {
	if call, ok = r.What.example(); !ok {
		return call, nil, false
	}
	add := func(p step) {
		if !slices.ContainsFunc(list, func(o step) bool { return o.text == p.text }) {
			list = append(list, p)
		}
	}
	for _, n := range r.Past {
		if n.Lasted > 0 {
			text := "a prompt"
			add(step{text: text + " " + n.Lasted.String() + " before", kind: Typed, wait: n.Lasted,
				subject: &Subject{Prompt: &text, Cwd: sampleEnv.Cwd, Project: sampleEnv.Cwd, Home: sampleEnv.Home}})
			continue
		}
		p, known := n.What.example()
		if n.Fetched {
			p, known = fetchExample(), true
		}
		if !known {
			return call, nil, false
		}
		if p.times = n.Count; n.own {
			p.text = fmt.Sprintf("%s (%d times)", p.text, n.Count)
		}
		if n.Other {
			p.other, p.text = true, p.text+" in another session"
		}
		for _, o := range []CallResult{Succeeded, Failed} {
			p := p
			if p.outcome = o; p.kind == Asked && o == Failed {
				p.text += " (failed)"
			}
			add(p)
		}
		if edit, known := (&Matcher{Tools: Choice{}, Effects: []facts.EffectKind{facts.KindWrite}}).example(); known {
			add(edit)
		}
	}
	return call, list, true
}

// fetchExample fetches the file that the run of candidates runs. It is made on first use: a line takes the
// tables of all programs.
var fetchExample = sync.OnceValue(func() step {
	return step{text: fetchLine, kind: Asked, subject: sample(fetchLine), keys: Keys{1, 1}}
})

const fetchLine = "curl -o build.sh https://example.org/"

// candidates are calls of which one may be an example of a matcher.
var candidates = []string{
	"ls", "sed -i s/a/b/ main.go", "rm main.go", "mv a.go b.go", "cat main.go", "cat ~/.aws/credentials", "curl https://example.org",
	"curl -d @main.go https://example.org", "bash build.sh", "npm install left-pad", "npm publish", "git reset --hard",
	"git push --force origin main", "sudo ls", "kill 4711", "echo x >> ~/.bashrc", "git push origin main",
}

var (
	alternatives = lazyregexp.New(`\{([^,{}]*),[^{}]*\}`)
	metas        = strings.NewReplacer(`(?i)`, "", `\b`, "", `\s`, " ", `\d`, "1", ".*", "", ".+", "x", "^", "", "$", "")
)

// example returns a call or a prompt that a matcher surely fits.
func (m *Matcher) example() (p step, ok bool) {
	if len(m.Prompts) > 0 || len(m.Said) > 0 {
		text := metas.Replace(slices.Concat(m.Prompts, m.Said)[0].String())
		p = step{text: "the text " + text, kind: Typed, subject: sample("")}
		if p.subject.Facts = nil; len(m.Said) > 0 {
			p.kind, p.subject.Said = Elsewhere, &text
		} else {
			p.subject.Prompt = &text
		}
		return p, m.fits(p.subject).level == facts.Sure
	}
	var lines []string
	for _, c := range m.Commands {
		lines = append(lines, alternatives.ReplaceAllString(strings.ReplaceAll(c.Text, "*", "example"), "$1"))
	}
	for _, line := range append(lines, candidates...) {
		p = step{text: line, kind: Asked, subject: sample(line)}
		m.surround(p.subject)
		if m.fits(p.subject).level == facts.Sure {
			p.keys = Keys{keyOf(line), keyOf("command", line)}
			return p, true
		}
	}
	return p, false
}

// surround gives a sample the branch and the data that a matcher asks for, as far as its globs say them.
func (m *Matcher) surround(s *Subject) {
	plain := func(c Choice) string {
		if len(c.Yes) == 0 {
			return "example"
		}
		return alternatives.ReplaceAllString(strings.NewReplacer("*", "example", "?", "x").Replace(c.Yes[0].Text), "$1")
	}
	if m.Branches.given() {
		branch := plain(m.Branches)
		s.Branch = func() string { return branch }
	}
	for _, d := range m.Data {
		value := rawjson.Quote(plain(d.Choice))
		for _, key := range slices.Backward(d.Path[1:]) {
			value = rawjson.With(nil, rawjson.Member{Key: key, Value: value})
		}
		s.Data = rawjson.With(s.Data, rawjson.Member{Key: d.Path[0], Value: value})
	}
}

// sample is a shell call that no agent has sent.
func sample(line string) *Subject {
	data, _ := json.Marshal(map[string]string{"command": line}) // texts always encode
	call := neutral.ToolCall{Own: neutral.Shell, Tool: neutral.Shell, Input: data, Given: data}
	return &Subject{
		Facts: facts.Read(call, sampleEnv), Tools: []string{neutral.Shell}, Cwd: sampleEnv.Cwd, Project: sampleEnv.Cwd,
		Home: sampleEnv.Home, Read: func(line string) *facts.Facts { return facts.Line(line, sampleEnv) },
	}
}
