package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
	"github.com/hookd/hookd/wire"
)

// behaviour is the way a fake hook acts.
type behaviour struct {
	takes  time.Duration
	stdout string
	exit   int
	err    error
	does   func(j *Job) // while it runs
	fails  func() bool  // exits with 1 when it says so
}

// fake runs hooks by name inside a synctest bubble. It honours deadlines and
// cancellation like the real one.
type fake struct {
	hooks map[string]behaviour

	mu      sync.Mutex
	ran     []string // "hook event data" in the order started
	running map[string]int
	most    map[string]int // largest number at once, by hook and ""
}

func (f *fake) Run(ctx context.Context, j *Job) JobResult {
	b := f.hooks[j.Hook.Name]
	start := time.Now()
	f.enter(j)
	defer f.leave(j)
	if b.err != nil {
		return JobResult{Err: b.err, ExitCode: -1, Started: start}
	}
	if b.does != nil {
		b.does(j)
	}
	out := JobResult{Started: start, ExitCode: b.exit, Whole: []byte(b.stdout), Stdout: wire.Output{Head: b.stdout, Bytes: int64(len(b.stdout))}}
	if b.fails != nil && b.fails() {
		out.ExitCode = 1
	}
	timeout := time.NewTimer(j.Timeout)
	defer timeout.Stop()
	select {
	case <-time.After(b.takes):
	case <-timeout.C:
		out.TimedOut, out.ExitCode, out.Whole = true, -1, nil
	case <-ctx.Done():
		out.Signal, out.ExitCode, out.Whole = "SIGKILL", -1, nil
	}
	out.Duration = time.Since(start)
	return out
}

func (f *fake) enter(j *Job) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ran = append(f.ran, j.Hook.Name+" "+j.Given+" "+string(j.Payload))
	for _, name := range []string{"", j.Hook.Name} {
		f.running[name]++
		f.most[name] = max(f.most[name], f.running[name])
	}
}

func (f *fake) leave(j *Job) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running[""]--
	f.running[j.Hook.Name]--
}

// tape records the calls of a Recorder.
type tape struct {
	mu        sync.Mutex
	more      sync.Cond // a run was recorded; see wait
	seq       uint64
	runs      []wire.Run
	begun     []wire.UnderWay
	decided   []wire.Decision
	undecided []wire.Decision
	ended     map[uint64]string // by the number of the event before the call: how it was guarded
	began     time.Time         // of all sessions; zero = when it is asked for
	before    []wire.Decision   // of the process before
}

func (t *tape) Prepare(*events.Event, bool) Prepared { return nil }

func (t *tape) Accept(e *events.Event, p Prepared, hooks []string, stored func(bool, *wire.Error)) *wire.Error {
	t.mu.Lock()
	t.seq++
	e.Seq = t.seq
	t.mu.Unlock()
	if stored != nil {
		stored(false, nil)
	}
	return nil
}

func (t *tape) Started(events.PendingKey, string, time.Time) {}

func (t *tape) Finished(_ events.PendingKey, r wire.Run, _ Fate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs = append(t.runs, r)
	t.more.Broadcast()
}

// wait returns when n runs of a hook are recorded.
func (t *tape) wait(hook string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.more.L = &t.mu
	for count(t.runs, hook) < n {
		t.more.Wait()
	}
}

func count(runs []wire.Run, hook string) (n int) {
	for _, r := range runs {
		if r.Hook == hook {
			n++
		}
	}
	return n
}

func (t *tape) Deciding(d *wire.Decision, _, open bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if open {
		t.undecided = append(t.undecided, *d)
	}
}

func (t *tape) Durable() bool { return false }

func (t *tape) Ended(seq uint64, g wire.Guarded, ran wire.Ran) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended == nil {
		t.ended = map[uint64]string{}
	}
	t.ended[seq] = strings.TrimSpace(string(g) + " " + ran.Instead)
}

func (t *tape) Began(
	session string, d events.Dialect, id string, began time.Time, in time.Duration,
) (first time.Time, asked *wire.Decision, ok bool) {
	for _, r := range t.before {
		if r.SessionID == session && r.Dialect == d && r.CallID == id && began.Sub(r.Time) <= in {
			asked = &r
		}
	}
	if t.began.IsZero() {
		return time.Now(), asked, true
	}
	return t.began, asked, true
}

func (t *tape) Begun(u func() wire.UnderWay) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun = append(t.begun, u())
}

func (t *tape) Decided(d *wire.Decision) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.decided = append(t.decided, *d)
	t.more.Broadcast()
}

// decisions waits until n decisions are recorded, and returns all that are.
func (t *tape) decisions(n int) []wire.Decision {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.more.L = &t.mu
	for len(t.decided) < n {
		t.more.Wait()
	}
	return slices.Clone(t.decided)
}

func (t *tape) NextPending(uint64) (int64, error)             { return 0, nil }
func (t *tape) Pending(uint64, int) ([]events.Pending, error) { return nil, nil }
func (t *tape) HasSubscribers() bool                          { return false }

func (t *tape) results() (list []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.runs {
		list = append(list, r.Hook+":"+string(r.Result))
	}
	return list
}

type bench struct {
	*Dispatcher
	fake *fake
	tape *tape
	logs *observer.ObservedLogs
}

// newBench makes a Dispatcher with fake hooks; each hook's own settings are
// changed by mods.
func newBench(t *testing.T, o Options, hooks []*hook.Hook, behaviours map[string]behaviour) *bench {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	b := &bench{fake: &fake{hooks: behaviours, running: map[string]int{}, most: map[string]int{}}, tape: &tape{}, logs: logs}
	o.Runner, o.Log = b.fake, zap.New(core)
	if o.Recorder == nil {
		o.Recorder = b.tape
	}
	b.Dispatcher = New(o)
	b.Publish(matchtest.Snapshot(hooks...))
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		b.Drain(ctx)
	})
	return b
}

func (b *bench) emit(t *testing.T, line string) Receipt {
	t.Helper()
	r, err := b.try(t, Origin{}, line)
	if err != nil {
		t.Fatalf("emit %s: %v", line, err)
	}
	return r
}

func (b *bench) try(t *testing.T, from Origin, line string) (Receipt, *wire.Error) {
	t.Helper()
	env, err := events.Parse([]byte(line))
	if err != nil {
		t.Fatalf("parse %s: %v", line, err)
	}
	return b.Emit(from, env)
}

func TestEventsOfOneSessionRunInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Options{Observers: 4}, []*hook.Hook{matchtest.Hook("h", "*")}, map[string]behaviour{"h": {takes: time.Second}})
		for i := range 6 {
			b.emit(t, fmt.Sprintf(`{"event":"agent:step","data":{"session_id":"s%d","n":%d}}`, i%2, i))
		}
		start := time.Now()
		b.Drain(t.Context())
		if got := time.Since(start); got != 3*time.Second {
			t.Errorf("two sessions of three events took %s, want 3s: side by side, each in order", got)
		}
		seen := map[string]string{}
		for _, line := range b.fake.ran {
			var data struct {
				SessionID string `json:"session_id"`
				N         int
			}
			if err := json.Unmarshal([]byte(strings.SplitN(line, " ", 3)[2]), &data); err != nil {
				t.Fatal(err)
			}
			seen[data.SessionID] += fmt.Sprint(data.N)
		}
		if seen["s0"] != "024" || seen["s1"] != "135" {
			t.Errorf("order by session = %v, want s0 024 and s1 135", seen)
		}
	})
}

func TestOrderSerialAndParallel(t *testing.T) {
	for _, tt := range []struct {
		order hook.Order
		want  time.Duration
	}{{hook.OrderSerial, 4 * time.Second}, {hook.OrderParallel, time.Second}, {hook.OrderSession, time.Second}} {
		t.Run(string(tt.order), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := matchtest.With(matchtest.Hook("h", "*"), func(h *hook.Hook) { h.Order = tt.order })
				b := newBench(t, Options{Observers: 8}, []*hook.Hook{h}, map[string]behaviour{"h": {takes: time.Second}})
				for range 4 {
					b.emit(t, `{"event":"x"}`) // no session: no order by default
				}
				start := time.Now()
				b.Drain(t.Context())
				if got := time.Since(start); got != tt.want {
					t.Errorf("took %s, want %s", got, tt.want)
				}
			})
		})
	}
}

func TestConcurrencyAndSlotsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hooks := []*hook.Hook{matchtest.With(matchtest.Hook("two", "*"), func(h *hook.Hook) { h.Concurrency = 2 }), matchtest.Hook("free", "*")}
		b := newBench(t, Options{Observers: 5}, hooks, map[string]behaviour{"two": {takes: time.Second}, "free": {takes: time.Second}})
		for range 12 {
			b.emit(t, `{"event":"x"}`)
		}
		b.Drain(t.Context())
		if b.fake.most["two"] != 2 || b.fake.most[""] != 5 || len(b.fake.ran) != 24 {
			t.Errorf("most at once %v, %d runs; want two:2, all:5, 24 runs", b.fake.most, len(b.fake.ran))
		}
		if s := b.Stats(); s.QueuedEvents != 0 || s.QueuedBytes != 0 || s.QueuedRuns != 0 || s.RunningObserve != 0 {
			t.Errorf("load after the drain = %+v, want none", s)
		}
		if len(b.observers.queue.strands)+len(b.observers.queue.hooks)+len(b.observers.queue.events) != 0 {
			t.Errorf("the queue keeps lanes %v, hooks %v, events %v", b.observers.queue.strands, b.observers.queue.hooks, b.observers.queue.events)
		}
	})
}

func TestFullQueueRefusesObserversButNeverAVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Options{Observers: 1, MaxEvents: 2}, []*hook.Hook{matchtest.Hook("log", "*"), matchtest.Hook("guard", "pre_tool_use")},
			map[string]behaviour{"log": {takes: time.Second}, "guard": {exit: 2}})
		b.emit(t, `{"event":"x"}`)
		b.emit(t, `{"event":"x"}`)
		if _, err := b.try(t, Origin{}, `{"event":"x"}`); err == nil || err.Code != wire.CodeQueueFull || err.RetryAfter == 0 {
			t.Errorf("third event: %v, want %s with a time to retry", err, wire.CodeQueueFull)
		}
		r := b.emit(t, `{"event":"pre_tool_use","data":{"tool_name":"shell","tool_input":{}},"wait":true}`)
		if r.Verdict == nil || r.Verdict.Allowed {
			t.Errorf("verdict = %+v, want a denial", r.Verdict)
		}
		if !slices.Equal(r.Matched, []string{"guard"}) || len(r.Warnings) != 1 {
			t.Errorf("matched %v, warnings %q; want the dropped observer left out and named", r.Matched, r.Warnings)
		}
		b.Drain(t.Context())
		b2 := b.tape.results()
		slices.Sort(b2)
		if want := []string{"guard:deny", "log:ok", "log:ok"}; !slices.Equal(b2, want) {
			t.Errorf("runs %v, want %v", b2, want)
		}
	})
}

func TestVerdictDoesNotWaitForObservers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Options{Observers: 1, Decidable: 1}, []*hook.Hook{matchtest.Hook("log", "*"), matchtest.Hook("guard", "pre_tool_use")},
			map[string]behaviour{"log": {takes: 4 * time.Second}, "guard": {takes: 10 * time.Millisecond}})
		for range 200 {
			b.emit(t, `{"event":"agent:step"}`)
		}
		start := time.Now()
		r := b.emit(t, `{"event":"pre_tool_use","wait":true}`)
		if got := time.Since(start); got != 10*time.Millisecond || !r.Verdict.Allowed {
			t.Errorf("verdict %+v after %s, want allowed after 10ms", r.Verdict, got)
		}
	})
}

func TestFailuresOfGuardsDenyAndOfObserversOnlyWarn(t *testing.T) {
	for _, tt := range []struct {
		name   string
		b      behaviour
		result wire.Result
		field  string // of the WARN
	}{
		{"timeout", behaviour{takes: time.Hour}, wire.ResultTimeout, "timeout"},
		{"exit-1", behaviour{exit: 1}, wire.ResultFailed, "exit"},
		{"spawn", behaviour{err: errors.New("no such file")}, wire.ResultSpawnError, "error"},
		{"garbage", behaviour{stdout: `{"decision":`}, wire.ResultFailed, "exit"},
		{"panic", behaviour{does: func(*Job) { panic("boom") }}, wire.ResultSpawnError, "error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, Options{}, []*hook.Hook{matchtest.Hook("guard", "pre_tool_use")}, map[string]behaviour{"guard": tt.b})
				r := b.emit(t, `{"event":"pre_tool_use","data":{"tool_name":"shell"},"wait":true}`)
				if r.Verdict.Allowed || !strings.Contains(r.Verdict.Message, "guard") {
					t.Errorf("verdict = %+v, want a denial that names the hook", r.Verdict)
				}
				if got := r.Runs[0].Result; got != tt.result {
					t.Errorf("result = %s, want %s", got, tt.result)
				}
				warns := b.logs.FilterLevelExact(zapcore.WarnLevel).All()
				if len(warns) != 1 || warns[0].ContextMap()[tt.field] == nil || warns[0].ContextMap()["hook"] != "guard" {
					t.Errorf("warnings = %v, want one with the fields hook and %s", warns, tt.field)
				}
			})
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, Options{}, []*hook.Hook{matchtest.Hook("log", "*")}, map[string]behaviour{"log": tt.b})
				r := b.emit(t, `{"event":"pre_tool_use","data":{"tool_name":"shell"},"wait":true}`)
				if !r.Verdict.Allowed {
					t.Errorf("a logging hook denied: %+v", r.Verdict)
				}
			})
		})
	}
}

func TestBudgetEndsEveryHook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hooks := []*hook.Hook{matchtest.Hook("a", "user_prompt_submit"), matchtest.Hook("b", "user_prompt_submit")}
		b := newBench(t, Options{}, hooks, map[string]behaviour{"a": {takes: time.Hour}, "b": {stdout: "hello"}})
		start := time.Now()
		r := b.emit(t, `{"event":"user_prompt_submit","wait":true,"timeout_ms":700}`)
		if got := time.Since(start); got != 700*time.Millisecond {
			t.Errorf("answered after %s, want 700ms", got)
		}
		if r.Runs[0].Result != wire.ResultTimeout || r.Verdict.AdditionalContext != "hello" {
			t.Errorf("runs %+v verdict %+v, want a timed out and b's context", r.Runs, r.Verdict)
		}
	})
	synctest.Test(t, func(t *testing.T) { // without timeout_ms: the sum in sequence
		hooks := []*hook.Hook{matchtest.Hook("a", "pre_tool_use"), matchtest.Hook("b", "pre_tool_use")}
		b := newBench(t, Options{}, hooks, map[string]behaviour{"a": {takes: time.Hour}, "b": {takes: 4 * time.Second}})
		r := b.emit(t, `{"event":"pre_tool_use","wait":true}`)
		if r.Runs[0].Result != wire.ResultTimeout || r.Runs[1].Result != wire.ResultOK {
			t.Errorf("runs %+v, want a timeout and an ok: one timeout does not cancel the next", r.Runs)
		}
	})
}

// A run that neither its deadline nor a kill brings back delays the answer by a
// moment, and is still recorded when it comes back.
func TestStuckRun(t *testing.T) {
	for name, tt := range map[string]struct {
		stop bool
		want time.Duration
	}{
		"at its deadline":    {false, 700*time.Millisecond + startTime},
		"when hookd stopped": {true, 300*time.Millisecond + grace},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				hooks := []*hook.Hook{matchtest.Hook("stuck", "pre_tool_use"), matchtest.Hook("b", "pre_tool_use")}
				b := newBench(t, Options{}, hooks, map[string]behaviour{"stuck": {does: func(*Job) { <-release }}})
				if tt.stop {
					time.AfterFunc(300*time.Millisecond, b.kill)
				}
				start := time.Now()
				r := b.emit(t, `{"event":"pre_tool_use","wait":true,"timeout_ms":700}`)
				if got := time.Since(start); got != tt.want {
					t.Errorf("answered after %s, want %s", got, tt.want)
				}
				if r.Verdict.Allowed || r.Runs[0].Result != wire.ResultTimeout {
					t.Errorf("verdict %+v, runs %+v, want a denial and a timeout", r.Verdict, r.Runs)
				}
				close(release)
				synctest.Wait()
				if got := b.tape.results(); !slices.ContainsFunc(got, func(r string) bool { return strings.HasPrefix(r, "stuck:") }) {
					t.Errorf("recorded %v, want the run that was stuck, too", got)
				}
			})
		})
	}
}

func TestRewritesArePassedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hooks := []*hook.Hook{matchtest.Hook("a", "pre_tool_use"), matchtest.Hook("b", "pre_tool_use")}
		b := newBench(t, Options{}, hooks, map[string]behaviour{
			"a": {stdout: `{"hook_specific_output":{"updated_input":{"cmd":"ls -h"}}}`},
			"b": {stdout: `{"hookSpecificOutput":{"updatedInput":{"extra":1}}}`},
		})
		r := b.emit(t, `{"event":"pre_tool_use","data":{"tool_name":"shell","tool_input":{"cmd":"ls","cwd":"."}},"wait":true}`)
		if !strings.Contains(b.fake.ran[1], `"cmd":"ls -h"`) {
			t.Errorf("b saw %s, want a's rewrite", b.fake.ran[1])
		}
		if got, want := string(r.Verdict.UpdatedInput), `{"cmd":"ls -h","cwd":".","extra":1}`; got != want {
			t.Errorf("updated input = %s, want %s", got, want)
		}
	})
}

func TestTransformStopsAtTheFirstReplacement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hooks := []*hook.Hook{matchtest.Hook("broken", "transform_tool_result"), matchtest.Hook("abstains", "transform_tool_result"), matchtest.Hook("first", "transform_tool_result"), matchtest.Hook("second", "transform_tool_result")}
		b := newBench(t, Options{}, hooks, map[string]behaviour{"broken": {exit: 1, stdout: "no"}, "first": {stdout: "one\n"}, "second": {stdout: "two"}})
		r := b.emit(t, `{"event":"transform_tool_result","data":{"tool_output":"zero"},"wait":true}`)
		if got, want := string(r.Verdict.UpdatedToolResponse), `"one\n"`; got != want || !r.Verdict.Allowed {
			t.Errorf("replacement = %s allowed %t, want %s", got, r.Verdict.Allowed, want)
		}
		if len(r.Runs) != 3 {
			t.Errorf("%d runs, want 3: the chain ends at the first replacement", len(r.Runs))
		}
	})
}

func TestPreemptLaneGoesFirstAndCanEndIt(t *testing.T) {
	ask := `{"hook_specific_output":{"permission_decision":"ask","permission_decision_reason":"sure?"}}`
	for _, tt := range []struct {
		name, preempt, lane string
		ran                 []string
		decision            string
	}{
		{"silent", "", "", []string{"early", "late"}, ""},
		{"asks", ask, "", []string{"early"}, "ask"},
		{"only-default", ask, "default", []string{"late"}, ""},
		{"only-preempt", "", "preempt", []string{"early"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hooks := []*hook.Hook{matchtest.Hook("late", "pre_tool_use"), matchtest.With(matchtest.Hook("early", "pre_tool_use"), func(h *hook.Hook) { h.Lane = events.LanePreempt })}
				b := newBench(t, Options{}, hooks, map[string]behaviour{"early": {stdout: tt.preempt}})
				r := b.emit(t, fmt.Sprintf(`{"event":"pre_tool_use","wait":true,"lane":%q}`, tt.lane))
				var ran []string
				for _, run := range r.Runs {
					ran = append(ran, run.Hook)
				}
				if !slices.Equal(ran, tt.ran) || r.Verdict.PermissionDecision != tt.decision {
					t.Errorf("ran %v, decision %q; want %v, %q", ran, r.Verdict.PermissionDecision, tt.ran, tt.decision)
				}
			})
		})
	}
}

func TestIdenticalDefinitionsRunOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		same := func(h *hook.Hook) { h.Definition = "echo" }
		b := newBench(t, Options{}, []*hook.Hook{matchtest.With(matchtest.Hook("a", "x"), same), matchtest.Hook("b", "x"), matchtest.With(matchtest.Hook("c", "x"), same)}, nil)
		if r := b.emit(t, `{"event":"x","wait":true}`); !slices.Equal(r.Matched, []string{"a", "b"}) {
			t.Errorf("matched %v, want a and b", r.Matched)
		}
	})
}

func TestDuplicateIDsAreAcceptedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Options{}, []*hook.Hook{matchtest.Hook("guard", "pre_tool_use")}, map[string]behaviour{"guard": {takes: time.Second, exit: 2}})
		line := `{"event":"pre_tool_use","id":"call-1","sender":"s","wait":true}`
		var first Receipt
		go func() { first = b.emit(t, line) }()
		synctest.Wait()
		second := b.emit(t, line) // joins the one that waits
		synctest.Wait()
		if second.EventID != first.EventID || !second.Duplicate || second.Verdict == nil || second.Verdict.Allowed {
			t.Errorf("second = %+v, want the first's id %s and its denial", second, first.EventID)
		}
		if other := b.emit(t, strings.Replace(line, `"s"`, `"t"`, 1)); other.EventID == first.EventID {
			t.Error("another sender's event with the same id was taken for a duplicate")
		}
		<-time.After(dedupWindow + time.Second)
		if later := b.emit(t, line); later.Duplicate {
			t.Error("an id still counted as seen after the window")
		}
		if len(b.fake.ran) != 3 {
			t.Errorf("%d runs, want 3", len(b.fake.ran))
		}
	})
}

func TestChainsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b *bench
		var refused *wire.Error
		b = newBench(t, Options{Observers: 2, Decidable: 2}, []*hook.Hook{matchtest.Hook("echo", "*")}, map[string]behaviour{"echo": {does: func(j *Job) {
			pid := 1000 + j.Event.Depth
			j.Started(Process{PID: pid})
			if _, err := b.try(t, b.Origin(Sender{Session: pid, Group: pid}), `{"event":"again","wait":true}`); err != nil {
				refused = err
			}
		}}})
		b.emit(t, `{"event":"x","wait":true}`)
		if refused == nil || refused.Code != wire.CodeTooDeep {
			t.Errorf("refused with %v, want %s", refused, wire.CodeTooDeep)
		}
		if got := len(b.fake.ran); got != MaxDepth+1 {
			t.Errorf("%d runs, want %d", got, MaxDepth+1)
		}
	})
}

func TestNestedWaitsCannotTakeAllSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b *bench
		b = newBench(t, Options{Observers: 1, Decidable: 1}, []*hook.Hook{matchtest.Hook("outer", "pre_tool_use"), matchtest.Hook("inner", "tool_guard")}, map[string]behaviour{"outer": {does: func(j *Job) {
			j.Started(Process{PID: 77})
			b.try(t, b.Origin(Sender{Session: 77, Group: 77}), `{"event":"tool_guard","wait":true}`)
		}}})
		start := time.Now()
		r := b.emit(t, `{"event":"pre_tool_use","wait":true}`)
		if !r.Verdict.Allowed || time.Since(start) != 0 {
			t.Errorf("verdict %+v after %s, want allowed at once", r.Verdict, time.Since(start))
		}
	})
}

func TestOriginOfASender(t *testing.T) {
	alive := map[int]bool{}
	c := newChain(func(pgid int) bool { return alive[pgid] })
	now := time.Now()
	ended := c.started(Process{PID: 10, Cgroup: "/run-10"}, 3, "h")
	for _, tt := range []struct {
		name      string
		sid, pgid int
		cgroup    string
		gone      bool
		want      Origin
	}{
		{"agent", 1, 1, "", false, Origin{}},
		{"member", 10, 10, "", false, Origin{Depth: 4, Hook: "h"}},
		{"own-group-same-session", 10, 55, "", false, Origin{Depth: 4, Hook: "h"}},
		{"setsid-in-cgroup", 60, 60, "/run-10", false, Origin{Depth: 4, Hook: "h"}},
		{"gone", 0, 0, "", true, Origin{Depth: 4}},
	} {
		if got := c.origin(Sender{Session: tt.sid, Group: tt.pgid, Cgroup: tt.cgroup, Gone: tt.gone}, now); got != tt.want {
			t.Errorf("%s: origin = %+v, want %+v", tt.name, got, tt.want)
		}
	}
	alive[10] = true
	ended()
	if got := c.origin(Sender{Session: 10, Group: 10}, now); got.Depth != 4 {
		t.Errorf("background child of an ended run: %+v, want depth 4", got)
	}
	alive[10] = false
	c.started(Process{PID: 11}, 0, "x")()
	if got := c.origin(Sender{Session: 10, Group: 10}, now); got != (Origin{}) {
		t.Errorf("a group that is gone still counts: %+v", got)
	}
}

func TestOneHookCannotFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Options{}, nil, nil)
		from := Origin{Depth: 1, Hook: "h"}
		for i := range maxBurst {
			if _, err := b.try(t, from, `{"event":"x"}`); err != nil {
				t.Fatalf("event %d: %v", i, err)
			}
		}
		if _, err := b.try(t, from, `{"event":"x"}`); err == nil || err.Code != wire.CodeTooMany {
			t.Errorf("event %d: %v, want %s", maxBurst+1, err, wire.CodeTooMany)
		}
		<-time.After(burstWindow)
		if _, err := b.try(t, from, `{"event":"x"}`); err != nil {
			t.Errorf("after the window: %v", err)
		}
	})
}

func TestParentGivesTheDepth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Options{}, []*hook.Hook{matchtest.Hook("h", "*")}, nil)
		id := b.emit(t, `{"event":"x"}`).EventID
		for depth := 1; depth <= MaxDepth; depth++ {
			id = b.emit(t, fmt.Sprintf(`{"event":"x","parent":%q}`, id)).EventID
		}
		if _, err := b.try(t, Origin{}, fmt.Sprintf(`{"event":"x","parent":%q}`, id)); err == nil || err.Code != wire.CodeTooDeep {
			t.Errorf("got %v, want %s", err, wire.CodeTooDeep)
		}
	})
}

func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Options{Observers: 1}, []*hook.Hook{matchtest.Hook("slow", "*"), matchtest.Hook("guard", "pre_tool_use")},
			map[string]behaviour{"slow": {takes: 4 * time.Second}, "guard": {takes: time.Hour}})
		b.Publish(matchtest.Snapshot(matchtest.Hook("slow", "*"), matchtest.With(matchtest.Hook("guard", "pre_tool_use"), func(h *hook.Hook) { h.Timeout = time.Minute })))
		for range 4 {
			b.emit(t, `{"event":"x"}`)
		}
		var deciding Receipt
		go func() { deciding = b.emit(t, `{"event":"pre_tool_use","wait":true}`) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		dropped := b.Drain(ctx)
		synctest.Wait()
		if _, err := b.try(t, Origin{}, `{"event":"x"}`); err == nil || err.Code != wire.CodeDraining {
			t.Errorf("an event after the drain: %v, want %s", err, wire.CodeDraining)
		}
		if deciding.Verdict == nil || deciding.Verdict.Allowed {
			t.Errorf("verdict of the unfinished guard = %+v, want a denial", deciding.Verdict)
		}
		if dropped != 2 { // two of five slow runs ended, one was killed
			t.Errorf("dropped %d, want 2", dropped)
		}
		if got := len(b.tape.results()); got != 6 {
			t.Errorf("%d runs recorded, want 6: also those that never started", got)
		}
	})
}

func TestLateOutputBelongsToTheRecordButDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Options{}, []*hook.Hook{matchtest.Hook("h", "x")}, nil)
		b.opts.Runner = lateRunner{}
		start := time.Now()
		b.emit(t, `{"event":"x","wait":true}`)
		if got := time.Since(start); got != 0 {
			t.Errorf("answered after %s, want at once", got)
		}
		b.Drain(t.Context())
		if got := b.tape.runs[0].Stdout.Head; got != "late" {
			t.Errorf("recorded %q, want the late output", got)
		}
	})
}

type lateRunner struct{}

func (lateRunner) Run(context.Context, *Job) JobResult {
	return JobResult{Started: time.Now(), Late: func() (stdout, stderr wire.Output) {
		<-time.After(250 * time.Millisecond)
		return wire.Output{Head: "late", Bytes: 4}, wire.Output{}
	}}
}

func TestHooksOfOneDialectGetEventsOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bash := regexp.MustCompile(`^(?:Bash)$`)
		guard := matchtest.With(matchtest.Hook("guard", "pre_tool_use"), func(h *hook.Hook) { h.Matcher, h.MatcherText = bash, "Bash" })
		b := newBench(t, Options{}, []*hook.Hook{matchtest.Hook("notify", "agent:end"), guard}, map[string]behaviour{
			"guard": {stdout: `{"hook_specific_output":{"updated_input":{"cmd":"ls -h"}}}`},
		})
		b.emit(t, `{"event":"UserPromptSubmit","dialect":"claude-code","data":{"session_id":"s1","prompt":"hi"}}`)
		<-time.After(1500 * time.Millisecond)
		b.emit(t, `{"event":"Stop","dialect":"claude-code","data":{"session_id":"s1","last_assistant_message":"done"},"wait":true}`)
		b.Drain(t.Context())
		var got map[string]any
		_, data, _ := strings.Cut(b.fake.ran[0], "notify agent:end ")
		if err := json.Unmarshal([]byte(data), &got); err != nil {
			t.Fatalf("ran %q: %v", b.fake.ran, err)
		}
		if got["session_id"] != "s1" || got["agent_id"] == nil || got["status"] != "ok" || got["duration_ms"] != 1500.0 || got["response_preview"] != "done" {
			t.Errorf("agent:end was given %s", data)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		guard := matchtest.With(matchtest.Hook("guard", "pre_tool_use"), func(h *hook.Hook) {
			h.Matcher, h.MatcherText = regexp.MustCompile(`^(?:Bash)$`), "Bash"
		})
		b := newBench(t, Options{}, []*hook.Hook{guard}, map[string]behaviour{
			"guard": {stdout: `{"hook_specific_output":{"updated_input":{"cmd":"ls -h"}}}`},
		})
		for _, line := range []string{
			`{"event":"pre_tool_use","data":{"tool_name":"shell","tool_input":{"cmd":"ls"}},"wait":true}`,
			`{"event":"PreToolUse","dialect":"claude-code","data":{"tool_name":"Bash","tool_input":{"command":"ls","description":"d"}},"wait":true}`,
			`{"event":"BeforeTool","data":{"tool_name":"run_shell_command","tool_input":{"command":"ls"}},"wait":true}`,
		} {
			r := b.emit(t, line)
			if len(r.Matched) != 1 || !strings.Contains(string(r.Verdict.UpdatedInput), `"ls -h"`) {
				t.Errorf("%s: matched %v, input %s", line, r.Matched, r.Verdict.UpdatedInput)
			}
			if strings.Contains(line, "command") && !strings.Contains(string(r.Verdict.UpdatedInput), `"command":"ls -h"`) {
				t.Errorf("%s: input %s, want it in the agent's own words", line, r.Verdict.UpdatedInput)
			}
		}
	})
}

// A payload that makes hookd panic costs its run. Here it is of an event without a
// contract, which cannot be sent.
func TestPanicInMakingAPayload(t *testing.T) {
	b := newBench(t, Options{}, nil, nil)
	e := &events.Event{}
	a := &attempt{event: e, contract: &events.Contract{}, match: match.Match{Hook: matchtest.Hook("h", "x"), Rules: dialect.Rules(""), Given: "y"}, timeout: time.Second}
	over := b.runs.prepareJob(a)
	defer over()
	if out := b.runs.run(a.job); out.Err != errInternal || len(b.fake.ran) != 0 {
		t.Errorf("got %+v after %d runs, want none and an internal error", out, len(b.fake.ran))
	}
	if logged := b.logs.FilterMessage("panic in making a payload").Len(); logged != 1 {
		t.Errorf("logged %d times, want once", logged)
	}
}
