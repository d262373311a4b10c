package proc

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Executed follows the processes below agents and tells which programs they start while no call is
// open that hookd was asked about. A program that such a call has started may start others later: they
// count as its own.
//
// Promises. It changes no process and holds none up. It explains too much rather than too little: with
// one call open, everything that its agent starts counts as asked about, and for a moment afterwards.
// It does not see threads, files or connections, nor a program of another machine. It is safe for
// concurrent use. The zero value follows nothing until Run.
type Executed struct {
	Told func(Started) // gets each program; it must not block. It is required

	mu      sync.Mutex
	running bool
	agents  map[int]*followed
	below   map[int]*descendant
}

// Started is one program that started below an agent.
type Started struct {
	Agent int      // pid of the agent that it descends from
	Args  []string // its command line; nil = it ended before that could be read
	Asked bool     // a call was open, or it descends from a program of a call
	Later bool     // Asked, and no call was open: background work, or a shell that was written to
}

// followed is an agent.
type followed struct {
	open  map[OpenCall]*opened
	until time.Time // when the last of them counts as ended
}

// OpenCall names a call of an agent: its session, and the agent's own id; the tool where it tells none.
type OpenCall struct{ Session, ID string }

type opened struct {
	count int // calls of one name
	at    time.Time
}

// descendant is a process of an agent.
type descendant struct {
	agent int
	asked bool // it was started for a call
	own   bool // it is a hook's process, and so are its children
}

const (
	// grace is how long a call counts as open after its result was reported: the end of a program and
	// the report of the result come over two ways.
	grace = time.Second
	// longest is how long a call counts as open whose end is not reported.
	longest = 30 * time.Minute
)

// Add adds an agent. Processes that it has already started count as asked about.
func (x *Executed) Add(agent int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.running || x.agents[agent] != nil {
		return
	}
	x.agents[agent] = &followed{open: map[OpenCall]*opened{}}
	x.below[agent] = &descendant{agent: agent}
	x.adopt()
}

// Opened says that hookd was asked about a call of an agent.
func (x *Executed) Opened(agent int, call OpenCall) {
	x.with(agent, func(f *followed) {
		o := f.open[call]
		if o == nil {
			o = &opened{}
			f.open[call] = o
		}
		o.count, o.at = o.count+1, time.Now()
	})
}

// Closed says that a call has ended, or does not run.
func (x *Executed) Closed(agent int, call OpenCall) {
	x.with(agent, func(f *followed) {
		if o := f.open[call]; o != nil {
			if o.count--; o.count == 0 {
				delete(f.open, call)
			}
			f.until = time.Now().Add(grace)
		}
	})
}

// Idle says that all calls of a session have ended, whether that was reported or not.
func (x *Executed) Idle(agent int, session string) {
	x.with(agent, func(f *followed) {
		maps.DeleteFunc(f.open, func(c OpenCall, _ *opened) bool { return c.Session == session })
	})
}

func (x *Executed) with(agent int, do func(*followed)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if f := x.agents[agent]; f != nil {
		do(f)
	}
}

// begin makes the maps. Without Run nothing is followed, so that nothing grows.
func (x *Executed) begin() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running, x.agents, x.below = true, map[int]*followed{}, map[int]*descendant{}
}

// end forgets everything.
func (x *Executed) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running, x.agents, x.below = false, nil, nil
}

// adopt adds the living descendants of agents that are not known. x.mu is held.
func (x *Executed) adopt() {
	table, err := processes()
	if err != nil {
		return
	}
	for pid := range table {
		var way []int
		for at := pid; at > 1 && len(way) < mostAncestors && x.below[at] == nil; at = table[at].ppid {
			way = append(way, at)
		}
		if len(way) == 0 {
			continue
		}
		if above := x.below[table[way[len(way)-1]].ppid]; above != nil {
			for _, at := range way {
				x.below[at] = &descendant{agent: above.agent, asked: true, own: above.own}
			}
		}
	}
}

// forgetEnded drops the processes whose end was not seen, and adopts those whose start was not.
func (x *Executed) forgetEnded() {
	table, err := processes()
	if err != nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for pid := range x.below {
		if _, lives := table[pid]; !lives {
			x.ended(pid)
		}
	}
	x.adopt()
}

// forked takes in the start of a process.
func (x *Executed) forked(parent, child int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if above := x.below[parent]; above != nil {
		x.below[child] = &descendant{agent: above.agent, asked: above.asked || x.isOpen(above.agent), own: above.own}
	}
}

// executed takes in that a process runs another program now.
func (x *Executed) executed(pid int) {
	x.mu.Lock()
	it := x.below[pid]
	follows := it != nil && !it.own && x.agents[pid] == nil
	x.mu.Unlock()
	if !follows {
		return
	}
	args := CommandLine(pid)
	x.mu.Lock()
	defer x.mu.Unlock()
	if it = x.below[pid]; it == nil {
		return // a newer look has dropped it
	}
	if isBridge(args) || startsBridge(args, "") {
		it.own = true
		return
	}
	open := x.isOpen(it.agent)
	it.asked = it.asked || open
	x.Told(Started{Agent: it.agent, Args: args, Asked: it.asked, Later: it.asked && !open})
}

// ended forgets a process. x.mu is held.
func (x *Executed) ended(pid int) {
	delete(x.below, pid)
	delete(x.agents, pid)
}

// isOpen reports whether a call of an agent is open. x.mu is held.
func (x *Executed) isOpen(agent int) bool {
	f, now := x.agents[agent], time.Now()
	if f == nil || now.Before(f.until) {
		return true
	}
	maps.DeleteFunc(f.open, func(_ OpenCall, o *opened) bool { return now.Sub(o.at) > longest })
	return len(f.open) > 0
}

// ShellLine returns the line that a command line gives to a shell; "" = it gives none.
func ShellLine(args []string) string {
	if !isShell(args) {
		return ""
	}
	i := slices.IndexFunc(args, func(arg string) bool {
		return len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && arg[len(arg)-1] == 'c'
	})
	for i++; i > 0 && i < len(args); i++ {
		if args[i] != "" && args[i][0] != '-' {
			return args[i]
		}
	}
	return ""
}
