package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// deadRow is a run that was given up: its retries are used up, or it was too old when hookd came back.
type deadRow struct {
	wire.DeadLetter
	seq uint64 // of its event
}

const deadColumns = `SELECT id, seq, event_id, event, hook, attempts, reason, run_id, at FROM dead`

func scanDead(row scanner) (d deadRow, err error) {
	var at int64
	err = row.Scan(&d.ID, &d.seq, &d.EventID, &d.Event, &d.Hook, &d.Attempts, &d.Reason, &d.RunID, &at)
	d.Time = moment(at)
	return d, err
}

// deadLetters keeps the runs that were given up.
type deadLetters struct{ *core }

// DeadLetters returns the newest dead letters with ids below before, or the
// newest of all when before is 0. hook "" is each; limit 0 is 50.
func (s *deadLetters) DeadLetters(
	ctx context.Context, hook string, before int64, limit int,
) (all []wire.DeadLetter, err error) {
	if limit <= 0 {
		limit = 50
	}
	err = s.read(func(db *sql.DB) error {
		rows, err := list(ctx, db, scanDead, deadColumns+` WHERE (?1 = 0 OR id < ?1) AND (?2 = '' OR hook = ?2)
			ORDER BY id DESC LIMIT ?3`, before, hook, limit)
		for _, d := range rows {
			all = append(all, d.DeadLetter)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list dead letters: %w", err)
	}
	return all, nil
}

// DeadLetter returns one dead letter and the input for its hook: the
// event with all of its data. It fails with ErrNotFound.
func (s *deadLetters) DeadLetter(ctx context.Context, id int64) (d wire.DeadLetter, p events.Pending, err error) {
	err = s.readTx(ctx, func(db querier) error {
		row, err := scanDead(db.QueryRowContext(ctx, deadColumns+` WHERE id = ?`, id))
		if err != nil {
			return err
		}
		d, p.Hook = row.DeadLetter, row.Hook
		p.Event, err = pendingEvent(ctx, db, row.seq)
		return err
	})
	if err != nil {
		return d, p, fmt.Errorf("dead letter %d: %w", id, err)
	}
	return d, p, nil
}

// RetryDead makes a dead letter pending again, after the attempts that it has
// had, and returns once that is on disk. It fails with ErrNotFound.
func (s *deadLetters) RetryDead(ctx context.Context, id int64) (events.Pending, error) {
	d, p, err := s.DeadLetter(ctx, id)
	if err != nil {
		return p, err
	}
	o, first := &op{}, false
	o.exec = func(db *database) error {
		if err := s.deleteDead(db, id); err != nil {
			return err
		}
		var ord int
		row := db.row(`SELECT ifnull(max(ord) + 1, 0) FROM pending WHERE seq = ?`, int64(p.Event.Seq))
		if err := row.Scan(&ord); err != nil {
			return err
		}
		_, err := db.exec(`INSERT INTO pending (seq, hook, ord, attempt, due) VALUES (?, ?, ?, ?, 0)`,
			int64(p.Event.Seq), p.Hook, ord, d.Attempts)
		if err != nil {
			return err
		}
		more := amount{runs: 1}
		if first = ord == 0; first {
			more.events, more.bytes = 1, int64(len(p.Event.Data))
		}
		s.w.state.waiting.add(more)
		return nil
	}
	o.after = func() { s.pending.addRow(p.Event, pendingRow{hook: p.Hook, attempt: d.Attempts}, first) }
	p.Attempt = d.Attempts
	if err := s.wait(ctx, o); err != nil {
		return p, fmt.Errorf("retry dead letter %d: %w", id, err)
	}
	return p, nil
}

// DropDead deletes a dead letter. It fails with ErrNotFound.
func (s *deadLetters) DropDead(ctx context.Context, id int64) error {
	if err := s.do(ctx, func(db *database) error { return s.dropDead(db, id) }); err != nil {
		return fmt.Errorf("drop dead letter %d: %w", id, err)
	}
	return nil
}

// dropDead deletes a dead letter and the pieces of its event that were kept for its sake.
func (s *deadLetters) dropDead(db *database, id int64) error {
	seq, err := query(db, scanSeq, `SELECT seq FROM dead WHERE id = ?`, id)
	if err != nil {
		return err
	}
	if err := s.deleteDead(db, id); err != nil {
		return err
	}
	return releaseEvent(db, seq[0])
}

func (s *deadLetters) deleteDead(db *database, id int64) error {
	n, err := db.exec(`DELETE FROM dead WHERE id = ?`, id)
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrNotFound
	}
	s.w.state.dead -= n
	return nil
}
