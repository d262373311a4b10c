package runner

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/rules"
	"github.com/hookd/hookd/wire"
)

// Past feeds events to the rules that look back. It fits dispatch.Past. The events that count
// outlive the process in its Log.
type Past struct {
	sight
	history *rules.History
	lines   Log
	redact  func([]byte) []byte
	log     *zap.Logger

	mu    sync.Mutex
	roots map[string]string // of sessions that another one has started: the session that all began with
	order []string          // of roots, the oldest first
}

var _ dispatch.Past = (*Past)(nil)

// Log keeps lines for later processes. None of its methods blocks but Read.
type Log interface {
	// Add keeps a line of about size bytes, which line returns later; nil = there is none.
	Add(size int, line func() []byte)
	// Read calls each with every line that was added, the oldest first.
	Read(each func(line []byte)) error
	// Clear forgets all lines.
	Clear()
}

// NewPast returns a Past for the rules that r judges. log may be nil. redact takes secrets
// out of the texts that are kept; nil = they stay.
func NewPast(r *Runner, log Log, redact func([]byte) []byte) *Past {
	p := &Past{sight: r.sight, lines: log, redact: redact, log: r.log}
	p.history = rules.NewHistory(p.keep)
	return p
}

// Use makes the rules of these hooks the ones that look back, also of hooks that are switched
// off: they may be on again. It waits for the Log where they
// look for events that were not counted before.
func (p *Past) Use(hooks []*hook.Hook) {
	var sets []*rules.Set
	for _, h := range hooks {
		if h.Rules != nil {
			sets = append(sets, h.Rules)
		}
	}
	err := p.history.Use(sets, p.read)
	if err != nil {
		p.log.Error("rules that look back do not know all that happened before", zap.Error(err))
	}
	if p.lines != nil && !p.history.Looks() {
		p.lines.Clear() // with a gap in it, it would be wrong
	}
}

// Looks fits dispatch.Past.
func (p *Past) Looks(c *events.Contract) bool { return !c.Streaming && p.history.Looks() }

// Begin fits dispatch.Past.
func (p *Past) Begin(e *events.Event, runs bool) (end func(wire.Outcome)) {
	m, seen := p.moment(e)
	m.Unseen = !runs
	seen.Before = p.history.Begin(m)
	e.Before = seen
	if m.Kind == rules.Ended || m.Kind == rules.Elsewhere {
		return nil
	}
	id := e.EventID
	return func(o wire.Outcome) { p.End(id, o) }
}

// glance is the past of an event, with the reading of the event for its place.
type glance struct {
	*rules.Before
	call    neutral.ToolCall
	subject *rules.Subject // without a Branch; nil = the event has to be read again
}

// moment is an event as later ones see it.
func (p *Past) moment(e *events.Event) (*rules.Moment, *glance) {
	k := pastLine{
		ID: e.EventID, Time: e.Time, Event: e.Envelope.Event, Dialect: e.Dialect, Cwd: e.Cwd,
		Session: p.session(e), Agent: cmp.Or(e.AgentName, string(e.Dialect)), Call: e.CallID, Kind: momentOf(e),
	}
	if (k.Kind == rules.Typed || k.Kind == rules.Began) && p.ByAgent(e) {
		k.Kind = rules.Elsewhere // an agent has written it, no person
	}
	if e.Tried {
		k.Session, k.Agent = "tried "+k.Session, "tried "+k.Agent
	}
	raw := dialect.Call(e)
	if k.Kind == rules.Ended {
		k.Outcome = rules.CallResult(dialect.Ended(e))
	}
	if k.Kind == rules.Asked || k.Kind == rules.Ended {
		k.Keys = rules.KeysOf(raw, p.factsOf(e, raw))
	}
	if k.Data = shortened(e.Data, raw.Tool == neutral.Shell); p.redact != nil && len(k.Data) > 0 {
		k.Data = p.redact(k.Data)
	}
	if len(k.Data) == len(e.Data) && bytes.Equal(k.Data, e.Data) {
		k.Data = bytes.Clone(e.Data)
		m := p.remembered(k, &raw)
		return m, &glance{call: raw, subject: m.Subject}
	}
	return p.remembered(k, nil), &glance{}
}

// session names the session of an event: two agents may have the same id. A session of a subagent is part of
// the one that has started it, where the agent says which.
func (p *Past) session(e *events.Event) string {
	own := string(e.Dialect) + " " + cmp.Or(e.SessionID, e.AgentID)
	if by := neutral.TextOf(dialect.Fact(e, neutral.ParentSession)); by != "" {
		p.join(own, string(e.Dialect)+" "+by, true)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return cmp.Or(p.roots[own], own)
}

// ByAgent fits dispatch.Past.
func (p *Past) ByAgent(e *events.Event) bool {
	session := p.session(e)
	own := string(e.Dialect) + " " + cmp.Or(e.SessionID, e.AgentID)
	return session != own || dialect.ByAgent(e)
}

// mostJoined bounds the sessions of subagents that are known: the newest are.
const mostJoined = 8192

// join makes a session part of another one, also after a restart if it is kept.
func (p *Past) join(child, parent string, kept bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	parent = cmp.Or(p.roots[parent], parent)
	if child == parent || p.roots[child] != "" {
		return
	}
	if p.roots == nil {
		p.roots = map[string]string{}
	}
	if p.order = append(p.order, child); len(p.order) > mostJoined {
		delete(p.roots, p.order[0])
		p.order = slices.Delete(p.order, 0, 1)
	}
	p.roots[child] = parent
	if kept && p.lines != nil {
		p.add(pastLine{Kind: sessionJoined, Session: child, ID: parent})
	}
}

// sessionJoined is the kind of a line that says which session, by its ID, has started another.
const sessionJoined rules.MomentKind = "sessionJoined"

// momentOf returns the part that an event plays for rules that look back.
func momentOf(e *events.Event) rules.MomentKind {
	switch e.Contract.Kind {
	case events.KindToolBefore:
		return rules.Asked
	case events.KindToolAfter:
		return rules.Ended
	case events.KindPromptSubmit:
		return rules.Typed
	case events.KindSessionStart:
		if source := neutral.TextOf(dialect.Fact(e, neutral.Source)); source != "resume" && source != "compact" {
			return rules.Began
		}
	}
	return rules.Elsewhere
}

// Limits of the part of a text that is kept in an event: of a shell line, as much as is read.
const (
	mostLine = 16 << 10
	mostText = 1 << 10
	longData = 2 << 10 // shorter data is kept as it is
)

// shortened returns data with its long texts cut, those of objects in it, too.
func shortened(data json.RawMessage, shell bool) json.RawMessage {
	if len(data) <= longData {
		return data
	}
	most := mostText
	if shell {
		most = mostLine
	}
	var list []rawjson.Member
	for key, value := range rawjson.Members(data) {
		switch {
		case len(value) <= mostText:
		case value[0] == '"':
			text := neutral.TextOf(value)
			value = rawjson.Quote(strings.ToValidUTF8(text[:min(len(text), most)], ""))
		case value[0] == '{':
			value = shortened(value, shell)
		case len(value) > mostLine:
			continue
		}
		list = append(list, rawjson.Member{Key: key, Value: value})
	}
	return rawjson.With([]byte("{}"), list...)
}

// pastLine is a line of the Log.
type pastLine struct {
	Place   uint64           `json:"n"`
	Of      uint64           `json:"of,omitempty"`
	Kind    rules.MomentKind `json:"kind"`
	ID      string           `json:"id"`
	Time    time.Time        `json:"time"`
	Session string           `json:"session,omitempty"`
	Agent   string           `json:"agent,omitempty"`
	Call    string           `json:"call,omitempty"`
	Outcome rules.CallResult `json:"outcome,omitempty"`
	Unsure  bool             `json:"unsure,omitempty"`
	Fetched bool             `json:"fetched,omitempty"`
	Keys    rules.Keys       `json:"keys,omitzero"`
	Event   string           `json:"event"`
	Dialect events.Dialect   `json:"dialect"`
	Cwd     string           `json:"cwd,omitempty"`
	Project string           `json:"project,omitempty"`
	Data    json.RawMessage  `json:"data,omitempty"`
}

// remembered is a moment as it is read from a line. call is that of its data, nil = it is read there.
func (p *Past) remembered(k pastLine, call *neutral.ToolCall) *rules.Moment {
	m := &rules.Moment{
		ID: k.ID, Kind: k.Kind, Time: k.Time, Session: k.Session, Agent: k.Agent, Call: k.Call,
		Outcome: k.Outcome, Keys: k.Keys, Place: k.Place, Of: k.Of, Unsure: k.Unsure, Fetched: k.Fetched,
	}
	if k.Kind != rules.Elsewhere {
		e := &events.Event{Envelope: events.Envelope{
			Event: k.Event, Dialect: k.Dialect, Cwd: k.Cwd, Data: k.Data, SessionID: k.Session,
		}, Time: k.Time, Contract: events.For(k.Dialect, k.Event)}
		if call == nil {
			read := dialect.Call(e)
			call = &read
		}
		m.Subject = p.subjectOf(e, *call, k.Project)
		k.Project, m.Subject.Branch = m.Subject.Project, nil // which may be another now
	}
	m.Record = k
	return m
}

// keep hands a moment to the Log.
func (p *Past) keep(m *rules.Moment) {
	k, is := m.Record.(pastLine)
	if m.Record = nil; !is || p.lines == nil {
		return
	}
	k.Place, k.Of, k.Kind, k.Unsure, k.Fetched = m.Place, m.Of, m.Kind, m.Unsure, m.Fetched
	if k.Kind == rules.Refused || k.Kind == rules.Ended && !m.Alone() {
		k.Data = nil // the call has it
	}
	p.add(k)
}

// add hands a line to the Log.
func (p *Past) add(k pastLine) {
	p.lines.Add(len(k.Data)+lineHead, func() []byte {
		line, err := json.Marshal(k)
		if err != nil { // data that is no JSON, which no event has
			p.log.Error("an event is not kept for rules that look back", zap.String("event_id", k.ID), zap.Error(err))
		}
		return line
	})
}

const lineHead = 512 // bytes of a line beside its data, about

// read gives the moments of the Log to the rules.
func (p *Past) read(each func(*rules.Moment)) error {
	if p.lines == nil {
		return nil
	}
	return p.lines.Read(func(line []byte) {
		var k pastLine
		switch {
		case json.Unmarshal(line, &k) != nil:
		case k.Kind == sessionJoined:
			p.join(k.Session, k.ID, false)
		default:
			m := p.remembered(k, nil)
			m.Record = nil
			each(m)
		}
	})
}

// NewSequence returns a past of its own for a hook that is tried. home is that of the agent's
// user.
func NewSequence(h *hook.Hook, home string) *Past {
	p := &Past{sight: sight{facts: &facts.Reader{Home: home}}, log: zap.NewNop()}
	p.history = rules.NewHistory(nil)
	p.Use([]*hook.Hook{h})
	return p
}

// Happened lets an event happen that is decided at once. ended is how the call ended that it
// is about, nil = it has not.
func (p *Past) Happened(e *events.Event, decided wire.Outcome, ended *dialect.Ending) {
	m, _ := p.moment(e)
	p.history.Begin(m)
	p.End(e.EventID, decided)
	if ended == nil || m.Kind != rules.Asked || decided == wire.OutcomeDeny {
		return
	}
	result := *m
	result.ID, result.Kind, result.Outcome = e.EventID+" result", rules.Ended, rules.CallResult(*ended)
	p.history.Begin(&result)
}

// End gives the event of that id its fate.
func (p *Past) End(eventID string, o wire.Outcome) {
	p.history.End(eventID, o == wire.OutcomeDeny, o == wire.OutcomeAsk)
}
