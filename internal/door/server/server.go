// Package server is the daemon's socket: it listens, says which process connects, reads
// requests and writes answers. The meaning of an event is decided behind the
// interfaces of this package, which the daemon implements.
//
// One Unix socket has two doors. A connection whose first byte is `{` speaks
// plain lines: one JSON object per line, one answer line each, in order. A connection
// that begins with a letter speaks HTTP/1.1. Anything else, a blank or a byte
// order mark too, is answered with an error line and closed.
//
// Promises. A foreign user's connection is closed unread; on a Public server such a user
// may send events, and gets the verdict of its own and nothing else. Lines are answered
// in the order they were sent, in batches while more input is there, and no
// answer waits for input. A connection waits only for itself: a silent, slow
// or stopped client never delays another. The memory that a connection can
// take is bounded by Options.MaxEventBytes; a connection that takes no answers for 30 s
// is closed, a stopped subscriber is not. A panic behind a request ends that
// request's connection and nothing else; a panic while an answer is completed costs
// that answer. Shutdown answers everything sent before it. A client that leaves
// cancels no run.
//
// The package checks neither events nor globs, keeps no events, and has
// no notion of a hook.
package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/base/peer"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// Peer is the process at the other end, as the kernel knew it when it
// connected.
type Peer struct {
	UID, PID int
	Owner    bool   // the daemon's own user, or root
	Sender   string // of events that do not name theirs: uid:1000
	Program  string // path of what it executes; "" = unknown, or not asked for
	Origin   any    // what Options.Origin said at accept
	Door     string // what the sender of an HTTP request calls itself; "" = it does not say
	Handle   peer.Handle
}

// An Emitter takes events. Begin waits for nothing. A nil Rest means that the answer is complete; else it must be
// called, once, and may wait: for the disk, with env.Wait until the event's runs have ended. env, and env.Data
// unless it is Owned, are the connection's again when Begin returns.
type Emitter interface {
	Begin(from Peer, env *events.Envelope) (wire.Answer, Rest, *wire.Error)
}

// Rest completes an answer.
type Rest func() (wire.Answer, *wire.Error)

// A Streamer begins subscriptions. It refuses a glob that does not compile.
type Streamer interface {
	Subscribe(q wire.Subscribe) (Subscription, *wire.Error)
}

// A Subscription gives records, lines of JSON, appended to dst. Next waits
// while there are none; it returns io.EOF at the end, ctx's error when ctx
// ends first.
type Subscription interface {
	Next(ctx context.Context, dst []byte) ([]byte, error)
	Close()
}

// Hooks answers which hooks there are, and tries one. A hook's problems that
// are not warnings make the answer to a reload a 422.
type Hooks interface {
	Hooks(ctx context.Context) wire.Hooks
	Hook(ctx context.Context, name string) (wire.Hook, *wire.Error)
	Test(ctx context.Context, from Peer, name string, test wire.Test) (wire.Tested, *wire.Error)
	RunTests(ctx context.Context, from Peer, name string) (wire.Tests, *wire.Error)
}

// Runs answers which runs there were.
type Runs interface {
	Runs(ctx context.Context, q wire.RunQuery) (wire.Runs, *wire.Error)
	Run(ctx context.Context, id string) (wire.Run, *wire.Error)
	Running(ctx context.Context) wire.Running
	Kill(ctx context.Context, id string) (wire.UnderWay, *wire.Error)
}

// History answers which events and records were kept, and has an event run again.
type History interface {
	Event(ctx context.Context, id string) (wire.StoredEvent, *wire.Error)
	Decisions(ctx context.Context, q wire.DecisionQuery) (wire.Decisions, *wire.Error)
	CountDecisions(ctx context.Context, q wire.CountQuery) (wire.Counts, *wire.Error)
	Accepted(ctx context.Context, q wire.EventQuery) (wire.Accepted, *wire.Error)
	// Past has at most wire.MaxPast events in an answer.
	Past(ctx context.Context, q wire.EventQuery) (wire.Past, *wire.Error)
	Sessions(ctx context.Context, q wire.SessionQuery) (wire.Sessions, *wire.Error)
	// Last is the newest event of a dialect, but those of the session except.
	Last(ctx context.Context, agent events.Dialect, except string) (wire.StoredEvent, *wire.Error)
	Replay(ctx context.Context, from Peer, id string, r wire.Replay) (wire.Replayed, *wire.Error)
	Stats(ctx context.Context, q wire.StatsQuery) (wire.Stats, *wire.Error)
	DeadLetters(ctx context.Context, hook string, before int64, limit int) (wire.DeadLetters, *wire.Error)
	DeadLetter(ctx context.Context, id int64) (wire.DeadLetter, *wire.Error)
	RetryDead(ctx context.Context, id int64) (wire.DeadLetter, *wire.Error)
	DropDead(ctx context.Context, id int64) (wire.DeadLetter, *wire.Error)
	Recover(ctx context.Context, from Peer) (wire.Recovered, *wire.Error)
}

// Asks answers which asks wait for a person, and takes answers.
type Asks interface {
	Asks(ctx context.Context) wire.Asks
	Ask(ctx context.Context, id string) (wire.Ask, *wire.Error)
	FollowAsks(q wire.FollowAsks) Subscription
	AnswerAsk(ctx context.Context, from Peer, id string, r wire.Reply) (wire.Replied, *wire.Error)
	Grants(ctx context.Context) wire.Grants
	RevokeGrant(ctx context.Context, from Peer, id string) (wire.Grant, *wire.Error)
	// Permit lets the next call pass that is the same as the one of an event that was denied.
	Permit(ctx context.Context, from Peer, eventID string, p wire.Permit) (wire.Grants, *wire.Error)
}

// Undo takes back the damage of calls. It says who may.
type Undo interface {
	Undoable(ctx context.Context, q wire.UndoQuery) (wire.UndoList, *wire.Error)
	Purge(ctx context.Context, id string) (wire.UndoPurged, *wire.Error)
	AddDump(ctx context.Context, from Peer, call string, r wire.DumpRequest) (wire.Dump, *wire.Error)
	TakeBack(ctx context.Context, from Peer, r wire.UndoRequest) (wire.UndoAnswer, *wire.Error)
}

// Fleet answers the same for all machines of a fleet.
type Fleet interface {
	Fleet(ctx context.Context) (wire.Fleet, *wire.Error)
	FleetDecisions(ctx context.Context, q wire.FleetQuery) (wire.FleetDecisions, *wire.Error)
	FleetSessions(ctx context.Context, q wire.SessionQuery) (wire.FleetSessions, *wire.Error)
	FleetAsks(ctx context.Context) (wire.FleetAsks, *wire.Error)
	// PassAnswer sends the answer of an approver to the machine that asks.
	PassAnswer(ctx context.Context, a wire.FleetAnswer) *wire.Error
	FleetDeadLetters(ctx context.Context, hook string, limit int) (wire.DeadLetters, *wire.Error)
	FleetDeadLetter(ctx context.Context, id int64) (wire.DeadLetter, *wire.Error)
	RetryFleetDead(ctx context.Context, id int64) (wire.DeadLetter, *wire.Error)
	DropFleetDead(ctx context.Context, id int64) (wire.DeadLetter, *wire.Error)
	// FleetLink asks the questions that hookd-fleet answers, on a connection that it owns, until that ends. It
	// refuses all processes but the hookd-fleet of this daemon.
	FleetLink(ctx context.Context, from Peer, link net.Conn) *wire.Error
}

// A Bridge answers the call of an agent in the place of hookd-bridge; emit sends an event of the call. told says which
// answer the agent gets. False = the call is left to hookd-bridge, and emit was not called.
type Bridge func(ctx context.Context, call wire.Handed, emit func(line []byte) (wire.Answer, *wire.Error)) (
	reply wire.HandedReply, told wire.Told, ok bool)

// State answers how the daemon is, and reloads it. Ready returns why it is not
// ready, "" when it is.
type State interface {
	Status(ctx context.Context) wire.Status
	Ready() (reason string)
	Reload(ctx context.Context) (wire.Reload, *wire.Error)
}

// Options say where to listen and who answers. Emitter, Streamer, Hooks, Runs,
// History, Asks, State and Undo are required; without a Fleet the machine is in none.
type Options struct {
	Socket string // path of the socket; its folder is made 0700 when absent
	Lock   string // path of the lock file; "" = hookd.lock beside the socket
	// Listener is the socket at that path, bound by a service manager that keeps it
	// open when hookd ends; nil = bind it.
	Listener net.Listener

	// Public lets every user connect and send events. All else is for the daemon's own
	// user and root: routes has the table.
	Public bool

	Emitter  Emitter
	Streamer Streamer
	Hooks    Hooks
	Runs     Runs
	History  History
	Asks     Asks
	State    State
	Fleet    Fleet
	Boxes    Boxes  // nil = it knows of none
	Bridge   Bridge // nil = all calls are left to hookd-bridge
	Undo     Undo

	Metrics http.Handler    // of GET /metrics; nil = there is none
	Refused func(wire.Code) // called for each refusal, not to block; nil = they are not counted

	Origin func(from Peer) any // called once per connection, right after accept; nil = Peer.Origin is nil
	// Weakens is asked before a request may weaken guards, with the act that it would do. An
	// error refuses it. Nil = every owner may.
	Weakens       func(from Peer, what string) *wire.Error
	Program       func(pid int) string // path of a program, of a Public server's peers; nil = Peer.Program is ""
	MaxEventBytes int                  // of one event as sent; 0 = 16 MiB
	MaxConns      int                  // connections at once; 0 = half of the descriptors that the process may have
	Log           *zap.Logger          // nil = none

	Silence time.Duration // a client that sends nothing at all is closed after this; 0 = 30 s
	Ping    time.Duration // a quiet stream gets a ping this often; 0 = 15 s

	lookAgain time.Duration           // whether the socket is still there; 0 = see watch
	isOwner   func(peer.Process) bool // tests: which peers are the owner's; nil = peer.Process.Trusted
}

// Limits of time that no option changes.
const (
	headerTimeout = 10 * time.Second       // for the header of a request
	bodyTimeout   = 30 * time.Second       // for the body of a request, except for ndjson
	idleTimeout   = 5 * time.Minute        // for the next request on a connection
	answerTimeout = 30 * time.Second       // for a client to take an answer
	lastLines     = 100 * time.Millisecond // for what was sent before a shutdown to be read
	lastRecords   = time.Second            // for a subscriber to take its last records
	lingerTimeout = time.Second            // for a client to read why it is closed
	leftBehind    = 2 * time.Second        // for what was cut off to end
)

// A Server owns a socket. Listen, then Serve, then Shutdown.
type Server struct {
	opt      Options
	log      *zap.Logger
	lock     *os.File
	intake   *intake
	awaited  *intake  // of large events that are decided
	verdicts verdicts // that senders wait for
	web      *handoff
	http     *http.Server
	conns    *connections

	quit, force, served chan struct{}
	quitOnce, forceOnce sync.Once

	mu       sync.Mutex // guards the fields below
	listener net.Listener
	bound    os.FileInfo // of the socket that listener has; nil = not known
	given    bool        // listener is the service manager's
	started  bool
}

// Listen takes the lock, removes a stale socket and binds: all that can fail.
// A *LockedError says that another daemon holds the lock.
func Listen(opt Options) (*Server, error) {
	opt = withDefaults(opt)
	if opt.Listener == nil {
		if err := checkLength(opt.Socket); err != nil {
			return nil, err
		}
		if err := os.MkdirAll(filepath.Dir(opt.Socket), opt.folderMode()); err != nil {
			return nil, err
		}
	}
	lock, before, err := takeLock(opt.Lock)
	if err != nil {
		return nil, err
	}
	listener := opt.Listener
	if listener == nil {
		listener, err = bind(opt.Socket, opt.socketMode(), before)
	} else {
		err = checkGiven(listener, opt.Socket, opt.socketMode())
	}
	if err != nil {
		lock.Close()
		return nil, err
	}
	s := &Server{
		opt: opt, log: opt.Log, lock: lock, listener: listener,
		web:    newHandoff(listener.Addr()),
		intake: newIntake(int64(opt.MaxEventBytes)), awaited: newIntake(int64(opt.MaxEventBytes)),
		quit: make(chan struct{}), force: make(chan struct{}), served: make(chan struct{}),
		conns: newConnections(opt.MaxConns, opt.Log),
	}
	s.given = opt.Listener != nil
	s.bound, _ = os.Lstat(opt.Socket) // nil differs from each: it is bound again
	s.http = s.newHTTP()
	return s, nil
}

func withDefaults(opt Options) Options {
	if opt.Lock == "" {
		opt.Lock = filepath.Join(filepath.Dir(opt.Socket), "hookd.lock")
	}
	if opt.MaxEventBytes <= 0 {
		opt.MaxEventBytes = 16 << 20
	}
	if opt.Silence <= 0 {
		opt.Silence = 30 * time.Second
	}
	if opt.Ping <= 0 {
		opt.Ping = 15 * time.Second
	}
	if opt.isOwner == nil {
		opt.isOwner = peer.Process.Trusted
	}
	if opt.Program == nil {
		opt.Program = func(int) string { return "" }
	}
	if opt.Origin == nil {
		opt.Origin = func(Peer) any { return nil }
	}
	if opt.Weakens == nil {
		opt.Weakens = func(Peer, string) *wire.Error { return nil }
	}
	if opt.Boxes == nil {
		opt.Boxes = noBoxes{}
	}
	if opt.Refused == nil {
		opt.Refused = func(wire.Code) {}
	}
	if opt.MaxConns <= 0 {
		opt.MaxConns = halfOfDescriptors()
	}
	if opt.Log == nil {
		opt.Log = zap.NewNop()
	}
	opt.Log = opt.Log.Named("server").WithOptions(zap.WrapCore(sampled))
	return opt
}

// halfOfDescriptors leaves the other half to runs and files.
func halfOfDescriptors() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 512
	}
	return int(min(limit.Cur/2, 1<<20))
}

// sampled writes the first five lines of a kind in ten seconds, and of more only
// one of a thousand: a client must not fill the log.
func sampled(core zapcore.Core) zapcore.Core {
	return zapcore.NewSamplerWithOptions(core, 10*time.Second, 5, 1000)
}

// Serve answers until Shutdown is called, or ctx ends, which cuts every connection off. All
// that it started has ended when it returns, except for parts that hang 2 s after the cut;
// the lock and a socket of our own are gone then.
func (s *Server) Serve(ctx context.Context) error {
	if !s.begin() {
		return net.ErrClosed
	}
	defer close(s.served)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.http.BaseContext = func(net.Listener) context.Context { return ctx }

	var loops sync.WaitGroup
	loops.Go(func() { s.http.Serve(s.web) })
	first := s.listener // watch may replace it
	loops.Go(func() { s.accept(ctx, first) })
	gone := make(chan error, 1)
	loops.Go(func() { gone <- s.watchSocket(ctx, func(l net.Listener) { loops.Go(func() { s.accept(ctx, l) }) }) })
	var lost error
	select {
	case <-s.quit:
	case <-ctx.Done():
	case lost = <-gone:
		s.quitOnce.Do(func() { close(s.quit) })
	}
	err := errors.Join(lost, s.drain())
	loops.Go(func() { s.http.Shutdown(ctx) })

	ended := make(chan struct{})
	go func() {
		loops.Wait()
		s.conns.handlers.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-s.force:
	case <-ctx.Done():
	}
	cancel()
	s.conns.closeAll()
	select {
	case <-ended:
	case <-time.After(leftBehind): // a request hangs in a file system, say
	}
	return errors.Join(err, s.lock.Close())
}

func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		return false
	}
	s.started = true
	return true
}

// Shutdown stops accepting, removes a socket of our own, lets requests that
// have begun get their answers, ends streams and closes. When ctx ends before that is
// done, the rest is cut off, and ctx's error returned.
func (s *Server) Shutdown(ctx context.Context) error {
	s.quitOnce.Do(func() { close(s.quit) })
	s.mu.Lock()
	started := s.started
	if !started {
		s.started = true
		close(s.served)
	}
	s.mu.Unlock()
	if !started {
		return errors.Join(s.listener.Close(), s.lock.Close())
	}
	select {
	case <-s.served:
		return nil
	case <-ctx.Done():
	}
	s.forceOnce.Do(func() { close(s.force) })
	<-s.served
	return ctx.Err()
}

// LetWait is the first step of a shutdown when a service manager keeps the socket open: no
// connection is accepted any more. A connection that comes now waits in the kernel for the
// next daemon, and this one does not refuse it. It blocks for a moment in which the clients
// accepted last can send the requests they came for. With a socket of our own it does
// nothing.
func (s *Server) LetWait() {
	s.mu.Lock()
	if !s.given {
		s.mu.Unlock()
		return
	}
	s.listener.Close()
	s.mu.Unlock()
	pause.For(lastLines, s.quit)
}

// drain closes the listener, which removes a socket of our own, and has
// every connection come to its end.
func (s *Server) drain() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.listener.Close()
	if errors.Is(err, net.ErrClosed) { // LetWait
		err = nil
	}
	s.conns.drain()
	return err
}
