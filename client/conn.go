package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"

	"github.com/hookd/hookd/internal/events"
)

// A Conn is one connection for many events, whose answers come in the order
// they were sent. One goroutine may send while another receives; who sends
// more than some hundred events ahead must receive in another, else both ends
// come to wait for each other, and the daemon hangs up after 30 s. A Conn
// whose ctx has ended during a call is closed.
type Conn struct {
	client *Client
	conn   net.Conn
	in     *bufio.Reader
}

// Dial opens a connection. ctx is that of the dialling only.
func (c *Client) Dial(ctx context.Context) (*Conn, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	return &Conn{client: c, conn: conn, in: bufio.NewReaderSize(conn, 4<<10)}, nil
}

// Send sends events, all with one write. It does not wait for their answers:
// Receive returns one for each.
func (c *Conn) Send(ctx context.Context, list ...Event) error {
	var lines []byte
	for _, ev := range list {
		line, err := encode(ev)
		if err != nil {
			return fmt.Errorf("encode event %q: %w", ev.Event, err)
		}
		lines = append(append(lines, line...), '\n')
	}
	return c.write(ctx, lines)
}

func (c *Conn) write(ctx context.Context, p []byte) error {
	stop := context.AfterFunc(ctx, func() { c.conn.Close() })
	defer stop()
	if _, err := c.conn.Write(p); err != nil {
		return c.client.explain(ctx, "send", err)
	}
	return nil
}

// Receive returns the answer to the first event that has none yet. A *Error is
// its answer too: the connection goes on, unless the code is "too_large" or
// "internal".
func (c *Conn) Receive(ctx context.Context) (Answer, error) {
	line, err := c.readLine(ctx)
	if err != nil {
		return Answer{}, err
	}
	var reply struct {
		Answer
		Error *events.Error `json:"error"`
	}
	if err := json.Unmarshal(line, &reply); err != nil {
		return Answer{}, fmt.Errorf("read answer: %w", err)
	}
	if reply.Error != nil {
		return Answer{}, reply.Error
	}
	return reply.Answer, nil
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
func (c *Conn) Close() error { return c.conn.Close() }
