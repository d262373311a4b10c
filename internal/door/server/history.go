package server

import (
	"fmt"
	"net/http"
	"strconv"

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

// numberParam reads a number from 1 to most; "" is 0.
func numberParam(text, name string, most int64) (int64, *wire.Error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > most {
		return 0, &wire.Error{
			Code:    wire.CodeBadRequest,
			Message: fmt.Sprintf("%s is %q", name, text),
			Hint:    fmt.Sprintf("give a number from 1 to %d", most),
		}
	}
	return n, nil
}
