package readfile

import (
	"slices"
	"sync"
	"time"
)

// Patience runs calls that use files, and gives up on calls that do not return: a file
// system can hang for ever, and a call that hangs in it cannot be ended. Such a call
// holds one goroutine and one thread until it returns, and is not tried again before.
// While maxHung calls hang no other is tried: a process has room for a bounded number of
// threads. Make one with NewPatience.
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
// the variables that f has written. While a call of that name hangs, or too many others
// do, Try returns false at once.
func (p *Patience) Try(name string, f func()) bool {
	if !p.mayTry(name) {
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

// maxHung is how many calls of one Patience may hang. The Go runtime ends a process
// that has 10,000 threads.
const maxHung = 1000

func (p *Patience) mayTry(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.hung[name] && len(p.hung) < maxHung
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
