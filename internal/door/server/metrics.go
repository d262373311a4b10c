package server

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	"github.com/hookd/hookd/wire"
)

// getMetrics shows the metrics, in the text format of Prometheus.
func (s *Server) getMetrics(w http.ResponseWriter, r *http.Request) {
	if s.opt.Metrics == nil {
		refuse(
			w,
			&wire.Error{Code: wire.CodeNotFound, Message: "this hookd counts nothing", Hint: "see `hookd status`"},
		)
		return
	}
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTimeout))
	all := &measured{ResponseWriter: w, status: http.StatusOK}
	s.opt.Metrics.ServeHTTP(all, r)
	w.Header().Set("Content-Length", strconv.Itoa(all.text.Len()))
	w.WriteHeader(all.status)
	_, _ = w.Write(all.text.Bytes()) // a client that is gone
}

// measured keeps an answer until its length is known, which package client wants.
type measured struct {
	http.ResponseWriter
	status int
	text   bytes.Buffer
}

func (w *measured) WriteHeader(status int)         { w.status = status }
func (w *measured) Write(part []byte) (int, error) { return w.text.Write(part) }
