package store

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"time"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/events"
)

// previewBytes of a payload are kept by PayloadPreview. Events that are not larger stay whole. So
// do decided events up to decidedBytes, so that they can be replayed.
const (
	previewBytes = 2 << 10
	decidedBytes = 16 << 10
)

// How much of the data stands in the event's own row.
const (
	keptNone = iota
	keptPreview
	keptAll
)

// eventRow is a row of the table events.
type eventRow struct {
	seq       uint64
	id        string
	at        int64
	name      string
	size      int
	detail    []byte
	redacted  bool
	kept      int
	later     any // int, or nil
	laterData []byte
	data      []byte // read from a row: its beginning, which more bytes of pieces follow
	more      int
	fromLater bool          // what was read is what history will keep
	sum       sql.NullInt64 // as sumOf was; NULL = that is not known
}

// sumOf is a sum of an event with all of its data. SQLite has none of its own.
func (r eventRow) sumOf(data []byte) int64 {
	sum := uint32(0)
	for _, part := range [][]byte{[]byte(r.id), []byte(r.name), r.detail, data} {
		sum = crc32.Update(sum, castagnoli, part)
	}
	return int64(sum)
}

// These expressions are the data that history shows. The row becomes the same when nothing is
// pending any more.
const (
	historyKept = `coalesce(later, kept)`
	historyData = `CASE coalesce(later, kept) WHEN 0 THEN NULL
		WHEN 1 THEN coalesce(later_data, substr(data, 1, 2048)) ELSE coalesce(later_data, data) END`
	historyMore = `CASE WHEN coalesce(later, kept) < 2 THEN 0 WHEN later_data IS NULL THEN more ELSE later_more END`
)

// eventDetail has the fields without a column: the envelope without its members that have one. The
// nil pointers take the place of the members of those names.
type eventDetail struct {
	events.Envelope
	Event      *struct{} `json:"event,omitempty"`
	Data       *struct{} `json:"data,omitempty"`
	AgentNamed bool      `json:"agent_named,omitempty"`
	Depth      int       `json:"depth,omitempty"`
	Tool       string    `json:"tool,omitempty"`
	Subject    string    `json:"subject,omitempty"`
	CallID     string    `json:"call_id,omitempty"`
	ByAgent    bool      `json:"by_agent,omitempty"`
	ReplayOf   string    `json:"replay_of,omitempty"`
	Machine    string    `json:"machine,omitempty"`
}

// detailBytes is room for most details.
const detailBytes = 512

// appendDetail writes eventDetail.
func appendDetail(dst []byte, e *events.Event) []byte {
	sent := e.Envelope.Sent()
	dst = sent.AppendFields(append(dst, '{'))
	dst = rawjson.AppendTrue(dst, "agent_named", e.AgentNamed)
	dst = rawjson.AppendInt(dst, "depth", int64(e.Depth))
	dst = rawjson.AppendText(dst, "replay_of", e.ReplayOf)
	dst = rawjson.AppendText(dst, "machine", e.Machine)
	dst = rawjson.AppendText(dst, "tool", e.Tool)
	dst = rawjson.AppendText(dst, "subject", e.Subject)
	dst = rawjson.AppendText(dst, "call_id", e.CallID)
	dst = rawjson.AppendTrue(dst, "by_agent", e.ByAgent)
	return append(dst, '}')
}

// encodeEvent makes the row of e. While it is pending all of its data is kept,
// without regard to the limits.
func encodeEvent(e *events.Event, pending bool, p *Limits) eventRow {
	most := previewBytes
	if e.Wait && e.Contract != nil && e.Contract.Decidable {
		most = decidedBytes
	}
	kept, text := p.keep(e.Data, most)
	r := eventRow{
		seq: e.Seq, id: e.EventID, at: nanos(e.Time), name: e.Envelope.Event,
		size: len(e.Data), detail: appendDetail(make([]byte, 0, detailBytes), e), kept: keptAll, data: e.Data,
		redacted: !bytes.HasPrefix(e.Data, text) || kept == keptAll && len(text) != len(e.Data),
	}
	switch {
	case !pending:
		r.kept, r.data = kept, text
	case r.redacted:
		r.later, r.laterData = kept, text
	case kept != keptAll && len(e.Data) > redactBytes: // else SQLite loads all of data to cut it off
		r.later, r.laterData = kept, text
	case kept != keptAll:
		r.later = kept
	}
	return r
}

// redactBytes is how much of a payload is searched for secrets for its preview: the
// longest secret, and more than that before it.
const redactBytes = 32 << 10

// keep returns the text that history keeps of data, and how much that is. It costs no
// more than the kept text is worth: only PayloadFull looks at all data. Data of no
// more than most bytes stays whole.
func (p *Limits) keep(data []byte, most int) (kept int, text []byte) {
	switch {
	case p.Payload == PayloadNone:
		return keptNone, nil
	case p.Payload == PayloadFull:
		return keptAll, p.Redact(data)
	case len(data) <= redactBytes:
		if text = p.Redact(data); len(text) <= most {
			return keptAll, text
		}
	default:
		// A secret that is cut off may not be known as one. Text that does not depend
		// on the place of the cut has none.
		more, less := p.Redact(data[:redactBytes]), p.Redact(data[:redactBytes/2])
		text = more[:commonPrefix(more, less)]
	}
	return keptPreview, bytes.Clone(text[:min(len(text), previewBytes)])
}

func commonPrefix(a, b []byte) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// fate is the known state of the row, which was made under p.
func (r eventRow) fate(p *Limits) fate {
	f := fate{final: r.later == nil}
	if !r.redacted {
		f.clean = p
	}
	return f
}

// whole returns text without half a character at its end.
func whole(text []byte) []byte {
	for i := 1; i < utf8.UTFMax && i < len(text); i++ {
		if last := text[len(text)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return text[:len(text)-i]
			}
			break
		}
	}
	return text
}

// insertEvent adds a row, and the pieces of its data that have no room there. A row that is
// there already, because a commit came through although its file was given up, is
// no error.
func insertEvent(db *database, r eventRow) (added bool, err error) {
	data, rest := split(r.data)
	laterData, laterRest := split(r.laterData)
	_, err = db.exec(`INSERT INTO events (seq, id, at, name, size, detail, redacted,
			kept, later, later_data, later_more, data, more, sum)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		int64(r.seq), r.id, r.at, r.name, r.size, r.detail, r.redacted,
		r.kept, r.later, laterData, len(laterRest), data, len(rest), r.sumOf(r.data))
	if err != nil {
		var id string
		if refused(err) && db.row(`SELECT id FROM events WHERE seq = ?`, int64(r.seq)).Scan(&id) == nil && id == r.id {
			return false, nil
		}
		return false, fmt.Errorf("insert event %s: %w", r.id, err)
	}
	if err := insertPieces(db, r.seq, false, rest); err != nil {
		return false, err
	}
	return true, insertPieces(db, r.seq, true, laterRest)
}

// releaseEvent reduces the data to the part that history keeps, once nothing waits for
// the event any more. A trigger does the same to its pieces.
func releaseEvent(db *database, seq uint64) error {
	_, err := db.exec(`UPDATE events SET kept = later, data = `+historyData+`, more = `+historyMore+`,
			later = NULL, later_data = NULL, later_more = 0, sum = NULL
		WHERE seq = ?1 AND later IS NOT NULL
		AND NOT EXISTS (SELECT 1 FROM pending WHERE seq = ?1)
		AND NOT EXISTS (SELECT 1 FROM dead WHERE seq = ?1)`, int64(seq))
	if err != nil {
		return fmt.Errorf("release event: %w", err)
	}
	return nil
}

// deleteEvent takes an event out with all that hangs on it. A trigger deletes its pieces.
func (s *tables) deleteEvent(db *database, seq uint64) error {
	for _, text := range []string{`DELETE FROM pending WHERE seq = ?`, `DELETE FROM dead WHERE seq = ?`} {
		if _, err := db.exec(text, int64(seq)); err != nil {
			return fmt.Errorf("delete event: %w", err)
		}
	}
	if err := deleteDecisions(db, `event_seq = ?`, int64(seq)); err != nil {
		return err
	}
	n, err := db.exec(`DELETE FROM events WHERE seq = ?`, int64(seq))
	if err != nil {
		return fmt.Errorf("delete event: %w", err)
	}
	if n > 0 {
		s.w.state.events -= n
	}
	return nil
}

// decode makes the event again, with data as its data.
func (r eventRow) decode(data []byte) (*events.Event, error) {
	var d eventDetail
	if err := json.Unmarshal(r.detail, &d); err != nil {
		return nil, fmt.Errorf("read event %s: %w: %w", r.id, errCorrupt, err)
	}
	e := &events.Event{
		Envelope: d.Envelope, EventID: r.id, Seq: r.seq, Time: moment(r.at),
		Depth: d.Depth, ReplayOf: d.ReplayOf, Machine: d.Machine, Tool: d.Tool, Subject: d.Subject, CallID: d.CallID,
		ByAgent: d.ByAgent,
	}
	e.Envelope.Event, e.Data, e.AgentNamed = r.name, data, d.AgentNamed
	e.Contract, e.Trial = events.For(e.Dialect, e.Envelope.Event), e.Tried && e.SessionID == events.ProbeSession
	return e, nil
}

// nanos and moment translate times; the zero time is 0.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func moment(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
