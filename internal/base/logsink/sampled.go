package logsink

import (
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Lines of one kind that are written: burst at once, then perSecond. The rest is
// counted, and the count written each reportAfter.
const (
	burst       = 200
	perSecond   = 2
	reportAfter = 10 * time.Second
	maxKinds    = 1000
)

// Sampled returns a core that does not let one kind of line fill the log: the lines of
// one level, logger, message and hook. A line of its own says how many were left out.
// Lines that end the process are always written.
func Sampled(core zapcore.Core) zapcore.Core {
	return &sampled{Core: core, kinds: &kinds{core: core, seen: map[kind]*bucket{}}}
}

// kind holds the fields that are equal in lines that differ only in the details of one
// case.
type kind struct {
	level                 zapcore.Level
	logger, message, hook string
}

type sampled struct {
	zapcore.Core
	kinds *kinds
	hook  string // of With
}

func (s *sampled) With(fields []zapcore.Field) zapcore.Core {
	return &sampled{Core: s.Core.With(fields), kinds: s.kinds, hook: hookOf(fields, s.hook)}
}

func (s *sampled) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if s.Enabled(e.Level) {
		return to.AddCore(e, s)
	}
	return to
}

func (s *sampled) Write(e zapcore.Entry, fields []zapcore.Field) error {
	k := kind{e.Level, e.LoggerName, e.Message, hookOf(fields, s.hook)}
	if e.Level < zapcore.DPanicLevel && !s.kinds.pass(k, e.Time) {
		return nil
	}
	return s.Core.Write(e, fields)
}

// Sync reports the lines that were left out so far, too.
func (s *sampled) Sync() error {
	s.kinds.report()
	return s.Core.Sync()
}

func hookOf(fields []zapcore.Field, otherwise string) string {
	for _, f := range fields {
		if f.Key == "hook" && f.Type == zapcore.StringType {
			return f.String
		}
	}
	return otherwise
}

// kinds counts lines by their kind.
type kinds struct {
	core zapcore.Core

	mu      sync.Mutex // guards what follows
	seen    map[kind]*bucket
	waiting bool // report will be called
}

type bucket struct {
	left float64 // lines that may be written
	at   time.Time
	out  uint64 // lines that were left out since the last notice
}

// pass reports whether a line of kind k may be written now.
func (ks *kinds) pass(k kind, now time.Time) bool {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	b := ks.seen[k]
	if b == nil {
		if len(ks.seen) >= maxKinds {
			ks.forget(now)
		}
		b = &bucket{left: burst, at: now}
		ks.seen[k] = b
	}
	b.left = b.now(now)
	b.at = now
	if b.left >= 1 {
		b.left--
		return true
	}
	b.out++
	if !ks.waiting {
		ks.waiting = true
		time.AfterFunc(reportAfter, ks.report)
	}
	return false
}

func (b *bucket) now(now time.Time) float64 {
	return min(b.left+perSecond*max(now.Sub(b.at).Seconds(), 0), burst)
}

// forget makes room: for the kinds that were silent for long, else for all that
// have nothing left to report.
func (ks *kinds) forget(now time.Time) {
	for k, b := range ks.seen {
		if b.out == 0 && b.now(now) == burst {
			delete(ks.seen, k)
		}
	}
	for k, b := range ks.seen {
		if len(ks.seen) < maxKinds {
			return
		}
		if b.out == 0 {
			delete(ks.seen, k)
		}
	}
}

// report writes how many lines of each kind were left out.
func (ks *kinds) report() {
	ks.mu.Lock()
	out := map[kind]uint64{}
	for k, b := range ks.seen {
		if b.out > 0 {
			out[k], b.out = b.out, 0
		}
	}
	ks.waiting = false
	ks.mu.Unlock()
	for k, n := range out {
		fields := []zapcore.Field{zap.Uint64("lines", n), zap.String("kind", k.message)}
		if k.hook != "" {
			fields = append(fields, zap.String("hook", k.hook))
		}
		e := zapcore.Entry{Level: k.level, Time: time.Now(), LoggerName: k.logger}
		e.Message = "lines of one kind were left out of the log"
		_ = ks.core.Write(e, fields) // as any line
	}
}
