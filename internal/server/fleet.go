package server

import (
	"encoding/json"
	"net/http"

	"github.com/hookd/hookd/internal/api"
	"github.com/hookd/hookd/internal/events"
)

func (s *Server) getFleet(w http.ResponseWriter, r *http.Request) {
	fleet, bad := s.opt.Fleet.Fleet(r.Context())
	answer(w, fleet, bad)
}

func (s *Server) getFleetAsks(w http.ResponseWriter, r *http.Request) {
	asks, bad := s.opt.Fleet.FleetAsks(r.Context())
	answer(w, asks, bad)
}

func (s *Server) postFleetAnswer(w http.ResponseWriter, r *http.Request) {
	body, room, bad := s.readBody(w, r)
	defer room.release()
	if bad != nil {
		refuse(w, bad)
		return
	}
	var given api.FleetAnswer
	if err := json.Unmarshal(body, &given); err != nil {
		refuse(w, &events.Error{
			Code: events.CodeBadJSON, Message: "the answer cannot be read: " + err.Error(),
			Hint: "`hookd allow-ask` and `hookd deny-ask` with --machine and --key make one",
		})
		return
	}
	answer(w, struct{}{}, s.opt.Fleet.PassAnswer(r.Context(), given))
}

func (s *Server) getFleetDead(w http.ResponseWriter, r *http.Request) {
	limit, bad := numberParam(r.URL.Query().Get("limit"), "limit", api.MaxRuns)
	if bad != nil {
		refuse(w, bad)
		return
	}
	dead, bad := s.opt.Fleet.FleetDeadLetters(r.Context(), r.URL.Query().Get("hook"), int(limit))
	answer(w, dead, bad)
}

func (s *Server) getFleetDeadLetter(w http.ResponseWriter, r *http.Request) {
	deadLetter(w, r, s.opt.Fleet.FleetDeadLetter)
}

func (s *Server) postRetryFleetDead(w http.ResponseWriter, r *http.Request) {
	deadLetter(w, r, s.opt.Fleet.RetryFleetDead)
}

func (s *Server) deleteFleetDead(w http.ResponseWriter, r *http.Request) {
	deadLetter(w, r, s.opt.Fleet.DropFleetDead)
}
