package store

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/hookd/hookd/internal/events"
)

// live holds the pending events, as of the last commit.
//
// A million events may wait on disk. The value for each has no pointer: the garbage
// collector would follow a million of them, several times a second where much is accepted.
type live struct {
	// most is how many bytes of events, each with heldCost, are held in memory for the case
	// that the database is lost. The events that the dispatcher holds are shared: it has the oldest
	// events, so the newest make room for them.
	most int64

	mu      sync.Mutex // guards all below
	events  map[uint64]waiting
	changed map[uint64][]pendingRow  // of events with rows that are no first attempts of a known list of hooks
	whole   map[uint64]*events.Event // that are held
	lists   hookLists                // that waiting.hooks numbers
	policy  *Policy                  // of the newest fate
	version uint32                   // of policy: it grows with each other one
	runs    int
	bytes   int64 // of payload, on disk
	inRAM   int64
	told    int      // how many events Options.Waiting was told of
	newest  []uint64 // events that are held, the newest last; some are not any more
}

// waiting is an event and the hooks that have not ended for it.
type waiting struct {
	size  int
	hooks uint32 // number of their list, in order of registration; 0 = the rows are in live.changed
	clean uint32 // live.version of fate.clean; 0 = nil
	final bool   // as fate.final
	only  bool   // the database does not have it, but the journal does
}

// fate is the known state of an event's row; zero = nothing is known.
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

func newLive(most int64) *live {
	return &live{
		most: most, events: map[uint64]waiting{}, changed: map[uint64][]pendingRow{},
		whole: map[uint64]*events.Event{},
	}
}

// heldCost is the size in bytes that an event in memory takes besides its data.
const heldCost = 1 << 10

// add puts rows of an event in; e may be nil when it is on disk only.
func (l *live) add(seq uint64, e *events.Event, size int, rows []pendingRow) {
	if len(rows) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	w, there := l.events[seq]
	if !there {
		w.size = size
		l.bytes += int64(size)
	}
	l.runs += len(rows)
	l.put(seq, w, append(l.rowsOf(seq, w), rows...))
	l.keep(seq, e, l.most)
}

// accept puts an event in that the journal has, with first attempts of some hooks; with
// none of them nothing waits for it.
func (l *live) accept(seq uint64, e *events.Event, size int, hooks []string, f fate) {
	if len(hooks) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	w := waiting{size: size, hooks: l.lists.number(hooks), only: true}
	if w.hooks == 0 {
		l.changed[seq] = firstAttempts(hooks)
	}
	l.setFate(&w, f)
	l.events[seq] = w
	l.bytes += int64(size)
	l.runs += len(hooks)
	l.keep(seq, e, l.most)
}

// put notes an event with its rows.
func (l *live) put(seq uint64, w waiting, rows []pendingRow) {
	w.hooks = 0
	l.events[seq], l.changed[seq] = w, rows
}

// rowsOf returns the rows of an event, which the caller may change.
func (l *live) rowsOf(seq uint64, w waiting) []pendingRow {
	if w.hooks == 0 {
		return slices.Clone(l.changed[seq])
	}
	return firstAttempts(l.lists.hooks(w.hooks))
}

// left returns how many rows an event has.
func (l *live) left(seq uint64, w waiting) int {
	if w.hooks == 0 {
		return len(l.changed[seq])
	}
	return len(l.lists.hooks(w.hooks))
}

func firstAttempts(hooks []string) []pendingRow {
	rows := make([]pendingRow, len(hooks))
	for i, hook := range hooks {
		rows[i].hook = hook
	}
	return rows
}

// stored notes that the database has an event.
func (l *live) stored(seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w, there := l.events[seq]; there {
		w.only = false
		l.events[seq] = w
	}
}

// rows returns the pending rows of an event, and the event if it is held.
func (l *live) rows(seq uint64) ([]pendingRow, *events.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w, there := l.events[seq]; there {
		return l.rowsOf(seq, w), l.whole[seq]
	}
	return nil, nil
}

// has reports whether an event is pending.
func (l *live) has(seq uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, there := l.events[seq]
	return there
}

// size returns how much data a pending event has.
func (l *live) size(seq uint64) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.events[seq].size
}

// forget takes an event out that is lost.
func (l *live) forget(seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w, there := l.events[seq]; there {
		l.remove(seq, w)
	}
}

// settle notes the fate of an event.
func (l *live) settle(seq uint64, f fate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w, there := l.events[seq]; there {
		l.setFate(&w, f)
		l.events[seq] = w
	}
}

func (l *live) setFate(w *waiting, f fate) {
	if f.clean != nil && f.clean != l.policy {
		l.policy = f.clean
		l.version++
	}
	w.final, w.clean = f.final, 0
	if f.clean != nil {
		w.clean = l.version
	}
}

// fate returns it. Of a policy before the newest it knows nothing any more.
func (l *live) fate(seq uint64) (f fate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.events[seq]
	if f.final = w.final; w.clean != 0 && w.clean == l.version {
		f.clean = l.policy
	}
	return f
}

// hold keeps an event that was read from disk, if no more than limit bytes
// are held with it; newer ones make room.
func (l *live) hold(e *events.Event, limit int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, there := l.events[e.Seq]; !there || l.whole[e.Seq] != nil {
		return
	}
	for n := len(l.newest); n > 0 && l.newest[n-1] > e.Seq && l.inRAM+cost(e) > limit; n-- {
		l.drop(l.newest[n-1])
		l.newest = l.newest[:n-1]
	}
	l.keep(e.Seq, e, limit)
}

// cost is how many bytes an event takes while it is held: of a buffer that is not full, all.
func cost(e *events.Event) int64 { return int64(cap(e.Data)) + heldCost }

// drop takes an event out of the held events.
func (l *live) drop(seq uint64) {
	if e := l.whole[seq]; e != nil {
		delete(l.whole, seq)
		l.inRAM -= cost(e)
	}
}

// event returns an event that is held; nil = it is not.
func (l *live) event(seq uint64) *events.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.whole[seq]
}

func (l *live) keep(seq uint64, e *events.Event, limit int64) {
	if e == nil || l.whole[seq] != nil || l.inRAM+cost(e) > limit {
		return
	}
	l.whole[seq] = e
	l.inRAM += cost(e)
	if n := len(l.newest); n == 0 || l.newest[n-1] < seq {
		l.newest = append(l.newest, seq)
	}
	if len(l.newest) > 2*len(l.whole)+64 {
		l.newest = slices.DeleteFunc(l.newest, func(seq uint64) bool { return l.whole[seq] == nil })
	}
}

// end takes a run out.
func (l *live) end(k events.PendingKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w, there := l.events[k.Seq]
	if !there {
		return
	}
	if hooks := l.lists.hooks(w.hooks); len(hooks) == 1 && hooks[0] == k.Hook { // as of most events
		l.remove(k.Seq, w)
		return
	}
	rows := l.rowsOf(k.Seq, w)
	left := slices.DeleteFunc(rows, func(r pendingRow) bool { return r.hook == k.Hook })
	if len(left) == 0 {
		l.remove(k.Seq, w)
		return
	}
	l.runs -= len(rows) - len(left)
	l.put(k.Seq, w, left)
}

// remove takes an event out, with all of its runs.
func (l *live) remove(seq uint64, w waiting) {
	l.runs -= l.left(seq, w)
	l.drop(seq)
	l.bytes -= int64(w.size)
	delete(l.events, seq)
	if w.hooks == 0 {
		delete(l.changed, seq)
	}
	if len(l.events) == 0 {
		l.lists.clear()
	}
}

// change changes a run that stays pending.
func (l *live) change(k events.PendingKey, f func(*pendingRow)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w, there := l.events[k.Seq]
	if !there {
		return
	}
	rows := l.rowsOf(k.Seq, w)
	for i := range rows {
		if rows[i].hook == k.Hook {
			f(&rows[i])
		}
	}
	l.put(k.Seq, w, rows)
}

// heldEvent is an event that memory has whole, with its rows.
type heldEvent struct {
	event *events.Event
	rows  []pendingRow
}

// held returns the events that memory has whole and the journal has not, in order.
func (l *live) held() []heldEvent {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []heldEvent
	for seq, e := range l.whole {
		if w := l.events[seq]; !w.only {
			list = append(list, heldEvent{e, l.rowsOf(seq, w)})
		}
	}
	slices.SortFunc(list, func(a, b heldEvent) int { return cmp.Compare(a.event.Seq, b.event.Seq) })
	return list
}

// onDisk returns the numbers of the events that only the database has.
func (l *live) onDisk() []uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []uint64
	for seq, w := range l.events {
		if l.whole[seq] == nil && !w.only {
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
	for seq, w := range l.events {
		if n := l.left(seq, w); l.whole[seq] != nil || w.only {
			kept += n
		} else {
			lost += n
		}
	}
	return kept, lost
}

// dropLost forgets the events that only the lost file held.
func (l *live) dropLost() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for seq, w := range l.events {
		if l.whole[seq] == nil && !w.only {
			l.remove(seq, w)
		}
	}
}

func (l *live) load() (events, runs int, bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.events), l.runs, l.bytes
}

// waitingStep is by how many events their number changes until Options.Waiting is told.
const waitingStep = 1 << 13

// step returns how many events are pending, if that has changed by a step.
func (l *live) step() (n int, changed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n = len(l.events); n-l.told < waitingStep && l.told-n < waitingStep {
		return n, false
	}
	l.told = n
	return n, true
}

// tellWaiting tells how many events are pending, if that has changed by a step.
func (s *core) tellWaiting() {
	if n, changed := s.live.step(); changed && s.opts.Waiting != nil {
		s.opts.Waiting(n)
	}
}

// fill reads the pending rows, without the events. A fill may have been tried before
// on a disk that failed halfway.
func (l *live) fill(db *database) error {
	l.mu.Lock()
	clear(l.events)
	clear(l.changed)
	clear(l.whole)
	l.runs, l.bytes, l.inRAM, l.newest = 0, 0, 0, nil
	l.mu.Unlock()
	var last uint64 // event, of which rows and size are
	var rows []pendingRow
	var size int
	put := func() {
		l.fillOne(last, size, rows)
		rows = rows[:0]
	}
	_, err := query(db, func(row scanner) (_ struct{}, err error) {
		var seq uint64
		var bytes int
		var r pendingRow
		if err = row.Scan(&seq, &bytes, &r.hook, &r.attempt, &r.due); err != nil {
			return
		}
		if seq != last {
			put()
		}
		last, size, rows = seq, bytes, append(rows, r)
		return
	}, `SELECT p.seq, e.size, p.hook, p.attempt, p.due
		FROM pending p JOIN events e ON e.seq = p.seq ORDER BY p.seq, p.ord`)
	put()
	return err
}

// fillOne puts an event in that the database has. Of first attempts the list of hooks is enough.
func (l *live) fillOne(seq uint64, size int, rows []pendingRow) {
	first := func(r pendingRow) bool { return r.attempt == 0 && r.due == 0 }
	if len(rows) == 0 || !slices.ContainsFunc(rows, func(r pendingRow) bool { return !first(r) }) {
		hooks := make([]string, len(rows))
		for i, r := range rows {
			hooks[i] = r.hook
		}
		l.accept(seq, nil, size, hooks, fate{})
		l.stored(seq)
		return
	}
	l.add(seq, nil, size, slices.Clone(rows))
}

// hookLists gives lists of hooks numbers: most events are for one of a few.
type hookLists struct {
	numbers map[string]uint32 // by the names, each after its length
	lists   [][]string        // by number - 1
	key     []byte            // of the list that was looked up last
}

// mostLists are enough for all patterns of the hooks that there are; events with other
// lists take more memory.
const mostLists = 1 << 12

// number returns the number of a list, which is not changed any more; 0 = there are too many.
func (h *hookLists) number(hooks []string) uint32 {
	h.key = h.key[:0]
	for _, name := range hooks {
		h.key = append(binary.AppendUvarint(h.key, uint64(len(name))), name...)
	}
	if n, there := h.numbers[string(h.key)]; there || len(h.lists) == mostLists {
		return n
	}
	if h.numbers == nil {
		h.numbers = map[string]uint32{}
	}
	h.lists = append(h.lists, hooks)
	n := uint32(len(h.lists))
	h.numbers[string(h.key)] = n
	return n
}

// hooks returns the list with a number; of 0 it is nil.
func (h *hookLists) hooks(number uint32) []string {
	if number == 0 {
		return nil
	}
	return h.lists[number-1]
}

// clear forgets all lists once there are many: hooks come and go.
func (h *hookLists) clear() {
	if len(h.lists) > mostLists/2 {
		*h = hookLists{}
	}
}
