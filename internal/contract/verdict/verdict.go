// Package verdict reads the answer of one hook and folds the answers of many into one
// decision, by one set of rules for every source of hooks; where hookd documents none,
// docker-agent's hold. Both steps are pure: no clock, no files, no log. Answers are
// folded in registration order, whichever hook finished first.
//
// An answer that cannot be read is a failure, never an opinion; on a
// fail-closed event it denies. A hook that does not block adds nothing. The
// package runs nothing and does not know which hooks match.
package verdict

import (
	"slices"
	"strings"
	"unicode"

	"github.com/hookd/hookd/wire"
)

// Verdict is the merged answer to a decidable event. A nil map or raw message means
// that no hook said anything about it.
type Verdict = wire.Verdict

// Worded returns the first text with a sign that can be seen; the last must have one. Codex takes a denial with a
// blank reason for a broken answer, and goes on (source: output_parser.rs of its hooks).
func Worded(texts ...string) string {
	isSeen := func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }
	i := slices.IndexFunc(texts, func(text string) bool { return strings.ContainsFunc(text, isSeen) })
	return texts[i]
}

// WhyDenied returns why a verdict denies, in the words of the hooks that do; where they gave none, it names them.
// The reason of a decision that the denial overrules is none.
func WhyDenied(v *Verdict) string {
	decision := ""
	if v.PermissionDecision == "deny" {
		decision = v.DecisionReason
	}
	by := "a hook"
	if len(v.DecidedBy) > 0 {
		by = strings.Join(v.DecidedBy, ", ") + ", without a reason"
	}
	return Worded(v.Message, decision, v.StopReason, "denied by "+by)
}
