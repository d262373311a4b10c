package hook

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/hookd/hookd/internal/events"
)

// Test is one element of a hook's `tests`: an event, and what the hook is to answer.
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
}

// What a test may expect.
const (
	ExpectDeny    = "deny"
	ExpectAsk     = "ask"
	ExpectAllow   = "allow"   // it says yes, which an agent need not confirm
	ExpectNone    = "none"    // it says nothing, or does not run
	ExpectRewrite = "rewrite" // it changes the input, the result or the messages
)

// Expectations returns what a test may expect.
func Expectations() []string {
	return []string{ExpectDeny, ExpectAsk, ExpectAllow, ExpectNone, ExpectRewrite}
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
	return h.MayGuard()
}
