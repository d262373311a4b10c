package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Load is how the daemon stands at the moment of a scrape. The keys of its
// maps become values of labels: they must be of a fixed list.
type Load struct {
	Depth       map[string]int // runs that wait, by lane
	Inflight    map[string]int // runs under way, by lane
	QueueBytes  int64          // of payload in memory
	Oldest      time.Duration  // age of the oldest event whose observers have not all ended; 0 = none
	Hooks       map[string]int // by state
	Subscribers int
	Gaps        uint64 // gap records given to subscribers
	Store       *Store // nil = there is none
}

// Store is how the database stands.
type Store struct {
	Up            bool // it accepts
	Bytes         int64
	PendingEvents int
	PendingRuns   int
	PendingBytes  int64
	DeadLetters   int64
	Events, Runs  int64 // kept
	Backlog       int
	Dropped       uint64
}

// gauge is one metric of a Load.
type gauge struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(Load) float64
	by    func(Load) map[string]int // instead of value, when there is a label
	store func(*Store) float64      // instead of value, when it is the store's
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var gauges = []gauge{
	{desc: describe("hookd_queue_depth", "Runs that wait, by lane; lane retry holds those that wait for their next attempt.", "lane"), by: func(l Load) map[string]int { return l.Depth }},
	{desc: describe("hookd_inflight", "Runs under way, by lane.", "lane"), by: func(l Load) map[string]int { return l.Inflight }},
	{desc: describe("hookd_queue_bytes", "Payload in memory of events whose observers have not all ended."), value: func(l Load) float64 { return float64(l.QueueBytes) }},
	{desc: describe("hookd_queue_oldest_age_seconds", "Age of the oldest event in memory whose observers have not all ended; 0 if there is none."), value: func(l Load) float64 { return l.Oldest.Seconds() }},
	{desc: describe("hookd_hooks", "Hooks, by state.", "state"), by: func(l Load) map[string]int { return l.Hooks }},
	{desc: describe("hookd_subscribers", "Connections that follow the stream."), value: func(l Load) float64 { return float64(l.Subscribers) }},
	{desc: describe("hookd_subscriber_dropped_total", "Times that a subscriber was too slow, or came back too late, and got a gap for the records it missed."), kind: prometheus.CounterValue, value: func(l Load) float64 { return float64(l.Gaps) }},

	{desc: describe("hookd_store_up", "1 while the database accepts events; 0 while its disk is full or broken."), store: func(s *Store) float64 { return truth(s.Up) }},
	{desc: describe("hookd_store_bytes", "Size of the database, without its log."), store: func(s *Store) float64 { return float64(s.Bytes) }},
	{desc: describe("hookd_store_events", "Events kept in the database."), store: func(s *Store) float64 { return float64(s.Events) }},
	{desc: describe("hookd_store_runs", "Runs kept in the database."), store: func(s *Store) float64 { return float64(s.Runs) }},
	{desc: describe("hookd_spool_events", "Events on disk with runs that have not ended."), store: func(s *Store) float64 { return float64(s.PendingEvents) }},
	{desc: describe("hookd_spool_runs", "Runs on disk that have not ended."), store: func(s *Store) float64 { return float64(s.PendingRuns) }},
	{desc: describe("hookd_spool_bytes", "Payload on disk of events with runs that have not ended."), store: func(s *Store) float64 { return float64(s.PendingBytes) }},
	{desc: describe("hookd_dead_letters", "Runs that were given up."), store: func(s *Store) float64 { return float64(s.DeadLetters) }},
	{desc: describe("hookd_store_backlog_records", "Records that wait to be written to the database."), store: func(s *Store) float64 { return float64(s.Backlog) }},
	{desc: describe("hookd_store_dropped_total", "Records that history lost: there was no room for them while the disk failed, or they made no sense."), kind: prometheus.CounterValue, store: func(s *Store) float64 { return float64(s.Dropped) }},
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// loadCollector shows a Load as gauges.
type loadCollector struct{ load func() Load }

func (c loadCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, g := range gauges {
		ch <- g.desc
	}
}

func (c loadCollector) Collect(ch chan<- prometheus.Metric) {
	l := c.load()
	for _, g := range gauges {
		g.collect(l, ch)
	}
}

func (g gauge) collect(l Load, ch chan<- prometheus.Metric) {
	kind := g.kind
	if kind == 0 {
		kind = prometheus.GaugeValue
	}
	switch {
	case g.by != nil:
		for value, n := range g.by(l) {
			ch <- prometheus.MustNewConstMetric(g.desc, kind, float64(n), value)
		}
	case g.value != nil:
		ch <- prometheus.MustNewConstMetric(g.desc, kind, g.value(l))
	case l.Store != nil:
		ch <- prometheus.MustNewConstMetric(g.desc, kind, g.store(l.Store))
	}
}
