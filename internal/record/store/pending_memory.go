package store

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/hookd/hookd/internal/events"
)

// pendingMemory has the number and size of all pending events, as of the last commit. Beside the database it holds
// events itself: events of the journal alone, and events kept against the loss of the database. It holds no others,
// of which a million may wait on disk.
//
// The value for each has no pointer: the garbage collector would follow it, several times a second
// where much is accepted.
type pendingMemory struct {
	// most is how many bytes of events, each with heldCost, are held in memory for the case
	// that the database is lost. The events that the dispatcher holds are shared: it has the oldest
	// events, so the newest make room for them.
	most int64

	mu      sync.Mutex // guards all below
	events  map[uint64]waiting
	changed map[uint64][]pendingRow  // of events with rows that are no first attempts of a known list of hooks
	whole   map[uint64]*events.Event // that are held
	lists   hookLists                // that waiting.hooks numbers
	limits  *Limits                  // of the newest fate
	version uint32                   // of limits: it grows with each change
	disk    amount                   // in the database
	only    amount                   // in the journal alone
	inRAM   int64
	told    int             // how many events Options.Waiting was told of
	newest  []uint64        // events that are held, the newest last; some are not any more
	readers int             // that read rows of the database to hold them
	touched map[uint64]bool // events whose rows in the database have changed while there are readers
}

// amount is how much is pending.
type amount struct{ events, runs, bytes int64 } // bytes of payload

func (a *amount) add(b amount) {
	a.events, a.runs, a.bytes = a.events+b.events, a.runs+b.runs, a.bytes+b.bytes
}

func (a *amount) sub(b amount) {
	a.events, a.runs, a.bytes = a.events-b.events, a.runs-b.runs, a.bytes-b.bytes
}

// waiting is an event and the hooks that have not ended for it.
type waiting struct {
	size  uint32
	hooks uint32 // number of their list, in order of registration; 0 = the rows are in pendingMemory.changed
	clean uint32 // pendingMemory.version of fate.clean; 0 = nil
	final bool   // as fate.final
	only  bool   // the database does not have it, but the journal does
}

// fate is the known state of an event's row; zero = nothing is known.
type fate struct {
	final bool    // it is what history keeps
	clean *Limits // it has nothing that these limits hide
}

// pendingRow is a row of the table pending.
type pendingRow struct {
	hook    string
	attempt int
	due     int64 // nanoseconds since 1970; 0 = now
}

func newPendingMemory(most int64) *pendingMemory {
	return &pendingMemory{
		most: most, events: map[uint64]waiting{}, changed: map[uint64][]pendingRow{},
		whole: map[uint64]*events.Event{}, touched: map[uint64]bool{},
	}
}

// heldCost is the size in bytes that an event in memory takes besides its data.
const heldCost = 1 << 10

// accept puts an event in that the journal has, with first attempts of some hooks; with
// none of them nothing waits for it.
func (l *pendingMemory) accept(seq uint64, e *events.Event, size int, hooks []string, f fate) {
	if len(hooks) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	w := waiting{size: uint32(size), hooks: l.lists.number(hooks), only: true}
	if w.hooks == 0 {
		l.changed[seq] = firstAttempts(hooks)
	}
	l.setFate(&w, f)
	l.events[seq] = w
	l.only.add(l.amountOf(seq, w))
	l.keep(seq, e, l.most)
}

// amountOf returns how much an event is.
func (l *pendingMemory) amountOf(seq uint64, w waiting) amount {
	return amount{1, int64(l.left(seq, w)), int64(w.size)}
}

// put notes an event with its rows.
func (l *pendingMemory) put(seq uint64, w waiting, rows []pendingRow) {
	w.hooks = 0
	l.events[seq], l.changed[seq] = w, rows
}

// rowsOf returns the rows of an event, which the caller may change.
func (l *pendingMemory) rowsOf(seq uint64, w waiting) []pendingRow {
	if w.hooks == 0 {
		return slices.Clone(l.changed[seq])
	}
	return firstAttempts(l.lists.hooks(w.hooks))
}

// left returns how many rows an event has.
func (l *pendingMemory) left(seq uint64, w waiting) int {
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

// stored notes that the database has the events of some entries, and how much is pending in it.
func (l *pendingMemory) stored(moved []*entry, disk amount) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.disk = disk
	for _, e := range moved {
		w, there := l.events[e.Number]
		if !there {
			continue
		}
		l.only.sub(l.amountOf(e.Number, w))
		w.only = false
		if l.events[e.Number] = w; l.whole[e.Number] == nil {
			l.remove(e.Number, w)
		}
	}
}

// inDatabase notes how much is pending in the database.
func (l *pendingMemory) inDatabase(disk amount) { l.stored(nil, disk) }

// reset forgets all that is in memory.
func (l *pendingMemory) reset(disk amount) {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.events)
	clear(l.changed)
	clear(l.whole)
	l.disk, l.only, l.inRAM, l.newest = disk, amount{}, 0, nil
}

// rows returns the pending rows of an event in memory, and the event if it is held.
func (l *pendingMemory) rows(seq uint64) ([]pendingRow, *events.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w, there := l.events[seq]; there {
		return l.rowsOf(seq, w), l.whole[seq]
	}
	return nil, nil
}

// has reports whether a pending event is in memory.
func (l *pendingMemory) has(seq uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, there := l.events[seq]
	return there
}

// size returns how much data a pending event in memory has.
func (l *pendingMemory) size(seq uint64) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int(l.events[seq].size)
}

// forget takes an event out that is lost.
func (l *pendingMemory) forget(seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w, there := l.events[seq]; there {
		if w.only {
			l.only.sub(l.amountOf(seq, w))
		}
		l.remove(seq, w)
	}
}

// noteFate notes the fate of an event.
func (l *pendingMemory) noteFate(seq uint64, f fate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w, there := l.events[seq]; there {
		l.setFate(&w, f)
		l.events[seq] = w
	}
}

func (l *pendingMemory) setFate(w *waiting, f fate) {
	if f.clean != nil && f.clean != l.limits {
		l.limits = f.clean
		l.version++
	}
	w.final, w.clean = f.final, 0
	if f.clean != nil {
		w.clean = l.version
	}
}

// fate returns it. Of limits before the newest it knows nothing any more.
func (l *pendingMemory) fate(seq uint64) (f fate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.events[seq]
	if f.final = w.final; w.clean != 0 && w.clean == l.version {
		f.clean = l.limits
	}
	return f
}

// watch has changes of rows in the database noted until unwatch. So rows that were read before a change
// are not held after it.
func (l *pendingMemory) watch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readers++
}

func (l *pendingMemory) unwatch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readers--; l.readers == 0 {
		clear(l.touched)
	}
}

// touch notes that the rows of an event have changed. The caller holds mu.
func (l *pendingMemory) touch(seq uint64) {
	if l.readers > 0 {
		l.touched[seq] = true
	}
}

// holdRead keeps an event that was read from disk since watch, with its rows in the database; an event
// that only the journal has has its rows. No more than limit bytes are held with it; newer ones make room.
func (l *pendingMemory) holdRead(e *events.Event, rows []pendingRow, limit int64) (held bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.events[e.Seq]; w.only {
		rows = nil
	} else if l.touched[e.Seq] || len(rows) == 0 {
		return false
	}
	if l.whole[e.Seq] != nil {
		return true
	}
	for n := len(l.newest); n > 0 && l.newest[n-1] > e.Seq && l.inRAM+cost(e) > limit; n-- {
		l.drop(l.newest[n-1])
		l.newest = l.newest[:n-1]
	}
	return l.hold(e, rows, limit)
}

// addRow adds a row to the rows that the database has of an event; first tells that it is the only one.
func (l *pendingMemory) addRow(e *events.Event, row pendingRow, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.touch(e.Seq)
	if w, there := l.events[e.Seq]; there {
		l.put(e.Seq, w, append(l.rowsOf(e.Seq, w), row))
	} else if first {
		l.hold(e, []pendingRow{row}, l.most)
	}
}

// holdNew keeps an event that the database has got with its rows.
func (l *pendingMemory) holdNew(e *events.Event, rows []pendingRow) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.touch(e.Seq); l.whole[e.Seq] == nil && len(rows) > 0 {
		l.hold(e, rows, l.most)
	}
}

// hold keeps an event, with its rows if the database has it. The caller holds mu.
func (l *pendingMemory) hold(e *events.Event, rows []pendingRow, limit int64) bool {
	if !l.keep(e.Seq, e, limit) {
		return false
	}
	if rows != nil {
		l.put(e.Seq, waiting{size: uint32(len(e.Data))}, slices.Clone(rows))
	}
	return true
}

// cost is how many bytes an event takes while it is held: of a buffer that is not full, all.
func cost(e *events.Event) int64 { return int64(cap(e.Data)) + heldCost }

// drop takes an event out of the held events; of an event in the database nothing is left in memory.
func (l *pendingMemory) drop(seq uint64) {
	e := l.whole[seq]
	if e == nil {
		return
	}
	delete(l.whole, seq)
	l.inRAM -= cost(e)
	if w := l.events[seq]; !w.only {
		l.remove(seq, w)
	}
}

// event returns an event that is held; nil = it is not.
func (l *pendingMemory) event(seq uint64) *events.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.whole[seq]
}

func (l *pendingMemory) keep(seq uint64, e *events.Event, limit int64) bool {
	if e == nil || l.whole[seq] != nil || l.inRAM+cost(e) > limit {
		return false
	}
	l.whole[seq] = e
	l.inRAM += cost(e)
	if n := len(l.newest); n == 0 || l.newest[n-1] < seq {
		l.newest = append(l.newest, seq)
	}
	if len(l.newest) > 2*len(l.whole)+64 {
		l.newest = slices.DeleteFunc(l.newest, func(seq uint64) bool { return l.whole[seq] == nil })
	}
	return true
}

// end takes a run out that the database has.
func (l *pendingMemory) end(k events.PendingKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.touch(k.Seq)
	w, there := l.events[k.Seq]
	if !there {
		return
	}
	left := slices.DeleteFunc(l.rowsOf(k.Seq, w), func(r pendingRow) bool { return r.hook == k.Hook })
	if len(left) == 0 {
		l.remove(k.Seq, w)
		return
	}
	l.put(k.Seq, w, left)
}

// remove takes an event out of memory.
func (l *pendingMemory) remove(seq uint64, w waiting) {
	if e := l.whole[seq]; e != nil {
		delete(l.whole, seq)
		l.inRAM -= cost(e)
	}
	delete(l.events, seq)
	if w.hooks == 0 {
		delete(l.changed, seq)
	}
	if len(l.events) == 0 {
		l.lists.clear()
	}
}

// change changes a run that stays pending in the database.
func (l *pendingMemory) change(k events.PendingKey, to pendingRow) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.touch(k.Seq)
	w, there := l.events[k.Seq]
	if !there {
		return
	}
	rows := l.rowsOf(k.Seq, w)
	for i := range rows {
		if rows[i].hook == k.Hook {
			rows[i] = to
		}
	}
	l.put(k.Seq, w, rows)
}

// wholeEvent is an event that memory has whole, with its rows.
type wholeEvent struct {
	event *events.Event
	rows  []pendingRow
}

// wholeEvents returns the events that memory has whole and the journal has not, in order.
func (l *pendingMemory) wholeEvents() []wholeEvent {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []wholeEvent
	for seq, e := range l.whole {
		if w := l.events[seq]; !w.only {
			list = append(list, wholeEvent{e, l.rowsOf(seq, w)})
		}
	}
	slices.SortFunc(list, func(a, b wholeEvent) int { return cmp.Compare(a.event.Seq, b.event.Seq) })
	return list
}

// count tells how many runs memory and journal can write again, and how many they cannot.
func (l *pendingMemory) count() (kept, lost int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := 0
	for seq := range l.whole {
		if w := l.events[seq]; !w.only {
			held += l.left(seq, w)
		}
	}
	return int(l.only.runs) + held, max(0, int(l.disk.runs)-held)
}

// dropLost forgets the events that only the lost file held.
func (l *pendingMemory) dropLost() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.disk = amount{}
	for seq := range l.whole {
		if w := l.events[seq]; !w.only {
			l.disk.add(l.amountOf(seq, w))
		}
	}
}

func (l *pendingMemory) load() (events, runs int, bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.disk
	all.add(l.only)
	return int(all.events), int(all.runs), all.bytes
}

// inMemory returns how many pending events are in memory.
func (l *pendingMemory) inMemory() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.events)
}

// waitingStep is by how many events in memory their number changes until Options.Waiting is told.
const waitingStep = 1 << 13

// step returns how many pending events are in memory, if that has changed by a step.
func (l *pendingMemory) step() (n int, changed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n = len(l.events); n-l.told < waitingStep && l.told-n < waitingStep {
		return n, false
	}
	l.told = n
	return n, true
}

// tellWaiting tells how many pending events are in memory, if that has changed by a step.
func (s *core) tellWaiting() {
	if n, changed := s.pending.step(); changed && s.opts.Waiting != nil {
		s.opts.Waiting(n)
	}
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
