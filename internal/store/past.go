package store

import (
	"context"
	"fmt"

	"github.com/hookd/hookd/internal/events"
)

// Past is an event that could be decided, as the history keeps it.
type Past struct {
	Event
	Decision *events.Decided // nil = nothing took part
}

// PastPage is a part of an answer, newest first; Next as in Page.
type PastPage struct {
	Events []Past
	Next   uint64
}

// Past returns a page of the events whose senders waited for a decision, with their
// data and what was decided.
func (s *Store) Past(ctx context.Context, q EventQuery) (page PastPage, err error) {
	q.wait, q.names = true, decidable()
	found, err := s.Events(ctx, q)
	if err != nil {
		return page, err
	}
	page.Next = found.Next
	err = s.snapshot(ctx, func(db querier) error {
		for _, e := range found.Events {
			p := Past{}
			if p.Event, err = historyEvent(ctx, db, `WHERE seq = ?`, int64(e.Seq)); err != nil {
				return err
			}
			all, err := list(ctx, db, scanDecision, `SELECT `+decisionColumns+`
				FROM decisions d WHERE d.event_seq = ? ORDER BY d.seq DESC LIMIT 1`, int64(e.Seq))
			if err != nil {
				return err
			}
			if len(all) > 0 {
				p.Decision = &all[0]
			}
			page.Events = append(page.Events, p)
		}
		return nil
	})
	if err != nil {
		return page, fmt.Errorf("read events: %w", err)
	}
	return page, nil
}

// decidable are the names of the events that can be decided.
var decidable = func() (names []string) {
	seen := map[string]bool{}
	for _, c := range events.All() {
		if c.Decidable && !seen[c.Name] {
			seen[c.Name] = true
			names = append(names, c.Name)
		}
	}
	return names
}
