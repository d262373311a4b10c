package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/api"
	"github.com/hookd/hookd/internal/events"
)

const (
	lineBuffer = 32 << 10
	fullBuffer = 128 << 10 // of a sender that fills the other: fewer reads and writes
	keepBuffer = 1 << 20   // a larger buffer is given back after use
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
	s.enter(c, func() { c.SetReadDeadline(time.Now().Add(lastLines)) })
	sub, err := l.run(ctx)
	switch {
	case sub != nil:
		s.streamLines(ctx, c, sub)
	case errors.Is(err, errClose):
		s.outlast(c)
	case err != nil && s.isDraining():
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
	in     *bufio.Reader
	ahead  []byte    // comes before what src has
	filled bool      // in had no room for all that there was
	came   time.Time // when what in has was read, or a line of it had been waited for
	long   []byte    // a line that in has no room for
	room   *share    // that long has
	slow   func()    // ends the reading; see intake
	out    []byte    // answers not written yet
	owed   []owed    // answers that come after out
}

// newLines reads src; slow ends a read of it that is under way.
func (s *Server) newLines(peer Peer, src io.Reader, slow func(), write func([]byte) error) *lines {
	l := &lines{server: s, peer: peer, src: src, slow: slow, write: write}
	l.in = bufio.NewReaderSize(l, lineBuffer)
	return l
}

// Read is how in gets more: whatever was asked before has its answer before
// there is any wait for input.
func (l *lines) Read(p []byte) (int, error) {
	if len(l.ahead) > 0 {
		n := copy(p, l.ahead)
		l.ahead = l.ahead[n:]
		return n, nil
	}
	if err := l.flush(); err != nil {
		return 0, err
	}
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
	l.came, l.filled = time.Now(), n == len(p)
	return n, err
}

// grow makes in larger.
func (l *lines) grow() {
	rest, _ := l.in.Peek(l.in.Buffered()) // never more than there is
	l.ahead = bytes.Clone(rest)
	l.in = bufio.NewReaderSize(l, fullBuffer)
}

func (l *lines) flush() error {
	l.settle()
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
	answer api.Answer
	rest   Rest // nil = answer is complete
	bad    *events.Error
}

// maxOwed is how many lines may wait for the disk together.
const maxOwed = 1024

// settle completes the answers to the lines read so far, in their order.
func (l *lines) settle() {
	for i := range l.owed {
		o := l.owed[i]
		l.owed[i] = owed{}
		l.complete(&o)
		l.append(&o)
	}
	l.owed = l.owed[:0]
}

// complete waits for what an answer lacks. A panic is answered like any other
// error: each line has its own answer, also those behind it.
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
	if !l.peer.Owner {
		o.answer = l.peer.told(o.answer)
	}
	l.out = appendAnswer(l.out, &o.answer)
}

// say answers a line, behind those before it.
func (l *lines) say(o *owed) {
	if o.rest == nil && len(l.owed) == 0 {
		l.append(o)
		return
	}
	if l.owed = append(l.owed, *o); len(l.owed) >= maxOwed {
		l.settle()
	}
}

// run answers lines until the input ends (nil, or a read or write error), a
// line asks to subscribe (the subscription), or there is a reason to close
// that has been written (errClose).
func (l *lines) run(ctx context.Context) (sub Subscription, err error) {
	l.ctx = ctx
	defer l.free()
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
func (l *lines) next() (line []byte, bad *events.Error, err error) {
	if l.room != nil {
		l.settle() // else what waits for the disk would have no bound
		l.free()
	}
	if l.filled && l.in.Size() < fullBuffer {
		l.grow()
	}
	line, err = l.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		line, bad, err = l.nextLong(line)
	}
	if bad != nil || err != nil && (err != io.EOF || len(line) == 0) {
		return nil, bad, err
	}
	line = bytes.TrimSpace(line)
	if len(line) > l.server.opt.MaxEventBytes {
		return nil, tooLarge(l.server.opt.MaxEventBytes), nil
	}
	return line, nil, nil
}

// nextLong reads a line that does not fit into the buffer, when there is room
// for all of it. Its sender has as long as that of a body.
func (l *lines) nextLong(start []byte) (line []byte, bad *events.Error, err error) {
	most := l.server.opt.MaxEventBytes
	start = bytes.Clone(start)
	if err := l.flush(); err != nil {
		return nil, nil, err
	}
	if l.room, bad = l.server.intake.take(l.ctx, int64(most), l.slow); bad != nil {
		return nil, bad, nil
	}
	l.long = start
	for err = bufio.ErrBufferFull; err == bufio.ErrBufferFull; {
		if len(l.long) > most {
			return nil, tooLarge(most), nil
		}
		line, err = l.in.ReadSlice('\n')
		l.long = append(grow(l.long, len(l.long)+len(line), most+fullBuffer), line...)
	}
	if bad = l.room.slow(); bad != nil {
		return nil, bad, nil
	}
	l.room.whole()
	return l.long, nil, err
}

// free gives back what the last line took, if that was long.
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
	env, bad := l.parser.Parse(line)
	if bad != nil {
		if q, ok := readSubscribe(line); ok {
			return l.subscribe(q)
		}
		if string(line) == api.PingLine {
			l.settle()
			l.out = append(l.out, api.PongLine...)
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

func (l *lines) refuse(e *events.Error) { l.say(&owed{bad: e}) }

func (l *lines) subscribe(q api.Subscribe) Subscription {
	if l.post {
		l.refuse(
			&events.Error{
				Code:    events.CodeBadRequest,
				Message: "a request's body cannot subscribe",
				Hint:    "GET " + api.PathEvents + "?follow=1, or send the line on a plain connection",
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
// event; what is wrong with any other line, its parser has said.
func readSubscribe(line []byte) (q api.Subscribe, ok bool) {
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
