package server

import (
	"bufio"
	"container/list"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/nowait"
	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/wire"
)

// conn is one connection, whichever door it takes. The raw connection is a
// plain field: embedded, its other methods would pass by the peeked bytes.
type conn struct {
	raw      net.Conn
	incoming incoming      // reads and writes
	in       *bufio.Reader // small: only what was peeked passes through it
	peer     Peer
	stop     func() // how to bring it to its end, nil = nothing to do; guarded by connections.mu

	counted bool // in connections.strangers; guarded by connections.mu

	silent *list.Element // in connections.silent; nil = it has sent something; guarded by connections.mu
	idle   atomic.Int64  // since when it has been waited for, nanoseconds since 1970; 0 = it is not
}

// waits notes that nothing is done for the connection until it sends something.
func (c *conn) waits(yes bool) {
	var since int64
	if yes {
		since = time.Now().UnixNano()
	}
	c.idle.Store(since)
}

func (c *conn) Read(p []byte) (int, error)         { return c.in.Read(p) }
func (c *conn) Write(p []byte) (int, error)        { return nowait.Write(c.incoming.socket, p) }
func (c *conn) Close() error                       { return c.raw.Close() }
func (c *conn) LocalAddr() net.Addr                { return c.raw.LocalAddr() }
func (c *conn) RemoteAddr() net.Addr               { return c.raw.RemoteAddr() }
func (c *conn) SetDeadline(t time.Time) error      { return c.raw.SetDeadline(t) }
func (c *conn) SetReadDeadline(t time.Time) error  { return c.raw.SetReadDeadline(t) }
func (c *conn) SetWriteDeadline(t time.Time) error { return c.raw.SetWriteDeadline(t) }

// incoming reads a socket without blocking.
type incoming struct{ socket syscall.RawConn }

func (i incoming) Read(p []byte) (int, error) { return nowait.Read(i.socket, p) }

// CloseWrite ends the client's reading and keeps its sending: net/http and
// linger let it read the reason before it is closed.
func (c *conn) CloseWrite() error {
	if half, ok := c.raw.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

func (c *conn) interrupt() {
	if c.stop != nil {
		c.stop()
	}
}

// linger closes the connection in a way that lets the client read the text
// written last: closing with unread input could cost it that.
func (c *conn) linger(d time.Duration) {
	c.CloseWrite()
	c.raw.SetReadDeadline(time.Now().Add(d))
	var sink [4 << 10]byte
	for {
		if _, err := c.raw.Read(sink[:]); err != nil {
			return
		}
	}
}

// outlast is linger for a client that may still be sending a large event: it
// ends when nothing comes for a moment.
func (s *Server) outlast(c *conn) {
	c.CloseWrite()
	discard(c.raw, c.raw.SetReadDeadline, s.conns.isDraining)
}

// silence is how long a client may send nothing and still has more to send: a client that
// waits looks for a while whether hookd is alive.
const silence = 5 * time.Second

// discard reads the input until none comes for a pause, for bodyTimeout at most,
// or until stop.
func discard(in io.Reader, deadline func(time.Time) error, stop func() bool) {
	var sink [32 << 10]byte
	end := time.Now().Add(bodyTimeout)
	for now := time.Now(); now.Before(end) && !stop(); now = time.Now() {
		deadline(now.Add(silence))
		if _, err := in.Read(sink[:]); err != nil {
			return
		}
	}
}

// accept takes connections until the listener is closed.
func (s *Server) accept(ctx context.Context, listener net.Listener) {
	for wait := time.Duration(0); ; {
		nc, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, most likely: it passes
			wait = min(max(2*wait, 5*time.Millisecond), time.Second)
			s.log.Warn("accept failed", zap.Error(err), zap.Duration("retry", wait))
			s.conns.makeRoom(0)
			pause.For(wait, s.quit)
			continue
		}
		wait = 0
		s.conns.handlers.Add(1)
		go s.open(ctx, &conn{raw: nc})
	}
}

// open looks which process connects and which door it wants. It owns the connection
// until it hands it to net/http.
func (s *Server) open(ctx context.Context, c *conn) {
	room := s.conns.track(c)
	handed := false
	defer func() {
		if v := recover(); v != nil {
			s.logPanic(v)
		}
		if !handed {
			s.conns.forget(c)
		}
	}()
	peer, err := s.identify(c)
	if err != nil || !s.welcome(peer) {
		s.log.Warn("connection refused", zap.Int("uid", peer.UID), zap.Int("pid", peer.PID), zap.Error(err))
		return
	}
	c.peer, c.in = peer, bufio.NewReaderSize(c.incoming, 512)
	if !s.conns.countStranger(c) || !room {
		s.log.Warn(
			"connection refused: too many are busy",
			zap.Int("uid", peer.UID),
			zap.Int("pid", peer.PID),
			zap.Int("connections", s.opt.MaxConns),
		)
		c.SetWriteDeadline(time.Now().Add(lingerTimeout))
		c.Write(
			appendRefusal(
				nil,
				&wire.Error{
					Code:       wire.CodeQueueFull,
					Message:    "hookd has too many connections",
					Hint:       "send it again, and close connections that are not needed",
					RetryAfter: 1,
				},
			),
		)
		c.linger(lingerTimeout)
		return
	}
	first, err := s.peek(c)
	switch {
	case err != nil:
	case first == '{':
		s.serveLines(ctx, c)
	case 'A' <= first && first <= 'Z', 'a' <= first && first <= 'z':
		handed = s.web.give(c)
	default:
		c.SetWriteDeadline(time.Now().Add(answerTimeout))
		c.Write(appendRefusal(nil, &wire.Error{
			Code:    wire.CodeBadRequest,
			Message: "a connection begins with { (plain lines) or with an HTTP method, not with a blank or a byte order mark",
			Hint:    `send {"event":"agent:end","data":{}} and a newline`,
		}))
		c.linger(lingerTimeout)
	}
}

// peek waits for the first byte, in the connection's own goroutine.
func (s *Server) peek(c *conn) (byte, error) {
	s.conns.beginSilence(c)
	c.SetReadDeadline(time.Now().Add(s.opt.Silence))
	s.conns.setStop(c, func() { c.SetReadDeadline(time.Now()) })
	b, err := c.in.Peek(1)
	s.conns.endSilence(c)
	if err != nil {
		return 0, err
	}
	s.conns.setStop(c, nil)
	c.SetReadDeadline(time.Time{})
	return b[0], nil
}

// handoff is the listener from which net/http takes connections that have
// chosen its door.
type handoff struct {
	addr   net.Addr
	conns  chan *conn
	closed chan struct{}
	once   sync.Once
}

func newHandoff(addr net.Addr) *handoff {
	return &handoff{addr: addr, conns: make(chan *conn), closed: make(chan struct{})}
}

// give reports whether net/http took c.
func (h *handoff) give(c *conn) bool {
	select {
	case h.conns <- c:
		return true
	case <-h.closed:
		return false
	}
}

// Accept implements net.Listener.
func (h *handoff) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (h *handoff) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

// Addr implements net.Listener.
func (h *handoff) Addr() net.Addr { return h.addr }
