package connect

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/agents/bridge/shims"
	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// The flags of hookd-bridge that connect sets. Others that stand in a call are
// the user's own and stay.
const (
	socketFlag     = "socket"
	failClosedFlag = "fail-closed"
	timeoutFlag    = "timeout"
)

// flags returns the arguments of a call with the flags as the options say.
func (t *target) flags(args []string) []string {
	if t.Socket != "" {
		args = withFlag(args, socketFlag, "--"+socketFlag+"="+t.Socket)
	}
	if d := t.deadline(); d > deadlineIn(args) {
		args = withFlag(args, timeoutFlag, "--"+timeoutFlag+"="+strconv.Itoa(int(d.Seconds()))+"s")
	}
	switch {
	case t.FailClosed == nil:
	case *t.FailClosed:
		args = withFlag(args, failClosedFlag, "--"+failClosedFlag)
	default:
		args = withFlag(args, failClosedFlag, "")
	}
	return args
}

// hooksTime is the part of a deadline that hooks may take besides a person's time.
const hooksTime = 10 * time.Second

// deadline is how long the agent has to wait for the bridge so that an ask can wait for
// AskTimeout, in whole seconds; 0 = its own deadline does.
func (t *target) deadline() time.Duration {
	if t.AskTimeout == 0 || t.agent.Longest == 0 {
		return 0
	}
	own := shims.Deadline
	if a := dialect.Agent(t.agent.name); a.Timeout != nil {
		own = a.Timeout("")
	}
	need := min(t.agent.Longest, (t.AskTimeout+hooksTime)*100/neutral.HooksShare)
	if need <= own {
		return 0
	}
	return (need + time.Second - 1).Truncate(time.Second)
}

// deadlineIn is the deadline that arguments name; 0 = none.
func deadlineIn(args []string) (d time.Duration) {
	for i := range args {
		if name, value, _ := flagOf(args, i); name == timeoutFlag {
			d, _ = duration.Parse(value) // the bridge refuses what cannot be read
		}
	}
	return d
}

// wanted reports whether a call is one of the bridge as Connect writes it,
// whatever its other flags.
func (t *target) wanted(c call) bool {
	return c.isCommand() && c.program == t.Bridge && slices.Equal(c.args, t.flags(c.args))
}

// failClosed reports whether calls would deny where hookd does not answer.
func (t *target) failClosed(have []registration) bool {
	if t.FailClosed != nil {
		return *t.FailClosed
	}
	return slices.ContainsFunc(have, func(h registration) bool { return h.call.failClosed() })
}

// withFlag puts text in the place of a flag, at the end where it is not given;
// "" takes the flag out.
func withFlag(args []string, name, text string) (list []string) {
	placed := text == ""
	for i := 0; i < len(args); i++ {
		is, value, cut := flagOf(args, i)
		if is != name {
			list = append(list, args[i])
			continue
		}
		if name != failClosedFlag && !cut && value != "" {
			i++ // its value is an argument of its own
		}
		if !placed {
			list, placed = append(list, text), true
		}
	}
	if !placed {
		list = append(list, text)
	}
	return list
}

// flagOf reads args[i] as Go's flags are written: one dash or two, the value
// behind = (cut) or, of a flag that is not a bool, in the next argument. The name
// of an argument that is no flag is "".
func flagOf(args []string, i int) (name, value string, cut bool) {
	if !strings.HasPrefix(args[i], "-") {
		return "", "", false
	}
	name, value, cut = strings.Cut(strings.TrimPrefix(strings.TrimPrefix(args[i], "-"), "-"), "=")
	if !cut && i+1 < len(args) {
		value = args[i+1]
	}
	return name, value, cut
}

// socket is the socket that a call names; "" = none.
func (c call) socket() (path string) {
	for i := range c.args {
		if name, value, _ := flagOf(c.args, i); name == socketFlag {
			path = value
		}
	}
	return path
}

// failClosed reports whether a call denies where hookd does not answer.
func (c call) failClosed() (yes bool) {
	for i := range c.args {
		if name, value, cut := flagOf(c.args, i); name == failClosedFlag {
			on, err := strconv.ParseBool(value)
			yes = !cut || err == nil && on
		}
	}
	return yes
}
