package learn

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/transcripts"
)

// answered is the number of answers in a History, the newest first. The oldest answer is a refusal.
type answered int

func (n answered) Decisions(_ context.Context, q client.DecisionQuery) (list []client.Decision, _ error) {
	for i := range int(n) {
		d := client.Decision{EventID: fmt.Sprint(i), Decision: client.OutcomeAllow}
		if i == int(n)-1 {
			d.Decision = client.OutcomeDeny
		}
		d.Answered = &client.Answered{By: "person", Answer: d.Decision}
		is := d.Decision == client.OutcomeDeny
		if (q.Decision == "" || is == (q.Decision == "deny")) && len(list) < q.Limit {
			list = append(list, d)
		}
	}
	return list, nil
}

func (answered) Event(_ context.Context, id string) (e client.StoredEvent, _ error) {
	e.EventID, e.Dialect, e.Event, e.Whole = id, "claude-code", "PreToolUse", true
	e.Data = json.RawMessage(`{"tool_name":"Bash","tool_input":{"command":"go test ./..."}}`)
	return e, nil
}

// TestAnOldRefusal counts, however many calls were decided after it.
func TestAnOldRefusal(t *testing.T) {
	yes, no := 0, 0
	err := Answers(t.Context(), answered(2000), time.Time{}, func(c *transcripts.Call) {
		if c.Prompt.Yes {
			yes++
		} else {
			no++
		}
	})
	if err != nil || yes != mostAnswered || no != 1 {
		t.Errorf("%v, %d approvals, %d refusals", err, yes, no)
	}
}

// cutOff ends while its events are read.
type cutOff struct {
	answered
	cancel context.CancelFunc
}

func (c cutOff) Event(ctx context.Context, id string) (client.StoredEvent, error) {
	c.cancel()
	return client.StoredEvent{}, ctx.Err()
}

// gone answers nothing.
type gone struct{ answered }

func (gone) Decisions(context.Context, client.DecisionQuery) ([]client.Decision, error) {
	return nil, client.ErrNotRunning
}

// TestAnswersThatAreMissing are an error: a refusal may be among them.
func TestAnswersThatAreMissing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, h := range []History{gone{}, cutOff{9, cancel}} {
		if err := Answers(ctx, h, time.Time{}, func(*transcripts.Call) {}); err == nil {
			t.Errorf("%T: no error", h)
		}
	}
}
