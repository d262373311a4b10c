package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/audit"
	"github.com/hookd/hookd/internal/record/journal"
	"github.com/hookd/hookd/wire"
)

// losses has all of them in memory: they must outlive the file.
type losses struct {
	mu   sync.Mutex
	list []wire.Loss
	sum  int64 // of Lost, since the store was opened
}

func (l *losses) all() []wire.Loss {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

func (l *losses) load() (sum int64, count int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sum, len(l.list)
}

// add returns the loss with its number; false when it is known already: one about the same file.
func (l *losses) add(loss wire.Loss) (wire.Loss, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.list {
		if l.list[i].Path == loss.Path && loss.Path != "" && l.list[i].Why == loss.Why {
			return loss, false
		}
	}
	for _, known := range l.list {
		loss.ID = max(loss.ID, known.ID)
	}
	loss.ID++
	l.list = append(l.list, loss)
	l.sum += loss.Lost
	return loss, true
}

func (l *losses) remove(id int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(loss wire.Loss) bool { return loss.ID == id })
}

// fill reads the losses on disk.
func (l *losses) fill(db *database) error {
	saved, err := query(db, func(row scanner) (loss wire.Loss, err error) {
		var at int64
		err = row.Scan(&loss.ID, &at, &loss.Why, &loss.Path, &loss.Lost, &loss.More, &loss.DeadLetters)
		loss.Time = moment(at)
		return loss, err
	}, `SELECT id, at, why, path, lost, more, dead_letters FROM losses ORDER BY id`)
	if err != nil {
		return fmt.Errorf("read what was lost: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(saved, l.list...)
	return nil
}

func saveLoss(db *database, l wire.Loss) error {
	_, err := db.exec(`INSERT OR REPLACE INTO losses (id, at, why, path, lost, more, dead_letters)
		VALUES (?, ?, ?, ?, ?, ?, ?)`, l.ID, nanos(l.Time), l.Why, l.Path, l.Lost, l.More, l.DeadLetters)
	if err != nil {
		return fmt.Errorf("note a loss: %w", err)
	}
	return nil
}

// lossNotes notes losses and tells of incidents.
type lossNotes struct {
	*core
	auditing *auditing
}

// lost notes a loss: in memory, in the database and in the audit chain, later and without waiting.
func (s *lossNotes) lost(l wire.Loss) {
	l.Time = time.Now().UTC()
	l, is := s.losses.add(l)
	if !is {
		return
	}
	s.later(opCost, func(db *database) error { return saveLoss(db, l) })
	s.auditing.Audit(l.Time, audit.Storage, l)
}

// Losses returns the losses and set-aside files that are not taken back yet, oldest first. It never waits.
func (s *lossNotes) Losses() []wire.Loss { return s.losses.all() }

// ForgetLoss forgets a loss and returns when that is on disk. Its file, if there is one, stays under a
// name that says that it was taken back.
func (s *lossNotes) ForgetLoss(ctx context.Context, l wire.Loss, count int) error {
	if l.Path != "" {
		to := TakenBack(l.Path)
		for _, suffix := range []string{"", "-wal", "-shm"} {
			err := os.Rename(l.Path+suffix, to+suffix)
			if err != nil && !(suffix != "" && errors.Is(err, fs.ErrNotExist)) {
				return fmt.Errorf("note that %s was taken back: %w", l.Path, err)
			}
		}
	}
	err := s.do(ctx, func(db *database) error {
		if _, err := db.exec(`DELETE FROM losses WHERE id = ?`, l.ID); err != nil {
			return err
		}
		detail := map[string]any{"id": l.ID, "path": l.Path, "events": count}
		return s.auditing.chain(db, time.Now(), audit.TakenBack, detail)
	})
	if err != nil {
		return fmt.Errorf("note that loss %d is taken back: %w", l.ID, err)
	}
	s.losses.remove(l.ID)
	return nil
}

// TakenBack returns the name of the file of a loss once it is taken back.
func TakenBack(path string) string { return path + ".taken-back" }

// aside reads files that were set aside.
type aside struct {
	*core
	mover *mover
}

// SetAside calls each with every event in the file of a loss that the database does not have, and the
// hooks that were to run for it. It returns how many records of the file cannot be read. An error of
// each ends it.
func (s *aside) SetAside(
	ctx context.Context, l wire.Loss, each func(e *events.Event, hooks []string) error,
) (unreadable int, err error) {
	if err := s.mover.FlushEvents(ctx); err != nil {
		return 0, err
	}
	missing := func(e *events.Event, hooks []string) error {
		var known bool
		err := s.read(func(db *sql.DB) error {
			return db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM events WHERE id = ?)`, e.EventID).Scan(&known)
		})
		if err != nil || known || len(hooks) == 0 {
			return err
		}
		return each(e, hooks)
	}
	if filepath.Dir(l.Path) == s.journaled.folder() {
		return s.readAsideJournal(l.Path, missing)
	}
	return readAsideDatabase(ctx, l.Path, missing)
}

// readAsideJournal reads a file of the journal.
func (s *aside) readAsideJournal(path string, each func(*events.Event, []string) error) (unreadable int, err error) {
	pruned := s.pruned.Load() // up to here history has forgotten whether they ran
	mine := !strings.Contains(filepath.Base(path), ".other-")
	damaged, err := journal.ReadFile(s.opts.files, path, func(e journal.Entry, head, body []byte) error {
		if mine && e.Number <= pruned {
			return nil
		}
		a, err := decodeAccepted(e.Number, head, body)
		if err != nil {
			unreadable++
			return nil
		}
		event, err := a.row.decode(slices.Clone(body))
		if err != nil {
			unreadable++
			return nil
		}
		event.Sent = nil
		return each(event, a.hooks)
	})
	if damaged > 0 {
		unreadable++
	}
	if err != nil {
		return unreadable, fmt.Errorf("read %s: %w", path, err)
	}
	return unreadable, nil
}

// readAsideDatabase reads the pending events of a database that was set aside, each as far as it can
// be read.
func readAsideDatabase(
	ctx context.Context, path string, each func(*events.Event, []string) error,
) (unreadable int, err error) {
	if _, err := os.Stat(path); err != nil {
		return 0, err
	}
	db, err := sql.Open("sqlite", dsn(path, "query_only(1)"))
	if err != nil {
		return 0, err
	}
	defer db.Close()
	type pendingRun struct {
		seq  uint64
		hook string
	}
	rows, err := db.QueryContext(ctx, `SELECT seq, hook FROM pending ORDER BY seq, ord`)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", path, err)
	}
	defer rows.Close()
	var runs []pendingRun
	for rows.Next() {
		var r pendingRun
		if err := rows.Scan(&r.seq, &r.hook); err != nil { // it is counted
			unreadable++
			continue
		}
		runs = append(runs, r)
	}
	if rows.Err() != nil { // what follows cannot be read
		unreadable++
	}
	for len(runs) > 0 {
		n := 1
		for n < len(runs) && runs[n].seq == runs[0].seq {
			n++
		}
		var hooks []string
		for _, r := range runs[:n] {
			hooks = append(hooks, r.hook)
		}
		e, err := pendingEvent(ctx, db, runs[0].seq)
		switch {
		case ctx.Err() != nil:
			return unreadable, ctx.Err()
		case err != nil:
			unreadable += n
		default:
			if err := each(e, hooks); err != nil {
				return unreadable, err
			}
		}
		runs = runs[n:]
	}
	return unreadable, nil
}
