package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/hookd/hookd/internal/events"
)

// attempts are the attempts under way, as the current transaction sees them. On
// disk they are one row, written after a change: they are as few as
// run at once, and most begin and end between two commits.
type attempts struct {
	runs  map[events.PendingKey]attempt
	saved map[events.PendingKey]attempt // as of the last commit
	dirty bool
}

// attempt is one attempt under way, as on disk.
type attempt struct {
	Seq     uint64 `json:"seq"`
	Hook    string `json:"hook"`
	RunID   string `json:"run_id"`
	Started int64  `json:"started"` // nanoseconds since 1970
}

func newAttempts() *attempts { return &attempts{runs: map[events.PendingKey]attempt{}} }

func (a *attempts) start(k events.PendingKey, runID string, started int64) {
	a.runs[k] = attempt{k.Seq, k.Hook, runID, started}
	a.dirty = true
}

func (a *attempts) end(k events.PendingKey) {
	if _, known := a.runs[k]; known {
		delete(a.runs, k)
		a.dirty = true
	}
}

// flush writes the runs if they have changed.
func (a *attempts) flush(db *database) error {
	if !a.dirty {
		return nil
	}
	list := []attempt{}
	for _, one := range a.runs {
		list = append(list, one)
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
func (a *attempts) committed() {
	if a.dirty {
		a.saved, a.dirty = maps.Clone(a.runs), false
	}
}

// forget returns to the last commit. It is written again: it is not known to which file.
func (a *attempts) forget() {
	a.runs, a.dirty = maps.Clone(a.saved), true
	if a.runs == nil {
		a.runs = map[events.PendingKey]attempt{}
	}
}

// fill reads the runs that an earlier daemon left.
func (a *attempts) fill(row *sql.Row) (err error) {
	a.runs, err = readAttempts(row)
	a.dirty = true
	a.committed()
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
