package otlp

import "testing"

// The texts are in the encoding of the specification: ids in hexadecimal, integers of 64 bits
// as texts, enumerations as numbers.
func TestEncoding(t *testing.T) {
	took := 1.5
	from := Texts("service.name", "hookd", "host.name", "")
	spans, err := Spans(from, "9", []Span{{
		TraceID: "0af7651916cd43dd8448eb211c80319c", SpanID: "b7ad6b7169203331", ParentSpanID: "00f067aa0ba902b7",
		TraceState: "a=1", Flags: FlagSampled | FlagKnown, Name: "run", Kind: KindInternal, Start: 1, End: 1<<64 - 1,
		Status: Status{StatusError, "failed"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	logs, err := Logs(from, "", []LogRecord{{
		Time: 1, ObservedTime: 2, SeverityNumber: Warn, SeverityText: "WARN", EventName: "e", Body: Text("b\xff"),
		Attributes: append(List("l", []string{"x", ""}), Number("n", -1<<63), Attribute{"d", Value{Double: &took}}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	const resource = `"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"hookd"}}]}`
	for got, want := range map[string]string{
		string(spans): `{"resourceSpans":[{` + resource + `,"scopeSpans":[{"scope":{"name":"github.com/hookd/hookd","version":"9"},` +
			`"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","traceState":"a=1",` +
			`"parentSpanId":"00f067aa0ba902b7","flags":257,"name":"run","kind":1,"startTimeUnixNano":"1",` +
			`"endTimeUnixNano":"18446744073709551615","status":{"code":2,"message":"failed"}}]}]}]}`,
		string(logs): `{"resourceLogs":[{` + resource + `,"scopeLogs":[{"scope":{"name":"github.com/hookd/hookd"},` +
			`"logRecords":[{"timeUnixNano":"1","observedTimeUnixNano":"2","severityNumber":13,"severityText":"WARN","eventName":"e",` +
			`"body":{"stringValue":"b\ufffd"},"attributes":[` +
			`{"key":"l","value":{"arrayValue":{"values":[{"stringValue":"x"},{"stringValue":""}]}}},` +
			`{"key":"n","value":{"intValue":"-9223372036854775808"}},{"key":"d","value":{"doubleValue":1.5}}]}]}]}]}`,
	} {
		if got != want {
			t.Errorf("got\n%s, want\n%s", got, want)
		}
	}
}

func TestRejected(t *testing.T) {
	for answer, want := range map[string]int64{
		``: 0, `{}`: 0, `null`: 0, `{"partialSuccess":{}}`: 0, `{"partialSuccess":{"errorMessage":"careful"}}`: 0,
		`{"partialSuccess":{"rejectedLogRecords":"5"}}`: 5, `{"partialSuccess":{"rejectedSpans":7}}`: 7,
		`{"partialSuccess":{"rejectedSpans":"-7"}}`: 0, `{"partialSuccess":{"rejectedSpans":"many"}}`: 0, "\n\x02\x08\x05": 0,
	} {
		if got := Rejected([]byte(answer)); got != want {
			t.Errorf("%s: got %d, want %d", answer, got, want)
		}
	}
}

// The answers of servers are read as far as they make sense.
func FuzzRejected(f *testing.F) {
	f.Add([]byte(`{"partialSuccess":{"rejectedLogRecords":"5"}}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		if n := Rejected(answer); n < 0 {
			t.Errorf("%d", n)
		}
	})
}
