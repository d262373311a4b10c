package story

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/transcripts"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts/secrets"
	"github.com/hookd/hookd/wire"
)

// Limits of a session that is told.
const (
	mostEvents = 5000 // of each kind of record
	mostSaid   = 400
)

// Session is one session in the order in which it happened, a row for each prompt, text and call.
type Session struct {
	client.Session
	Rows   []TimelineEntry `json:"rows"`
	Waited []Waited        `json:"waited"`             // the longest first
	Calls  int             `json:"calls"`              // among the rows
	Cut    bool            `json:"cut,omitempty"`      // there are earlier ones
	Words  bool            `json:"words"`              // the agent's transcript was read
	WaitMS float64         `json:"wait_ms"`            // the agent waited for hooks and persons
	YouMS  float64         `json:"person_ms,omitzero"` // of that, for persons
}

// TimelineEntry is one thing that happened in a session.
type TimelineEntry struct {
	ID    string           `json:"id"`
	Kind  string           `json:"kind"` // prompt, task, said, call, or the kind of another event
	Time  time.Time        `json:"time"`
	Text  string           `json:"text,omitempty"` // of a prompt, of a task that an agent wrote, or what the agent said
	Tool  string           `json:"tool,omitempty"`
	Sub   bool             `json:"sub,omitempty"`    // by a subagent
	Told  *client.Decision `json:"call,omitempty"`   // nil = no guard was asked about it
	Ran   *wire.Ran        `json:"ran,omitempty"`    // where there is no decision
	Waits []Waited         `json:"guards,omitempty"` // the guards that it waited for, the slowest first
}

// Waited is how long an agent waited for a guard, or for a person.
type Waited struct {
	Hook   string  `json:"hook"`
	Run    string  `json:"run_id,omitempty"` // of one call
	Calls  int     `json:"calls,omitempty"`
	MS     float64 `json:"ms"`
	Person bool    `json:"person,omitempty"` // Hook is the user who answered
	Said   string  `json:"said,omitempty"`   // deny, ask, failed …; "" = no opinion
}

// Session tells a session; "" is the newest. agent is a dialect, "" = any. nil = there is none.
func (t Teller) Session(ctx context.Context, id, agent string) (*Session, error) {
	found, err := t.Client.Sessions(ctx, client.SessionQuery{Session: id, Limit: 20})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	of := func(s client.Session) bool { return agent == "" || string(s.Dialect) == agent }
	at := max(0, slices.IndexFunc(found, of))
	s := &Session{Session: found[at], Rows: []TimelineEntry{}, Waited: []Waited{}}
	list, err := t.Client.Accepted(ctx, client.EventQuery{Session: s.SessionID, Limit: mostEvents})
	if err != nil {
		return nil, err
	}
	decisions, err := t.Client.Decisions(ctx, client.DecisionQuery{Session: s.SessionID, Limit: mostEvents})
	if err != nil && !errors.Is(err, client.ErrRecent) {
		return nil, err
	}
	runs, err := t.Client.Runs(ctx, client.RunQuery{Session: s.SessionID, Limit: mostEvents})
	if err != nil {
		return nil, err
	}
	s.Cut = max(len(list), len(decisions), len(runs)) >= mostEvents
	s.add(list, decisions, waits(runs))
	t.listen(ctx, s)
	slices.SortStableFunc(s.Rows, func(a, b TimelineEntry) int { return a.Time.Compare(b.Time) })
	return s, nil
}

// waits are the guards that each event waited for, the slowest first.
func waits(runs []client.Run) map[string][]Waited {
	of := map[string][]Waited{}
	for _, r := range runs {
		if !r.Awaited {
			continue
		}
		w := Waited{Hook: r.Hook, Run: r.ID, MS: r.QueueMS + r.DurationMS}
		if w.Said = string(r.Decision); r.Failure != "" {
			w.Said = "failed"
		} else if r.Decision == client.OutcomeNone {
			w.Said = ""
		}
		of[r.EventID] = append(of[r.EventID], w)
	}
	for _, list := range of {
		slices.SortStableFunc(list, func(a, b Waited) int { return cmp.Compare(b.MS, a.MS) })
	}
	return of
}

// add puts the events of a session into rows: a call is one, with its end.
func (s *Session) add(list []client.AcceptedEvent, decisions []client.Decision, waits map[string][]Waited) {
	decided := map[string]*client.Decision{}
	for i := range decisions {
		d := &decisions[i]
		if decided[d.EventID] == nil && (s.Dialect == "" || d.Dialect == s.Dialect) {
			decided[d.EventID] = d
		}
	}
	var main string // the agent that began
	calls := map[string]int{}
	for _, e := range slices.Backward(list) {
		if e.Tried || s.Dialect != "" && e.Dialect != s.Dialect {
			continue
		}
		if main == "" {
			main = e.AgentID
		}
		row := TimelineEntry{
			ID: e.EventID, Kind: string(e.Kind), Time: e.Time, Tool: e.Tool, Text: e.Subject, Told: decided[e.EventID],
			Sub: e.AgentID != "" && e.AgentID != main, Waits: waits[e.EventID],
		}
		delete(decided, e.EventID)
		switch events.Kind(e.Kind) {
		case events.KindPromptSubmit:
			if row.Kind = "prompt"; e.ByAgent {
				row.Kind, row.Sub = "task", true
			}
		case events.KindToolBefore, events.KindToolAfter, events.KindPermissionRequest:
			if at, is := calls[e.CallID]; is && e.CallID != "" {
				s.ended(at, row)
				continue
			}
			row.Kind, calls[e.CallID] = "call", len(s.Rows)
			s.Calls++
		default:
			if row.Told == nil && len(row.Waits) == 0 {
				continue // nothing was decided about it, and nothing waited
			}
		}
		s.Rows = append(s.Rows, row)
		s.waited(row)
	}
	for id, d := range decided { // their events were pruned
		if d.PartOf == "" && len(list) < mostEvents {
			row := TimelineEntry{ID: id, Kind: "call", Time: d.Time, Tool: d.Tool, Text: d.Subject, Told: d}
			s.Rows, s.Calls = append(s.Rows, row), s.Calls+1
			s.waited(row)
		}
	}
	slices.SortFunc(s.Waited, func(a, b Waited) int { return cmp.Compare(b.MS, a.MS) })
}

// ended joins a later event of a call with its row. A decision about it that stands is that of the row.
func (s *Session) ended(at int, later TimelineEntry) {
	row := &s.Rows[at]
	if later.Told != nil && (row.Told == nil || rank(later.Told) > rank(row.Told)) {
		row.Told = later.Told
	}
	if row.Told == nil && later.Kind == string(events.KindToolAfter) {
		row.Ran = &wire.Ran{EventID: later.ID, Time: later.Time}
	}
	row.Waits = append(row.Waits, later.Waits...)
	s.waited(later)
}

// rank orders the outcomes of one call, the strictest first.
func rank(d *client.Decision) int {
	return -slices.Index(wire.Outcomes(), d.Outcome)
}

// waited adds up the waiting of a row.
func (s *Session) waited(row TimelineEntry) {
	add := func(w Waited) {
		i := slices.IndexFunc(s.Waited, func(had Waited) bool { return had.Hook == w.Hook && had.Person == w.Person })
		if i < 0 {
			s.Waited, i = append(s.Waited, Waited{Hook: w.Hook, Person: w.Person}), len(s.Waited)
		}
		s.Waited[i].MS += w.MS
		s.Waited[i].Calls++
	}
	for _, w := range row.Waits {
		add(w)
	}
	if d := row.Told; d != nil {
		s.WaitMS += d.DurationMS
		if a := d.Answered; a != nil && a.By == "person" {
			who := "a person"
			if a.From != nil && a.From.User != "" {
				who = a.From.User
			}
			s.YouMS += d.DurationMS
			add(Waited{Hook: who, Person: true, MS: d.DurationMS})
		}
	}
}

// listen adds the texts that the agent wrote, without secrets.
func (t Teller) listen(ctx context.Context, s *Session) {
	if t.Home == "" {
		return
	}
	opt := transcripts.Options{Home: t.Home, Env: t.Env, Since: s.First.Add(-time.Hour)}
	list, found := transcripts.SaidIn(ctx, opt, events.Dialect(s.Dialect), s.SessionID, mostSaid)
	s.Words = found
	for _, said := range list {
		if !s.Cut || len(s.Rows) == 0 || said.Time.After(s.Rows[0].Time) {
			id := "said " + said.Time.Format(time.RFC3339Nano)
			text := secrets.Redact(said.Text)
			s.Rows = append(s.Rows, TimelineEntry{ID: id, Kind: "said", Time: said.Time, Text: text})
		}
	}
}
