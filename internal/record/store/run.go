package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hookd/hookd/wire"
)

// runRow is a row of the table runs, with its row of outputs.
type runRow struct {
	run   *wire.Run
	ended time.Time
}

func inputOf(r *wire.Run) *string { return &r.Input }

// runTexts are the texts of a run that may have secrets, the payload first.
var runTexts = [...]func(*wire.Run) *string{
	inputOf,
	func(r *wire.Run) *string { return &r.Stdout.Head },
	func(r *wire.Run) *string { return &r.Stdout.Tail },
	func(r *wire.Run) *string { return &r.Stderr.Head },
	func(r *wire.Run) *string { return &r.Stderr.Tail },
}

// encodeRun makes the row of a run, without the text that the limits hide. clean tells that the
// payload has no such text.
func encodeRun(run *wire.Run, p *Limits, clean bool) *runRow {
	r := &runRow{run: run, ended: run.Started.Add(time.Duration(run.DurationMS * float64(time.Millisecond)))}
	if run.Started.IsZero() || run.Result == wire.ResultInterrupted || run.Result == wire.ResultDropped {
		r.ended = time.Now() // when it was found out
	}
	change := func(text func(*wire.Run) *string, to string) { // of a copy: others have the run
		if r.run == run {
			own := *run
			r.run = &own
		}
		*text(r.run) = to
	}
	if p.Payload == PayloadNone && run.Input != "" {
		change(inputOf, "")
	}
	for i, text := range runTexts {
		was := *text(r.run)
		if was == "" || clean && i == 0 {
			continue
		}
		if now := p.Redact([]byte(was)); string(now) != was {
			change(text, string(now))
		}
	}
	return r
}

// runSize is the approximate size of a run in memory and on disk.
func runSize(r *wire.Run) int {
	return opCost + len(r.Error) + len(r.Input) +
		len(r.Stdout.Head) + len(r.Stdout.Tail) + len(r.Stderr.Head) + len(r.Stderr.Tail)
}

// insertRun writes a run and counts it. A run that is there already, because a
// failed commit came through after all, changes nothing.
func (s *tables) insertRun(db *database, row *runRow) error {
	r := row.run
	s.w.text = append(r.AppendDetail(append(s.w.text[:0], '{')), '}')
	n, err := db.exec(`INSERT INTO runs (seq, id, event_id, event, hook, session_id, agent_id, agent_name,
			tool, subject, test, result, started, ended, detail)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (seq) DO NOTHING`,
		int64(r.Seq), r.ID, r.EventID, r.Event, r.Hook, r.SessionID, r.AgentID, r.AgentName,
		r.Tool, r.Subject, r.Test, string(r.Result), nanos(r.Started), nanos(row.ended), s.w.text)
	if err != nil {
		return fmt.Errorf("insert run %s: %w", r.ID, err)
	}
	s.saw(r.Seq)
	if n == 0 {
		return nil
	}
	if out, errs := r.Stdout, r.Stderr; out.Head != "" || errs.Head != "" {
		_, err := db.exec(`INSERT OR REPLACE INTO outputs (seq, out_head, out_tail, err_head, err_tail)
			VALUES (?, ?, ?, ?, ?)`,
			int64(r.Seq), blob(out.Head), blob(out.Tail), blob(errs.Head), blob(errs.Tail))
		if err != nil {
			return fmt.Errorf("insert output of run %s: %w", r.ID, err)
		}
	}
	s.w.state.runs++
	if r.Test || r.Tried {
		return nil
	}
	return s.w.spans.count(db, r, row.ended)
}

// blob is text that need not be text; empty is NULL.
func blob(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

// runColumns are the columns that scanRun reads; the outputs follow where they are wanted.
const (
	runColumns = `r.seq, r.id, r.event_id, r.event, r.hook, r.session_id, r.agent_id, r.agent_name,
		r.tool, r.subject, r.test, r.result, r.started, r.detail`
	outputColumns = `, o.out_head, o.out_tail, o.err_head, o.err_tail`
	joinOutputs   = ` LEFT JOIN outputs o ON o.seq = r.seq`
)

type scanner interface{ Scan(...any) error }

func scanRun(row scanner, outputs bool) (wire.Run, error) {
	var r wire.Run
	var started int64
	var detail []byte
	var text [4]sql.RawBytes
	into := []any{
		&r.Seq, &r.ID, &r.EventID, &r.Event, &r.Hook, &r.SessionID, &r.AgentID, &r.AgentName,
		&r.Tool, &r.Subject, &r.Test, &r.Result, &started, &detail,
	}
	if outputs {
		into = append(into, &text[0], &text[1], &text[2], &text[3])
	}
	if err := row.Scan(into...); err != nil {
		return r, err
	}
	if err := json.Unmarshal(detail, &r); err != nil { // it has the members without a column
		return r, fmt.Errorf("read run %s: %w: %w", r.ID, errCorrupt, err)
	}
	r.Started = moment(started)
	r.Stdout.Head, r.Stdout.Tail = string(text[0]), string(text[1])
	r.Stderr.Head, r.Stderr.Tail = string(text[2]), string(text[3])
	return r, nil
}
