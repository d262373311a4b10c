package fleet_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/fleet/fleettest"
	"github.com/hookd/hookd/wire"
)

// local is the state of a machine. It fits fleet.Machine, fleet.Decisions and fleet.Asked.
type local struct {
	sessions  []wire.Session
	approvers map[string]ed25519.PublicKey

	mu      sync.Mutex
	decided []wire.Decision // that are not published
	asks    []wire.Ask
	given   []string      // answers
	last    chan struct{} // closed by the answer with the message "the last", which does not count
}

func (l *local) Facts() wire.FleetMachine {
	return wire.FleetMachine{Version: "1", Failing: []string{"guard"}}
}

func (l *local) Sessions(_ context.Context, since time.Time) (list []wire.Session, _ error) {
	for _, s := range l.sessions {
		if !s.Last.Before(since) {
			list = append(list, s)
		}
	}
	return list, nil
}

func (l *local) FollowAsks() fleet.AskStream { return &askStream{of: l} }

type askStream struct {
	of   *local
	read int
}

func (s *askStream) Next(ctx context.Context, dst []byte) ([]byte, error) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		s.of.mu.Lock()
		for ; s.read < len(s.of.asks); s.read++ {
			text, _ := json.Marshal(s.of.asks[s.read])
			kind := "ask"
			if s.of.asks[s.read].Answered != nil {
				kind = "answered"
			}
			dst = append(append(dst, strings.Replace(string(text), "{", `{"type":"`+kind+`",`, 1)...), '\n')
		}
		s.of.mu.Unlock()
		if len(dst) > 0 {
			return dst, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return dst, io.EOF
		}
	}
}

func (s *askStream) Close() {}

func (l *local) Ahead(_ context.Context, limit int) ([]wire.Decision, int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.decided[:min(limit, len(l.decided))]), 0, nil
}

func (l *local) Published(through uint64, _ int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.decided = slices.DeleteFunc(l.decided, func(d wire.Decision) bool { return d.Seq <= through })
}

func (l *local) Waiting(context.Context) (int, time.Time, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.decided), time.Time{}, nil
}

func (l *local) Ask(id string) (wire.Ask, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.asks {
		if a.ID == id {
			return a, true
		}
	}
	return wire.Ask{}, false
}

func (l *local) Answer(_ context.Context, approver string, s wire.FleetStatement) *wire.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.Message == "the last" {
		close(l.last)
		return nil
	}
	if len(l.given) > 0 {
		return &wire.Error{Code: wire.CodeAnswered}
	}
	l.given = append(l.given, approver+" "+string(s.Answer))
	return nil
}

func (l *local) answers() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.given)
}

func (l *local) Approvers() map[string]ed25519.PublicKey { return l.approvers }

func (l *local) join(t *testing.T, url, name string) *machine {
	return joinAs(t, engine.Options{Servers: []string{url}, Machine: name},
		fleet.Options{Machine: l, Decisions: l, Asked: l})
}

// The state of each machine, and its decisions, are seen from any other, once.
func TestAnyMachineShowsAll(t *testing.T) {
	url, now := fleettest.Start(t, nil).URL(), time.Now().UTC()
	const machines, decisions = 5, 300
	var viewer *machine
	for i := range machines {
		l := &local{sessions: []wire.Session{
			{SessionID: "s", Last: now, State: wire.SessionWorking, Cwd: "/"},
			{SessionID: "gone", Last: now.Add(-wire.IdleAfter - time.Hour), State: wire.SessionWorking, Cwd: "/"},
		}}
		for n := range decisions {
			outcome := wire.OutcomeDeny
			if n%2 == 0 {
				outcome = wire.OutcomeNone
			}
			l.decided = append(l.decided, wire.Decision{
				EventID: events.NewID(now), Seq: uint64(n + 1), Time: now.Add(time.Duration(n) * time.Millisecond), Decision: outcome,
			})
		}
		viewer = l.join(t, url, fmt.Sprintf("m%d", i))
	}
	var page wire.FleetDecisions
	hooktest.Until(t, "all decisions are there", func() bool {
		var err error
		page, err = viewer.Decisions(t.Context(), wire.FleetQuery{DecisionQuery: wire.DecisionQuery{Limit: 5000}})
		return err == nil && len(page.Decisions) >= machines*decisions
	})
	if len(page.Decisions) != machines*decisions || page.Decisions[0].Decision.Time.Before(page.Decisions[1].Decision.Time) {
		t.Errorf("there are %d decisions, or they are not newest first", len(page.Decisions))
	}
	denied, err := viewer.Decisions(t.Context(), wire.FleetQuery{
		Machine: "m1,m2", DecisionQuery: wire.DecisionQuery{Decision: "deny", Limit: 5000},
	})
	hooktest.Must(t, err)
	if len(denied.Decisions) != decisions {
		t.Errorf("two machines have denied %d times, want %d", len(denied.Decisions), decisions)
	}
	if again, err := viewer.Decisions(t.Context(), wire.FleetQuery{After: page.Through}); err != nil || len(again.Decisions) != 0 {
		t.Errorf("after the newest there are %d, %v", len(again.Decisions), err)
	}
	hooktest.Until(t, "all machines and sessions are there", func() bool {
		list, err := viewer.Machines(t.Context())
		sessions, bad := viewer.Sessions(t.Context(), wire.SessionQuery{})
		return err == nil && bad == nil && len(list) == machines && len(sessions.Sessions) == 2*machines &&
			sessions.Sessions[0].Session.State == wire.SessionWorking && // and those that are silent since do not work
			sessions.Sessions[machines].Session.State == wire.SessionIdle &&
			list[4].Machine == "m4" && !list[4].Away && list[4].Failing[0] == "guard"
	})
}

// asking is a machine with an ask that an approver may answer.
func asking(t *testing.T) (l *local, asks, other *machine, key ed25519.PrivateKey) {
	t.Helper()
	url := fleettest.Start(t, nil).URL()
	public, key, err := ed25519.GenerateKey(nil)
	hooktest.Must(t, err)
	l = &local{approvers: map[string]ed25519.PublicKey{"ann": public}, asks: []wire.Ask{{
		ID: events.NewID(time.Now()), Hook: "guard", Subject: "git push", Until: time.Now().Add(time.Hour).UTC(),
		Card: &wire.Card{Whole: true, Digest: strings.Repeat("ab", 32)},
	}}}
	return l, l.join(t, url, "b"), join(t, url, "a"), key
}

// shown waits until another machine sees the ask.
func shown(t *testing.T, from *machine) (found wire.FleetAsk) {
	t.Helper()
	hooktest.Until(t, "the ask is seen", func() bool {
		list, err := from.Asks(t.Context())
		if err == nil && len(list.Asks) == 1 {
			found = list.Asks[0]
		}
		return found.Machine == "b"
	})
	return found
}

func statement(of wire.FleetAsk) wire.FleetStatement {
	return wire.FleetStatement{
		Tenant: "t", Machine: of.Machine, Ask: of.Ask.ID, About: of.About, Answer: wire.OutcomeAllow, Until: of.Ask.Until,
		Time: time.Now().UTC(),
	}
}

// An approver answers from another machine. The ask is gone everywhere when its machine
// says so.
func TestAnswerFromAnotherMachine(t *testing.T) {
	l, _, other, key := asking(t)
	of := shown(t, other)
	hooktest.Must(t, other.PassAnswer(t.Context(), fleet.SignAnswer(statement(of), key)))
	hooktest.Until(t, "the answer is given", func() bool { return len(l.answers()) > 0 })
	if got := l.answers(); !slices.Equal(got, []string{"ann allow"}) {
		t.Errorf("the answers are %v", got)
	}
	l.mu.Lock()
	ended := l.asks[0]
	ended.Answered = &wire.Answered{By: wire.ByPerson}
	l.asks = append(l.asks, ended)
	l.mu.Unlock()
	hooktest.Until(t, "the ask has ended", func() bool {
		list, err := other.Asks(t.Context())
		return err == nil && len(list.Asks) == 0
	})
}

// ahead is a broker for a machine whose clock is hours ahead of the servers': they have one answer of an hour ago.
type ahead struct {
	*sleeper
	answer []byte
}

func (a ahead) Listen(ctx context.Context, _ string, _ func()) error { <-ctx.Done(); return nil }

func (a ahead) Read(_ context.Context, q engine.Query, each func(engine.Stored) bool) error {
	at := time.Now().Add(-5 * time.Hour)
	if q.Stream == "HOOKD_t_ANSWER" && q.After == 0 && !q.Since.After(at) {
		each(engine.Stored{Seq: 1, Time: at, Message: engine.Message{Subject: "hookd.t.a.answer", Data: a.answer}})
	}
	return nil
}

// An answer counts on a machine whose clock is ahead, which dates it before its ask.
func TestAnswerToAMachineWhoseClockIsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		public, key, err := ed25519.GenerateKey(nil)
		hooktest.Must(t, err)
		of := wire.Ask{ID: events.NewID(time.Now()), Until: time.Now().Add(time.Hour).UTC(), Card: &wire.Card{Digest: "ab"}}
		l := &local{approvers: map[string]ed25519.PublicKey{"ann": public}, asks: []wire.Ask{of}}
		text, err := json.Marshal(fleet.SignAnswer(statement(wire.FleetAsk{Machine: "b", Ask: of, About: "ab"}), key))
		hooktest.Must(t, err)
		broker := ahead{&sleeper{changed: make(chan struct{}, 1)}, text}
		f := fleet.New(fleet.Options{Broker: broker, Names: fleet.Names{Tenant: "t", Machine: "b"}, Outbox: &memory{}, Position: &positions{}, Asked: l})
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { f.Run(ctx); close(ended) }()
		synctest.Wait()
		if got := l.answers(); !slices.Equal(got, []string{"ann allow"}) {
			t.Errorf("the answers are %v", got)
		}
		end()
		<-ended
	})
}

// No answer counts that an approver did not give to this ask of this machine.
func TestForgedAnswersDoNotCount(t *testing.T) {
	l, asks, other, key := asking(t)
	of := shown(t, other)
	_, stranger, err := ed25519.GenerateKey(nil)
	hooktest.Must(t, err)
	changed := func(change func(*wire.FleetStatement)) wire.FleetAnswer {
		s := statement(of)
		change(&s)
		return fleet.SignAnswer(s, key)
	}
	torn := fleet.SignAnswer(statement(of), key)
	torn.Text = []byte(strings.Replace(string(torn.Text), "allow", "deny ", 1))
	bare := fleet.SignAnswer(statement(of), key)
	bare.Signature = ed25519.Sign(key, bare.Text) // without what stands before each answer
	forged := []wire.FleetAnswer{
		fleet.SignAnswer(statement(of), stranger), torn, bare,
		changed(func(s *wire.FleetStatement) { s.About = strings.Repeat("0", 64) }),
		changed(func(s *wire.FleetStatement) { s.About = "" }),
		changed(func(s *wire.FleetStatement) { s.Until = s.Until.Add(time.Hour) }),
		changed(func(s *wire.FleetStatement) { s.Answer = "ask" }),
		changed(func(s *wire.FleetStatement) { s.Ask = events.NewID(time.Now()) }),
	}
	for i, a := range forged { // one after another: the servers keep few answers of a machine to an ask
		hooktest.Must(t, other.PassAnswer(t.Context(), a))
		hooktest.Until(t, "it is refused", func() bool { return status(t, asks).Refused > uint64(i) })
	}
	elsewhere := changed(func(s *wire.FleetStatement) { s.Machine = "c" })
	text, _ := json.Marshal(elsewhere)
	hooktest.Must(t, other.broker.Publish(t.Context(), []engine.Message{{
		Subject: "hookd.t.a.answer", Data: text,
	}})[0])
	if got := l.answers(); len(got) > 0 {
		t.Errorf("forged answers count: %v", got)
	}
	hooktest.Must(t, other.PassAnswer(t.Context(), fleet.SignAnswer(statement(of), key)))
	hooktest.Until(t, "a right answer counts", func() bool { return len(l.answers()) == 1 })
	if n := status(t, asks).Refused; n != uint64(len(forged)) {
		t.Errorf("%d answers are refused, want %d: one is for another machine", n, len(forged))
	}
}

// hears waits until the machine has read all answers that were sent before.
func (l *local) hears(t *testing.T, from *machine, of wire.FleetAsk, key ed25519.PrivateKey) {
	t.Helper()
	last := statement(of)
	last.Message, last.Answer = "the last", wire.OutcomeDeny
	l.mu.Lock()
	l.last = make(chan struct{})
	heard := l.last
	l.mu.Unlock()
	hooktest.Must(t, from.PassAnswer(t.Context(), fleet.SignAnswer(last, key)))
	<-heard
}

// Two halves of a fleet answer the same ask: the first that comes wins, and nothing is
// allowed before one comes.
func TestTheFirstAnswerWins(t *testing.T) {
	l, _, other, key := asking(t)
	of := shown(t, other)
	if len(l.answers()) > 0 {
		t.Fatal("there is an answer before one was given")
	}
	no := statement(of)
	no.Answer = wire.OutcomeDeny
	hooktest.Must(t, other.PassAnswer(t.Context(), fleet.SignAnswer(no, key)))
	hooktest.Must(t, other.PassAnswer(t.Context(), fleet.SignAnswer(statement(of), key)))
	hooktest.Until(t, "the first is given", func() bool { return len(l.answers()) > 0 })
	l.hears(t, other, of, key)
	if got := l.answers(); !slices.Equal(got, []string{"ann deny"}) {
		t.Errorf("the answers are %v", got)
	}
}
