package learn

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/hooks/rules"
)

// Reaction is the answer of a person to a call, or that no question came.
type Reaction struct {
	Asked, Yes bool
	Estimated  bool      // that a person was asked is a guess
	Time       time.Time // zero = not known
	Agent      string
	Root       string // the project; "" = it was made in none
	Alone      bool   // Root is no repository: projects may lie below, in which a person approved nothing
	Line       string // of the call, as people are shown it
	Whole      string // the whole line where it is short, of one line and without secrets; "" = it is not
	Cwd        string // that it was made in
}

// Evidence has the answers for and against shapes. Safe for concurrent use; the zero Evidence is empty.
type Evidence struct {
	Estimate bool // count approvals that are a guess; a refusal always counts

	mu     sync.Mutex
	shapes map[string]*seen
	needs  map[string]*need // by the keys of the shapes that calls need together
	read   int              // prompts about calls that only read
}

// Limits of an Evidence.
const (
	mostShapes = 20_000
	mostLines  = 5   // that a shape remembers
	mostRoots  = 20  // projects of a shape
	mostDays   = 400 // of a shape
)

// seen has the known facts of a shape.
type seen struct {
	shape       Shape
	yes, no     int
	others      int // calls that no person was asked about
	named       bool
	first, last time.Time
	days        map[string]bool
	roots       map[string]bool // true = with the folders below
	agents      map[string]int
	lines       []Line
	sample      sample // a call that needs this shape alone
}

// sample is a call that a test of a rule has.
type sample struct{ line, cwd string }

type need struct {
	keys []string
	yes  int
}

// Line is a call that a rule lets through.
type Line struct {
	Text  string `json:"line"`
	Times int    `json:"times"`
	Yes   int    `json:"yes"` // of these, approved by a person
}

// Add takes a call with the shapes that it needs. named says that a guard is about it.
func (e *Evidence) Add(shapes []Shape, named bool, a Reaction) {
	if a.Estimated && a.Yes && !e.Estimate {
		a.Asked = false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shapes == nil {
		e.shapes, e.needs = map[string]*seen{}, map[string]*need{}
	}
	var keys []string
	for i := range shapes {
		s := e.shapes[shapes[i].key]
		if s == nil {
			if len(e.shapes) >= mostShapes {
				keys = append(keys, shapes[i].key) // no rule will allow it
				continue
			}
			s = &seen{shape: shapes[i], days: map[string]bool{}, roots: map[string]bool{}, agents: map[string]int{}}
			e.shapes[shapes[i].key] = s
		}
		s.add(&shapes[i], named, a)
		if s.sample.line == "" && len(shapes) == 1 && a.Asked && a.Yes && a.Root != "" {
			s.sample = sample{a.Whole, a.Cwd}
		}
		keys = append(keys, shapes[i].key)
	}
	if !a.Asked || !a.Yes || named {
		return
	}
	if len(keys) == 0 {
		e.read++
		return
	}
	slices.Sort(keys)
	all := strings.Join(keys, "\x00")
	if n := e.needs[all]; n != nil {
		n.yes++
	} else if len(e.needs) < mostShapes {
		e.needs[all] = &need{keys, 1}
	}
}

func (s *seen) add(shape *Shape, named bool, a Reaction) {
	s.named = s.named || named
	s.line(a)
	switch {
	case !a.Asked:
		s.others++
		return
	case !a.Yes:
		s.no++
		return
	}
	s.yes++
	s.shape.Words = common(s.shape.Words, shape.Words)
	if !a.Time.IsZero() {
		s.when(a.Time)
	}
	if a.Root != "" && len(s.roots) < mostRoots {
		s.roots[a.Root] = !a.Alone
	}
	s.agents[a.Agent]++
}

// when notes the time of an approval.
func (s *seen) when(at time.Time) {
	if s.first.IsZero() || at.Before(s.first) {
		s.first = at
	}
	if at.After(s.last) {
		s.last = at
	}
	if len(s.days) < mostDays {
		s.days[at.UTC().Format(time.DateOnly)] = true
	}
}

// line remembers some of the lines, lines of approved calls first.
func (s *seen) line(a Reaction) {
	yes := 0
	if a.Asked && a.Yes {
		yes = 1
	}
	for i := range s.lines {
		if s.lines[i].Text == a.Line {
			s.lines[i].Times++
			s.lines[i].Yes += yes
			return
		}
	}
	if len(s.lines) < mostLines {
		s.lines = append(s.lines, Line{a.Line, 1, yes})
	} else if i := slices.IndexFunc(s.lines, func(l Line) bool { return l.Yes == 0 }); yes > 0 && i >= 0 {
		s.lines[i] = Line{a.Line, 1, 1}
	}
}

// common are the words that two commands begin with.
func common(a, b []string) []string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// The conditions of a proposal: that often, on that many days, and never refused. A single day's yeses
// may be one task that is over.
const (
	leastYes  = 5
	leastDays = 2
)

// Proposal is a rule that would answer for the person.
type Proposal struct {
	Name   string         `json:"name"`    // of the rule
	Says   string         `json:"allows"`  // the words of the command, or the tool
	Does   []Trait        `json:"effects"` // all that it may do, besides reading
	Yes    int            `json:"yes"`     // times that a person approved
	Days   int            `json:"days"`
	First  time.Time      `json:"first"`
	Last   time.Time      `json:"last"`
	Roots  []string       `json:"projects,omitempty"` // that it holds in
	Agents map[string]int `json:"agents"`
	Others int            `json:"others"` // calls that it would let through that no person was asked about
	Lines  []Line         `json:"lines"`  // some of the calls that it would have let through

	shape  Shape
	sample sample
	below  map[string]bool // of Roots: the rule holds in the folders below, too
}

// wordsOf are the words of a line that is one command, where another program can be given them; nil = it is not.
func wordsOf(line, cwd string) []string {
	f := facts.Line(line, facts.Env{Cwd: cwd})
	c := f.Alone()
	if c == nil {
		return nil
	}
	var words []string
	for _, w := range c.Words {
		if !patternWord.MatchString(w.Text) {
			return nil
		}
		words = append(words, w.Text)
	}
	return words
}

// Saved is how many questions rules would have answered.
type Saved struct {
	Read    int `json:"read"`    // calls that only read, by quiet alone
	Learned int `json:"learned"` // by the proposals
}

// Proposals returns the rules that may be proposed, the rules that save most first, and how many
// questions they would have answered together. home is that of the person.
func (e *Evidence) Proposals(home string) (list []Proposal, saved Saved) {
	e.mu.Lock()
	defer e.mu.Unlock()
	quiet, err := rules.Gallery(home, Hook)
	if err != nil { // this program has it
		panic(err)
	}
	for _, s := range e.shapes {
		known := len(s.roots) > 0 && len(s.roots) < mostRoots
		tested := s.shape.Tool != "" || s.sample.line != "" && s.sample.cwd != ""
		if s.named || s.no > 0 || s.yes < leastYes || len(s.days) < leastDays || !known || !tested {
			continue
		}
		if p := s.proposal(); p.holds(quiet, home) {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(x, y Proposal) int {
		return cmp.Or(y.Yes-x.Yes, strings.Compare(x.shape.key, y.shape.key))
	})
	names := map[string]int{}
	for i := range list {
		if names[list[i].Name]++; names[list[i].Name] > 1 {
			list[i].Name += " " + strconv.Itoa(names[list[i].Name])
		}
	}
	saved.Read = e.read
	for _, n := range e.needs {
		if !slices.ContainsFunc(n.keys, func(key string) bool {
			return !slices.ContainsFunc(list, func(p Proposal) bool { return p.shape.key == key })
		}) {
			saved.Learned += n.yes
		}
	}
	return list, saved
}

// holds reports whether the rule, in the hook quiet, allows the call that its test has: a word that looks like a path
// outside of the project leaves the call to the agent.
func (p *Proposal) holds(quiet *rules.Set, home string) bool {
	if p.shape.Tool != "" {
		return true
	}
	set, problems := rules.Read(sequence(p.rule(home)), quiet, rules.Options{Home: home})
	cwd := p.sample.cwd
	subject := &rules.Subject{Facts: facts.Line(p.sample.line, facts.Env{Cwd: cwd, Home: home}), Cwd: cwd, Project: cwd,
		Home: home}
	return len(problems) == 0 && set.Judge(subject).Action == rules.Allow
}

func (s *seen) proposal() Proposal {
	p := Proposal{Does: s.shape.Effects, Yes: s.yes, Days: len(s.days), First: s.first, Last: s.last, Agents: s.agents,
		Others: s.others, Lines: slices.Clone(s.lines), shape: s.shape, sample: s.sample, below: maps.Clone(s.roots)}
	if p.Says = strings.Join(s.shape.Words, " "); s.shape.Tool != "" {
		p.Says = s.shape.Tool + " in the project"
	}
	p.Name = "learned: " + p.Says
	for root := range s.roots {
		p.Roots = append(p.Roots, root)
	}
	slices.Sort(p.Roots)
	slices.SortFunc(p.Lines, func(x, y Line) int { return cmp.Or(y.Yes-x.Yes, strings.Compare(x.Text, y.Text)) })
	return p
}
