// Package fleettest is for tests: real NATS servers with JetStream, in the test's process or
// as processes of their own, alone or as a cluster.
package fleettest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// readyTime is how long a server may take under load.
const readyTime = 2 * time.Minute

// maxStore is the size that streams may reserve: tests fill less than a disk.
const maxStore = 1 << 40

// Server is one server, on one folder and one port for as long as the test runs.
type Server struct {
	t    testing.TB
	opts server.Options
	s    *server.Server
	said refusals
}

// refusals is a log that keeps what a server said of acts that it refused.
type refusals struct {
	server.Logger
	mu   sync.Mutex
	list []string
}

func (r *refusals) note(format string, v ...any) {
	if text := fmt.Sprintf(format, v...); strings.Contains(text, "Violation") {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.list = append(r.list, text)
	}
}

func (r *refusals) Noticef(string, ...any)         {}
func (r *refusals) Debugf(string, ...any)          {}
func (r *refusals) Tracef(string, ...any)          {}
func (r *refusals) Warnf(format string, v ...any)  { r.note(format, v...) }
func (r *refusals) Errorf(format string, v ...any) { r.note(format, v...) }
func (r *refusals) Fatalf(format string, v ...any) { r.note(format, v...) }

// Violations returns the lines of the server's log about acts that users may not do.
func (s *Server) Violations() []string {
	s.said.mu.Lock()
	defer s.said.mu.Unlock()
	return slices.Clone(s.said.list)
}

// Start starts a server with JetStream until the test ends; change may set more options.
func Start(t testing.TB, change func(*server.Options)) *Server {
	t.Helper()
	s := &Server{t: t, opts: server.Options{
		Host: "127.0.0.1", Port: hooktest.FreePort(t), JetStream: true, StoreDir: t.TempDir(),
		NoSigs: true, NoLog: true, JetStreamMaxStore: maxStore,
	}}
	if change != nil {
		change(&s.opts)
	}
	s.Run()
	t.Cleanup(s.Stop)
	return s
}

// LetIn is a change for Start: the server lets the holders of keys in alone, who may do everything.
func LetIn(public ...string) func(*server.Options) {
	return func(o *server.Options) {
		for _, key := range public {
			o.Nkeys = append(o.Nkeys, &server.NkeyUser{Nkey: key})
		}
	}
}

// Streams returns a client for the streams of servers, until the test ends.
func Streams(t testing.TB, urls []string) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(strings.Join(urls, ","), nats.RetryOnFailedConnect(true))
	hooktest.Must(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	hooktest.Must(t, err)
	return js
}

// URL is where clients connect.
func (s *Server) URL() string { return fmt.Sprintf("nats://127.0.0.1:%d", s.opts.Port) }

// Port is the port of URL.
func (s *Server) Port() int { return s.opts.Port }

// Run starts the server again, on its old folder and port.
func (s *Server) Run() {
	s.t.Helper()
	opts := s.opts
	started, err := server.NewServer(&opts)
	if err != nil {
		s.t.Fatal(err)
	}
	started.SetLogger(&s.said, false, false)
	started.Start()
	if !started.ReadyForConnections(readyTime) {
		s.t.Fatal("the NATS server does not start")
	}
	s.s = started
}

// Stop ends the server; its folder stays.
func (s *Server) Stop() {
	if s.s != nil {
		s.s.Shutdown()
		s.s.WaitForShutdown()
		s.s = nil
	}
}

// Stored returns how many messages a stream has, and the bytes that they take on disk; 0 for a
// stream that is not there.
func (s *Server) Stored(stream string) (messages, bytes uint64) {
	s.t.Helper()
	info, err := s.s.Jsz(&server.JSzOptions{Accounts: true, Streams: true})
	hooktest.Must(s.t, err)
	for _, account := range info.AccountDetails {
		for _, of := range account.Streams {
			if of.Name == stream {
				return of.State.Msgs, of.State.Bytes
			}
		}
	}
	return 0, 0
}

// Received returns how many messages clients have sent to the server: all that it stores,
// answers and acknowledges.
func (s *Server) Received() int64 {
	s.t.Helper()
	v, err := s.s.Varz(nil)
	hooktest.Must(s.t, err)
	return v.InMsgs
}
