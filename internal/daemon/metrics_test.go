package daemon

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode/utf8"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/events"
)

// request sends one request over the socket and returns status and body.
func (h *house) request(method, path, body string, header http.Header) (int, string) {
	h.t.Helper()
	web := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", h.config.Socket)
		},
	}}
	req, err := http.NewRequestWithContext(h.t.Context(), method, "http://hookd"+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	for k, v := range header {
		req.Header[k] = v
	}
	res, err := web.Do(req)
	if err != nil {
		h.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// scrape is the answer for Prometheus: every family by name. hookd's series are
// `name{label,label}` to value, histograms by their counts.
func (h *house) scrape() (map[string]*dto.MetricFamily, map[string]float64) {
	h.t.Helper()
	status, text := h.request("GET", "/metrics", "", nil)
	if status != 200 || !utf8.ValidString(text) {
		h.t.Fatalf("status %d, valid UTF-8 %v", status, utf8.ValidString(text))
	}
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		h.t.Fatalf("%v in\n%s", err, text)
	}
	series := map[string]float64{}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			series[name+"{"+strings.Join(labels, ",")+"}"] = m.GetCounter().
				GetValue() +
				m.GetGauge().
					GetValue() +
				float64(
					m.GetHistogram().GetSampleCount(),
				)
		}
	}
	return families, series
}

// wantSeries waits until each series has its value: runs of observers end when
// they end.
func (h *house) wantSeries(want map[string]float64) {
	h.t.Helper()
	var wrong []string
	defer func() {
		for _, w := range wrong {
			h.t.Error(w)
		}
	}()
	h.until("the metrics are right", func() bool {
		_, got := h.scrape()
		wrong = nil
		for name, value := range want {
			if v, there := got[name]; !there || v != value {
				wrong = append(wrong, fmt.Sprintf("%s is %v (%v), want %v", name, v, there, value))
			}
		}
		return len(wrong) == 0
	})
}

// A scrape of a real daemon counts the events that were sent and the hooks that ran.
func TestMetricsCountWhatHappened(t *testing.T) {
	home := newHome(t)
	writeHook(t, home, "fine", "events: [agent:end]\n", "exit 0\n")
	writeHook(t, home, "fails", "events: [agent:end]\n", "exit 3\n")
	writeHook(t, home, "slow", "events: [session:start]\ntimeout: 100ms\n", "exec sleep 60\n")
	writeHook(t, home, "guard", "events: [pre_tool_use]\n", "exit 2\n")
	broken := writeHook(t, home, "broken", "events: [session:end]\n", "")
	writeFile(t, filepath.Join(broken, "run.sh"), "#!/no/such/interpreter\n", 0o755)
	h := start(t, home, nil)

	for range 3 {
		h.emit(`{"event":"agent:end"}`)
	}
	h.emit(`{"event":"session:start"}`)
	h.emit(`{"event":"session:end","wait":true}`)
	h.emit(`{"event":"pre_tool_use","wait":true,"data":{"tool_name":"shell"}}`)
	h.emit(`{"event":"stop","wait":true}`) // docker-agent's agent:end
	h.emit(`{"event":"my-app:done"}`)

	h.wantSeries(map[string]float64{
		"hookd_events_total{agent:end}": 3, "hookd_events_total{session:start}": 1, "hookd_events_total{session:end}": 1,
		"hookd_events_total{pre_tool_use}": 1, "hookd_events_total{other}": 1, "hookd_events_total{gateway:startup}": 1,
		"hookd_runs_total{fine,ok}": 4, "hookd_runs_total{fine,failed}": 0, "hookd_runs_total{fails,failed}": 4,
		"hookd_runs_total{slow,timeout}": 1, "hookd_runs_total{guard,deny}": 1, "hookd_runs_total{broken,spawn_error}": 1,
		"hookd_run_duration_seconds{fine}": 4, "hookd_run_duration_seconds{slow}": 1, "hookd_queue_seconds{}": 10,
		"hookd_spawn_errors_total{not_found}": 1,
		"hookd_verdict_seconds{denied}":       1, "hookd_verdict_seconds{allowed}": 1, "hookd_verdict_seconds{asked}": 0,
		"hookd_queue_depth{observers}": 0, "hookd_queue_depth{decidable}": 0, "hookd_queue_depth{retry}": 0, "hookd_inflight{observers}": 0, "hookd_inflight{decidable}": 0, "hookd_queue_oldest_age_seconds{}": 0,
		"hookd_hooks{active}": 4, "hookd_hooks{degraded}": 1, "hookd_hooks{rejected}": 0, "hookd_subscribers{}": 0,
		"hookd_reload_total{success}": 1, "hookd_reload_total{failure}": 0, "hookd_config_last_reload_successful{}": 1,
		"hookd_store_up{}": 1, "hookd_spool_runs{}": 0, "hookd_dead_letters{}": 0,
	})
	families, _ := h.scrape()
	if _, there := families["hookd_run_duration_seconds"]; !there || families["go_goroutines"] == nil {
		t.Error("no histogram of runs, or no metrics of the runtime")
	}
}

// Nothing that a sender writes becomes a series or a line of its own.
func TestMetricsAreBounded(t *testing.T) {
	h := start(t, newHome(t), nil)
	_, before := h.scrape()
	for i := range 200 {
		h.emit(
			fmt.Sprintf(
				`{"event":"odd-%d:x","session_id":"s%d\n","agent_name":"a\"%d","data":{"hookd_fake":%d}}`,
				i,
				i,
				i,
				i,
			),
		)
	}
	refused := 0
	for _, body := range []string{
		`{"event":"a b"}`, `{"event":"a\nhookd_fake 1"}`, `{"event":""}`, `{"event":"é"}`, `{"event":"` + strings.Repeat("x", 129) + `"}`,
		`{"event":"hookd:reload"}`, `{`, `[]`, `{"event":"agent:end","data":7}`, "\x00",
	} {
		if status, text := h.request("POST", "/v1/events", body, nil); status/100 != 4 {
			t.Errorf("%q: %d %s", body, status, text)
		}
		refused++
	}
	for _, path := range []string{"/nowhere", "/v1/hooks/none%0a", "/v1/runs/none"} {
		h.request("GET", path, "", nil)
		refused++
	}
	h.request("DELETE", "/v1/events", "", nil)
	refused++
	refused += h.lines("{\"event\":\"a b\"}\n{bad\n{\"event\":\"agent:end\"}\n", 2)

	_, after := h.scrape()
	if after["hookd_events_total{other}"] != 200 {
		t.Errorf("%v custom events", after["hookd_events_total{other}"])
	}
	total := 0.0
	for name, v := range after {
		if strings.HasPrefix(name, "hookd_refused_total{") {
			total += v
		}
		if _, there := before[name]; !there && strings.HasPrefix(name, "hookd_") {
			t.Errorf("%s is new", name)
		}
		if strings.Contains(name, "fake") || strings.Contains(name, "odd") {
			t.Errorf("%q comes from a sender", name)
		}
	}
	if total != float64(refused) {
		t.Errorf("%v refusals, want %d", total, refused)
	}
}

// lines sends lines to the socket and returns how many of its answers refuse.
func (h *house) lines(text string, want int) (refused int) {
	h.t.Helper()
	nc, err := net.Dial("unix", h.config.Socket)
	if err != nil {
		h.t.Fatal(err)
	}
	defer nc.Close()
	if _, err := io.WriteString(nc, text); err != nil {
		h.t.Fatal(err)
	}
	nc.(*net.UnixConn).CloseWrite()
	answers := bufio.NewScanner(nc)
	for answers.Scan() {
		if bytes.Contains(answers.Bytes(), []byte(`"ok":false`)) {
			refused++
		}
	}
	if refused != want {
		h.t.Errorf("%d lines refused, want %d", refused, want)
	}
	return refused
}

// Hooks may be called anything: their names stay labels, and go with them.
func TestMetricsOfHostileNames(t *testing.T) {
	home := newHome(t)
	names := map[string]string{ // as in HOOK.yaml, as in the label
		`'x"} 1 # {hook="y'`:                 `x"} 1 # {hook="y`,
		`'back\slash\n'`:                     `back\slash\n`,
		`"\u202Egnp.exe"`:                    "\uFFFDgnp.exe",
		`"a\u2028hookd_fake 1"`:              "a\uFFFDhookd_fake 1",
		`(removed)`:                          `(removed)`,
		`"` + strings.Repeat("é", 64) + `"`:  strings.Repeat("é", 64),
		`"zero\u200Bwidth"`:                  "zero\uFFFDwidth",
		`'{{ $labels.hook }} <script> %s \'`: `{{ $labels.hook }} <script> %s \`,
	}
	dirs := 0
	for name := range names {
		dir := filepath.Join(home, "hooks", fmt.Sprint(dirs))
		dirs++
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(
			t,
			filepath.Join(dir, "HOOK.yaml"),
			"name: "+name+"\nevents: [agent:end]\ntype: script\nscript: 'true'\n",
			0o644,
		)
	}
	h := start(t, home, nil)
	if a := h.emit(`{"event":"agent:end","wait":true}`); len(a.Matched) != len(names) {
		t.Fatalf("%d hooks match: %q", len(a.Matched), a.Matched)
	}
	want := map[string]float64{}
	for _, label := range names {
		want["hookd_runs_total{"+label+",ok}"] = 1
	}
	h.wantSeries(want)

	for i := range dirs {
		if err := os.RemoveAll(filepath.Join(home, "hooks", fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.client.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.until("the series of removed hooks are gone", func() bool {
		_, got := h.scrape()
		for name := range got {
			if strings.HasPrefix(name, "hookd_runs_total{") &&
				!strings.HasPrefix(name, "hookd_runs_total{(removed),") ||
				strings.HasPrefix(name, "hookd_run_duration_seconds{") &&
					name != "hookd_run_duration_seconds{(removed)}" {
				return false
			}
		}
		return true
	})
}

// A run that ends after its hook was removed counts, without a series of its own.
func TestMetricsOfARunThatOutlivesItsHook(t *testing.T) {
	home := newHome(t)
	dir := writeHook(
		t,
		home,
		"leaving",
		"events: [agent:end]\n",
		// hookd reads output once it has seen that the file which it started is still that of the hook. A pipe holds
		// less than this output: before that the test does not take the file away.
		"head -c 3000000 /dev/zero; touch "+home+"/began; until [ -e "+home+"/go ]; do sleep 0.01; done\n",
	)
	h := start(t, home, nil)
	h.emit(`{"event":"agent:end"}`)
	h.until("it runs", func() bool { _, err := os.Stat(filepath.Join(home, "began")); return err == nil })
	h.wantSeries(map[string]float64{"hookd_inflight{observers}": 1})
	if _, got := h.scrape(); got["hookd_queue_oldest_age_seconds{}"] <= 0 {
		t.Error("the event that runs has no age")
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := h.client.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.wantSeries(map[string]float64{"hookd_hooks{active}": 0})
	writeFile(t, filepath.Join(home, "go"), "", 0o644)
	h.wantSeries(map[string]float64{"hookd_runs_total{(removed),ok}": 1, "hookd_inflight{observers}": 0})
	if _, got := h.scrape(); got["hookd_runs_total{leaving,ok}"] != 0 {
		t.Error("the series of the removed hook came back")
	}
}

// Runs that wait for a slot of the decidable lane are seen.
func TestMetricsOfAFullLane(t *testing.T) {
	home := newHome(t)
	writeHook(
		t,
		home,
		"guard",
		"events: [pre_tool_use]\ntimeout: 60s\n",
		"until [ -e "+home+"/go ]; do sleep 0.01; done\n",
	)
	h := start(t, home, func(c *config.Config) { c.SlotsDecidable = 1 })
	var senders sync.WaitGroup
	for range 3 {
		senders.Go(func() { h.emit(`{"event":"pre_tool_use","wait":true,"data":{"tool_name":"shell"}}`) })
	}
	h.wantSeries(map[string]float64{"hookd_inflight{decidable}": 1, "hookd_queue_depth{decidable}": 2})
	writeFile(t, filepath.Join(home, "go"), "", 0o644)
	senders.Wait()
	h.wantSeries(
		map[string]float64{
			"hookd_inflight{decidable}":      0,
			"hookd_queue_depth{decidable}":   0,
			"hookd_verdict_seconds{allowed}": 3,
		},
	)
}

func TestMetricsOfReloads(t *testing.T) {
	home := newHome(t)
	dir := writeHook(t, home, "a", "events: [agent:end]\n", "exit 0\n")
	h := start(t, home, nil)
	writeFile(t, filepath.Join(dir, "HOOK.yaml"), "name: a\nevents: 7: 8\n", 0o644)
	h.client.Reload(t.Context()) // its answer has the problem
	h.wantSeries(
		map[string]float64{
			"hookd_config_last_reload_successful{}": 0,
			"hookd_hooks{degraded}":                 1,
			"hookd_hooks{active}":                   0,
		},
	)
	writeHook(t, home, "a", "events: [agent:end]\n", "exit 0\n")
	if _, err := h.client.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.wantSeries(
		map[string]float64{
			"hookd_config_last_reload_successful{}": 1,
			"hookd_hooks{degraded}":                 0,
			"hookd_hooks{active}":                   1,
		},
	)
	_, got := h.scrape()
	if got["hookd_reload_total{success}"] < 2 || got["hookd_reload_total{failure}"] < 1 {
		t.Errorf("reloads: %v good, %v bad", got["hookd_reload_total{success}"], got["hookd_reload_total{failure}"])
	}
}

func TestSpawnReason(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{&fs.PathError{Op: "fork/exec", Path: "x", Err: syscall.ENOENT}, "not_found"},
		{fmt.Errorf("start: %w", syscall.EACCES), "not_permitted"},
		{syscall.ENOEXEC, "bad_format"},
		{syscall.ETXTBSY, "busy"},
		{syscall.E2BIG, "too_big"},
		{syscall.EMFILE, "no_resources"},
		{fmt.Errorf("refused: %w", &trust.Refusal{}), "untrusted"},
		{fmt.Errorf("refused: %w", &trust.Changed{Refusal: &trust.Refusal{}}), "untrusted"},
		{&trust.Changed{}, "changed"},
		{errors.New("an unknown error"), "other"},
		{nil, "other"},
	} {
		got := spawnReason(test.err)
		if got != test.want {
			t.Errorf("%v: got %s, want %s", test.err, got, test.want)
		}
		if got != "other" && !slices.Contains(spawnReasons(), got) {
			t.Errorf("%s is not among the values of the label", got)
		}
	}
}

// The lists of labels are those of the rooms: a code, result or state that is
// added there must be added here.
func TestMetricLabelsAreComplete(t *testing.T) {
	for _, test := range []struct {
		dir, typ string
		have     []string
	}{
		{"../../wire", "Code", metricCodes},
		{"../../wire", "Result", metricResults},
		{"../hooks/hook", "State", metricStates},
	} {
		want := constants(t, test.dir, test.typ)
		slices.Sort(want)
		got := slices.Sorted(slices.Values(test.have))
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", test.typ, got, want)
		}
	}
	if names := catalog.EventNames(); !slices.Contains(names, "agent:end") || events.Lookup("agent:end") == nil {
		t.Error("the names of events are not those of the contract table")
	}
}

// constants returns the values of the string constants of a type.
func constants(t *testing.T, dir, typ string) (values []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if id, ok := spec.Type.(*ast.Ident); !ok || id.Name != typ {
				return true
			}
			for _, v := range spec.Values {
				if lit, ok := v.(*ast.BasicLit); ok {
					text, err := strconv.Unquote(lit.Value)
					if err != nil {
						t.Fatal(err)
					}
					values = append(values, text)
				}
			}
			return true
		})
	}
	return values
}
