package metrics

import (
	"bytes"
	"fmt"
	"math"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/wire"
)

var testOptions = Options{
	Version: "v1", Commit: "abc", Events: []string{"agent:end", "pre_tool_use"}, Codes: []string{"bad_json"},
	Results: []string{"ok", "failed", "spawn_error"}, Reasons: []string{"not_found"}, Asks: []string{"person"},
}

// families gathers the content of a scrape, by name.
func families(t testing.TB, m *Metrics) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	text := m.text()
	byName, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return byName
}

// values are a counter's or gauge's series, as "label,label" to value;
// histograms show their counts.
func values(f *dto.MetricFamily) map[string]float64 {
	all := map[string]float64{}
	for _, m := range f.GetMetric() {
		var labels []string
		for _, l := range m.GetLabel() {
			labels = append(labels, l.GetValue())
		}
		all[strings.Join(labels, ",")] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
	}
	return all
}

func TestEventsOutsideTheTableCountAsOther(t *testing.T) {
	m := New(testOptions)
	for i := range 200 {
		m.Accepted(fmt.Sprintf("odd:%d\n", i), 1)
	}
	m.Accepted("agent:end", 1)
	m.Refused("bad_json")
	m.Refused("what\nis this 1")
	got := families(t, m)
	if v := values(got["hookd_events_total"]); len(v) != 3 || v["other"] != 200 || v["agent:end"] != 1 || v["pre_tool_use"] != 0 {
		t.Errorf("events %v", v)
	}
	if v := values(got["hookd_refused_total"]); len(v) != 2 || v["other"] != 1 || v["bad_json"] != 1 {
		t.Errorf("refusals %v", v)
	}
}

func TestRunsAreCountedByHookAndResult(t *testing.T) {
	m := New(testOptions)
	m.Publish([]string{"a", "b"})
	m.Ran(CountedRun{Hook: "a", Result: "ok", Duration: time.Second, Queued: time.Millisecond})
	m.Ran(CountedRun{Hook: "a", Result: "spawn_error", Reason: "not_found"})
	m.Ran(CountedRun{Hook: "a", Result: "no such result"})
	m.Ran(CountedRun{Hook: "stranger", Result: "ok", Duration: time.Second})
	got := families(t, m)
	runs := values(got["hookd_runs_total"])
	for key, want := range map[string]float64{"a,ok": 1, "a,failed": 0, "a,spawn_error": 1, "b,ok": 0, "(removed),ok": 1} {
		if v, ok := runs[key]; !ok || v != want {
			t.Errorf("%s is %v, %v; want %v", key, v, ok, want)
		}
	}
	if len(runs) != 9 {
		t.Errorf("%d series of runs: %v", len(runs), runs)
	}
	if d := values(got["hookd_run_duration_seconds"]); len(d) != 2 || d["a"] != 1 || d["(removed)"] != 1 {
		t.Errorf("durations %v", d)
	}
	if q := values(got["hookd_queue_seconds"]); q[""] != 2 {
		t.Errorf("queue %v: runs that did not start had no such time", q)
	}
	if s := values(got["hookd_spawn_errors_total"]); s["not_found"] != 1 || s["other"] != 0 {
		t.Errorf("spawn errors %v", s)
	}
}

// Where there are thousands of hooks, those beyond a bound have series once
// they ran.
func TestThousandsOfHooks(t *testing.T) {
	m := New(testOptions)
	var hooks []string
	for i := range 2 * maxIdle {
		hooks = append(hooks, fmt.Sprint("h", i))
	}
	late := hooks[len(hooks)-1]
	m.Publish(hooks)
	before := values(families(t, m)["hookd_runs_total"])
	m.Ran(CountedRun{Hook: late, Result: "ok", Duration: 1})
	m.Publish(hooks)
	after := values(families(t, m)["hookd_runs_total"])
	results := len(testOptions.Results)
	if _, there := before[late+",ok"]; there || len(before) != maxIdle*results {
		t.Errorf("%d series before a run, %s among them: %v", len(before), late, there)
	}
	if after[late+",ok"] != 1 || len(after) != len(before)+results {
		t.Errorf("%d series after it, %s has %v", len(after), late, after[late+",ok"])
	}
}

func TestSeriesOfRemovedHooksGo(t *testing.T) {
	m := New(testOptions)
	m.Publish([]string{"a", "b"})
	m.Ran(CountedRun{Hook: "a", Result: "ok", Duration: 1})
	m.Ran(CountedRun{Hook: "b", Result: "ok", Duration: 1})
	m.Publish([]string{"b"})
	m.Ran(CountedRun{Hook: "a", Result: "failed", Duration: 1})
	got := families(t, m)
	runs, durations := values(got["hookd_runs_total"]), values(got["hookd_run_duration_seconds"])
	if _, there := runs["a,ok"]; there || runs["b,ok"] != 1 || runs["(removed),failed"] != 1 || len(runs) != 6 {
		t.Errorf("runs %v", runs)
	}
	if _, there := durations["a"]; there || durations["b"] != 1 {
		t.Errorf("durations %v", durations)
	}
	m.Publish([]string{"a", "b"})
	if runs := values(families(t, m)["hookd_runs_total"]); runs["a,ok"] != 0 || runs["b,ok"] != 1 {
		t.Errorf("a hook that came back must begin at 0, the others go on: %v", runs)
	}
}

// Hooks come and go while runs end: nothing races, and no series stays.
func TestPublishWhileRunsEnd(t *testing.T) {
	m := New(testOptions)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 2000 {
				m.Ran(CountedRun{Hook: fmt.Sprint(i % 50), Result: "ok", Duration: 1})
			}
		})
	}
	for i := range 200 {
		m.Publish([]string{fmt.Sprint(i % 50), fmt.Sprint((i + 7) % 50)})
		families(t, m)
	}
	wg.Wait()
	m.Publish(nil)
	got := families(t, m)
	if runs := values(got["hookd_runs_total"]); len(runs) != 3 {
		t.Errorf("left: %v", runs)
	}
	if d := values(got["hookd_run_duration_seconds"]); len(d) > 1 {
		t.Errorf("left: %v", d)
	}
}

func TestLabel(t *testing.T) {
	long := strings.Repeat("é", 200)
	for _, test := range []struct{ name, in, want string }{
		{"plain", "format-on-write", "format-on-write"},
		{"blank and quotes", `a "b"} \ 1`, `a "b"} \ 1`},
		{"newline", "a\nhookd_fake 1", "a\uFFFDhookd_fake 1"},
		{"escape", "\x1b[31mred\x7f\u009b", "\uFFFD[31mred\uFFFD\uFFFD"},
		{"direction", "a\u202eb\u2066c\u200f", "a\uFFFDb\uFFFDc\uFFFD"},
		{"line separator", "a\u2028b", "a\uFFFDb"},
		{"no utf-8", "a\xff\xfeb", "a\uFFFDb"},
		{"nul", "a\x00b", "a\uFFFDb"},
		{"long", long, strings.Repeat("é", 64) + "…"},
		{"cut in a character", "x" + long, "x" + strings.Repeat("é", 63) + "…"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := label(test.in)
			if got != test.want || !utf8.ValidString(got) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Names that become one label share its series, and it stays while one is there.
func TestHooksThatLookAlike(t *testing.T) {
	m := New(testOptions)
	m.Publish([]string{"a\n", "a\r", "a\xff"})
	for _, name := range []string{"a\n", "a\r", "a\xff"} {
		m.Ran(CountedRun{Hook: name, Result: "ok", Duration: 1})
	}
	m.Publish([]string{"a\r"})
	if runs := values(families(t, m)["hookd_runs_total"]); runs["a\uFFFD,ok"] != 3 {
		t.Errorf("runs %v", runs)
	}
}

func TestReloads(t *testing.T) {
	m := New(testOptions)
	m.Reloaded(true, time.Unix(1000, 500e6))
	m.Reloaded(false, time.Unix(2000, 0))
	got := families(t, m)
	if v := values(got["hookd_reload_total"]); v["success"] != 1 || v["failure"] != 1 || len(v) != 2 {
		t.Errorf("reloads %v", v)
	}
	if v := values(got["hookd_config_last_reload_successful"]); v[""] != 0 {
		t.Errorf("last one %v", v)
	}
	if v := values(got["hookd_config_last_reload_success_timestamp_seconds"]); v[""] != 1000.5 {
		t.Errorf("last good one %v", v)
	}
}

// exercised has a series of every metric.
func exercised() *Metrics {
	o := testOptions
	o.Load = func() Load {
		return Load{
			Depth: map[string]int{"observers": 3}, Inflight: map[string]int{"decidable": 2}, Hooks: map[string]int{"active": 1},
			Oldest: time.Minute, Store: &store.Health{Bytes: 7},
			Forward: []wire.Forward{{Name: "siem", Waiting: 3}},
			Fleet:   &Fleet{Up: true, Directed: true, Waiting: map[string]int{"events": 2}, Lag: time.Minute},
			Policy:  map[string]int{"acme": 1},
		}
	}
	m := New(o)
	m.Publish([]string{"a"})
	m.Ran(CountedRun{Hook: "a", Result: "ok", Duration: 1})
	m.Decided(Denied, time.Millisecond)
	m.Held("person", time.Minute)
	m.Held("none of the list", time.Minute)
	m.Reloaded(true, time.Now())
	return m
}

func TestLoadIsReadAtAScrape(t *testing.T) {
	got := families(t, exercised())
	for name, want := range map[string]string{
		"hookd_queue_depth": "map[observers:3]", "hookd_inflight": "map[decidable:2]", "hookd_hooks": "map[active:1]",
		"hookd_queue_oldest_age_seconds": "map[:60]", "hookd_store_up": "map[:1]", "hookd_store_bytes": "map[:7]",
		"hookd_verdict_seconds": "map[allowed:0 asked:0 denied:1]", "hookd_ask_seconds": "map[person:1]",
	} {
		if v := fmt.Sprint(values(got[name])); v != want {
			t.Errorf("%s is %s, want %s", name, v, want)
		}
	}
	o := testOptions
	o.Load = func() Load { return Load{} }
	if got := families(t, New(o)); got["hookd_store_up"] != nil || got["hookd_queue_bytes"] == nil {
		t.Error("without a store there must be no metrics of one, but those of the queue")
	}
}

// Names follow the conventions: counters end in _total, nothing else does, and
// times are in seconds.
func TestLint(t *testing.T) {
	for name, f := range families(t, exercised()) {
		if f.GetHelp() == "" || f.GetType() == dto.MetricType_UNTYPED {
			t.Errorf("%s: help %q, type %s", name, f.GetHelp(), f.GetType())
		}
		if strings.HasSuffix(name, "_total") != (f.GetType() == dto.MetricType_COUNTER) {
			t.Errorf("%s is a %s", name, f.GetType())
		}
		if strings.HasSuffix(name, "_ms") || strings.HasSuffix(name, "_milliseconds") || strings.ToLower(name) != name {
			t.Errorf("%s: the unit must be seconds, and the name in small letters", name)
		}
	}
}

func TestText(t *testing.T) {
	c := &metric{name: "c_total", help: "Back\\slash,\nline.", kind: counter, labels: []string{"a", "b"}}
	c.with("z", "").add(2)
	c.with("q\"\\\n", "a\xff").add(0.5)
	h := &metric{name: "h_seconds", help: "H.", kind: histogram, labels: []string{"a"}, bounds: []float64{.0005, 1, 3600}}
	for _, v := range []float64{0, .0005, 1, 1.5, 4000} {
		h.with("x").observe(v)
	}
	g := &metric{name: "g", help: "G.", kind: gauge}
	g.with().set(math.Inf(1))
	got := string(g.append(h.append(c.append((&metric{name: "none"}).append(nil)))))
	want := `# HELP c_total Back\\slash,\nline.
# TYPE c_total counter
c_total{a="q\"\\\n",b="a` + "\uFFFD" + `"} 0.5
c_total{a="z",b=""} 2
# HELP h_seconds H.
# TYPE h_seconds histogram
h_seconds_bucket{a="x",le="0.0005"} 2
h_seconds_bucket{a="x",le="1"} 3
h_seconds_bucket{a="x",le="3600"} 4
h_seconds_bucket{a="x",le="+Inf"} 5
h_seconds_sum{a="x"} 4002.5005
h_seconds_count{a="x"} 5
# HELP g G.
# TYPE g gauge
g +Inf
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Numbers of the process are there, and are not 0.
func TestProcess(t *testing.T) {
	got := families(t, New(testOptions))
	names := []string{"go_goroutines", "go_memstats_heap_inuse_bytes", "process_cpu_seconds_total"}
	if runtime.GOOS == "linux" {
		names = append(names, "process_resident_memory_bytes")
	}
	for _, name := range names {
		if values(got[name])[""] <= 0 {
			t.Errorf("%s is %v", name, values(got[name]))
		}
	}
}

// Scrapes that do not end leave others with an answer.
func TestScrapesAreBounded(t *testing.T) {
	m := New(testOptions)
	for range maxScrapes {
		m.busy <- struct{}{}
	}
	for _, want := range []int{503, 200} {
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		if w.Code != want || want == 200 && w.Header().Get("Content-Type") != contentType {
			t.Errorf("status %d, want %d: %v", w.Code, want, w.Header())
		}
		<-m.busy
	}
}

// The cost of an event with one run: the hot path.
func BenchmarkEventAndRun(b *testing.B) {
	for _, hooks := range []int{1, 100} {
		b.Run(fmt.Sprintf("hooks=%d", hooks), func(b *testing.B) {
			m := New(testOptions)
			names := make([]string, hooks)
			for i := range names {
				names[i] = fmt.Sprintf("hook-%d", i)
			}
			m.Publish(names)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				m.Accepted("agent:end", 1)
				m.Ran(CountedRun{Hook: names[i%hooks], Result: "ok", Queued: time.Millisecond, Duration: time.Millisecond})
			}
		})
	}
}

func BenchmarkEventAndRunParallel(b *testing.B) {
	m := New(testOptions)
	m.Publish([]string{"a"})
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			m.Accepted("agent:end", 1)
			m.Ran(CountedRun{Hook: "a", Result: "ok", Queued: time.Millisecond, Duration: time.Millisecond})
		}
	})
}

func BenchmarkScrape(b *testing.B) {
	o := testOptions
	o.Results = []string{"ok", "deny", "failed", "timeout", "spawn_error", "interrupted", "dropped"}
	m := New(o)
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprintf("hook-%d", i))
	}
	m.Publish(names)
	for _, name := range names {
		m.Ran(CountedRun{Hook: name, Result: "ok", Duration: time.Millisecond})
	}
	b.ReportAllocs()
	for b.Loop() {
		m.text()
	}
}
