package neutral

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/events"
)

// Agent is one agent's side of the bridge: how its payloads are read and how it is
// answered. The zero value of a field means that the agent cannot do that.
type Agent struct {
	Table Table

	// EventField is the payload's field that names the event, or several fields, separated
	// by blanks, and a payload has one; "" = only the bridge's argument does.
	EventField string
	// Variables has the event's name and its payload where the agent writes them into
	// its hooks' environment and not to stdin.
	Variables Variables
	// EventWords are other names of events in EventField: "word=name",
	// separated by blanks.
	EventWords string
	// CwdVariable is the variable of its hooks' environment that has the current directory,
	// where its payloads have no cwd; "" = none.
	CwdVariable string
	// Timeout is how long the agent waits for the bridge, where its settings
	// say nothing else.
	Timeout func(event string) time.Duration
	// Asks names the events on which the agent can ask a person; elsewhere an
	// "ask" becomes a denial.
	Asks string
	// Defers reports whether the agent will ask again, with another event,
	// for the same call, so that an "ask" can wait for that. Nil = never.
	Defers func(event string, payload json.RawMessage) bool
	// Headless reports, by the environment that the agent gives its hooks, whether it
	// runs without a person. Nil = that is not known.
	Headless func(getenv func(string) string) bool
	// Unattended reports, by the same environment, whether it takes an ask for a denial, since it
	// runs without a person. Nil = it asks.
	Unattended func(getenv func(string) string) bool
	// UnattendedFlags has the flags of its command line, separated by blanks, with which it is
	// unattended, where its hooks' environment does not say so. "" = there are none.
	UnattendedFlags string
	// DenyExit is the exit code with which a hook command denies, whatever else it says, as seen; 0 = none
	// is known.
	DenyExit int
	// Quiet: the text on stderr may be taken for an answer.
	Quiet bool
	// Breaks: an exit code other than 0 denies, also that of a usage error.
	Breaks bool
	// ResultField is the after-tool payload's field that holds the result, and
	// Replaces reports whether the answer to the event can replace it.
	ResultField string
	Replaces    func(event string, payload json.RawMessage) bool
	// Foreign: its events have another dialect's names but not its fields, so the bridge
	// adds the fields.
	Foreign bool
	// OwnRule returns a rule of the agent's own settings that is, or may be, about a shell line,
	// where the agent would hold the rule against the line that a hook has put in its place. "" = none
	// is. Nil = it has no such rules, or they are not known.
	OwnRule func(home, cwd, line string, look Looks) string
	// Pair names the call of an event that the agent sends twice, under two
	// names, and tells which of the two it is. "" = it stands alone. Nil = none.
	Pair func(event string, payload json.RawMessage) (call string, second bool)
	// Commands matches the line that the agent gives to a shell for a command of its model, as seen, and no
	// line of its own or of a hook. Its group is the command, quoted for a shell. Nil = no form says so.
	Commands func() *regexp.Regexp
	// ShowsRun: the event after a call has the input that ran, as seen. Else it may have the input that
	// the model wrote, which hooks have changed.
	ShowsRun bool
	// Skips reports the payloads that tell of nothing, which hookd is not sent. Nil =
	// each tells of something.
	Skips func(event string, payload json.RawMessage) bool
	// OfSubagent reports, by its payload, an event of a subagent. Nil = the facts say so, or nothing does.
	OfSubagent func(payload json.RawMessage) bool
	// OwnPrompt reports, by its payload, a prompt that the agent has written and no person, to itself or to a
	// subagent. Nil = the facts say so, or nothing does.
	OwnPrompt func(payload json.RawMessage) bool
	// Normal gives a payload the shape that the agent's row documents, where
	// the agent has sent others. Nil = it always has that shape.
	Normal func(event string, payload json.RawMessage) json.RawMessage
	// Noted names the file in which the agent notes how the command of an event ended that does not tell
	// it, and reads a line of the file: the exit code in JSON, nil in other lines. Nil, or no file = it
	// notes none.
	Noted func(event string, payload json.RawMessage) (file string, code func(line []byte) json.RawMessage)
	// Completed gives a hook's change of the input of the tool called own its
	// canonical names, and makes members that say one thing twice agree. Nil = a
	// change is as it is.
	Completed func(own string, change json.RawMessage) json.RawMessage
	// Answer writes the answer that the agent reads; pure. Nil = it has no hook commands, a
	// plugin speaks for it (internal/agents/bridge/shims).
	Answer func(Asked) Reply
	// Borrows is another dialect whose events the agent sends too: Borrowed answers these
	// events by the Answer of that dialect's agent. "" = it sends none.
	Borrows  events.Dialect
	Borrowed func(a Asked, answer func(Asked) Reply) Reply
	// PluginCan names the abilities of an agent without an Answer, separated by
	// ", ": see dialect.Abilities.
	PluginCan string
	// Fill adds facts that the system documents and other agents' events do not
	// tell: e is to be given as row. Nil = there are none.
	Fill func(f Facts, e *events.Event, row *events.Contract, since Since)
	// Nulls: documented fields that are not known are null, not absent.
	Nulls bool
}

// RunsUnattended reports whether the agent was started with one of UnattendedFlags: --prompt and
// --prompt=TEXT are one flag, -p may be the last of several letters.
func (a *Agent) RunsUnattended(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		for flag := range strings.FieldsSeq(a.UnattendedFlags) {
			letters, isShort := strings.CutPrefix(flag, "-")
			isShort = isShort && len(letters) == 1 && len(arg) > 1 && arg[0] == '-' && arg[1] != '-'
			if name == flag || isShort && strings.HasSuffix(arg, letters) && isWord(arg[1:]) {
				return true
			}
		}
		return false
	})
}

// isWord reports whether text has nothing but letters of ASCII.
func isWord(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r|0x20 < 'a' || 'z' < r|0x20 })
}

// HooksShare is how much of an agent's deadline its hooks get, in percent.
const HooksShare = 90

// Variables are the names of two variables of a hook's environment.
type Variables struct{ Event, Data string }

// Since returns how long ago the last prompt.submit of a session was, and
// whether there was one.
type Since func(session string) (time.Duration, bool)

// On returns a Replaces for the events of names.
func On(names string) func(string, json.RawMessage) bool {
	return func(event string, _ json.RawMessage) bool { return holds(names, event) }
}

// Always returns a Timeout that is the same for all events.
func Always(d time.Duration) func(string) time.Duration {
	return func(string) time.Duration { return d }
}

// EventName returns the event that a payload names, as its row does; "" if it
// names none.
func (a *Agent) EventName(payload json.RawMessage) string {
	for field := range strings.FieldsSeq(a.EventField) {
		if name := rawjson.StringIn(payload, field); name != "" {
			return cmp.Or(translated(name, a.EventWords, false), name)
		}
	}
	return ""
}

// Lazy compiles a regular expression at its first use: a bridge uses few, and starts for each call.
func Lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
