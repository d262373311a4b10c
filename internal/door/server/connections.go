package server

import (
	"container/list"
	"sync"

	"go.uber.org/zap"
)

// tooManySilent bounds the connections without a first byte: the next such connection closes
// the oldest.
const tooManySilent = 512

// strangerShare is which part of the connections of a Public server one user may have.
const strangerShare = 4

// connections are the open connections of a Server. Their number is bounded, in all, for each
// user, and without a first byte.
type connections struct {
	most     int // at once
	log      *zap.Logger
	handlers sync.WaitGroup // one per connection

	mu        sync.Mutex // guards the fields below, and those of conn that say so
	draining  bool
	silent    *list.List // connections without a first byte, the oldest first
	conns     map[*conn]struct{}
	strangers map[int]int // of users other than the owners, by uid
}

func newConnections(most int, log *zap.Logger) *connections {
	return &connections{most: most, log: log, silent: list.New(), conns: map[*conn]struct{}{}, strangers: map[int]int{}}
}

// track counts c in. It reports false when the number is at its bound and no connection is
// idle.
func (cs *connections) track(c *conn) (room bool) {
	room = cs.makeRoom(1)
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.conns[c] = struct{}{}
	return room
}

// makeRoom closes a connection when there is no room for so many more, and always with more
// 0: the oldest without a first byte, else the connection with the longest idle time. False =
// every connection is busy.
func (cs *connections) makeRoom(more int) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if more > 0 && len(cs.conns)+more <= cs.most || cs.closeSilent() {
		return true
	}
	var oldest *conn
	for c := range cs.conns {
		if since := c.idle.Load(); since > 0 && (oldest == nil || since < oldest.idle.Load()) {
			oldest = c
		}
	}
	if oldest == nil {
		return false
	}
	oldest.idle.Store(0)
	oldest.raw.Close()
	cs.log.Warn("connection closed: there are too many, and this one sends nothing", zap.Int("pid", oldest.peer.PID))
	return true
}

// beginSilence counts c among the silent ones. Where they are too many the oldest
// one is closed: an honest client sends at once.
func (cs *connections) beginSilence(c *conn) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c.silent = cs.silent.PushBack(c)
	if cs.silent.Len() > tooManySilent {
		cs.closeSilent()
	}
}

// closeSilent closes the connection that has been silent for longest; false
// when there is none. The caller holds mu.
func (cs *connections) closeSilent() bool {
	oldest := cs.silent.Front()
	if oldest == nil {
		return false
	}
	c := cs.silent.Remove(oldest).(*conn)
	c.silent = nil
	c.raw.Close()
	cs.log.Warn("connection closed: too many have sent nothing", zap.Int("pid", c.peer.PID))
	return true
}

func (cs *connections) endSilence(c *conn) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c.silent != nil {
		cs.silent.Remove(c.silent)
		c.silent = nil
	}
}

// countStranger counts c among the connections of its user. It reports false where these
// are so many that other users might get none. Root and the daemon's own user have no
// such limit.
func (cs *connections) countStranger(c *conn) (room bool) {
	if c.peer.Owner {
		return true
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.strangers[c.peer.UID]++
	c.counted = true
	return cs.strangers[c.peer.UID] <= max(1, cs.most/strangerShare)
}

// setStop sets how c is brought to its end from now on. During a shutdown that is
// done at once.
func (cs *connections) setStop(c *conn, stop func()) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c.stop = stop
	if cs.draining {
		c.interrupt()
	}
}

// forget closes c. Each accepted connection comes here once.
func (cs *connections) forget(c *conn) {
	c.raw.Close()
	cs.mu.Lock()
	delete(cs.conns, c)
	if c.counted {
		if cs.strangers[c.peer.UID]--; cs.strangers[c.peer.UID] == 0 {
			delete(cs.strangers, c.peer.UID)
		}
	}
	cs.mu.Unlock()
	cs.handlers.Done()
}

// drain brings every connection to its end, and each that comes later.
func (cs *connections) drain() {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.draining = true
	for c := range cs.conns {
		c.interrupt()
	}
}

func (cs *connections) isDraining() bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.draining
}

func (cs *connections) closeAll() {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for c := range cs.conns {
		c.raw.Close()
	}
}
