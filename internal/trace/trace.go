// Package trace tells an OpenTelemetry collector what became of each event:
// one trace an event, with the spans accept, queue, run and verdict.
//
// It is off unless OTEL_EXPORTER_OTLP_ENDPOINT is set; New then returns nil,
// and the methods of a nil Tracer do nothing. When it is on, a call makes a
// span and puts it into a bounded queue: it never blocks, and what there is no
// room for is dropped. Spans are sent in the background, by OTLP over HTTP. A
// collector that is away or refuses costs spans and one message when it
// begins and one when it ends, never an event or a run.
//
// An event's trace and spans have ids that follow from its own id, so nothing
// is remembered between its beginning and its end. An event that came with a
// W3C traceparent belongs to that trace. Spans tell names and results, never
// payloads, output or sessions.
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

// Options of a Tracer. The rest is said by OpenTelemetry's own variables.
type Options struct {
	Version string // of hookd
	// Trouble is told that spans do not reach the collector, and why, and with
	// nil that they do again. It is called in the background; nil = nobody.
	Trouble func(error)
}

// Tracer is safe for concurrent use. Nil is one that is off.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	client   *client
}

// New returns nil when tracing is off. An error says which variable cannot be
// used.
func New(o Options) (*Tracer, error) {
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" || strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_TRACES_EXPORTER") == "none" {
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

// describe says who sends; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win.
func describe(version string) *resource.Resource {
	own := resource.NewSchemaless(attribute.String("service.name", "hookd"), attribute.String("service.version", version))
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

// Close sends what is left and ends; what ctx leaves no time for is dropped.
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

// Event is what a trace is about.
type Event struct {
	ID, Name    string
	Traceparent string // W3C, as the sender gave it; "" = the trace begins here
	Tracestate  string
	At          time.Time // when it was accepted
}

// Run is a finished run for an event.
type Run struct {
	ID, Hook, Result string
	Failed           bool
	Started          time.Time
	Duration         time.Duration // 0 = it never started
}

// Accepted tells that e was accepted, and matched so many hooks.
func (t *Tracer) Accepted(e Event, matched int) {
	if t == nil {
		return
	}
	_, span := t.accept(e)
	span.SetAttributes(attribute.Int("hookd.matched", matched))
	span.End()
}

// accept begins the span of e's acceptance, whose ids are always the same, and
// a context below it. Only Accepted ends it.
func (t *Tracer) accept(e Event) (context.Context, trace.Span) {
	carrier := propagation.MapCarrier{"traceparent": e.Traceparent, "tracestate": e.Tracestate}
	ctx := propagation.TraceContext{}.Extract(context.Background(), carrier)
	ctx = withIDs(ctx, e.ID, e.ID+" accept")
	return t.tracer.Start(ctx, "accept", trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(e.At), trace.WithAttributes(
		attribute.String("hookd.event", clean(e.Name)), attribute.String("hookd.event_id", clean(e.ID))))
}

// Ran tells that a run for e has ended: how long it queued and how long it
// ran.
func (t *Tracer) Ran(e Event, r Run) {
	if t == nil {
		return
	}
	ctx, _ := t.accept(e)
	attributes := trace.WithAttributes(
		attribute.String("hookd.event", clean(e.Name)), attribute.String("hookd.hook", clean(r.Hook)), attribute.String("hookd.run_id", clean(r.ID)))
	_, queue := t.tracer.Start(withIDs(ctx, e.ID, r.ID+" queue"), "queue", trace.WithTimestamp(e.At), attributes)
	queue.End(trace.WithTimestamp(later(e.At, r.Started)))
	_, run := t.tracer.Start(withIDs(ctx, e.ID, r.ID+" run"), "run", trace.WithTimestamp(r.Started), attributes)
	run.SetAttributes(attribute.String("hookd.result", clean(r.Result)))
	if r.Failed {
		run.SetStatus(codes.Error, clean(r.Result))
	}
	run.End(trace.WithTimestamp(r.Started.Add(r.Duration)))
}

// Decided tells what e's sender was answered, now.
func (t *Tracer) Decided(e Event, decision string) {
	if t == nil {
		return
	}
	ctx, _ := t.accept(e)
	_, span := t.tracer.Start(withIDs(ctx, e.ID, e.ID+" verdict"), "verdict", trace.WithTimestamp(e.At), trace.WithAttributes(
		attribute.String("hookd.event", clean(e.Name)), attribute.String("hookd.decision", clean(decision))))
	span.End()
}

func later(a, b time.Time) time.Time {
	if b.Before(a) {
		return a
	}
	return b
}

// clean makes a text that protobuf takes, and not long.
func clean(s string) string {
	const limit = 256
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "")
	}
	return s
}
