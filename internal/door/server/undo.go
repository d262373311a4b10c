package server

import (
	"net/http"

	"github.com/hookd/hookd/wire"
)

// postUndo takes calls back.
func postUndo(s *Server) http.HandlerFunc {
	return posted(s, form{name: "the request", hint: `send {"calls":["ID"],"preview":true}`, strict: true},
		func(r *http.Request, ask wire.UndoRequest) (wire.UndoAnswer, *wire.Error) {
			return s.opt.Undo.TakeBack(r.Context(), peerOf(r), ask)
		})
}

func postDump(s *Server) http.HandlerFunc {
	hint := `send {"path":"/dump.sql","restore":"psql < {}"}`
	return posted(s, form{name: "the request", hint: hint, strict: true}, onOne(&s.opt.Undo, Undo.AddDump))
}
