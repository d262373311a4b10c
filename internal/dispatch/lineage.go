package dispatch

import "sync"

// lineage makes the process of one run known to the chain, from before its start
// until the run has ended, in whatever order it learns of that.
type lineage struct {
	chain *chain
	depth int
	hook  string

	mu           sync.Mutex // guards what is below
	known, ended func()     // nil = not yet
	over         bool
}

func (l *lineage) starting() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over {
		l.known = l.chain.starting(l.depth)
	}
}

func (l *lineage) started(p Process) {
	ended := l.chain.started(p, l.depth, l.hook)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended != nil { // the run has started again
		l.ended()
	}
	if l.ended = ended; l.known != nil {
		l.known()
	}
	if l.over { // the run was given up
		ended()
	}
}

func (l *lineage) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.known != nil {
		l.known()
	}
	if l.ended != nil {
		l.ended()
	}
}
