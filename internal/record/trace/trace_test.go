package trace

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/record/otlp"
)

// collector is a stand-in that decodes the requests that it gets.
type collector struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex
	answers  []int // statuses of the next requests; none = 200
	requests []http.Header
	spans    []otlp.Span
	resource map[string]string
}

func newCollector(t *testing.T, answers ...int) *collector {
	t.Helper()
	c := &collector{t: t, answers: answers}
	c.Server = httptest.NewServer(http.HandlerFunc(c.take))
	t.Cleanup(c.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	return c
}

func (c *collector) take(w http.ResponseWriter, r *http.Request) {
	var in io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		var err error
		if in, err = gzip.NewReader(r.Body); err != nil {
			c.t.Error(err)
			return
		}
	}
	body, err := io.ReadAll(in)
	if err != nil {
		c.t.Error(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, r.Header.Clone())
	if r.URL.Path != "/v1/traces" || r.Method != "POST" || r.Header.Get("Content-Type") != "application/json" {
		c.t.Errorf("got %s %s of %s", r.Method, r.URL.Path, r.Header.Get("Content-Type"))
	}
	if len(c.answers) > 0 {
		status := c.answers[0]
		c.answers = c.answers[1:]
		w.WriteHeader(status)
		return
	}
	var data otlp.Request
	if err := json.Unmarshal(body, &data); err != nil {
		c.t.Errorf("the body is no ExportTraceServiceRequest: %v", err)
	}
	for _, rs := range data.ResourceSpans {
		c.resource = attributesOf(rs.Resource.Attributes)
		for _, ss := range rs.ScopeSpans {
			c.spans = append(c.spans, ss.Spans...)
		}
	}
}

func (c *collector) byName(name string) (found []otlp.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if s.Name == name {
			found = append(found, s)
		}
	}
	return found
}

func attributesOf(list []otlp.Attribute) map[string]string {
	m := map[string]string{}
	for _, kv := range list {
		if kv.Value.String != nil {
			m[kv.Key] = *kv.Value.String
		} else {
			m[kv.Key] = ""
		}
	}
	return m
}

func start(t *testing.T, o Options) *Tracer {
	t.Helper()
	tracer, err := New(o)
	if err != nil || tracer == nil {
		t.Fatalf("got %v, %v", tracer, err)
	}
	return tracer
}

func end(t *testing.T, tracer *Tracer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	if err := tracer.Close(ctx); err != nil {
		t.Error(err)
	}
}

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// tell tells of an event with one failed run and a verdict.
func tell(tracer *Tracer, e Traced) {
	e.At = at
	tracer.Ran(e, TracedRun{ID: "run-" + e.ID, Hook: "guard\xff", Result: "failed", Failed: true, Started: at.Add(time.Second), Duration: 2 * time.Second})
	tracer.Decided(e, "denied")
	tracer.Accepted(e, 1)
}

func TestSpansOfAnEvent(t *testing.T) {
	c := newCollector(t)
	tracer := start(t, Options{Version: "v9"})
	tell(tracer, Traced{
		ID: "01ABC", Name: "pre_tool_use", Session: "s-1", AgentName: "codex", Tool: "shell", Call: "call_1",
	})
	end(t, tracer)
	said := map[string]string{
		"gen_ai.operation.name": "execute_tool", "gen_ai.conversation.id": "s-1", "gen_ai.agent.name": "codex",
		"gen_ai.tool.name": "shell", "gen_ai.tool.call.id": "call_1",
	}
	for _, s := range c.spans {
		got := map[string]string{}
		for _, a := range s.Attributes {
			if strings.HasPrefix(a.Key, "gen_ai.") {
				got[a.Key] = *a.Value.String
			}
		}
		if !maps.Equal(got, said) {
			t.Errorf("%s says %v, want %v", s.Name, got, said)
		}
	}

	if c.resource["service.name"] != "hookd" || c.resource["service.version"] != "v9" {
		t.Errorf("resource %v", c.resource)
	}
	accept := c.byName("accept")
	if len(c.spans) != 4 || len(accept) != 1 {
		t.Fatalf("got %d spans: %v", len(c.spans), c.spans)
	}
	root := accept[0]
	if len(root.ParentSpanID) != 0 || root.Kind != otlp.KindServer {
		t.Errorf("accept: parent %s, kind %d", root.ParentSpanID, root.Kind)
	}
	for _, want := range []struct {
		name   string
		from   time.Duration
		to     time.Duration // -1 = the time of the call
		status int
		attrs  map[string]string
	}{
		{"queue", 0, time.Second, 0, map[string]string{"hookd.event": "pre_tool_use", "hookd.hook": "guard\uFFFD", "hookd.run_id": "run-01ABC"}},
		{"run", time.Second, 3 * time.Second, otlp.StatusError, map[string]string{"hookd.event": "pre_tool_use", "hookd.hook": "guard\uFFFD", "hookd.run_id": "run-01ABC", "hookd.result": "failed"}},
		{"verdict", 0, -1, 0, map[string]string{"hookd.event": "pre_tool_use", "hookd.decision": "denied"}},
	} {
		found := c.byName(want.name)
		if len(found) != 1 {
			t.Errorf("%d spans %s", len(found), want.name)
			continue
		}
		s := found[0]
		if s.TraceID != root.TraceID || s.ParentSpanID != root.SpanID {
			t.Errorf("%s: trace %s below %s, want %s below %s", s.Name, s.TraceID, s.ParentSpanID, root.TraceID, root.SpanID)
		}
		if got := time.Unix(0, int64(s.Start)).Sub(at); got != want.from {
			t.Errorf("%s begins at %s, want %s", s.Name, got, want.from)
		}
		if got := time.Unix(0, int64(s.End)).Sub(at); want.to >= 0 && got != want.to {
			t.Errorf("%s ends at %s, want %s", s.Name, got, want.to)
		}
		if s.Status.Code != want.status {
			t.Errorf("%s: status %v", s.Name, s.Status)
		}
		got := attributesOf(s.Attributes)
		maps.DeleteFunc(got, func(key, _ string) bool { return said[key] != "" })
		for key, value := range want.attrs {
			if got[key] != value {
				t.Errorf("%s: %s is %q, want %q", s.Name, key, got[key], value)
			}
		}
		if len(got) != len(want.attrs) {
			t.Errorf("%s tells %v, want %v", s.Name, got, want.attrs)
		}
	}
}

func TestTraceparent(t *testing.T) {
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for _, test := range []struct {
		name, traceparent, wantTrace, wantParent string
		spans                                    int
	}{
		{"sampled", "00-" + trace + "-" + parent + "-01", trace, parent, 4},
		{"not sampled", "00-" + trace + "-" + parent + "-00", "", "", 0},
		{"broken", "00-zz-1", "", "", 4},
		{"hostile", strings.Repeat("0", 1<<16) + "\r\nX: y", "", "", 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCollector(t)
			tracer := start(t, Options{})
			tell(tracer, Traced{ID: "01ABC", Name: "agent:end", Traceparent: test.traceparent, Tracestate: "vendor=1"})
			end(t, tracer)
			if len(c.spans) != test.spans {
				t.Fatalf("%d spans, want %d", len(c.spans), test.spans)
			}
			if test.spans == 0 {
				return
			}
			root := c.byName("accept")[0]
			if got := root.ParentSpanID; got != test.wantParent {
				t.Errorf("parent %s, want %s", got, test.wantParent)
			}
			if got := root.TraceID; test.wantTrace != "" && got != test.wantTrace {
				t.Errorf("trace %s, want %s", got, test.wantTrace)
			}
			if test.wantTrace != "" && (root.TraceState != "vendor=1" || root.Flags != 0x301) {
				t.Errorf("state %q, flags %x", root.TraceState, root.Flags)
			}
			for _, s := range c.spans {
				if s.TraceID != root.TraceID {
					t.Errorf("%s is of another trace", s.Name)
				}
			}
		})
	}
}

// The sampler of OpenTelemetry's own variables keeps an event's spans together.
func TestSampling(t *testing.T) {
	c := newCollector(t)
	t.Setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
	t.Setenv("OTEL_TRACES_SAMPLER_ARG", "0.5")
	tracer := start(t, Options{})
	const n = 100
	for i := range n {
		tell(tracer, Traced{ID: strings.Repeat("x", i+1), Name: "agent:end"})
	}
	end(t, tracer)
	count := map[string]int{}
	for _, s := range c.spans {
		count[s.TraceID]++
	}
	if len(count) < n/4 || len(count) > n*3/4 {
		t.Errorf("%d of %d traces", len(count), n)
	}
	for id, spans := range count {
		if spans != 4 {
			t.Errorf("trace %s has %d spans", id, spans)
		}
	}
}

func TestOff(t *testing.T) {
	for _, env := range []map[string]string{
		{},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:1", "OTEL_SDK_DISABLED": "TRUE"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:1", "OTEL_TRACES_EXPORTER": "none"},
	} {
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
		for k, v := range env {
			t.Setenv(k, v)
		}
		tracer, err := New(Options{})
		if tracer != nil || err != nil {
			t.Errorf("%v: got %v, %v", env, tracer, err)
		}
		tell(tracer, Traced{ID: "1", Name: "agent:end"})
		if err := tracer.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestVariablesThatCannotBeUsed(t *testing.T) {
	for _, test := range []struct{ name, value, want string }{
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318", "http://"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://[::1", "http://"},
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "only http/json"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "token", "name=value"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "token=s3cret%0d%0aX: y", "name=value"},
		{"OTEL_EXPORTER_OTLP_TIMEOUT", "10s", "milliseconds"},
		{"OTEL_TRACES_SAMPLER", "jaeger_remote", "does not know"},
		{"OTEL_BSP_MAX_QUEUE_SIZE", "-1", "from 1"},
		{"OTEL_EXPORTER_OTLP_CERTIFICATE", "/does/not/exist", "no such file"},
	} {
		t.Run(test.name+"="+test.value, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318")
			t.Setenv(test.name, test.value)
			tracer, err := New(Options{})
			if err == nil || tracer != nil {
				t.Fatalf("got %v, %v", tracer, err)
			}
			if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("got %q, want %q in it and no secret", err, test.want)
			}
		})
	}
}

func TestHeadersAndCompression(t *testing.T) {
	c := newCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20abc, x-team=hooks")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	t.Setenv("OTEL_SERVICE_NAME", "hookd-laptop")
	tracer := start(t, Options{})
	tell(tracer, Traced{ID: "1", Name: "agent:end"})
	end(t, tracer)
	if len(c.requests) != 1 || len(c.spans) != 4 {
		t.Fatalf("%d requests, %d spans", len(c.requests), len(c.spans))
	}
	h := c.requests[0]
	if h.Get("Authorization") != "Bearer abc" || h.Get("X-Team") != "hooks" || h.Get("Content-Encoding") != "gzip" {
		t.Errorf("headers %v", h)
	}
	if c.resource["service.name"] != "hookd-laptop" {
		t.Errorf("resource %v", c.resource)
	}
}

func TestBusyCollectorIsTriedAgain(t *testing.T) {
	c := newCollector(t, 503)
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "60000")
	trouble := make(chan error, 10)
	tracer := start(t, Options{Trouble: func(err error) { trouble <- err }})
	tell(tracer, Traced{ID: "1", Name: "agent:end"})
	end(t, tracer)
	if len(c.requests) != 2 || len(c.spans) != 4 || len(trouble) != 0 {
		t.Errorf("%d requests, %d spans, %d troubles", len(c.requests), len(c.spans), len(trouble))
	}
}

// One message when it begins, one when it ends, whatever happens in between.
func TestTroubleIsToldOnce(t *testing.T) {
	c := newCollector(t, 400, 500, 404)
	var told []error
	client, err := newClient(func(err error) { told = append(told, err) })
	if err != nil {
		t.Fatal(err)
	}
	defer client.close()
	for range 5 {
		client.send([]byte("{}"), nil)
	}
	if len(c.requests) != 5 || len(told) != 2 || told[0] == nil || told[1] != nil {
		t.Errorf("%d requests, told %v", len(c.requests), told)
	}
}

// A collector that never answers costs neither the caller nor the end.
func TestStuckCollector(t *testing.T) {
	release := make(chan struct{})
	arrived := make(chan struct{}, 100)
	stuck := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived <- struct{}{}; <-release }))
	defer stuck.Close()
	defer close(release)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", stuck.URL)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
	tracer := start(t, Options{})
	tell(tracer, Traced{ID: "1", Name: "agent:end"})
	<-arrived
	for range 10_000 { // far more than the queue holds: dropped, not waited for
		tell(tracer, Traced{ID: "2", Name: "agent:end"})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := tracer.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A collector of one's own is trusted by its certificate, and asks for ours.
func TestCertificates(t *testing.T) {
	c := newCollector(t)
	s := httptest.NewUnstartedServer(c.Config.Handler)
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12, ClientAuth: tls.RequireAnyClientCert}
	s.StartTLS()
	defer s.Close()
	own := s.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]pem.Block{
		"CERTIFICATE":        {Type: "CERTIFICATE", Bytes: own.Certificate[0]},
		"CLIENT_CERTIFICATE": {Type: "CERTIFICATE", Bytes: own.Certificate[0]},
		"CLIENT_KEY":         {Type: "PRIVATE KEY", Bytes: key},
	} {
		file := filepath.Join(t.TempDir(), name)
		hooktest.Write(t, file, string(pem.EncodeToMemory(&b)), 0o600)
		t.Setenv("OTEL_EXPORTER_OTLP_"+name, file)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	tracer := start(t, Options{Trouble: func(err error) { t.Error(err) }})
	tell(tracer, Traced{ID: "1", Name: "agent:end"})
	end(t, tracer)
	if len(c.spans) != 4 {
		t.Errorf("%d spans", len(c.spans))
	}
}

// Spans without room, and spans that the collector throws away, are trouble.
func TestLostSpansAreTold(t *testing.T) {
	c := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"partialSuccess":{"rejectedSpans":"3"}}`)
	}))
	defer c.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	trouble := make(chan error, 10)
	tracer := start(t, Options{Trouble: func(err error) { trouble <- err }})
	tell(tracer, Traced{ID: "1", Name: "agent:end"})
	end(t, tracer)
	if err := <-trouble; err == nil || !strings.Contains(err.Error(), "thrown 3 spans") {
		t.Errorf("told %v", err)
	}

	newCollector(t)
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "2")
	full, err := newTracer(Options{Trouble: func(err error) { trouble <- err }})
	if err != nil {
		t.Fatal(err)
	}
	tell(full, Traced{ID: "1", Name: "agent:end"})
	go full.run()
	end(t, full)
	if err := <-trouble; err == nil || !strings.HasPrefix(err.Error(), "2 spans are dropped") {
		t.Errorf("told %v", err)
	}
}
