package readfile

import (
	"slices"
	"sync"
	"time"
)

// Patience runs what touches files, and gives up on what does not return: a
// file system can hang for ever, and a call that hangs in it cannot be ended.
// What was given up on keeps one goroutine and one thread until it returns, and
// is not tried again before that. The zero Patience has none: use NewPatience.
type Patience struct {
	limit time.Duration
	back  func() // called, on any goroutine, when something that was given up on has returned

	mu   sync.Mutex
	hung map[string]bool // what was given up on and has not returned
}

// NewPatience waits that long for each call; back may be nil.
func NewPatience(limit time.Duration, back func()) *Patience {
	return &Patience{limit: limit, back: back, hung: map[string]bool{}}
}

// Try calls f and reports whether it returned in time. What f writes may be read
// only if it did. Calls of one name do not run side by side once one hangs:
// further ones are given up at once.
func (p *Patience) Try(name string, f func()) bool {
	if p.Hangs(name) {
		return false
	}
	returned := make(chan struct{})
	go func() {
		f()
		close(returned)
		p.returned(name)
	}()
	timer := time.NewTimer(p.limit)
	defer timer.Stop()
	select {
	case <-returned:
		return true
	case <-timer.C:
		return p.giveUp(name, returned)
	}
}

func (p *Patience) giveUp(name string, returned <-chan struct{}) (inTime bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-returned:
		return true
	default:
		p.hung[name] = true
		return false
	}
}

func (p *Patience) returned(name string) {
	p.mu.Lock()
	late := p.hung[name]
	delete(p.hung, name)
	p.mu.Unlock()
	if late && p.back != nil {
		p.back()
	}
}

// Hangs reports whether a call of that name was given up on and has not returned.
func (p *Patience) Hangs(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hung[name]
}

// Hung lists, in byte order, what was given up on and has not returned.
func (p *Patience) Hung() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var names []string
	for name := range p.hung {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
