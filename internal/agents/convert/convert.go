// Package convert turns hookd's own types into those of package client, and
// back, for the rooms that use both: it is the only place that does. Each
// conversion copies; it shares the raw JSON and the lists, which are never changed.
//
// A conversion written T(v) compiles only while both types have the same
// fields. A test holds the others to that.
package convert

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/contract/api"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// Event returns what is sent of an envelope.
func Event(e events.Envelope) client.Event {
	return client.Event{
		Event: e.Event, Data: e.Data, Wait: e.Wait, ID: e.ID,
		SessionID: e.SessionID, AgentID: e.AgentID, AgentName: e.AgentName, Cwd: e.Cwd, Sender: e.Sender,
		Dialect: client.Dialect(e.Dialect), Lane: e.Lane, TimeoutMS: e.TimeoutMS, Parent: e.Parent, Tells: e.Tells,
		Unasked: e.Unasked, Tried: e.Tried,
	}
}

// Envelope returns an event of the history as its sender wrote it.
func Envelope(e client.StoredEvent) events.Envelope {
	return events.Envelope{
		Event: e.Event, Data: e.Data, Wait: e.Wait,
		SessionID: e.SessionID, AgentID: e.AgentID, AgentName: e.AgentName, Cwd: e.Cwd, Sender: e.Sender,
		Dialect: events.Dialect(e.Dialect), Lane: e.Lane, TimeoutMS: e.TimeoutMS, Parent: e.Parent,
	}
}

// Verdict returns the verdict of an answer, nil of none.
func Verdict(v *client.Verdict) *verdict.Verdict { return (*verdict.Verdict)(v) }

// Error returns the refusal in err's chain, be it from the daemon or from the
// parser that the daemon uses; nil where there is none.
func Error(err error) *client.Error {
	var remote *client.Error
	if errors.As(err, &remote) {
		return remote
	}
	var local *events.Error
	if errors.As(err, &local) {
		return &client.Error{Code: client.Code(local.Code), Message: local.Message, Hint: local.Hint}
	}
	return nil
}

// Problems returns what is wrong with files that were read without a daemon.
func Problems(list []api.Problem) []client.Problem {
	problems := make([]client.Problem, len(list))
	for i, p := range list {
		problems[i] = client.Problem(p)
	}
	return problems
}

// Tests returns what the socket would have answered.
func Tests(t api.Tests) client.Tests {
	c := client.Tests{Hook: t.Hook, File: t.File, Digest: t.Digest, Failed: t.Failed, Tests: []client.TestedAs{}}
	for _, one := range t.Tests {
		c.Tests = append(c.Tests, client.TestedAs(one))
	}
	return c
}

// TestResult returns what the socket would have answered: both types are read and
// written as the same JSON.
func TestResult(t api.Tested) (result client.TestResult, err error) {
	text, err := json.Marshal(t)
	if err == nil {
		err = json.Unmarshal(text, &result)
	}
	if err != nil {
		err = fmt.Errorf("convert the result of a test: %w", err)
	}
	return result, err
}

// CardRows are the rows of a card as the terminal draws them.
func CardRows(rows []client.CardRow) []events.CardRow {
	list := make([]events.CardRow, len(rows))
	for i, r := range rows {
		list[i] = events.CardRow{Line: r.Line, Is: r.Is, Lines: r.Lines, Bytes: r.Bytes,
			Parts: make([]events.CardPart, len(r.Parts))}
		for k, p := range r.Parts {
			list[i].Parts[k] = events.CardPart(p)
		}
	}
	return list
}
