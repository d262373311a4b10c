// Package early asks hookd for the answer to an agent's call before Go's runtime starts.
//
// Go's start takes four times as long as hookd's verdict, and an agent waits for both at each tool call. So
// the linker makes start, a few lines of assembly, the first code of hookd-bridge. It runs begin, which connects to
// hookd, hands the call over as it came, and writes the answer: a dozen calls of the system. hookd has the
// rest of the bridge, package bridge, and runs it.
//
// Whatever is not usual is left to the bridge itself, which then starts as if nothing had been: no hookd, another
// user's, a system daemon, a large or incomplete payload, text that needs quoting, a flag that begin does not
// know. What has been read or sent until then is not lost: see Payload and Sent.
//
// Without `-ldflags '-E github.com/hookd/hookd/internal/agents/early.start'`, or on a system that has no start
// here, the package does nothing.
package early

import "os"

// Variables are the variables of the environment that are handed over, with their signs: those that package bridge
// asks for.
var Variables = [...]string{"CLAUDE_CODE_ENTRYPOINT=", "DEVIN_PROJECT_DIR="}

// Payload returns what begin has read of stdin; it is empty where begin did not run.
func Payload() []byte { return payload() }

// Sent returns the connection that the call went by, and what has come of its answer; false = the call was not
// handed over. hookd may have it from then on: it must not be sent again.
func Sent() (conn *os.File, answer []byte, ok bool) { return sent() }
