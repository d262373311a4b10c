package server

import (
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

// postBox tells Boxes about the box of a call.
func postBox[Q, A any](s *Server, tell func(Boxes, string, Q) A) http.HandlerFunc {
	return posted(s, form{name: "the box", hint: "hookd-bridge box sends it"},
		func(r *http.Request, box Q) (A, *wire.Error) {
			return tell(s.opt.Boxes, r.PathValue("id"), box), nil
		})
}
