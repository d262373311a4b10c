package dispatch

import (
	"sync"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// Batch accepts events of one sender together, which costs less than one after the other:
// those for which there is no hook. It belongs to one goroutine.
type Batch struct {
	d    *Dispatcher
	from Origin
	list *[]*events.Event // nil = empty
}

// lists has lists of events that are not in use any more. Their length is what they are
// filled with; behind it are events to be used again.
var lists = sync.Pool{New: func() any { return new([]*events.Event) }}

// Batch returns an empty batch of a sender.
func (d *Dispatcher) Batch(from Origin) *Batch { return &Batch{d: d, from: from} }

// Add takes an event that came at env.At, to be accepted by the next Accept. It is false for
// one that Begin has to accept: there may be hooks for it, it is large or tried, or its sender
// waits for it, gave it an id or is a hook. env.Data must not change before Accept.
func (b *Batch) Add(env *events.Envelope) bool {
	if env.Wait || env.Tried || env.ID != "" || env.Parent != "" || env.Peer != nil || env.Brought != nil ||
		b.from.OfRun() || len(env.Data) > largeData {
		return false
	}
	d := b.d
	index := d.index.Load()
	known := index.Named(env.Dialect, env.Event)
	if !known.Unwanted() || d.opts.Past.Looks(known.Contract) {
		return false
	}
	e := b.next()
	d.fill(e, env, index, known, env.At)
	if d.follows(e, env) {
		*b.list = (*b.list)[:len(*b.list)-1]
		return false
	}
	if d.recorder.Watched() {
		d.About(e)
		e.Unread = false
	}
	return true
}

// next adds an event to the list.
func (b *Batch) next() *events.Event {
	if b.list == nil {
		b.list = lists.Get().(*[]*events.Event)
	}
	n := len(*b.list)
	if n == cap(*b.list) {
		*b.list = append(*b.list, new(events.Event))
		return (*b.list)[n]
	}
	*b.list = (*b.list)[:n+1]
	if (*b.list)[n] == nil {
		(*b.list)[n] = new(events.Event)
	}
	return (*b.list)[n]
}

// Accept accepts what was added, in that order, and calls each with every event, which is
// not to be kept. An error refuses all of them.
func (b *Batch) Accept(each func(*events.Event)) *wire.Error {
	if b.list == nil {
		return nil
	}
	defer b.release()
	d, list := b.d, *b.list
	d.accept.RLock()
	defer d.accept.RUnlock()
	if d.draining {
		return errDraining
	}
	ids := events.NewIDs(list[0].Time, len(list))
	for i, e := range list {
		e.EventID = ids.At(i)
	}
	d.acceptAll(list)
	d.opts.Tap.AcceptedAll(list)
	for _, e := range list {
		each(e)
	}
	return nil
}

func (d *Dispatcher) acceptAll(list []*events.Event) {
	d.order.Lock()
	defer d.order.Unlock()
	d.recorder.AcceptAll(list)
}

// release empties the batch.
func (b *Batch) release() {
	for _, e := range *b.list {
		e.Data = nil // which is the sender's
	}
	*b.list = (*b.list)[:0]
	lists.Put(b.list)
	b.list = nil
}
