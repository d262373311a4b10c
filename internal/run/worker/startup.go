package worker

import (
	"errors"
	"strconv"
)

// startup is one start of a worker: its files are checked, then its process is
// started. A file whose disk does not answer can block it for ever. While a
// startup of a hook is overdue no other begins, so that a hook blocks no more
// threads than it may have workers.
type startup struct {
	pool  *Pool
	known func() // Options.Starting returned it; nil = not called yet

	// guarded by pool.mu
	file  string // the one opened last
	ended bool
}

func (p *Pool) startup() *startup { return &startup{pool: p} }

func (s *startup) looks(path string) {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.file = path
}

// beginsProcess is called before the process is started.
func (s *startup) beginsProcess() {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if s.known != nil { // it has started before, see startTries
		s.known()
	}
	s.known = s.pool.set.opts.Starting()
}

// end is called when the start has succeeded or failed.
func (s *startup) end() {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.ended = true
	if delete(s.pool.overdue, s); s.known != nil {
		s.known()
	}
}

// markOverdue is called at the deadline; false when the start has just ended.
func (s *startup) markOverdue() bool {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if s.ended {
		return false
	}
	if s.pool.overdue[s] = true; s.known != nil {
		s.known()
	}
	return true
}

// waitsFor returns the reason for the start's wait, as an error.
func (s *startup) waitsFor() error {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if s.file == "" {
		return errors.New("its process did not start in time")
	}
	return errors.New(strconv.Quote(s.file) + " did not answer: does its file system hang? type: mount")
}

// overdueStart returns the reason for an overdue start's wait; nil when none is overdue.
func (p *Pool) overdueStart() error {
	p.mu.Lock()
	var one *startup
	for one = range p.overdue {
		break
	}
	p.mu.Unlock()
	if one == nil {
		return nil
	}
	return one.waitsFor()
}
