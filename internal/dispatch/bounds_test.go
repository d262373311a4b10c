package dispatch

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
	"github.com/hookd/hookd/wire"
)

func TestAnIDWithOtherContentIsAConflict(t *testing.T) {
	const first = `{"event":"pre_tool_use","id":"x","sender":"s","session_id":"a","data":{"tool_name":"shell","tool_input":{"cmd":"ls"}},"wait":true}`
	for _, change := range [][2]string{
		{`"cmd":"ls"`, `"cmd":"rm -rf /"`},
		{`"pre_tool_use"`, `"permission_request"`},
		{`"session_id":"a"`, `"session_id":"b"`},
		{`"sender":"s"`, `"sender":"s","cwd":"/elsewhere"`},
		{`"sender":"s"`, `"sender":"s","agent_name":"other"`},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, Options{}, []*hook.Hook{matchtest.Hook("guard", "pre_tool_use")}, nil)
			b.emit(t, first)
			other := strings.Replace(first, change[0], change[1], 1)
			if r, err := b.try(t, Origin{}, other); err == nil || err.Code != wire.CodeIDConflict {
				t.Errorf("%s: got %+v, %v, want a conflict", change[1], r, err)
			}
			if r := b.emit(t, first); !r.Duplicate {
				t.Errorf("%s: the first is not known any more: %+v", change[1], r)
			}
		})
	}
}

// A sender that floods loses its own ids.
func TestAFloodOfIDsPushesOutNoOthers(t *testing.T) {
	d, now := newDedup(noIDs{}), time.Now()
	enter := func(sender, id string) bool {
		t.Helper()
		_, first, err := d.enter(&events.Envelope{Sender: sender, ID: id, Event: "x"}, now)
		if err != nil {
			t.Fatal(err)
		}
		return first
	}
	enter("quiet", "mine")
	for i := range dedupMax + 1000 {
		enter("flood", fmt.Sprint(i))
	}
	if enter("quiet", "mine") {
		t.Error("the quiet sender's id was pushed out")
	}
	if d.count > dedupMax {
		t.Errorf("%d ids are kept, want %d at most", d.count, dedupMax)
	}
}

func TestAnswersAreKeptInBoundedMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := `{"updated_tool_response":"` + strings.Repeat("x", 1<<20) + `"}`
		b := newBench(t, Options{}, []*hook.Hook{matchtest.Hook("rewrite", "tool_response_transform")}, map[string]behaviour{"rewrite": {stdout: `{"hook_specific_output":` + long + `}`}})
		line := func(i int) string {
			return fmt.Sprintf(`{"event":"tool_response_transform","id":"%d","wait":true,"data":{"tool_name":"shell","tool_response":"y"}}`, i)
		}
		for i := range 40 {
			if r := b.emit(t, line(i)); len(r.Verdict.UpdatedToolResponse) < 1<<20 {
				t.Fatalf("verdict %.200v, want a long one", r.Verdict)
			}
		}
		if b.seen.bytes > receiptBytes {
			t.Errorf("%d bytes of answers are kept, want %d at most", b.seen.bytes, receiptBytes)
		}
		if r := b.emit(t, line(39)); !r.Duplicate || len(r.Verdict.UpdatedToolResponse) < 1<<20 {
			t.Errorf("the newest answer is gone: %+v", r.Duplicate)
		}
		if _, err := b.try(t, Origin{}, line(0)); err == nil || err.Code != wire.CodeAnswerGone {
			t.Errorf("got %v for the oldest, want that its answer is gone", err)
		}
	})
}

// The sender's record of a run has no output, which would be kept with it.
func TestAReceiptHasNoOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Options{}, []*hook.Hook{matchtest.Hook("a", "pre_tool_use"), matchtest.Hook("o", "agent:end")}, map[string]behaviour{"a": {stdout: "long"}, "o": {stdout: "long"}})
		for _, event := range []string{"pre_tool_use", "agent:end"} {
			r := b.emit(t, `{"event":"`+event+`","wait":true,"data":{}}`)
			if len(r.Runs) != 1 || r.Runs[0].Stdout.Bytes != 0 || r.Runs[0].Stdout.Head != "" || r.Runs[0].Input != "" {
				t.Errorf("%s: runs %+v, want one without output", event, r.Runs)
			}
		}
	})
}

// Events that wait for a verdict take bounded memory: an event beyond the bound is denied.
func TestTooManyEventsThatWaitForAVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Options{Decidable: 1, MaxBytes: 2700}, []*hook.Hook{matchtest.Hook("guard", "pre_tool_use")}, map[string]behaviour{"guard": {takes: time.Second}})
		line := `{"event":"pre_tool_use","wait":true,"data":{"tool_input":"` + strings.Repeat("x", 450) + `"}}`
		done := make(chan Receipt, 2)
		for range 2 {
			go func() { done <- b.emit(t, line) }()
		}
		synctest.Wait()
		start := time.Now()
		if r := b.emit(t, line); r.Verdict.Allowed || !strings.Contains(r.Verdict.Message, "too many events") || time.Since(start) != 0 {
			t.Errorf("verdict %+v after %s, want a denial at once", r.Verdict, time.Since(start))
		}
		for range 2 {
			if r := <-done; !r.Verdict.Allowed {
				t.Errorf("verdict %+v of one that fits", r.Verdict)
			}
		}
		if r := b.emit(t, line); !r.Verdict.Allowed {
			t.Errorf("verdict %+v when there is room again", r.Verdict)
		}
		if r := b.emit(t, strings.Replace(line, "xxx", strings.Repeat("x", 2000), 1)); !r.Verdict.Allowed {
			t.Errorf("verdict %+v of a large event alone", r.Verdict)
		}
	})
}

// A slot that comes too late is not used: the hook would only be killed.
func TestARunWithoutTimeLeftIsNotStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Options{Decidable: 1}, []*hook.Hook{matchtest.Hook("guard", "pre_tool_use")}, map[string]behaviour{"guard": {takes: 990 * time.Millisecond}})
		line := `{"event":"pre_tool_use","wait":true,"timeout_ms":1000}`
		go func() { b.emit(t, line) }()
		synctest.Wait()
		r := b.emit(t, line)
		if r.Verdict.Allowed || len(r.Runs) != 1 || r.Runs[0].Result != wire.ResultTimeout || !strings.Contains(r.Runs[0].Error, "too late") {
			t.Errorf("verdict %+v, runs %+v, want a timeout before its start", r.Verdict, r.Runs)
		}
		if len(b.fake.ran) != 1 {
			t.Errorf("ran %v, want the first only", b.fake.ran)
		}
		if r := b.emit(t, `{"event":"pre_tool_use","wait":true,"timeout_ms":20}`); len(b.fake.ran) != 2 {
			t.Errorf("runs %+v: a short budget alone is no reason not to start", r.Runs)
		}
	})
}
