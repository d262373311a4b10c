package connect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/lazyregexp"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// missing is the text that the model reads when a call's bridge is gone, cannot be executed or crashed.
const missing = "hookd-bridge is missing or broken, so this was not checked: denied"

// fallback is the shell text behind a call of the bridge. It denies an event where the bridge is gone,
// cannot be executed or crashed: in the agent's own words, for its shell. "" = the event guards
// nothing, or the agent starts no shell.
func (a *agent) fallback(event string) string {
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

// MissedSuffix ends the name of the folder beside a socket that gets the calls whose bridge failed.
const MissedSuffix = ".missed"

// keeps is the shell text behind a call of the bridge that does not deny. It keeps the payload of a call where
// the bridge is gone, cannot be executed or crashed, for hookd to tell of. It reads once, as an agent may leave
// stdin open. "" = the event asks about no call, the agent starts no shell, or takes each failure for a denial.
func (a *agent) keeps(event, socket string) string {
	row, speaker := events.LookupIn(a.name, event), dialect.Agent(a.name)
	if !a.Shell || socket == "" || row == nil || row.Kind != events.KindToolBefore || speaker == nil || speaker.Breaks {
		return ""
	}
	file := quote(socket + MissedSuffix + "/" + string(a.name) + "." + event + ".")
	return " || { dd bs=1048576 count=1 >" + file + "$$; exit 1; } 2>/dev/null"
}

// withFallback is a call of the bridge with a fallback, of any version.
var withFallback = lazyregexp.New(`^(.*?)( \|\| \{ (?:(?:echo|printf '%s\\n') '[^'\n]*'(?: >&2)?; exit [0-9]+; \}|` +
	`dd bs=[0-9]+ count=1 >[^\n;|&]*\$\$; exit 1; \} 2>/dev/null))\s*$`)

// cutFallback splits a line into the call and its fallback.
func cutFallback(line string) (call, fallback string) {
	if m := withFallback.FindStringSubmatch(line); m != nil {
		return m[1], m[2]
	}
	return line, ""
}

// outdated reports whether connect would write a call otherwise that is registered: with another fallback, or
// with a longer deadline. An older version of hookd wrote it then, or a person changed it.
func (t *target) outdated(h registration) bool {
	return h.call.isCommand() &&
		(h.call.fallback != t.agent.fallbackOf(h.event, t.flags(h.call.args)) || t.agent.tooShortDeadline(h) != 0 ||
			IsGuarded(t.Agent, h.event) && h.loose != "")
}

// tooShortDeadline returns the deadline that a call has in the settings, where the agent ends its bridge too early;
// 0 = it does not. A person may have made it shorter, together with the bridge's own.
func (a *agent) tooShortDeadline(h registration) time.Duration {
	if !h.call.isCommand() || a.Unit == 0 {
		return 0
	}
	if h.call.deadline >= cmp.Or(deadlineIn(h.call.args), dialect.Agent(a.name).Timeout(h.event)) {
		return 0
	}
	return max(h.call.deadline, 1)
}

// fallbackOf is the fallback of a call with these arguments.
func (a *agent) fallbackOf(event string, args []string) string {
	if c := (call{args: args}); !c.failClosed() {
		return a.keeps(event, c.socket())
	}
	return a.fallback(event)
}

// IsGuarded reports whether an agent asks hooks about a call with an event of that name.
func IsGuarded(agent, event string) bool {
	row := events.LookupIn(events.Dialect(agent), event)
	return row != nil && row.FailClosed
}
