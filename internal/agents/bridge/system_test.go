package bridge

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/system/systemtest"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// endless are the kinds on which a denial makes an agent go on.
var endless = []events.Kind{events.KindTurnStop, events.KindSubagentStop, "TeammateIdle", "TaskCompleted"}

// Where the system daemon must answer and does not run, every event that can be denied is
// denied, in the words of its agent, which say so.
func TestRequiredDeniesInEachDialect(t *testing.T) {
	systemtest.Place(t, "required: true\n")
	allowing := serve(t, func(context.Context, events.Envelope) (wire.Answer, *wire.Error) {
		return wire.Answer{EventID: "id", Verdict: &verdict.Verdict{Allowed: true, Continue: true}}, nil
	})
	tried := 0
	for _, row := range events.All() {
		agent := dialect.Agent(row.Dialect)
		if agent == nil || agent.Answer == nil || !row.Decidable || !row.CanBlock || slices.Contains(endless, row.Kind) {
			continue
		}
		payload := map[string]any{"tool_name": "Bash", "tool_input": map[string]string{"command": "ls"}, "prompt": "p"}
		if agent.EventField != "" {
			payload[strings.Fields(agent.EventField)[0]] = row.Name
		}
		text, err := json.Marshal(payload)
		hooktest.Must(t, err)
		asked := neutral.Asked{Event: row.Name, Payload: text, Verdict: &verdict.Verdict{Continue: true, Message: "M"}}
		if agent.Answer(asked).Stdout == "" && agent.Answer(asked).Exit == 0 {
			continue // such an agent obeys no denial here
		}
		got := called(t, Options{Agent: string(row.Dialect), Args: []string{row.Name}, Socket: allowing}, string(text))
		tried++
		declined := strings.Contains(got.stdout, `"action":"decline"`) // there is no place for a reason
		if !declined && !strings.Contains(got.stdout+got.stderr, "required: true") {
			t.Errorf("%s %s answers %+v", row.Dialect, row.Name, got)
		}
	}
	if tried < 40 {
		t.Errorf("only %d events were tried", tried)
	}
}

// An event that the bridge cannot read does not reach the system daemon: it is denied, too.
func TestUnreadableIsDeniedUnderASystemDaemon(t *testing.T) {
	systemtest.Place(t, "")
	socket := filepath.Join(hooktest.ShortDir(t), "none")
	for _, payload := range []string{"{", "[]", `{"hook_event_name":"a b"}`} {
		if got := called(t, Options{Agent: "claude-code", Socket: socket}, payload); got.exit != 0 || !strings.Contains(got.stdout, `"deny"`) {
			t.Errorf("%s: %+v, which the agent does not read as a denial", payload, got)
		}
	}
}
