package store

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// Under a load that never rests the log still begins again, also when nothing merges beside the writer.
func TestLogStaysSmallUnderLoad(t *testing.T) {
	hooktest.Long(t)
	t.Parallel()
	for name, hold := range map[string]func(s *Store) (release func()){
		"merges in time": func(*Store) func() { return func() {} },
		"merges late":    func(s *Store) func() { s.handles.Lock(); return s.handles.Unlock },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t)
			o.Limits.Payload = PayloadFull
			s := open(t, o)
			defer hold(s)()
			text := `{"t":"` + strings.Repeat("x", 32<<10) + `"}`
			largest := int64(0)
			for seq := uint64(1); seq < 8000; seq += 2 {
				e := event(seq, "agent:end", text)
				hook := fmt.Sprint("hook", seq%7)
				if err := s.Accept(e, nil, []string{hook}, func(error) {}); err != nil {
					t.Fatal(err)
				}
				s.Done(events.PendingKey{Seq: seq, Hook: hook}, run(seq+1, e, hook, wire.ResultOK))
				if seq%100 == 1 { // the backlog is bounded; the writer always has more to do
					flush(t, s)
					largest = max(largest, fileSize(t, o.Path+"-wal"))
				}
			}
			wrote := fileSize(t, o.Path) + fileSize(t, o.Path+"-wal")
			if largest > 64<<20 || wrote < 120<<20 {
				t.Errorf("the log had %d MiB, %d MiB were written; want 64 MiB at most", largest>>20, wrote>>20)
			}
			t.Logf("the log had %d MiB", largest>>20)
		})
	}
}

func TestANarrowerPolicyIsInForceAtOnce(t *testing.T) {
	o := options(t)
	o.sweep = 0 // a minute
	s := open(t, o)
	for seq := uint64(1); seq < 1000; seq += 2 {
		e := event(seq, "agent:end", `{}`)
		s.Note(e, nil)
		s.Record(run(seq+1, e, "a", wire.ResultOK))
	}
	flush(t, s)
	p := o.Limits
	p.MaxRuns = 10
	s.Configure(p)
	hooktest.Until(t, "pruned", func() bool { h := s.Health(); return h.Runs == 10 && h.Events == 10 })
}
