// Package transcripts reads the tool calls that agents have written down about themselves: one
// file of this package for each agent, see the list in agents.go.
//
// It promises: each call is given once with its outcome, also where an agent writes it twice, in
// a fork or with a subagent; nothing of an agent is written, locked or opened in place where
// opening would write, so a database is read from a copy; memory is bounded whatever a file
// holds; a file that is broken, huge, half written or hostile costs no more than its own calls;
// no link below an agent's folder is followed, and no path that a transcript names is opened.
//
// It does not promise the agents' formats, which change without notice: a line of an unknown
// form is skipped. A transcript is text that agents can forge: nothing in it is proof.
package transcripts

import (
	"encoding/json"
	"time"

	"github.com/hookd/hookd/internal/events"
)

// CallEnd is how a call ended.
type CallEnd string

// The outcomes. The zero CallEnd: the transcript has no result of the call.
const (
	Ran    CallEnd = "ran"
	Failed CallEnd = "failed" // it ran, and said that it failed
	Denied CallEnd = "denied" // it did not run
)

// Decider is who decided whether a call may run.
type Decider string

// The deciders. The zero Decider is not known.
const (
	ByPerson  Decider = "person"
	ByHook    Decider = "hook"
	ByRule    Decider = "rule"    // of the agent's own settings, or its mode
	ByJudge   Decider = "judge"   // a model of the agent
	ByDefault Decider = "absence" // no person was there to ask
)

// Call is one tool call.
type Call struct {
	Agent    events.Dialect
	Session  string // of the root: a subagent's calls have its parent's, where the agent says so
	ID       string
	Time     time.Time // zero = not known, or far in the future
	Cwd      string    // absolute; "" = not known
	Root     string    // the folder that the session began in; "" = not known
	Tool     string    // as the agent calls it
	Input    json.RawMessage
	Subagent bool
	Outcome  CallEnd
	By       Decider
	Prompt   Prompt
	Turn     int // prompts of the file before it; 0 = none, or the agent's are not read
}

// Prompt is a person's answer to a question about a call.
type Prompt struct {
	Asked     bool
	Yes       bool
	Estimated bool // the agent does not write questions down: how long it waited says so
}

// Prompts says how well an agent's transcripts tell when a person was asked.
type Prompts string

// The words for it.
const (
	Counted   Prompts = "counted"   // each question is written down
	Estimated Prompts = "estimated" // guessed from waits, and from calls that were stopped
	Unknown   Prompts = "unknown"   // refusals at most
)

// clockError is how far in the future the time of a call may be.
const clockError = 24 * time.Hour

// Limits of reading. Anything over them is skipped and counted.
const (
	maxLine    = 8 << 20 // bytes of a line, and of a row
	maxFile    = 2 << 30
	maxInput   = 1 << 20  // bytes of the arguments of a call
	maxPending = 4096     // calls of a file that wait for their result
	maxHeld    = 16 << 20 // bytes of their arguments
	maxFiles   = 200_000  // of an agent
)
