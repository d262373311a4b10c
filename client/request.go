package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/wire"
)

// reply is an answer of the HTTP door.
type reply struct {
	path   string
	status int
	body   []byte
}

func get[T any](ctx context.Context, c *Client, path string) (T, error) {
	r, err := c.request(ctx, "GET", path, nil)
	if err != nil {
		var none T
		return none, err
	}
	return decode[T](r)
}

func post[T any](ctx context.Context, c *Client, path string, body any) (T, error) {
	var none T
	text, err := rawjson.Encode(body)
	if err != nil {
		return none, fmt.Errorf("encode request to %s: %w", path, err)
	}
	r, err := c.request(ctx, "POST", path, text)
	if err != nil {
		return none, err
	}
	return decode[T](r)
}

func decode[T any](r reply) (T, error) {
	if r.status != 200 {
		var none T
		return none, r.refusal()
	}
	return unmarshal[T](r.body)
}

func unmarshal[T any](body []byte) (v T, err error) {
	if err = json.Unmarshal(body, &v); err != nil {
		err = fmt.Errorf("read answer: %w", err)
	}
	return v, err
}

// refusal returns the *Error in the reply.
func (r reply) refusal() error {
	var refused wire.Refusal
	if json.Unmarshal(r.body, &refused) == nil && refused.Error != nil {
		return refused.Error
	}
	return fmt.Errorf("%s: hookd answered with status %d", r.path, r.status)
}

// request speaks HTTP/1.0, one request a connection: the answer then has no
// chunks, and all of HTTP that is left is a status, a header and a body.
func (c *Client) request(ctx context.Context, method, path string, body []byte) (reply, error) {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	conn, err := c.dial(ctx)
	if err != nil {
		return reply{}, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()

	var head bytes.Buffer
	fmt.Fprintf(&head, "%s %s HTTP/1.0\r\nHost: hookd\r\nContent-Type: %s\r\nContent-Length: %d\r\n", method, path, wire.JSON, len(body))
	if c.door != "" && wire.IsDoor(c.door) {
		fmt.Fprintf(&head, "%s: %s\r\n", wire.DoorHeader, c.door)
	}
	head.WriteString("\r\n")
	if _, err := conn.Write(append(head.Bytes(), body...)); err != nil {
		return reply{}, c.explain(ctx, method+" "+path, err)
	}
	status, text, err := readResponse(bufio.NewReader(&patient{conn, c, ctx}))
	if err != nil {
		return reply{}, c.explain(ctx, method+" "+path, err)
	}
	return reply{path, status, text}, nil
}

// requestTime is how long a request may go without an answer before the daemon is
// sent a ping.
const requestTime = 5 * time.Second

// patient reads from a daemon that must be alive.
type patient struct {
	socket
	client *Client
	ctx    context.Context
}

func (p *patient) Read(b []byte) (int, error) {
	for {
		p.SetReadDeadline(time.Now().Add(requestTime))
		n, err := p.socket.Read(b)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || !p.client.alive(p.ctx) {
			return n, err
		}
	}
}

// readResponse reads a response that has a Content-Length, as all of hookd's
// have that are not streams.
func readResponse(in *bufio.Reader) (status int, body []byte, err error) {
	h, err := readHead(in)
	if err != nil {
		return 0, nil, err
	}
	size, err := strconv.ParseInt(h.contentLength, 10, 64)
	if err != nil || size < 0 {
		return 0, nil, fmt.Errorf("answer without a length: Content-Length is %q", h.contentLength)
	}
	body, err = io.ReadAll(io.LimitReader(in, size))
	if err == nil && int64(len(body)) < size {
		err = io.ErrUnexpectedEOF
	}
	return h.status, body, err
}

// escape makes name one segment of a path.
func escape(name string) string { return url.PathEscape(name) }
