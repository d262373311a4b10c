package store

import (
	"context"
	"time"
)

// Text of decisions is indexed a moment after it was written, a little at a time,
// and slowly while other things wait to be written: a verdict must not pay for
// what is looked for later.
const (
	indexDelay = time.Second
	indexRows  = 64 // in one step: some milliseconds
	indexRest  = 10 // times as long as a step took, while the writer is busy
)

// indexText makes the text of decisions found, step by step, until all of it is or
// the store ends. It returns after what time to try again; 0 = there is no more.
func (s *Store) indexText(ctx context.Context) (again time.Duration) {
	for {
		begin := time.Now()
		var n int64
		err := s.do(ctx, func(db *database) (err error) { n, err = indexStep(db); return err })
		if err != nil || ctx.Err() != nil {
			return indexDelay // the disk, or the end
		}
		if n < indexRows {
			return 0
		}
		took := time.Since(begin)
		if backlog, _ := s.queue.load(); backlog > batchRecords {
			return max(indexRest*took, time.Millisecond)
		}
		if s.rest(ctx, took) != nil {
			return 0
		}
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
