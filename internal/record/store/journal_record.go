package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/journal"
)

// accepted is an event as the journal has it: its row while it is pending, the hooks that
// run for it, and the id that its sender gave it. The data is the body of the record, all
// else its head, so that the row that history keeps of a large event is made without it.
type accepted struct {
	row   eventRow // without data where only the head was read
	hooks []string // in order of registration
	sent  *events.SentEvent
}

// recordVersion begins the head of a record.
const recordVersion = 1

// These bits of a head tell its parts.
const (
	headRedacted  = 1 << iota
	headLater     // later is set
	headLaterData // laterData is, though it may be empty
	headSent      // there is an id
)

// errRecord is the error of a head that makes no sense.
var errRecord = errors.New("the record of an accepted event makes no sense")

// encodeAccepted makes the record of an event.
func encodeAccepted(row eventRow, hooks []string, sent *events.SentEvent) (journal.Item, error) {
	var id []byte
	bits, later := byte(0), byte(0)
	if row.redacted {
		bits |= headRedacted
	}
	if n, is := row.later.(int); is {
		bits, later = bits|headLater, byte(n)
	}
	if row.laterData != nil {
		bits |= headLaterData
	}
	if sent != nil {
		bits |= headSent
		var err error
		if id, err = json.Marshal(sent); err != nil {
			return journal.Item{}, fmt.Errorf("encode the id of event %s: %w", row.id, err)
		}
	}
	h := make([]byte, 0, 64+len(row.id)+len(row.name)+len(row.detail)+len(row.laterData)+len(id)+32*len(hooks))
	h = append(h, recordVersion, bits, byte(row.kept), later)
	h = binary.LittleEndian.AppendUint64(h, uint64(row.at))
	h = binary.AppendUvarint(h, uint64(row.size))
	h = appendText(h, row.id)
	h = appendText(h, row.name)
	h = appendText(h, row.detail)
	h = appendText(h, row.laterData)
	h = appendText(h, id)
	h = binary.AppendUvarint(h, uint64(len(hooks)))
	for _, name := range hooks {
		h = appendText(h, name)
	}
	return journal.Item{Number: row.seq, Head: h, Body: row.data}, nil
}

func appendText[T string | []byte](dst []byte, text T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// decodeAccepted reads a record of encodeAccepted, data if it was read. The result
// shares their memory.
func decodeAccepted(seq uint64, head, data []byte) (a accepted, err error) {
	d := headReader{text: head}
	version, bits, kept, later := d.byte(), d.byte(), d.byte(), d.byte()
	if version > recordVersion {
		return a, fmt.Errorf("%w: event %d", ErrNewer, seq)
	}
	a.row = eventRow{seq: seq, kept: int(kept), redacted: bits&headRedacted != 0, data: data}
	a.row.at = int64(d.fixed())
	a.row.size = int(d.number())
	a.row.id, a.row.name = string(d.bytes()), string(d.bytes())
	a.row.detail = d.bytes()
	laterData, id := d.bytes(), d.bytes()
	for n := d.number(); n > 0 && !d.bad; n-- {
		a.hooks = append(a.hooks, string(d.bytes()))
	}
	if bits&headLater != 0 {
		a.row.later = int(later)
	}
	if bits&headLaterData != 0 {
		a.row.laterData = laterData
	}
	if len(data) == 0 && a.row.kept != keptAll {
		a.row.data = nil
	}
	if d.bad || version != recordVersion || len(d.text) > 0 || kept > keptAll || later > keptAll {
		return a, fmt.Errorf("%w: event %d", errRecord, seq)
	}
	if bits&headSent != 0 {
		a.sent = &events.SentEvent{}
		if err := json.Unmarshal(id, a.sent); err != nil {
			return a, fmt.Errorf("%w: event %d: %w", errRecord, seq, err)
		}
	}
	return a, nil
}

// final makes the row that history keeps once nothing waits for the event, as historyData
// does from a row on disk.
func (r eventRow) final() eventRow {
	later, is := r.later.(int)
	if !is {
		return r
	}
	switch {
	case later == keptNone:
		r.data = nil
	case r.laterData != nil:
		r.data = r.laterData
	case later == keptPreview:
		r.data = r.data[:min(len(r.data), previewBytes)]
	}
	r.kept, r.later, r.laterData = later, nil, nil
	return r
}

// finalNeedsData reports whether final reads data.
func (r eventRow) finalNeedsData() bool {
	return r.later == nil || r.later != keptNone && r.laterData == nil
}

// headReader reads a head. After something that is not there all is zero, and bad is set.
type headReader struct {
	text []byte
	bad  bool
}

func (d *headReader) take(n uint64) []byte {
	if d.bad || n > uint64(len(d.text)) {
		d.bad = true
		return nil
	}
	part := d.text[:n:n]
	d.text = d.text[n:]
	return part
}

func (d *headReader) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *headReader) fixed() uint64 {
	if b := d.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (d *headReader) number() uint64 {
	v, n := binary.Uvarint(d.text)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.text = d.text[n:]
	return v
}

func (d *headReader) bytes() []byte { return d.take(d.number()) }
