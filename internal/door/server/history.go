package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

func (s *Server) getEvent(w http.ResponseWriter, r *http.Request) {
	event, bad := s.opt.History.Event(r.Context(), r.PathValue("id"))
	answer(w, event, bad)
}

func (s *Server) getLast(w http.ResponseWriter, r *http.Request) {
	event, bad := s.opt.History.Last(r.Context(), events.Dialect(r.PathValue("agent")), r.URL.Query().Get("except"))
	answer(w, event, bad)
}

func (s *Server) postReplay(w http.ResponseWriter, r *http.Request) {
	body, room, bad := s.readBody(w, r)
	defer room.release()
	if bad != nil {
		refuse(w, bad)
		return
	}
	var replay wire.Replay
	if len(bytes.TrimSpace(body)) > 0 {
		if err := json.Unmarshal(body, &replay); err != nil {
			refuse(
				w,
				&wire.Error{
					Code:    wire.CodeBadJSON,
					Message: "the body is not what a replay takes: " + err.Error(),
					Hint:    `send {"hook":"NAME","dry_run":true}, or nothing`,
				},
			)
			return
		}
	}
	replayed, bad := s.opt.History.Replay(r.Context(), peerOf(r), r.PathValue("id"), replay)
	answer(w, replayed, bad)
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

func (s *Server) getDeadLetter(w http.ResponseWriter, r *http.Request) {
	deadLetter(w, r, s.opt.History.DeadLetter)
}

func (s *Server) postRetryDead(w http.ResponseWriter, r *http.Request) {
	deadLetter(w, r, s.opt.History.RetryDead)
}

func (s *Server) postRecover(w http.ResponseWriter, r *http.Request) {
	did, bad := s.opt.History.Recover(r.Context(), peerOf(r))
	answer(w, did, bad)
}

func (s *Server) deleteDead(w http.ResponseWriter, r *http.Request) {
	deadLetter(w, r, s.opt.History.DropDead)
}

func deadLetter(
	w http.ResponseWriter,
	r *http.Request,
	do func(context.Context, int64) (wire.DeadLetter, *wire.Error),
) {
	id, bad := numberParam(r.PathValue("id"), "id", 1<<62)
	if bad != nil {
		refuse(w, bad)
		return
	}
	dead, bad := do(r.Context(), id)
	answer(w, dead, bad)
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
