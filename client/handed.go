package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/hookd/hookd/wire"
)

// Resume returns the connection by which hookd-bridge has handed a call over, for Handed and Written alone. answer has
// the bytes of the answer so far.
func (c *Client) Resume(conn *os.File, answer []byte) *Conn {
	return &Conn{client: c, conn: conn, in: reader(resumed{io.MultiReader(bytes.NewReader(answer), conn), conn})}
}

// resumed is a socket with bytes that were read before.
type resumed struct {
	io.Reader
	socket
}

func (r resumed) Read(p []byte) (int, error) { return r.Reader.Read(p) }

// Handed waits for the answer to a call that was handed over; nil = hookd leaves it to the bridge.
func (c *Conn) Handed(ctx context.Context) (*wire.HandedReply, error) {
	head, err := c.readAnswer(ctx)
	if err != nil {
		return nil, err
	}
	exit, stdout, stderr, ok := wire.HandedHead(string(head))
	if !ok {
		return nil, nil
	}
	body := make([]byte, stdout+stderr)
	c.conn.SetReadDeadline(c.before(askAgain))
	defer c.conn.SetReadDeadline(time.Time{})
	if _, err := io.ReadFull(c.in, body); err != nil {
		return nil, c.client.explain(ctx, "receive", err)
	}
	return &wire.HandedReply{Exit: exit, Stdout: string(body[:stdout]), Stderr: string(body[stdout:])}, nil
}

// Written says that the agent has the answer of Handed.
func (c *Conn) Written() error { return c.tell(fmt.Appendln(nil, wire.WrittenLine)) }
