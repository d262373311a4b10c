package forward

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/wire"
)

// collector sends each batch as log records by OTLP over HTTP, protobuf:
// https://opentelemetry.io/docs/specs/otlp/#otlphttp
type collector struct{ target config.Forward }

func (c *collector) send(ctx context.Context, b batch) (thrown int64, err error) {
	target, err := logsURL(c.target.URL)
	if err != nil {
		return 0, err
	}
	body, err := proto.Marshal(b.logs(time.Now()))
	if err != nil {
		return 0, err
	}
	answer, err := post(ctx, c.target, b.from, target, body, "application/x-protobuf", "")
	if err != nil {
		return 0, err
	}
	return rejected(answer), nil
}

// logsURL adds the path of logs to an address that has none, as OpenTelemetry's own
// exporters do.
func logsURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", err
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1/logs"
	}
	return u.String(), nil
}

// rejected reads ExportLogsServiceResponse: how many records were thrown away, which must
// not be sent again. Its Go type links gRPC.
func rejected(answer []byte) (n int64) {
	partial := field(answer, 1)
	for len(partial) > 0 {
		number, kind, size := protowire.ConsumeTag(partial)
		if size < 0 {
			return n
		}
		partial = partial[size:]
		if number == 1 && kind == protowire.VarintType {
			v, size := protowire.ConsumeVarint(partial)
			if size > 0 {
				n = max(0, int64(v))
			}
		}
		if size = protowire.ConsumeFieldValue(number, kind, partial); size < 0 {
			return n
		}
		partial = partial[size:]
	}
	return n
}

// field returns the bytes of the last field with a number; nil = there is none.
func field(message []byte, want protowire.Number) (found []byte) {
	for len(message) > 0 {
		number, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return found
		}
		message = message[size:]
		if number == want && kind == protowire.BytesType {
			found, _ = protowire.ConsumeBytes(message)
		}
		if size = protowire.ConsumeFieldValue(number, kind, message); size < 0 {
			return found
		}
		message = message[size:]
	}
	return found
}

// logs encodes the batch. LogsData has the same encoding as the protocol's
// ExportLogsServiceRequest, whose Go type links gRPC.
func (b batch) logs(now time.Time) *logspb.LogsData {
	var list []*logspb.LogRecord
	if b.missed > 0 {
		list = append(list, &logspb.LogRecord{
			TimeUnixNano: uint64(now.UnixNano()), EventName: "hookd.missed",
			SeverityNumber: logspb.SeverityNumber_SEVERITY_NUMBER_ERROR, SeverityText: "ERROR",
			Body:       text(fmt.Sprintf("%d decisions were pruned before they could be handed on", b.missed)),
			Attributes: []*commonpb.KeyValue{number("hookd.missed", b.missed)},
		})
	}
	for i := range b.decisions {
		list = append(list, logRecord(&b.decisions[i]))
	}
	if b.head.N > 0 {
		list = append(list, &logspb.LogRecord{
			TimeUnixNano: uint64(now.UnixNano()), EventName: "hookd.audit_head",
			SeverityNumber: logspb.SeverityNumber_SEVERITY_NUMBER_INFO, SeverityText: "INFO",
			Body:       text("the audit chain ends at " + b.head.String()),
			Attributes: texts("hookd.audit.head", b.head.String()),
		})
	}
	for _, r := range list {
		r.ObservedTimeUnixNano = uint64(now.UnixNano())
	}
	return &logspb.LogsData{ResourceLogs: []*logspb.ResourceLogs{{
		Resource: &resourcepb.Resource{
			Attributes: texts("service.name", "hookd", "service.version", b.from.version, "host.name", b.from.host),
		},
		ScopeLogs: []*logspb.ScopeLogs{{
			Scope:      &commonpb.InstrumentationScope{Name: "github.com/hookd/hookd", Version: b.from.version},
			LogRecords: list,
		}},
	}}}
}

// logRecord is a decision. Values in OpenTelemetry's conventions for generative AI have
// the names there, as in traces.
func logRecord(d *wire.Decision) *logspb.LogRecord {
	r := &logspb.LogRecord{
		TimeUnixNano: uint64(d.Time.UnixNano()), EventName: "hookd.decision",
		SeverityNumber: logspb.SeverityNumber_SEVERITY_NUMBER_INFO, SeverityText: "INFO",
		Body: text(summary(d)),
		Attributes: texts(
			"hookd.event_id", d.EventID, "hookd.event", d.Event, "hookd.kind", string(d.Kind),
			"hookd.dialect", string(d.Dialect), "hookd.decision", string(d.Decision),
			"hookd.subject", d.Subject, "hookd.reason", d.Reason, "hookd.cwd", d.Cwd,
			"gen_ai.conversation.id", d.SessionID, "gen_ai.agent.id", d.AgentID,
			"gen_ai.agent.name", cmp.Or(d.AgentName, string(d.Dialect)), "gen_ai.tool.name", d.Tool,
		),
	}
	if d.Decision == wire.OutcomeDeny {
		r.SeverityNumber, r.SeverityText = logspb.SeverityNumber_SEVERITY_NUMBER_WARN, "WARN"
	}
	took := &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: d.DurationMS}}
	r.Attributes = append(r.Attributes,
		number("hookd.seq", int64(d.Seq)), &commonpb.KeyValue{Key: "hookd.duration_ms", Value: took})
	r.Attributes = appendList(r.Attributes, "hookd.decided_by", d.DecidedBy)
	r.Attributes = appendList(r.Attributes, "hookd.rewrote", d.Rewrote)
	if a := d.Answered; a != nil {
		r.Attributes = append(r.Attributes, texts("hookd.answered.by", a.By, "hookd.answered.id", a.ID)...)
	}
	var shadow []string
	for _, s := range d.Shadow {
		shadow = append(shadow, s.Hook+": "+string(s.Decision))
	}
	r.Attributes = appendList(r.Attributes, "hookd.shadow", shadow)
	return r
}

// summary is a decision in one line.
func summary(d *wire.Decision) string {
	line := string(d.Decision)
	for _, part := range []string{cmp.Or(d.Tool, d.Event), d.Subject} {
		if part != "" {
			line += " " + part
		}
	}
	if reason, _, _ := strings.Cut(d.Reason, "\n"); reason != "" {
		line += ": " + reason
	}
	return line
}

// text is a value. protobuf refuses text that is no UTF-8.
func text(s string) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: strings.ToValidUTF8(s, "\uFFFD")}}
}

// texts makes attributes of pairs of a name and a value; those without a value are left out.
func texts(pairs ...string) (list []*commonpb.KeyValue) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			list = append(list, &commonpb.KeyValue{Key: pairs[i], Value: text(pairs[i+1])})
		}
	}
	return list
}

func number(name string, n int64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: name, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: n}}}
}

func appendList(list []*commonpb.KeyValue, name string, values []string) []*commonpb.KeyValue {
	if len(values) == 0 {
		return list
	}
	all := &commonpb.ArrayValue{}
	for _, v := range values {
		all.Values = append(all.Values, text(v))
	}
	return append(list, &commonpb.KeyValue{Key: name, Value: &commonpb.AnyValue{
		Value: &commonpb.AnyValue_ArrayValue{ArrayValue: all}}})
}
