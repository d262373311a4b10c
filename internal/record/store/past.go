package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// Past is an event that could be decided, as the history keeps it.
type Past struct {
	StoredEvent
	Decision *wire.Decision // nil = nothing took part
}

// PastPage is a part of an answer, newest first; Next as in Page.
type PastPage struct {
	Events []Past
	Next   uint64
}

// Past returns a page of the events whose senders waited for a decision, with their
// data and the decisions.
func (s *archive) Past(ctx context.Context, q wire.EventQuery) (page PastPage, err error) {
	of := eventQuery[uint64]{EventQuery: q, wait: true, names: decidable(), columns: "seq", scan: scanSeq}
	numbers, next, err := pageOf(ctx, s, q.Limit, of, func(seq uint64) uint64 { return seq })
	if err != nil {
		return page, fmt.Errorf("query events: %w", err)
	}
	page.Next = next
	err = s.readTx(ctx, func(db querier) error {
		page.Events, err = pastOf(ctx, db, numbers)
		return err
	})
	if err != nil {
		return page, fmt.Errorf("read events: %w", err)
	}
	return page, nil
}

func scanSeq(row scanner) (seq uint64, err error) { return seq, row.Scan(&seq) }

// pastOf reads the events with these numbers and their decisions, all with two queries:
// one for each event would take several times as long.
func pastOf(ctx context.Context, db querier, numbers []uint64) (past []Past, err error) {
	these, err := json.Marshal(numbers)
	if err != nil {
		return nil, err
	}
	decided, err := list(ctx, db, scanDecision, `SELECT `+decisionColumns+`
		FROM decisions d WHERE d.event_seq IN (SELECT value FROM json_each(?)) ORDER BY d.seq`, string(these))
	if err != nil {
		return nil, err
	}
	last := map[uint64]*wire.Decision{}
	for i := range decided {
		last[decided[i].EventSeq] = &decided[i]
	}
	rows, err := list(ctx, db, scanHistoryRow, `SELECT `+historyColumns+`
		WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq DESC`, string(these))
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		e, err := r.historyEvent(ctx, db)
		if err != nil {
			return nil, err
		}
		past = append(past, Past{StoredEvent: e, Decision: last[e.Seq]})
	}
	return past, nil
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
