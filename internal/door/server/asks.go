package server

import (
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

func postAsk(s *Server) http.HandlerFunc {
	hint := `send {"answer":"allow"}, with for, like, message and door as you need them`
	return posted(s, form{name: "the answer", hint: hint, strict: true}, onOne(&s.opt.Asks, Asks.AnswerAsk))
}

func postPermit(s *Server) http.HandlerFunc {
	permit := form{name: "the permit", hint: `send {} or {"for":"15m"}`, strict: true, optional: true}
	return posted(s, permit, onOne(&s.opt.Asks, Asks.Permit))
}
