package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Outgoing is a message for the other machines of a fleet, as it waits here until their
// servers have it.
type Outgoing struct {
	N       uint64 // its place: messages leave in this order; given by PutOutgoing
	ID      string // the same on each try
	Subject string
	At      time.Time
	Body    []byte
}

// ErrOutboxFull is the error of a message for which there is no room.
var ErrOutboxFull = errors.New("the messages that wait for the fleet take all the room they may")

// outbox keeps messages that are to be sent.
type outbox struct{ *core }

// PutOutgoing keeps a message until SentOutgoing. It returns when the message is on disk, or why
// it will not be: ErrOutboxFull when the waiting messages would take more than
// Limits.QueueBytes. A message that is there already, by its ID, is kept once.
func (s *outbox) PutOutgoing(ctx context.Context, m Outgoing) error {
	limit := s.limits.Load().QueueBytes
	err := s.do(ctx, func(db *database) error {
		var bytes sql.NullInt64
		if err := db.row(`SELECT bytes FROM outbox_size`).Scan(&bytes); err != nil {
			return fmt.Errorf("read the size of the outbox: %w", err)
		}
		if bytes.Int64 > 0 && bytes.Int64+int64(len(m.Body)) > limit {
			return ErrOutboxFull
		}
		_, err := db.exec(`INSERT INTO outbox (id, subject, key, at, body) VALUES (?, ?, '', ?, ?) ON CONFLICT (id) DO NOTHING`,
			m.ID, m.Subject, nanos(m.At), nonNil(m.Body))
		return err
	})
	if err != nil {
		return fmt.Errorf("keep message %s for the fleet: %w", m.ID, err)
	}
	return nil
}

// Outgoing returns the first messages that wait under one of some subjects, or with others those
// under all other subjects: limit at most, and no more than have that many bytes together; the first
// is always among them.
func (s *outbox) Outgoing(
	ctx context.Context, subjects []string, others bool, limit int, bytes int64,
) (all []Outgoing, err error) {
	text, err := json.Marshal(subjects)
	if err != nil {
		return nil, err
	}
	err = s.read(func(db *sql.DB) error {
		all, err = list(ctx, db, func(row scanner) (m Outgoing, err error) {
			var at int64
			err = row.Scan(&m.N, &m.ID, &m.Subject, &at, &m.Body)
			m.At = moment(at)
			return m, err
		}, `SELECT o.n, id, subject, at, body FROM outbox o JOIN (
				SELECT n, length(body) AS own, sum(length(body)) OVER (ORDER BY n) AS through FROM (
					SELECT n, body FROM outbox WHERE refused IS NULL
						AND (subject IN (SELECT value FROM json_each(?))) <> ? ORDER BY n LIMIT ?)
			) w ON w.n = o.n WHERE through <= ? OR through = own ORDER BY o.n`, string(text), others, limit, bytes)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read messages for the fleet: %w", err)
	}
	return all, nil
}

// SentOutgoing forgets messages that the servers have. It returns when the disk has
// forgotten them, or why it cannot: they would be sent again after a restart.
func (s *outbox) SentOutgoing(ctx context.Context, numbers []uint64) error {
	text, err := json.Marshal(numbers)
	if err == nil {
		err = s.do(ctx, func(db *database) error {
			_, err := db.exec(`DELETE FROM outbox WHERE n IN (SELECT value FROM json_each(?))`, string(text))
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("forget messages for the fleet: %w", err)
	}
	return nil
}

// RefuseOutgoing sets a message aside that the servers never take, and why.
func (s *outbox) RefuseOutgoing(ctx context.Context, n uint64, why string) error {
	err := s.do(ctx, func(db *database) error {
		_, err := db.exec(`UPDATE outbox SET refused = ? WHERE n = ?`, why, int64(n))
		return err
	})
	if err != nil {
		return fmt.Errorf("set a message for the fleet aside: %w", err)
	}
	return nil
}

// OutboxLoad counts the messages that wait for the fleet.
type OutboxLoad struct {
	Messages int
	Bytes    int64     // of all, with those that were refused
	Oldest   time.Time // zero = nothing waits
	Refused  int       // messages that the servers never take
	Why      string    // the last of them was refused
}

// OutboxLoad returns the load of messages that wait for the fleet.
func (s *outbox) OutboxLoad(ctx context.Context) (l OutboxLoad, err error) {
	err = s.read(func(db *sql.DB) error {
		var oldest int64
		row := db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM outbox WHERE refused IS NULL),
			(SELECT bytes FROM outbox_size),
			ifnull((SELECT at FROM outbox WHERE refused IS NULL ORDER BY n LIMIT 1), 0),
			(SELECT count(*) FROM outbox WHERE refused IS NOT NULL),
			ifnull((SELECT refused FROM outbox WHERE refused IS NOT NULL ORDER BY n DESC LIMIT 1), '')`)
		if err := row.Scan(&l.Messages, &l.Bytes, &oldest, &l.Refused, &l.Why); err != nil {
			return err
		}
		if oldest != 0 {
			l.Oldest = moment(oldest)
		}
		return nil
	})
	if err != nil {
		return l, fmt.Errorf("read what waits for the fleet: %w", err)
	}
	return l, nil
}

// refusedOutgoing deletes messages that were set aside longer ago than history is kept.
func (p *pruning) refusedOutgoing(db *database) (more bool, err error) {
	_, err = db.exec(`DELETE FROM outbox WHERE refused IS NOT NULL AND at < ?`, nanos(p.now.Add(-p.limits.MaxAge)))
	return false, err
}
