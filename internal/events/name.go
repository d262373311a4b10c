package events

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hookd/hookd/wire"
)

// MaxName is the length in bytes that an event's name may have.
const MaxName = 128

// ReservedPrefix begins the names of the daemon's own events.
const ReservedPrefix = "hookd:"

const nameHint = "letters, digits and _ . - in parts joined by single colons, a letter first, e.g. agent:end"

// CheckName reports why name is no event name, or nil. Names match
// ^[A-Za-z][A-Za-z0-9_.-]*(:[A-Za-z0-9_.-]+)*$ and have at most MaxName bytes.
// A reserved name is a name: see CheckReserved.
func CheckName(name string) *wire.Error {
	switch {
	case name == "":
		return badName("event name is empty")
	case len(name) > MaxName:
		return badName(fmt.Sprintf("event name is %d bytes long, at most %d are allowed", len(name), MaxName))
	case !isLetter(name[0]):
		return badName(fmt.Sprintf("event name %q does not begin with a letter", name))
	}
	for i := 1; i < len(name); i++ {
		c := name[i]
		switch {
		case isLetter(c) || isDigit(c) || c == '_' || c == '.' || c == '-':
		case c != ':':
			return badName(fmt.Sprintf("event name %q has %s", name, offender(name[i:])))
		case i == len(name)-1 || name[i-1] == ':':
			return badName(fmt.Sprintf("event name %q has an empty part beside a colon", name))
		}
	}
	return nil
}

// CheckReserved refuses the daemon's own names (hookd:*) to all other senders.
func CheckReserved(name string) *wire.Error {
	if !strings.HasPrefix(name, ReservedPrefix) {
		return nil
	}
	return &wire.Error{
		Code:    wire.CodeReserved,
		Message: fmt.Sprintf("event name %q is reserved: hookd:* events come from the daemon alone", name),
		Hint:    "choose another first part, e.g. my-app:" + strings.TrimPrefix(name, ReservedPrefix),
	}
}

func badName(message string) *wire.Error {
	return &wire.Error{Code: wire.CodeBadEventName, Message: message, Hint: nameHint}
}

// offender describes the character with which s begins.
func offender(s string) string {
	r, _ := utf8.DecodeRuneInString(s)
	switch r {
	case ' ', '\t':
		return "a blank"
	case '\n', '\r':
		return "a line break"
	case '*', '?', '[', '{':
		return fmt.Sprintf("%q: patterns are for hooks and subscribers, an event has one name", r)
	}
	return strconv.QuoteRune(r)
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
