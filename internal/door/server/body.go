package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/hookd/hookd/wire"
)

// form says how a body of one JSON object is read.
type form struct {
	name string // of the body, in a refusal
	hint string
	// strict refuses a member that it does not know, which may be a misspelled one: an answer that
	// was to count once must not count always, and what was to be tried must not be done.
	strict   bool
	optional bool // an empty body is an empty object
}

func (f form) read(body []byte, to any) *wire.Error {
	if f.optional && len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	in := json.NewDecoder(bytes.NewReader(body))
	if f.strict {
		in.DisallowUnknownFields()
	}
	err := in.Decode(to)
	if err == nil {
		if _, more := in.Token(); more != io.EOF {
			err = errors.New("there is more after the object")
		}
	}
	if err == nil {
		return nil
	}
	return &wire.Error{Code: wire.CodeBadJSON, Message: f.name + " cannot be read: " + err.Error(), Hint: f.hint}
}

// posted answers a request whose body is a Q.
func posted[Q, A any](s *Server, f form, do func(*http.Request, Q) (A, *wire.Error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, room, bad := s.readBody(w, r)
		defer room.release()
		var q Q
		if bad == nil {
			bad = f.read(body, &q)
		}
		if bad != nil {
			refuse(w, bad)
			return
		}
		done, bad := do(r, q)
		answer(w, done, bad)
	}
}

// onOne does something for the thing that is named in the path, by {id}.
func onOne[S, Q, A any](
	source *S,
	do func(S, context.Context, Peer, string, Q) (A, *wire.Error),
) func(*http.Request, Q) (A, *wire.Error) {
	return func(r *http.Request, q Q) (A, *wire.Error) {
		return do(*source, r.Context(), peerOf(r), r.PathValue("id"), q)
	}
}
