package wire

import (
	"encoding/json"
	"time"
)

// Ask is a question that a hook asked and that hookd holds until a person answers.
type Ask struct {
	ID        string          `json:"id"`
	EventID   string          `json:"event_id"`
	Event     string          `json:"event"`
	Hook      string          `json:"hook"`            // the first that asked
	Hooks     []string        `json:"hooks,omitempty"` // all that asked, if there are several
	Reason    string          `json:"reason"`          // in the words of the hooks; may have lines
	Agent     string          `json:"agent"`           // what people call it: its name, else its dialect
	AgentID   string          `json:"agent_id,omitempty"`
	Dialect   Dialect         `json:"dialect,omitempty"`
	SessionID string          `json:"session_id,omitempty"`
	Cwd       string          `json:"cwd,omitempty"`
	Tool      string          `json:"tool,omitempty"`    // canonical name
	Subject   string          `json:"subject,omitempty"` // one harmless line without secrets, 256 bytes at most
	Input     json.RawMessage `json:"input,omitempty"`   // the arguments that the tool will get
	Bytes     int             `json:"bytes,omitempty"`   // of input
	Rewrote   bool            `json:"rewrote,omitempty"` // hooks have changed the input
	Tried     bool            `json:"tried,omitempty"`   // a person tries hooks: nothing runs
	Card      *Card           `json:"card,omitempty"`    // what people are shown; nil = it has ended
	Since     time.Time       `json:"since"`
	Until     time.Time       `json:"until"` // without an answer it ends then
	Answered  *Answered       `json:"answered,omitempty"`
}

// Ends of a question.
const (
	ByPerson  = "person"
	ByGrant   = "grant"   // an answer that was remembered
	ByPermit  = "permit"  // a person let the same call pass after a denial
	ByTimeout = "timeout" // no answer came in time: the agent's own way
	ByRestart = "restart" // the daemon ended: the agent's own way
	ByGone    = "gone"    // the agent that asked has ended
)

// Answered is the outcome of a question that a hook asked.
type Answered struct {
	By      string    `json:"by"`                // person, grant, permit, timeout, restart or gone
	ID      string    `json:"id,omitempty"`      // of the grant that answered, or that this answer has made
	AskID   string    `json:"ask_id,omitempty"`  // "" = it was not held: a grant answered it
	Answer  Outcome   `json:"answer,omitempty"`  // allow or deny; "" = none came
	For     string    `json:"for,omitempty"`     // once, session, always, or a time such as 15m
	Like    string    `json:"like,omitempty"`    // the glob that the answer is remembered for
	Message string    `json:"message,omitempty"` // to the agent
	From    *Answerer `json:"from,omitempty"`    // of a grant: whose answer it remembers
	Time    time.Time `json:"time"`
	HeldMS  float64   `json:"held_ms,omitempty"` // how long the call was held; 0 = it was not

	Refused []Refused `json:"refused,omitempty"` // the first MostRefused answers that did not count
}

// Answerer is the process that gave an answer, as the kernel knows it.
type Answerer struct {
	User    string `json:"user,omitempty"` // name of the user; "" = it has none
	UID     int    `json:"uid"`
	PID     int    `json:"pid"`
	Program string `json:"program,omitempty"` // path; "" = unknown
	Door    string `json:"door"`              // what the process calls itself: terminal, command, page, …; else socket
}

// MostRefused is how many refused answers an Answered has at most.
const MostRefused = 8

// Refused is an answer that did not count, and why.
type Refused struct {
	From   Answerer  `json:"from"`
	Answer Outcome   `json:"answer"`
	Why    string    `json:"why"`
	Time   time.Time `json:"time"`
}

// Grant is an answer that is remembered: it answers the same question of the same
// hook, while that does not change.
type Grant struct {
	ID        string    `json:"id"`
	Hook      string    `json:"hook"`    // name, for people
	HookID    string    `json:"hook_id"` // unique among all hooks
	Digest    string    `json:"digest"`  // of the hook: with another one the grant is void
	Answer    Outcome   `json:"answer"`  // allow or deny
	Tool      string    `json:"tool"`    // canonical name
	OwnTool   string    `json:"own_tool"`
	Subject   string    `json:"subject"`        // of the call that was answered, for people
	Like      string    `json:"like,omitempty"` // the glob that covers other calls; "" = the same call alone
	Call      string    `json:"call"`           // digest of what must be the same in a call
	Dialect   Dialect   `json:"dialect"`
	SessionID string    `json:"session_id,omitempty"` // of the only session; "" = of all
	Cwd       string    `json:"cwd"`                  // of the only folder
	Opens     []string  `json:"opens,omitempty"`      // ways out that it opens for boxes of the session that was asked about
	UID       *int      `json:"uid,omitempty"`        // of the only user, on the system daemon; nil elsewhere
	Scope     string    `json:"scope"`                // once (of a permit), session, always, or a time such as 15m
	Made      time.Time `json:"made"`
	Until     time.Time `json:"until,omitzero"` // zero = until it is revoked
	From      Answerer  `json:"from"`
	EventID   string    `json:"event_id"` // of the question that was answered
	Message   string    `json:"message,omitempty"`
	Permit    bool      `json:"permit,omitempty"` // it lifts a denial of its hook, too

	Uses int       `json:"uses"` // since the daemon started
	Last time.Time `json:"last,omitzero"`
	Void string    `json:"void,omitempty"` // why it answers nothing any more; "" = it does
}
