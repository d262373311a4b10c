package store

import (
	"context"
	"time"
)

// Text of decisions is indexed when no decision was written for a moment: a verdict
// must not pay for what is looked for later. Where they never cease, so many wait for
// it at most, which a query reads one by one; the rest is indexed beside them, slowly.
const (
	indexDelay = time.Second
	indexRows  = 512    // in one step, some milliseconds: a row costs half as much as in steps of 64
	indexLate  = 20_000 // rows that wait while decisions are written
	indexRest  = 10     // times as long as a step took, meanwhile
)

// indexer indexes text step by step. The goroutine maintain has it.
type indexer struct {
	store   *Store
	timer   *time.Timer // goes off when the next step is due
	set     bool
	written uint64 // decisions, when there was the last step
	waiting int64  // decisions whose text is not indexed, a few more at most; negative = they are to be counted
}

func (s *Store) newIndexer() *indexer {
	// set: what the previous daemon left
	return &indexer{store: s, timer: time.NewTimer(s.opts.quiet), set: true, waiting: -1}
}

// wake has the next step done, some time after a decision was written.
func (x *indexer) wake() {
	if !x.set {
		x.again(x.store.opts.quiet)
	}
}

func (x *indexer) again(after time.Duration) {
	x.set = true
	x.timer.Reset(after)
}

// step indexes some text, unless others write decisions and it can wait.
func (x *indexer) step(ctx context.Context) {
	x.set = false
	written := x.store.decided.Load()
	busy := written != x.written
	if x.waiting >= 0 {
		x.waiting += int64(written - x.written)
	}
	x.written = written
	if busy && !x.late(ctx) {
		x.again(x.store.opts.quiet)
		return
	}
	begin := time.Now()
	var n int64
	err := x.store.do(ctx, func(db *database) (err error) { n, err = indexStep(db); return err })
	took := max(time.Since(begin), time.Millisecond)
	if err != nil { // the disk, or the end
		x.waiting = -1
		x.again(x.store.opts.quiet)
		return
	}
	x.took(n)
	switch {
	case n < indexRows:
	case busy:
		x.again(indexRest * took)
	default:
		x.again(took)
	}
}

// took notes that the text of n decisions is indexed.
func (x *indexer) took(n int64) {
	switch {
	case n < indexRows:
		x.waiting = 0
	case x.waiting > indexLate: // where they were counted, there may be more
		x.waiting = -1
	case x.waiting >= 0:
		x.waiting = max(x.waiting-n, 0)
	}
}

// late reports whether too much text waits to be indexed. It is counted when that is not
// known, and kept up: to count it each second takes as long as 1 % of the verdicts that it
// is asked for.
func (x *indexer) late(ctx context.Context) bool {
	if x.waiting < 0 {
		x.count(ctx)
	}
	return x.waiting > indexLate
}

func (x *indexer) count(ctx context.Context) {
	x.store.handles.RLock()
	defer x.store.handles.RUnlock()
	if x.store.db == nil {
		return
	}
	row := x.store.db.reading.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM decisions
		WHERE seq > (SELECT seq FROM indexed) LIMIT ?)`, indexLate+1)
	if row.Scan(&x.waiting) != nil {
		x.waiting = -1
	}
}

// indexStep indexes the text of the next decisions.
func indexStep(db *database) (n int64, err error) {
	n, err = db.exec(`INSERT INTO decisions_text (rowid, text) SELECT seq, subject || char(10) || reason FROM decisions
		WHERE seq > (SELECT seq FROM indexed) ORDER BY seq LIMIT ?`, indexRows)
	if err != nil || n == 0 {
		return 0, err
	}
	_, err = db.exec(`UPDATE indexed SET seq = (SELECT max(seq) FROM
		(SELECT seq FROM decisions WHERE seq > (SELECT seq FROM indexed) ORDER BY seq LIMIT ?))`, n)
	return n, err
}
