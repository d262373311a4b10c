// Package ui serves one page on a loopback address: the acts of agents, each
// decision and its reason, the questions that wait for a person. It is a client of hookd's
// socket like any other, and no part of the daemon: it asks package client and keeps nothing.
//
// It promises: it listens on loopback addresses only. Link returns an address that
// works once and becomes a cookie, which the browser sends to this page's own path
// alone; without it no byte of the page is served. A request that another site, a
// rebound name or a frame would make (Host, Origin, Sec-Fetch-Site) is refused
// before that. Each question to the daemon is one of a list of routes; without
// Options.Act none of them changes anything. The Content-Security-Policy lets
// nothing in but the files of this package. A page that is slow, or that ten others
// are open beside, delays no agent: the stream has gaps then, as for any subscriber.
//
// Where the daemon is away, the page is served and says so; it goes on without help.
// Run ends when its context does, or when no page was open for Options.Idle.
package ui

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/hookd/hookd/client"
)

const (
	headerTime = 5 * time.Second
	bodyTime   = 30 * time.Second // to send a request
	writeTime  = 30 * time.Second // to take an answer, or a part of the stream
	keepTime   = 2 * time.Minute  // without a request on a connection
	closeTime  = 2 * time.Second  // for requests under way at the end
	maxHeader  = 16 << 10
	maxBody    = 1 << 20
	mostLive   = 16 // open streams; a browser has six connections to one server
)

// Options of a Server. Client is required.
type Options struct {
	Client  *client.Client
	Listen  string        // host:port, the host a loopback address or localhost; "" = 127.0.0.1:0
	Act     bool          // the page may also change things
	Idle    time.Duration // end when no page was open for so long; 0 = 12 h
	Hooks   Hooks         // what is done without the daemon; nil = nothing is
	Calls   Calls         // tells calls as stories; nil = none is told
	Version string        // of hookd
	User    string        // name of the user whose page it is
	Home    string        // folder that the page writes as ~; "" = none
}

// Hooks does the work on the files of hooks that the socket does not do. Its methods may
// be called at once.
type Hooks interface {
	Waiting() []Waiting                // that a person must allow
	Allow(w Waiting) error             // exactly what was shown: another digest is an error
	Switch(hook string, on bool) error // enable or disable
	// Snooze switches a hook off until a time.
	Snooze(hook string, until time.Time) error
	// Texts are the files in a hook's folder that can be edited, by their paths in it.
	Texts(hook string) (map[string]string, error)
	// Check reads a hook with other texts and runs its tests.
	Check(ctx context.Context, hook string, texts map[string]string) (any, error)
	// Save writes other texts and allows that version; ErrChanged = the files are not as the page had read them.
	Save(ctx context.Context, hook string, d Draft) error
	// Versions are those that were allowed, the newest first.
	Versions(hook string) (any, error)
	// Guard groups what a hook said in a time by reason; a zero until is now, by is hour or day.
	Guard(ctx context.Context, hook string, since, until time.Time, by string) (any, error)
	Scan(ctx context.Context) (any, error)       // judges the past calls in transcripts
	BlindSpots(ctx context.Context) (any, error) // lists calls that no guard saw
	Learn(ctx context.Context) (any, error)      // lists rules that would answer for a person
	Take(ctx context.Context, rule string) error // puts one of these into force, by its name
	// WhatIf asks a hook about past events; asking gets a function that returns the
	// answers until now. When ctx ends, the answer is about the events that were asked until then.
	WhatIf(ctx context.Context, q Question, asking func(sum func() any)) (any, error)
}

// Draft is a hook with other texts.
type Draft struct {
	Texts  map[string]string `json:"texts"`            // of the files that differ, by their paths in its folder
	Was    map[string]string `json:"was"`              // of all files, as they were read
	Reason string            `json:"reason,omitempty"` // why it is saved though a test fails
}

// ErrChanged says that the files of a hook are not as the page had read them.
var ErrChanged = errors.New("the files have changed on disk meanwhile")

// Calls tells all that is known of a call, from several routes of the socket and the files of hooks. Its
// answers are written as JSON, and its errors are for people.
type Calls interface {
	Story(ctx context.Context, id string) (any, error)
	// Session tells a session, "" is the newest; a nil answer says that there is none. agent may be "".
	Session(ctx context.Context, id, agent string) (any, error)
	// FalseAlarm writes a call as a test into the file of the guard that decided about it. expect is
	// the answer that the test wants, a word of wire.Outcome.
	FalseAlarm(ctx context.Context, id, expect string) (any, error)
}

// Waiting is a new or changed version of a hook.
type Waiting struct {
	Hook    string   `json:"hook"` // name
	File    string   `json:"file"`
	New     bool     `json:"new"`    // no version was ever allowed
	Gone    bool     `json:"gone"`   // it was allowed, and is gone or switched off
	Digest  string   `json:"digest"` // of what waits
	Changes []string `json:"changes"`
	Refused string   `json:"refused,omitempty"` // why it will not run all the same
	Diffs   []Diff   `json:"diffs"`
	Hidden  []string `json:"hidden,omitempty"` // files that differ and are too long to be shown
}

// Diff is how one file differs: lines that begin with -, + or a blank.
type Diff struct {
	Path  string   `json:"path"`
	Lines []string `json:"lines"`
}

// Server is a listener that is open.
type Server struct {
	opt      Options
	listener net.Listener
	hosts    []string // that a request may name
	base     string   // path of the page, between slashes: not to be guessed
	door     door
	past     rehearsals
	ended    chan struct{} // closed when Run ends
	live     atomic.Int64  // open streams
	used     atomic.Int64  // when a page last asked something, nanoseconds since 1970
}

// ErrNotLoopback is the error for a Listen that other machines could reach.
var ErrNotLoopback = errors.New("is not a loopback address: type 127.0.0.1:0")

// Open listens. Run must be called next.
func Open(o Options) (*Server, error) {
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Idle <= 0 {
		o.Idle = 12 * time.Hour
	}
	address, err := loopback(o.Listen)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", o.Listen, err)
	}
	s := &Server{opt: o, listener: listener, base: "/" + secret()[:16] + "/", ended: make(chan struct{})}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	s.hosts = []string{listener.Addr().String(), net.JoinHostPort("localhost", port)}
	s.used.Store(time.Now().UnixNano())
	return s, nil
}

// loopback returns an address to listen on that only this machine reaches.
func loopback(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("listen on %q: %w", listen, err)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return "", fmt.Errorf("%q %w", listen, ErrNotLoopback)
	}
	return net.JoinHostPort(host, port), nil
}

// Link returns a new address that opens the page once. The one before it is void.
func (s *Server) Link() string {
	return "http://" + s.listener.Addr().String() + openPath + s.door.newKey()
}

// Run serves until ctx ends or no page was open for Options.Idle. It returns
// ErrIdle then.
func (s *Server) Run(ctx context.Context) error {
	server := &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: headerTime, IdleTimeout: keepTime, MaxHeaderBytes: maxHeader,
		ErrorLog: log.New(discard{}, "", 0),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(s.listener) }()
	err := s.wait(ctx, failed)
	close(s.ended) // streams end, which Shutdown waits for
	defer s.past.end()
	closing, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if server.Shutdown(closing) != nil {
		server.Close()
	}
	return err
}

// ErrIdle says that no page was open for long.
var ErrIdle = errors.New("no page was open for long")

func (s *Server) wait(ctx context.Context, failed <-chan error) error {
	tick := time.NewTicker(max(s.opt.Idle/100, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return fmt.Errorf("serve the page: %w", err)
		case now := <-tick.C:
			if s.live.Load() == 0 && now.Sub(time.Unix(0, s.used.Load())) > s.opt.Idle {
				return ErrIdle
			}
		}
	}
}

// discard takes the messages of net/http about clients.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
