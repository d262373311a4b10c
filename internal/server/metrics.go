package server

import (
	"net/http"
	"time"

	"github.com/hookd/hookd/internal/events"
)

// getMetrics shows the metrics, in Prometheus's own formats.
func (s *Server) getMetrics(w http.ResponseWriter, r *http.Request) {
	if s.opt.Metrics == nil {
		refuse(
			w,
			&events.Error{Code: events.CodeNotFound, Message: "this hookd counts nothing", Hint: "see `hookd status`"},
		)
		return
	}
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTimeout))
	s.opt.Metrics.ServeHTTP(w, r)
}
