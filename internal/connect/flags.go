package connect

import (
	"slices"
	"strconv"
	"strings"
)

// The flags of hookd-bridge that connect sets. Others that stand in a call are
// the user's own and stay.
const (
	socketFlag     = "socket"
	failClosedFlag = "fail-closed"
)

// flags returns the arguments of a call with the flags as the options say.
func (t *target) flags(args []string) []string {
	if t.Socket != "" {
		args = withFlag(args, socketFlag, "--"+socketFlag+"="+t.Socket)
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

// wanted reports whether a call is one of the bridge as Connect writes it,
// whatever its other flags.
func (t *target) wanted(c call) bool {
	return c.post == nil && c.program == t.Bridge && slices.Equal(c.args, t.flags(c.args))
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
		if name == socketFlag && !cut && value != "" {
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
// behind = (cut) or, of one that is not a bool, in the next argument. The name
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

// socket is the one that a call names; "" = none.
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
