package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

func (s *Server) postEvents(w http.ResponseWriter, r *http.Request) {
	wait, bad := boolParam(r.URL.Query(), "wait")
	if bad != nil {
		refuse(w, bad)
		return
	}
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media == wire.NDJSON {
		s.postLines(w, r, wait)
		return
	}
	body, room, bad := s.readBody(w, r)
	defer room.release()
	if bad != nil {
		refuse(w, bad)
		return
	}
	parser := events.Parser{Pause: s.verdicts.giveWay}
	env, bad := parser.Parse(body)
	if bad != nil {
		refuse(w, bad)
		return
	}
	env.Owned = room != nil && filled(body)
	if wait != nil {
		env.Wait = *wait
	}
	env.Traceparent, env.Tracestate = r.Header.Get("traceparent"), r.Header.Get("tracestate")
	status := acceptedStatus(env.Wait)
	answer, bad := s.emit(r.Context(), connOf(r).peer, env, room)
	if bad != nil {
		refuse(w, bad)
		return
	}
	respond(w, status, tidy(connOf(r).peer.visible(answer)))
}

// seatWait is how long a large event waits until others are decided.
const seatWait = 5 * time.Second

// emit hands an event to the Emitter, and waits for the part that the sender waits for. When ctx ends it returns;
// the event's runs go on. While it waits for the runs of a large event, the room that it had is another's, and
// env is empty.
func (s *Server) emit(ctx context.Context, from Peer, env *events.Envelope, room *share) (wire.Answer, *wire.Error) {
	waits, size := env.Wait, int64(len(env.Data))
	decided := waits && events.For(env.Dialect, env.Event).Decidable
	if waits && room == nil {
		s.verdicts.enter()
		defer s.verdicts.leave()
	}
	answer, rest, bad := s.opt.Emitter.Begin(from, env)
	var seat *share
	if waits && room != nil {
		*env = events.Envelope{}
		if rest != nil && decided {
			soon, cancel := context.WithTimeout(ctx, seatWait)
			seat, _ = s.awaited.take(soon, size, nil) // without one, dispatch says what happens to it
			cancel()
		}
		room.release()
	}
	switch {
	case bad != nil || rest == nil:
		return answer, bad
	case !waits || decided && room == nil:
		return rest() // that ends when its budget does
	}
	type result struct {
		answer wire.Answer
		bad    *wire.Error
	}
	done := make(chan result, 1)
	go func() {
		defer seat.release()
		defer func() {
			if v := recover(); v != nil {
				s.logPanic(v)
				done <- result{bad: errInternal()}
			}
		}()
		answer, bad := rest()
		done <- result{answer, bad}
	}()
	select {
	case r := <-done:
		return r.answer, r.bad
	case <-ctx.Done():
		return wire.Answer{}, &wire.Error{
			Code:    wire.CodeInternal,
			Message: "the sender no longer waits for the answer",
		}
	}
}

func acceptedStatus(wait bool) int {
	if wait {
		return http.StatusOK
	}
	return http.StatusAccepted
}

// postLines answers each line of the body as the line door does, while the
// body is still being sent.
func (s *Server) postLines(w http.ResponseWriter, r *http.Request, wait *bool) {
	c, rc := connOf(r), http.NewResponseController(w)
	rc.EnableFullDuplex() // HTTP/1 always has it
	w.Header().Set("Content-Type", wire.NDJSON)
	if strings.EqualFold(r.Header.Get("Expect"), "100-continue") {
		w.WriteHeader(http.StatusContinue) // net/http sends none once the answer has begun
	}
	w.WriteHeader(acceptedStatus(wait != nil && *wait))
	l := s.newLines(c.peer, r.Body, func() { c.SetReadDeadline(time.Now()) }, func(p []byte) error {
		rc.SetWriteDeadline(time.Now().Add(answerTimeout))
		if _, err := w.Write(p); err != nil {
			return err
		}
		return rc.Flush()
	})
	l.wait, l.post = wait, true
	s.conns.setStop(c, func() { c.SetReadDeadline(time.Now().Add(lastLines)) })
	l.run(r.Context())
	s.conns.setStop(c, nil)
}

func (s *Server) getEvents(w http.ResponseWriter, r *http.Request) {
	q, bad := subscribeQuery(r)
	if bad != nil {
		refuse(w, bad)
		return
	}
	sub, bad := s.opt.Streamer.Subscribe(q)
	if bad != nil {
		refuse(w, bad)
		return
	}
	s.streamHTTP(w, r, sub)
}

// subscribeQuery reads match (repeatable), since, epoch and follow. Without
// follow=1 the answer ends at the newest record; for a browser's EventSource,
// whose Accept says that it follows, the other way round.
func subscribeQuery(r *http.Request) (q wire.Subscribe, bad *wire.Error) {
	values := r.URL.Query()
	q.Globs, q.Epoch = values["match"], values.Get("epoch")
	if q.Follow, bad = boolParam(values, "follow"); bad != nil {
		return q, bad
	}
	if q.Follow == nil {
		follow := accepts(r, wire.EventStream)
		q.Follow = &follow
	}
	starts, bad := boolParam(values, "starts")
	if bad != nil {
		return q, bad
	}
	q.Starts = starts != nil && *starts
	if r.Method == http.MethodHead {
		q.Follow = new(bool) // it would never end
	}
	since := values.Get("since")
	if since == "" {
		since = r.Header.Get("Last-Event-ID")
	}
	if since == "" {
		return q, nil
	}
	seq, err := strconv.ParseUint(since, 10, 64)
	if err != nil {
		return q, &wire.Error{
			Code:    wire.CodeBadRequest,
			Message: fmt.Sprintf("parameter since is %q", since),
			Hint:    "give the seq of the last record you have", Field: "since",
		}
	}
	q.Since = &seq
	return q, nil
}

func accepts(r *http.Request, media string) bool {
	return strings.Contains(r.Header.Get("Accept"), media)
}

func (s *Server) postTest(w http.ResponseWriter, r *http.Request) {
	body, room, bad := s.readBody(w, r)
	defer room.release()
	if bad != nil {
		refuse(w, bad)
		return
	}
	test, bad := parseTest(body)
	if bad != nil {
		refuse(w, bad)
		return
	}
	tested, bad := s.opt.Hooks.Test(r.Context(), peerOf(r), r.PathValue("name"), test)
	answer(w, tested, bad)
}

// parseTest reads an event, of which nothing is required here.
func parseTest(body []byte) (test wire.Test, bad *wire.Error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return test, nil
	}
	if err := json.Unmarshal(body, &test); err == nil && test.Event == "" {
		return test, nil
	}
	envelope, bad := events.Parse(body)
	test.Envelope = envelope.Sent()
	return test, bad
}

// postReload answers 422 when something was rejected; everything that could be loaded
// has been.
func (s *Server) postReload(w http.ResponseWriter, r *http.Request) {
	reload, bad := s.opt.State.Reload(r.Context())
	if bad != nil {
		refuse(w, bad)
		return
	}
	status := http.StatusOK
	for _, p := range reload.Problems {
		if !p.Warning {
			status = http.StatusUnprocessableEntity
		}
	}
	respond(w, status, reload)
}

func getHealthz(w http.ResponseWriter, _ *http.Request) {
	respond(w, http.StatusOK, struct {
		OK bool `json:"ok"`
	}{true})
}

func (s *Server) getReadyz(w http.ResponseWriter, r *http.Request) {
	reason := s.opt.State.Ready()
	status := http.StatusOK
	if reason != "" {
		status = http.StatusServiceUnavailable
	}
	respond(w, status, wire.Ready{Ready: reason == "", Reason: reason})
}

func answer(w http.ResponseWriter, v any, bad *wire.Error) {
	if bad != nil {
		refuse(w, bad)
		return
	}
	respond(w, http.StatusOK, v)
}

// postWeaken answers a command that is about to weaken a guard: Server.guarded has asked Options.Weakens.
func postWeaken(w http.ResponseWriter, _ *http.Request) {
	respond(w, http.StatusOK, struct{}{})
}
