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

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/wire"
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

	blocking bool      // see Options
	by       time.Time // SetDeadline's

	mu   sync.Mutex
	sent []bool // of each event that has no answer yet: whether it has an ID; guarded by mu
}

// A daemon that is stopped takes a connection and the lines that are sent, and never
// answers. Where no answer has come for pingTime, another connection sends a ping, which
// a daemon answers at once, whatever its hooks do; again each askAgain.
const (
	pingTime  = 2 * time.Second
	askAgain  = 10 * time.Second
	takeBytes = 64 << 10 // so many are taken in that time
)

// Dial opens a connection. ctx is that of the dialling only. Where the machine has a
// system daemon the error is nil: the answers name the fault.
func (c *Client) Dial(ctx context.Context) (*Conn, error) {
	if l := c.openLayers(ctx); l != nil {
		return &Conn{client: c, layers: l}, nil
	}
	if c.blocking {
		conn, err := openBlocking(c.Socket())
		conn, err = c.checked(ctx, conn, err)
		if err != nil {
			return nil, err
		}
		return &Conn{client: c, conn: conn, in: reader(conn), blocking: true}, nil
	}
	return c.dialOne(ctx)
}

func reader(conn socket) *bufio.Reader { return bufio.NewReaderSize(conn, 4<<10) }

// SetDeadline says when each call of Send and Receive ends with ErrTimeout, besides its
// ctx; zero = never. Where the machine has a system daemon it changes nothing: the ctx
// of a call ends it there.
func (c *Conn) SetDeadline(by time.Time) { c.by = by }

// before returns the end of the next wait for the system, of at most patience.
func (c *Conn) before(patience time.Duration) time.Time {
	end := time.Now().Add(patience)
	if !c.by.IsZero() && c.by.Before(end) {
		return c.by
	}
	return end
}

// closedBy has the end of ctx close the connection until stop is called.
func (c *Conn) closedBy(ctx context.Context) (stop func() bool) {
	if c.blocking {
		return func() bool { return false }
	}
	return context.AfterFunc(ctx, func() { c.conn.Close() })
}

// lost returns nil where op is to go on waiting, since the daemon is alive; else why it fails.
func (c *Conn) lost(ctx context.Context, op string, err error) error {
	if !c.by.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, c.by)
		defer cancel()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) && c.client.alive(ctx) {
		return nil
	}
	return c.client.explain(ctx, op, err)
}

// dialOne opens a connection to this daemon alone.
func (c *Client) dialOne(ctx context.Context) (*Conn, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	return &Conn{client: c, conn: conn, in: reader(conn)}, nil
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
		if lines, err = ev.AppendLine(lines); err != nil {
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

// tellTime is how long Tell may take. A daemon that does not read in that time does not learn it.
const tellTime = 100 * time.Millisecond

// Tell says which answer the agent heard to the events that were sent with Tells. It waits for no
// answer, and at most 100 ms for the socket.
func (c *Conn) Tell(t Told) error {
	told := wire.Told{
		Decision: wire.Outcome(t.Decision), Reason: t.Reason, Rewrote: t.Rewrote, Unsure: t.Unsure,
	}
	line, err := rawjson.Encode(wire.Tell{Told: &told})
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if c.layers != nil {
		return c.layers.tell(line)
	}
	return c.tell(line)
}

func (c *Conn) tell(line []byte) error {
	c.conn.SetWriteDeadline(time.Now().Add(tellTime))
	_, err := c.conn.Write(line)
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
	defer c.closedBy(ctx)()
	for patience := pingTime; len(p) > 0; {
		c.conn.SetWriteDeadline(c.before(patience))
		n, err := c.conn.Write(p[:min(len(p), takeBytes)])
		p = p[n:]
		if err == nil {
			continue
		}
		if err := c.lost(ctx, "send", err); err != nil {
			return err
		}
		patience = askAgain
	}
	return nil
}

// alive reports whether the daemon answers a ping, with any line: a daemon that does not
// know pings answers with an error.
func (c *Client) alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	conn, err := c.dial(ctx)
	if err != nil {
		return false
	}
	defer conn.Close()
	by, _ := ctx.Deadline()
	conn.SetDeadline(by)
	if _, err := conn.Write([]byte(wire.PingLine + "\n")); err != nil {
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
	defer c.closedBy(ctx)()
	defer c.conn.SetReadDeadline(time.Time{})
	for patience := pingTime; ; patience = askAgain {
		c.conn.SetReadDeadline(c.before(patience))
		part, err := c.in.ReadBytes('\n')
		line = append(line, part...)
		if err == nil {
			return bytes.TrimSuffix(line, []byte{'\n'}), nil
		}
		if err := c.lost(ctx, "receive", err); err != nil {
			return nil, err
		}
	}
}

// readLine returns the next line without its newline, in memory of its own.
func (c *Conn) readLine(ctx context.Context) ([]byte, error) {
	defer c.closedBy(ctx)()
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
