package recorder

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hookd/hookd/wire"
)

// How many of the last runs and of the last decisions, and how many bytes of the runs' output, are in memory.
const (
	maxRuns     = 1000
	maxRunBytes = 8 << 20
)

// newest has the newest runs and decisions in memory, and counts runs since the start.
type newest struct {
	mu      sync.Mutex                // guards all below
	runs    []*wire.Run               // oldest first, never changed; see inMemory
	first   int                       // index of the oldest in runs
	bytes   int                       // of their output
	results map[string]int            // runs by result
	hooks   map[string]map[string]int // the same by hook
	last    map[string]*wire.Run      // by hook

	decisions []*wire.Decision // the last ones, a ring; next is the oldest
	next      int
}

func newNewest() *newest {
	return &newest{results: map[string]int{}, hooks: map[string]map[string]int{}, last: map[string]*wire.Run{}}
}

// addDecision puts a decision into memory; d must not change any more.
func (n *newest) addDecision(d *wire.Decision) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.decisions) < maxRuns {
		n.decisions = append(n.decisions, d)
		return
	}
	n.decisions[n.next] = d
	n.next = (n.next + 1) % maxRuns
}

// addRun puts a run into memory; run must not change any more.
func (n *newest) addRun(run *wire.Run) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.runs = append(n.runs, run)
	n.bytes += size(run)
	for count := len(n.runs) - n.first; count > maxRuns || n.bytes > maxRunBytes && count > 1; count-- {
		n.bytes -= size(n.runs[n.first])
		n.runs[n.first] = nil
		n.first++
	}
	if n.first >= maxRuns { // a slice that only moves on would be copied at each turn of its array
		count := copy(n.runs, n.inMemory())
		clear(n.runs[count:])
		n.runs, n.first = n.runs[:count], 0
	}
	if run.Test {
		return
	}
	n.last[run.Hook] = run
	if run.Tried {
		return
	}
	result := string(run.Result)
	n.results[result]++
	if n.hooks[run.Hook] == nil {
		n.hooks[run.Hook] = map[string]int{}
	}
	n.hooks[run.Hook][result]++
}

// inMemory returns the runs. The caller holds mu.
func (n *newest) inMemory() []*wire.Run { return n.runs[n.first:] }

// findRuns is Recorder.Runs from memory.
func (n *newest) findRuns(q wire.RunQuery) []wire.Run {
	limit := q.Limit
	if limit <= 0 {
		limit = 50
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	found := []wire.Run{}
	for _, run := range slices.Backward(n.inMemory()) {
		if len(found) == limit {
			break
		}
		if q.Fits(*run) {
			found = append(found, *run)
		}
	}
	return found
}

// findDecisions returns the newest decisions that fit, newest first.
func (n *newest) findDecisions(q wire.DecisionQuery) []wire.Decision {
	limit := cmp.Or(q.Limit, 50)
	n.mu.Lock()
	defer n.mu.Unlock()
	found := []wire.Decision{}
	for i := len(n.decisions) - 1; i >= 0 && len(found) < limit; i-- {
		if d := n.decisions[(n.next+i)%len(n.decisions)]; q.Fits(d) {
			found = append(found, *d)
		}
	}
	return found
}

// findRun is Recorder.Run from memory. It also returns how many runs the id fits.
func (n *newest) findRun(id string) (wire.Run, int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var found []wire.Run
	upper := strings.ToUpper(id)
	for _, run := range n.inMemory() {
		if id != "" && (strings.HasPrefix(run.ID, upper) || strings.HasSuffix(run.ID, upper)) {
			found = append(found, *run)
		}
	}
	if i := slices.IndexFunc(found, func(run wire.Run) bool { return run.ID == upper }); i >= 0 {
		return found[i], 1
	}
	if len(found) == 1 {
		return found[0], 1
	}
	return wire.Run{}, len(found)
}

// ofHook returns the runs of a hook by result, and its last run.
func (n *newest) ofHook(hook string) (map[string]int, *wire.Run) {
	n.mu.Lock()
	defer n.mu.Unlock()
	counts := map[string]int{}
	for result, runs := range n.hooks[hook] {
		counts[result] = runs
	}
	if last := n.last[hook]; last != nil {
		run := *last
		return counts, &run
	}
	return counts, nil
}

func (n *newest) byResult() map[string]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.results)
}

func size(run *wire.Run) int {
	return len(run.Stdout.Head) + len(run.Stdout.Tail) + len(run.Stderr.Head) + len(run.Stderr.Tail)
}
