// Package metrics counts the work of hookd and shows it to Prometheus.
//
// It promises: counting never blocks, because all values of a label are known
// before, and a counter is found by one lookup in a map that does not change. No
// sender can make a series: the values of each label are a closed list or the names
// of hooks, and the series of a removed hook are removed. Names are cut to 128 bytes,
// and characters that would break a line or mislead a reader are replaced. There is
// no goroutine and no timer; gauges are read at a scrape.
//
// It retains nothing across a restart, does not listen, and does not read events,
// sessions or output. docs/reference/metrics.md lists all names and labels.
package metrics

import (
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Other is the value of a closed label for anything that is not on its list, such as
// the name of a custom event.
const Other = "other"

// Options of Metrics. The zero value has no list and no load.
type Options struct {
	Version, Commit string

	Events  []string // values of event_class
	Codes   []string // values of code, of refusals
	Results []string // values of result, of runs
	Reasons []string // values of reason, of runs that did not start
	Asks    []string // values of by, of asks that were held

	// Load is asked at each scrape, by several goroutines at once. nil = no
	// gauges of the daemon.
	Load func() Load
}

// Metrics is safe for concurrent use.
type Metrics struct {
	all  []*metric // not changed after New
	load func() Load
	busy chan struct{} // an element per scrape under way

	events, refused, spawnErrors, reloads *closed
	queue, reloaded, reloadedAt           *cell
	verdicts                              map[Outcome]*cell
	asks                                  map[string]*cell // by what ended them

	runs      *metric
	durations *metric
	results   []string
	hooks     atomic.Pointer[map[string]*series] // by name as given; never changed

	mu    sync.Mutex         // guards what follows, and which series runs and durations have
	shown map[string]*series // by label
}

// Outcome is a verdict's outcome, the value of the label decision.
type Outcome string

// The decisions there are.
const (
	Allowed Outcome = "allowed"
	Denied  Outcome = "denied"
	Asked   Outcome = "asked" // a person is to be asked
)

// Times in seconds. Runs end after 10 minutes at the latest, an event may wait on
// disk for hours, an agent waits for a verdict, a person takes minutes.
var (
	runBuckets     = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 15, 60}
	queueBuckets   = []float64{.0005, .001, .005, .01, .05, .1, .5, 1, 5, 30, 300, 3600}
	verdictBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 15, 60}
	askBuckets     = []float64{1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600}
)

// maxScrapes is how many scrapes may be under way.
const maxScrapes = 8

// New makes metrics of their own: two of them share nothing.
func New(o Options) *Metrics {
	m := &Metrics{load: o.Load, busy: make(chan struct{}, maxScrapes), results: o.Results}
	m.events = m.closed("hookd_events_total",
		"Events accepted, by the name in the contract table; other for custom events.", "event_class", o.Events)
	m.refused = m.closed("hookd_refused_total",
		"Requests and lines on the socket that were refused, by the code of the error.", "code", o.Codes)
	m.spawnErrors = m.closed("hookd_spawn_errors_total",
		"Runs whose process could not be started, by reason.", "reason", o.Reasons)
	m.reloads = m.closed("hookd_reload_total",
		"Reloads of settings and hooks; a failure keeps last good versions.", "result", []string{"success", "failure"})
	m.queue = m.histogram("hookd_queue_seconds",
		"Time from accepting an event to the start of a run for it.", queueBuckets).with()
	m.reloaded = m.add("hookd_config_last_reload_successful", "1 if the last reload found nothing broken.", gauge).with()
	m.reloadedAt = m.add("hookd_config_last_reload_success_timestamp_seconds",
		"When a reload last found nothing broken, in seconds since 1970.", gauge).with()
	m.addVerdicts()
	m.addAsks(o.Asks)
	m.addRuns()
	m.add("hookd_build_info", "1, with the build in its labels.", gauge, "commit", "goversion", "version").
		with(label(o.Commit), runtime.Version(), label(o.Version)).set(1)
	return m
}

func (m *Metrics) addVerdicts() {
	all := m.histogram("hookd_verdict_seconds",
		"Time from accepting a decidable event to its verdict, without that of a person, by what it says.",
		verdictBuckets, "decision")
	m.verdicts = map[Outcome]*cell{}
	for _, d := range []Outcome{Allowed, Denied, Asked} {
		m.verdicts[d] = all.with(string(d))
	}
}

func (m *Metrics) addAsks(by []string) {
	all := m.histogram("hookd_ask_seconds", "Time that calls were held for a person's answer, by what ended that.",
		askBuckets, "by")
	m.asks = map[string]*cell{}
	for _, b := range by {
		m.asks[b] = all.with(b)
	}
}

func (m *Metrics) add(name, help, kind string, labels ...string) *metric {
	added := &metric{name: name, help: help, kind: kind, labels: labels}
	m.all = append(m.all, added)
	return added
}

func (m *Metrics) histogram(name, help string, bounds []float64, labels ...string) *metric {
	added := m.add(name, help, histogram, labels...)
	added.bounds = bounds
	return added
}

// closed counts by a label whose values are known. All of them are there from
// the start, at 0, so that a first increase is seen as one.
type closed struct {
	cells map[string]*cell
	other *cell
}

func (m *Metrics) closed(name, help, by string, values []string) *closed {
	all := m.add(name, help, counter, by)
	c := &closed{cells: map[string]*cell{}}
	for _, v := range values {
		c.cells[v] = all.with(v)
	}
	if by != "result" {
		c.other = all.with(Other)
	}
	return c
}

func (c *closed) inc(value string) { c.add(value, 1) }

func (c *closed) add(value string, n int) {
	if cell, ok := c.cells[value]; ok {
		cell.add(float64(n))
	} else if c.other != nil {
		c.other.add(float64(n))
	}
}

// Accepted counts n events of one name.
func (m *Metrics) Accepted(event string, n int) { m.events.add(event, n) }

// Refused counts a refusal by its code.
func (m *Metrics) Refused(code string) { m.refused.inc(code) }

// Decided counts a verdict that came after took, without the time of a person.
func (m *Metrics) Decided(d Outcome, took time.Duration) {
	if o := m.verdicts[d]; o != nil {
		o.observe(took.Seconds())
	}
}

// Held counts an ask that was held for took; by is the cause of its end, one of Options.Asks.
func (m *Metrics) Held(by string, took time.Duration) {
	if o := m.asks[by]; o != nil {
		o.observe(took.Seconds())
	}
}

// Reloaded notes a reload that ended at the given time; ok means that nothing
// was broken.
func (m *Metrics) Reloaded(ok bool, at time.Time) {
	if !ok {
		m.reloads.inc("failure")
		m.reloaded.set(0)
		return
	}
	m.reloads.inc("success")
	m.reloaded.set(1)
	m.reloadedAt.set(float64(at.UnixMilli()) / 1000)
}

// Handler serves GET /metrics in the text format of Prometheus. It answers 503
// while maxScrapes others are under way.
func (m *Metrics) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		select {
		case m.busy <- struct{}{}:
			defer func() { <-m.busy }()
		default:
			http.Error(w, "too many scrapes are under way: try again", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(m.text()) // a client that is gone
	})
}

// text is the content of a scrape, in the order of names.
func (m *Metrics) text() (b []byte) {
	all := slices.Clone(m.all)
	for _, r := range process {
		all = append(all, r.read(Load{}))
	}
	if m.load != nil {
		l := m.load()
		for _, r := range readings {
			all = append(all, r.read(l))
		}
	}
	slices.SortFunc(all, func(a, b *metric) int { return strings.Compare(a.name, b.name) })
	for _, one := range all {
		b = one.append(b)
	}
	return b
}
