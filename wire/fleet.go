package wire

import "time"

// Fleet answers GET /v1/fleet: this machine as one of a fleet, and all of them.
type Fleet struct {
	Machine   string         `json:"machine"` // this one
	Tenant    string         `json:"tenant"`
	Connected bool           `json:"connected"`
	Server    string         `json:"server,omitempty"` // that answered last
	Since     time.Time      `json:"since"`            // when the connection came or went
	Error     string         `json:"error,omitempty"`  // what went wrong last
	Outbox    FleetOutbox    `json:"outbox"`
	Events    FleetEvents    `json:"events"`
	Dead      int            `json:"dead"`                // events that no machine took
	Machines  []FleetMachine `json:"machines"`            // in the order of their names; none while no server answers
	Directive *Directive     `json:"directive,omitempty"` // the newest that this machine has taken; nil = none
	Unread    string         `json:"unread,omitempty"`    // why the others are not known; "" = they are
}

// FleetOutbox counts the records that wait on this machine for the servers.
type FleetOutbox struct {
	Events    int        `json:"events"`
	Bytes     int64      `json:"bytes"`
	Oldest    *time.Time `json:"oldest,omitempty"`
	Decisions int        `json:"decisions"`         // 10,000 at most
	Refused   int        `json:"refused,omitempty"` // events that the servers never take
	Why       string     `json:"why,omitempty"`     // of the last of them
}

// FleetLag is how this machine is in its fleet, without the others.
type FleetLag struct {
	Tenant    string      `json:"tenant"`
	Machine   string      `json:"machine"`
	Connected bool        `json:"connected"`
	Since     time.Time   `json:"since"`           // when the connection came or went
	Error     string      `json:"error,omitempty"` // what went wrong last
	Outbox    FleetOutbox `json:"outbox"`
	Unread    string      `json:"unread,omitempty"` // why the outbox is not known; "" = it is
}

// FleetEvents counts since the start of the daemon.
type FleetEvents struct {
	Sent    uint64 `json:"sent"`
	Taken   uint64 `json:"taken"`   // of other machines, accepted here
	Doubles uint64 `json:"doubles"` // came again after they were accepted
	Again   uint64 `json:"again"`   // were given to some machine before
	Skipped uint64 `json:"skipped"` // were not for a hook of this machine, or it could not take them then
	Refused uint64 `json:"refused"` // were not what they should be
}

// FleetMachine is one machine, as it reported last.
type FleetMachine struct {
	Machine   string     `json:"machine"`
	Time      time.Time  `json:"time"`               // when it reported, by the clock of the machine that asks
	ClockMS   int64      `json:"clock_ms,omitempty"` // its clock is ahead of the clock of the machine that asks; negative = behind
	Away      bool       `json:"away"`               // it has reported nothing for some minutes
	Version   string     `json:"version"`
	Started   time.Time  `json:"started"`
	Hooks     int        `json:"hooks"`             // that run
	Failing   []string   `json:"failing,omitempty"` // guards that do not work
	Policy    string     `json:"policy,omitempty"`  // NAME@SEQUENCE; "" = none is set
	Waiting   int        `json:"waiting"`           // events and decisions that it has yet to send
	Oldest    *time.Time `json:"oldest,omitempty"`  // of them
	Approvers []string   `json:"approvers,omitempty"`
	Rollout   *Rolled    `json:"rollout,omitempty"` // nil = it has taken no directive
	Trouble   string     `json:"trouble,omitempty"` // why its state cannot be relied on; "" = it can
}

// Rolled is the result on a machine of the newest directive that it took.
type Rolled struct {
	Directive uint64   `json:"directive"`        // its sequence
	Stage     string   `json:"stage,omitempty"`  // of the policy in force: enforce or canary; "" = it is not the fleet's
	Shadow    string   `json:"shadow,omitempty"` // NAME@SEQUENCE of what runs in the shadow; "" = nothing
	Off       []string `json:"off,omitempty"`    // hooks of the machine that are switched off
	Error     string   `json:"error,omitempty"`  // why it does not have what it is to have; "" = it has
}

// Directive is the order that all machines of a fleet are to follow, as an operator has
// signed it.
type Directive struct {
	Sequence uint64      `json:"sequence"`
	Time     time.Time   `json:"time"`
	By       string      `json:"by"`
	Key      string      `json:"key"`                // fingerprint of the key that signed it
	Enforced string      `json:"enforced,omitempty"` // NAME@SEQUENCE for all machines; "" = none
	Previous string      `json:"previous,omitempty"` // enforced before
	Next     string      `json:"next,omitempty"`     // on trial
	Stage    string      `json:"stage,omitempty"`    // of Next: shadow or canary
	Percent  int         `json:"percent,omitempty"`  // of the machines, for canary
	Off      []SwitchOff `json:"off"`                // by name of the hook
}

// SwitchOff is a hook that is switched off on all machines.
type SwitchOff struct {
	Hook     string    `json:"hook"`
	Revision uint64    `json:"revision,omitempty"` // sequence of the only bundle in which it is off; 0 = all
	Reason   string    `json:"reason"`
	By       string    `json:"by"`
	Time     time.Time `json:"time"`
}

// FleetDecision is a decision of one machine. Its seq is that machine's.
type FleetDecision struct {
	Machine  string   `json:"machine"`
	Decision Decision `json:"decision"`
}

// FleetDecisions answers GET /v1/fleet/decisions, newest first.
type FleetDecisions struct {
	Decisions []FleetDecision `json:"decisions"`
	Through   uint64          `json:"through"` // the fleet's number of the newest that was looked at: go on after it
}

// FleetQuery selects decisions of all machines: as of one, and by machine. After 0 it looks
// at the decisions since DecisionQuery.Since, of the last day where that is zero.
type FleetQuery struct {
	DecisionQuery
	Machine string // list by comma; "" = all
	After   uint64 // FleetDecisions.Through of the answer before; 0 = none
}

// FleetSession is a session of one machine.
type FleetSession struct {
	Machine string  `json:"machine"`
	Session Session `json:"session"`
}

// FleetSessions answers GET /v1/fleet/sessions, the session with the newest event
// first.
type FleetSessions struct {
	Sessions []FleetSession `json:"sessions"`
}

// FleetAsk is an ask of one machine.
type FleetAsk struct {
	Machine string `json:"machine"`
	Ask     Ask    `json:"ask"`
	About   string `json:"about"` // digest of what is asked, which an approver signs
}

// FleetAsks answers GET /v1/fleet/asks: the asks of all machines that wait, the oldest
// first.
type FleetAsks struct {
	Asks []FleetAsk `json:"asks"`
}

// FleetAnswer is the body of POST /v1/fleet/answers: the answer of an approver to an ask of
// another machine.
type FleetAnswer struct {
	Text      []byte `json:"text"`      // FleetStatement as JSON, as it was signed
	Signature []byte `json:"signature"` // ed25519, over FleetSigned and the text
}

// FleetSigned stands before the text that is signed, so that the signature fits nothing
// else.
const FleetSigned = "hookd-answer-1\n"

// FleetStatement is the statement of an approver.
type FleetStatement struct {
	Tenant  string    `json:"tenant"`
	Machine string    `json:"machine"` // that asks
	Ask     string    `json:"ask"`     // id
	About   string    `json:"about"`   // digest of what was asked
	Answer  Outcome   `json:"answer"`  // allow or deny
	Message string    `json:"message,omitempty"`
	Until   time.Time `json:"until"` // it counts before this time: that of the ask
	Time    time.Time `json:"time"`
}
