package learn

import (
	"context"
	"fmt"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/transcripts"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
)

// Limits of reading answers.
const (
	mostAnswered = 500   // of the newest decisions that are no denials
	mostDenied   = 5_000 // of the newest denials: a refusal counts however long ago it was
	answersTime  = 10 * time.Second
)

// History is the history of a daemon.
type History interface {
	Decisions(context.Context, client.DecisionQuery) ([]client.Decision, error)
	Event(context.Context, string) (client.StoredEvent, error)
}

// Answers gives the calls since a time that a person answered to hookd. An error means that some are missing: a
// refusal may be among them, so that the rest must not be learned from.
func Answers(ctx context.Context, c History, since time.Time, give func(*transcripts.Call)) error {
	ctx, cancel := context.WithTimeout(ctx, answersTime)
	defer cancel()
	denied, err := c.Decisions(ctx, client.DecisionQuery{Decision: "deny", Since: since, Limit: mostDenied})
	if err != nil {
		return fmt.Errorf("read your answers: %w", err)
	}
	others, err := c.Decisions(ctx, client.DecisionQuery{Decision: "-deny", Since: since, Limit: mostAnswered})
	if err != nil {
		return fmt.Errorf("read your answers: %w", err)
	}
	for _, d := range append(denied, others...) {
		if d.Answered == nil || d.Answered.By != "person" || d.Tried {
			continue
		}
		past, err := c.Event(ctx, d.EventID)
		if ctx.Err() != nil {
			return fmt.Errorf("read your answers: %w", ctx.Err())
		}
		if err != nil || !past.Whole {
			continue // what it was is not known
		}
		row := events.For(past.Dialect, past.Event)
		if row == nil {
			continue
		}
		call := dialect.Call(&events.Event{Envelope: events.Received(past.Envelope), Contract: row})
		if call.Own == "" {
			continue
		}
		give(&transcripts.Call{
			Agent: past.Dialect, Session: past.SessionID, ID: past.EventID, Time: past.Time, Cwd: past.Cwd,
			Root: past.Cwd, Tool: call.Own, Input: call.Given,
			Prompt: transcripts.Prompt{Asked: true, Yes: d.Answered.Answer == client.OutcomeAllow},
		})
	}
	return nil
}
