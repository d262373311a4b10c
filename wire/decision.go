package wire

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// Outcome is a decision in one word.
type Outcome string

const (
	OutcomeDeny    Outcome = "deny"
	OutcomeAsk     Outcome = "ask"     // a person has to decide
	OutcomeContain Outcome = "contain" // it runs in a box
	OutcomeAllow   Outcome = "allow"   // a hook, a person or a grant said yes
	OutcomeNone    Outcome = "none"    // nothing was said against it

	OutcomeRewrite Outcome = "rewrite" // the call goes on with another input, or its result is another
	OutcomeContext Outcome = "context" // nothing was said against it, and the model gets more to read

	OutcomeDisobeyed Outcome = "disobeyed" // see Guarded
	OutcomeNotAsked  Outcome = "not asked"
)

// Guarded says of a tool call whether hookd was asked about it before it ran, and whether the
// answer counted. "" = the event is about no call, or it is not known.
type Guarded string

const (
	GuardedAsked     Guarded = "asked"
	GuardedNotAsked  Guarded = "not asked" // its result came, and no event before it; or no answer
	GuardedDisobeyed Guarded = "disobeyed" // it ran though denied, with another input, or without its box
)

// Outcomes returns the words that a decision is searched for by, the strictest first.
func Outcomes() []Outcome {
	return []Outcome{
		OutcomeDisobeyed, OutcomeNotAsked, OutcomeDeny, OutcomeAsk,
		OutcomeContain, OutcomeRewrite, OutcomeAllow, OutcomeContext, OutcomeNone,
	}
}

// ReasonBytes is how long the reason in a record is at most.
const ReasonBytes = 2 << 10

// Decision is the record of one decision: of an event that its sender waited for,
// that can be decided, and that at least one hook took part in. Of a call that hookd was not asked
// about, or whose denial was not obeyed, the event after it has such a record without hooks; so has
// a call that its agent's own judge denied.
type Decision struct {
	EventID   string    `json:"event_id"`
	Seq       uint64    `json:"seq"`       // its own place in the stream, after those of the runs
	EventSeq  uint64    `json:"event_seq"` // that of the event
	Time      time.Time `json:"time"`      // when the event was accepted
	Event     string    `json:"event"`
	Kind      Kind      `json:"kind"`
	Dialect   Dialect   `json:"dialect,omitempty"`
	AgentID   string    `json:"agent_id,omitempty"`
	AgentName string    `json:"agent_name,omitempty"`
	SessionID string    `json:"session_id,omitempty"`
	Cwd       string    `json:"cwd,omitempty"`
	Tool      string    `json:"tool,omitempty"`     // canonical name
	Subject   string    `json:"subject,omitempty"`  // one harmless line of 256 bytes at most
	CallID    string    `json:"call_id,omitempty"`  // of the tool call, as its agent counts them; "" = it tells none
	CallSum   string    `json:"call_sum,omitempty"` // digest of a denied call: a permit is for the same; "" = none can be
	Tried     bool      `json:"tried,omitempty"`    // a person tried hooks: in no count of what agents did
	Guarded   Guarded   `json:"guarded,omitempty"`
	Ran       *Ran      `json:"ran,omitempty"`     // the result of the call that it decides; nil = none was reported
	PartOf    string    `json:"part_of,omitempty"` // event_id of the decision before the same call, which says all that this does
	Judge     string    `json:"judge,omitempty"`   // of the agent itself, which denied the call; "" = hookd decided

	// Outcome is the word that people read: Decision, or rewrite or context where hooks changed
	// or added something and none denied or asked; or that hookd was not asked, or not obeyed.
	Outcome    Outcome         `json:"outcome,omitempty"`
	Decision   Outcome         `json:"decision"`              // as the agent heard it, where Told is known
	Reason     string          `json:"reason,omitempty"`      // for people and the model; may have lines
	DecidedBy  []string        `json:"decided_by,omitempty"`  // hooks whose answers made it what it is
	Rewrote    []string        `json:"rewrote,omitempty"`     // of input, result, messages, context
	NewInput   json.RawMessage `json:"new_input,omitempty"`   // the input that runs instead, without secrets; a text where it is long
	NewSubject string          `json:"new_subject,omitempty"` // Subject, of the new input
	Contained  string          `json:"contained,omitempty"`   // profile of the box that the call runs in
	Opened     []string        `json:"opened,omitempty"`      // ways out of that box that were open, or asked about: paths, or HOST:PORT
	Told       *Told           `json:"told,omitempty"`        // nil = its sender tells nothing, as `hookd emit`
	Answered   *Answered       `json:"answered,omitempty"`    // the outcome of the question; nil = none was held or answered
	Shadow     []Shadowed      `json:"shadow,omitempty"`      // what hooks would have said that only watch
	Kept       *Kept           `json:"undo,omitempty"`        // nil = it destroys nothing that is known
	Untaken    []string        `json:"untaken,omitempty"`     // "HOOK: why" of answers that did not count as they were meant
	DurationMS float64         `json:"duration_ms"`           // from the event to the verdict
	Earlier    []string        `json:"earlier,omitempty"`     // ids of earlier events that a rule counted, the oldest first
	Missing    *Missing        `json:"missing,omitempty"`     // no earlier event fitted a rule's unless; nil = that decided nothing
	Runs       []string        `json:"runs,omitempty"`        // ids of the runs whose answers were waited for
}

// Missing says that no earlier event fitted the `unless` of a rule that decided.
type Missing struct {
	Since string `json:"since,omitempty"` // id of the event after which none did; "" = none did at all
}

// Ran is the result of a call, as its agent reported it.
type Ran struct {
	EventID string    `json:"event_id"` // of the event after the call
	Time    time.Time `json:"time"`
	Failed  bool      `json:"failed,omitempty"`
	TookMS  float64   `json:"took_ms,omitempty"` // as the agent says; 0 = it does not
	Instead string    `json:"instead,omitempty"` // the subject of another input than hookd answered for; "" = that input ran
	Box     *BoxEnd   `json:"box,omitempty"`     // how its box ended; nil = it had none, or that is not known
}

// Told is the answer that an agent got, as its bridge has written it.
type Told struct {
	Decision Outcome `json:"decision,omitempty"` // deny, ask, allow or none; "" = not known
	Reason   string  `json:"reason,omitempty"`   // in the words that the agent got
	Rewrote  bool    `json:"rewrote,omitempty"`  // it got another input
	Unsure   string  `json:"unsure,omitempty"`   // why Decision is not known; "" = it is
}

// NewInputBytes is how long NewInput is at most.
const NewInputBytes = 16 << 10

// Word returns the Outcome of d.
func (d *Decision) Word() Outcome {
	if d.Guarded == GuardedDisobeyed {
		return OutcomeDisobeyed
	}
	return d.said()
}

// Words are the words that d is found and counted by. A call that was denied and ran all the same is
// a denial, and disobeyed.
func (d *Decision) Words() []Outcome { return WordsOf(d.said(), d.Guarded) }

// WordsOf returns the words of a decision by its Outcome without a look at guarded: that one, and a
// second where hookd was not asked, or not obeyed.
func WordsOf(said Outcome, guarded Guarded) []Outcome {
	if is := Outcome(guarded); is != said && (is == OutcomeDisobeyed || is == OutcomeNotAsked) {
		return []Outcome{said, is}
	}
	return []Outcome{said}
}

// said is the decision in a word, whether or not it was obeyed.
func (d *Decision) said() Outcome {
	switch {
	case d.Guarded == GuardedNotAsked && d.Decision == OutcomeNone && len(d.Rewrote) == 0:
		return OutcomeNotAsked
	case d.Decision != OutcomeAllow && d.Decision != OutcomeNone, len(d.Rewrote) == 0:
		return d.Decision
	case len(d.Rewrote) > 1 || d.Rewrote[0] != "context":
		return OutcomeRewrite
	case d.Decision == OutcomeNone:
		return OutcomeContext
	}
	return d.Decision
}

// Hear puts into the record the answer that the agent was told; t is complete.
func (d *Decision) Hear(t Told) {
	d.Told = &t
	if t.Unsure != "" {
		return
	}
	if !t.Rewrote {
		d.Contained, d.Opened = "", nil
	} else if d.Decision == OutcomeContain && (t.Decision == OutcomeAllow || t.Decision == OutcomeNone) {
		return // it was allowed in the box; some agents take a new input without a decision
	}
	if d.Decision != OutcomeAllow || t.Decision != OutcomeNone { // an agent that takes no allow asks its own rules
		d.Decision = t.Decision
	}
	if input := slices.Index(d.Rewrote, "input"); input >= 0 && !t.Rewrote {
		d.Rewrote = slices.Delete(slices.Clone(d.Rewrote), input, input+1)
		d.NewInput, d.NewSubject = nil, ""
		if d.Decision == OutcomeNone && len(d.Rewrote) == 0 {
			d.DecidedBy = nil
		}
	}
}

// Shadowed is the decision that a hook would have made if it counted.
type Shadowed struct {
	Hook     string   `json:"hook"`
	Decision Outcome  `json:"decision"`
	Reason   string   `json:"reason,omitempty"`
	Rewrote  []string `json:"rewrote,omitempty"`
}

// Hooks are the hooks that made the decision, and the hooks that watched.
func (d *Decision) Hooks() []string {
	hooks := slices.Clone(d.DecidedBy)
	for _, s := range d.Shadow {
		hooks = append(hooks, s.Hook)
	}
	return hooks
}

// AppendJSON appends the record's members, except for seq, without braces.
func (d *Decision) AppendJSON(dst []byte) []byte {
	dst = rawjson.AppendString(rawjson.AppendKey(dst, "event_id"), d.EventID)
	dst = rawjson.AppendInt(dst, "event_seq", int64(d.EventSeq))
	dst = append(rawjson.AppendKey(dst, "time"), '"')
	dst = append(rawjson.AppendTime(dst, d.Time), '"')
	dst = rawjson.AppendString(rawjson.AppendKey(dst, "event"), d.Event)
	dst = rawjson.AppendString(rawjson.AppendKey(dst, "kind"), string(d.Kind))
	dst = rawjson.AppendText(dst, "dialect", string(d.Dialect))
	dst = rawjson.AppendText(dst, "agent_id", d.AgentID)
	dst = rawjson.AppendText(dst, "agent_name", d.AgentName)
	dst = rawjson.AppendText(dst, "session_id", d.SessionID)
	dst = rawjson.AppendText(dst, "cwd", d.Cwd)
	dst = rawjson.AppendText(dst, "tool", d.Tool)
	dst = rawjson.AppendText(dst, "subject", d.Subject)
	dst = rawjson.AppendText(dst, "guarded", string(d.Guarded))
	if d.Ran != nil {
		dst = appendValue(dst, "ran", d.Ran)
	}
	dst = rawjson.AppendString(rawjson.AppendKey(dst, "outcome"), string(d.Word()))
	dst = rawjson.AppendString(rawjson.AppendKey(dst, "decision"), string(d.Decision))
	dst = rawjson.AppendText(dst, "reason", d.Reason)
	return d.AppendDetail(dst)
}

// AppendDetail appends the members that nothing is looked up by.
func (d *Decision) AppendDetail(dst []byte) []byte {
	dst = appendTexts(dst, "decided_by", d.DecidedBy)
	dst = appendTexts(dst, "rewrote", d.Rewrote)
	dst = rawjson.AppendText(dst, "call_id", d.CallID)
	dst = rawjson.AppendText(dst, "call_sum", d.CallSum)
	dst = rawjson.AppendTrue(dst, "tried", d.Tried)
	dst = rawjson.AppendText(dst, "part_of", d.PartOf)
	dst = rawjson.AppendText(dst, "judge", d.Judge)
	if d.NewInput != nil {
		dst = append(rawjson.AppendKey(dst, "new_input"), d.NewInput...)
	}
	dst = rawjson.AppendText(dst, "new_subject", d.NewSubject)
	dst = rawjson.AppendText(dst, "contained", d.Contained)
	dst = appendTexts(dst, "opened", d.Opened)
	if d.Told != nil {
		dst = appendValue(dst, "told", d.Told)
	}
	if d.Answered != nil {
		dst = appendValue(dst, "answered", d.Answered)
	}
	if len(d.Shadow) > 0 {
		dst = appendValue(dst, "shadow", d.Shadow)
	}
	if d.Kept != nil {
		dst = appendValue(dst, "undo", d.Kept)
	}
	dst = appendTexts(dst, "untaken", d.Untaken)
	dst = strconv.AppendFloat(rawjson.AppendKey(dst, "duration_ms"), d.DurationMS, 'f', -1, 64)
	dst = appendTexts(dst, "earlier", d.Earlier)
	if d.Missing != nil {
		dst = appendValue(dst, "missing", d.Missing)
	}
	return appendTexts(dst, "runs", d.Runs)
}

func appendTexts(dst []byte, name string, list []string) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = append(rawjson.AppendKey(dst, name), '[')
	for i, text := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, text)
	}
	return append(dst, ']')
}

func appendValue(dst []byte, name string, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return dst // texts alone: it cannot fail
	}
	return append(rawjson.AppendKey(dst, name), text...)
}
