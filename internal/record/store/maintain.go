package store

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

const (
	mergeBytes   = 4 << 20          // in the log, roughly, until it is merged
	commitBytes  = 24 << 10         // that a commit adds to the log beside what it was given: half-filled pages
	longLog      = 4096             // pages, from which on the writer helps to merge
	idleMerge    = 30 * time.Second // after which the log is merged however short it is
	restingSweep = time.Hour        // between two prunings while nothing is written
)

// maintenance deletes old history.
type maintenance struct {
	*core
	mover      *mover
	merging    *merging
	tables     *tables
	forwarding *forwarding
	dead       *deadLetters
	auditing   *auditing
	narrowed   chan struct{} // there is another policy
}

// maintain is the goroutine that merges the log into the database and prunes,
// a while after something was written. While nothing is, it sleeps, except for
// once an hour: history also grows old.
func (s *maintenance) maintain() {
	defer s.working.Done()
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-s.ended; cancel() }()
	merge, sweep := time.NewTimer(idleMerge), time.NewTimer(max(s.opts.sweep, 0))
	defer merge.Stop()
	defer sweep.Stop()
	if s.opts.sweep < 0 {
		sweep.Stop()
	}
	resting := false // the next sweep is far away
	for {
		select {
		case <-s.merging.full:
			s.merging.mergeLong(ctx)
		case <-s.merging.grown:
			merge.Reset(idleMerge)
			if resting {
				sweep.Reset(s.opts.sweep)
				resting = false
			}
		case <-merge.C:
			if s.merging.volume.Load() > 0 {
				s.merging.checkpoint(ctx)
			}
		case <-s.narrowed:
			if s.opts.sweep > 0 {
				sweep.Reset(0)
			}
		case <-sweep.C:
			s.Prune(ctx) // an error is the outage that Health tells of, or the end
			sweep.Reset(max(s.opts.sweep, restingSweep))
			resting = true
		case <-s.ended:
			return
		}
	}
}

// merging merges the log of the database into its file.
type merging struct {
	*core
	volume  atomic.Int64  // bytes written since the last checkpoint, roughly
	full    chan struct{} // the log is large enough for a checkpoint
	grown   chan struct{} // something was written that came from outside
	catchUp atomic.Bool   // the next commit is to be followed by a checkpoint
}

// wrote counts the bytes that went into the log. news is the number of bytes that came from outside.
func (s *merging) wrote(bytes, news int) {
	if news > 0 {
		nudge(s.grown)
	}
	if s.volume.Add(commitBytes+int64(bytes)*3/2) > mergeBytes {
		nudge(s.full)
	}
	if s.catchUp.Load() {
		s.volume.Store(0)
		s.merge("PASSIVE")
		s.catchUp.Store(false) // only now may the other side begin another: two at once get in each other's way
	}
}

// mergeLong merges a log that is long enough, unless it is the writer's turn.
func (s *merging) mergeLong(ctx context.Context) {
	if !s.catchUp.Load() {
		s.checkpoint(ctx)
	}
}

// checkpoint merges the log beside the writer. Under a steady load the log
// has grown in the meantime and could not begin again; then the writer merges
// the little that is left, between two commits.
func (s *merging) checkpoint(ctx context.Context) {
	s.volume.Store(0)
	s.handles.RLock()
	defer s.handles.RUnlock()
	if s.db == nil {
		return
	}
	s.db.merges.Add(1)
	defer s.db.merges.Add(1)
	var busy, pages, merged int // pages are those of when it began
	err := s.db.reading.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &pages, &merged)
	if err = classify(err); errors.Is(err, errCorrupt) {
		s.reportCorrupt(err)
	}
	if err == nil && pages > longLog {
		s.catchUp.Store(true)
	}
	s.size(ctx, s.db)
}

// merge merges the log by the writer's own connection.
func (s *merging) merge(mode string) error {
	s.db.merges.Add(1)
	defer s.db.merges.Add(1)
	var busy, pages, merged int
	if err := s.db.row("PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &pages, &merged); err != nil {
		return fmt.Errorf("merge the log: %w", classify(err))
	}
	return nil
}

// size takes down how large the database is.
func (s *merging) size(ctx context.Context, db *database) {
	var used int64
	if db.reading.QueryRowContext(ctx, usedBytes).Scan(&used) == nil {
		s.counts.bytes.Store(used)
	}
}

// usedBytes counts the pages that hold something.
const usedBytes = `SELECT (page_count - freelist_count) * page_size
	FROM pragma_page_count, pragma_freelist_count, pragma_page_size`

// reportCorrupt tells the writer that the database is corrupt.
func (s *core) reportCorrupt(err error) {
	select {
	case s.suspect <- err:
	default:
	}
}
