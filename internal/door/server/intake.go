package server

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/hookd/hookd/wire"
)

const (
	smallEvent = 64 << 10         // what is read of a body without asking for room
	slowSender = time.Second      // without a byte, after which a sender gives way to others that wait
	roomWait   = 15 * time.Second // for room, before the sender is asked to come back
)

// intake bounds the memory that large events of all connections together take. It does
// so from before they are read until dispatch has them; another intake bounds decided
// events. A sender asks for room for all of its event at once, so that none waits for
// another half; a sender that stops loses its place when another needs it.
type intake struct {
	mu    sync.Mutex
	free  int64
	held  map[*share]struct{}
	freed chan struct{} // closed when there is more room
}

func newIntake(bytes int64) *intake {
	return &intake{free: bytes, held: map[*share]struct{}{}, freed: make(chan struct{})}
}

// share is one sender's part. A nil share is that of a small event.
type share struct {
	in     *intake
	bytes  int64
	heard  time.Time // when something came last; zero = all has come
	giveUp func()    // ends the reading
	ousted bool
}

var errNoRoom = &wire.Error{
	Code:       wire.CodeQueueFull,
	Message:    "other large events are being read",
	Hint:       "send it again",
	RetryAfter: 1,
}

// take waits until there is room for bytes. giveUp is called, in a lock, when
// the sender is so slow that it must give way; nil = it never must.
func (in *intake) take(ctx context.Context, bytes int64, giveUp func()) (*share, *wire.Error) {
	late := time.NewTimer(roomWait)
	defer late.Stop()
	look := time.NewTicker(slowSender / 4)
	defer look.Stop()
	for {
		in.mu.Lock()
		if in.free >= bytes {
			s := &share{in: in, bytes: bytes, giveUp: giveUp}
			if giveUp != nil {
				s.heard = time.Now()
			}
			in.free -= bytes
			in.held[s] = struct{}{}
			in.mu.Unlock()
			collect(bytes)
			return s, nil
		}
		in.oust()
		freed := in.freed
		in.mu.Unlock()
		select {
		case <-freed:
		case <-look.C:
		case <-late.C:
			return nil, errNoRoom
		case <-ctx.Done():
			return nil, errNoRoom
		}
	}
}

// collect makes room in the heap for bytes. It does so where they and the remains of earlier
// large events would exceed Go's limit: Go only begins to collect garbage then, and on a busy
// machine it ends behind several more of them.
func collect(bytes int64) {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap) // it has no error
	if int64(heap[0].Value.Uint64())+bytes > debug.SetMemoryLimit(-1) {
		runtime.GC()
	}
}

// oust has the senders give up that have stopped sending.
func (in *intake) oust() {
	for s := range in.held {
		if !s.ousted && !s.heard.IsZero() && time.Since(s.heard) > slowSender {
			s.ousted = true
			s.giveUp()
		}
	}
}

// came notes that the sender is alive.
func (s *share) came() {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	s.heard = time.Now()
}

// whole notes that all has come: from here on no sender is waited for.
func (s *share) whole() {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	s.heard = time.Time{}
}

// slow says that the sender was made to give up; nil = it was not.
func (s *share) slow() *wire.Error {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	if !s.ousted {
		return nil
	}
	return &wire.Error{
		Code:    wire.CodeQueueFull,
		Message: fmt.Sprintf("nothing came for %s, and others wait to send large events", slowSender),
		Hint:    "send the whole event again, without a pause", RetryAfter: 1,
	}
}

// release gives the room back, once.
func (s *share) release() {
	if s == nil || s.bytes == 0 {
		return
	}
	in := s.in
	in.mu.Lock()
	defer in.mu.Unlock()
	in.free += s.bytes
	s.bytes = 0
	delete(in.held, s)
	close(in.freed)
	in.freed = make(chan struct{})
}
