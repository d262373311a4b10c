package client_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// A failed run's way through the history: its event, its dead letter with the
// event's data, another try, and its end.
func TestDeadLetterThroughTheHistory(t *testing.T) {
	socket, stop := daemonWith(`{name: post, events: "agent:*", type: script, script: "exit 1", retry: {max: 1, backoff: 1ms}}`)
	defer stop()
	c, ctx := client.New(client.Options{Socket: socket}), t.Context()
	answer, err := c.Emit(ctx, client.Event{Event: "agent:end", Data: json.RawMessage(`{"agent_id":"a1"}`)})
	if err != nil {
		t.Fatal(err)
	}
	var dead []client.DeadLetter
	hooktest.Until(t, "the run is given up", func() bool {
		dead, err = c.DeadLetters(ctx, "post", 1)
		return err == nil && len(dead) == 1
	})
	letter, err := c.DeadLetter(ctx, dead[0].ID)
	if err != nil || letter.EventID != answer.EventID || letter.Hook != "post" || string(letter.Data) != `{"agent_id":"a1"}` {
		t.Errorf("got %+v, %v", letter, err)
	}
	if again, err := c.RetryDeadLetter(ctx, letter.ID); err != nil || again.EventID != answer.EventID {
		t.Errorf("retry: got %+v, %v", again, err)
	}
	hooktest.Until(t, "it is given up again, under a new number", func() bool {
		dead, err = c.DeadLetters(ctx, "", 0)
		return err == nil && len(dead) == 1 && dead[0].ID != letter.ID
	})
	if gone, err := c.DropDeadLetter(ctx, dead[0].ID); err != nil || gone.ID != dead[0].ID {
		t.Errorf("drop: got %+v, %v", gone, err)
	}
	var refused *client.Error
	if _, err := c.DropDeadLetter(ctx, dead[0].ID); !errors.As(err, &refused) || refused.Code != client.CodeNotFound {
		t.Errorf("drop again: got %v, want %s", err, client.CodeNotFound)
	}

	if event, err := c.Event(ctx, answer.EventID); err != nil || event.Event != "agent:end" || event.Bytes != 17 {
		t.Errorf("event: got %+v, %v", event, err)
	}
	if replay, err := c.Replay(ctx, answer.EventID, "post", true); err != nil || len(replay.Matched) != 1 || replay.EventID != "" {
		t.Errorf("dry replay: got %+v, %v", replay, err)
	}
	hooktest.Until(t, "all runs are counted", func() bool {
		stats, err := c.Stats(ctx, client.StatsQuery{Hook: "post"})
		return err == nil && len(stats) == 1 && stats[0].Failures == 3
	})
}
