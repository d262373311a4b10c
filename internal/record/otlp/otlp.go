// Package otlp speaks OTLP over HTTP in its JSON encoding, to OpenTelemetry collectors:
// https://opentelemetry.io/docs/specs/otlp/#otlphttp
//
// It promises the encoding of the specification: ids in hexadecimal, integers of 64 bits as
// texts, enumerations as numbers. It makes one attempt a call, and keeps nothing: retries,
// order and queues are its callers'.
package otlp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/hookd/hookd/internal/base/https"
)

// scope names the sender's code.
const scope = "github.com/hookd/hookd"

// Request is a body: ExportTraceServiceRequest or ExportLogsServiceRequest.
type Request struct {
	ResourceSpans []Source `json:"resourceSpans,omitempty"`
	ResourceLogs  []Source `json:"resourceLogs,omitempty"`
}

// Source has the spans of one sender.
type Source struct {
	Resource struct {
		Attributes []Attribute `json:"attributes"`
	} `json:"resource"`
	ScopeSpans []Scoped `json:"scopeSpans,omitempty"`
	ScopeLogs  []Scoped `json:"scopeLogs,omitempty"`
}

// Scoped has the records of one part of a sender; Version "" = not known.
type Scoped struct {
	Scope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	} `json:"scope"`
	Spans      []Span      `json:"spans,omitempty"`
	LogRecords []LogRecord `json:"logRecords,omitempty"`
}

// Kinds, states and flags of spans.
const (
	KindInternal = 1
	KindServer   = 2
	StatusError  = 2
	FlagSampled  = 1
	FlagKnown    = 0x100 // it is known whether the parent is elsewhere
	FlagRemote   = 0x200 // the parent is elsewhere
)

// Span is one; "" = no parent, no state.
type Span struct {
	TraceID      string      `json:"traceId"` // 16 bytes in hexadecimal
	SpanID       string      `json:"spanId"`  // 8 bytes in hexadecimal
	TraceState   string      `json:"traceState,omitempty"`
	ParentSpanID string      `json:"parentSpanId,omitempty"`
	Flags        uint32      `json:"flags"`
	Name         string      `json:"name"`
	Kind         int         `json:"kind"`
	Start        uint64      `json:"startTimeUnixNano,string"`
	End          uint64      `json:"endTimeUnixNano,string"`
	Attributes   []Attribute `json:"attributes,omitempty"`
	Status       Status      `json:"status"`
}

// Status of a span; 0 = not set.
type Status struct {
	Code    int    `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// Severities of log records.
const (
	Info  = 9
	Warn  = 13
	Error = 17
)

// LogRecord is one.
type LogRecord struct {
	Time           uint64      `json:"timeUnixNano,string"`
	ObservedTime   uint64      `json:"observedTimeUnixNano,string"`
	SeverityNumber int         `json:"severityNumber"`
	SeverityText   string      `json:"severityText"`
	EventName      string      `json:"eventName"`
	Body           Value       `json:"body"`
	Attributes     []Attribute `json:"attributes,omitempty"`
}

// Attribute is a name and its value.
type Attribute struct {
	Key   string `json:"key"`
	Value Value  `json:"value"`
}

// Value has one member that is not nil.
type Value struct {
	String *string  `json:"stringValue,omitempty"`
	Int    *int64   `json:"intValue,string,omitempty"`
	Double *float64 `json:"doubleValue,omitempty"`
	Array  *Array   `json:"arrayValue,omitempty"`
}

// Array is a list of values.
type Array struct {
	Values []Value `json:"values"`
}

// Spans encodes spans of a sender.
func Spans(resource []Attribute, version string, spans []Span) ([]byte, error) {
	list := []Source{{ScopeSpans: []Scoped{{Spans: spans}}}}
	list[0].Resource.Attributes = resource
	list[0].ScopeSpans[0].Scope.Name, list[0].ScopeSpans[0].Scope.Version = scope, version
	return json.Marshal(Request{ResourceSpans: list})
}

// Logs encodes log records of a sender.
func Logs(resource []Attribute, version string, records []LogRecord) ([]byte, error) {
	list := []Source{{ScopeLogs: []Scoped{{LogRecords: records}}}}
	list[0].Resource.Attributes = resource
	list[0].ScopeLogs[0].Scope.Name, list[0].ScopeLogs[0].Scope.Version = scope, version
	return json.Marshal(Request{ResourceLogs: list})
}

// Nano is a time on the wire; times before 1970 are 0.
func Nano(t time.Time) uint64 { return uint64(max(0, t.UnixNano())) }

// Text is a value. Encoding replaces bytes that are no UTF-8.
func Text(s string) Value { return Value{String: &s} }

// Texts makes attributes of pairs of a name and a value; those without a value are left out.
func Texts(pairs ...string) (list []Attribute) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			list = append(list, Attribute{pairs[i], Text(pairs[i+1])})
		}
	}
	return list
}

// Number is an attribute with an integer.
func Number(name string, n int64) Attribute { return Attribute{name, Value{Int: &n}} }

// List is an attribute with texts; none without texts.
func List(name string, texts []string) []Attribute {
	if len(texts) == 0 {
		return nil
	}
	all := &Array{}
	for _, s := range texts {
		all.Values = append(all.Values, Text(s))
	}
	return []Attribute{{name, Value{Array: all}}}
}

// Refusal is an answer of a server that is no success.
type Refusal struct {
	Status string
	Code   int
	After  time.Duration // the server asks to wait for so long; 0 = it does not
}

func (r *Refusal) Error() string { return "the server answers " + r.Status }

// maxAnswer is how much of an answer is read.
const maxAnswer = 64 << 10

// Post sends a body of JSON, and returns the beginning of the answer. Any answer but one of
// success is a *Refusal; other errors are in one line, without the URL.
func Post(ctx context.Context, client *http.Client, url string, header http.Header, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the url cannot be used")
	}
	req.Header = header.Clone()
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return nil, https.Plain(ctx, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if res.StatusCode/100 != 2 {
		return nil, &Refusal{res.Status, res.StatusCode, retryAfter(res.Header.Get("Retry-After"))}
	}
	if err != nil {
		return nil, https.Plain(ctx, err)
	}
	return answer, nil
}

// retryAfter reads seconds or a date; a text that cannot be read is none.
func retryAfter(text string) time.Duration {
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n < 1<<20 {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// Rejected reads from an answer how many records were thrown away, which must not be sent
// again. An answer that cannot be read says 0.
func Rejected(answer []byte) int64 {
	var a struct {
		PartialSuccess struct {
			RejectedSpans      json.Number `json:"rejectedSpans"`
			RejectedLogRecords json.Number `json:"rejectedLogRecords"`
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(answer, &a) != nil {
		return 0
	}
	spans, _ := a.PartialSuccess.RejectedSpans.Int64()
	records, _ := a.PartialSuccess.RejectedLogRecords.Int64()
	return max(0, spans, records)
}
