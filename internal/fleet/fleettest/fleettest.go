// Package fleettest is for tests: real NATS servers with JetStream, in the test's process or
// as processes of their own, alone or as a cluster.
package fleettest

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// readyTime is how long a server may take under load.
const readyTime = 60 * time.Second

// maxStore is what streams may reserve: what they hold in tests is less than a disk has.
const maxStore = 1 << 40

// Server is one server, on one folder and one port for as long as the test runs.
type Server struct {
	t    testing.TB
	opts server.Options
	s    *server.Server
}

// Start starts a server with JetStream until the test ends; change may set more options.
func Start(t testing.TB, change func(*server.Options)) *Server {
	t.Helper()
	s := &Server{t: t, opts: server.Options{
		Host: "127.0.0.1", Port: FreePort(t), JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
		JetStreamMaxStore: maxStore,
	}}
	if change != nil {
		change(&s.opts)
	}
	s.Run()
	t.Cleanup(s.Stop)
	return s
}

// URL is where clients connect.
func (s *Server) URL() string { return fmt.Sprintf("nats://127.0.0.1:%d", s.opts.Port) }

// Run starts the server again, on its old folder and port.
func (s *Server) Run() {
	s.t.Helper()
	opts := s.opts
	started, err := server.NewServer(&opts)
	if err != nil {
		s.t.Fatal(err)
	}
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

// FreePort returns a port that is free now.
func FreePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
