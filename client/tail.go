package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/wire"
)

// TailOptions select the records to follow; the zero value is everything from now on.
type TailOptions struct {
	Match  []string // globs of event names; none = all
	Since  *uint64  // records after this seq; nil = from now
	Epoch  string   // of Since, from the first record of the stream
	Starts bool     // with a "start" record when a run begins
	Once   bool     // end at the record that is the newest now
}

// Tail calls fn with each record of the stream, first
// {"type":"epoch","epoch":…,"seq":…}, then "event", "run", "verdict" and "gap" records. fn
// may keep the record. Tail returns fn's error, or nil when the stream has
// ended because of Once or because the daemon stops. Subscribe reads the records
// and connects again.
func (c *Client) Tail(ctx context.Context, opt TailOptions, fn func(record json.RawMessage) error) error {
	conn, err := c.dialOne(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.subscribe(ctx, opt); err != nil {
		return err
	}
	for first := true; ; first = false {
		line, err := conn.readLine(ctx)
		if errors.Is(err, io.ErrUnexpectedEOF) && !first {
			return nil
		}
		if err != nil {
			return err
		}
		if first {
			var refused wire.Refusal
			if json.Unmarshal(line, &refused) == nil && refused.Error != nil {
				return refused.Error
			}
		}
		if bytes.HasPrefix(line, []byte(`{"type":"ping"`)) {
			continue
		}
		if err := fn(line); err != nil {
			return err
		}
	}
}

func (c *Conn) subscribe(ctx context.Context, opt TailOptions) error {
	q := wire.Subscribe{Globs: opt.Match, Since: opt.Since, Epoch: opt.Epoch, Starts: opt.Starts}
	if q.Globs == nil {
		q.Globs = []string{}
	}
	if opt.Once {
		q.Follow = new(bool)
	}
	line, err := rawjson.Encode(q)
	if err != nil {
		return err
	}
	return c.write(ctx, append(line, '\n'))
}
