package store

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/record/journal/journaltest"
)

// While the disk hangs, no more events wait in memory than there is room for; the others are refused at once.
func TestEventsThatWaitForADiskAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		room  int64 // for pending payload
		want  error
		taken int // events of 1 MiB at most
	}{
		"room on disk":   {8 << 20, ErrQueueFull, 8},
		"room in memory": {1 << 40, ErrIO, mostArriving>>20 + 1},
	} {
		t.Run(name, func(t *testing.T) {
			hangs, goes := make(chan struct{}), make(chan struct{})
			var hung atomic.Bool
			disk := journaltest.New(1, -1)
			disk.Fail = func(op, _ string) error {
				if op == "sync" && hung.CompareAndSwap(true, false) {
					close(hangs)
					<-goes
				}
				return nil
			}
			o := options(t)
			o.Durable, o.files, o.Limits.QueueBytes = DurableFsync, fixed{disk}, c.room
			s := open(t, o)
			var done sync.WaitGroup
			accept := func(seq uint64, text string) error {
				done.Add(1)
				err := s.Accept(event(seq, "agent:end", text), nil, []string{"a"}, func(err error) {
					if err != nil {
						t.Error(err)
					}
					done.Done()
				})
				if err != nil {
					done.Done()
				}
				return err
			}
			hung.Store(true)
			hooktest.Must(t, accept(1, `{}`))
			<-hangs
			text, taken := `"`+strings.Repeat("x", 1<<20)+`"`, 0
			var err error
			for err == nil && taken <= 2*c.taken {
				if err = accept(uint64(2+taken), text); err == nil {
					taken++
				}
			}
			if !errors.Is(err, c.want) || taken > c.taken || taken < c.taken-2 {
				t.Errorf("%d events were taken, then %v; want about %d, then %v", taken, err, c.taken, c.want)
			}
			close(goes)
			done.Wait()
			if c.want == ErrIO {
				hooktest.Must(t, accept(uint64(2+taken), `{}`))
				done.Wait()
			}
		})
	}
}
