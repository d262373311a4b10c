package bridge

import (
	"sync/atomic"
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// limitTime runs do, whose calls of the system may hang forever. After limit the agent
// gets the answer of late, and the process ends: see Options.Exit, and answer for failed.
// Neither touches the values that do changes.
func (c *call) limitTime(limit time.Duration, late func() neutral.Reply, failed bool, do func()) {
	var over atomic.Bool // one of the two goes on
	timer := time.AfterFunc(limit, func() {
		if over.CompareAndSwap(false, true) {
			c.giveUp(late, failed)
		}
	})
	do()
	timer.Stop()
	if !over.CompareAndSwap(false, true) {
		select {} // the process ends
	}
}

// giveUp answers in place of the goroutine that hangs, and ends the process.
func (c *call) giveUp(late func() neutral.Reply, failed bool) {
	exit := 1 // Go's own exit code for a panic would deny
	defer func() {
		_ = recover()
		c.Exit(exit)
	}()
	exit = c.finish(late(), failed)
}
