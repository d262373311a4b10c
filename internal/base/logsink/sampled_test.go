package logsink

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// A flood of one kind of line is cut, and counted; other kinds, and the same of
// another hook, are written.
func TestOneKindDoesNotFillTheLog(t *testing.T) {
	core, logs := observer.New(zapcore.InfoLevel)
	log := zap.New(Sampled(core)).Named("dispatch")
	const n = 10_000
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range n / 4 {
				log.Warn("hook failed", zap.String("hook", "noisy"), zap.Int("i", i))
			}
		})
	}
	all.Wait()
	log.With(zap.String("hook", "quiet")).Warn("hook failed")
	log.Error("hook failed", zap.String("hook", "noisy"))
	log.Debug("hook failed", zap.String("hook", "noisy"))
	if err := log.Sync(); err != nil {
		t.Fatal(err)
	}
	noisy, leftOut := logs.FilterMessage("hook failed").FilterField(zap.String("hook", "noisy")).FilterLevelExact(zapcore.WarnLevel).Len(), uint64(0)
	for _, e := range logs.FilterMessage("lines of one kind were left out of the log").All() {
		fields := e.ContextMap()
		if e.LoggerName != "dispatch" || e.Level != zapcore.WarnLevel || fields["kind"] != "hook failed" || fields["hook"] != "noisy" {
			t.Errorf("the notice: %+v", e)
		}
		leftOut += fields["lines"].(uint64)
	}
	if noisy < burst || noisy > n/2 || uint64(noisy)+leftOut != n {
		t.Errorf("%d of %d lines were written, and %d counted as left out", noisy, n, leftOut)
	}
	if got := logs.FilterMessage("hook failed").Len() - noisy; got != 2 {
		t.Errorf("%d lines of other kinds, want 2", got)
	}
}

func TestKindsAreBounded(t *testing.T) {
	core, _ := observer.New(zapcore.InfoLevel)
	ks := &kinds{core: core, seen: map[kind]*bucket{}}
	now := time.Now()
	for i := range 3 * maxKinds {
		if !ks.pass(kind{message: fmt.Sprint(i)}, now) {
			t.Fatalf("kind %d: its first line is left out", i)
		}
	}
	if len(ks.seen) > maxKinds {
		t.Errorf("%d kinds are remembered", len(ks.seen))
	}
}

// After a pause a kind may come again.
func TestAKindComesAgain(t *testing.T) {
	core, _ := observer.New(zapcore.InfoLevel)
	ks := &kinds{core: core, seen: map[kind]*bucket{}}
	now, passed := time.Now(), 0
	for range 2 * burst {
		if ks.pass(kind{}, now) {
			passed++
		}
	}
	again := ks.pass(kind{}, now.Add(time.Second))
	if passed != burst || !again {
		t.Errorf("%d lines at once, want %d, then some each second: %v", passed, burst, again)
	}
	ks.pass(kind{}, now.Add(-time.Hour)) // a clock that was set back fills nothing
	if ks.pass(kind{}, now.Add(-time.Hour)) {
		t.Error("a kind comes again without a pause")
	}
	ks.report()
}
