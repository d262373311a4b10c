package dockeragent

import (
	"testing"

	"github.com/hookd/hookd/internal/events"
)

func TestPayloadLeavesOutWhatIsEmpty(t *testing.T) {
	for _, tt := range []struct{ data, want string }{
		{`{}`, `{}`},
		{`{"a":1,"b":"x"}`, `{"a":1,"b":"x"}`},
		{`{"tool_error":false,"tool_name":"shell","n":0,"s":"","m":{},"l":[],"z":null}`, `{"tool_name":"shell"}`},
		{`{"cost":0,"usage":{}}`, `{"cost":0}`},
		{`{"cost":null}`, `{}`},
		{`{"tool_input":{"a":"","b":false}}`, `{"tool_input":{"a":"","b":false}}`},
	} {
		if got := string(Payload([]byte(tt.data))); got != tt.want {
			t.Errorf("Payload(%s) = %s, want %s", tt.data, got, tt.want)
		}
	}
}

func TestAgentOfAnEvent(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{`{"event":"pre_tool_use"}`, "root"},
		{`{"event":"pre_tool_use","data":{"agent_name":"coder"}}`, "coder"},
		{`{"event":"pre_tool_use","data":{"agent_name":"coder"},"agent_name":"boss"}`, "boss"},
		{`{"event":"subagent_stop","data":{"agent_name":"child"}}`, "root"},
		{`{"event":"subagent_stop","data":{"agent_name":"child"},"agent_name":"parent"}`, "parent"},
		{`{"event":"on_agent_switch","data":{"from_agent":"a","to_agent":"b"}}`, "a"},
		{`{"event":"on_agent_switch","data":{"to_agent":"b"}}`, "root"},
	} {
		env, err := events.Parse([]byte(tt.line))
		if err != nil {
			t.Fatal(err)
		}
		e := &events.Event{Envelope: env, Contract: events.For(env.Dialect, env.Event)}
		if got := Agent(e); got != tt.want {
			t.Errorf("Agent(%s) = %q, want %q", tt.line, got, tt.want)
		}
	}
}
