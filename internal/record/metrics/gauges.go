package metrics

import (
	"time"

	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/wire"
)

// Load is the state of the daemon at a scrape. The keys of its maps become values of
// labels: they must be of a fixed list.
type Load struct {
	Depth       map[string]int // runs that wait, by lane
	Inflight    map[string]int // runs under way, by lane
	QueueBytes  int64          // of payload in memory
	Oldest      time.Duration  // age of the oldest event whose observers have not all ended; 0 = none
	Hooks       map[string]int // by state
	Subscribers int
	Gaps        uint64        // gap records sent to subscribers
	Store       *store.Health // nil = none
	Forward     []wire.Forward
	Fleet       *Fleet         // nil = the machine is in none
	Policy      map[string]int // by name: 1 while its source can be read and it is in force, else 0
}

// Fleet is how far this machine is behind in its fleet. The counts are since the start.
type Fleet struct {
	Up                            bool           // a server answers, and has the streams
	Directed                      bool           // the newest directive is in force, or there is none
	Waiting                       map[string]int // by what waits
	Lag                           time.Duration  // age of the oldest that waits; 0 = nothing does
	Sent, Taken, Doubles, Refused uint64         // events
}

// reading is one metric that is read at a scrape.
type reading struct {
	name, help, kind string
	labels           []string
	value            func(Load) float64
	by               func(Load) map[string]int   // instead of value, when there is a label
	store            func(*store.Health) float64 // instead of value, when it is the store's
	each             func(wire.Forward) float64  // instead of value, of a target
	fleet            func(*Fleet) float64        // instead of value, when it is the fleet's
}

func loadGauge(name, help string, value func(Load) float64) reading {
	return reading{name: name, help: help, kind: gauge, value: value}
}

func loadGauges(name, label, help string, by func(Load) map[string]int) reading {
	return reading{name: name, help: help, kind: gauge, labels: []string{label}, by: by}
}

func storeGauge(name, help string, value func(*store.Health) float64) reading {
	return reading{name: name, help: help, kind: gauge, store: value}
}

func targetGauge(name, help string, value func(wire.Forward) float64) reading {
	return reading{name: name, help: help, kind: gauge, labels: []string{"target"}, each: value}
}

func fleetGauge(name, help string, value func(*Fleet) float64) reading {
	return reading{name: name, help: help, kind: gauge, fleet: value}
}

// counter makes it a metric that only grows.
func (r reading) counter() reading {
	r.kind = counter
	return r
}

var readings = []reading{
	loadGauges("hookd_queue_depth", "lane",
		"Runs that wait, by lane; lane retry holds runs that wait for their next attempt.",
		func(l Load) map[string]int { return l.Depth }),
	loadGauges("hookd_inflight", "lane", "Runs under way, by lane.",
		func(l Load) map[string]int { return l.Inflight }),
	loadGauge("hookd_queue_bytes", "Payload in memory of events whose observers have not all ended.",
		func(l Load) float64 { return float64(l.QueueBytes) }),
	loadGauge("hookd_queue_oldest_age_seconds",
		"Age of the oldest event in memory whose observers have not all ended; 0 if there is none.",
		func(l Load) float64 { return l.Oldest.Seconds() }),
	loadGauges("hookd_hooks", "state", "Hooks, by state.",
		func(l Load) map[string]int { return l.Hooks }),
	loadGauge("hookd_subscribers", "Connections that follow the stream.",
		func(l Load) float64 { return float64(l.Subscribers) }),
	loadGauge("hookd_subscriber_dropped_total",
		"Times that a subscriber was too slow, or came back too late, and got a gap for the records it missed.",
		func(l Load) float64 { return float64(l.Gaps) }).counter(),

	storeGauge("hookd_store_up", "1 while the database accepts events; 0 while its disk is full or broken.",
		func(s *store.Health) float64 { return boolean(s.Err == nil) }),
	storeGauge("hookd_store_bytes", "Size of the database, without its log.",
		func(s *store.Health) float64 { return float64(s.Bytes) }),
	storeGauge("hookd_store_events", "Events kept in the database.",
		func(s *store.Health) float64 { return float64(s.Events) }),
	storeGauge("hookd_store_runs", "Runs kept in the database.",
		func(s *store.Health) float64 { return float64(s.Runs) }),
	storeGauge("hookd_spool_events", "Events on disk with runs that have not ended.",
		func(s *store.Health) float64 { return float64(s.PendingEvents) }),
	storeGauge("hookd_spool_runs", "Runs on disk that have not ended.",
		func(s *store.Health) float64 { return float64(s.PendingRuns) }),
	storeGauge("hookd_spool_bytes", "Payload on disk of events with runs that have not ended.",
		func(s *store.Health) float64 { return float64(s.PendingBytes) }),
	storeGauge("hookd_dead_letters", "Runs that were given up.",
		func(s *store.Health) float64 { return float64(s.DeadLetters) }),
	storeGauge("hookd_journal_events", "Accepted events that are in the journal and not in the database yet.",
		func(s *store.Health) float64 { return float64(s.Journaled) }),
	storeGauge("hookd_journal_bytes", "Size of the journal on disk.",
		func(s *store.Health) float64 { return float64(s.JournalBytes) }),
	storeGauge("hookd_store_backlog_records", "Records that wait to be written to the database.",
		func(s *store.Health) float64 { return float64(s.Backlog) }),
	storeGauge("hookd_store_dropped_total",
		"Records that history lost: there was no room for them while the disk failed, or they made no sense.",
		func(s *store.Health) float64 { return float64(s.Dropped) }).counter(),

	storeGauge("hookd_store_lost_total",
		"Accepted runs or events that were lost or set aside: their files were damaged, deleted or not to be read.",
		func(s *store.Health) float64 { return float64(s.Lost) }).counter(),
	storeGauge("hookd_store_losses", "Losses that wait for `hookd recover`: each is a damaged, missing or unreadable file.",
		func(s *store.Health) float64 { return float64(s.Losses) }),
	storeGauge("hookd_audit_records",
		"Number of the newest record in the audit chain: it grows with each denial and change, also over restarts.",
		func(s *store.Health) float64 { return float64(s.Audited) }),

	targetGauge("hookd_forward_up", "1 while decisions reach the target; 0 while attempts fail.",
		func(f wire.Forward) float64 { return boolean(f.Error == "") }),
	targetGauge("hookd_forward_waiting", "Decisions that were not handed on to the target yet, 10000 at most.",
		func(f wire.Forward) float64 { return float64(f.Waiting) }),
	targetGauge("hookd_forward_lag_seconds", "Age of the oldest decision that was not handed on; 0 if there is none.",
		func(f wire.Forward) float64 { return lag(f.Oldest).Seconds() }),
	targetGauge("hookd_forward_sent_total", "Decisions that were handed on to the target.",
		func(f wire.Forward) float64 { return float64(f.Sent) }).counter(),
	targetGauge("hookd_forward_refused_total", "Decisions that the target said it has thrown away.",
		func(f wire.Forward) float64 { return float64(f.Refused) }).counter(),
	targetGauge("hookd_forward_failures_total", "Attempts to hand decisions on that failed.",
		func(f wire.Forward) float64 { return float64(f.Failed) }).counter(),
	targetGauge("hookd_forward_missed_total", "Decisions that were pruned before they were handed on.",
		func(f wire.Forward) float64 { return float64(f.Missed) }).counter(),

	loadGauges("hookd_policy_up", "policy",
		"1 while the last look at the policy's source found nothing wrong; no series without a policy.",
		func(l Load) map[string]int { return l.Policy }),
	fleetGauge("hookd_fleet_up", "1 while a server of the fleet answers and has its streams.",
		func(f *Fleet) float64 { return boolean(f.Up) }),
	fleetGauge("hookd_fleet_directive_up", "1 while the newest directive of the fleet is in force, or there is none.",
		func(f *Fleet) float64 { return boolean(f.Directed) }),
	loadGauges("hookd_fleet_waiting", "what",
		"What this machine has for the fleet: events and decisions that were not sent yet, and events that the servers never take.",
		func(l Load) map[string]int {
			if l.Fleet == nil {
				return nil
			}
			return l.Fleet.Waiting
		}),
	fleetGauge("hookd_fleet_lag_seconds", "Age of the oldest event or decision that was not sent to the fleet; 0 if there is none.",
		func(f *Fleet) float64 { return f.Lag.Seconds() }),
	fleetGauge("hookd_fleet_sent_total", "Events that the servers of the fleet have.",
		func(f *Fleet) float64 { return float64(f.Sent) }).counter(),
	fleetGauge("hookd_fleet_taken_total", "Events of other machines that were accepted here.",
		func(f *Fleet) float64 { return float64(f.Taken) }).counter(),
	fleetGauge("hookd_fleet_doubles_total", "Events of other machines that came again after they were accepted here.",
		func(f *Fleet) float64 { return float64(f.Doubles) }).counter(),
	fleetGauge("hookd_fleet_refused_total", "Messages of the fleet that were not what they should be.",
		func(f *Fleet) float64 { return float64(f.Refused) }).counter(),
}

// lag is the age of the oldest thing that waits; nil = nothing does.
func lag(oldest *time.Time) time.Duration {
	if oldest == nil {
		return 0
	}
	return time.Since(*oldest)
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// read takes the series out of l.
func (r reading) read(l Load) *metric {
	m := &metric{name: r.name, help: r.help, kind: r.kind, labels: r.labels}
	switch {
	case r.by != nil:
		for value, n := range r.by(l) {
			m.with(value).set(float64(n))
		}
	case r.value != nil:
		m.with().set(r.value(l))
	case r.each != nil:
		for _, f := range l.Forward {
			m.with(f.Name).set(r.each(f))
		}
	case r.fleet != nil:
		if l.Fleet != nil {
			m.with().set(r.fleet(l.Fleet))
		}
	case l.Store != nil:
		m.with().set(r.store(l.Store))
	}
	return m
}
