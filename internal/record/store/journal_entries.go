package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/journal"
)

// journalDir is the folder beside a database that has its journal.
func journalDir(path string) string { return path + "-accepted" }

// Where an event is that the journal has.
type whereabouts int

const (
	inJournal  whereabouts = iota // and nowhere else
	beingMoved                    // into the database, by the transaction under way: only the writer sees it there
	inDatabase
)

// entry is an event in the journal. There may be many, so it has no pointer, which the garbage collector would follow.
type entry struct {
	journal.Entry
	where whereabouts
	over  bool // it went into the database as history keeps it: nothing waited for it any more
	sent  bool // its sender gave it an id
}

// journaled is the journal as far as the database is not complete without it.
//
// An event goes from the journal into the database in the first transaction that has something to
// say about it. So the database never speaks of an event that it does not have. The event has the
// form that history keeps if that transaction ends all of its runs. Else it goes with its pending
// rows. Others stay where they are until they are asked for, or have been pending for some time, or
// the journal is too long. The same transaction writes up to where the database is complete. After
// a crash reading begins there, and leaves out the events that the database has already.
type journaled struct {
	mu      sync.Mutex       // guards all below
	log     *journal.Journal // nil = it could not be opened yet
	dir     string
	entries []*entry    // in order, from the first on that only the journal has
	sorted  []*entry    // the same in the order of their numbers, from the first such on
	only    int         // entries that only the journal has
	end     journal.Pos // after the last entry
	last    time.Time   // when the last entry came; zero = an earlier process wrote it
	newest  uint64      // the greatest number in it ever
}

// add takes in the entries that were appended at a time, in order.
func (j *journaled) add(list []entry, at time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range list {
		e := &list[i]
		if e.where == inJournal {
			j.only++
		}
		j.entries, j.sorted = append(j.entries, e), append(j.sorted, e)
		for i := len(j.sorted) - 1; i > 0 && j.sorted[i-1].Number > e.Number; i-- { // a little, if at all
			j.sorted[i], j.sorted[i-1] = j.sorted[i-1], e
		}
		j.end = journal.Pos{Segment: e.Segment, Offset: e.Offset + e.Bytes()}
		j.newest = max(j.newest, e.Number)
		j.last = at
	}
}

// find returns the entry of an event; nil = it is not in the journal, as far as that is
// known here. The caller holds mu.
func (j *journaled) find(seq uint64) *entry {
	if seq > j.newest {
		return nil
	}
	if i, there := slices.BinarySearchFunc(j.sorted, seq, byNumber); there {
		return j.sorted[i]
	}
	return nil
}

func byNumber(e *entry, seq uint64) int { return cmp.Compare(e.Number, seq) }

// onlyHere returns the entry of an event that the database does not have; nil = it has.
func (j *journaled) onlyHere(seq uint64) *entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	if e := j.find(seq); e != nil && e.where == inJournal {
		return e
	}
	return nil
}

// moved reports whether the database has the event of an entry.
func (j *journaled) moved(e *entry) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return e.where == inDatabase
}

// has reports whether an event is in the journal, as far as that is known here.
func (j *journaled) has(seq uint64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.find(seq) != nil
}

// over reports whether an event went into the database with nothing waiting for it. That was in the
// transaction under way or a little before.
func (j *journaled) over(seq uint64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := j.find(seq)
	return e != nil && e.where != inJournal && e.over
}

// oldest returns the first entries that only the journal has, most at most, and before a
// place; the zero Pos is no bound.
func (j *journaled) oldest(most int, before journal.Pos) (list []*entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.entries {
		if len(list) == most || before != (journal.Pos{}) && !e.Pos.Before(before) {
			break
		}
		if e.where == inJournal {
			list = append(list, e)
		}
	}
	return list
}

// after returns the first entries of wanted events above seq that readers of the database may not
// find yet. Entries that the transaction under way moves are among them: readers see nothing of a
// transaction before its commit.
func (j *journaled) after(seq uint64, most int, wanted func(seq uint64) bool) (list []*entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	first, _ := slices.BinarySearchFunc(j.sorted, seq+1, byNumber)
	for _, e := range j.sorted[first:] {
		if len(list) == most {
			break
		}
		if e.where != inDatabase && wanted(e.Number) {
			list = append(list, e)
		}
	}
	return list
}

// ids returns the ids of events that the database may not have yet, in the order of their numbers.
// A damaged entry is left out: the writer tells that it is damaged.
func (j *journaled) ids() (list []events.SentEvent, err error) {
	for _, e := range j.after(0, math.MaxInt, func(uint64) bool { return true }) {
		if !e.sent {
			continue
		}
		head, err := j.journal().Head(e.Entry)
		switch {
		case errors.Is(err, journal.ErrDamaged):
			continue
		case err != nil:
			return nil, err
		}
		if a, err := decodeAccepted(e.Number, head, nil); err == nil && a.sent != nil {
			list = append(list, *a.sent)
		}
	}
	return list, nil
}

// endMoves ends a transaction that has moved entries: into the database, or back if it failed.
func (j *journaled) endMoves(moved []*entry, committed bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range moved {
		if !committed {
			e.where, e.over = inJournal, false
			continue
		}
		e.where = inDatabase
		j.only--
	}
	j.entries, j.sorted = cut(j.entries, done(j.entries)), cut(j.sorted, done(j.sorted))
}

// done returns how many of the first entries are in the database.
func done(list []*entry) (n int) {
	for n < len(list) && list[n].where == inDatabase {
		n++
	}
	return n
}

// cut returns list without the first n.
func cut(list []*entry, n int) []*entry {
	if n == len(list) {
		return nil
	}
	clear(list[:n])
	return list[n:]
}

// complete returns the place up to which the database is complete once the transaction under
// way is.
func (j *journaled) complete() journal.Pos {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.entries {
		if e.where == inJournal {
			return e.Pos
		}
	}
	return j.end
}

// finish tells that nothing more comes and nothing in it is needed: the next journal begins
// another segment.
func (j *journaled) finish() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.end = j.log.Next()
}

// floor returns the least number of an event that would be read from the journal after a
// crash: the history must have it as long as that is so.
func (j *journaled) floor() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	least := uint64(1 << 62)
	for _, e := range j.entries {
		least = min(least, e.Number)
	}
	return least
}

// greatest returns the greatest number that was ever in the journal.
func (j *journaled) greatest() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.newest
}

// load tells how many events only the journal has, how much it takes on disk, and when the
// last one came.
func (j *journaled) load() (only int, bytes int64, last time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.log != nil {
		bytes = j.log.Size()
	}
	return j.only, bytes, j.last
}

// span returns how many events the journal has from the first on that only the journal has.
func (j *journaled) span() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.entries)
}

// long reports whether the journal is to be shortened.
func (j *journaled) long() bool {
	only, bytes, _ := j.load()
	return only > 0 && (bytes > longJournal || j.span() > longEvents)
}

// journal returns the log; nil = it could not be opened yet.
func (j *journaled) journal() *journal.Journal {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.log
}

// read reads an event from the journal, all parts or only the parts that final needs.
func (j *journaled) read(e *entry, all bool) (accepted, error) {
	log := j.journal()
	if !all && e.Body > pieceBytes { // of a large event little may be needed
		head, err := log.Head(e.Entry)
		if err != nil {
			return accepted{}, err
		}
		if a, err := decodeAccepted(e.Number, head, nil); err != nil || !a.row.finalNeedsData() {
			return a, err
		}
	}
	head, data, err := log.Read(e.Entry)
	if err != nil {
		return accepted{}, err
	}
	return decodeAccepted(e.Number, head, data)
}

// mover opens the journal and moves its events into the database.
type mover struct {
	*core
	tables *tables
	loss   *lossNotes
}

// openJournal opens the journal of a database that holds all events before a place. It finds the
// events that only the journal has. A journal beside a database that is new belongs to it.
func (s *mover) openJournal(db *database, st state, left marks) error {
	former, err := query(db, scanID, `SELECT epoch FROM epochs`)
	if err != nil {
		return fmt.Errorf("read the former names of the database: %w", err)
	}
	var list []entry
	type pending struct {
		hooks []string
		size  int
	}
	var read []pending // of list
	senseless, known := 0, map[uint64]bool{}
	o := journal.Options{
		Dir: journalDir(db.path), Owner: st.epoch, Former: former, Adopt: s.w.orphans || st.fresh,
		Sync: s.opts.Durable == DurableFsync, Files: s.opts.files,
		SetAside: !s.w.failing.IsZero() && time.Since(s.w.failing) > s.opts.unread,
	}
	if o.Adopt || left.epoch == st.epoch || slices.Contains(former, left.epoch) {
		o.Confirmed = left.confirmed
	}
	from := st.complete
	if o.Adopt && !s.w.orphans {
		from = journal.Pos{}
	}
	s.journaled.reset(o.Dir)
	log, found, err := journal.Open(o, from, func(e journal.Entry, head []byte) error {
		a, err := decodeAccepted(e.Number, head, nil)
		if errors.Is(err, ErrNewer) {
			return err
		}
		if err != nil || known[e.Number] {
			senseless++
			return nil
		}
		known[e.Number] = true
		list = append(list, entry{Entry: e, sent: a.sent != nil})
		read = append(read, pending{a.hooks, a.row.size})
		return nil
	})
	if errors.Is(err, journal.ErrNewer) || errors.Is(err, ErrNewer) {
		return fmt.Errorf("%w: install that hookd, or move the folder away: %w", ErrNewer, err)
	}
	if err != nil {
		if s.w.failing.IsZero() {
			s.w.failing = time.Now()
		}
		return fmt.Errorf("%w: %w", ErrIO, err)
	}
	if err := findStored(db, list); err != nil {
		log.Close(false)
		return err
	}
	j := s.journaled
	j.mu.Lock()
	j.log, j.end = log, from
	if j.end.Before(o.Confirmed) { // what is missing of it is told once
		j.end = o.Confirmed
	}
	j.mu.Unlock()
	for i, e := range list {
		if e.where == inJournal {
			s.pending.accept(e.Number, nil, read[i].size, read[i].hooks, fate{})
		}
	}
	j.add(list, time.Time{})
	j.endMoves(nil, true)
	s.tellFound(found, senseless, left)
	return nil
}

// reset returns to the state before the journal was opened.
func (j *journaled) reset(dir string) {
	j.mu.Lock()
	log := j.log
	j.log, j.dir, j.entries, j.sorted, j.only = nil, dir, nil, nil, 0
	j.mu.Unlock()
	if log != nil {
		log.Close(false)
	}
}

// findStored notes the entries in the database. A row with a damaged number stands for no entry.
func findStored(db *database, list []entry) error {
	if len(list) == 0 {
		return nil
	}
	least, waiting := list[0].Number, make(map[uint64]*entry, len(list))
	for i, e := range list {
		least = min(least, e.Number)
		waiting[e.Number] = &list[i]
	}
	_, err := query(db, func(row scanner) (none struct{}, err error) {
		var seq uint64
		if err = row.Scan(&seq); waiting[seq] != nil {
			waiting[seq].where = inDatabase
		}
		return none, err
	}, `SELECT seq FROM events e WHERE seq >= ? AND ifnull((SELECT seq FROM events WHERE id = e.id), seq) = seq`,
		int64(least))
	return err
}

// tellFound reports the parts of the journal that are not as they should be: each file, and each segment that is
// missing. senseless is how many of its records say nothing.
func (s *mover) tellFound(f journal.Found, senseless int, left marks) {
	_, kept, _ := s.pending.load()
	tell := func(in Incident) {
		in.Kind, in.Path, in.Kept = IncidentJournal, s.journaled.folder(), kept
		s.loss.report(in)
	}
	rest, counted := max(0, int(left.pending)-kept), left.boot // runs that were pending and are not now
	lose := func(least int) (lost int, more bool) {
		if !counted {
			return least, true
		}
		lost, rest = rest, 0
		return lost, false
	}
	unread := false
	for _, a := range f.Aside {
		in := Incident{Err: fmt.Errorf("a file was set aside: %w", a.Why), MovedTo: a.Path}
		if in.Lost, in.More = s.countAside(a.Path); in.More {
			in.Lost, in.More = lose(in.Lost)
		}
		unread = unread || !errors.Is(a.Why, journal.ErrOther)
		tell(in)
	}
	for _, d := range f.Damaged {
		in := Incident{MovedTo: d.Kept}
		switch {
		case d.Kept == "":
			in.Err = fmt.Errorf("the header of segment %d is damaged, its records are whole", d.Segment)
		case d.Torn:
			in.Err = fmt.Errorf("%d bytes at the end of segment %d are no whole record: hookd or the machine ended while it was "+
				"written, or the disk has damaged it", d.Bytes, d.Segment)
		default:
			in.Err = fmt.Errorf("%d bytes of segment %d are damaged", d.Bytes, d.Segment)
			in.Lost, in.More = lose(d.Records)
		}
		tell(in)
	}
	if len(f.Missing) > 0 && !unread && (rest > 0 || !counted) { // else nothing in them was pending
		in := Incident{Err: fmt.Errorf("segments %v are missing", f.Missing)}
		in.Lost, in.More = lose(0)
		tell(in)
	}
	if senseless > 0 {
		in := Incident{Err: fmt.Errorf("%d records make no sense, or are there twice", senseless)}
		in.Lost, in.More = lose(senseless)
		tell(in)
	}
}

// countAside counts the events in a file that was set aside; more tells that it cannot be read as a whole.
func (s *mover) countAside(path string) (n int, more bool) {
	damaged, err := journal.ReadFile(s.opts.files, path, func(journal.Entry, []byte, []byte) error { n++; return nil })
	return n, err != nil || damaged > 0
}

// folder is where the journal is; "" = it was not opened yet.
func (j *journaled) folder() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.dir
}

// bring moves an event into the database unless it is there.
func (s *mover) bring(db *database, seq uint64) error {
	if e := s.journaled.onlyHere(seq); e != nil {
		return s.move(db, e)
	}
	return nil
}

// move moves an event from the journal into the database.
func (s *mover) move(db *database, e *entry) error {
	rows, held := s.pending.rows(e.Number)
	over := s.w.ending.all(e.Number, rows)
	a, err := s.journaled.read(e, !over)
	switch {
	case err == nil:
		if e == s.w.unread {
			s.w.unread = nil
		}
	case held != nil:
		p := s.limits.Load()
		a = accepted{row: encodeEvent(held, len(rows) > 0, p), sent: sentOf(held)}
		s.pending.noteFate(e.Number, a.row.fate(p))
	case !errors.Is(err, journal.ErrDamaged) && !errors.Is(err, errRecord) && s.patient(e.Segment):
		s.w.unread = e
		return fmt.Errorf("%w: event %d: %w", ErrIO, e.Number, err)
	default:
		return s.lose(e, err)
	}
	row := a.row
	if over {
		row, rows = row.final(), nil
	}
	if held == nil {
		if held, err = row.decode(nil); err != nil {
			return err
		}
	}
	if err := s.tables.insert(db, held, row, rows); err != nil {
		if refused(err) {
			return s.lose(e, err)
		}
		return err
	}
	if err := insertSent(db, a.sent); err != nil {
		return err
	}
	s.journaled.moving(e, over)
	s.w.moved = append(s.w.moved, e)
	return nil
}

// moving notes that the transaction under way takes an entry in.
func (j *journaled) moving(e *entry, over bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.where, e.over = beingMoved, over
}

// lose gives up an event that cannot be read any more. The file that has it stays.
func (s *mover) lose(e *entry, cause error) error {
	file, err := s.journaled.journal().Keep(e.Segment)
	if err != nil {
		cause = errors.Join(cause, err)
	}
	rows, _ := s.pending.rows(e.Number)
	s.pending.forget(e.Number)
	s.journaled.moving(e, true)
	s.w.moved = append(s.w.moved, e)
	kept, _ := s.pending.count()
	s.loss.report(Incident{
		Kind: IncidentJournal, Err: fmt.Errorf("event %d: %w", e.Number, cause), Path: s.journaled.folder(),
		Kept: kept, Lost: len(rows), MovedTo: file,
	})
	return nil
}

// ending are the runs that end in the transaction under way, by event.
type ending map[uint64][]string

// of fills it.
func (n ending) of(batch []*op) {
	clear(n)
	for _, o := range batch {
		if o.ends != "" {
			n[o.event] = append(n[o.event], o.ends)
		}
	}
}

// all reports whether all rows of an event end.
func (n ending) all(seq uint64, rows []pendingRow) bool {
	for _, r := range rows {
		if !slices.Contains(n[seq], r.hook) {
			return false
		}
	}
	return true
}

// moveRows is how many events a step moves: some 30 ms of the writer's time.
const moveRows = 512

// moveAll commits until all that only the journal has is moved, or nothing can be written.
func (s *healer) moveAll() {
	for more := true; more && s.down.Load() == nil; {
		s.commit([]*op{{exec: func(db *database) (err error) {
			more, err = s.mover.moveOldest(db, journal.Pos{})
			return err
		}}})
	}
}

// moveOldest moves the first events of the journal, and tells whether there are more.
func (s *mover) moveOldest(db *database, before journal.Pos) (more bool, err error) {
	bytes := int64(0)
	list := s.journaled.oldest(moveRows, before)
	for _, e := range list {
		if err := s.move(db, e); err != nil {
			return false, err
		}
		if bytes += e.Bytes(); bytes > batchBytes {
			return true, nil
		}
	}
	return len(list) == moveRows, nil
}

// FlushEvents is Flush, and returns when the database has all events that were accepted
// before it was called: then queries find them.
func (s *mover) FlushEvents(ctx context.Context) error {
	j := s.journaled
	j.mu.Lock()
	end := j.end
	j.mu.Unlock()
	for more := len(j.oldest(1, end)) > 0; more; {
		err := s.do(ctx, func(db *database) (err error) {
			more, err = s.moveOldest(db, end)
			return err
		})
		if err != nil {
			return err
		}
	}
	return s.Flush(ctx)
}
