// Package verdict reads the answer of one hook and folds the answers of many into one
// decision, by one set of rules for every source of hooks; where hookd documents none,
// docker-agent's hold. Both steps are pure: no clock, no files, no log. Answers are
// folded in registration order, whichever hook finished first.
//
// An answer that cannot be read is a failure, never an opinion; on a
// fail-closed event it denies. A hook that does not block adds nothing. The
// package runs nothing and does not know which hooks match.
package verdict

import "github.com/hookd/hookd/wire"

// Verdict is the merged answer to a decidable event. A nil map or raw message means
// that no hook said anything about it.
type Verdict = wire.Verdict
