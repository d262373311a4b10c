package dispatch

import (
	"strconv"

	"github.com/hookd/hookd/internal/hooks/hook"
)

// strandKey names runs that must not overtake each other.
type strandKey struct{ hook, session string }

// strand has runs that must not overtake each other. One of them is under way at a time, or
// as many as go through one pipe that is in order.
type strand struct {
	key     strandKey
	pipe    pipe // of those under way
	running int
	waiting fifo
}

// pipe names the workers that a run goes to: other versions of the hook have workers of their
// own, and so have other settings. The zero value is none.
type pipe struct {
	digest   string
	settings int
	inOrder  bool // it is one worker, which gets its runs one after another
}

// usage counts the runs of a hook that limits its concurrency.
type usage struct {
	running int
	waiting fifo
}

// strandKey returns the key of the runs that t must not overtake; ordered is false
// when there are none: order parallel, no session to be in order with, or a
// retry, which does not hold back later events.
func (t *task) strandKey() (key strandKey, ordered bool) {
	if t.attempt > 0 {
		return strandKey{}, false
	}
	h, session := t.match.Hook, t.session()
	switch {
	case h.Order == hook.OrderSerial:
		return strandKey{hook: h.ID}, true
	case h.Order == hook.OrderParallel || session == "":
		return strandKey{}, false
	default:
		return strandKey{hook: h.ID, session: session}, true
	}
}

// session names the conversation that the task's event belongs to, "" = none. Of the
// system daemon it is that of one user: others may send the same name.
func (t *task) session() string {
	session := t.match.Rules.Conversation(t.event)
	if peer := t.event.Peer; peer != nil && session != "" {
		return strconv.Itoa(peer.UID) + "\x00" + session
	}
	return session
}

// fifo is a queue of tasks that gives memory back as it empties.
type fifo struct{ list []*task }

func (f *fifo) push(t *task) { f.list = append(f.list, t) }

func (f *fifo) pop() *task {
	if len(f.list) == 0 {
		return nil
	}
	t := f.list[0]
	f.list[0] = nil
	if f.list = f.list[1:]; len(f.list) == 0 {
		f.list = nil
	}
	return t
}

// first returns the task that pop would return; nil = none.
func (f *fifo) first() *task {
	if len(f.list) == 0 {
		return nil
	}
	return f.list[0]
}

func (f *fifo) empty() bool { return len(f.list) == 0 }

func (f *fifo) drain() []*task {
	list := f.list
	f.list = nil
	return list
}

// piped reports whether the hook's observers go through its pipe: they take no
// slot then, and as many run at once as its copies take.
func (q *queue) piped(h *hook.Hook) bool { return h.Persistent && q.submit != nil }

// limit is how many runs of the task's hook there may be at once; 0 = any number.
func (q *queue) limit(t *task) int {
	h := t.match.Hook
	if q.piped(h) {
		return Window * max(1, h.Concurrency)
	}
	return h.Concurrency
}

// pipeOf returns the pipe that t would go through now.
func (q *queue) pipeOf(t *task) pipe {
	h := t.match.Hook
	if !q.piped(h) {
		return pipe{}
	}
	return pipe{digest: h.Digest, settings: q.settings(), inOrder: h.Concurrency <= 1 && h.Order != hook.OrderSerial}
}
