package connect

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// missing is the text that the model reads when a call's bridge is gone, cannot be executed or crashed.
const missing = "hookd-bridge is missing or broken, so this was not checked: denied"

// guard is the shell text behind a call of the bridge. It denies an event where the bridge is gone,
// cannot be executed or crashed: in the agent's own words, for its shell. "" = the event guards
// nothing, or the agent starts no shell.
func (a *agent) guard(event string) string {
	row, speaker := events.LookupIn(a.name, event), dialect.Agent(a.name)
	if !a.Shell || row == nil || !row.FailClosed || speaker == nil || speaker.Answer == nil {
		return ""
	}
	if speaker.DenyExit != 0 {
		return fmt.Sprintf(" || { echo '%s' >&2; exit %d; }", missing, speaker.DenyExit)
	}
	reply := speaker.Answer(neutral.Asked{
		Event: event, Payload: json.RawMessage("{}"), Verdict: &verdict.Verdict{Continue: true, Message: missing},
	})
	if strings.ContainsAny(reply.Stdout, "'\n") {
		return ""
	}
	return fmt.Sprintf(" || { printf '%%s\\n' '%s'; exit %d; }", reply.Stdout, reply.Exit)
}

// guarded is a call of the bridge with a guard, of any version.
var guarded = regexp.MustCompile(`^(.*?)( \|\| \{ (?:echo|printf '%s\\n') '[^'\n]*'(?: >&2)?; exit [0-9]+; \})\s*$`)

// cutGuard splits a line into the call and its guard.
func cutGuard(line string) (call, guard string) {
	if m := guarded.FindStringSubmatch(line); m != nil {
		return m[1], m[2]
	}
	return line, ""
}

// unguarded reports whether the guards in the settings differ from the guards that the calls are to have.
func (t *target) unguarded(have []registration) bool {
	for _, h := range have {
		if h.call.isCommand() && h.call.guard != t.guardOf(h.event, t.flags(h.call.args)) {
			return true
		}
	}
	return false
}

// guardOf is the guard of a call with these arguments.
func (t *target) guardOf(event string, args []string) string {
	if !(call{args: args}).failClosed() {
		return ""
	}
	return t.agent.guard(event)
}

// Guards reports whether an agent asks hooks about a call with an event of that name.
func Guards(agent, event string) bool {
	row := events.LookupIn(events.Dialect(agent), event)
	return row != nil && row.FailClosed
}
