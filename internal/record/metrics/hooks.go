package metrics

import (
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"
)

// RemovedHook is the label of runs that ended after their hook was removed.
const RemovedHook = "(removed)"

// maxLabel is how many bytes of a name a label shows.
const maxLabel = 128

// maxIdle is how many hooks have series before they first ran: with thousands,
// hooks that never do would be most of the daemon's memory.
const maxIdle = 250

// CountedRun is a finished run.
type CountedRun struct {
	Hook     string        // its name
	Result   string        // of Options.Results
	Reason   string        // of Options.Reasons: why it did not start; "" = it did
	Queued   time.Duration // accepted until started
	Duration time.Duration // started until ended; 0 = it did not start
}

// series are the series of one hook.
type series struct {
	label    string
	results  atomic.Pointer[map[string]*cell] // nil until it first ran, if there are many hooks
	duration atomic.Pointer[cell]             // nil until it first ran: most hooks are idle
	gone     bool                             // guarded by Metrics.mu
}

func (m *Metrics) addRuns() {
	m.runs = m.add("hookd_runs_total", "Runs that have ended, by hook and result.", counter, "hook", "result")
	m.durations = m.histogram("hookd_run_duration_seconds",
		"Time from the start of a run to the end of its main process, by hook.", runBuckets, "hook")
	m.Publish(nil)
}

// Publish sets the names of the hooks. The series of the first 250 begin at 0, the
// others with their first run. The series of all other names are removed.
func (m *Metrics) Publish(hooks []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next, shown := map[string]*series{}, map[string]*series{}
	for _, name := range append([]string{RemovedHook}, hooks...) {
		text := label(name)
		if shown[text] == nil {
			shown[text] = m.seriesOf(text, len(shown) < maxIdle)
		}
		next[name] = shown[text]
	}
	for text, s := range m.shown {
		if shown[text] == nil {
			s.gone = true
			for _, r := range m.results {
				m.runs.remove(text, r)
			}
			m.durations.remove(text)
		}
	}
	m.shown = shown
	m.hooks.Store(&next)
}

// seriesOf returns the series with this label, new if there is none, and ready
// to be shown if asked to.
func (m *Metrics) seriesOf(label string, ready bool) *series {
	s := m.shown[label]
	if s == nil {
		s = &series{label: label}
	}
	if ready && s.results.Load() == nil {
		m.begin(s)
	}
	return s
}

// begin lets the counters of s begin at 0.
func (m *Metrics) begin(s *series) map[string]*cell {
	results := make(map[string]*cell, len(m.results))
	for _, r := range m.results {
		results[r] = m.runs.with(s.label, r)
	}
	s.results.Store(&results)
	return results
}

// Ran counts a run.
func (m *Metrics) Ran(r CountedRun) {
	hooks := *m.hooks.Load()
	s := hooks[r.Hook]
	if s == nil {
		s = hooks[RemovedHook]
	}
	if c := m.resultsOf(s)[r.Result]; c != nil {
		c.add(1)
	}
	if r.Reason != "" {
		m.spawnErrors.inc(r.Reason)
	}
	if r.Duration > 0 {
		m.queue.observe(max(0, r.Queued).Seconds())
		m.durationOf(s).observe(r.Duration.Seconds())
	}
}

// resultsOf returns the counters of s, or of removed hooks as durationOf does.
func (m *Metrics) resultsOf(s *series) map[string]*cell {
	if r := s.results.Load(); r != nil {
		return *r
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.gone {
		s = m.shown[RemovedHook]
	}
	if r := s.results.Load(); r != nil {
		return *r
	}
	return m.begin(s)
}

// durationOf returns the histogram of s, or of removed hooks when s was
// removed in between: a series that is gone does not come back.
func (m *Metrics) durationOf(s *series) *cell {
	if o := s.duration.Load(); o != nil {
		return o
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.gone {
		return m.durations.with(RemovedHook)
	}
	o := m.durations.with(s.label)
	s.duration.Store(o)
	return o
}

// label makes a name fit for a label: valid UTF-8, one line, no control and no
// direction marks, and not long.
func label(name string) string {
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(name, string(utf8.RuneError)))
	if len(text) <= maxLabel {
		return text
	}
	return strings.ToValidUTF8(text[:maxLabel], "") + "…"
}
