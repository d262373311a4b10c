package ask

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/people/card"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/wire"
)

// agentPID is the process that asks; it and those above it up to 100 are its tree.
const (
	agentPID  = 50
	personPID = 1000
)

type tree struct{}

func (tree) Has(pid int) bool { return pid >= agentPID && pid < 100 }
func (tree) Alive() bool      { return true }

// bench is a Holder on a real store, with an approver.
type bench struct {
	t     testing.TB
	path  string
	store *store.Store
	*Holder
	follower *Follower
	settings Settings
	look     func(*events.Event) Look

	mu       sync.Mutex
	emitted  []string
	recorded []*wire.Decision
}

func newBench(t testing.TB) *bench {
	b := &bench{t: t, path: t.TempDir() + "/hookd.db", settings: Settings{Hold: config.HoldAuto, Timeout: time.Hour}}
	b.start()
	t.Cleanup(func() { b.stop() })
	return b
}

func (b *bench) start() {
	var err error
	b.store, err = store.Open(store.Options{Path: b.path, Durable: store.DurableOS})
	hooktest.Must(b.t, err)
	b.Holder = New(context.Background(), Options{
		Store:  b.store,
		Redact: func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("hunter2"), []byte("[gone]")) },
		Tree: func(pid int) Tree {
			if pid == agentPID {
				return tree{}
			}
			return nil
		},
		Look: func(e *events.Event) Look {
			if b.look == nil {
				return Look{}
			}
			return b.look(e)
		},
		Emit: func(name string, _ json.RawMessage) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.emitted = append(b.emitted, name)
		},
		Record: func(d *wire.Decision) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.recorded = append(b.recorded, d)
			d.Seq = uint64(len(b.recorded))
			b.store.Decided(d)
		},
	})
	b.Configure(b.settings)
	b.EndLast(context.Background())
	b.follower = b.Follow(true)
}

func (b *bench) stop() {
	b.Close()
	b.follower.Close()
	hooktest.Must(b.t, b.store.Close())
}

// asking is a call about which hooks ask.
type asking struct {
	command, cwd, session string
	dialect               events.Dialect
	args                  string // further members of the input
	hooks                 []*hook.Hook
	why                   string // "" = "why"
	rewrite               string // of the command, by a hook; "" = none
	peer                  *events.Peer
	unasked               bool
	contain, opens        []string // the call's box, and its ways out that are asked about
}

func guard(name, digest string) *hook.Hook {
	return &hook.Hook{ID: name, Name: name, Digest: digest}
}

func (a asking) question() *dispatch.Question {
	input, _ := json.Marshal(a.command)
	data := fmt.Sprintf(`{"tool_name":"Bash","tool_input":{"command":%s%s}}`, input, a.args)
	if a.dialect == "" {
		a.dialect = events.Codex
	}
	e := &events.Event{Envelope: events.Envelope{
		Event: "PreToolUse", Dialect: a.dialect, SessionID: a.session, Cwd: a.cwd, Data: json.RawMessage(data), Peer: a.peer, Unattended: a.unasked,
	}, EventID: events.NewID(time.Now()), Time: time.Now(), CallID: "call-1"}
	e.Contract = events.For(a.dialect, "PreToolUse")
	q := &dispatch.Question{Event: e, Sender: agentPID,
		Verdict: &verdict.Verdict{Allowed: true, Continue: true, PermissionDecision: "ask", DecisionReason: "why"}}
	q.Verdict.Contain, q.Verdict.Opens = a.contain, a.opens
	if a.rewrite != "" {
		changed, _ := json.Marshal(a.rewrite)
		q.Verdict.UpdatedInput = json.RawMessage(fmt.Sprintf(`{"command":%s%s}`, changed, a.args))
	}
	for _, h := range a.hooks {
		q.Asking = append(q.Asking, dispatch.Asking{Hook: h, Reason: cmp.Or(a.why, "why")})
	}
	return q
}

// settling is a question that waits.
type settling struct {
	done     chan struct{}
	verdict  *verdict.Verdict
	answered *wire.Answered
}

func (b *bench) ask(a asking) *settling {
	s := &settling{done: make(chan struct{})}
	q := a.question()
	go func() {
		defer close(s.done)
		s.verdict, s.answered = b.Await(q)
	}()
	return s
}

func (s *settling) allowed() bool {
	<-s.done
	return s.verdict.Allowed && s.verdict.PermissionDecision == "allow"
}

// held waits until so many asks are held, and returns the ids.
func (b *bench) held(n int) (ids []string) {
	b.t.Helper()
	hooktest.Until(b.t, fmt.Sprintf("%d asks are held", n), func() bool {
		list := b.List()
		ids = nil
		for _, a := range list {
			ids = append(ids, a.ID)
		}
		return len(list) == n
	})
	return ids
}

func person() From {
	return From{Answerer: wire.Answerer{User: "ann", UID: 1000, PID: personPID, Program: "/usr/bin/hookd"}}
}

func (b *bench) reply(id string, r wire.Reply) (wire.Replied, *wire.Error) {
	return b.Answer(context.Background(), person(), id, b.looked(id, r))
}

// looked is an answer of a person who has seen the whole card.
func (b *bench) looked(id string, r wire.Reply) wire.Reply {
	if a, bad := b.Get(id); r.Answer == wire.OutcomeAllow && bad == nil && a.Card != nil {
		r.Digest = a.Card.Digest
	}
	return r
}

func (b *bench) mustReply(id string, r wire.Reply) wire.Replied {
	b.t.Helper()
	did, bad := b.reply(id, r)
	if bad != nil {
		b.t.Fatal(bad, bad.Hint)
	}
	return did
}

// take is the question whose id an ask has, answered.
func (b *bench) decideOne(a asking, r wire.Reply) *settling {
	b.t.Helper()
	s := b.ask(a)
	b.mustReply(b.held(1)[0], r)
	<-s.done
	return s
}

func push(command string) asking {
	return asking{command: command, cwd: "/p", session: "s", hooks: []*hook.Hook{guard("g", "1")}}
}

func TestAnAnswerIsGivenToTheAgent(t *testing.T) {
	b := newBench(t)
	yes := b.decideOne(push("git push"), wire.Reply{Answer: "allow", Door: "page"})
	if !yes.allowed() || yes.answered.By != wire.ByPerson || yes.answered.From.PID != personPID || yes.answered.From.Door != "page" {
		t.Errorf("allowed: %+v, %+v", yes.verdict, yes.answered)
	}
	no := b.decideOne(push("git push"), wire.Reply{Answer: "deny", Message: "not on a Friday"})
	if no.verdict.Allowed || no.verdict.Message != "denied by ann: not on a Friday" {
		t.Errorf("denied: %+v", no.verdict)
	}
	if len(b.Grants()) > 0 {
		t.Error("an answer for once is remembered")
	}
	if want := []string{"hookd:ask", "hookd:answered", "hookd:ask", "hookd:answered"}; !slices.Equal(b.emitted, want) {
		t.Errorf("hooks got %v", b.emitted)
	}
}

// Of many answers at once one wins, and every other learns who was first.
func TestTwoAnswersAtOnce(t *testing.T) {
	b := newBench(t)
	for range 50 {
		s := b.ask(push("git push"))
		id := b.held(1)[0]
		var wins, late int
		var mu sync.Mutex
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				r := wire.Reply{Answer: []wire.Outcome{"allow", "deny"}[i%2], For: []string{"once", "session"}[i/2%2]}
				_, bad := b.reply(id, r)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case bad == nil:
					wins++
				case bad.Code == wire.CodeAnswered && strings.Contains(bad.Message, "ann"):
					late++
				default:
					t.Errorf("%+v", bad)
				}
			})
		}
		all.Wait()
		<-s.done
		if wins != 1 || late != 7 {
			t.Fatalf("%d answers won, %d were late", wins, late)
		}
		for _, g := range b.Grants() {
			if _, bad := b.Revoke(context.Background(), g.ID); bad != nil {
				t.Fatal(bad)
			}
		}
	}
}

func TestAnAnswerFromTheTreeOrARunDoesNotCount(t *testing.T) {
	b := newBench(t)
	s := b.ask(push("git push"))
	id := b.held(1)[0]
	inTree, ofRun := person(), person()
	inTree.PID, ofRun.OfRun = agentPID+1, true
	for _, from := range []From{inTree, ofRun} {
		if _, bad := b.Answer(context.Background(), from, id, wire.Reply{Answer: "allow"}); bad == nil || bad.Code != wire.CodeForbidden {
			t.Errorf("%+v: %v", from, bad)
		}
	}
	b.mustReply(id, wire.Reply{Answer: "deny"})
	<-s.done
	if n := len(s.answered.Refused); n != 2 || s.answered.Refused[0].From.PID != agentPID+1 {
		t.Errorf("refused: %+v", s.answered.Refused)
	}
}

// Without an approver, without a known sender, without time, where the agent can ask
// itself, and where the settings or the hook say so, hookd holds nothing.
func TestWhatIsNotHeld(t *testing.T) {
	for name, change := range map[string]func(b *bench, q *dispatch.Question){
		"no approver": func(b *bench, _ *dispatch.Question) { b.follower.Close() },
		"never": func(b *bench, _ *dispatch.Question) {
			b.Configure(Settings{Hold: config.HoldNever, Timeout: time.Hour})
		},
		"the hook":  func(_ *bench, q *dispatch.Question) { q.Asking[0].Hook.Hold = config.HoldNever },
		"no sender": func(_ *bench, q *dispatch.Question) { q.Sender = 0 },
		"gone":      func(_ *bench, q *dispatch.Question) { q.Sender = 7 },
		"no time":   func(_ *bench, q *dispatch.Question) { q.Until = time.Now().Add(leastWait / 2) },
		"it asks":   func(_ *bench, q *dispatch.Question) { q.Event.Dialect = events.ClaudeCode },
		"too large": func(_ *bench, q *dispatch.Question) { q.Event.Data = make([]byte, maxCallBytes+1) },
		"stopped":   func(b *bench, _ *dispatch.Question) { b.Close() },
	} {
		b := newBench(t)
		q := push("git push").question()
		change(b, q)
		if v, a := b.Await(q); a != nil || v != q.Verdict {
			t.Errorf("%s: %+v, %+v", name, v, a)
		}
	}
}

// A hook that runs for asks is an approver, and a duration holds for agents that can
// ask, too.
func TestWhatIsHeld(t *testing.T) {
	b := newBench(t)
	b.follower.Close()
	b.opts.Hooked = func() bool { return true }
	b.Configure(Settings{Hold: "30m", Timeout: time.Hour})
	a := push("git push")
	a.dialect = events.ClaudeCode
	s := b.ask(a)
	list := b.List()
	for len(list) == 0 {
		list = b.List()
	}
	if wait := list[0].Until.Sub(list[0].Since); wait != 30*time.Minute {
		t.Errorf("it waits %s", wait)
	}
	b.mustReply(list[0].ID, wire.Reply{Answer: "allow"})
	if !s.allowed() {
		t.Errorf("%+v", s.verdict)
	}
}

// An ask that ends without an answer goes the agent's own way, and says why.
func TestNoAnswer(t *testing.T) {
	b := newBench(t)
	b.Configure(Settings{Hold: config.HoldAuto, Timeout: leastWait})
	s := b.ask(push("git push"))
	<-s.done
	if !s.verdict.Asks() || s.answered.By != wire.ByTimeout || !strings.Contains(s.verdict.DecisionReason, "in time") {
		t.Errorf("%+v, %+v", s.verdict, s.answered)
	}
	b.Configure(Settings{Hold: config.HoldAuto, Timeout: time.Hour})
	s = b.ask(push("git push"))
	id := b.held(1)[0]
	b.Close()
	<-s.done
	if !s.verdict.Asks() || s.answered.By != wire.ByRestart {
		t.Errorf("%+v, %+v", s.verdict, s.answered)
	}
	if _, bad := b.reply(id, wire.Reply{Answer: "allow"}); bad == nil || bad.Code != wire.CodeAnswered {
		t.Errorf("a late answer: %v", bad)
	}
}

// An ask that the previous daemon held is recorded as ended, and never answered.
func TestAnAskThatWasNotEnded(t *testing.T) {
	b := newBench(t)
	call := push("git push")
	call.why = "the password is hunter2"
	s := b.ask(call)
	id := b.held(1)[0]
	dead := b.killed()
	defer func() {
		dead.Close()
		<-s.done
	}()
	if len(b.recorded) != 1 || b.recorded[0].Answered.By != wire.ByRestart || b.recorded[0].Answered.AskID != id ||
		b.recorded[0].Decision != wire.OutcomeAsk || b.recorded[0].CallID != "call-1" ||
		b.recorded[0].Guarded != wire.GuardedAsked || !strings.HasPrefix(b.recorded[0].Reason, "the password is [gone] (") {
		t.Fatalf("recorded: %+v", b.recorded)
	}
	if told := b.recorded[0].Told; told == nil || told.Unsure != dispatch.Unanswered { // its bridge may have let it go on
		t.Errorf("told: %+v", told)
	}
	if _, bad := b.reply(id, wire.Reply{Answer: "allow"}); bad == nil || bad.Code != wire.CodeNotFound {
		t.Errorf("it can be answered: %v", bad)
	}
	b.nothingLeft()
}

// killed starts the next daemon in place of a killed daemon: everything that the killed daemon
// had not on disk is lost.
func (b *bench) killed() (dead *Holder) {
	dead = b.Holder
	copied := b.t.TempDir() + "/hookd.db"
	for _, end := range []string{"", "-wal"} {
		text, err := os.ReadFile(b.path + end)
		hooktest.Must(b.t, err)
		hooktest.Must(b.t, os.WriteFile(copied+end, text, 0o600))
	}
	old := b.store
	b.t.Cleanup(func() { old.Close() })
	b.path = copied
	b.start()
	return dead
}

func (b *bench) nothingLeft() {
	b.t.Helper()
	hooktest.Must(b.t, b.store.Flush(context.Background()))
	if left, err := b.store.Asks(context.Background()); err != nil || len(left) > 0 {
		b.t.Errorf("left: %v, %v", left, err)
	}
}

// An answer is on disk before the agent gets it: if hookd is killed then, the next daemon
// records who let the call pass.
func TestAnAnswerThatWasNotRecorded(t *testing.T) {
	for answer, want := range map[wire.Outcome]string{
		wire.OutcomeAllow: "allowed by ann: fine", wire.OutcomeDeny: "denied by ann: fine",
	} {
		b := newBench(t)
		s := b.ask(push("git push"))
		b.mustReply(b.held(1)[0], wire.Reply{Answer: answer, Message: "fine"})
		<-s.done
		b.killed()
		if len(b.recorded) != 1 {
			t.Fatalf("recorded: %+v", b.recorded)
		}
		d := b.recorded[0]
		if d.Decision != answer || d.Answered.By != wire.ByPerson || d.Answered.From.User != "ann" ||
			!strings.HasPrefix(d.Reason, want) || d.Answered.HeldMS <= 0 {
			t.Errorf("recorded: %+v, %+v", d, d.Answered)
		}
		b.nothingLeft()
	}
}

// stuck is a store whose disk does not answer.
type stuck struct{ Store }

func (stuck) SaveAsk(store.Saved) (held bool, written <-chan error) { return false, nil }

// A disk that does not answer keeps no ask from being held, and none from its answer.
func TestAskWithADiskThatHangs(t *testing.T) {
	row, disk := rowTime, diskTime
	rowTime, diskTime = 10*time.Millisecond, 10*time.Millisecond
	b := newBench(t)
	t.Cleanup(func() { rowTime, diskTime = row, disk })
	b.opts.Store = stuck{b.store}
	if s := b.decideOne(push("git push"), wire.Reply{Answer: "allow"}); !s.allowed() {
		t.Errorf("%+v", s.verdict)
	}
}

// A grant answers the same call of the same hook, session and folder, and nothing that
// is a little different.
func TestWhatAGrantCovers(t *testing.T) {
	base := push("git push origin main")
	base.args = `,"description":"Push it","workdir":"/p"`
	change := func(f func(*asking)) asking { a := base; f(&a); return a }
	tests := []struct {
		name  string
		reply wire.Reply
		next  asking
		want  bool
	}{
		{"the same", wire.Reply{For: "session"}, base, true},
		{"other words to people", wire.Reply{For: "session"},
			change(func(a *asking) { a.args = `,"workdir":"/p","description":"x","timeout":5` }), true},
		{"another command", wire.Reply{For: "session"}, change(func(a *asking) { a.command += " " }), false},
		{"another folder of the command", wire.Reply{For: "session"}, change(func(a *asking) { a.args = `,"workdir":"/q"` }), false},
		{"another argument", wire.Reply{For: "session"}, change(func(a *asking) { a.args += `,"sandbox":false` }), false},
		{"another cwd", wire.Reply{For: "always"}, change(func(a *asking) { a.cwd = "/q" }), false},
		{"another session", wire.Reply{For: "session"}, change(func(a *asking) { a.session = "t" }), false},
		{"another session, always", wire.Reply{For: "always"}, change(func(a *asking) { a.session = "t" }), true},
		{"another agent", wire.Reply{For: "always"}, change(func(a *asking) { a.dialect = events.GeminiCLI }), false},
		{"a changed hook", wire.Reply{For: "always"}, change(func(a *asking) { a.hooks = []*hook.Hook{guard("g", "2")} }), false},
		{"another hook", wire.Reply{For: "always"}, change(func(a *asking) { a.hooks = []*hook.Hook{guard("h", "1")} }), false},
		{"one more hook", wire.Reply{For: "always"},
			change(func(a *asking) { a.hooks = append(slices.Clone(a.hooks), guard("h", "1")) }), false},
		{"a rewrite", wire.Reply{For: "always"}, change(func(a *asking) { a.rewrite = "git push origin evil" }), false},
		{"like", wire.Reply{For: "15m", Like: "git push *"}, change(func(a *asking) { a.command = "git push -f 'a b'" }), true},
		{"like, nothing for *", wire.Reply{For: "15m", Like: "git push *"}, change(func(a *asking) { a.command = "git push" }), false},
		{"like, another word", wire.Reply{For: "15m", Like: "git push *"},
			change(func(a *asking) { a.command = "git -C /x push origin main" }), false},
		{"like, a second command", wire.Reply{For: "15m", Like: "git push *"},
			change(func(a *asking) { a.command = "git push origin main; rm -rf /" }), false},
		{"like, a new line", wire.Reply{For: "15m", Like: "git push *"},
			change(func(a *asking) { a.command = "git push origin main\nrm -rf /" }), false},
		{"like, behind &&", wire.Reply{For: "15m", Like: "git push *"},
			change(func(a *asking) { a.command = "git push origin main && rm x" }), false},
		{"like, a substitution", wire.Reply{For: "15m", Like: "git push *"},
			change(func(a *asking) { a.command = "git push $(rm x)" }), false},
		{"like, longer than a subject", wire.Reply{For: "15m", Like: "git push *"},
			change(func(a *asking) { a.command = "git push " + strings.Repeat("x", 300) + "; rm x" }), false},
		{"like, rewritten to something else", wire.Reply{For: "15m", Like: "git push *"},
			change(func(a *asking) { a.rewrite = "rm -rf /" }), false},
		{"like, too narrow", wire.Reply{For: "15m", Like: "git push origin *"},
			change(func(a *asking) { a.command = "git push upstream main" }), false},
		{"like, another argument", wire.Reply{For: "15m", Like: "git push *"}, change(func(a *asking) { a.args = `,"workdir":"/q"` }), false},
	}
	for _, tt := range tests {
		b := newBench(t)
		tt.reply.Answer = "allow"
		b.decideOne(base, tt.reply)
		if got := b.cover(tt.next.question(), callsOf(tt.next.question()), time.Now()).answers() != nil; got != tt.want {
			t.Errorf("%s: covered %v, want %v", tt.name, got, tt.want)
		}
		b.stop() // and it is the same after a restart
		b.start()
		if got := b.cover(tt.next.question(), callsOf(tt.next.question()), time.Now()).answers() != nil; got != tt.want {
			t.Errorf("%s, after a restart: covered %v, want %v", tt.name, got, tt.want)
		}
	}
}

// On the system daemon a grant answers the user whose call was asked about, and no other,
// in the same folder and session, too; elsewhere there is one user.
func TestAGrantIsOneUsers(t *testing.T) {
	ann, ann2, bob := &events.Peer{UID: 1000, PID: 1}, &events.Peer{UID: 1000, PID: 2}, &events.Peer{UID: 0, PID: 1}
	for _, tt := range []struct {
		of, next *events.Peer
		want     bool
	}{{ann, ann2, true}, {ann, bob, false}, {bob, ann, false}, {ann, nil, false}, {nil, ann, false}, {nil, bob, false}, {nil, nil, true}} {
		b := newBench(t)
		base := push("git push main")
		base.peer = tt.of
		b.decideOne(base, wire.Reply{Answer: "allow", For: "always", Like: "git push *"})
		next := push("git push x")
		next.peer = tt.next
		for range 2 {
			if got := b.cover(next.question(), callsOf(next.question()), time.Now()).answers() != nil; got != tt.want {
				t.Errorf("a grant of %v covers %v: %v, want %v", tt.of, tt.next, got, tt.want)
			}
			b.stop() // and it is the same after a restart
			b.start()
		}
	}
}

// An answer that cannot be remembered as asked is refused: the ask stays open.
func TestWhatCannotBeRemembered(t *testing.T) {
	for like, command := range map[string]string{
		"git pull *":  "git push x",
		"* push":      "git push",
		"*":           "git push",
		"git push *":  "git push x; ls",
		"git push \n": "git push",
	} {
		b := newBench(t)
		s := b.ask(push(command))
		id := b.held(1)[0]
		if _, bad := b.reply(id, wire.Reply{Answer: "allow", For: "always", Like: like}); bad == nil || bad.Code != wire.CodeBadRequest {
			t.Errorf("like %q for %q: %v", like, command, bad)
		}
		b.mustReply(id, wire.Reply{Answer: "deny"})
		<-s.done
	}
	b := newBench(t)
	a := push("git push")
	a.session = ""
	s := b.ask(a)
	id := b.held(1)[0]
	if _, bad := b.reply(id, wire.Reply{Answer: "allow", For: "session"}); bad == nil {
		t.Error("an answer is remembered for no session")
	}
	b.mustReply(id, wire.Reply{Answer: "deny"})
	<-s.done
}

// A grant of ways out of a box answers no ask about others, and none about a run without a box.
func TestGrantOfAWayOut(t *testing.T) {
	b := newBench(t)
	run := func(contained bool, opens ...string) asking {
		a := push("./run")
		if a.opens = opens; contained {
			a.contain = []string{"project"}
		}
		return a
	}
	b.decideOne(run(true, "/notes", "reg.test:443"), wire.Reply{Answer: "allow", For: "session"})
	if g := b.Grants(); len(g) != 1 || !slices.Equal(g[0].Opens, []string{"/notes", "reg.test:443"}) {
		t.Fatalf("the grant is %+v", g)
	}
	for _, tt := range []struct {
		a    asking
		want bool
	}{
		{run(true, "/notes"), true}, {run(true, "/notes/todo.md", "reg.test:443"), true}, {run(true, "/notes2"), false},
		{run(true, "/notes", "/other"), false}, {run(true, "other.test:443"), false}, {run(false), false},
	} {
		q := tt.a.question()
		if c := b.cover(q, callsOf(q), time.Now()); (c.answers() != nil) != tt.want {
			t.Errorf("a box %q with ways to %q is answered by %+v", tt.a.contain, tt.a.opens, c.answers())
		}
	}
	b.decideOne(run(false), wire.Reply{Answer: "allow", For: "session"}) // a run without a box is more than any way
	if q := run(true, "/other").question(); b.cover(q, callsOf(q), time.Now()).answers() == nil {
		t.Error("what may run without a box is asked about in one")
	}
}

// A remembered denial wins over an answer that allows, and a hook that has changed
// once does not get its grants back.
func TestDenialsAndChangedHooks(t *testing.T) {
	b := newBench(t)
	b.decideOne(push("git push x"), wire.Reply{Answer: "allow", For: "always"})
	a := push("git push y")
	b.decideOne(a, wire.Reply{Answer: "deny", For: "always", Like: "git push *"})
	if s := b.ask(push("git push x")); s.allowed() || s.answered.By != wire.ByGrant {
		t.Errorf("%+v", s.verdict)
	}
	b.Retain([]*hook.Hook{guard("g", "2")})
	b.Retain([]*hook.Hook{guard("g", "1")})
	if c := b.cover(a.question(), callsOf(a.question()), time.Now()); c.answers() != nil {
		t.Errorf("a grant of a hook that has changed counts: %+v", c)
	}
	for _, g := range b.Grants() {
		if g.Void == "" {
			t.Errorf("not void: %+v", g)
		}
	}
}

// model has the answers of a person, in the simplest words: which calls may pass.
type model struct{ grants map[string]func(asking) bool }

func (m *model) covers(a asking) (allowed bool) {
	for _, g := range m.grants {
		if g(a) {
			return true
		}
	}
	return false
}

// Whatever the order of asks, answers, grants, revocations and restarts: no call is
// allowed that no answer covers, and each call that an answer covers is.
func TestNoCallIsAllowedThatNoAnswerCovers(t *testing.T) {
	commands := []string{
		"git push", "git push origin main", "git push -f x", "git push x; rm y", "git pull", "rm -rf x", "git push\nrm x",
	}
	likes := []string{"", "git push *", "rm -rf *", "git push origin *"}
	hooks := []*hook.Hook{guard("g", "1"), guard("g", "2"), guard("h", "1")}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	one := func(list []string) string { return list[r.IntN(len(list))] }
	b := newBench(t)
	m := &model{grants: map[string]func(asking) bool{}}
	steps := 1500
	if !hooktest.All() {
		steps = 300
	}
	for range steps {
		switch r.IntN(12) {
		case 0:
			for _, g := range b.Grants() {
				if _, bad := b.Revoke(context.Background(), g.ID); bad != nil {
					t.Fatal(bad)
				}
				delete(m.grants, g.ID)
				break
			}
			continue
		case 1:
			if r.IntN(6) == 0 {
				b.stop()
				b.start()
			}
			continue
		}
		a := asking{command: one(commands), cwd: one([]string{"/p", "/q"}), session: one([]string{"s", "t"}),
			hooks: []*hook.Hook{hooks[r.IntN(len(hooks))]}}
		covered := m.covers(a)
		s := b.ask(a)
		if covered {
			if !s.allowed() || s.answered.By != wire.ByGrant {
				t.Fatalf("%+v is covered and was not allowed: %+v", a, s.verdict)
			}
			continue
		}
		id := b.held(1)[0]
		reply := wire.Reply{Answer: "allow", For: one([]string{"once", "session", "always", "1h"})}
		if reply.For != "once" {
			reply.Like = one(likes)
		}
		if r.IntN(3) == 0 {
			reply = wire.Reply{Answer: "deny"}
		}
		did, bad := b.reply(id, reply)
		if bad != nil { // a glob that does not cover the call
			reply.Like, reply.For = "", ""
			did = b.mustReply(id, reply)
		}
		if got := s.allowed(); got != (reply.Answer == "allow") {
			t.Fatalf("%+v was answered %q: %+v", a, reply.Answer, s.verdict)
		}
		for _, g := range did.Grants {
			m.grants[g.ID] = grantOf(a, reply)
		}
	}
}

// grantOf says in the model which calls an answer covers.
func grantOf(a asking, r wire.Reply) func(asking) bool {
	return func(n asking) bool {
		if n.cwd != a.cwd || n.hooks[0] != a.hooks[0] || r.For == "session" && n.session != a.session {
			return false
		}
		if r.Like == "" {
			return n.command == a.command
		}
		begin := strings.TrimSuffix(r.Like, "*")
		return strings.HasPrefix(n.command, begin) && !strings.ContainsAny(n.command, ";\n")
	}
}

// 10,000 held asks are goroutines of their senders, timers and rows, and no more.
func TestTenThousandAsks(t *testing.T) {
	n := 10_000
	if !hooktest.All() {
		n = 1000
	}
	was := rowTime
	rowTime = hooktest.Patience // so many at once, on a busy machine
	t.Cleanup(func() { rowTime = was })
	b := newBench(t)
	before := runtime.NumGoroutine()
	list := make([]*settling, n)
	for i := range list {
		list[i] = b.ask(push(fmt.Sprintf("git push %d", i)))
	}
	ids := b.held(n)
	hooktest.Until(t, "each ask costs the goroutine of its sender alone", func() bool {
		return runtime.NumGoroutine() <= before+n+20 // those of the database come and go
	})
	if rows, err := b.store.Asks(context.Background()); err != nil || len(rows) != n {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	var all sync.WaitGroup
	for at := range 8 {
		all.Go(func() {
			for i := at; i < n; i += 8 {
				if _, bad := b.reply(ids[i], wire.Reply{Answer: "allow"}); bad != nil {
					t.Error(bad)
					return
				}
			}
		})
	}
	all.Wait()
	for i, s := range list {
		if !s.allowed() {
			t.Fatalf("%+v", s.verdict)
		}
		b.store.Decided(&wire.Decision{Seq: uint64(i + 1), Time: time.Now(), Answered: s.answered}) // as the dispatcher does
	}
	b.nothingLeft()
}

// A follower that is behind gets everything again, and never holds up the rest.
func TestAFollowerThatIsBehind(t *testing.T) {
	b := newBench(t)
	slow := b.Follow(false)
	defer slow.Close()
	if first, err := slow.Next(context.Background(), nil); err != nil || string(first) != `{"type":"open","asks":0}`+"\n" {
		t.Fatalf("%s, %v", first, err)
	}
	a := push("git push " + strings.Repeat("x", 12<<10))
	var list []*settling
	for range 2 * maxBehind / (12 << 10) {
		list = append(list, b.ask(a))
	}
	ids := b.held(len(list))
	got, err := slow.Next(context.Background(), nil)
	if err != nil || !strings.HasPrefix(string(got), fmt.Sprintf(`{"type":"open","asks":%d}`, len(ids))) ||
		strings.Count(string(got), `"type":"ask"`) != len(ids) {
		t.Fatalf("%.80s, %v", got, err)
	}
	b.Close()
	for _, s := range list {
		<-s.done
	}
}

// An allow without the digest of the whole ask is refused, a denial needs none.
func TestAnAllowCarriesTheDigest(t *testing.T) {
	b := newBench(t)
	s := b.ask(push("git push " + strings.Repeat("x", 20<<10)))
	id := b.held(1)[0]
	short := b.List()[0]
	if short.Card == nil || short.Card.Whole || short.Card.Digest != "" || short.Input != nil {
		t.Fatalf("a list has %+v", short.Card)
	}
	whole, _ := b.Get(id)
	if !whole.Card.Whole || len(whole.Card.Digest) != 64 {
		t.Fatalf("the whole card is %+v", whole.Card)
	}
	other := "0" + whole.Card.Digest[1:]
	if other == whole.Card.Digest {
		other = "1" + whole.Card.Digest[1:]
	}
	for _, digest := range []string{"", "x", other, whole.Card.Digest[:8], strings.ToUpper(whole.Card.Digest) + " "} {
		_, bad := b.Answer(t.Context(), person(), id, wire.Reply{Answer: "allow", Digest: digest})
		if bad == nil || bad.Code != wire.CodeBadRequest || !strings.Contains(bad.Hint, "hookd ask ") {
			t.Errorf("an allow with digest %q: %v", digest, bad)
		}
		elsewhere := From{Answerer: wire.Answerer{User: "ann", UID: -1}, Elsewhere: true}
		if _, bad := b.Answer(t.Context(), elsewhere, id, wire.Reply{Answer: "allow", Digest: digest}); bad == nil {
			t.Errorf("an approver elsewhere with digest %q is taken", digest)
		}
	}
	b.mustReply(id, wire.Reply{Answer: "allow"})
	if !s.allowed() {
		t.Errorf("%+v", s.verdict)
	}
	_, bad := b.Answer(t.Context(), person(), id, wire.Reply{Answer: "allow"})
	if bad == nil || bad.Code != wire.CodeAnswered {
		t.Errorf("a late one: %v", bad)
	}

	s = b.ask(push("git push"))
	if _, bad := b.Answer(t.Context(), person(), b.held(1)[0], wire.Reply{Answer: "deny"}); bad != nil {
		t.Error(bad)
	}
	<-s.done
}

// Each ask has a digest of its own, also about the same call.
func TestADigestIsOfOneAsk(t *testing.T) {
	b := newBench(t)
	first, second := b.ask(push("git push")), b.ask(push("git push"))
	ids := b.held(2)
	one, _ := b.Get(ids[0])
	_, bad := b.Answer(t.Context(), person(), ids[1], wire.Reply{Answer: "allow", Digest: one.Card.Digest})
	if bad == nil {
		t.Error("the digest of another ask was taken")
	}
	for _, id := range ids {
		b.mustReply(id, wire.Reply{Answer: "deny"})
	}
	<-first.done
	<-second.done
}

// A call with text that people cannot see is allowed once at a time.
func TestHiddenTextIsAllowedOnce(t *testing.T) {
	b := newBench(t)
	s := b.ask(push("git push \u202e origin"))
	id := b.held(1)[0]
	_, bad := b.reply(id, wire.Reply{Answer: "allow", For: "session"})
	if bad == nil || !strings.Contains(bad.Message, "hidden characters") {
		t.Errorf("%v", bad)
	}
	b.mustReply(id, wire.Reply{Answer: "allow"})
	if !s.allowed() {
		t.Error("not allowed")
	}
}

// An agent that itself asks is held where it runs without a person.
func TestAnAgentWithoutAPersonIsHeld(t *testing.T) {
	b := newBench(t)
	call := push("git push")
	call.dialect = "claude-code"
	if b.Takes(call.question()) {
		t.Error("an agent with a person is held")
	}
	call.unasked = true
	s := b.ask(call)
	id := b.held(1)[0]
	a, _ := b.Get(id)
	last := a.Card.Says[len(a.Card.Says)-1]
	if last.Name != "no answer" || !strings.Contains(last.Text, "is told: denied") {
		t.Errorf("the card says %+v", last)
	}
	b.mustReply(id, wire.Reply{Answer: "allow"})
	if !s.allowed() {
		t.Errorf("%+v", s.verdict)
	}
}

// The part of the call that made a guard ask is marked where it is certain which it is; effects and
// repository are said.
func TestTheCardMarksWhatMadeAGuardAsk(t *testing.T) {
	b := newBench(t)
	text := "git status; git push -f"
	for _, tt := range []struct {
		name, args, rewrite string
		span                [2]int
		text, marked        string
	}{
		{name: "a span", span: [2]int{12, 23}, text: text, marked: "git push -f"},
		{name: "the whole", text: text},
		{name: "a span of another text", span: [2]int{12, 23}, text: "git push -f"},
		{name: "a span beyond the text", span: [2]int{12, 24}, text: text},
		{name: "two arguments with the text", args: `,"again":"` + text + `"`, span: [2]int{12, 23}, text: text},
		{name: "the text was rewritten", rewrite: text, span: [2]int{12, 23}, text: text},
	} {
		call := push(text)
		call.args, call.rewrite = tt.args, tt.rewrite
		q := call.question()
		q.Asking[0].Span = tt.span
		b.look = func(*events.Event) Look {
			return Look{Repo: &card.Repo{Name: "p"}, Effects: []string{"does it"}, Text: tt.text}
		}
		done := make(chan struct{})
		go func() { b.Await(q); close(done) }()
		id := b.held(1)[0]
		a, _ := b.Get(id)
		marked := ""
		for _, row := range a.Card.What {
			for _, part := range row.Parts {
				if part.Mark {
					marked += part.Text
				}
			}
		}
		if marked != tt.marked {
			t.Errorf("%s: %q is marked, want %q", tt.name, marked, tt.marked)
		}
		says := fmt.Sprint(a.Card.Says)
		if !strings.Contains(says, "{where p · /p}") || !strings.Contains(says, "runs it: does it.") {
			t.Errorf("%s: the card says %s", tt.name, says)
		}
		b.mustReply(id, wire.Reply{Answer: "deny"})
		<-done
	}
}
