package link

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/hookd/hookd/internal/fleet/engine"
)

// Serve answers the calls of hookd on a connection until that ends. dial makes the engine of
// the first call.
func Serve(c net.Conn, dial func(engine.Options) (Engine, error)) error {
	s := &serving{dial: dial, open: map[uint64]delivery{}}
	ended := make(chan struct{})
	end := sync.OnceFunc(func() { close(ended) })
	server := &http.Server{
		Handler: s, Protocols: protocols(), HTTP2: &http.HTTP2Config{MaxConcurrentStreams: streams},
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				end()
			}
		},
	}
	err := server.Serve(&single{c: c, ended: ended})
	if s.engine != nil {
		s.engine.Close()
	}
	return err
}

// single is a listener with one connection. After that Accept fails when the connection has ended.
type single struct {
	c     net.Conn
	given atomic.Bool
	ended chan struct{}
}

func (l *single) Accept() (net.Conn, error) {
	if l.given.Swap(true) {
		<-l.ended
		return nil, net.ErrClosed
	}
	return l.c, nil
}

func (l *single) Close() error   { return l.c.Close() }
func (l *single) Addr() net.Addr { return l.c.LocalAddr() }

// serving is one connection.
type serving struct {
	dial   func(engine.Options) (Engine, error)
	engine Engine // set by the first call

	mu   sync.Mutex // guards what is below
	last uint64
	open map[uint64]delivery // that hookd is not done with
}

type delivery struct {
	engine.Delivery
	done chan struct{}
}

func (s *serving) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, out := r.Context(), json.NewEncoder(w)
	if r.URL.Path == pathConnect {
		_ = out.Encode(answer{Err: refuse(s.connect(r))})
		return
	}
	if s.engine == nil {
		http.Error(w, "not connected", http.StatusConflict)
		return
	}
	line := func(a answer) bool {
		return out.Encode(a) == nil && http.NewResponseController(w).Flush() == nil
	}
	switch r.URL.Path {
	case pathState:
		s.state(ctx, line)
	case pathRead:
		var q engine.Query
		read(r, &q)
		err := s.engine.Read(ctx, q, func(m engine.Stored) bool { return line(answer{Got: &m}) })
		line(answer{Err: refuse(err)})
	case pathConsume:
		var c engine.Spec
		read(r, &c)
		line(answer{})
		line(answer{Err: refuse(s.engine.Consume(ctx, c, s.deliver(line)))})
	case pathListen:
		var subject string
		read(r, &subject)
		line(answer{})
		line(answer{Err: refuse(s.engine.Listen(ctx, subject, func() { line(answer{N: 1}) }))})
	default:
		_ = out.Encode(s.call(ctx, r))
	}
}

// read reads the parameters of a call, which are hookd's.
func read(r *http.Request, into any) { _ = json.NewDecoder(r.Body).Decode(into) }

func (s *serving) connect(r *http.Request) (err error) {
	var o engine.Options
	read(r, &o)
	s.engine, err = s.dial(o)
	return err
}

// call answers a call that has one answer.
func (s *serving) call(ctx context.Context, r *http.Request) (a answer) {
	var err error
	var p place
	switch r.URL.Path {
	case pathPublish:
		var list []engine.Message
		read(r, &list)
		for _, failed := range s.engine.Publish(ctx, list) {
			a.Errs = append(a.Errs, refuse(failed))
		}
		return a
	case pathPrepare:
		var list []engine.Stream
		read(r, &list)
		return answer{Err: refuse(s.engine.Prepare(ctx, list))}
	case pathMake:
		var list []engine.Spec
		read(r, &list)
		return answer{Err: refuse(s.engine.MakeConsumers(ctx, list))}
	case pathDelete:
		var list []engine.Spec
		read(r, &list)
		return answer{Err: refuse(s.engine.DeleteConsumers(ctx, list))}
	case pathBound:
		var of engine.Stream
		read(r, &of)
		return answer{Err: refuse(s.engine.BoundQueue(ctx, of))}
	case pathDone:
		var d done
		read(r, &d)
		return answer{Err: refuse(s.done(d))}
	}
	read(r, &p)
	switch r.URL.Path {
	case pathCount:
		a.Count, err = s.engine.Count(ctx, p.Stream, p.Subject)
	case pathDrop:
		err = s.engine.Drop(ctx, p.Stream, p.Seq)
	case pathObject:
		a.Data, err = s.engine.Object(ctx, p.Stream, p.Subject, p.Limit)
	case pathReplace:
		err = s.engine.Replace(ctx, p.Message, p.Seq)
	case pathPut:
		err = s.engine.PutObject(ctx, p.Stream, p.Subject, p.Data)
	case pathPurge:
		err = s.engine.Purge(ctx, p.Stream, p.Subject)
	case pathLook:
		a.Found, err = s.look(ctx, p.Stream)
	case pathAnnounce:
		err = s.engine.Announce(p.Subject)
	}
	a.Err = refuse(err)
	return a
}

func (s *serving) look(ctx context.Context, stream string) (*engine.Found, error) {
	found, err := s.engine.Look(ctx, stream)
	return &found, err
}

// state tells the state now and after each change.
func (s *serving) state(ctx context.Context, line func(answer) bool) {
	for {
		state := s.engine.State()
		if !line(answer{State: &state}) {
			return
		}
		select {
		case <-s.engine.Told():
		case <-ctx.Done():
			return
		}
	}
}

// deliver hands deliveries to hookd, and waits with each until its handler has returned there.
func (s *serving) deliver(line func(answer) bool) func(context.Context, engine.Delivery) {
	var one sync.Mutex
	return func(ctx context.Context, d engine.Delivery) {
		open := delivery{d, make(chan struct{})}
		s.mu.Lock()
		s.last++
		n := s.last
		s.open[n] = open
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			delete(s.open, n)
			s.mu.Unlock()
		}()
		one.Lock()
		ok := line(answer{N: n, Got: &d.Stored, Try: d.Try})
		one.Unlock()
		if !ok {
			return
		}
		select {
		case <-open.done:
		case <-ctx.Done():
		}
	}
}

func (s *serving) done(d done) error {
	s.mu.Lock()
	of, ok := s.open[d.N]
	if d.How == returned {
		delete(s.open, d.N)
	}
	s.mu.Unlock()
	if !ok {
		return engine.ErrAway
	}
	switch d.How {
	case took:
		return of.Took()
	case later:
		return of.Later(d.After)
	case returned:
		close(of.done)
	}
	return nil
}
