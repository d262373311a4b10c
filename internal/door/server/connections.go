package server

import (
	"container/list"
	"sync"

	"go.uber.org/zap"
)

// tooManySilent connections have sent nothing yet: the oldest of them goes when
// one more comes.
const tooManySilent = 512

// strangerShare is which part of the connections of a Public server one user may have.
const strangerShare = 4

// connections are the open connections of a Server. They are bounded, as are those of one
// user, and those that have sent nothing.
type connections struct {
	most int // at once
	log  *zap.Logger
	open sync.WaitGroup

	mu        sync.Mutex // guards the fields below, and those of conn that say so
	draining  bool
	silent    *list.List // that have sent nothing, the oldest first
	all       map[*conn]struct{}
	strangers map[int]int // of users other than the owners, by uid
}

func newConnections(most int, log *zap.Logger) *connections {
	return &connections{most: most, log: log, silent: list.New(), all: map[*conn]struct{}{}, strangers: map[int]int{}}
}

// track counts c in. It reports false when there are as many connections as may
// be, and something is done for each of them.
func (t *connections) track(c *conn) (room bool) {
	room = t.makeRoom(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all[c] = struct{}{}
	return room
}

// makeRoom closes a connection when there is no room for so many more, or for
// none at all with more 0: one which has sent nothing, else the connection that has been
// waited for longest.
func (t *connections) makeRoom(more int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if more > 0 && len(t.all)+more <= t.most || t.closeSilent() {
		return true
	}
	var oldest *conn
	for c := range t.all {
		if since := c.idle.Load(); since > 0 && (oldest == nil || since < oldest.idle.Load()) {
			oldest = c
		}
	}
	if oldest == nil {
		return false
	}
	oldest.idle.Store(0)
	oldest.raw.Close()
	t.log.Warn("connection closed: there are too many, and this one sends nothing", zap.Int("pid", oldest.peer.PID))
	return true
}

// beginSilence counts c among the silent ones. Where they are too many the oldest
// one is closed: an honest client sends at once.
func (t *connections) beginSilence(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.silent = t.silent.PushBack(c)
	if t.silent.Len() > tooManySilent {
		t.closeSilent()
	}
}

// closeSilent closes the connection that has been silent for longest; false
// when there is none. The caller holds mu.
func (t *connections) closeSilent() bool {
	oldest := t.silent.Front()
	if oldest == nil {
		return false
	}
	c := t.silent.Remove(oldest).(*conn)
	c.silent = nil
	c.raw.Close()
	t.log.Warn("connection closed: too many have sent nothing", zap.Int("pid", c.peer.PID))
	return true
}

func (t *connections) endSilence(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.silent != nil {
		t.silent.Remove(c.silent)
		c.silent = nil
	}
}

// countStranger counts c among the connections of its user. It reports false where these
// are so many that other users might get none. Root and the daemon's own user have no
// such limit.
func (t *connections) countStranger(c *conn) (room bool) {
	if c.peer.Owner {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.strangers[c.peer.UID]++
	c.counted = true
	return t.strangers[c.peer.UID] <= max(1, t.most/strangerShare)
}

// enter says how to bring c to its end from now on. During a shutdown that is
// done at once.
func (t *connections) enter(c *conn, stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.stop = stop
	if t.draining {
		c.interrupt()
	}
}

// forget closes c. Each accepted connection comes here once.
func (t *connections) forget(c *conn) {
	c.raw.Close()
	t.mu.Lock()
	delete(t.all, c)
	if c.counted {
		if t.strangers[c.peer.UID]--; t.strangers[c.peer.UID] == 0 {
			delete(t.strangers, c.peer.UID)
		}
	}
	t.mu.Unlock()
	t.open.Done()
}

// drain has every connection come to its end, and each that comes yet.
func (t *connections) drain() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.draining = true
	for c := range t.all {
		c.interrupt()
	}
}

func (t *connections) isDraining() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.draining
}

func (t *connections) closeAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.all {
		c.raw.Close()
	}
}
