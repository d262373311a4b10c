package recorder

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/internal/record/stream"
	"github.com/hookd/hookd/wire"
)

// recorded is a Recorder that has two events of two sessions: one was decided by a run,
// the other waits for its hook.
type recorded struct {
	*Recorder
	store          *store.Store
	decided, waits *events.Event
	run            wire.Run
}

func record(t *testing.T) recorded {
	t.Helper()
	s, err := store.Open(store.Options{Path: filepath.Join(t.TempDir(), "hookd.db")})
	hooktest.Must(t, err)
	t.Cleanup(func() { s.Close() })
	hub := stream.New(stream.Options{First: s.FirstSeq(), Epoch: s.Epoch()})
	r := recorded{Recorder: New(hub, s), store: s}
	r.decided = event("session-one", "PreToolUse", `{"tool_name":"Bash","tool_input":{"command":"rm"}}`)
	r.decided.Wait, r.decided.Tool, r.decided.Subject, r.decided.Dialect = true, "Bash", "rm", events.ClaudeCode
	if refused := r.Accept(r.decided, r.Prepare(r.decided, false), nil, nil); refused != nil {
		t.Fatal(refused)
	}
	r.run = wire.Run{
		ID: events.NewRunID(time.Now()), EventID: r.decided.EventID, Event: "PreToolUse", Hook: "guard",
		Result: wire.ResultDeny, Dialect: events.ClaudeCode, SessionID: "session-one", Started: time.Now(), DurationMS: 3,
	}
	r.Finished(events.PendingKey{}, r.run, dispatch.Fate{})
	r.Decided(&wire.Decision{
		EventID: r.decided.EventID, EventSeq: r.decided.Seq, Time: r.decided.Time, Event: "PreToolUse",
		Kind: events.KindToolBefore, Dialect: events.ClaudeCode, SessionID: "session-one", Tool: "Bash", Subject: "rm",
		Decision: wire.OutcomeDeny, Reason: "no rm", DecidedBy: []string{"guard"}, Runs: []string{r.run.ID},
	})
	r.waits = event("session-two", "agent:end", `{}`)
	stored := make(chan *wire.Error, 1)
	refused := r.Accept(r.waits, r.Prepare(r.waits, true), []string{"notify"}, func(_ bool, err *wire.Error) { stored <- err })
	if refused == nil {
		refused = <-stored
	}
	if refused != nil {
		t.Fatal(refused)
	}
	return r
}

func event(session, name, data string) *events.Event {
	now := time.Now()
	return &events.Event{
		Envelope: events.Envelope{Event: name, Data: []byte(data), SessionID: session},
		EventID:  events.NewID(now), Time: now, Contract: events.For("", name),
	}
}

// Queries answer with the recorded data, ids may be cut, and a query for an absent record says so.
func TestHistory(t *testing.T) {
	r, ctx := record(t), t.Context()
	runs, bad := r.Runs(ctx, wire.RunQuery{Session: "one"})
	if bad != nil || runs.Recent || len(runs.Runs) != 1 || runs.Runs[0].ID != r.run.ID {
		t.Errorf("runs: got %+v, %v", runs, bad)
	}
	if runs, bad = r.Runs(ctx, wire.RunQuery{Session: "session-two"}); bad != nil || runs.Runs == nil || len(runs.Runs) != 0 {
		t.Errorf("runs of the other session: got %+v, %v", runs, bad)
	}
	decisions, bad := r.Decisions(ctx, wire.DecisionQuery{Decision: "deny", Session: "one"})
	if bad != nil || len(decisions.Decisions) != 1 || decisions.Decisions[0].Reason != "no rm" {
		t.Errorf("decisions: got %+v, %v", decisions, bad)
	}
	counts, bad := r.CountDecisions(ctx, wire.CountQuery{})
	if bad != nil || counts.Total != 1 || len(counts.Hooks) != 1 || counts.Hooks[0] != (wire.Count{Name: "guard", Count: 1}) {
		t.Errorf("counts: got %+v, %v", counts, bad)
	}
	accepted, bad := r.Accepted(ctx, wire.EventQuery{})
	if bad != nil || len(accepted.Events) != 2 || accepted.Events[0].EventID != r.waits.EventID {
		t.Errorf("accepted: got %+v, %v", accepted, bad)
	}
	shown, bad := r.Event(ctx, r.decided.EventID[8:])
	if bad != nil || shown.EventID != r.decided.EventID || shown.Decision == nil || shown.Decision.Reason != "no rm" {
		t.Errorf("event: got %+v, %v", shown, bad)
	}
	last, bad := r.Last(ctx, events.ClaudeCode, "session-two")
	if bad != nil || last.EventID != r.decided.EventID {
		t.Errorf("last: got %+v, %v", last, bad)
	}
	held := []store.SessionKey{{ID: "session-one", Dialect: events.ClaudeCode}}
	sessions, bad := r.Sessions(ctx, wire.SessionQuery{Session: "one"}, held)
	if bad != nil || len(sessions.Sessions) != 1 || sessions.Sessions[0].State != wire.SessionWaiting {
		t.Errorf("sessions: got %+v, %v", sessions, bad)
	}
	stats, bad := r.Stats(ctx, wire.StatsQuery{})
	if bad != nil || len(stats.Hooks) != 1 || stats.Hooks[0].Hook != "guard" || stats.Hooks[0].Denied != 1 {
		t.Errorf("stats: got %+v, %v", stats, bad)
	}
	if accepted, results := r.Totals(); accepted != 2 || results["deny"] != 1 {
		t.Errorf("totals: got %d events, runs %v", accepted, results)
	}
	for what, bad := range map[string]*wire.Error{
		"event":       second(r.Event(ctx, "NONE")),
		"run":         second(r.Run(ctx, "NONE")),
		"dead letter": second(r.DeadLetter(ctx, 7)),
	} {
		if bad == nil || bad.Code != wire.CodeNotFound || !strings.Contains(bad.Message, "no "+what) || bad.Hint == "" {
			t.Errorf("%s: got %+v", what, bad)
		}
	}
	if _, bad := r.Runs(ctx, wire.RunQuery{Session: "session"}); bad == nil || bad.Code != wire.CodeNotFound {
		t.Errorf("a session that two may be: got %v", bad)
	}
}

func second[T any](_ T, bad *wire.Error) *wire.Error { return bad }

// A run that is given up is a dead letter, which is tried again once.
func TestDeadLetters(t *testing.T) {
	r, ctx := record(t), t.Context()
	key := events.PendingKey{Seq: r.waits.Seq, Hook: "notify"}
	gone := wire.Run{
		ID: events.NewRunID(time.Now()), EventID: r.waits.EventID, Event: "agent:end", Hook: "notify",
		Result: wire.ResultFailed, Started: time.Now(),
	}
	r.Finished(key, gone, dispatch.Fate{Dead: "failed 5 times"})
	list, bad := r.DeadLetters(ctx, "notify", 0, 10)
	if bad != nil || len(list.Dead) != 1 || list.Dead[0].Reason != "failed 5 times" {
		t.Fatalf("got %+v, %v", list, bad)
	}
	id := list.Dead[0].ID
	if dead, bad := r.DeadLetter(ctx, id); bad != nil || string(dead.Data) != "{}" {
		t.Errorf("got %+v, %v", dead, bad)
	}
	dead, pending, bad := r.RetryDead(ctx, id)
	if bad != nil || dead.ID != id || pending.Key() != key {
		t.Errorf("got %+v, %+v, %v", dead, pending, bad)
	}
	if _, _, bad := r.RetryDead(ctx, id); bad == nil || bad.Code != wire.CodeNotFound {
		t.Errorf("a second time: got %v", bad)
	}
}

// While the disk cannot be read, memory answers the queries about recent events.
func TestHistoryFromMemory(t *testing.T) {
	r := record(t)
	hooktest.Must(t, r.store.Close())
	ctx := context.Background()
	runs, bad := r.Runs(ctx, wire.RunQuery{Hook: "guard"})
	if bad != nil || !runs.Recent || len(runs.Runs) != 1 || runs.Runs[0].ID != r.run.ID {
		t.Errorf("runs: got %+v, %v", runs, bad)
	}
	decisions, bad := r.Decisions(ctx, wire.DecisionQuery{Tool: "Bash"})
	if bad != nil || !decisions.Recent || len(decisions.Decisions) != 1 {
		t.Errorf("decisions: got %+v, %v", decisions, bad)
	}
	if run, bad := r.Run(ctx, r.run.ID[10:]); bad != nil || run.ID != r.run.ID {
		t.Errorf("run: got %+v, %v", run, bad)
	}
	if _, bad := r.Run(ctx, "NONE"); bad == nil || bad.Code != wire.CodeNotFound {
		t.Errorf("no run: got %v", bad)
	}
	if _, bad := r.Event(ctx, r.decided.EventID); bad == nil || bad.Code != wire.CodeStorage {
		t.Errorf("an event of a disk that fails: got %v", bad)
	}
}
