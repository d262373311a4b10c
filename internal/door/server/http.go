package server

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/wire"
)

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
		paths[r.path][r.method] = s.guarded(r).checked
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
