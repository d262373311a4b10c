package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/hookd/hookd/wire"
)

// form says how a body of one JSON object is read.
type form struct {
	name string // of the body, in a refusal
	hint string
	// strict refuses a member that it does not know, which may be a misspelled one: an answer that
	// was to count once must not count always, and a request for a preview must not act. Programs
	// may send members of a newer version.
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

// readBody reads one JSON body, bounded in size and time. The room that a large
// body takes is the caller's to release. A refused body is read to its end: a
// client that still sends does not see the answer.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) (body []byte, room *share, bad *wire.Error) {
	rc := http.NewResponseController(w)
	body, room, bad = s.takeBody(rc, w, r)
	if bad != nil {
		discard(r.Body, rc.SetReadDeadline, s.conns.isDraining)
	}
	rc.SetReadDeadline(time.Time{}) // else the wait for the runs would end with it
	return body, room, bad
}

func (s *Server) takeBody(
	rc *http.ResponseController,
	w http.ResponseWriter,
	r *http.Request,
) (body []byte, room *share, bad *wire.Error) {
	rc.SetReadDeadline(time.Now().Add(bodyTimeout))
	most := int64(s.opt.MaxEventBytes)
	if r.ContentLength > most {
		return nil, nil, tooLarge(s.opt.MaxEventBytes)
	}
	in := http.MaxBytesReader(w, r.Body, most)
	var first bytes.Buffer
	_, err := io.CopyN(&first, in, min(smallEvent, most))
	body = first.Bytes()
	if err == nil { // there may be more
		size := r.ContentLength
		if size < 0 {
			size = most
		}
		if room, bad = s.intake.take(r.Context(), size, func() { rc.SetReadDeadline(time.Now()) }); bad != nil {
			return nil, nil, bad
		}
		rc.SetReadDeadline(time.Now().Add(bodyTimeout))
		body, err = s.readLarge(body, in, int(size), room)
		room.whole()
	}
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		bad = tooLarge(s.opt.MaxEventBytes)
	case err != io.EOF && room != nil && room.slow() != nil:
		bad = room.slow()
	case err != io.EOF:
		bad = &wire.Error{
			Code:    wire.CodeBadRequest,
			Message: "the body did not arrive: " + err.Error(),
			Hint:    fmt.Sprintf("send the whole body within %s", bodyTimeout),
		}
	}
	return body, room, bad
}

// readLarge reads the text after first, until there is no more: then the error is
// io.EOF. size is the most that there may be, and is not taken at once.
func (s *Server) readLarge(first []byte, in io.Reader, size int, room *share) (body []byte, err error) {
	for body = first; err == nil; {
		if len(body) == cap(body) {
			body = grow(body, len(body)+1, size)
		}
		var n int
		n, err = in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		room.came()
		s.verdicts.giveWay()
	}
	return body, err
}

// grow returns text with room for least bytes, and for most when it is large: each
// copy of a large text takes as much memory again.
func grow(text []byte, least, most int) []byte {
	if least <= cap(text) {
		return text
	}
	room := 4 * len(text)
	if room > most/4 {
		room = most
	}
	return append(make([]byte, 0, max(room, least)), text...)
}

// filled reports whether most of the memory of a large text is used.
func filled(text []byte) bool { return len(text) > smallEvent && cap(text) <= len(text)+len(text)/4 }
