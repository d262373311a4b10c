// Package loopback serves agents that call their hooks over HTTP: it listens on a
// loopback address and answers a request as the bridge would answer on stdout. No
// process is started. In the same way, on an address and with a token of their own, it
// serves metrics.
//
// It promises: it listens on loopback addresses only. It reads a request only if it
// has the token, which is read from its file each time, so that a new one counts at
// once; a request that a web page or a rebound name would send (an Origin, a foreign
// Host) is refused before that. Connections that have not shown the token are few and
// short: beyond maxStrangers the oldest is closed, and each ends after its first
// refusal. Bodies and headers are bounded, and so is the time to send them. A failure
// behind it is no opinion, as for the bridge; a wrong request gets an error status.
//
// It knows no hook and decides nothing: each request becomes one call of the bridge,
// which calls hookd's socket. So hookd cannot see that an agent that posts here is
// the agent of a hook: only the limit on chains of hooks ends a loop of such agents.
package loopback

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/agents/bridge"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

const (
	headerTime = 3 * time.Second
	bodyTime   = 30 * time.Second
	idleTime   = 2 * time.Minute
	writeTime  = 10 * time.Second
	closeTime  = 2 * time.Second
	maxHeader  = 8 << 10 // net/http allows 4 KiB more
)

// Agents returns the agents that can call hooks over HTTP, on a loopback address and
// without TLS.
func Agents() []string {
	return dialect.AgentsWith(func(s *neutral.Settings) bool { return s.Posts != nil })
}

// URL returns the address that an agent posts to. listen is as in the settings.
func URL(listen, agent string) string { return "http://" + listen + "/agents/" + agent }

// Purpose is the purpose of a Server, in words for people.
type Purpose struct {
	Setting string // the key of its address
	Open    string // logged when it listens
	Shut    string // what is wrong while it does not
	Again   string // what to type, once, when its token has been changed; "" = nothing
	Wrong   string // what to do about a token that is wrong
}

// ForAgents is the purpose of a Server for agents, ForMetrics of one for metrics.
var (
	ForAgents = Purpose{
		Setting: "http.listen",
		Open:    "agents may call hooks over HTTP",
		Shut:    "agents cannot call hooks over HTTP, so agents that do reach no hook",
		Again:   "`hookd connect " + strings.Join(Agents(), " ") + " --http`",
		Wrong:   "type hookd token rotate, or hookd connect AGENT --http",
	}
	ForMetrics = Purpose{
		Setting: "metrics.listen",
		Open:    "metrics may be read over HTTP",
		Shut:    "metrics cannot be read over HTTP",
		Wrong:   "see \"Over HTTP\" in docs/reference/metrics.md",
	}
)

// Options of a Server. Listen, TokenFile and, for agents, Socket are required.
type Options struct {
	For     Purpose
	Handler http.Handler // what callers with the token reach; nil = the agents' calls

	Listen     string        // host:port, the host a loopback address or localhost
	TokenFile  string        // of the token that callers must show, see Token
	Socket     string        // hookd's own
	HeaderTime time.Duration // to send a header, token included; 0 = 3 s
	State      string        // the bridge's folder; "" = its default
	Log        *zap.Logger   // nil = none
}

// Server is a listener that is open.
type Server struct {
	opt       Options
	listener  net.Listener
	strangers strangers
	log       *zap.Logger
}

// ErrNotLoopback is the error for a Listen that other machines could reach.
var ErrNotLoopback = errors.New("is not a loopback address: type 127.0.0.1:PORT")

// Open listens. Serve must be called next.
func Open(o Options) (*Server, error) {
	if _, err := Token(o.TokenFile); err != nil {
		return nil, err
	}
	if o.HeaderTime <= 0 {
		o.HeaderTime = headerTime
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.For == (Purpose{}) {
		o.For = ForAgents
	}
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.For.Setting, err)
	}
	if addr, ok := l.Addr().(*net.TCPAddr); !ok || !addr.IP.IsLoopback() {
		return nil, errors.Join(fmt.Errorf("%s %s %w", o.For.Setting, o.Listen, ErrNotLoopback), l.Close())
	}
	return &Server{opt: o, listener: l, log: o.Log.Named("loopback")}, nil
}

// Addr returns the address that it listens on.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close frees the address. It is for a Server whose Serve is never called.
func (s *Server) Close() error { return s.listener.Close() }

// Serve answers until ctx ends, and then waits a moment for calls under way.
func (s *Server) Serve(ctx context.Context) error {
	httpServer := &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: s.opt.HeaderTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ConnContext: withGuest,
		ErrorLog:    log.New(io.Discard, "", 0), // it quotes callers
	}
	served := make(chan error, 1)
	go func() { served <- httpServer.Serve(welcoming{s.listener, &s.strangers}) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve %s: %w", s.opt.For.Setting, err)
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if httpServer.Shutdown(end) != nil {
		httpServer.Close()
	}
	<-served
	return nil
}

func (s *Server) handler() http.Handler {
	if s.opt.Handler != nil {
		return s.guard(s.opt.Handler)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /agents/{agent}", s.call)
	return s.guard(mux)
}

// guard admits requests that have the token and are no web page's. A connection
// ends with its first request that is refused.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse := func(status int, why string) {
			http.NewResponseController(w).SetReadDeadline(time.Now()) // the rest of the request is not read
			w.Header().Set("Connection", "close")
			http.Error(w, why, status)
		}
		switch token, err := readToken(s.opt.TokenFile); {
		case len(r.Header.Values("Origin")) > 0:
			refuse(http.StatusForbidden, "requests with an Origin are refused: this is not for web pages")
		case !local(r.Host):
			refuse(http.StatusForbidden, "requests for another host than a loopback address are refused")
		case err != nil:
			refuse(http.StatusServiceUnavailable,
				"hookd has no token that only its user can read: type hookd token rotate")
		case !hasToken(r, token):
			w.Header().Set("WWW-Authenticate", `Bearer realm="hookd"`)
			refuse(http.StatusUnauthorized,
				"the bearer token is missing or wrong: "+s.opt.For.Wrong)
		default:
			s.strangers.remove(guestOf(r.Context()))
			next.ServeHTTP(w, r)
		}
	})
}

// call is one call of the bridge.
func (s *Server) call(w http.ResponseWriter, r *http.Request) {
	agent := r.PathValue("agent")
	if !slices.Contains(Agents(), agent) {
		http.Error(w, "this agent cannot call hooks over HTTP: type hookd connect "+agent, http.StatusNotFound)
		return
	}
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Now().Add(bodyTime))
	body, err := io.ReadAll(io.LimitReader(r.Body, bridge.MaxPayload+1)) // the bridge answers to one that is larger
	var payload io.Reader = bytes.NewReader(body)
	switch {
	case err == nil:
		control.SetReadDeadline(time.Time{}) // hooks may take longer
	case len(body) > 0 && errors.Is(err, os.ErrDeadlineExceeded): // the bridge denies it
		w.Header().Set("Connection", "close")
		payload = io.MultiReader(payload, failing{err})
	default:
		http.Error(w, "the body was not read", http.StatusBadRequest)
		return
	}
	var out, notes bytes.Buffer
	exit := bridge.Run(r.Context(), bridge.Options{
		Agent: agent, Stdin: payload, Stdout: &out, Stderr: &notes,
		Socket: s.opt.Socket, State: s.opt.State, Getenv: func(string) string { return "" },
	})
	if notes.Len() > 0 {
		s.log.Debug("call without a verdict", zap.String("dialect", agent), zap.String("notes", notes.String()))
	}
	control.SetWriteDeadline(time.Now().Add(writeTime))
	if exit != 0 {
		http.Error(w, strings.TrimSpace(notes.String()), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(orEmpty(out.Bytes()))
}

// failing is the end of a body that was not read whole.
type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

// orEmpty returns an empty object for an empty answer, which every caller can parse.
func orEmpty(answer []byte) []byte {
	if len(answer) == 0 {
		return []byte("{}\n")
	}
	return answer
}
