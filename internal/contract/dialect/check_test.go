package dialect

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/events"
)

func TestCheck(t *testing.T) {
	tests := []struct {
		event, data string
		want        []string
	}{
		{"agent:end", `{"agent_id":"a","status":"ok","tokens_used":12,"steps":0,"duration_ms":1e3,"response_preview":""}`, nil},
		{"agent:end", `{}`, nil},
		{"agent:end", `{"mine":{},"also":null}`, nil},
		{"agent:end", `{"tokens_used":"12"}`, []string{"field `tokens_used` is a string, agent:end documents an integer"}},
		{"agent:end", `{"tokens_used":1.5}`, []string{"field `tokens_used` is a number with a fraction, agent:end documents an integer"}},
		{"agent:end", `{"tokens_used":3.0}`, nil},
		{"agent:end", `{"status":null,"steps":[],"agent_id":{},"session_id":true}`, []string{
			"field `agent_id` is an object, agent:end documents a string",
			"field `session_id` is a boolean, agent:end documents a string",
			"field `status` is null, agent:end documents a string",
			"field `steps` is an array, agent:end documents an integer",
		}},
		{"agent:end", `{"steps":"x","st\u0065ps":4}`, nil}, // the last one counts
		{"agent:step", `{"step_index":0,"tool_call":null}`, nil},
		{"agent:step", `{"tool_call":7}`, []string{"field `tool_call` is a number, agent:step documents a string or null"}},
		{"transform_tool_result", `{"tool_input":"ls"}`, []string{"field `tool_input` is a string, transform_tool_result documents an object"}},
		{"post_tool_use", `{"tool_response":{"any":"thing"},"tool_error":false}`, nil},
		{"un:known", `{"agent_id":7}`, nil},
	}
	for _, tt := range tests {
		got := events.For("", tt.event).Check(json.RawMessage(tt.data))
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s %s:\n got %q\nwant %q", tt.event, tt.data, got, tt.want)
		}
	}
}

func TestCheckIsBounded(t *testing.T) {
	data := json.RawMessage(`{` + strings.Repeat(`"status":1,`, 100_000) + `"status":1}`)
	if got := events.Lookup("agent:end").Check(data); len(got) != 1 {
		t.Errorf("got %d warnings about one field", len(got))
	}
}

func BenchmarkCheck(b *testing.B) {
	c := events.Lookup("agent:end")
	data := json.RawMessage(`{"agent_id":"a","session_id":"s","status":"ok","tokens_used":120,"steps":4,"duration_ms":3400,"response_preview":"Done."}`)
	b.ReportAllocs()
	for b.Loop() {
		c.Check(data)
	}
}
