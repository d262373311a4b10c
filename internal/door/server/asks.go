package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/hookd/hookd/wire"
)

// getAsks lists the asks that wait for an answer, or follows them.
func (s *Server) getAsks(w http.ResponseWriter, r *http.Request) {
	follow, bad := boolParam(r.URL.Query(), "follow")
	if bad != nil {
		refuse(w, bad)
		return
	}
	answers, bad := boolParam(r.URL.Query(), "answers")
	if bad != nil {
		refuse(w, bad)
		return
	}
	stream := accepts(r, wire.EventStream)
	if follow != nil {
		stream = *follow
	}
	if !stream || r.Method == http.MethodHead {
		respond(w, http.StatusOK, s.opt.Asks.Asks(r.Context()))
		return
	}
	s.streamHTTP(w, r, s.opt.Asks.FollowAsks(wire.FollowAsks{Answers: answers != nil && *answers}))
}

func (s *Server) getAsk(w http.ResponseWriter, r *http.Request) {
	ask, bad := s.opt.Asks.Ask(r.Context(), r.PathValue("id"))
	answer(w, ask, bad)
}

func (s *Server) postAsk(w http.ResponseWriter, r *http.Request) {
	body, room, bad := s.readBody(w, r)
	defer room.release()
	if bad != nil {
		refuse(w, bad)
		return
	}
	reply, bad := parseAnswer(body)
	if bad != nil {
		refuse(w, bad)
		return
	}
	replied, bad := s.opt.Asks.AnswerAsk(r.Context(), peerOf(r), r.PathValue("id"), reply)
	answer(w, replied, bad)
}

func (s *Server) postPermit(w http.ResponseWriter, r *http.Request) {
	body, room, bad := s.readBody(w, r)
	defer room.release()
	if bad != nil {
		refuse(w, bad)
		return
	}
	var p wire.Permit
	if len(body) > 0 {
		in := json.NewDecoder(bytes.NewReader(body))
		in.DisallowUnknownFields()
		if err := in.Decode(&p); err != nil {
			refuse(w, &wire.Error{
				Code: wire.CodeBadJSON, Message: "the permit cannot be read: " + err.Error(),
				Hint: `send {} or {"for":"15m"}`,
			})
			return
		}
	}
	made, bad := s.opt.Asks.Permit(r.Context(), peerOf(r), r.PathValue("id"), p)
	answer(w, made, bad)
}

// parseAnswer reads an answer. A member that it does not know may be a misspelled one:
// an answer that was to count once must not count always.
func parseAnswer(body []byte) (reply wire.Reply, bad *wire.Error) {
	in := json.NewDecoder(bytes.NewReader(body))
	in.DisallowUnknownFields()
	err := in.Decode(&reply)
	if err == nil && in.More() {
		err = errors.New("there is more after the object")
	}
	if err != nil {
		return reply, &wire.Error{
			Code:    wire.CodeBadJSON,
			Message: "the answer cannot be read: " + err.Error(),
			Hint:    `send {"answer":"allow"}, with for, like, message and door as you need them`,
		}
	}
	return reply, nil
}

func (s *Server) getGrants(w http.ResponseWriter, r *http.Request) {
	respond(w, http.StatusOK, s.opt.Asks.Grants(r.Context()))
}

func (s *Server) deleteGrant(w http.ResponseWriter, r *http.Request) {
	grant, bad := s.opt.Asks.RevokeGrant(r.Context(), peerOf(r), r.PathValue("id"))
	answer(w, grant, bad)
}
