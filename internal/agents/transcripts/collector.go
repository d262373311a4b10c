package transcripts

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"
)

// collector joins the calls of a file with their results.
type collector struct {
	file    *File
	since   time.Time
	until   time.Time // a later time is taken for not known; zero = any is known
	each    func(*Call)
	pending map[string]*Call // by id
	order   []string         // of pending, the oldest first; an id may be gone
	held    int              // bytes of the arguments of pending
	root    string           // the first folder
	turn    int              // prompts so far
	calls   int
	skipped int
}

// call takes a call whose result comes later.
func (c *collector) call(call Call) {
	if !c.take(&call) {
		return
	}
	if c.pending[call.ID] != nil {
		return // written twice
	}
	for len(c.order) > 0 && (len(c.pending) >= maxPending || c.held+len(call.Input) > maxHeld) {
		c.give(c.order[0])
		c.order = c.order[1:]
	}
	c.pending[call.ID] = &call
	c.order = append(c.order, call.ID)
	c.held += len(call.Input)
	if len(c.order) > 2*maxPending { // most are gone
		c.compact()
	}
}

func (c *collector) compact() {
	kept := c.order[:0]
	for _, id := range c.order {
		if c.pending[id] != nil {
			kept = append(kept, id)
		}
	}
	c.order = kept
}

// take completes and checks a call; false = it is left out.
func (c *collector) take(call *Call) bool {
	call.Agent, call.Turn = c.file.Agent, c.turn
	if !c.until.IsZero() && call.Time.After(c.until) {
		call.Time = time.Time{}
	}
	call.Cwd = folder(call.Cwd)
	if c.root == "" {
		c.root = call.Cwd
	}
	call.Root = c.root
	switch {
	case call.ID == "" || call.Tool == "":
		c.skipped++
		return false
	case len(call.ID) > 512 || len(call.Tool) > 512 || len(call.Input) > maxInput:
		c.skipped++
		return false
	case len(call.Input) == 0:
		call.Input = json.RawMessage("{}")
	default:
		var b bytes.Buffer // the line is read over
		if err := json.Compact(&b, call.Input); err != nil {
			c.skipped++
			return false
		}
		call.Input = b.Bytes()
	}
	return true
}

// folder is a path that is absolute and clean; "" for any other.
func folder(path string) string {
	if !filepath.IsAbs(path) || len(path) > 4096 || strings.ContainsFunc(path, func(r rune) bool { return r < ' ' }) {
		return ""
	}
	return filepath.Clean(path)
}

// result ends a call: tell fills in the fields of the result. A result without its call is left out.
func (c *collector) result(id string, tell func(*Call)) {
	call := c.pending[id]
	if call == nil {
		return
	}
	tell(call)
	c.give(id)
}

// ended ends a call that ran, and has no more to tell than whether it failed.
func (c *collector) ended(id string, failed bool) {
	c.result(id, func(call *Call) {
		if call.Outcome = Ran; failed {
			call.Outcome = Failed
		}
	})
}

// about changes a call that waits for its result.
func (c *collector) about(id string, tell func(*Call)) {
	if call := c.pending[id]; call != nil {
		tell(call)
	}
}

func (c *collector) give(id string) {
	call := c.pending[id]
	if call == nil {
		return
	}
	delete(c.pending, id)
	c.held -= len(call.Input)
	if !call.Time.IsZero() && call.Time.Before(c.since) {
		return
	}
	c.calls++
	c.each(call)
}

// done gives a call that is known with its result.
func (c *collector) done(call Call) {
	if c.take(&call) && (call.Time.IsZero() || !call.Time.Before(c.since)) {
		c.calls++
		c.each(&call)
	}
}

// end gives the calls that have no result.
func (c *collector) end() {
	for _, id := range c.order {
		c.give(id)
	}
	c.order = nil
}
