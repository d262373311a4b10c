// Package early asks hookd for the answer to an agent's call before Go's runtime starts.
//
// Go's start takes four times as long as hookd's verdict, and an agent waits for both at each tool call. So the linker
// makes start, some lines of assembly, the first code of hookd-bridge. start calls begin, which connects to hookd,
// hands the call over as it came, and writes hookd's answer: a dozen system calls. hookd runs the rest of the
// bridge in its own process: bridge.Serve. For a box by Landlock hookd makes the plan, begin starts the program in it,
// and Go, which starts meanwhile, does the rest: bridge.PlanBox.
//
// Everything unusual is left to the bridge, whose Go then starts as always: no hookd, another user's hookd, a system
// daemon, a payload that is large, incomplete or on several lines, text with escapes, an unknown flag. Bytes that
// were read or sent are not lost: see Payload and Sent.
//
// Without the linker's flag of packaging/entry.sh, or on a system without a start here, the package does nothing.
package early

import (
	"os"

	"github.com/hookd/hookd/internal/run/box"
)

// Variables are the variables of the environment that are handed over, with their signs. Package bridge asks for no
// others.
var Variables = [...]string{"CLAUDE_CODE_ENTRYPOINT=", "DEVIN_PROJECT_DIR="}

// Left are the first arguments of command lines that are left to the bridge, with the zero behind them: commands, and
// agents that call twice for one event or write it into the environment.
var Left = [...]string{
	"-", "help\x00", "version\x00",
	"copilot\x00", "cursor\x00", "devin\x00", "grok\x00", "librefang\x00", "vscode\x00",
}

// Box returns the box that hookd has planned and begin has begun, and the rest of its plan: box.Rest in JSON. False =
// no box was planned.
func Box() (rest []byte, b box.Begun, ok bool) { return begun() }

// Payload returns the bytes that begin has read from stdin; it is empty where begin did not run.
func Payload() []byte { return payload() }

// Sent returns the connection of a call that was handed over, and the bytes of its answer so far. Such a call must not
// be sent again: hookd may have it. False = the call was not handed over.
func Sent() (conn *os.File, answer []byte, ok bool) { return sent() }
