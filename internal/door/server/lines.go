package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

const (
	lineBuffered = 32 << 10
	fullBuffer   = 128 << 10 // of a sender that fills the other: fewer reads and writes
	keepBuffer   = 1 << 20   // a larger buffer is given back after use
)

// errClose ends a connection whose last answer says why.
var errClose = errors.New("closed by the server")

// serveLines speaks plain lines on c until the client has sent its last one.
func (s *Server) serveLines(ctx context.Context, c *conn) {
	l := s.newLines(c.peer, c, func() { c.SetReadDeadline(time.Now()) }, func(p []byte) error {
		c.SetWriteDeadline(time.Now().Add(answerTimeout))
		_, err := c.Write(p)
		return err
	})
	l.conn = c
	s.conns.setStop(c, func() { c.SetReadDeadline(time.Now().Add(lastLines)) })
	sub, err := l.run(ctx)
	switch {
	case sub != nil:
		s.streamLines(ctx, c, sub)
	case errors.Is(err, errClose):
		s.outlast(c)
	case err != nil && s.conns.isDraining():
		c.linger(lastLines)
	}
}

// lines answers a sequence of events, one line each. It serves a connection
// of the line door, and the body of a POST of ndjson.
type lines struct {
	server *Server
	ctx    context.Context // of run
	peer   Peer
	conn   *conn // nil = of no connection
	wait   *bool // of the request, wins over the event's; nil = none
	post   bool  // a request's body: it cannot become a stream

	parser events.Parser
	src    io.Reader
	write  func([]byte) error
	in     lineBuffer
	ended  error             // why nothing more comes from src; nil = something may
	filled bool              // in had no room for all that there was
	came   time.Time         // when what in has was read, or a line of it had been waited for
	long   []byte            // a line that in has no room for
	room   *share            // that long has
	slow   func()            // ends the reading; see intake
	out    []byte            // answers not written yet
	owed   []owed            // answers that come after out
	tells  []*events.Hearing // of events whose sender has not said what its agent was told
	passed *wire.Told        // the answer in the last reply to a handed call; nil = there is none
}

// newLines reads src; slow ends a read that is under way.
func (s *Server) newLines(peer Peer, src io.Reader, slow func(), write func([]byte) error) *lines {
	return &lines{
		server: s, peer: peer, src: src, slow: slow, write: write,
		in: lineBuffer{buf: make([]byte, lineBuffered)},
	}
}

// fill reads more into in, which has room.
func (l *lines) fill() {
	if l.ended = l.flush(); l.ended != nil {
		return
	}
	if l.filled && len(l.in.buf) < fullBuffer {
		l.in.grow(fullBuffer)
	}
	room := l.in.room()
	n, err := l.read(room)
	l.in.end += n
	l.filled, l.ended = n == len(room), err
}

// read reads from src. Whatever was asked before has its answer already: see flush.
func (l *lines) read(p []byte) (int, error) {
	if l.conn != nil {
		l.conn.waits(true)
	}
	n, err := l.src.Read(p)
	if l.conn != nil {
		l.conn.waits(false)
	}
	if l.room != nil {
		l.room.came()
	}
	l.came = time.Now()
	return n, err
}

func (l *lines) flush() error {
	l.answerOwed()
	if len(l.out) == 0 {
		return nil
	}
	err := l.write(l.out)
	l.out = l.out[:0]
	if cap(l.out) > keepBuffer {
		l.out = nil
	}
	return err
}

// owed is an answer that is not complete, or that stands behind one.
type owed struct {
	answer wire.Answer
	rest   Rest // nil = answer is complete
	bad    *wire.Error
}

// maxOwed is how many lines may wait for the disk together.
const maxOwed = 1024

// answerOwed completes the answers to the lines read so far, in their order.
func (l *lines) answerOwed() {
	for i := range l.owed {
		o := l.owed[i]
		l.owed[i] = owed{}
		l.complete(&o)
		l.append(&o)
	}
	l.owed = l.owed[:0]
}

// complete waits for the missing part of an answer. A panic is answered like any other
// error: each line has its own answer, also the lines behind it.
func (l *lines) complete(o *owed) {
	defer func() {
		if v := recover(); v != nil {
			l.server.logPanic(v)
			*o = owed{bad: errInternal()}
		}
	}()
	if o.rest != nil {
		o.answer, o.bad = o.rest()
	}
}

func (l *lines) append(o *owed) {
	if o.bad != nil {
		l.server.opt.Refused(o.bad.Code)
		l.out = appendRefusal(l.out, o.bad)
		return
	}
	l.appendAnswer(&o.answer)
}

func (l *lines) appendAnswer(a *wire.Answer) {
	if !l.peer.Owner {
		visible := l.peer.visible(*a)
		a = &visible
	}
	l.out = appendAnswer(l.out, a)
}

// say answers a line, behind those before it.
func (l *lines) say(o *owed) {
	if o.rest == nil && len(l.owed) == 0 {
		l.append(o)
		return
	}
	if l.owed = append(l.owed, *o); len(l.owed) >= maxOwed {
		l.answerOwed()
	}
}

// run answers lines until the input ends (nil, or a read or write error), a
// line asks to subscribe (the subscription), or there is a reason to close
// that has been written (errClose).
func (l *lines) run(ctx context.Context) (sub Subscription, err error) {
	l.ctx = ctx
	l.parser.Pause = l.server.verdicts.giveWay
	defer l.free()
	defer l.lastWord()
	defer func() {
		if v := recover(); v != nil {
			l.server.logPanic(v)
			l.refuse(errInternal())
			sub, err = nil, errors.Join(errClose, l.flush())
		}
	}()
	for {
		line, bad, err := l.next()
		if bad != nil {
			l.refuse(bad)
			return nil, errors.Join(errClose, l.flush())
		}
		if err == io.EOF {
			return nil, l.flush()
		}
		if err != nil {
			return nil, errors.Join(err, l.flush())
		}
		if sub := l.answer(ctx, line); sub != nil {
			return sub, l.flush()
		}
		if len(l.out) >= fullBuffer {
			if err := l.flush(); err != nil {
				return nil, err
			}
		}
	}
}

// next returns the next line, or why there can be no more. A last line needs no
// newline. The line is good until the next call.
func (l *lines) next() (line []byte, bad *wire.Error, err error) {
	if l.room != nil {
		l.answerOwed() // else what waits for the disk would have no bound
		l.free()
	}
	line, whole := l.in.next()
	for ; !whole; line, whole = l.in.next() {
		if l.ended == io.EOF && !l.in.empty() {
			line = l.in.take()
			break
		}
		if l.ended != nil {
			return nil, nil, l.ended
		}
		if l.in.full() {
			if line, bad, err = l.nextLong(); bad != nil || err != nil {
				return nil, bad, err
			}
			break
		}
		l.fill()
	}
	line = bytes.TrimSpace(line)
	if len(line) > l.server.opt.MaxEventBytes {
		return nil, tooLarge(l.server.opt.MaxEventBytes), nil
	}
	return line, nil, nil
}

// nextLong reads a line that does not fit into the buffer, when there is room
// for the whole line. Its sender has as long as that of a body.
func (l *lines) nextLong() (line []byte, bad *wire.Error, err error) {
	most, step := l.server.opt.MaxEventBytes, len(l.in.buf)
	if err := l.flush(); err != nil {
		return nil, nil, err
	}
	start := bytes.Clone(l.in.take())
	if l.room, bad = l.server.intake.take(l.ctx, int64(most), l.slow); bad != nil {
		return nil, bad, nil
	}
	l.long = start
	for end := -1; end < 0 && l.ended == nil; {
		if len(l.long) > most {
			return nil, tooLarge(most), nil
		}
		l.server.verdicts.giveWay()
		had := len(l.long)
		l.long = grow(l.long, had+step, most+2*fullBuffer)
		var n int
		n, l.ended = l.read(l.long[had : had+step])
		if end = bytes.IndexByte(l.long[had:had+n], '\n'); end < 0 {
			l.long = l.long[:had+n]
			continue
		}
		l.in.put(l.long[had+end+1 : had+n])
		l.long = l.long[:had+end+1]
	}
	if bad = l.room.slow(); bad != nil {
		return nil, bad, nil
	}
	if l.ended != nil && l.ended != io.EOF {
		return nil, nil, l.ended
	}
	l.room.whole()
	return l.long, nil, nil
}

// free gives back the room that the last line took, if that was long.
func (l *lines) free() {
	l.room.release()
	l.room, l.long = nil, nil
}

// answer appends the answer to one line, or returns the subscription that it
// asks for. A blank line has no answer.
func (l *lines) answer(ctx context.Context, line []byte) Subscription {
	if len(line) == 0 {
		return nil
	}
	if bytes.HasPrefix(line, []byte(wire.HandedPrefix)) {
		l.handed(ctx, line)
		return nil
	}
	env, bad := l.parser.Parse(line)
	if bad != nil {
		if q, ok := readSubscribe(line); ok {
			return l.subscribe(q)
		}
		if l.told(line) {
			return nil
		}
		if string(line) == wire.PingLine {
			l.answerOwed()
			l.out = append(l.out, wire.PongLine...)
			return nil
		}
		l.refuse(bad)
		return nil
	}
	env.Owned = l.room != nil && filled(l.long)
	if l.wait != nil {
		env.Wait = *l.wait
	}
	if env.Wait {
		if l.flush() != nil {
			return nil // the next read fails the same way
		}
		var o owed
		if l.room != nil {
			l.long = nil
		}
		l.hear(env)
		o.answer, o.bad = l.server.emit(ctx, l.peer, env, l.room)
		l.came = time.Now()
		l.say(&o)
		return nil
	}
	env.At = l.came // one look at the clock for all that came together
	var o owed
	o.answer, o.rest, o.bad = l.server.opt.Emitter.Begin(l.peer, env)
	env.Data = nil // which the parser would hold
	l.say(&o)
	return nil
}

// maxTells is how many events of a connection are heard of together.
const maxTells = 64

// told reports whether line says the words that the agent was told, and hands them on.
func (l *lines) told(line []byte) bool {
	var tell wire.Tell
	switch {
	case l.passed != nil && string(line) == wire.WrittenLine:
		tell.Told, l.passed = l.passed, nil
	case !bytes.HasPrefix(line, []byte(`{"told":`)), json.Unmarshal(line, &tell) != nil, tell.Told == nil:
		return false
	}
	for _, h := range l.tells {
		h.Say(*tell.Told)
	}
	l.tells = nil
	return true
}

// lastWord looks for the last report of a client on its agent. It does so where the client has closed
// the connection before it read its answer.
func (l *lines) lastWord() {
	if len(l.tells) == 0 {
		return
	}
	rest := bytes.Clone(l.in.take())
	if l.ended != io.EOF && l.conn != nil {
		l.conn.SetReadDeadline(time.Now().Add(lastLines))
		more := make([]byte, 4<<10)
		for len(rest) < len(more) {
			n, err := l.conn.Read(more)
			if rest = append(rest, more[:n]...); err != nil {
				break
			}
		}
	}
	for line := range bytes.Lines(rest) {
		l.told(bytes.TrimSpace(line))
	}
	for _, h := range l.tells {
		h.Say(wire.Told{Unsure: "its bridge ended before it said so"})
	}
	l.tells = nil
}

func (l *lines) refuse(e *wire.Error) {
	l.say(&owed{bad: e})
}

func (l *lines) subscribe(q wire.Subscribe) Subscription {
	if l.post {
		l.refuse(
			&wire.Error{
				Code:    wire.CodeBadRequest,
				Message: "a request's body cannot subscribe",
				Hint:    "GET " + wire.PathEvents + "?follow=1, or send the line on a plain connection",
			},
		)
		return nil
	}
	if !ownerOnly.admits(l.peer) {
		l.refuse(errOwner(l.peer))
		return nil
	}
	sub, bad := l.server.opt.Streamer.Subscribe(q)
	if bad != nil {
		l.refuse(bad)
		return nil
	}
	return sub
}

// readSubscribe reads a line with `subscribe` and no `event`, which is no
// event; the parser has named the fault of any other line.
func readSubscribe(line []byte) (q wire.Subscribe, ok bool) {
	if !bytes.Contains(line, []byte(`"subscribe"`)) {
		return q, false
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(line, &keys) != nil || keys["event"] != nil || keys["subscribe"] == nil {
		return q, false
	}
	return q, json.Unmarshal(line, &q) == nil
}

func (s *Server) logPanic(v any) {
	s.log.Error("request panicked", zap.String("panic", fmt.Sprint(v)), zap.ByteString("stack", debug.Stack()))
}
