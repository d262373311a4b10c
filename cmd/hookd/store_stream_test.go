package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// streamed is one record as `hookd log events -o json` prints it.
type streamed struct {
	Type, Epoch, Event, Hook, Result, Preview string
	Seq, From, To                             uint64
	Bytes                                     int
	Truncated                                 bool
	Data                                      json.RawMessage
}

// tail returns the records that the stream keeps after since.
func (h *home) tail(since uint64) (epoch string, list []streamed) {
	h.Helper()
	out, code := h.hookd("tail", "--since", fmt.Sprint(since), "--once", "-o", "json")
	if code != 0 {
		h.Fatalf("tail exits %d: %s", code, out)
	}
	for line := range strings.Lines(out) {
		var r streamed
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			h.Fatalf("record %q: %v", line, err)
		}
		if r.Type == "epoch" {
			epoch = r.Epoch
			continue
		}
		list = append(list, r)
	}
	return epoch, list
}

// counts sends n events over one connection, each when the one before is
// answered, and waits until their built-in has run for all.
func (h *home) counts(n int) {
	h.Helper()
	conn, err := h.client.Dial(h.Context())
	if err != nil {
		h.Fatal(err)
	}
	defer conn.Close()
	for i := range n {
		if err := conn.Send(h.Context(), client.Event{Event: "count", Data: fmt.Appendf(nil, `{"n":%d}`, i)}); err != nil {
			h.Fatal(err)
		}
		if _, err := conn.Receive(h.Context()); err != nil {
			h.Fatal(err)
		}
	}
	hooktest.Until(h.T, "all have run", func() bool {
		st, err := h.client.Status(h.Context())
		return err == nil && st.Store.PendingRuns == 0 && st.Store.Runs >= int64(n)
	})
}

func newCountingHome(t *testing.T, settings string) *home {
	h := newHome(t)
	h.write("hooks/count/HOOK.yaml", "name: count\nevents: [count]\ntype: builtin\ncommand: add_context\nargs: [counted]\n")
	h.write("hookd.yaml", settings)
	return h
}

func TestSubscriberThatComesBackHasNoGap(t *testing.T) {
	t.Parallel()
	const n = 1000 // twice as many records, far more than the 1,024 that memory has
	h := newCountingHome(t, "history: {payload: full}\n")
	h.serve()
	h.counts(n)
	first, before := h.tail(0)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		h.end(sig)
		h.serve()
		epoch, list := h.tail(0)
		if epoch != first {
			t.Errorf("after %v the epoch is %s, want %s as before", sig, epoch, first)
		}
		events, runs, last := 0, 0, uint64(0)
		for _, r := range list {
			if r.Seq <= last || r.Type == "gap" {
				t.Fatalf("after %v: record %+v after %d", sig, r, last)
			}
			last = r.Seq
			switch {
			case r.Type == "event" && r.Event == "count":
				if want := fmt.Sprintf(`{"n":%d}`, events); string(r.Data) != want {
					t.Fatalf("after %v: event %d has data %s, want %s", sig, r.Seq, r.Data, want)
				}
				events++
			case r.Type == "run" && r.Hook == "count" && r.Result == "ok":
				runs++
			}
		}
		if events != n || runs != n {
			t.Errorf("after %v: %d events and %d runs, want %d each", sig, events, runs, n)
		}
		for i, r := range before {
			if list[i].Seq != r.Seq {
				t.Fatalf("after %v: record %d is %d, it was %d", sig, i, list[i].Seq, r.Seq)
			}
		}
		middle := before[len(before)/4].Seq
		if _, rest := h.tail(middle); rest[0].Seq != before[len(before)/4+1].Seq {
			t.Errorf("after %v: since %d begins at %d", sig, middle, rest[0].Seq)
		}
	}
}

func TestWhatIsPrunedIsOneGap(t *testing.T) {
	t.Parallel()
	h := newCountingHome(t, "")
	h.serve()
	h.counts(800)
	h.write("hookd.yaml", "history: {max_runs: 100}\n")
	if out, code := h.hookd("reload"); code != 0 {
		t.Fatalf("reload: %s", out)
	}
	hooktest.Until(t, "the history is pruned", func() bool {
		st, err := h.client.Status(t.Context())
		return err == nil && st.Store.Runs <= 100 && st.Store.Events <= 100
	})
	h.end(syscall.SIGTERM) // what memory has is not pruned
	h.serve()
	_, list := h.tail(3)
	if gap := list[0]; gap.Type != "gap" || gap.From != 4 || gap.To < 1300 || list[1].Seq <= gap.To {
		t.Errorf("the stream begins with %+v and %+v, want a gap from 4 on", gap, list[1])
	}
	for _, r := range list[1:] {
		if r.Type == "gap" {
			t.Errorf("a second gap: %+v", r)
		}
	}
	if len(list) < 150 || len(list) > 210 {
		t.Errorf("%d records, want about 100 events and 100 runs", len(list))
	}
}

func TestLargePayloadIsPreviewed(t *testing.T) {
	t.Parallel()
	h := newCountingHome(t, "")
	h.serve()
	h.send(5000)
	h.ranAll()
	h.end(syscall.SIGTERM)
	h.serve()
	_, list := h.tail(0)
	r := list[0]
	want := `{"n":1,"pad":"` + strings.Repeat("x", 5000) + `"}`
	if !r.Truncated || r.Bytes != len(want) || r.Preview != want[:2<<10] || string(r.Data) != "{}" {
		t.Errorf("got %+v, want the first 2 KiB of %d bytes", r, len(want))
	}
}

func TestRunThatHookdDidNotSurviveIsInterrupted(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.held()
	h.serve()
	h.send(100)
	h.send(100)
	hooktest.Until(t, "the first runs", func() bool {
		st, err := h.client.Status(t.Context())
		return err == nil && st.Running["observers"] == 1
	})
	h.hookd("history") // waits for what is recorded to be on disk: that the run has begun, too
	h.end(syscall.SIGKILL)
	h.write("go", "")
	h.serve()
	h.ranAll()
	out, _ := h.hookd("history", "--result", "interrupted", "-o", "json")
	if strings.Count(out, `"result": "interrupted"`) != 1 || !strings.Contains(out, "hookd ended while it ran") {
		t.Errorf("interrupted: %s, want one run", out)
	}
	if out, _ := h.hookd("history", "--result", "ok", "--hook", "note", "-o", "json"); strings.Count(out, `"run_id"`) != 2 {
		t.Errorf("ok: %s, want both", out)
	}
}

func TestRunOfAHookThatIsGoneIsDropped(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.held()
	h.serve()
	h.send(100)
	h.end(syscall.SIGKILL)
	h.script("note", "events: [session:end]", "exit 0")
	h.serve()
	h.waitLogged(`"level":"warn"`, "accepted run dropped", `"hook":"note"`)
	out, _ := h.hookd("history", "--result", "dropped")
	if !strings.Contains(out, "the hook is gone, disabled, or asks for other events now") {
		t.Errorf("dropped: %s", out)
	}
	if st, err := h.client.Status(t.Context()); err != nil || st.Store.PendingRuns != 0 {
		t.Errorf("%d pending, %v", st.Store.PendingRuns, err)
	}
}

func TestEventThatIsTooOldBecomesADeadLetter(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.held()
	h.serve()
	h.send(100)
	accepted := time.Now()
	h.end(syscall.SIGKILL)
	h.write("go", "")
	hooktest.Until(t, "it is too old", func() bool { return time.Since(accepted) > time.Second })
	h.serve("HOOKD_REPLAY_MAX_AGE=1s")
	hooktest.Until(t, "a dead letter", func() bool {
		out, _ := h.hookd("dlq", "list")
		return strings.Contains(out, "older than replay_max_age (1s) when hookd came back")
	})
	if out, code := h.hookd("dlq", "retry", "1"); code != 0 {
		t.Errorf("retry exits %d: %s", code, out)
	}
	h.ranAll()
}
