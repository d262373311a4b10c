// Package ask holds calls that a hook asks about until a person answers, and
// remembers answers as grants.
//
// Promises. The first answer to an ask wins, every other learns who was first. A
// call is only let through by the answer of a person who was asked about this very
// call, or by a grant that covers it; a grant answers the hook that it was given to,
// while that hook does not change, and never lifts a denial. A permit is a grant of a person
// who saw a denial: it lifts that for the same call, once or for a time, and never one of a
// policy. The use of a permit for one call is on disk before it counts: none counts twice.
// A process of the tree that asked, or of a run, cannot answer. A grant is on disk before
// the answer that makes it counts, and a revocation is before it returns. An ask that ends without
// an answer goes the agent's own way: when its time is over, when its sender has ended, or when
// the daemon stops. After a kill the next daemon records its asks.
//
// A held ask costs the goroutine of its sender, which waits anyway, a timer, and a row
// on disk. The row is there before the ask can be answered, and the answer is in it
// before the agent gets it. Where the disk does not write, each waits a bounded time for
// it; the row is then in memory that outlives a kill, or a warning says that it is not. Nothing here waits for a
// follower.
//
// It shows no ask and gives no answer: commands, the page and hooks do.
package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/people/card"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/wire"
)

// Limits of the asks that are held at once. An ask beyond them goes the agent's own way.
const (
	maxHeld      = 20_000
	maxHeldBytes = 8 << 20 // of payloads
	maxCallBytes = 1 << 20 // of one payload
)

// leastWait is how long a person must have at least.
const leastWait = time.Second

// How long the disk may take. Tests shorten them.
var (
	rowTime  = 10 * time.Second // for an ask that nothing shows yet
	diskTime = 2 * time.Second  // for the answer of a person, or a grant
)

// Store keeps held asks and grants.
type Store interface {
	SaveAsk(store.Saved) (held bool, written <-chan error)
	DropAsk(id string)
	Asks(context.Context) ([]store.Saved, error)
	SaveGrants(context.Context, ...store.Saved) error
	DropGrants(ctx context.Context, ids ...string) error
	Grants(context.Context) ([]store.Saved, error)
}

// Tree is the tree of processes that asked.
type Tree interface {
	Has(pid int) bool // a process belongs to it
	Alive() bool      // the process that asked still exists
}

// Options of a Holder. Store, Tree, Emit and Record are required.
type Options struct {
	Store Store
	// Tree looks up the tree of a process; nil when it is not known.
	Tree func(pid int) Tree
	// Emit is given each event about an ask. It must not wait.
	Emit func(name string, data json.RawMessage)
	// Record is given the decision about an ask that the previous daemon did not end.
	// The store forgets an ask with the record of the decision about it.
	Record func(*wire.Decision)
	// Hooked reports whether a hook runs for asks; nil = none does.
	Hooked func() bool
	// Prompt returns the newest prompt of a session for people, "" = unknown; nil = none is known.
	Prompt func(session string, d events.Dialect) string
	// Look returns the known facts of a call: e has the input that will run. Nil = nothing is known.
	Look func(e *events.Event) Look
	// Redact takes secrets out of a text or of JSON, where the settings want it; nil = they stay.
	Redact func([]byte) []byte
	Log    *zap.Logger // nil = none
}

// Look has the known facts of a call that is asked about.
type Look struct {
	Repo    *card.Repo // that the folder is in; nil = not known
	Effects []string   // what the call does, in words; nil = not known
	Text    string     // that the spans of rules are places in
}

// Settings of a Holder, which may change while it works.
type Settings struct {
	Hold    string        // config.HoldAuto, config.HoldNever or a duration
	Timeout time.Duration // longest hold
}

// Holder is safe for concurrent use. It fits dispatch.Asks.
type Holder struct {
	opts Options
	log  *zap.Logger

	mu        sync.Mutex // guards what is below; no file is looked at while it is held
	settings  Settings
	held      map[string]*held
	bytes     int
	ended     []*held // the last ones, oldest first
	grants    map[string]*wire.Grant
	voided    []*wire.Grant // that were void since the start, oldest first
	followers followers
	closed    bool
}

var _ dispatch.Asks = (*Holder)(nil)

// New makes a Holder with the grants that the store has. A store that cannot be read
// has none: then each question is asked again.
func New(ctx context.Context, o Options) *Holder {
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.Redact == nil {
		o.Redact = func(text []byte) []byte { return text }
	}
	if o.Prompt == nil {
		o.Prompt = func(string, events.Dialect) string { return "" }
	}
	if o.Look == nil {
		o.Look = func(*events.Event) Look { return Look{} }
	}
	if o.Hooked == nil {
		o.Hooked = func() bool { return false }
	}
	h := &Holder{
		opts: o, log: o.Log.Named("ask"), settings: Settings{Hold: config.HoldAuto, Timeout: 2 * time.Minute},
		held: map[string]*held{}, grants: map[string]*wire.Grant{}, followers: followers{},
	}
	h.loadGrants(ctx)
	return h
}

// Configure puts settings in force for asks that come later.
func (h *Holder) Configure(s Settings) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.settings = s
}

// Takes fits dispatch.Asks: a grant answers all or denies, or the ask would be held.
func (h *Holder) Takes(q *dispatch.Question) bool {
	covered := h.cover(q, callsOf(q), time.Now())
	return covered.answers() != nil || h.holds(q, covered.open, time.Now()) > 0
}

// Await fits dispatch.Asks.
func (h *Holder) Await(q *dispatch.Question) (*verdict.Verdict, *wire.Answered) {
	now, about := time.Now(), callsOf(q)
	covered := h.cover(q, about, now)
	for g := covered.answers(); g != nil; g = covered.answers() {
		if used := h.use(g, now); used != nil {
			return withOutcome(q.Verdict, used, reasons(q.Asking))
		}
		covered = h.cover(q, about, now)
	}
	wait := h.holds(q, covered.open, now)
	if wait <= 0 {
		return q.Verdict, nil
	}
	a := h.hold(q, covered.open, about, now, wait)
	if a == nil {
		return q.Verdict, nil
	}
	<-a.done
	h.over(a)
	return withOutcome(q.Verdict, a.answered, a.Reason)
}

// withOutcome is the verdict v, which asks for a reason, with the outcome of its ask.
func withOutcome(v *verdict.Verdict, a *wire.Answered, reason string) (*verdict.Verdict, *wire.Answered) {
	switch said := saidBy(a, reason); {
	case a.Answer == wire.OutcomeAllow:
		return verdict.Approved(v, said), a
	case a.Answer == wire.OutcomeDeny:
		return verdict.Declined(v, said), a
	case a.By == wire.ByTimeout:
		return verdict.Unanswered(v, reason+" (no answer came in time)"), a
	case a.By == wire.ByRestart:
		return verdict.Unanswered(v, reason+" (hookd stopped before an answer came)"), a
	}
	return verdict.Unanswered(v, reason), a
}

// saidBy says in words whose answer a is, and why; "" = there is none.
func saidBy(a *wire.Answered, reason string) string {
	by := "a person"
	if a.From != nil && a.From.User != "" {
		by = a.From.User
	}
	if a.By == wire.ByGrant || a.By == wire.ByPermit {
		by += " (" + scopeWords(a.For) + ")"
	}
	because := withColon(cmp.Or(a.Message, reason))
	switch a.Answer {
	case wire.OutcomeAllow:
		return "allowed by " + by + because
	case wire.OutcomeDeny:
		return "denied by " + by + because
	}
	return ""
}

func withColon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// scopeWords says in words for how long an answer counts.
func scopeWords(scope string) string {
	switch scope {
	case ForOnce:
		return "once"
	case ForSession:
		return "for this session"
	case ForAlways:
		return "always"
	}
	return "for " + scope
}

// reasons joins the reasons of hooks; for several hooks it names each.
func reasons(list []dispatch.Asking) (text string) {
	for _, a := range list {
		if len(list) > 1 {
			text += a.Hook.Name + ": "
		}
		text += a.Reason + "\n"
	}
	return text[:max(0, len(text)-1)]
}

// holds returns how long hookd waits for a person's answer to q; 0 = not at all.
func (h *Holder) holds(q *dispatch.Question, asking []dispatch.Asking, now time.Time) time.Duration {
	if q.Sender == 0 || q.Event.Trial || len(q.Event.Data) > maxCallBytes {
		return 0
	}
	present := h.present()
	h.mu.Lock()
	s, full := h.settings, len(h.held) >= maxHeld || h.bytes+len(q.Event.Data) > maxHeldBytes
	off := h.closed || full || !present
	h.mu.Unlock()
	if off {
		return 0
	}
	wait := s.Timeout
	for _, a := range asking {
		wait = min(wait, s.wait(a.Hook, q.Event))
	}
	if !q.Until.IsZero() {
		wait = min(wait, q.Until.Sub(now))
	}
	if wait < leastWait {
		return 0
	}
	return wait
}

// wait returns how long an ask of one hook waits.
func (s Settings) wait(of *hook.Hook, e *events.Event) time.Duration {
	switch hold := cmp.Or(of.Hold, s.Hold); hold {
	case config.HoldNever:
		return 0
	case config.HoldAuto:
		if dialect.AsksItself(e) {
			return 0
		}
		return s.Timeout
	default:
		d, err := duration.Parse(hold)
		if err != nil {
			return 0
		}
		return d
	}
}

// present reports whether an ask can be answered: by a follower, or by a hook.
func (h *Holder) present() bool {
	answering, hooked := h.Presence()
	return answering > 0 || hooked
}

// callsOf returns the call that is asked about, and the call that hooks have made from it; nil
// where it cannot be compared.
func callsOf(q *dispatch.Question) calls {
	e := q.Event
	given, ok := callOf(e, e.Data)
	if !ok {
		return nil
	}
	if q.Verdict.UpdatedInput == nil {
		return calls{given}
	}
	rewritten, ok := callOf(e, rewrittenData(q))
	if !ok {
		return nil
	}
	return calls{given, rewritten}
}

// rewrittenData is the payload as hooks have rewritten it.
func rewrittenData(q *dispatch.Question) json.RawMessage {
	change := verdict.Answer{Terms: verdict.Terms{Blocking: true}, UpdatedInput: q.Verdict.UpdatedInput}
	return change.Rewrite(q.Event.Contract, q.Event.Data)
}

// Close ends every ask that is held in the agent's own way, and holds none any more.
func (h *Holder) Close() {
	h.mu.Lock()
	h.closed = true
	var open []*held
	for _, a := range h.held {
		open = append(open, a)
	}
	h.mu.Unlock()
	slices.SortFunc(open, func(a, b *held) int { return cmp.Compare(a.ID, b.ID) })
	for _, a := range open {
		h.end(a, &wire.Answered{By: wire.ByRestart})
		<-a.done
		h.over(a) // now: the daemon takes no events of its own much longer
	}
}
