package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// firstBuffer is how many bytes of a program's output are read at once; for a
// longer answer the buffer grows.
const firstBuffer = 64 << 10

var errTooLong = errors.New("wrote an answer that is longer than allowed")

// lines splits a program's output into lines. A line that next returns is valid
// until the next fill.
type lines struct {
	buf        []byte
	start, end int // of the bytes that next has not returned
	scanned    int // bytes from start on that have no newline
}

// next returns a complete line without its newline; ok is false when there is none.
func (l *lines) next() (line []byte, ok bool) {
	i := bytes.IndexByte(l.buf[l.start+l.scanned:l.end], '\n')
	if i < 0 {
		l.scanned = l.end - l.start
		return nil, false
	}
	line = l.buf[l.start : l.start+l.scanned+i]
	l.start += l.scanned + i + 1
	l.scanned = 0
	return line, true
}

// fill reads more. limit is the longest line in bytes.
func (l *lines) fill(limit int, read func([]byte) (int, error)) error {
	rest := l.end - l.start
	if rest > limit {
		return errTooLong
	}
	switch {
	case rest == 0:
		l.start, l.end = 0, 0
		if len(l.buf) > firstBuffer {
			l.buf = nil // a long answer is rare
		}
	case l.start > 0:
		copy(l.buf, l.buf[l.start:l.end])
		l.start, l.end = 0, rest
	}
	if l.end == len(l.buf) {
		l.buf = append(make([]byte, 0, max(firstBuffer, 2*len(l.buf))), l.buf...)
		l.buf = l.buf[:cap(l.buf)]
	}
	n, err := read(l.buf[l.end:])
	l.end += n
	return err
}

// invalid says why a line that begins like an answer is none. The lines after it
// cannot be trusted either.
type invalid string

func (e invalid) Error() string { return string(e) }

// parse reads one line. The id of a blank line is nil. A line that begins with {
// and is no answer gives an error of type invalid, any other text errText. id is
// a part of line.
func parse(line []byte) (id []byte, body json.RawMessage, err error) {
	line = bytes.TrimSpace(line)
	switch {
	case len(line) == 0:
		return nil, nil, nil
	case line[0] != '{':
		return nil, nil, errText
	case !json.Valid(line):
		return nil, nil, invalid("wrote a line that begins with { and is not JSON")
	}
	raw := rawjson.Get(line, "event_id")
	if len(raw) < 2 || raw[0] != '"' {
		return nil, nil, invalid("wrote an answer without an event_id")
	}
	if id = raw[1 : len(raw)-1]; bytes.IndexByte(id, '\\') >= 0 {
		s, _ := rawjson.GetString(line, "event_id")
		id = []byte(s)
	}
	return id, rawjson.Without(line, "event_id"), nil
}

var errText = errors.New("text on stdout that is no answer was skipped: print it to stderr")

// unexpectedAnswer is the error for an answer to an event that the worker does not
// have, or has answered before.
func unexpectedAnswer(id []byte) error {
	start := strings.ToValidUTF8(string(id[:min(len(id), 64)]), "")
	return fmt.Errorf("an answer to event %q, which it was not given or has answered before", start)
}
