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
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
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
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	client   *client
}

// New returns nil when tracing is off. An error says which variable cannot be
// used.
func New(o Options) (*Tracer, error) {
	off := strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_TRACES_EXPORTER") == "none"
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" || off {
		return nil, nil
	}
	c, err := newClient(o.Trouble)
	if err != nil {
		return nil, fmt.Errorf("set up traces: %w", err)
	}
	provider := sdk.NewTracerProvider(
		sdk.WithBatcher(otlptrace.NewUnstarted(c)),
		sdk.WithIDGenerator(ids{}),
		sdk.WithResource(describe(o.Version)),
	)
	return &Tracer{provider: provider, tracer: provider.Tracer("github.com/hookd/hookd"), client: c}, nil
}

// describe returns the attributes of the sender. OTEL_SERVICE_NAME and
// OTEL_RESOURCE_ATTRIBUTES override them.
func describe(version string) *resource.Resource {
	own := resource.NewSchemaless(
		attribute.String("service.name", "hookd"),
		attribute.String("service.version", version),
	)
	given, err := resource.New(context.Background(), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if given == nil {
		return own
	}
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return own
	}
	merged, err := resource.Merge(own, given)
	if err != nil {
		return own
	}
	return merged
}

// Close sends the spans that are left; those without time before ctx ends are dropped.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	defer t.client.stop()
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("send the last traces: %w", err)
	}
	return nil
}

// Event is the event of a trace.
type Event struct {
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
func (e Event) convention() trace.SpanStartEventOption {
	operation := ""
	if e.Tool != "" {
		operation = "execute_tool"
	}
	var list []attribute.KeyValue
	for _, a := range [][2]string{
		{"gen_ai.operation.name", operation}, {"gen_ai.conversation.id", e.Session}, {"gen_ai.agent.id", e.AgentID},
		{"gen_ai.agent.name", e.AgentName}, {"gen_ai.tool.name", e.Tool}, {"gen_ai.tool.call.id", e.Call},
	} {
		if a[1] != "" {
			list = append(list, attribute.String(a[0], clean(a[1])))
		}
	}
	return trace.WithAttributes(list...)
}

// Run is a finished run for an event.
type Run struct {
	ID, Hook, Result string
	Failed           bool
	Started          time.Time
	Duration         time.Duration // 0 = it never started
}

// Accepted traces that e was accepted, and matched so many hooks.
func (t *Tracer) Accepted(e Event, matched int) {
	if t == nil {
		return
	}
	_, span := t.accept(e)
	span.SetAttributes(attribute.Int("hookd.matched", matched))
	span.End()
}

// accept begins the span of e's acceptance, whose ids are always the same, and
// returns a context below it. Only Accepted ends the span.
func (t *Tracer) accept(e Event) (context.Context, trace.Span) {
	carrier := propagation.MapCarrier{"traceparent": e.Traceparent, "tracestate": e.Tracestate}
	ctx := propagation.TraceContext{}.Extract(context.Background(), carrier)
	ctx = withIDs(ctx, e.ID, e.ID+" accept")
	return t.tracer.Start(ctx, "accept", trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(e.At),
		attributes("event", e.Name, "event_id", e.ID), e.convention())
}

// attributes makes span attributes of pairs of a name, without hookd's prefix, and
// a value.
func attributes(pairs ...string) trace.SpanStartEventOption {
	var list []attribute.KeyValue
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, attribute.String("hookd."+pairs[i], clean(pairs[i+1])))
	}
	return trace.WithAttributes(list...)
}

// Ran traces a run for e that has ended: how long it queued and how long it ran.
func (t *Tracer) Ran(e Event, r Run) {
	if t == nil {
		return
	}
	ctx, _ := t.accept(e)
	of := attributes("event", e.Name, "hook", r.Hook, "run_id", r.ID)
	about := e.convention()
	_, queue := t.tracer.Start(withIDs(ctx, e.ID, r.ID+" queue"), "queue", trace.WithTimestamp(e.At), of, about)
	queue.End(trace.WithTimestamp(later(e.At, r.Started)))
	_, run := t.tracer.Start(withIDs(ctx, e.ID, r.ID+" run"), "run", trace.WithTimestamp(r.Started), of, about)
	run.SetAttributes(attribute.String("hookd.result", clean(r.Result)))
	if r.Failed {
		run.SetStatus(codes.Error, clean(r.Result))
	}
	run.End(trace.WithTimestamp(r.Started.Add(r.Duration)))
}

// Decided traces the decision that e's sender gets now.
func (t *Tracer) Decided(e Event, decision string) {
	if t == nil {
		return
	}
	ctx, _ := t.accept(e)
	_, span := t.tracer.Start(withIDs(ctx, e.ID, e.ID+" verdict"), "verdict", trace.WithTimestamp(e.At),
		attributes("event", e.Name, "decision", decision), e.convention())
	span.End()
}

func later(a, b time.Time) time.Time {
	if b.Before(a) {
		return a
	}
	return b
}

// clean returns s as valid UTF-8, which protobuf requires, of at most 256 bytes.
func clean(s string) string {
	const limit = 256
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "")
	}
	return s
}
