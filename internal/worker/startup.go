package worker

import (
	"errors"
	"strconv"
)

// opening is a copy on its way: its files are looked at, and its process is
// started. A file that does not answer can hold it for ever. While one of a hook
// is overdue no other is tried, so that a hook holds no more threads than it may
// have copies.
type opening struct {
	pool  *Pool
	known func() // tells that the process is known, or will not be; nil = none was about to start

	// guarded by pool.mu
	file string // looked at last
	over bool
}

func (p *Pool) opening() *opening { return &opening{pool: p} }

func (o *opening) looks(path string) {
	o.pool.mu.Lock()
	defer o.pool.mu.Unlock()
	o.file = path
}

// starting is called before the process is started.
func (o *opening) starting() {
	o.pool.mu.Lock()
	defer o.pool.mu.Unlock()
	o.known = o.pool.set.opts.Starting()
}

// end is called when the start has ended, how ever.
func (o *opening) end() {
	o.pool.mu.Lock()
	defer o.pool.mu.Unlock()
	o.over = true
	if delete(o.pool.overdue, o); o.known != nil {
		o.known()
	}
}

// late notes that the start is overdue; false when it has just ended.
func (o *opening) late() bool {
	o.pool.mu.Lock()
	defer o.pool.mu.Unlock()
	if o.over {
		return false
	}
	if o.pool.overdue[o] = true; o.known != nil {
		o.known()
	}
	return true
}

// why says what the start waits for.
func (o *opening) why() error {
	o.pool.mu.Lock()
	defer o.pool.mu.Unlock()
	if o.file == "" {
		return errors.New("its process did not start in time")
	}
	return errors.New(strconv.Quote(o.file) + " did not answer: does its file system hang? type: mount")
}

// heldUp says what an overdue start waits for; nil when none is overdue.
func (p *Pool) heldUp() error {
	p.mu.Lock()
	var one *opening
	for one = range p.overdue {
		break
	}
	p.mu.Unlock()
	if one == nil {
		return nil
	}
	return one.why()
}
