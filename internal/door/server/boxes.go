package server

import (
	"encoding/json"
	"net/http"

	"github.com/hookd/hookd/wire"
)

// Boxes knows which calls run in boxes. Its methods do not wait, but PlanBox for folders.
type Boxes interface {
	// PlanBox plans a box for the bridge with that process: a reply, and descriptors to send with it and to close.
	// False = the bridge makes the box itself.
	PlanBox(h wire.Handed, pid int) (reply []byte, files [2]int, ok bool)
	BeginBox(id string, b wire.BoxStart) wire.BoxBegun
	EndBox(id string, b wire.BoxEnd) wire.BoxTold
}

type noBoxes struct{}

func (noBoxes) PlanBox(wire.Handed, int) (reply []byte, files [2]int, ok bool) {
	return nil, files, false
}

func (noBoxes) BeginBox(string, wire.BoxStart) wire.BoxBegun { return wire.BoxBegun{} }

func (noBoxes) EndBox(string, wire.BoxEnd) wire.BoxTold { return wire.BoxTold{} }

func (s *Server) postBox(w http.ResponseWriter, r *http.Request) {
	postedTo(s, w, r, func(b wire.BoxStart) wire.BoxBegun { return s.opt.Boxes.BeginBox(r.PathValue("id"), b) })
}

func (s *Server) postBoxEnd(w http.ResponseWriter, r *http.Request) {
	postedTo(s, w, r, func(b wire.BoxEnd) wire.BoxTold { return s.opt.Boxes.EndBox(r.PathValue("id"), b) })
}

// postedTo answers a request whose body is a B.
func postedTo[B, A any](s *Server, w http.ResponseWriter, r *http.Request, ask func(B) A) {
	body, room, bad := s.readBody(w, r)
	defer room.release()
	var b B
	if bad == nil {
		if err := json.Unmarshal(body, &b); err != nil {
			bad = &wire.Error{
				Code: wire.CodeBadJSON, Message: "the body cannot be read: " + err.Error(),
				Hint: "hookd-bridge box sends it",
			}
		}
	}
	if bad != nil {
		refuse(w, bad)
		return
	}
	respond(w, http.StatusOK, ask(b))
}
