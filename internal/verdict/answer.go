package verdict

import (
	"encoding/json"

	"github.com/hookd/hookd/internal/events"
)

// Output is what a run left behind, as far as its answer needs it.
type Output struct {
	ExitCode int    // -1 when there is none
	Stdout   []byte // all of it, up to the limit of the event
	Stderr   []byte // the kept part
	Failure  string // not empty: the run failed before it could answer (timeout, spawn error, output over the limit), in words for people
}

// Policy is what the hook's definition says about its answers.
type Policy struct {
	Name         string // display name, used in messages
	Blocking     bool   // takes part in the verdict; else its answer is read for the record only
	OnError      string // "warn" (also ""), "ignore", "block"
	StrictOutput bool
}

// Answer is one hook's answer, read. The zero Answer is "no opinion".
type Answer struct {
	Policy   Policy
	Failure  string // why it is not an answer
	Warning  string // something odd that was tolerated; worth one WARN
	Blocked  bool   // exit 2, decision: block, continue: false, permission deny
	ExitCode int
	Stderr   string

	Continue           *bool
	StopReason         string
	SuppressOutput     bool
	SystemMessage      string
	Reason             string
	PermissionDecision string
	PermissionReason   string
	Context            []string
	UpdatedInput       json.RawMessage
	UpdatedResponse    json.RawMessage
	UpdatedMessages    json.RawMessage
	Summary            string
	Metadata           map[string]string
	Skip               bool
}

// Read reads the answer of one run of a hook that was given an event with
// contract c. It never fails: what cannot be read is an Answer with a Failure.
func Read(c *events.Contract, p Policy, out Output) Answer { panic("written by the verdict room") }

// Rewrite applies the answer's rewrite, if it has one that counts for c, to
// the event's payload, so that the next hook in sequence sees it. It returns
// data itself when there is nothing to rewrite.
func (a Answer) Rewrite(c *events.Contract, data json.RawMessage) json.RawMessage {
	panic("written by the verdict room")
}

// Fold merges the answers, which stand in registration order, into the
// verdict on an event with contract c and payload data (as emitted).
func Fold(c *events.Contract, data json.RawMessage, answers []Answer) *Verdict {
	panic("written by the verdict room")
}
