package daemon

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/record/otlp"
)

// collector is a stand-in of an OpenTelemetry collector.
type collector struct {
	t      *testing.T
	status int // of every answer; 0 = 200

	mu     sync.Mutex
	bodies [][]byte
	spans  map[string][]otlp.Span // by the event's name and the span's
}

func newCollector(t *testing.T, status int) *collector {
	t.Helper()
	c := &collector{t: t, status: status, spans: map[string][]otlp.Span{}}
	server := httptest.NewServer(http.HandlerFunc(c.take))
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
	return c
}

func (c *collector) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		c.t.Error(err)
	}
	var data otlp.Request
	if err := json.Unmarshal(body, &data); err != nil {
		c.t.Error(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bodies = append(c.bodies, body)
	for _, rs := range data.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				key := attribute(s, "hookd.event") + " " + s.Name
				c.spans[key] = append(c.spans[key], s)
			}
		}
	}
	if c.status != 0 {
		w.WriteHeader(c.status)
	}
}

func (c *collector) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.bodies)
}

// of returns the spans of that name, of an event with that name.
func (c *collector) of(event, name string) []otlp.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spans[event+" "+name]
}

func attribute(s otlp.Span, key string) string {
	for _, kv := range s.Attributes {
		if kv.Key == key && kv.Value.String != nil {
			return *kv.Value.String
		}
	}
	return ""
}

func TestTracesOfARealDaemon(t *testing.T) {
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	c := newCollector(t, 0)
	home := newHome(t)
	writeHook(t, home, "guard", "events: [pre_tool_use]\n", "echo s3cret-output; echo s3cret-reason >&2; exit 2\n")
	writeHook(t, home, "watch", "events: [agent:end]\n", "exit 7\n")
	h := start(t, home, nil)
	status, body := h.request(
		"POST",
		"/v1/events?wait=1",
		`{"event":"pre_tool_use","session_id":"session-1","data":{"tool_name":"shell","tool_input":{"cmd":"s3cret-payload"}}}`,
		http.Header{"Traceparent": {"00-" + trace + "-" + parent + "-01"}},
	)
	if status != 200 || !strings.Contains(body, `"allowed":false`) {
		t.Fatalf("status %d: %s", status, body)
	}
	h.emit(`{"event":"agent:end","data":{"text":"s3cret-payload"}}`)
	h.until("all spans have come", func() bool {
		for _, key := range []string{"accept", "queue", "run", "verdict"} {
			if len(c.of("pre_tool_use", key)) != 1 || key != "verdict" && len(c.of("agent:end", key)) != 1 {
				return false
			}
		}
		return true
	})
	h.stop()

	accept := c.of("pre_tool_use", "accept")[0]
	if got := accept.TraceID + " " + accept.ParentSpanID; got != trace+" "+parent {
		t.Errorf("accept is of %s, want the sender's %s %s", got, trace, parent)
	}
	own := c.of("agent:end", "accept")[0]
	if own.ParentSpanID != "" || own.TraceID == trace {
		t.Errorf("agent:end is of %s below %s", own.TraceID, own.ParentSpanID)
	}
	for event, root := range map[string]otlp.Span{"pre_tool_use": accept, "agent:end": own} {
		for _, name := range []string{"queue", "run", "verdict"} {
			for _, s := range c.of(event, name) {
				if s.TraceID != root.TraceID || s.ParentSpanID != root.SpanID {
					t.Errorf("%s of %s is not below its accept", name, event)
				}
				if s.End < s.Start || s.Start < root.Start {
					t.Errorf(
						"%s of %s: from %d to %d, accepted at %d",
						name,
						event,
						s.Start,
						s.End,
						root.Start,
					)
				}
			}
		}
	}
	guard, watch := c.of("pre_tool_use", "run")[0], c.of("agent:end", "run")[0]
	if attribute(guard, "hookd.hook") != "guard" || attribute(guard, "hookd.result") != "deny" ||
		guard.Status.Code != 0 {
		t.Errorf("run of guard: %v", guard)
	}
	if attribute(watch, "hookd.hook") != "watch" || attribute(watch, "hookd.result") != "failed" ||
		watch.Status.Code != otlp.StatusError {
		t.Errorf("run of watch: %v", watch)
	}
	if got := attribute(c.of("pre_tool_use", "verdict")[0], "hookd.decision"); got != "denied" {
		t.Errorf("verdict says %q", got)
	}
	if got := attribute(guard, "gen_ai.conversation.id") + " " + attribute(guard, "gen_ai.tool.name"); got != "session-1 shell" {
		t.Errorf("run of guard is about %q", got)
	}
	for _, b := range c.bodies {
		if bytes.Contains(b, []byte("s3cret")) {
			t.Errorf("a span shows what is private: %q", b)
		}
	}
}

// A collector that refuses, or is not there, costs one warning.
func TestTracesWithoutACollector(t *testing.T) {
	gone := hooktest.FreePort(t)
	for _, test := range []struct {
		name   string
		status int // 0 = no listener
	}{{"refuses", 400}, {"away", 0}} {
		t.Run(test.name, func(t *testing.T) {
			c := newCollector(t, test.status)
			if test.status == 0 {
				t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", fmt.Sprint("http://127.0.0.1:", gone))
				t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "50")
			}
			home := newHome(t)
			writeHook(t, home, "watch", "events: [agent:end]\n", "exit 0\n")
			h := start(t, home, nil)
			warnings := func() int { return h.logs.FilterMessage("traces do not reach the collector").Len() }
			for i := range 5 {
				if a := h.emit(`{"event":"agent:end","wait":true}`); len(a.Runs) != 1 || a.Runs[0].Result != "ok" {
					t.Fatalf("got %+v", a)
				}
				h.until(
					"a batch has failed",
					func() bool { return warnings() > 0 && (test.status == 0 || c.count() > i) },
				)
			}
			h.stop()
			if n := warnings(); n != 1 {
				t.Errorf("%d warnings", n)
			}
		})
	}
}

func TestTracesThatCannotBeSetUp(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "not an address")
	h := start(t, newHome(t), nil)
	h.emit(`{"event":"agent:end"}`)
	if h.trace != nil || h.logs.FilterMessage("no traces").Len() != 1 {
		t.Errorf("got %v, logs %v", h.trace, h.logs.All())
	}
}

func TestTracesAreOffByDefault(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	if h := start(t, newHome(t), nil); h.trace != nil {
		t.Error("there is a tracer")
	}
}
