package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/hookd/hookd/wire"
)

// strict handles a body of one object. A member that it does not know may be a misspelled one: a request for
// a preview must not change files.
func strict[Q, A any](s *Server, hint string, do func(r *http.Request, ask Q) (A, *wire.Error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, room, bad := s.readBody(w, r)
		defer room.release()
		if bad != nil {
			refuse(w, bad)
			return
		}
		var ask Q
		in := json.NewDecoder(bytes.NewReader(body))
		in.DisallowUnknownFields()
		err := in.Decode(&ask)
		if err == nil && in.More() {
			err = errors.New("there is more after the object")
		}
		if err != nil {
			why := "the request cannot be read: " + err.Error()
			refuse(w, &wire.Error{Code: wire.CodeBadJSON, Message: why, Hint: hint})
			return
		}
		done, bad := do(r, ask)
		answer(w, done, bad)
	}
}

// postUndo takes calls back.
func postUndo(s *Server) http.HandlerFunc {
	return strict(s, `send {"calls":["ID"],"preview":true}`,
		func(r *http.Request, ask wire.UndoRequest) (wire.UndoAnswer, *wire.Error) {
			return s.opt.Undo.TakeBack(r.Context(), peerOf(r), ask)
		})
}

func postDump(s *Server) http.HandlerFunc {
	return strict(s, `send {"path":"/dump.sql","restore":"psql < {}"}`,
		func(r *http.Request, ask wire.DumpRequest) (wire.Dump, *wire.Error) {
			return s.opt.Undo.AddDump(r.Context(), peerOf(r), r.PathValue("id"), ask)
		})
}

func (s *Server) deleteUndo(w http.ResponseWriter, r *http.Request) {
	purged, bad := s.opt.Undo.Purge(r.Context(), r.PathValue("id"))
	answer(w, purged, bad)
}
