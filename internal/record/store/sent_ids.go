package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hookd/hookd/internal/events"
)

// sentAge is how long the ids that senders gave their events are kept on disk.
const sentAge = 10 * time.Minute

// sentDetail has the fields without a column of their own.
type sentDetail struct {
	Matched  []string `json:"matched,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	Wait     bool     `json:"wait,omitempty"`
	Decided  bool     `json:"decided,omitempty"`
}

// sentOf returns the id that e's sender gave it, as it is kept; nil = it gave none.
func sentOf(e *events.Event) *events.SentEvent {
	if e.Sent == nil {
		return nil
	}
	return &events.SentEvent{
		Sender: e.Sender, ID: e.ID, Sent: *e.Sent, Time: e.Time, EventID: e.EventID, Seq: e.Seq,
		Warnings: e.Warnings, Wait: e.Wait, Decided: e.Wait && e.Contract.Decidable,
	}
}

// insertSent writes an id; nil = there is none.
func insertSent(db *database, e *events.SentEvent) error {
	if e == nil {
		return nil
	}
	detail, err := json.Marshal(sentDetail{e.Matched, e.Warnings, e.Wait, e.Decided})
	if err == nil {
		var answer any // NULL
		if e.Answer != nil {
			answer = e.Answer
		}
		_, err = db.exec(`INSERT OR REPLACE INTO sent (seq, sender, id, content, at, event_id, detail, answer)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			int64(e.Seq), e.Sender, e.ID, e.Content[:], nanos(e.Time), e.EventID, detail, answer)
	}
	if err != nil {
		return fmt.Errorf("insert the id of event %s: %w", e.EventID, err)
	}
	return nil
}

// sentLister returns the ids and answers that are known.
type sentLister = func() []events.SentEvent

// sentIDs keeps the ids that senders gave their events.
type sentIDs struct {
	*core
	sentAgain atomic.Pointer[sentLister] // see Keep; nil = none
}

// Keep has list called when another file is begun in the place of the database: the
// ids and answers that it returns are written to it. list must not wait for the store.
func (s *sentIDs) Keep(list sentLister) { s.sentAgain.Store(&list) }

// carrySent writes the ids and answers that are known to a new file.
func (s *sentIDs) carrySent(db *database) error {
	list := s.sentAgain.Load()
	if list == nil {
		return nil
	}
	for _, e := range (*list)() {
		if err := insertSent(db, &e); err != nil {
			return err
		}
	}
	return nil
}

// noteSent writes the id of an event later, without the event.
func (s *sentIDs) noteSent(e *events.Event) {
	sent := sentOf(e)
	s.queue.add(&op{size: opCost, exec: func(db *database) error { return insertSent(db, sent) }})
}

// Sent calls each with every event that has an id and was accepted since then,
// oldest first.
func (s *sentIDs) Sent(since time.Time, each func(events.SentEvent)) error {
	ctx := context.Background()
	only, err := s.journaled.ids() // first: what is moved meanwhile is found twice, not never
	if err != nil {
		return fmt.Errorf("read the ids of events: %w", err)
	}
	err = s.read(func(db *sql.DB) error {
		rows, err := db.QueryContext(ctx, `SELECT seq, sender, id, content, at, event_id, detail, answer
			FROM sent WHERE at >= ? ORDER BY seq`, nanos(since))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			e, err := scanSent(rows)
			if err != nil {
				return err
			}
			only = before(only, e.Seq, since, each)
			each(e)
		}
		before(only, 1<<63, since, each)
		return rows.Err()
	})
	if err != nil {
		return fmt.Errorf("read the ids of events: %w", err)
	}
	return nil
}

// before calls each with the first ids of a list, up to those of the event seq, and returns
// those after it.
func before(
	list []events.SentEvent, seq uint64, since time.Time, each func(events.SentEvent),
) []events.SentEvent {
	for len(list) > 0 && list[0].Seq <= seq {
		if list[0].Seq < seq && !list[0].Time.Before(since) {
			each(list[0])
		}
		list = list[1:]
	}
	return list
}

func scanSent(row scanner) (e events.SentEvent, err error) {
	var content, detail []byte
	var at int64
	if err := row.Scan(&e.Seq, &e.Sender, &e.ID, &content, &at, &e.EventID, &detail, &e.Answer); err != nil {
		return e, err
	}
	var d sentDetail
	// Either is damage.
	if err := json.Unmarshal(detail, &d); err != nil || len(content) != len(e.Content) {
		return e, fmt.Errorf("the id of event %s: %w", e.EventID, errCorrupt)
	}
	copy(e.Content[:], content)
	e.Time, e.Matched, e.Warnings, e.Wait, e.Decided = moment(at), d.Matched, d.Warnings, d.Wait, d.Decided
	return e, nil
}

// Answered records the answer that the sender of an event with an id got when its runs
// had ended. answer is called later; size is about how long it is.
func (s *sentIDs) Answered(seq uint64, size int, answer func() ([]byte, error)) {
	s.queue.add(&op{event: seq, size: opCost + size, exec: func(db *database) error {
		text, err := answer()
		if err != nil {
			return nil // the event counts as one whose answer is not known
		}
		return updateAnswer(db, seq, text)
	}})
}

// ForgetAnswer takes the answer to an event with an id from the disk.
func (s *sentIDs) ForgetAnswer(seq uint64) {
	s.queue.add(&op{event: seq, exec: func(db *database) error { return updateAnswer(db, seq, nil) }})
}

func updateAnswer(db *database, seq uint64, answer []byte) error {
	var value any // NULL
	if answer != nil {
		value = answer
	}
	if _, err := db.exec(`UPDATE sent SET answer = ? WHERE seq = ?`, value, int64(seq)); err != nil {
		return fmt.Errorf("update the answer to an event: %w", err)
	}
	return nil
}

// ForgetSent takes the id of an event from the disk.
func (s *sentIDs) ForgetSent(seq uint64) {
	s.queue.add(&op{event: seq, exec: func(db *database) error { return deleteSent(db, seq) }})
}

func deleteSent(db *database, seq uint64) error {
	if _, err := db.exec(`DELETE FROM sent WHERE seq = ?`, int64(seq)); err != nil {
		return fmt.Errorf("delete the id of an event: %w", err)
	}
	return nil
}

// sent deletes ids that have expired.
func (p *pruning) sent(db *database) (more bool, err error) {
	n, err := db.exec(`DELETE FROM sent WHERE seq IN (SELECT seq FROM sent ORDER BY seq LIMIT ?) AND at < ?`,
		floodRows, nanos(p.now.Add(-sentAge)))
	return n == floodRows, err
}
