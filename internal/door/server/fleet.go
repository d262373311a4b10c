package server

import (
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/hookd/hookd/wire"
)

func postFleetAnswer(s *Server) http.HandlerFunc {
	hint := "`hookd ask allow` and `hookd ask deny` with --machine and --key make one"
	return posted(s, form{name: "the answer", hint: hint},
		func(r *http.Request, given wire.FleetAnswer) (struct{}, *wire.Error) {
			return struct{}{}, s.opt.Fleet.PassAnswer(r.Context(), given)
		})
}

func (s *Server) getFleetDead(w http.ResponseWriter, r *http.Request) {
	limit, bad := numberParam(r.URL.Query().Get("limit"), "limit", wire.MaxRuns)
	if bad != nil {
		refuse(w, bad)
		return
	}
	dead, bad := s.opt.Fleet.FleetDeadLetters(r.Context(), r.URL.Query().Get("hook"), int(limit))
	answer(w, dead, bad)
}

// postFleetLink turns a request around: the peer sends its answers, and hookd asks in
// the body of its own. The answer begins when hookd takes the connection.
func (s *Server) postFleetLink(w http.ResponseWriter, r *http.Request) {
	rc := http.NewResponseController(w)
	rc.EnableFullDuplex() // HTTP/1 always has it
	l := &turned{ResponseWriter: w, rc: rc, body: r.Body}
	bad := s.opt.Fleet.FleetLink(r.Context(), peerOf(r), l)
	if bad != nil && !l.begun {
		refuse(w, bad)
	}
}

// turned is a connection of a request whose ends are exchanged.
type turned struct {
	http.ResponseWriter
	rc   *http.ResponseController
	body io.ReadCloser

	mu     sync.Mutex // guards what is below; a writer is not there when Close has returned
	begun  bool
	closed bool
}

func (t *turned) Read(p []byte) (int, error) { return t.body.Read(p) }

func (t *turned) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return 0, net.ErrClosed
	}
	t.begun = true
	n, err := t.ResponseWriter.Write(p)
	if err == nil {
		err = t.rc.Flush()
	}
	return n, err
}

// Close has Read end.
func (t *turned) Close() error {
	t.rc.SetWriteDeadline(time.Now())
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	return t.rc.SetReadDeadline(time.Now())
}

func (t *turned) LocalAddr() net.Addr                 { return &net.UnixAddr{Net: "unix"} }
func (t *turned) RemoteAddr() net.Addr                { return &net.UnixAddr{Net: "unix"} }
func (t *turned) SetDeadline(at time.Time) error      { return t.rc.SetReadDeadline(at) }
func (t *turned) SetReadDeadline(at time.Time) error  { return t.rc.SetReadDeadline(at) }
func (t *turned) SetWriteDeadline(at time.Time) error { return t.rc.SetWriteDeadline(at) }
