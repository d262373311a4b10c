package server

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/spell"
	"github.com/hookd/hookd/wire"
)

type route struct {
	method, path string
	access       access
	effect       effect
	serve        http.HandlerFunc
	query        string // parameters that it knows, separated by blanks
}

// effect says how a route can affect guards.
type effect string

const (
	looks   effect = "looks"   // it changes nothing
	acts    effect = "acts"    // it changes something, and no guard becomes weaker
	weakens effect = "weakens" // a guard may become weaker: Options.Weakens is asked
	answers effect = "answers" // it answers an ask, or takes a call back: Asks, Fleet and Undo say who may
)

// decisionWords are the parameters that choose decisions.
const decisionWords = "decision tool agent session hook event event_id cwd q parts shadow without rewrote took " +
	"since until after before"

// routes is the table of the routes, their users, and their effects. Of the line door events and pings
// are for every user, subscriptions for the owner.
func (s *Server) routes() []route {
	return []route{
		{"POST", wire.PathEvents, everyUser, acts, s.postEvents, "wait"},
		{"GET", wire.PathEvents, ownerOnly, looks, s.getEvents, "match since epoch follow starts"},
		{"GET", wire.PathEvents + "/{id}", ownerOnly, looks, s.getEvent, ""},
		{"POST", wire.PathEvents + "/{id}/replay", ownerOnly, acts, s.postReplay, ""},
		{"GET", wire.PathHooks, ownerOnly, looks, s.getHooks, ""},
		{"GET", wire.PathHooks + "/{name}", ownerOnly, looks, s.getHook, ""},
		{"POST", wire.PathHooks + "/{name}/test", ownerOnly, acts, s.postTest, ""},
		{"POST", wire.PathHooks + "/{name}/tests", ownerOnly, acts, s.postTests, ""},
		{"POST", wire.PathReload, ownerOnly, weakens, s.postReload, ""},
		{
			"GET",
			wire.PathRuns,
			ownerOnly,
			looks,
			queried(&s.opt.Runs, wire.ParseRunQuery, Runs.Runs),
			"hook event event_id session agent result tool q test since until before limit",
		},
		{"GET", wire.PathRuns + "/{id}", ownerOnly, looks, s.getRun, ""},
		{"POST", wire.PathRuns + "/{id}/kill", ownerOnly, weakens, s.postKill, ""},
		{"GET", wire.PathRunning, ownerOnly, looks, s.getRunning, ""},
		{"POST", wire.PathBoxes + "/{id}", everyUser, acts, s.postBox, ""},
		{"POST", wire.PathBoxes + "/{id}/end", everyUser, acts, s.postBoxEnd, ""},
		{
			"GET",
			wire.PathDecisions,
			ownerOnly,
			looks,
			queried(&s.opt.History, wire.ParseDecisionQuery, History.Decisions),
			decisionWords + " limit",
		},
		{"POST", wire.PathDecisions + "/{id}/permit", ownerOnly, weakens, s.postPermit, ""},
		{
			"GET",
			wire.PathCounts,
			ownerOnly,
			looks,
			queried(&s.opt.History, wire.ParseCountQuery, History.CountDecisions),
			decisionWords + " every",
		},
		{
			"GET",
			wire.PathAccepted,
			ownerOnly,
			looks,
			queried(&s.opt.History, wire.ParseEventQuery, History.Accepted),
			"session event agent tool cwd q since until before limit",
		},
		{
			"GET",
			wire.PathPast,
			ownerOnly,
			looks,
			queried(&s.opt.History, wire.ParseEventQuery, History.Past),
			"session event agent tool cwd q since until before limit",
		},
		{
			"GET",
			wire.PathSessions,
			ownerOnly,
			looks,
			queried(&s.opt.History, wire.ParseSessionQuery, History.Sessions),
			"agent session cwd state since until limit",
		},
		{"GET", wire.PathAsks, ownerOnly, looks, s.getAsks, "follow answers"},
		{"GET", wire.PathAsks + "/{id}", ownerOnly, looks, s.getAsk, ""},
		{"POST", wire.PathAsks + "/{id}", ownerOnly, answers, s.postAsk, ""},
		{
			"GET",
			wire.PathUndo,
			ownerOnly,
			looks,
			queried(&s.opt.Undo, wire.ParseUndoQuery, Undo.Undoable),
			"session path since limit",
		},
		{"DELETE", wire.PathUndo + "/{id}", ownerOnly, weakens, s.deleteUndo, ""},
		{"POST", wire.PathUndo, ownerOnly, answers, postUndo(s), ""},
		{"POST", wire.PathUndo + "/{id}/dumps", ownerOnly, answers, postDump(s), ""},
		{"GET", wire.PathGrants, ownerOnly, looks, s.getGrants, ""},
		{"DELETE", wire.PathGrants + "/{id}", ownerOnly, weakens, s.deleteGrant, ""},
		{"GET", wire.PathAgents + "/{agent}/last", ownerOnly, looks, s.getLast, "except"},
		{
			"GET",
			wire.PathStats,
			ownerOnly,
			looks,
			queried(&s.opt.History, wire.ParseStatsQuery, History.Stats),
			"hook by since until",
		},
		{"GET", wire.PathDead, ownerOnly, looks, s.getDeadLetters, "hook before limit"},
		{"GET", wire.PathDead + "/{id}", ownerOnly, looks, s.getDeadLetter, ""},
		{"POST", wire.PathDead + "/{id}/retry", ownerOnly, acts, s.postRetryDead, ""},
		{"DELETE", wire.PathDead + "/{id}", ownerOnly, weakens, s.deleteDead, ""},
		{"POST", wire.PathRecover, ownerOnly, acts, s.postRecover, ""},
		{"GET", wire.PathStatus, ownerOnly, looks, s.getStatus, ""},
		{"GET", wire.PathFleet, ownerOnly, looks, s.getFleet, ""},
		{
			"GET",
			wire.PathFleetDecisions,
			ownerOnly,
			looks,
			queried(&s.opt.Fleet, wire.ParseFleetQuery, Fleet.FleetDecisions),
			"decision tool agent session hook event event_id cwd q parts shadow since until limit machine through",
		},
		{
			"GET",
			wire.PathFleetSessions,
			ownerOnly,
			looks,
			queried(&s.opt.Fleet, wire.ParseSessionQuery, Fleet.FleetSessions),
			"agent session cwd state since until limit",
		},
		{"GET", wire.PathFleetAsks, ownerOnly, looks, s.getFleetAsks, ""},
		{"POST", wire.PathFleetAnswers, ownerOnly, answers, s.postFleetAnswer, ""},
		{"GET", wire.PathFleetDead, ownerOnly, looks, s.getFleetDead, "hook limit"},
		{"GET", wire.PathFleetDead + "/{id}", ownerOnly, looks, s.getFleetDeadLetter, ""},
		{"POST", wire.PathFleetDead + "/{id}/retry", ownerOnly, acts, s.postRetryFleetDead, ""},
		{"DELETE", wire.PathFleetDead + "/{id}", ownerOnly, weakens, s.deleteFleetDead, ""},
		{"POST", wire.PathFleetLink, ownerOnly, acts, s.postFleetLink, ""},
		{"POST", wire.PathWeaken, ownerOnly, weakens, s.postWeaken, "what"},
		{"GET", wire.PathHealthz, everyUser, looks, s.getHealthz, ""},
		{"GET", wire.PathReadyz, ownerOnly, looks, s.getReadyz, ""},
		{"GET", wire.PathMetrics, ownerOnly, looks, s.getMetrics, ""},
	}
}

// weighed is a route that asks Options.Weakens first, if it weakens. PathWeaken announces the act of a
// command; every other route acts on its own.
func (s *Server) weighed(r route) route {
	if r.effect != weakens {
		return r
	}
	serve := r.serve
	r.serve = func(w http.ResponseWriter, req *http.Request) {
		what := r.method + " " + req.URL.Path
		if r.path == wire.PathWeaken {
			what = req.URL.Query().Get("what")
		}
		if bad := s.opt.Weakens(peerOf(req), what); bad != nil {
			refuse(w, bad)
			return
		}
		serve(w, req)
	}
	return r
}

// checked serves a request of a peer that may use the route, whose query it knows. A parameter that is
// misspelled must not be taken for none: it selects, or it waits.
func (r route) checked(w http.ResponseWriter, req *http.Request) {
	if peer := connOf(req).peer; !r.access.admits(peer) {
		refuse(w, errOwner(peer))
		return
	}
	if req.URL.RawQuery != "" {
		known := strings.Fields(r.query)
		values, err := url.ParseQuery(req.URL.RawQuery)
		if err != nil {
			refuse(
				w,
				&wire.Error{
					Code:    wire.CodeBadRequest,
					Message: "the query cannot be read: " + err.Error(),
					Hint:    "write it as key=value&key=value, with % and two digits for other characters",
				},
			)
			return
		}
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if !slices.Contains(known, key) {
				refuse(w, unknownParameter(r, key, known))
				return
			}
		}
	}
	r.serve(w, req)
}

func unknownParameter(r route, key string, known []string) *wire.Error {
	bad := &wire.Error{
		Code:    wire.CodeBadRequest,
		Message: fmt.Sprintf("%s %s has no parameter %q", r.method, r.path, key),
	}
	near := spell.Near(key, known)
	switch {
	case near != "":
		bad.Hint = "did you mean " + near + "? it knows " + strings.Join(known, ", ")
	case len(known) > 0:
		bad.Hint = "it knows " + strings.Join(known, ", ")
	default:
		bad.Hint = "it knows none"
	}
	return bad
}

func (s *Server) newHTTP() *http.Server {
	return &http.Server{
		Handler:           s.guard(s.mux()),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(httpLog{s.log}, "", 0),
		ConnContext: func(ctx context.Context, nc net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, nc)
		},
		ConnState: func(nc net.Conn, state http.ConnState) {
			c := nc.(*conn)
			c.waits(state == http.StateNew || state == http.StateIdle)
			if state == http.StateClosed {
				s.conns.forget(c)
			}
		},
	}
}

type connKey struct{}

func connOf(r *http.Request) *conn { return r.Context().Value(connKey{}).(*conn) }

// peerOf returns the process that sent a request, with the door that it names.
func peerOf(r *http.Request) Peer {
	p := connOf(r).peer
	if door := r.Header.Get(wire.DoorHeader); wire.IsDoor(door) {
		p.Door = door
	}
	return p
}

// httpLog takes the messages of net/http, which may quote a client, as a field.
type httpLog struct{ log *zap.Logger }

func (l httpLog) Write(p []byte) (int, error) {
	l.log.Debug("http", zap.ByteString("detail", bytes.TrimSpace(p)))
	return len(p), nil
}

// mux serves the routes. It answers a wrong method or path itself, in JSON.
func (s *Server) mux() http.Handler {
	mux := http.NewServeMux()
	paths := map[string]map[string]http.HandlerFunc{}
	var valid []string
	for _, r := range s.routes() {
		if paths[r.path] == nil {
			paths[r.path] = map[string]http.HandlerFunc{}
			mux.Handle(r.path, byMethod(paths[r.path]))
		}
		paths[r.path][r.method] = s.weighed(r).checked
		valid = append(valid, r.method+" "+r.path)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(
			w,
			&wire.Error{
				Code:    wire.CodeNotFound,
				Message: fmt.Sprintf("no path %q", r.URL.Path),
				Hint:    "there are " + strings.Join(valid, ", "),
			},
		)
	})
	return mux
}

func byMethod(methods map[string]http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == "HEAD" {
			method = "GET"
		}
		if serve := methods[method]; serve != nil {
			serve(w, r)
			return
		}
		allowed := make([]string, 0, 2)
		for m := range methods {
			allowed = append(allowed, m)
		}
		slices.Sort(allowed)
		allow := strings.Join(allowed, ", ")
		w.Header().Set("Allow", allow)
		refuse(
			w,
			&wire.Error{
				Code:    wire.CodeBadMethod,
				Message: fmt.Sprintf("%q does not work on %s", r.Method, r.URL.Path),
				Hint:    "use " + allow,
			},
		)
	}
}

// guard keeps browsers out and panics in.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &recorder{ResponseWriter: w, refused: s.opt.Refused}
		defer s.recovered(rec)
		http.NewResponseController(w).SetWriteDeadline(time.Time{}) // of the answer before
		if bad := foreign(r); bad != nil {
			refuse(rec, bad)
			return
		}
		next.ServeHTTP(rec, r)
	})
}

// foreign refuses requests that only a web page or a rebound name would send.
func foreign(r *http.Request) *wire.Error {
	if len(r.Header.Values("Origin")) > 0 {
		return &wire.Error{
			Code:    wire.CodeForbidden,
			Message: "requests with an Origin header are refused",
			Hint:    "hookd is not for web pages",
		}
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	switch strings.ToLower(host) {
	case "", "localhost", "hookd", "127.0.0.1", "[::1]", "::1":
		return nil
	}
	return &wire.Error{
		Code:    wire.CodeForbidden,
		Message: fmt.Sprintf("requests for host %q are refused", r.Host),
		Hint:    "use http://localhost" + wire.PathStatus + " or http://hookd" + wire.PathStatus,
	}
}

// recorder knows whether the answer has begun.
type recorder struct {
	http.ResponseWriter
	began   bool
	refused func(wire.Code)
}

func (r *recorder) WriteHeader(status int) {
	r.began = r.began || status >= http.StatusOK
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	r.began = true
	return r.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController see the real writer.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (s *Server) recovered(w *recorder) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler {
		panic(v)
	}
	s.logPanic(v)
	if w.began {
		panic(http.ErrAbortHandler) // cuts the answer, so that it is not taken for whole
	}
	w.Header().Set("Connection", "close")
	refuse(w, errInternal())
}

func respond(w http.ResponseWriter, status int, v any) {
	body, err := encode(v)
	if err != nil {
		panic(err) // of our own types: a fault
	}
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTimeout))
	w.Header().Set("Content-Type", wire.JSON)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}

func refuse(w http.ResponseWriter, e *wire.Error) {
	if rec, ok := w.(*recorder); ok {
		rec.refused(e.Code)
	}
	status := wire.HTTPStatus(e.Code)
	if status == http.StatusTooManyRequests || e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(max(1, e.RetryAfter)))
	}
	respond(w, status, wire.Refusal{Error: e})
}
