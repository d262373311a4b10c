package daemon

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"time"

	"github.com/hookd/hookd/internal/agents/bridge"
	"github.com/hookd/hookd/internal/run/box"
	"github.com/hookd/hookd/wire"
)

const (
	// planTime is how long a plan may take: a folder may hang. The bridge waits longer.
	planTime = 500 * time.Millisecond
	// plansAtOnce is how many plans may hang before bridges make all boxes themselves.
	plansAtOnce = 8
	// looksAgain is when a machine is asked again whether it makes boxes by namespaces: that may be allowed later.
	looksAgain = 10 * time.Minute
)

// boxPlans plans boxes for bridges.
type boxPlans struct {
	bridge string
	busy   chan struct{}

	mu     sync.Mutex
	looked time.Time
	weak   bool // the machine makes no box by namespaces
}

func newBoxPlans() *boxPlans {
	return &boxPlans{bridge: bridgePath(), busy: make(chan struct{}, plansAtOnce)}
}

// plan is bridge.PlanBox, but does not wait long.
func (p *boxPlans) plan(h wire.Handed, pid int, k bridge.BoxKeeper) (reply []byte, files [2]int, ok bool) {
	select {
	case p.busy <- struct{}{}:
	default:
		return nil, files, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), planTime)
	defer cancel()
	k.Weak = p.isWeak
	begin := k.Begin
	k.Begin = func(id string, b wire.BoxStart) wire.BoxBegun {
		if ctx.Err() != nil {
			return wire.BoxBegun{} // the bridge has begun it
		}
		return begin(id, b)
	}
	type planned struct {
		reply []byte
		files [2]int
		ok    bool
	}
	made := make(chan planned)
	go func() {
		defer func() { <-p.busy }()
		var one planned
		one.reply, one.files, one.ok = bridge.PlanBox(h, pid, k)
		select {
		case made <- one:
		case <-ctx.Done():
			if one.ok {
				syscall.Close(one.files[0])
				syscall.Close(one.files[1])
			}
		}
	}()
	select {
	case one := <-made:
		return one.reply, one.files, one.ok
	case <-ctx.Done():
		return nil, files, false
	}
}

// isWeak reports whether the machine makes no box by namespaces; false = it is not known yet.
func (p *boxPlans) isWeak() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.looked) > looksAgain {
		p.looked = time.Now()
		go func() {
			_, weak := errors.AsType[*noBoxError](probeBox(p.bridge, box.Read, box.Namespaces))
			p.mu.Lock()
			p.weak = weak
			p.mu.Unlock()
		}()
	}
	return p.weak
}
