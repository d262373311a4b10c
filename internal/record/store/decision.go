package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// decisions keeps decisions.
type decisions struct {
	*core
	auditing  *auditing
	tables    *tables
	loss      *lossNotes
	unwritten unwritten
}

// Decided writes the record of a decision, later and without waiting; d is the
// store's own from now on. With Options.Memory it outlives a kill of the process from when
// Decided returns.
func (s *decisions) Decided(d *wire.Decision) {
	if d.Outcome == "" {
		d.Outcome = d.Word()
	}
	s.crashPage.Load().note(d.Seq)
	o := &op{size: opCost + len(d.Subject) + len(d.Reason) + len(d.NewInput), number: d.Seq}
	o.exec = func(db *database) error {
		err := s.insertDecision(db, d)
		if refused(err) {
			s.queue.drop(d.Seq)
			return nil
		}
		return err
	}
	s.unwritten.add(d)
	if o.after = s.unwritten.release(d); o.after != nil {
		o.lean = nothing // so that after is called
	}
	s.queue.add(o)
}

// insertDecision writes a decision and counts it. A decision that is there already,
// because a failed commit came through after all, changes nothing.
func (s *decisions) insertDecision(db *database, d *wire.Decision) error {
	s.w.text = append(d.AppendDetail(append(s.w.text[:0], '{')), '}')
	hooks := ""
	if list := d.Hooks(); len(list) > 0 {
		hooks = "\n" + strings.Join(list, "\n") + "\n"
	}
	n, err := db.exec(`INSERT INTO decisions (seq, event_seq, event_id, at, event, kind, dialect,
			session_id, agent_id, agent_name, cwd, tool, decision, shadow, hooks, subject, reason,
			guarded, part, detail)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (seq) DO NOTHING`,
		int64(d.Seq), int64(d.EventSeq), d.EventID, nanos(d.Time), d.Event, string(d.Kind), string(d.Dialect),
		d.SessionID, d.AgentID, d.AgentName, d.Cwd, d.Tool, string(d.Decision), len(d.Shadow) > 0, hooks,
		d.Subject, d.Reason, string(d.Guarded), d.PartOf != "", s.w.text)
	if err != nil {
		return fmt.Errorf("insert the decision about event %s: %w", d.EventID, err)
	}
	s.tables.saw(d.Seq)
	if n == 0 {
		return nil
	}
	if d.Answered != nil && d.Answered.AskID != "" {
		if err := dropAsk(db, d.Answered.AskID); err != nil {
			return err
		}
	}
	s.w.texts.add(d)
	if err := s.auditing.chainDecision(db, d); err != nil {
		return err
	}
	if d.Tried {
		return nil
	}
	if err := s.w.sessions.decided(db, d); err != nil {
		return err
	}
	return s.w.spans.waited(db, d)
}

// Ended writes the end of a call beside the decision about the event with the number seq, later and
// without waiting. Where there is none, or the disk fails, the end is lost.
func (s *decisions) Ended(seq uint64, g wire.Guarded, ran wire.Ran) {
	text, err := json.Marshal(ran)
	if err != nil {
		return // texts and numbers alone: it cannot fail
	}
	s.queue.add(&op{size: opCost + len(text), exec: func(db *database) error {
		_, err := db.exec(`UPDATE decisions SET guarded = ?, ran = ? WHERE event_seq = ? AND kind = 'tool.before'`,
			string(g), text, int64(seq))
		if err != nil {
			return fmt.Errorf("update the decision about a call: %w", err)
		}
		return nil
	}})
}

const decisionColumns = `d.seq, d.event_seq, d.event_id, d.at, d.event, d.kind, d.dialect,
	d.session_id, d.agent_id, d.agent_name, d.cwd, d.tool, d.decision, d.subject, d.reason, d.guarded, d.ran, d.detail`

func scanDecision(row scanner) (d wire.Decision, err error) {
	var at int64
	var detail, ran []byte
	err = row.Scan(&d.Seq, &d.EventSeq, &d.EventID, &at, &d.Event, &d.Kind, &d.Dialect,
		&d.SessionID, &d.AgentID, &d.AgentName, &d.Cwd, &d.Tool, &d.Decision, &d.Subject, &d.Reason,
		&d.Guarded, &ran, &detail)
	if err != nil {
		return d, err
	}
	err = json.Unmarshal(detail, &d) // it has the members without a column
	if err == nil && ran != nil {
		d.Ran = &wire.Ran{}
		err = json.Unmarshal(ran, d.Ran)
	}
	if err != nil {
		return d, fmt.Errorf("read the decision about event %s: %w: %w", d.EventID, errCorrupt, err)
	}
	d.Time = moment(at)
	d.Outcome = d.Word()
	return d, nil
}

// Decision returns the decision about an event that Event returned; nil =
// there was none.
func (s *archive) Decision(ctx context.Context, e *events.Event) (*wire.Decision, error) {
	return s.newestDecision(ctx, "event "+e.EventID, `decisions d WHERE d.event_seq = ?`, int64(e.Seq))
}

// mostAsked is how many of the newest decisions of a session Asked looks at.
const mostAsked = 1000

// Asked returns the newest decision of a session, since then, about the question before a call with
// the id; nil = there is none among the newest.
func (s *archive) Asked(ctx context.Context, key SessionKey, id string, since time.Time) (*wire.Decision, error) {
	return s.newestDecision(ctx, "call "+id, `
		(SELECT * FROM decisions WHERE session_id = ? AND session_id <> '' ORDER BY seq DESC LIMIT ?) d
		WHERE d.dialect = ? AND d.kind = 'tool.before' AND d.at >= ? AND CAST(d.detail AS TEXT) ->> 'call_id' = ?`,
		key.ID, mostAsked, string(key.Dialect), nanos(since), id)
}

// newestDecision returns the newest decision from a source d; nil = there is none.
func (s *archive) newestDecision(
	ctx context.Context, about, from string, args ...any,
) (found *wire.Decision, err error) {
	err = s.read(func(db *sql.DB) error {
		all, err := list(ctx, db, scanDecision,
			`SELECT `+decisionColumns+` FROM `+from+` ORDER BY d.seq DESC LIMIT 1`, args...)
		if len(all) > 0 {
			found = &all[0]
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("decision about %s: %w", about, err)
	}
	return found, nil
}

// deleteDecisions deletes the decisions that a condition selects. Their text goes later.
func deleteDecisions(db *database, which string, arg int64) error {
	if err := missForward(db, which, arg); err != nil {
		return fmt.Errorf("count decisions that were not handed on: %w", err)
	}
	if _, err := db.exec(`DELETE FROM decisions WHERE `+which, arg); err != nil {
		return fmt.Errorf("delete decision: %w", err)
	}
	return nil
}
