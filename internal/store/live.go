package store

import (
	"cmp"
	"slices"
	"sync"

	"github.com/hookd/hookd/internal/events"
)

// live is what is pending, as of the last commit.
type live struct {
	// most is how much payload is held in memory for the case that the database is
	// lost. What the dispatcher holds is shared: it has the oldest events, so the
	// newest make room for them.
	most int64

	mu     sync.Mutex // guards all below
	events map[uint64]*waiting
	runs   int
	bytes  int64 // of payload, on disk
	inRAM  int64
	newest []uint64 // events that are held, the newest last; some are not any more
}

// waiting is an event and the hooks that have not ended for it.
type waiting struct {
	seq   uint64
	event *events.Event // nil = on disk only
	only  bool          // the database does not have it, but the journal does
	size  int
	fate  fate
	rows  []pendingRow // in order of registration
}

// fate is what is known of an event's row; zero = nothing.
type fate struct {
	final bool    // it is what history keeps
	clean *Policy // it has nothing that this policy hides
}

// pendingRow is a row of the table pending.
type pendingRow struct {
	hook    string
	attempt int
	due     int64 // nanoseconds since 1970; 0 = now
}

func newLive(most int64) *live { return &live{most: most, events: map[uint64]*waiting{}} }

// add puts rows of an event in; e may be nil when it is on disk only.
func (l *live) add(seq uint64, e *events.Event, size int, rows []pendingRow) {
	if len(rows) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.events[seq]
	if w == nil {
		w = &waiting{seq: seq, size: size}
		l.events[seq] = w
		l.bytes += int64(size)
	}
	w.rows = append(w.rows, rows...)
	l.runs += len(rows)
	l.keep(w, e, l.most)
}

// accept puts an event in that the journal has.
func (l *live) accept(seq uint64, e *events.Event, size int, hooks []string, f fate) {
	rows := make([]pendingRow, len(hooks))
	for i, hook := range hooks {
		rows[i].hook = hook
	}
	l.add(seq, e, size, rows)
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.events[seq]; w != nil {
		w.only, w.fate = true, f
	}
}

// stored notes that the database has an event.
func (l *live) stored(seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.events[seq]; w != nil {
		w.only = false
	}
}

// rows returns the pending rows of an event, and the event if it is held.
func (l *live) rows(seq uint64) ([]pendingRow, *events.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.events[seq]; w != nil {
		return slices.Clone(w.rows), w.event
	}
	return nil, nil
}

// has reports whether an event is pending.
func (l *live) has(seq uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.events[seq] != nil
}

// size returns how much data a pending event has.
func (l *live) size(seq uint64) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.events[seq]; w != nil {
		return w.size
	}
	return 0
}

// forget takes an event out that is lost.
func (l *live) forget(seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.events[seq]; w != nil {
		l.runs -= len(w.rows)
		l.remove(w)
	}
}

// settle notes the fate of an event.
func (l *live) settle(seq uint64, f fate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.events[seq]; w != nil {
		w.fate = f
	}
}

// fate returns it.
func (l *live) fate(seq uint64) (f fate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.events[seq]; w != nil {
		f = w.fate
	}
	return f
}

// hold keeps an event that was read from disk, if no more than limit bytes
// are held with it; newer ones make room.
func (l *live) hold(e *events.Event, limit int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.events[e.Seq]
	if w == nil || w.event != nil {
		return
	}
	for n := len(l.newest); n > 0 && l.newest[n-1] > e.Seq && l.inRAM+int64(w.size) > limit; n-- {
		if old := l.events[l.newest[n-1]]; old != nil && old.event != nil {
			old.event = nil
			l.inRAM -= int64(old.size)
		}
		l.newest = l.newest[:n-1]
	}
	l.keep(w, e, limit)
}

// event returns an event that is held; nil = it is not.
func (l *live) event(seq uint64) *events.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.events[seq]; w != nil {
		return w.event
	}
	return nil
}

func (l *live) keep(w *waiting, e *events.Event, limit int64) {
	if w.event == nil && e != nil && l.inRAM+int64(w.size) <= limit {
		w.event = e
		l.inRAM += int64(w.size)
		if n := len(l.newest); n == 0 || l.newest[n-1] < w.seq {
			l.newest = append(l.newest, w.seq)
		}
		if len(l.newest) > 2*len(l.events)+64 {
			l.newest = slices.DeleteFunc(l.newest, func(seq uint64) bool { return l.events[seq] == nil })
		}
	}
}

// end takes a run out.
func (l *live) end(k events.PendingKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.events[k.Seq]
	if w == nil {
		return
	}
	left := slices.DeleteFunc(w.rows, func(r pendingRow) bool { return r.hook == k.Hook })
	l.runs -= len(w.rows) - len(left)
	if w.rows = left; len(left) == 0 {
		l.remove(w)
	}
}

func (l *live) remove(w *waiting) {
	delete(l.events, w.seq)
	l.bytes -= int64(w.size)
	if w.event != nil {
		l.inRAM -= int64(w.size)
	}
}

// change changes a run that stays pending.
func (l *live) change(k events.PendingKey, f func(*pendingRow)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.events[k.Seq]; w != nil {
		for i := range w.rows {
			if w.rows[i].hook == k.Hook {
				f(&w.rows[i])
			}
		}
	}
}

// held returns the events that memory has whole and the journal has not, in order.
func (l *live) held() []*waiting {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []*waiting
	for _, w := range l.events {
		if w.event != nil && !w.only {
			list = append(list, w)
		}
	}
	slices.SortFunc(list, func(a, b *waiting) int { return cmp.Compare(a.seq, b.seq) })
	return list
}

// onDisk returns the numbers of the events that only the database has.
func (l *live) onDisk() []uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []uint64
	for seq, w := range l.events {
		if w.event == nil && !w.only {
			list = append(list, seq)
		}
	}
	slices.Sort(list)
	return list
}

// count tells how many runs memory and journal can write again, and how many they cannot.
func (l *live) count() (kept, lost int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.events {
		if w.event != nil || w.only {
			kept += len(w.rows)
		} else {
			lost += len(w.rows)
		}
	}
	return kept, lost
}

// dropLost forgets what only the lost file held.
func (l *live) dropLost() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.events {
		if w.event == nil && !w.only {
			l.runs -= len(w.rows)
			l.remove(w)
		}
	}
}

func (l *live) load() (events, runs int, bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.events), l.runs, l.bytes
}

// fill reads what is pending, without the events. It may have been tried before
// on a disk that failed halfway.
func (l *live) fill(db *database) error {
	l.mu.Lock()
	clear(l.events)
	l.runs, l.bytes, l.inRAM, l.newest = 0, 0, 0, nil
	l.mu.Unlock()
	_, err := query(db, func(row scanner) (_ struct{}, err error) {
		var seq uint64
		var size int
		var r pendingRow
		if err = row.Scan(&seq, &size, &r.hook, &r.attempt, &r.due); err == nil {
			l.add(seq, nil, size, []pendingRow{r})
		}
		return
	}, `SELECT p.seq, e.size, p.hook, p.attempt, p.due
		FROM pending p JOIN events e ON e.seq = p.seq ORDER BY p.seq, p.ord`)
	return err
}
