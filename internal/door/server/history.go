package server

import (
	"net/http"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

func (s *Server) getLast(w http.ResponseWriter, r *http.Request) {
	event, bad := s.opt.History.Last(r.Context(), events.Dialect(r.PathValue("agent")), r.URL.Query().Get("except"))
	answer(w, event, bad)
}

func postReplay(s *Server) http.HandlerFunc {
	replay := form{
		name: "the request for a replay", hint: `send {"hook":"NAME","dry_run":true}, or nothing`, strict: true, optional: true,
	}
	return posted(s, replay, onOne(&s.opt.History, History.Replay))
}

// getDeadLetters reads hook, before (an id) and limit.
func (s *Server) getDeadLetters(w http.ResponseWriter, r *http.Request) {
	values := r.URL.Query()
	before, bad := numberParam(values.Get("before"), "before", 1<<62)
	if bad != nil {
		refuse(w, bad)
		return
	}
	limit, bad := numberParam(values.Get("limit"), "limit", wire.MaxRuns)
	if bad != nil {
		refuse(w, bad)
		return
	}
	dead, bad := s.opt.History.DeadLetters(r.Context(), values.Get("hook"), before, int(limit))
	answer(w, dead, bad)
}

func (s *Server) postRecover(w http.ResponseWriter, r *http.Request) {
	did, bad := s.opt.History.Recover(r.Context(), peerOf(r))
	answer(w, did, bad)
}
