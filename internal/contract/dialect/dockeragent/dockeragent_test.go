package dockeragent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/verdict"
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

// Each field that docker-agent reads and hookd's verdict holds is in the answer.
func TestAnswerKeepsAllOfTheVerdict(t *testing.T) {
	row := events.LookupIn(events.DockerAgent, "tool_guard")
	v := verdict.Fold(row, json.RawMessage(`{}`), []verdict.Answer{{
		Terms: verdict.Terms{Name: "h", Blocking: true}, PermissionDecision: "allow", PermissionReason: "it reads",
		Metadata: map[string]string{"blast_radius": "none"}, SuppressOutput: true,
	}})
	got := Answer(neutral.Asked{Event: row.Name, Payload: json.RawMessage(`{}`), Verdict: v}).Stdout
	for _, want := range []string{`"suppress_output":true`, `"permission_decision":"allow"`, `"permission_decision_reason":"it reads"`, `"metadata":{"blast_radius":"none"}`} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
}
