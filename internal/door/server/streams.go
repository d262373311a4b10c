package server

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/hookd/hookd/wire"
)

const pingLine = "{\"type\":\"ping\"}\n"

// streamLines gives c, which has sent its last line that counts, the records
// of sub.
func (s *Server) streamLines(ctx context.Context, c *conn, sub Subscription) {
	defer sub.Close()
	c.SetWriteDeadline(time.Time{}) // a stopped subscriber may come back
	ctx, cancel := s.untilDrain(ctx, c)
	defer cancel()
	s.pump(ctx, sub, func(records []byte) error {
		_, err := c.Write(records)
		return err
	})
	c.linger(lastLines)
}

// streamHTTP is the same over a response.
func (s *Server) streamHTTP(w http.ResponseWriter, r *http.Request, sub Subscription) {
	defer sub.Close()
	c, rc := connOf(r), http.NewResponseController(w)
	rc.SetWriteDeadline(time.Time{})
	ctx, cancel := s.untilDrain(r.Context(), c)
	defer cancel()
	defer s.conns.setStop(c, nil)
	media, frame := wire.NDJSON, func(records []byte) []byte { return records }
	if accepts(r, wire.EventStream) {
		media, frame = wire.EventStream, new(sse).frames
	}
	w.Header().Set("Content-Type", media)
	w.Header().Set("Cache-Control", "no-store")
	s.pump(ctx, sub, func(records []byte) error {
		if _, err := w.Write(frame(records)); err != nil {
			return err
		}
		return rc.Flush()
	})
}

// untilDrain returns a context that also ends with the server. It limits how long a
// subscriber may then take for the records that are left.
func (s *Server) untilDrain(ctx context.Context, c *conn) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	s.conns.setStop(c, func() {
		cancel()
		c.SetWriteDeadline(time.Now().Add(lastRecords))
	})
	return ctx, cancel
}

// pump writes records until the stream, the client or ctx ends, and a ping when there is
// none for so long. The client's own pace is the only thing it waits for.
func (s *Server) pump(ctx context.Context, sub Subscription, write func([]byte) error) {
	last := time.Now() // when something was written
	for left := s.opt.Ping; ; left = s.opt.Ping - time.Since(last) {
		if left <= 0 {
			if write([]byte(pingLine)) != nil {
				return
			}
			last, left = time.Now(), s.opt.Ping
		}
		quiet, cancel := context.WithTimeout(ctx, left) // not one for each write: it takes as long as some records
		err := pumpUntil(quiet, sub, write, &last)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return
		}
	}
}

// pumpUntil is pump until ctx ends, without pings. It sets last.
func pumpUntil(ctx context.Context, sub Subscription, write func([]byte) error, last *time.Time) error {
	var buf []byte
	for {
		records, err := sub.Next(ctx, buf[:0])
		if err != nil {
			return err
		}
		if write(records) != nil {
			return errClose
		}
		*last = time.Now()
		if buf = records; cap(buf) > keepBuffer {
			buf = nil
		}
	}
}

// sse turns lines of records into server-sent events, whose id is the record's
// number, so that a browser's EventSource can go on after it.
type sse struct {
	within bool // the last line has no end yet: a large record comes in pieces
}

func (e *sse) frames(records []byte) []byte {
	out := make([]byte, 0, len(records)+len(records)/4)
	for line := range bytes.Lines(records) {
		if id := recordSeq(line); id != nil && !e.within {
			out = append(out, "id: "...)
			out = append(out, id...)
			out = append(out, '\n')
		}
		if !e.within {
			out = append(out, "data: "...)
		}
		out = append(out, line...)
		if e.within = line[len(line)-1] != '\n'; !e.within {
			out = append(out, '\n')
		}
	}
	return out
}

var numbered = [][]byte{
	[]byte(`{"type":"event","seq":`),
	[]byte(`{"type":"run","seq":`),
	[]byte(`{"type":"verdict","seq":`),
}

// recordSeq finds the number of an event, run or verdict record, which stands right
// after its type.
func recordSeq(line []byte) []byte {
	for _, begin := range numbered {
		if rest, ok := bytes.CutPrefix(line, begin); ok {
			return rest[:max(bytes.IndexByte(rest, ','), 0)]
		}
	}
	return nil
}
