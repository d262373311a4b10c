package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/api"
)

// A Conn is one connection for many events, whose answers come in the order
// they were sent. One goroutine may send while another receives; a sender
// that is more than some hundred events ahead must receive in another, else both
// ends wait for each other, and the daemon closes the connection after 30 s. A Conn
// whose ctx has ended during a call is closed.
type Conn struct {
	client *Client
	conn   socket
	in     *bufio.Reader
	layers *layers // two connections in place of this one; nil = there is no system daemon

	mu   sync.Mutex
	sent []bool // of each event that has no answer yet: whether it has an ID; guarded by mu
}

// A daemon that is stopped takes a connection and what is sent, and never
// answers. Where no answer has come for pingTime, another connection sends a ping, which
// a daemon answers at once, whatever its hooks do; again each askAgain.
const (
	pingTime  = 2 * time.Second
	askAgain  = 10 * time.Second
	takeBytes = 64 << 10 // so many are taken in that time
)

// Dial opens a connection. ctx is that of the dialling only. Where the machine has a
// system daemon the error is nil: the answers say what is wrong.
func (c *Client) Dial(ctx context.Context) (*Conn, error) {
	if l := c.openLayers(ctx); l != nil {
		return &Conn{client: c, layers: l}, nil
	}
	return c.dialOne(ctx)
}

// dialOne opens a connection to this daemon alone.
func (c *Client) dialOne(ctx context.Context) (*Conn, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	return &Conn{client: c, conn: conn, in: bufio.NewReaderSize(conn, 4<<10)}, nil
}

// Send sends events, all with one write. It does not wait for their answers:
// Receive returns one for each.
//
// Where the machine has a system daemon, an event that waits reaches the user's own
// daemon when its answer is received.
func (c *Conn) Send(ctx context.Context, list ...Event) error {
	if c.layers != nil {
		return c.layers.send(ctx, list)
	}
	return c.sendOne(ctx, list)
}

// sendOne sends events to this daemon.
func (c *Conn) sendOne(ctx context.Context, list []Event) error {
	var lines []byte
	var ids []bool
	for _, ev := range list {
		ids = append(ids, ev.ID != "")
		var err error
		if lines, err = appendEvent(lines, &ev); err != nil {
			return err
		}
		lines = append(lines, '\n')
	}
	c.mu.Lock()
	c.sent = append(c.sent, ids...)
	c.mu.Unlock()
	err := c.write(ctx, lines)
	if err != nil && !slices.Contains(ids, false) {
		return markRetryable(err)
	}
	return err
}

// answered returns whether the first event without an answer has an ID, and
// takes it off the list when it has its answer now.
func (c *Conn) answered(now bool) (id bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.sent) == 0 {
		return false
	}
	id = c.sent[0]
	if now {
		c.sent = c.sent[1:]
	}
	return id
}

func (c *Conn) write(ctx context.Context, p []byte) error {
	stop := context.AfterFunc(ctx, func() { c.conn.Close() })
	defer stop()
	for patience := pingTime; len(p) > 0; {
		c.conn.SetWriteDeadline(time.Now().Add(patience))
		n, err := c.conn.Write(p[:min(len(p), takeBytes)])
		p = p[n:]
		if err == nil {
			continue
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) || !c.client.alive(ctx) {
			return c.client.explain(ctx, "send", err)
		}
		patience = askAgain
	}
	return nil
}

// alive reports whether the daemon answers a ping, with any line: one that does not know
// pings answers with an error.
func (c *Client) alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	conn, err := c.dial(ctx)
	if err != nil {
		return false
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(pingTime))
	if _, err := conn.Write([]byte(api.PingLine + "\n")); err != nil {
		return false
	}
	_, err = conn.Read(make([]byte, 1))
	return err == nil
}

// Receive returns the answer to the first event that has none yet. A *Error is
// its answer too: the connection goes on, unless the code is "too_large" or
// "internal".
func (c *Conn) Receive(ctx context.Context) (Answer, error) {
	if c.layers != nil {
		return c.layers.receive(ctx)
	}
	return c.receiveOne(ctx)
}

// receiveOne receives an answer of this daemon.
func (c *Conn) receiveOne(ctx context.Context) (Answer, error) {
	line, err := c.readAnswer(ctx)
	if id := c.answered(err == nil); err != nil && id {
		return Answer{}, markRetryable(err)
	}
	if err != nil {
		return Answer{}, err
	}
	return parseAnswer(line)
}

// readAnswer is readLine from a daemon that must be alive.
func (c *Conn) readAnswer(ctx context.Context) (line []byte, err error) {
	stop := context.AfterFunc(ctx, func() { c.conn.Close() })
	defer stop()
	defer c.conn.SetReadDeadline(time.Time{})
	for patience := pingTime; ; patience = askAgain {
		c.conn.SetReadDeadline(time.Now().Add(patience))
		part, err := c.in.ReadBytes('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimSuffix(line, []byte{'\n'}), nil
		case !errors.Is(err, os.ErrDeadlineExceeded) || !c.client.alive(ctx):
			return nil, c.client.explain(ctx, "receive", err)
		}
	}
}

// readLine returns the next line without its newline, in memory of its own.
func (c *Conn) readLine(ctx context.Context) ([]byte, error) {
	stop := context.AfterFunc(ctx, func() { c.conn.Close() })
	defer stop()
	line, err := c.in.ReadBytes('\n')
	if err != nil {
		return nil, c.client.explain(ctx, "receive", err)
	}
	return bytes.TrimSuffix(line, []byte{'\n'}), nil
}

// Close closes the connection. Events that were sent stay sent.
func (c *Conn) Close() error {
	if c.layers != nil {
		return c.layers.close()
	}
	return c.conn.Close()
}
