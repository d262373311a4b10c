package readfile

import (
	"slices"
	"sync"
	"time"
)

// Patience runs calls that use files, and gives up on those that do not return: a file
// system can hang for ever, and a call that hangs in it cannot be ended. Such a call
// holds one goroutine and one thread until it returns, and is not tried again before.
// Make one with NewPatience.
type Patience struct {
	limit time.Duration
	back  func() // called, on any goroutine, when a call that hung has returned

	mu   sync.Mutex
	hung map[string]bool // names of calls that hang
}

// NewPatience returns a Patience that waits that long for each call. back is called
// when a call that hung has returned; nil = not called.
func NewPatience(limit time.Duration, back func()) *Patience {
	return &Patience{limit: limit, back: back, hung: map[string]bool{}}
}

// Try calls f and reports whether it returned in time. Only then may the caller read
// what f has written. While a call of that name hangs, Try returns false at once.
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

// Hangs reports whether a call of that name hangs.
func (p *Patience) Hangs(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hung[name]
}

// Hung returns the names of the calls that hang, in byte order.
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
