// Package blindspots finds the calls of agents that no guard saw, and the answers that did not count: in
// hookd's record, which has the results that agents report, in the transcripts that agents write, of
// subagents too, and in the programs that agents' processes started.
//
// Promises. It changes nothing and starts no process. A call is counted once, whether the record or a
// transcript shows it. Only sessions that are on record are compared call by call, from their first event
// on; others are counted apart. It does not see a call that an agent neither reports nor writes down, and a
// transcript proves nothing: an agent can write it.
package blindspots

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/transcripts"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// History is the history of a daemon.
type History interface {
	Accepted(context.Context, client.EventQuery) ([]client.AcceptedEvent, error)
	Decisions(context.Context, client.DecisionQuery) ([]client.Decision, error)
	Sessions(context.Context, client.SessionQuery) ([]client.Session, error)
	Status(context.Context) (client.DaemonInfo, error)
}

// Options of Look. Record is required.
type Options struct {
	Record History
	Agent  string              // a dialect; "" = all that are on record
	Home   string              // of the person, whose transcripts are read; "" = none are
	Env    func(string) string // nil = no variables
	Since  time.Time
	Now    time.Time // zero = now
}

// Report has the findings of Look, by agent.
type Report struct {
	Since  time.Time `json:"since"`
	Agents []Agent   `json:"agents"`
}

// Agent has the findings about one agent.
type Agent struct {
	Agent     string     `json:"agent"`
	Asked     int        `json:"asked"`     // calls
	NotAsked  int        `json:"not_asked"` // calls
	Disobeyed int        `json:"disobeyed"` // calls
	Tools     []Tool     `json:"tools"`     // with calls that were not asked about, or not obeyed
	Kinds     []CallKind `json:"kinds"`     // of calls that no event of the agent reports, or may not
	Read      int        `json:"read"`      // calls in transcripts
	Away      int        `json:"away"`      // of these, in sessions that are not on record
	Sessions  int        `json:"sessions"`  // such sessions
	// Executed has the programs that its processes started; nil = they were not followed. It is not of
	// Since, but of all that was followed.
	Executed *client.Executed `json:"executed,omitempty"`
	Do       string           `json:"do,omitempty"`
}

// Tool counts the calls of one tool that hookd did not guard.
type Tool struct {
	Tool      string    `json:"tool"`
	NotAsked  int       `json:"not_asked"`
	Disobeyed int       `json:"disobeyed"`
	Subagent  int       `json:"subagent"` // of both, by subagents, as far as that is known
	Last      time.Time `json:"last"`
}

// CallKind is a kind of call.
type CallKind struct {
	Kind    string `json:"kind"`
	Unknown bool   `json:"unknown,omitempty"` // it is not known whether it is reported
	Why     string `json:"why"`
}

// Bounds: how much of a session and of the record is read, and how old a call is at least that is looked
// for on record, as an agent may write it down before hookd has it.
const (
	mostEvents   = 20_000
	mostBad      = 5_000
	mostSessions = 2_000
	atRest       = time.Minute
)

// Look compares. An error means that the record could not be read.
func Look(ctx context.Context, o Options) (*Report, error) {
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	l := &look{o: o, agents: map[events.Dialect]*found{}}
	if err := l.record(ctx); err != nil {
		return nil, err
	}
	if err := l.transcripts(ctx); err != nil {
		return nil, err
	}
	if err := l.executed(ctx); err != nil {
		return nil, err
	}
	return l.report(), nil
}

// look is one comparison.
type look struct {
	o      Options
	agents map[events.Dialect]*found
}

// found has the known facts of one agent.
type found struct {
	Agent
	tools map[string]*Tool
	bad   map[callKey]bool // calls that are counted
	away  map[string]bool  // sessions
}

type callKey struct{ session, id string }

func (l *look) agent(name events.Dialect) *found {
	f := l.agents[name]
	if f == nil {
		f = &found{
			Agent: Agent{Agent: string(name), Tools: []Tool{}, Kinds: []CallKind{}},
			tools: map[string]*Tool{}, bad: map[callKey]bool{}, away: map[string]bool{},
		}
		l.agents[name] = f
	}
	return f
}

// wants reports whether an agent is looked at.
func (l *look) wants(name events.Dialect) bool {
	return l.o.Agent == "" || string(name) == l.o.Agent
}

// record takes in the facts that the results on record have shown.
func (l *look) record(ctx context.Context) error {
	list, err := l.o.Record.Sessions(ctx, client.SessionQuery{Agent: l.o.Agent, Since: l.o.Since, Limit: wire.MaxRuns})
	if err != nil {
		return err
	}
	for _, s := range list {
		if name := events.Dialect(s.Dialect); dialect.Agent(name) != nil {
			l.agent(name).Asked += int(s.Tools)
		}
	}
	bad, err := l.o.Record.Decisions(ctx, client.DecisionQuery{
		Decision: "not asked,disobeyed", Agent: l.o.Agent, Since: l.o.Since, Limit: mostBad,
	})
	if err != nil {
		return err
	}
	for _, d := range bad {
		if name := events.Dialect(d.Dialect); !d.Tried && l.wants(name) {
			l.agent(name).add(callKey{d.SessionID, cmp.Or(d.CallID, d.EventID)}, d.Tool, d.Time, d.Guarded, false)
		}
	}
	return nil
}

// add counts a call that hookd did not guard.
func (f *found) add(key callKey, tool string, at time.Time, g client.Guarded, subagent bool) {
	if f.bad[key] {
		return
	}
	f.bad[key] = true
	t := f.tools[tool]
	if t == nil {
		t = &Tool{Tool: tool}
		f.tools[tool] = t
	}
	if g == client.GuardedDisobeyed {
		f.Disobeyed++
		t.Disobeyed++
	} else {
		f.NotAsked++
		t.NotAsked++
	}
	if subagent {
		t.Subagent++
	}
	if at.After(t.Last) {
		t.Last = at
	}
}

// transcripts takes in the calls that agents have written down.
func (l *look) transcripts(ctx context.Context) error {
	if l.o.Home == "" {
		return nil
	}
	files := transcripts.Find(transcripts.Options{Home: l.o.Home, Env: l.o.Env, Since: l.o.Since}).Files
	once, sessions := transcripts.NewOnce(), map[sessionKey]*asked{}
	var failure error
	for _, file := range files {
		if !l.wants(file.Agent) {
			continue
		}
		_, err := file.Read(ctx, l.o.Since, func(c *transcripts.Call) {
			ran := c.Outcome == transcripts.Ran || c.Outcome == transcripts.Failed
			if failure != nil || !ran || !once.First(c) || c.Time.IsZero() || l.o.Now.Sub(c.Time) < atRest {
				return
			}
			failure = l.compare(ctx, c, sessions)
		})
		if failure != nil {
			return failure
		}
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// executed takes in the programs that agents' processes started.
func (l *look) executed(ctx context.Context) error {
	status, err := l.o.Record.Status(ctx)
	if err != nil {
		return err
	}
	for _, u := range status.Unguarded {
		if name := events.Dialect(u.Agent); u.Executed != nil && l.wants(name) {
			l.agent(name).Executed = u.Executed
		}
	}
	return nil
}

type sessionKey struct {
	agent   events.Dialect
	session string
}

// asked has the record's facts about one session.
type asked struct {
	first  time.Time       // of its events; zero = it is not on record
	ids    map[string]bool // of the calls that hookd was asked about
	denied map[string]bool // of those that were denied
	count  map[string]int  // of calls without an id of the agent, by canonical tool
}

// compare looks for a call of a transcript that ran.
func (l *look) compare(ctx context.Context, c *transcripts.Call, sessions map[sessionKey]*asked) error {
	f, key := l.agent(c.Agent), sessionKey{c.Agent, c.Session}
	of := sessions[key]
	if of == nil {
		var err error
		if of, err = l.session(ctx, key); err != nil {
			return err
		}
		if len(sessions) > mostSessions {
			clear(sessions)
		}
		sessions[key] = of
	}
	f.Read++
	tool := canonical(c)
	switch {
	case of.first.IsZero():
		f.Away++
		f.away[c.Session] = true
	case c.Time.Before(of.first):
	case of.denied[c.ID] && c.Outcome == transcripts.Failed: // a denial is written as an error, too
	case of.denied[c.ID]:
		f.add(callKey{c.Session, c.ID}, tool, c.Time, client.GuardedDisobeyed, c.Subagent)
	case of.ids[c.ID]:
	case of.count[tool] > 0:
		of.count[tool]--
	default:
		f.add(callKey{c.Session, c.ID}, tool, c.Time, client.GuardedNotAsked, c.Subagent)
	}
	return nil
}

// canonical is the name of a call's tool that dialects share.
func canonical(c *transcripts.Call) string { return dialect.CanonicalToolOf(c.Agent, c.Tool) }

// session reads the record of a session.
func (l *look) session(ctx context.Context, key sessionKey) (*asked, error) {
	of := &asked{ids: map[string]bool{}, denied: map[string]bool{}, count: map[string]int{}}
	list, err := l.o.Record.Accepted(ctx, client.EventQuery{Session: key.session, Limit: mostEvents})
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if e.Dialect != client.Dialect(key.agent) {
			continue
		}
		if of.first.IsZero() || e.Time.Before(of.first) {
			of.first = e.Time
		}
		if e.Kind != "tool.before" {
			continue
		}
		if of.ids[e.CallID] = true; e.CallID == "" || e.CallID == e.EventID {
			of.count[e.Tool]++
		}
	}
	denied, err := l.o.Record.Decisions(ctx, client.DecisionQuery{
		Session: key.session, Decision: "deny", Event: "tool.before", Limit: mostEvents,
	})
	for _, d := range denied {
		if d.CallID != "" && (d.Told == nil || d.Told.Unsure == "") {
			of.denied[d.CallID] = true
		}
	}
	return of, err
}

// report puts it in order, the agent with the most to mend first.
func (l *look) report() *Report {
	r := &Report{Since: l.o.Since, Agents: []Agent{}}
	for _, name := range slices.Sorted(maps.Keys(l.agents)) {
		f := l.agents[name]
		for _, tool := range slices.Sorted(maps.Keys(f.tools)) {
			f.Tools = append(f.Tools, *f.tools[tool])
		}
		for _, c := range dialect.Coverage(name) {
			if c.Why != "" {
				f.Kinds = append(f.Kinds, CallKind{string(c.Kind), c.Unknown, c.Why})
			}
		}
		if f.Sessions = len(f.away); f.unguarded() > 0 {
			f.Do = "hookd doctor " + string(name)
		}
		r.Agents = append(r.Agents, f.Agent)
	}
	slices.SortStableFunc(r.Agents, func(a, b Agent) int {
		return cmp.Or(cmp.Compare(b.Disobeyed, a.Disobeyed), cmp.Compare(b.NotAsked, a.NotAsked))
	})
	return r
}

// Clean reports whether hookd was asked about each call that was found, and obeyed.
func (r *Report) Clean() bool {
	return !slices.ContainsFunc(r.Agents, func(a Agent) bool { return a.unguarded() > 0 })
}

// unguarded counts the calls that hookd did not guard, and the commands that no call explains.
func (a Agent) unguarded() int {
	n := a.NotAsked + a.Disobeyed
	if a.Executed != nil {
		n += int(a.Executed.Commands)
	}
	return n
}
