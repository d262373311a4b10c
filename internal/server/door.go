package server

import (
	"bufio"
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/nowait"
)

const (
	// manySilent connections that have sent nothing yet leave others less time,
	// and tooManySilent none.
	manySilent    = 64
	tooManySilent = 512
	hurry         = 500 * time.Millisecond
)

// conn is one connection, whichever door it takes. The raw connection is a
// plain field: embedded, its other methods would pass by the peeked bytes.
type conn struct {
	raw  net.Conn
	wire wire          // reads and writes
	in   *bufio.Reader // small: only what was peeked passes through it
	peer Peer
	stop func() // how to bring it to its end, nil = nothing to do; guarded by Server.mu
}

func (c *conn) Read(p []byte) (int, error)         { return c.in.Read(p) }
func (c *conn) Write(p []byte) (int, error)        { return nowait.Write(c.wire.socket, p) }
func (c *conn) Close() error                       { return c.raw.Close() }
func (c *conn) LocalAddr() net.Addr                { return c.raw.LocalAddr() }
func (c *conn) RemoteAddr() net.Addr               { return c.raw.RemoteAddr() }
func (c *conn) SetDeadline(t time.Time) error      { return c.raw.SetDeadline(t) }
func (c *conn) SetReadDeadline(t time.Time) error  { return c.raw.SetReadDeadline(t) }
func (c *conn) SetWriteDeadline(t time.Time) error { return c.raw.SetWriteDeadline(t) }

// wire is what comes on a socket.
type wire struct{ socket syscall.RawConn }

func (w wire) Read(p []byte) (int, error) { return nowait.Read(w.socket, p) }

// CloseWrite ends what the client reads and keeps what it sends: net/http and
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

// linger closes the connection in a way that lets the client read what was
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

// accept takes connections until the listener is closed.
func (s *Server) accept(ctx context.Context) {
	for wait := time.Duration(0); ; {
		nc, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, most likely: it passes
			wait = min(max(2*wait, 5*time.Millisecond), time.Second)
			s.log.Warn("accept failed", zap.Error(err), zap.Duration("retry", wait))
			select {
			case <-time.After(wait):
			case <-s.quit:
			}
			continue
		}
		wait = 0
		s.handlers.Add(1)
		go s.open(ctx, &conn{raw: nc})
	}
}

// open looks who is there and which door it wants. It owns the connection
// until it hands it to net/http.
func (s *Server) open(ctx context.Context, c *conn) {
	s.track(c)
	handed := false
	defer func() {
		if v := recover(); v != nil {
			s.logPanic(v)
		}
		if !handed {
			s.forget(c)
		}
	}()
	peer, err := s.identify(c)
	if err != nil || !peer.welcome() {
		s.log.Warn("connection refused", zap.Int("uid", peer.UID), zap.Int("pid", peer.PID), zap.Error(err))
		return
	}
	c.peer, c.in = peer, bufio.NewReaderSize(c.wire, 512)
	first, err := s.peek(c)
	switch {
	case err != nil:
	case first == '{':
		s.serveLines(ctx, c)
	case 'A' <= first && first <= 'Z', 'a' <= first && first <= 'z':
		handed = s.web.give(c)
	default:
		c.SetWriteDeadline(time.Now().Add(answerTimeout))
		c.Write(appendRefusal(nil, &events.Error{
			Code:    events.CodeBadRequest,
			Message: "a connection begins with { (plain lines) or with an HTTP method, not with a blank or a byte order mark",
			Hint:    `send {"event":"agent:end","data":{}} and a newline`,
		}))
		c.linger(lingerTimeout)
	}
}

// peek waits for the first byte, in the connection's own goroutine.
func (s *Server) peek(c *conn) (byte, error) {
	timeout, ok := s.beginPeek()
	if !ok {
		s.log.Warn("connection refused: too many silent ones", zap.Int("pid", c.peer.PID))
		return 0, errors.New("too many silent connections")
	}
	c.SetReadDeadline(time.Now().Add(timeout))
	s.enter(c, func() { c.SetReadDeadline(time.Now()) })
	b, err := c.in.Peek(1)
	s.endPeek()
	if err != nil {
		return 0, err
	}
	s.enter(c, nil)
	c.SetReadDeadline(time.Time{})
	return b[0], nil
}

func (s *Server) beginPeek() (timeout time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peeking >= tooManySilent {
		return 0, false
	}
	s.peeking++
	if s.peeking > manySilent {
		return min(hurry, s.opt.Silence), true
	}
	return s.opt.Silence, true
}

func (s *Server) endPeek() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peeking--
}

func (s *Server) track(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = struct{}{}
}

// enter says how to bring c to its end from now on. During a shutdown that is
// done at once.
func (s *Server) enter(c *conn, stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.stop = stop
	if s.draining {
		c.interrupt()
	}
}

func (s *Server) isDraining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// forget closes c for good. Each accepted connection comes here once.
func (s *Server) forget(c *conn) {
	c.raw.Close()
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	s.handlers.Done()
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
