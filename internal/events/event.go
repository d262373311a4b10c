// Package events is hookd's vocabulary: event names and kinds, the one contract table
// that says which facts each event carries and which decisions it can take, the
// envelope in which a sender wraps an event, and the records that the rest of the
// daemon passes around. It parses, checks, looks up and makes ids, and does nothing
// else: it never blocks, and an event that it refuses comes back as an Error with a
// hint. The table never changes while the program runs, and ids grow in the order in
// which they are made; there is no other state. The consequence of an event is not
// decided here.
package events

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/hookd/hookd/wire"
)

// Envelope is an event as a sender writes it. Only Event is required.
type Envelope struct {
	Event      string          `json:"event"`
	Data       json.RawMessage `json:"data,omitempty"` // an object; absent means {}
	Wait       bool            `json:"wait,omitempty"`
	ID         string          `json:"id,omitempty"` // the sender's own, for de-duplication
	SessionID  string          `json:"session_id,omitempty"`
	AgentID    string          `json:"agent_id,omitempty"`
	AgentName  string          `json:"agent_name,omitempty"`
	Cwd        string          `json:"cwd,omitempty"`
	Sender     string          `json:"sender,omitempty"`
	Dialect    Dialect         `json:"dialect,omitempty"`
	Lane       string          `json:"lane,omitempty"`       // "", "default" or "preempt"
	TimeoutMS  int64           `json:"timeout_ms,omitempty"` // budget of the event, 0 = by its hooks
	Parent     string          `json:"parent,omitempty"`     // event_id of the event whose hook emitted this one
	Unattended bool            `json:"unasked,omitempty"`    // the agent runs without a person: it takes an ask for a denial
	Tried      bool            `json:"tried,omitempty"`      // a person tries hooks with it: it is no call of an agent
	Tells      bool            `json:"tells,omitempty"`      // the sender says on its connection what the agent heard of the verdict

	// W3C trace context, from the headers of these names; not kept on disk
	Traceparent string `json:"-"`
	Tracestate  string `json:"-"`

	At         time.Time `json:"-"` // when it came, if that was just now; zero = now
	AgentNamed bool      `json:"-"` // agent_name stood in the envelope, not only in data
	Warnings   []string  `json:"-"` // what was tolerated, for the sender
	Peer       *Peer     `json:"-"` // the process that sent it, for its hooks; nil = they do not get it
	Hearing    *Hearing  `json:"-"` // of an event that Tells; nil = its sender cannot be heard
	Peerless   bool      `json:"-"` // Data was read, and has no member that is taken for PeerKey
	Owned      bool      `json:"-"` // Data has memory of its own, which nothing else will use
	Unclear    string    `json:"-"` // it had what hooks do not see as it was sent; "" = they see all of it
	Past       any       `json:"-"` // what happened before a trial: a dispatch.Past; nil = nothing
	Brought    *Brought  `json:"-"` // the event is another machine's; nil = it is of this one
}

// Sent returns the fields of e that a sender writes.
func (e *Envelope) Sent() wire.Envelope {
	return wire.Envelope{
		Event: e.Event, Data: e.Data, Wait: e.Wait, ID: e.ID,
		SessionID: e.SessionID, AgentID: e.AgentID, AgentName: e.AgentName, Cwd: e.Cwd, Sender: e.Sender,
		Dialect: e.Dialect, Lane: e.Lane, TimeoutMS: e.TimeoutMS, Parent: e.Parent,
		Unattended: e.Unattended, Tried: e.Tried,
		Tells: e.Tells,
	}
}

// Received returns an envelope with the fields that a sender wrote.
func Received(e wire.Envelope) Envelope {
	return Envelope{
		Event: e.Event, Data: e.Data, Wait: e.Wait, ID: e.ID,
		SessionID: e.SessionID, AgentID: e.AgentID, AgentName: e.AgentName, Cwd: e.Cwd, Sender: e.Sender,
		Dialect: e.Dialect, Lane: e.Lane, TimeoutMS: e.TimeoutMS, Parent: e.Parent,
		Unattended: e.Unattended, Tried: e.Tried,
		Tells: e.Tells,
	}
}

// Brought says where an event comes from that the fleet brought, and for which hook.
type Brought struct {
	Machine string
	EventID string // of the event there
	Hook    string // name of the only hook that it is for
	Depth   int    // that it had there
}

// Peer is the process that sent an event, as the kernel said when it connected. Hooks
// find it in their data, under PeerKey, and in variables.
type Peer struct {
	UID     int    `json:"uid"`
	PID     int    `json:"pid"`
	Program string `json:"program,omitempty"` // path of what it executes, or its short name; "" = unknown
}

// PeerKey is the member of an event's data that has its Peer.
const PeerKey = "hookd_peer"

// IsPeerKey reports whether readers of JSON may take a member's name for PeerKey: many take one case for the
// other.
func IsPeerKey(name string) bool {
	return len(name) >= len(PeerKey) && strings.EqualFold(name, PeerKey)
}

// Event is an accepted event. It is never changed after it was accepted.
type Event struct {
	Envelope
	EventID  string
	Seq      uint64
	Time     time.Time
	ReplayOf string    // id of the event that this one repeats; "" = none
	Machine  string    // of the fleet, that the event is of; "" = this one
	Tool     string    // canonical name of the tool that it is about; "" = none
	Subject  string    // what it is about, on one harmless line without secrets; "" = nothing to say
	CallID   string    // id of the tool call, as its agent counts them; "" = it is about none, or tells none
	ByAgent  bool      // a prompt that no person has typed: an agent wrote it to a subagent, or to itself
	Unread   bool      // Tool and Subject were not looked up yet, since nothing asked for them
	Trial    bool      // it is only there for a hook, or the way to it, to be tried: in no list
	Judged   bool      // hooks decide about it: it is kept with the decision, however many come at once
	Depth    int       // 0 from an agent, 1 from a hook that ran for such an event, …
	Contract *Contract // row of the emitted name; never nil
	Project  string    // root of the working tree that its cwd is in, where hooks ask for that; "" = unknown
	Before   any       // what happened before it, for hooks that look back; nil = nothing is known
	Sent     *Sent     // what distinguishes it from other events with its id; nil = it has no id
}

// ProbeSession is the session of the events by which `hookd doctor` looks whether an agent's
// events arrive. They reach hooks as any other; the results of Tried events are marked as a
// test, and are in no list, count or metric.
const ProbeSession = "hookd-doctor"

// Lanes of pre_tool_use.
const (
	LaneDefault = "default"
	LanePreempt = "preempt"
)
