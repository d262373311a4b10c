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
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
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
	registry *prometheus.Registry

	events, refused, spawnErrors, reloads *closed
	queue                                 prometheus.Histogram
	verdicts                              map[Decision]prometheus.Observer
	asks                                  map[string]prometheus.Observer // by what ended them
	reloaded, reloadedAt                  prometheus.Gauge

	runs      *prometheus.CounterVec
	durations *prometheus.HistogramVec
	results   []string
	hooks     atomic.Pointer[map[string]*series] // by name as given; never changed

	mu    sync.Mutex         // guards what follows, and which series runs and durations have
	shown map[string]*series // by label
}

// Decision is the outcome of a verdict.
type Decision string

// The decisions there are.
const (
	Allowed Decision = "allowed"
	Denied  Decision = "denied"
	Asked   Decision = "asked" // a person is to be asked
)

// Times in seconds. Runs end after 10 minutes at the latest, an event may wait on
// disk for hours, an agent waits for a verdict, a person takes minutes.
var (
	runBuckets     = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 15, 60}
	queueBuckets   = []float64{.0005, .001, .005, .01, .05, .1, .5, 1, 5, 30, 300, 3600}
	verdictBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 15, 60}
	askBuckets     = []float64{1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600}
)

// New makes a registry of its own: two of them share nothing.
func New(o Options) *Metrics {
	m := &Metrics{registry: prometheus.NewPedanticRegistry(), results: o.Results}
	m.events = m.closed("hookd_events_total",
		"Events accepted, by the name in the contract table; other for custom events.", "event_class", o.Events)
	m.refused = m.closed("hookd_refused_total",
		"Requests and lines on the socket that were refused, by the code of the error.", "code", o.Codes)
	m.spawnErrors = m.closed("hookd_spawn_errors_total",
		"Runs whose process could not be started, by reason.", "reason", o.Reasons)
	m.reloads = m.closed("hookd_reload_total",
		"Reloads of settings and hooks; a failure keeps last good versions.", "result", []string{"success", "failure"})
	m.queue = m.histogram("hookd_queue_seconds",
		"Time from accepting an event to the start of a run for it.", queueBuckets)
	m.reloaded = m.gauge("hookd_config_last_reload_successful", "1 if the last reload found nothing broken.")
	m.reloadedAt = m.gauge("hookd_config_last_reload_success_timestamp_seconds",
		"When a reload last found nothing broken, in seconds since 1970.")
	m.addVerdicts()
	m.addAsks(o.Asks)
	m.addRuns()
	m.addBuild(o)
	m.registry.MustRegister(collectors.NewGoCollector())
	m.registry.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if o.Load != nil {
		m.registry.MustRegister(loadCollector{o.Load})
	}
	return m
}

func (m *Metrics) addVerdicts() {
	vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "hookd_verdict_seconds",
		Help:    "Time from accepting a decidable event to its verdict, without that of a person, by what it says.",
		Buckets: verdictBuckets,
	}, []string{"decision"})
	m.registry.MustRegister(vec)
	m.verdicts = map[Decision]prometheus.Observer{}
	for _, d := range []Decision{Allowed, Denied, Asked} {
		m.verdicts[d] = vec.WithLabelValues(string(d))
	}
}

func (m *Metrics) addAsks(by []string) {
	vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "hookd_ask_seconds",
		Help:    "Time that calls were held for a person's answer, by what ended that.",
		Buckets: askBuckets,
	}, []string{"by"})
	m.registry.MustRegister(vec)
	m.asks = map[string]prometheus.Observer{}
	for _, b := range by {
		m.asks[b] = vec.WithLabelValues(b)
	}
}

func (m *Metrics) addBuild(o Options) {
	build := m.gauge("hookd_build_info", "1, with the build in its labels.", prometheus.Labels{
		"version": label(o.Version), "commit": label(o.Commit), "goversion": runtime.Version(),
	})
	build.Set(1)
}

func (m *Metrics) gauge(name, help string, labels ...prometheus.Labels) prometheus.Gauge {
	opts := prometheus.GaugeOpts{Name: name, Help: help}
	if len(labels) > 0 {
		opts.ConstLabels = labels[0]
	}
	g := prometheus.NewGauge(opts)
	m.registry.MustRegister(g)
	return g
}

func (m *Metrics) histogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	m.registry.MustRegister(h)
	return h
}

// closed counts by a label whose values are known. All of them are there from
// the start, at 0, so that a first increase is seen as one.
type closed struct {
	counters map[string]prometheus.Counter
	other    prometheus.Counter
}

func (m *Metrics) closed(name, help, by string, values []string) *closed {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{by})
	m.registry.MustRegister(vec)
	c := &closed{counters: map[string]prometheus.Counter{}}
	for _, v := range values {
		c.counters[v] = vec.WithLabelValues(v)
	}
	if by != "result" {
		c.other = vec.WithLabelValues(Other)
	}
	return c
}

func (c *closed) inc(value string) { c.add(value, 1) }

func (c *closed) add(value string, n int) {
	if counter, ok := c.counters[value]; ok {
		counter.Add(float64(n))
	} else if c.other != nil {
		c.other.Add(float64(n))
	}
}

// Accepted counts n events of one name.
func (m *Metrics) Accepted(event string, n int) { m.events.add(event, n) }

// Refused counts a refusal by its code.
func (m *Metrics) Refused(code string) { m.refused.inc(code) }

// Decided counts a verdict that came after took, without the time of a person.
func (m *Metrics) Decided(d Decision, took time.Duration) {
	if o := m.verdicts[d]; o != nil {
		o.Observe(took.Seconds())
	}
}

// Held counts an ask that was held for took; by is the cause of its end, one of Options.Asks.
func (m *Metrics) Held(by string, took time.Duration) {
	if o := m.asks[by]; o != nil {
		o.Observe(took.Seconds())
	}
}

// Reloaded notes a reload that ended at the given time; ok means that nothing
// was broken.
func (m *Metrics) Reloaded(ok bool, at time.Time) {
	if !ok {
		m.reloads.inc("failure")
		m.reloaded.Set(0)
		return
	}
	m.reloads.inc("success")
	m.reloaded.Set(1)
	m.reloadedAt.Set(float64(at.UnixMilli()) / 1000)
}

// Handler serves GET /metrics in the formats of Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling:       promhttp.ContinueOnError, // one gauge that cannot be read must not hide the others
		DisableCompression:  true,                     // on a local socket compression costs more than it saves
		MaxRequestsInFlight: 8,
	})
}

// Gatherer gives the content of a scrape, for tests and tools.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// Describe gives a description of each metric, also of those without a series.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) { m.registry.Describe(ch) }
