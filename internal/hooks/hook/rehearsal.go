package hook

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/hookd/hookd/internal/events"
)

// Test is one element of a hook's `tests`: an event, and the answer that the hook is to give.
type Test struct {
	Name    string          // "" = by its place
	Line    int             // in the hook's file
	Event   string          // "" = the hook's first
	Tool    string          // canonical, or the agent's own; "" = by Data
	Cwd     string          // "" = none
	Dialect events.Dialect  // "" = the first that knows the event
	Data    json.RawMessage // the payload, or of it only what matters: the arguments of the tool
	Expect  string          // one of Expectations
	Reason  string          // the reason must have this text in it; "" = any
	Context string          // the context must; "" = any
	Given   []Given         // what happened before, the oldest first
}

// Given is something that happens before a test: a call, or a prompt.
type Given struct {
	Tool    string          // of a call; "" = by Data
	Data    json.RawMessage // arguments of the call
	Prompt  string          // what a person typed; "" = it is a call
	Start   bool            // a session starts
	OK      string          // how the call ended: true, false or unknown
	Denied  bool            // it was denied
	Running bool            // it has not ended
	Times   int             // that it happens; 0 = 1
	Ago     time.Duration   // before the test; 0 = just now
	Session string          // "" = that of the test
}

// The answers that a test may expect.
const (
	ExpectDeny    = "deny"
	ExpectAsk     = "ask"
	ExpectContain = "contain" // it runs in a box
	ExpectAllow   = "allow"   // it says yes, which an agent need not confirm
	ExpectNone    = "none"    // it says nothing, or does not run
	ExpectRewrite = "rewrite" // it changes the input, the result or the messages
)

// Expectations returns the answers that a test may expect.
func Expectations() []string {
	return []string{ExpectDeny, ExpectAsk, ExpectContain, ExpectAllow, ExpectNone, ExpectRewrite}
}

// Rate is how often a hook runs at most: Runs in each Per. The zero Rate is no limit.
type Rate struct {
	Runs int
	Per  time.Duration
}

// String is the rate as it is written; "" = no limit.
func (r Rate) String() string {
	if r.Runs == 0 {
		return ""
	}
	return strconv.Itoa(r.Runs) + "/" + r.Per.String()
}

// IsWarm reports whether the hook's workers start when it is loaded and not at the
// first event: by its setting, else if it guards.
func (h *Hook) IsWarm() bool {
	if !h.Persistent {
		return false
	}
	if h.Warm != nil {
		return *h.Warm
	}
	return h.WouldGuard()
}
