package neutral

import (
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// System is one system whose events hookd knows: all that package dialect needs of its
// folder. Functions build their results, so that a program which asks for one system
// does not pay for the others.
type System struct {
	Name   events.Dialect
	Events func() []events.Contract // its rows of the contract table
	// Captured: see events.Column.
	Captured bool
	// Agent is its side of the bridge. Nil = no agent sends these events.
	Agent func() Agent
	// Words are the words in which its own hooks answer, beside the common ones. Nil = it
	// has none.
	Words func() []verdict.Word
	// Settings is where it keeps hooks. Nil = hookd cannot be connected to it.
	Settings func() Settings
	// Guest is how its agent runs the hooks of another one's settings. Nil = it does not.
	Guest *Guest
	// Probe is the event that `hookd doctor` sends as a command that does nothing. A system
	// without Settings needs none.
	Probe string
	// Probes are of kinds of call that come with another event, or whose payload the tables
	// of fields and tools do not make.
	Probes []Probe
	// MCPTool is its name for the tool probe of the MCP server hookd. "" = not known, or
	// Probes has such a call.
	MCPTool string
	// Canonical: its names of tools are the canonical names, except the names in its table.
	Canonical bool
	// Unreported has the kinds of call for which its agent sends no event, and why.
	Unreported map[CallKind]string
	// Ways says of kinds of call how their payload tells them from other calls, as captured: Untold, Lacked, the
	// argument of a BackCall, "name=value", or a part of an MCPCall's tool that no other tool has. Kinds without
	// an entry are told by the facts of its table.
	Ways map[CallKind]string
	// Inside says whether its subagents' calls are reported.
	Inside Inside
	// Rules are the rules of the hooks that its own files define. Nil = they have the rules
	// of hook folders.
	Rules *Rules
	// Observes: a hook is given its names where no other fits, and its answer is read by
	// their rows, and most of these rows have none.
	Observes bool
}
