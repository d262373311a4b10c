package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/hookd/hookd/internal/events"
)

// attempts are the attempts under way, as the transaction under way sees them. On
// disk they are one row, written when they have changed: they are as few as
// run at once, and most begin and end between two commits.
type attempts struct {
	runs  map[events.PendingKey]attempt
	saved map[events.PendingKey]attempt // as of the last commit
	dirty bool
}

// attempt is one of them on disk.
type attempt struct {
	Seq     uint64 `json:"seq"`
	Hook    string `json:"hook"`
	RunID   string `json:"run_id"`
	Started int64  `json:"started"` // nanoseconds since 1970
}

func newAttempts() *attempts { return &attempts{runs: map[events.PendingKey]attempt{}} }

func (b *attempts) start(k events.PendingKey, runID string, started int64) {
	b.runs[k] = attempt{k.Seq, k.Hook, runID, started}
	b.dirty = true
}

func (b *attempts) end(k events.PendingKey) {
	if _, known := b.runs[k]; known {
		delete(b.runs, k)
		b.dirty = true
	}
}

// flush writes the runs if they have changed.
func (b *attempts) flush(db *database) error {
	if !b.dirty {
		return nil
	}
	list := []attempt{}
	for _, a := range b.runs {
		list = append(list, a)
	}
	text, err := json.Marshal(list)
	if err == nil {
		_, err = db.exec(`INSERT OR REPLACE INTO begun (id, list) VALUES (1, ?)`, string(text))
	}
	if err != nil {
		return fmt.Errorf("save which attempts are under way: %w", err)
	}
	return nil
}

// committed takes the flushed runs as being on disk.
func (b *attempts) committed() {
	if b.dirty {
		b.saved, b.dirty = maps.Clone(b.runs), false
	}
}

// forget returns to the last commit. It is written again: it is not known to which file.
func (b *attempts) forget() {
	b.runs, b.dirty = maps.Clone(b.saved), true
	if b.runs == nil {
		b.runs = map[events.PendingKey]attempt{}
	}
}

// fill reads the runs that an earlier daemon left.
func (b *attempts) fill(row *sql.Row) (err error) {
	b.runs, err = readAttempts(row)
	b.dirty = true
	b.committed()
	return err
}

// selectAttempts is the query whose row readAttempts reads.
const selectAttempts = `SELECT list FROM begun`

func readAttempts(row *sql.Row) (map[events.PendingKey]attempt, error) {
	runs := map[events.PendingKey]attempt{}
	var text []byte
	err := row.Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return runs, nil
	}
	var list []attempt
	if err == nil {
		if err = json.Unmarshal(text, &list); err != nil {
			err = fmt.Errorf("%w: %w", errCorrupt, err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read which attempts were under way: %w", err)
	}
	for _, a := range list {
		runs[events.PendingKey{Seq: a.Seq, Hook: a.Hook}] = a
	}
	return runs, nil
}
