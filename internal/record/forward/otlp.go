package forward

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/record/otlp"
	"github.com/hookd/hookd/wire"
)

// collector sends each batch as log records by OTLP.
type collector struct{ target config.Forward }

func (c *collector) send(ctx context.Context, b batch) (thrown int64, err error) {
	target, err := logsURL(c.target.URL)
	if err != nil {
		return 0, err
	}
	from := otlp.Texts("service.name", "hookd", "service.version", b.from.version, "host.name", b.from.host)
	body, err := otlp.Logs(from, b.from.version, b.logs(time.Now()))
	if err != nil {
		return 0, err
	}
	answer, err := post(ctx, c.target, b.from, target, body, "")
	if err != nil {
		return 0, err
	}
	return otlp.Rejected(answer), nil
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

// logs returns the records of the batch.
func (b batch) logs(now time.Time) (list []otlp.LogRecord) {
	if b.missed > 0 {
		list = append(list, otlp.LogRecord{
			Time: otlp.Nano(now), EventName: "hookd.missed", SeverityNumber: otlp.Error, SeverityText: "ERROR",
			Body:       otlp.Text(fmt.Sprintf("%d decisions were pruned before they could be handed on", b.missed)),
			Attributes: []otlp.Attribute{otlp.Number("hookd.missed", b.missed)},
		})
	}
	for i := range b.decisions {
		list = append(list, logRecord(&b.decisions[i]))
	}
	if b.head.N > 0 {
		list = append(list, otlp.LogRecord{
			Time: otlp.Nano(now), EventName: "hookd.audit_head", SeverityNumber: otlp.Info, SeverityText: "INFO",
			Body:       otlp.Text("the audit chain ends at " + b.head.String()),
			Attributes: otlp.Texts("hookd.audit.head", b.head.String()),
		})
	}
	for i := range list {
		list[i].ObservedTime = otlp.Nano(now)
	}
	return list
}

// logRecord is a decision. Values in OpenTelemetry's conventions for generative AI have
// the names there, as in traces.
func logRecord(d *wire.Decision) otlp.LogRecord {
	r := otlp.LogRecord{
		Time: otlp.Nano(d.Time), EventName: "hookd.decision", SeverityNumber: otlp.Info, SeverityText: "INFO",
		Body: otlp.Text(summary(d)),
		Attributes: otlp.Texts(
			"hookd.event_id", d.EventID, "hookd.event", d.Event, "hookd.kind", string(d.Kind),
			"hookd.dialect", string(d.Dialect), "hookd.decision", string(d.Decision),
			"hookd.subject", d.Subject, "hookd.reason", d.Reason, "hookd.cwd", d.Cwd,
			"gen_ai.conversation.id", d.SessionID, "gen_ai.agent.id", d.AgentID,
			"gen_ai.agent.name", cmp.Or(d.AgentName, string(d.Dialect)), "gen_ai.tool.name", d.Tool,
		),
	}
	if d.Decision == wire.OutcomeDeny {
		r.SeverityNumber, r.SeverityText = otlp.Warn, "WARN"
	}
	r.Attributes = append(r.Attributes, otlp.Number("hookd.seq", int64(d.Seq)),
		otlp.Attribute{Key: "hookd.duration_ms", Value: otlp.Value{Double: &d.DurationMS}})
	r.Attributes = append(r.Attributes, otlp.List("hookd.decided_by", d.DecidedBy)...)
	r.Attributes = append(r.Attributes, otlp.List("hookd.rewrote", d.Rewrote)...)
	if a := d.Answered; a != nil {
		r.Attributes = append(r.Attributes, otlp.Texts("hookd.answered.by", a.By, "hookd.answered.id", a.ID)...)
	}
	var shadow []string
	for _, s := range d.Shadow {
		shadow = append(shadow, s.Hook+": "+string(s.Decision))
	}
	r.Attributes = append(r.Attributes, otlp.List("hookd.shadow", shadow)...)
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
