package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/hookd/hookd/wire"
)

// postUndo takes calls back. A member that it does not know may be a misspelled one: a request for
// a preview must not change files.
func (s *Server) postUndo(w http.ResponseWriter, r *http.Request) {
	body, room, bad := s.readBody(w, r)
	defer room.release()
	if bad != nil {
		refuse(w, bad)
		return
	}
	var ask wire.UndoRequest
	in := json.NewDecoder(bytes.NewReader(body))
	in.DisallowUnknownFields()
	err := in.Decode(&ask)
	if err == nil && in.More() {
		err = errors.New("there is more after the object")
	}
	if err != nil {
		refuse(w, &wire.Error{
			Code: wire.CodeBadJSON, Message: "the request cannot be read: " + err.Error(),
			Hint: `send {"calls":["ID"],"preview":true}`,
		})
		return
	}
	done, bad := s.opt.Undo.TakeBack(r.Context(), peerOf(r), ask)
	answer(w, done, bad)
}

func (s *Server) deleteUndo(w http.ResponseWriter, r *http.Request) {
	purged, bad := s.opt.Undo.Purge(r.Context(), r.PathValue("id"))
	answer(w, purged, bad)
}
