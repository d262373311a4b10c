// Package trace sends one trace an event to an OpenTelemetry collector, with the
// spans accept, queue, run and verdict.
//
// It is off unless OTEL_EXPORTER_OTLP_ENDPOINT is set; New then returns nil, and the
// methods of a nil Tracer do nothing. When it is on, a call makes a span and puts it
// into a bounded queue: it never blocks, and a span without room is dropped. Spans
// are sent in the background, by OTLP over HTTP. A collector that is down or refuses
// costs spans and two log messages, at its beginning and its end, never an event or
// a run.
//
// The ids of an event's trace and spans follow from the event's own id, so no state
// is needed between its beginning and its end. An event that came with a W3C
// traceparent belongs to that trace. Spans have names and results, never payloads,
// output or sessions.
package trace

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/record/otlp"
)

// Options of a Tracer. The rest is set by OpenTelemetry's own variables.
type Options struct {
	Version string // of hookd
	// Trouble is called in the background: with an error when spans do not reach the
	// collector, with nil when they do again. Nil = not called.
	Trouble func(error)
}

// Tracer is safe for concurrent use. A nil Tracer is off.
type Tracer struct {
	client   *client
	sample   sampler
	resource []otlp.Attribute
	version  string
	batch    int           // spans of one request at most
	delay    time.Duration // until a batch goes that is not full
	ended    chan struct{}

	mu      sync.Mutex
	closed  bool
	dropped int            // spans without room since the last batch
	queue   chan otlp.Span // closed when no more come
}

// New returns nil when tracing is off. An error says which variable cannot be
// used.
func New(o Options) (*Tracer, error) {
	off := strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_TRACES_EXPORTER") == "none"
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" || off {
		return nil, nil
	}
	t, err := newTracer(o)
	if err != nil {
		return nil, fmt.Errorf("set up traces: %w", err)
	}
	go t.run()
	return t, nil
}

func newTracer(o Options) (t *Tracer, err error) {
	t = &Tracer{version: o.Version, resource: describe(o.Version), ended: make(chan struct{})}
	if t.client, err = newClient(o.Trouble); err != nil {
		return nil, err
	}
	if t.sample, err = newSampler(); err != nil {
		return nil, err
	}
	number := func(name, unit string, standard int) int {
		n, failed := positive(name, os.Getenv(name), unit, standard)
		err = cmp.Or(err, failed)
		return n
	}
	room := number("OTEL_BSP_MAX_QUEUE_SIZE", "a number of spans", 2048)
	t.batch = min(room, number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "a number of spans", 512))
	t.delay = time.Duration(number("OTEL_BSP_SCHEDULE_DELAY", "milliseconds", 5000)) * time.Millisecond
	limit := time.Duration(number("OTEL_BSP_EXPORT_TIMEOUT", "milliseconds", 30_000)) * time.Millisecond
	t.client.timeout = min(t.client.timeout, limit)
	if err != nil {
		return nil, err
	}
	t.queue = make(chan otlp.Span, room)
	return t, nil
}

// describe returns the attributes of the sender. OTEL_SERVICE_NAME and
// OTEL_RESOURCE_ATTRIBUTES override them.
func describe(version string) (list []otlp.Attribute) {
	said := map[string]string{"service.name": "hookd", "service.version": version}
	for pair := range strings.SplitSeq(os.Getenv("OTEL_RESOURCE_ATTRIBUTES"), ",") {
		name, value, ok := strings.Cut(pair, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			continue
		}
		said[name] = strings.TrimSpace(value)
		if plain, err := url.PathUnescape(said[name]); err == nil {
			said[name] = plain
		}
	}
	said["service.name"] = cmp.Or(strings.TrimSpace(os.Getenv("OTEL_SERVICE_NAME")), said["service.name"])
	for _, name := range slices.Sorted(maps.Keys(said)) {
		list = append(list, otlp.Texts(name, said[name])...)
	}
	return list
}

// run sends what is queued: a batch when it is full or old enough, the rest at the end.
func (t *Tracer) run() {
	defer close(t.ended)
	timer := time.NewTimer(t.delay)
	defer timer.Stop()
	var batch []otlp.Span
	for open := true; open; {
		select {
		case s, ok := <-t.queue:
			if open = ok; ok {
				batch = append(batch, s)
			}
			if ok && len(batch) < t.batch {
				continue
			}
		case <-timer.C:
		}
		t.flush(batch)
		clear(batch)
		batch = batch[:0]
		timer.Reset(t.delay)
	}
}

func (t *Tracer) flush(batch []otlp.Span) {
	if len(batch) == 0 {
		return
	}
	t.mu.Lock()
	dropped := t.dropped
	t.dropped = 0
	t.mu.Unlock()
	body, err := otlp.Spans(t.resource, t.version, batch)
	if err == nil && dropped > 0 {
		err = fmt.Errorf("%d spans are dropped: they come faster than they can be sent", dropped)
	}
	t.client.send(body, err)
}

// add queues a span. A span without room is dropped and counted.
func (t *Tracer) add(s otlp.Span) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	select {
	case t.queue <- s:
	default:
		t.dropped++
	}
}

// Close sends the spans that are left; those without time before ctx ends are dropped.
func (t *Tracer) Close(ctx context.Context) (err error) {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	if !t.closed {
		t.closed = true
		close(t.queue)
	}
	t.mu.Unlock()
	select {
	case <-t.ended:
	case <-ctx.Done():
		err = fmt.Errorf("send the last traces: %w", ctx.Err())
	}
	t.client.close()
	<-t.ended
	return err
}

// Traced is the event of a trace.
type Traced struct {
	ID, Name    string
	Traceparent string // W3C, as the sender gave it; "" = the trace begins here
	Tracestate  string
	At          time.Time // when it was accepted

	// Values that OpenTelemetry's conventions for generative AI name. So the spans join
	// the spans of the conversation; "" = not known.
	Session, AgentID, AgentName string
	Tool, Call                  string // as the agent calls the tool; the id of the call
}

// convention returns the subject of e under OpenTelemetry's names (gen_ai.*).
func (e Traced) convention() []otlp.Attribute {
	operation := ""
	if e.Tool != "" {
		operation = "execute_tool"
	}
	return otlp.Texts("gen_ai.operation.name", operation, "gen_ai.conversation.id", clean(e.Session),
		"gen_ai.agent.id", clean(e.AgentID), "gen_ai.agent.name", clean(e.AgentName),
		"gen_ai.tool.name", clean(e.Tool), "gen_ai.tool.call.id", clean(e.Call))
}

// TracedRun is a finished run for an event.
type TracedRun struct {
	ID, Hook, Result string
	Failed           bool
	Started          time.Time
	Duration         time.Duration // 0 = it never started
}

// Accepted traces that e was accepted, and matched so many hooks.
func (t *Tracer) Accepted(e Traced, matched int) {
	if t == nil {
		return
	}
	o := from(e)
	s := o.span("accept", o.accept, e.At, time.Now(), "event", e.Name, "event_id", e.ID)
	s.ParentSpanID, s.Kind = o.parent, otlp.KindServer
	if o.parent != "" {
		s.Flags |= otlp.FlagRemote
	}
	s.Attributes = append(s.Attributes, otlp.Number("hookd.matched", int64(matched)))
	t.keep(o, s)
}

// Ran traces a run for e that has ended: how long it queued and how long it ran.
func (t *Tracer) Ran(e Traced, r TracedRun) {
	if t == nil {
		return
	}
	o := from(e)
	t.keep(o, o.span("queue", id(r.ID+" queue", 8), e.At, later(e.At, r.Started),
		"event", e.Name, "hook", r.Hook, "run_id", r.ID))
	if r.Started.IsZero() {
		r.Started = time.Now()
	}
	s := o.span("run", id(r.ID+" run", 8), r.Started, r.Started.Add(r.Duration),
		"event", e.Name, "hook", r.Hook, "run_id", r.ID, "result", r.Result)
	if r.Failed {
		s.Status = otlp.Status{Code: otlp.StatusError, Message: clean(r.Result)}
	}
	t.keep(o, s)
}

// Decided traces the decision that e's sender gets now.
func (t *Tracer) Decided(e Traced, decision string) {
	if t == nil {
		return
	}
	o := from(e)
	t.keep(o, o.span("verdict", id(e.ID+" verdict", 8), e.At, time.Now(), "event", e.Name, "decision", decision))
}

// keep queues a span, unless its trace is left out.
func (t *Tracer) keep(o origin, s otlp.Span) {
	if t.sample.keeps(o) {
		t.add(s)
	}
}

func later(a, b time.Time) time.Time {
	if b.Before(a) {
		return a
	}
	return b
}

// clean returns s as valid UTF-8 of at most 256 bytes.
func clean(s string) string {
	const limit = 256
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "")
	}
	return s
}
