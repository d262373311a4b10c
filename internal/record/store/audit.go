package store

import (
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/audit"
	"github.com/hookd/hookd/wire"
)

// auditChain is the head of the chain, as of the transaction under way.
type auditChain struct {
	head  audit.Head
	known bool // head was read from this database
	moved bool // head is to be written
}

// forget drops the head that a failed transaction set.
func (a *auditChain) forget() { *a = auditChain{} }

func (a *auditChain) load(db *database) error {
	if a.known {
		return nil
	}
	head, err := readHead(db.row(`SELECT n, hash FROM audit_head`))
	if errors.Is(err, sql.ErrNoRows) { // the chain is empty, or its head was deleted
		head, err = readHead(db.row(`SELECT n, hash FROM audit ORDER BY n DESC LIMIT 1`))
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("read the head of the audit chain: %w", err)
	}
	a.head, a.known = head, true
	return nil
}

func readHead(row scanner) (h audit.Head, err error) {
	var n int64
	var hash []byte
	if err := row.Scan(&n, &hash); err != nil {
		return h, err
	}
	h.N = uint64(n)
	copy(h.Hash[:], hash)
	return h, nil
}

// flush writes the head, once a commit.
func (a *auditChain) flush(db *database) error {
	if !a.moved {
		return nil
	}
	a.moved = false
	_, err := db.exec(`INSERT OR REPLACE INTO audit_head (id, n, hash) VALUES (1, ?, ?)`,
		int64(a.head.N), a.head.Hash[:])
	return err
}

// auditing keeps the audit chain.
type auditing struct {
	*core
	waiting atomic.Int64 // records that Audit has added and that are not on disk
}

// mostAudits is how many records of Audit wait: an agent that tries again and again to weaken a guard makes as many.
const mostAudits = 1 << 14

// Audit adds a record to the chain, later and without waiting. detail becomes JSON. While mostAudits wait for a
// disk that takes nothing, others are dropped, and counted in Health.Dropped: the first acts are worth more than
// repetitions.
func (s *auditing) Audit(at time.Time, kind string, detail any) {
	if s.waiting.Add(1) > mostAudits {
		s.waiting.Add(-1)
		s.queue.drop(0)
		return
	}
	exec := func(db *database) error {
		err := s.chain(db, at, kind, detail)
		if refused(err) {
			s.queue.drop(0)
			return nil
		}
		return err
	}
	s.queue.add(&op{exec: exec, lean: exec, size: opCost, after: func() { s.waiting.Add(-1) }})
}

// chain adds a record within the transaction. The first one of a database says so.
func (s *auditing) chain(db *database, at time.Time, kind string, detail any) error {
	if err := s.w.audit.load(db); err != nil {
		return err
	}
	if s.w.audit.head.N == 0 {
		before, err := countDenials(db.row)
		if err != nil {
			return err
		}
		if kind == audit.Denied { // this one
			before = max(0, before-1)
		}
		begun := audit.Beginning{Epoch: s.w.state.epoch, Denials: before}
		if err := s.append(db, at, audit.Begun, begun); err != nil {
			return err
		}
	}
	return s.append(db, at, kind, detail)
}

// countDenials counts those on record.
func countDenials(row func(text string, args ...any) *sql.Row) (n int64, err error) {
	if err := row(`SELECT count(*) FROM decisions WHERE decision = 'deny'`).Scan(&n); err != nil {
		return 0, fmt.Errorf("count the denials on record: %w", err)
	}
	return n, nil
}

// verifyChain notes a loss where denials are on record and the chain has none: it was emptied.
func (s *opener) verifyChain(db *database) error {
	if err := s.w.audit.load(db); err != nil || s.w.audit.head.N > 0 {
		return err
	}
	n, err := countDenials(db.row)
	if err != nil || n == 0 {
		return err
	}
	s.loss.lost(wire.Loss{Why: audit.Emptied(n)})
	return nil
}

func (s *auditing) append(db *database, at time.Time, kind string, detail any) error {
	r, err := s.w.audit.head.Next(at, kind, detail)
	if err == nil {
		_, err = db.exec(`INSERT INTO audit (n, at, text, hash) VALUES (?, ?, ?, ?)`,
			int64(r.N), nanos(at), r.Text, r.Hash[:])
	}
	if err != nil {
		return fmt.Errorf("add to the audit chain: %w", err)
	}
	s.w.audit.head, s.w.audit.moved = audit.Head{N: r.N, Hash: r.Hash}, true
	return nil
}

// auditedDecision is a decision as the chain has it.
type auditedDecision struct {
	EventID   string         `json:"event_id"`
	Event     string         `json:"event"`
	Dialect   events.Dialect `json:"dialect"`
	SessionID string         `json:"session_id,omitempty"`
	AgentID   string         `json:"agent_id,omitempty"`
	Cwd       string         `json:"cwd,omitempty"`
	Tool      string         `json:"tool,omitempty"`
	Subject   string         `json:"subject,omitempty"`
	Decision  wire.Outcome   `json:"decision"`
	DecidedBy []string       `json:"decided_by,omitempty"`
	Reason    string         `json:"reason,omitempty"`
	Told      *wire.Told     `json:"told,omitempty"`
	Answered  *wire.Answered `json:"answered,omitempty"`
}

// chainDecision adds a denial, or an answer to an ask.
func (s *auditing) chainDecision(db *database, d *wire.Decision) error {
	kind := audit.Denied
	switch {
	case d.Answered != nil:
		kind = audit.Answered
	case d.Decision != wire.OutcomeDeny:
		return nil
	}
	return s.chain(db, d.Time, kind, auditedDecision{
		EventID: d.EventID, Event: d.Event, Dialect: d.Dialect, SessionID: d.SessionID, AgentID: d.AgentID, Cwd: d.Cwd,
		Tool: d.Tool, Subject: d.Subject, Decision: d.Decision, DecidedBy: d.DecidedBy, Reason: d.Reason,
		Told: d.Told, Answered: d.Answered,
	})
}

// How many records a pruning step removes at most, and from how many on it does: each step
// leaves a record of its own.
const (
	auditStep  = 2000
	auditLeast = 1000
)

// audit removes records that are too old, or too many, and leaves an anchor.
func (p *pruning) audit(db *database) (more bool, err error) {
	s := p.store
	if err := s.w.audit.load(db); err != nil {
		return false, err
	}
	rows, err := oldRows(db, `SELECT n, at, n <= ? FROM audit ORDER BY n LIMIT ?`,
		int64(s.w.audit.head.N)-p.limits.MaxRuns, auditStep)
	if err != nil {
		return false, err
	}
	due := 0
	for due < len(rows) && (rows[due].pinned || rows[due].at < nanos(p.now.Add(-p.limits.MaxAge))) {
		due++
	}
	if due < auditLeast {
		return false, nil
	}
	last := rows[due-1].seq
	var hash []byte
	if err := db.row(`SELECT hash FROM audit WHERE n = ?`, last).Scan(&hash); err != nil {
		return false, err
	}
	anchor := audit.Anchor{UpTo: uint64(last), Hash: fmt.Sprintf("%x", hash)}
	if err := s.auditing.chain(db, p.now, audit.Pruned, anchor); err != nil {
		return false, err
	}
	_, err = db.exec(`DELETE FROM audit WHERE n <= ?`, last)
	return due == auditStep, err
}
