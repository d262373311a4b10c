package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// Saved is a question that is held, or an answer that is remembered, as text that the
// store does not read.
type Saved struct {
	ID       string
	EventSeq uint64 // of the event that a question is about
	Text     []byte
}

// asks keeps asks and grants.
type asks struct {
	*core
	decisions *decisions
}

// SaveAsk keeps a question that is held, so that the next daemon can tell how it has ended. It does not wait.
// With held the question outlives a kill from now on, in Options.Memory. written gives nil when it is on disk,
// or why it will not be.
func (s *asks) SaveAsk(k Saved) (held bool, written <-chan error) {
	done := make(chan error, 1)
	o := &op{exec: func(db *database) error { return saveAsk(db, k) }, done: func(err error) { done <- err }}
	in := s.decisions.unwritten.addAsk(k)
	if in != nil {
		o.after = func() { s.decisions.unwritten.releaseAsk(k.ID, in) }
	}
	if down := s.down.Load(); down != nil {
		done <- down.err
	} else if !s.queue.add(o) {
		done <- ErrClosed
	}
	return in != nil, done
}

func saveAsk(db *database, k Saved) error {
	_, err := db.exec(`INSERT OR REPLACE INTO asks (id, detail) VALUES (?, ?)`, k.ID, nonNil(k.Text))
	if err != nil {
		return fmt.Errorf("save ask %s: %w", k.ID, err)
	}
	return nil
}

// DropAsk forgets a question that was not held after all. The record of the decision about
// a held question makes the store forget that question.
func (s *asks) DropAsk(id string) {
	s.decisions.unwritten.releaseAsk(id, nil)
	s.later(0, func(db *database) error { return dropAsk(db, id) })
}

func dropAsk(db *database, id string) error {
	if _, err := db.exec(`DELETE FROM asks WHERE id = ?`, id); err != nil {
		return fmt.Errorf("drop ask %s: %w", id, err)
	}
	return nil
}

// Asks returns the questions that were not dropped, in the order of their ids. One whose
// decision a kill has left in memory is not among them: that is about to be recorded.
func (s *asks) Asks(ctx context.Context) ([]Saved, error) {
	all, err := s.saved(ctx, "asks")
	return slices.DeleteFunc(all, func(k Saved) bool { return s.decisions.unwritten.asked[k.ID] }), err
}

// SaveGrants keeps answers, all or none. It returns when they are on disk, or why they
// cannot be.
func (s *asks) SaveGrants(ctx context.Context, list ...Saved) error {
	return s.do(ctx, func(db *database) error {
		for _, k := range list {
			_, err := db.exec(`INSERT OR REPLACE INTO grants (id, detail) VALUES (?, ?)`, k.ID, nonNil(k.Text))
			if err != nil {
				return fmt.Errorf("save grant %s: %w", k.ID, err)
			}
		}
		return nil
	})
}

// DropGrants forgets answers. It returns when the disk has forgotten them, or why it
// cannot: they would be there again after a restart.
func (s *asks) DropGrants(ctx context.Context, ids ...string) error {
	return s.do(ctx, func(db *database) error {
		for _, id := range ids {
			if _, err := db.exec(`DELETE FROM grants WHERE id = ?`, id); err != nil {
				return fmt.Errorf("drop grant %s: %w", id, err)
			}
		}
		return nil
	})
}

// Grants returns the answers that are kept, in the order of their ids.
func (s *asks) Grants(ctx context.Context) ([]Saved, error) { return s.saved(ctx, "grants") }

func (s *asks) saved(ctx context.Context, table string) (all []Saved, err error) {
	err = s.read(func(db *sql.DB) error {
		all, err = list(ctx, db, func(row scanner) (k Saved, err error) {
			err = row.Scan(&k.ID, &k.Text)
			return k, err
		}, `SELECT id, detail FROM `+table+` ORDER BY id`)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", table, err)
	}
	return all, nil
}
