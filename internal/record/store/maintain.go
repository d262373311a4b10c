package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	mergeBytes   = 4 << 20          // in the log, roughly, until it is merged beside the writer
	waitBytes    = 32 << 20         // from which on the writer merges it: the merge beside is late
	commitBytes  = 24 << 10         // that a commit adds to the log beside what it was given: half-filled pages
	longLog      = 4096             // pages, from which on the writer merges the rest
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
	narrowed   chan struct{} // there are other limits
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
	one    sync.Mutex    // held while the log is merged: two at once get in each other's way
	volume atomic.Int64  // bytes written since the last merge began, roughly
	full   chan struct{} // the log is large enough for a checkpoint
	grown  chan struct{} // something was written that came from outside
}

// wrote counts the bytes that went into the log. news is the number of bytes that came from outside.
// The log does not outgrow a slow or starved checkpoint: the writer waits for it, and merges the rest.
func (s *merging) wrote(bytes, news int) {
	if news > 0 {
		nudge(s.grown)
	}
	switch volume := s.volume.Add(commitBytes + int64(bytes)*3/2); {
	case volume > waitBytes:
		s.merge("PASSIVE") // the next commit has the same error
	case volume > mergeBytes:
		nudge(s.full)
	}
}

// mergeLong merges a log that is long enough, unless it is the writer's turn.
func (s *merging) mergeLong(ctx context.Context) {
	if s.volume.Load() < waitBytes {
		s.checkpoint(ctx)
	}
}

// checkpoint merges the log beside the writer. Under a steady load the log
// has grown in the meantime and could not begin again; then the writer merges
// the little that is left, between two commits.
func (s *merging) checkpoint(ctx context.Context) {
	s.handles.RLock()
	defer s.handles.RUnlock()
	if s.db == nil {
		return
	}
	conn, err := s.db.reading.Conn(ctx) // queries may have them all: not while the writer waits
	if err != nil {
		return
	}
	defer conn.Close()
	pages, err := s.mergeBy(ctx, conn, "PASSIVE")
	if err = classify(err); errors.Is(err, errCorrupt) {
		s.reportCorrupt(err)
	}
	if err == nil && pages > longLog {
		s.volume.Store(waitBytes)
	}
	s.size(ctx, conn)
}

// merge merges the log by the writer's own connection.
func (s *merging) merge(mode string) error {
	if _, err := s.mergeBy(context.Background(), s.db.conn, mode); err != nil {
		return fmt.Errorf("merge the log: %w", classify(err))
	}
	return nil
}

// mergeBy merges the log and returns how many pages it had when that began.
func (s *merging) mergeBy(ctx context.Context, q querier, mode string) (pages int, err error) {
	s.one.Lock()
	defer s.one.Unlock()
	s.volume.Store(0)
	s.db.merges.Add(1)
	defer s.db.merges.Add(1)
	var busy, merged int
	err = q.QueryRowContext(ctx, "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &pages, &merged)
	return pages, err
}

// size takes down how large the database is.
func (s *merging) size(ctx context.Context, q querier) {
	var used int64
	if q.QueryRowContext(ctx, usedBytes).Scan(&used) == nil {
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
