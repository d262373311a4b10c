package dispatch

import (
	"fmt"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// MaxDepth is how deep hooks that emit events may stand: an event of an agent
// has depth 0, one of a hook that ran for it 1.
const MaxDepth = 8

// Limits on the events that one hook may emit when hookd knows that it is the sender.
const (
	maxBurst    = 200
	burstWindow = 2 * time.Second
)

// maxParents bounds how many events are remembered for the `parent` field.
const maxParents = 4096

// Sender is the process that sends an event, as it is right after its
// connection was accepted.
type Sender struct {
	Session, Group int
	Cgroup         string      // of one run, as in Process; "" = none
	Gone           bool        // there is no such process any more
	Child          func() bool // whether the session is that of a child of hookd's; nil = it is not
}

// Origin is the sender, as far as a chain of hooks is concerned. The zero Origin is
// an agent.
type Origin struct {
	Depth  int    // of the events it sends
	Hook   string // id of the hook that runs the sender; "" = unknown or none
	PID    int    // of the sender; 0 = unknown
	Handle Handle // of the sender; nil = there is none
}

// Handle holds on to a process, not to its number, which may be another one's after its end.
type Handle interface{ HasEnded() bool }

// OfRun reports whether the sender is a process of a run, as far as is known.
func (o Origin) OfRun() bool { return o.Depth > 0 || o.Hook != "" }

// chain knows which process groups belong to runs, and so how deep an event
// stands in a chain of hooks that emit events.
type chain struct {
	alive func(pgid int) bool

	mu      sync.Mutex
	starts  starts
	groups  map[int]*link    // by process group, which is also the session
	cgroups map[string]*link // by cgroup of its own
	left    []*link          // ended runs whose group had members still
	depths  [MaxDepth + 1]activity
	bursts  map[string]*burst
	parents map[string]int // event id → depth
	oldest  []string       // keys of parents, in order
}

// link ties the processes of one run to its place in the chain.
type link struct {
	pgid   int
	cgroup string
	depth  int
	hook   string
	live   func() int // of a process that is kept: its depth now; nil = depth
}

type activity struct {
	running int
	ended   time.Time
}

func newChain(alive func(int) bool) *chain {
	if alive == nil {
		alive = func(int) bool { return false }
	}
	return &chain{
		alive:   alive,
		starts:  newStarts(),
		groups:  map[int]*link{},
		cgroups: map[string]*link{},
		bursts:  map[string]*burst{},
		parents: map[string]int{},
	}
}

// started registers a run's processes; the returned function ends it.
func (c *chain) started(p Process, depth int, hook string) (ended func()) {
	l := &link{pgid: p.PID, cgroup: p.Cgroup, depth: depth, hook: hook}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweep()
	c.enter(l)
	c.depths[depth].running++
	return func() { c.ended(l) }
}

func (c *chain) enter(l *link) {
	c.groups[l.pgid] = l
	if l.cgroup != "" {
		c.cgroups[l.cgroup] = l
	}
}

// ended keeps the group known while its members live: a background child may
// still emit, and the number cannot be another group's before the last is gone.
func (c *chain) ended(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.depths[l.depth].running--
	c.depths[l.depth].ended = time.Now()
	c.left = append(c.left, l)
	c.sweep()
}

func (c *chain) sweep() {
	kept := c.left[:0]
	for _, l := range c.left {
		if c.alive(l.pgid) {
			kept = append(kept, l)
			continue
		}
		if c.groups[l.pgid] == l {
			delete(c.groups, l.pgid)
		}
		if c.cgroups[l.cgroup] == l {
			delete(c.cgroups, l.cgroup)
		}
	}
	clear(c.left[len(kept):])
	c.left = kept
}

// origin looks a sender up. A sender may be gone, or its run may not become known. It
// then counts as sent by the deepest run in flight or just ended: that errs only
// towards refusing, and only while a long chain really runs.
func (c *chain) origin(s Sender, now time.Time) Origin {
	unclear := s.Gone || !c.awaitStarts(s)
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.member(s)
	if l == nil {
		l = c.cgroups[s.Cgroup]
	}
	if l != nil {
		return Origin{Depth: l.at() + 1, Hook: l.hook}
	}
	if unclear {
		return Origin{Depth: c.deepest(now) + 1}
	}
	return Origin{}
}

// member returns the run whose session or process group the sender is in.
func (c *chain) member(s Sender) *link {
	if s.Gone {
		return nil
	}
	if l := c.groups[s.Group]; l != nil {
		return l
	}
	return c.groups[s.Session]
}

// deepest returns the depth of the deepest run in flight or just ended, -1 if
// there is none.
func (c *chain) deepest(now time.Time) int {
	for depth := MaxDepth; depth >= 0; depth-- {
		if a := c.depths[depth]; a.running > 0 || now.Sub(a.ended) < time.Second {
			return max(depth, c.starts.deepest())
		}
	}
	return c.starts.deepest()
}

// depth returns the depth of an event that from sends, or why it is refused.
func (c *chain) depth(from Origin, parent string, now time.Time) (int, *wire.Error) {
	if !from.OfRun() && parent == "" {
		return 0, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	depth := from.Depth
	if d, ok := c.parents[parent]; ok {
		depth = max(depth, d+1)
	}
	if depth > MaxDepth {
		return 0, &wire.Error{Code: wire.CodeTooDeep,
			Message: fmt.Sprintf(
				"hooks that emit events stand %d deep, the limit is %d: they probably trigger each other",
				depth,
				MaxDepth,
			),
			Hint: "see `hookd log runs` for the chain; narrow the `events` of the hook that emits"}
	}
	if from.Hook != "" && !c.burst(from.Hook).allow(now) {
		return 0, &wire.Error{Code: wire.CodeTooMany, RetryAfter: 2,
			Message: fmt.Sprintf("hook %s sent more than %d events in %s", from.Hook, maxBurst, burstWindow),
			Hint:    "send fewer events, or one event with a list"}
	}
	return depth, nil
}

// remember keeps the depth of e for events that name it as their parent.
func (c *chain) remember(e *events.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.parents[e.EventID] = e.Depth
	c.oldest = append(c.oldest, e.EventID)
	if len(c.oldest) > maxParents {
		delete(c.parents, c.oldest[0])
		c.oldest = c.oldest[1:]
	}
}

// burst holds the times of a hook's last events.
type burst struct {
	times [maxBurst]time.Time
	next  int
}

func (c *chain) burst(hook string) *burst {
	b := c.bursts[hook]
	if b == nil {
		b = &burst{}
		c.bursts[hook] = b
	}
	return b
}

// allow reports whether fewer than maxBurst events came within burstWindow
// before now, and counts this one if so.
func (b *burst) allow(now time.Time) bool {
	if oldest := b.times[b.next]; !oldest.IsZero() && now.Sub(oldest) < burstWindow {
		return false
	}
	b.times[b.next] = now
	b.next = (b.next + 1) % maxBurst
	return true
}

// startWait bounds how long a sender waits for the start of its own run to be
// known. A start takes about a millisecond; a start that hangs has no senders.
const startWait = 5 * time.Second

// starting notes that a process is about to be started for a run. known is to
// be called when it is registered or will not be; again it does nothing.
func (c *chain) starting(depth int) (known func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &c.starts
	s.last++
	number := s.last
	s.under[number] = depth
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if _, there := s.under[number]; there {
			delete(s.under, number)
			close(s.fewer)
			s.fewer = make(chan struct{})
		}
	}
}

// awaitStarts waits while a sender may belong to a run that is just being started;
// false when that took too long. It must have Gone false.
func (c *chain) awaitStarts(s Sender) bool {
	c.mu.Lock()
	begun := c.starts.last
	c.mu.Unlock()
	var late <-chan time.Time
	for {
		c.mu.Lock()
		known := c.member(s) != nil || !c.starts.before(begun)
		fewer := c.starts.fewer
		c.mu.Unlock()
		if known || late == nil && s.Cgroup == "" && (s.Child == nil || !s.Child()) {
			return true
		}
		if late == nil {
			late = time.After(startWait)
		}
		select {
		case <-fewer:
		case <-late:
			return false
		}
	}
}

func (c *chain) joined(hook string, p Process, depth func() int) (left func()) {
	l := &link{pgid: p.PID, cgroup: p.Cgroup, hook: hook, live: depth}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweep()
	c.enter(l)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		l.depth, l.live = l.live(), nil
		c.left = append(c.left, l)
		c.sweep()
	}
}

// busy counts a run of a process that is kept; the returned function ends it.
func (c *chain) busy(depth int) (over func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.depths[depth].running++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.depths[depth].running--
		c.depths[depth].ended = time.Now()
	}
}

// at is the depth of the work that the link's processes do.
func (l *link) at() int {
	if l.live != nil {
		return min(l.live(), MaxDepth)
	}
	return l.depth
}
