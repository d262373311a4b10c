package store

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	_ "github.com/hookd/hookd/internal/contract/dialect" // the contract table
	"github.com/hookd/hookd/wire"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/store"
)

var payload = []byte(`{"agent_id":"a","status":"ok","text":"` + strings.Repeat("x", 980) + `"}`)

func open(tb testing.TB, o store.Options) *store.Store {
	tb.Helper()
	s, err := store.Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}

func event(seq uint64, at time.Time) *events.Event {
	return &events.Event{
		Envelope: events.Envelope{Event: "agent:end", Data: payload, SessionID: fmt.Sprint("s", seq%50), Sender: "uid:1000"},
		EventID:  events.NewID(at), Seq: seq, Time: at, Contract: events.For("", "agent:end"),
	}
}

// writers calls write b.N times from n goroutines and reports the rate and the
// latency, and the processor time of all of the process: other work on the
// machine leaves that as it is.
func writers(b *testing.B, n int, write func(i uint64)) {
	b.Helper()
	var next atomic.Uint64
	took := make([][]time.Duration, n)
	var wg sync.WaitGroup
	cpu := processorTime(b)
	b.ResetTimer()
	for w := range n {
		wg.Go(func() {
			for i := next.Add(1); i <= uint64(b.N); i = next.Add(1) {
				begin := time.Now()
				write(i)
				took[w] = append(took[w], time.Since(begin))
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64((processorTime(b)-cpu).Nanoseconds())/1000/float64(b.N), "cpu-µs/op")
	all := slices.Concat(took...)
	slices.Sort(all)
	us := func(p float64) float64 { return float64(all[int(p*float64(len(all)-1))].Microseconds()) }
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "accepts/s")
	b.ReportMetric(us(0.50), "p50-µs")
	b.ReportMetric(us(0.99), "p99-µs")
	b.ReportMetric(us(1), "max-µs")
}

// written is how many bytes the process has written to files; 0 where the system does not
// tell, which is so outside of Linux.
func written() (bytes int64) {
	text, _ := os.ReadFile("/proc/self/io")
	for line := range strings.Lines(string(text)) {
		fmt.Sscanf(line, "write_bytes: %d", &bytes)
	}
	return bytes
}

// processorTime is the processor time that the process has used so far.
func processorTime(tb testing.TB) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func each(b *testing.B, f func(b *testing.B, n int)) {
	for _, n := range []int{1, 64, 1024} {
		b.Run(fmt.Sprintf("writers=%d", n), func(b *testing.B) { f(b, n) })
	}
}

func BenchmarkAccept(b *testing.B) {
	for _, durable := range []store.Durability{store.DurableFsync, store.DurableOS} {
		b.Run(string(durable), func(b *testing.B) {
			each(b, func(b *testing.B, n int) {
				s := open(b, options(b, durable))
				writers(b, n, func(i uint64) {
					if err := accept(s, event(i, time.Now()), "notify"); err != nil {
						b.Error(err)
					}
				})
			})
		})
	}
}

func options(tb testing.TB, durable store.Durability) store.Options {
	return store.Options{
		Path: filepath.Join(tb.TempDir(), "hookd.db"), Durable: durable,
		Limits: store.Limits{MaxRuns: 1 << 40, MaxBytes: 1 << 50, MaxAge: 500 * 24 * time.Hour, QueueBytes: 1 << 40},
	}
}

// BenchmarkAcceptAndEnd adds the two steps that follow an event: the record of its run
// and the end of its pending row.
func BenchmarkAcceptAndEnd(b *testing.B) {
	each(b, func(b *testing.B, n int) {
		s, before := open(b, options(b, store.DurableFsync)), written()
		writers(b, n, func(i uint64) {
			e := event(2*i, time.Now())
			if err := accept(s, e, "notify"); err != nil {
				b.Error(err)
			}
			s.Done(events.PendingKey{Seq: e.Seq, Hook: "notify"}, run(e, 2*i+1, "notify", e.Time))
		})
		if err := s.Flush(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(written()-before)/float64(b.N), "written-B/op")
		if dropped := s.Health().Dropped; dropped > 0 {
			b.Errorf("%d records were dropped", dropped)
		}
	})
}

func run(e *events.Event, seq uint64, hook string, at time.Time) *wire.Run {
	return &wire.Run{
		ID: events.NewRunID(at), Seq: seq, EventID: e.EventID, Event: e.Envelope.Event, Hook: hook, Source: "dir:/home/u/.librefang/hooks/" + hook,
		Digest: strings.Repeat("d", 64), Generation: 3, SessionID: e.SessionID, Sender: e.Sender, Result: wire.ResultOK,
		Started: at, QueueMS: 0.2, DurationMS: 12.5, Stdout: wire.Output{Head: "done\n", Bytes: 5},
	}
}

// BenchmarkBareLog is the rate that the disk allows: records appended to a file by one
// goroutine, as many at once as are waiting, and one fdatasync for all.
func BenchmarkBareLog(b *testing.B) {
	each(b, func(b *testing.B, n int) {
		f, err := os.Create(filepath.Join(b.TempDir(), "log"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		waiting := make(chan chan error, 1024)
		var writer sync.WaitGroup
		writer.Go(func() { appendAll(f, waiting) })
		writers(b, n, func(uint64) {
			done := make(chan error, 1)
			waiting <- done
			if err := <-done; err != nil {
				b.Error(err)
			}
		})
		close(waiting)
		writer.Wait()
	})
}

func appendAll(f *os.File, waiting <-chan chan error) {
	var buffer []byte
	for first := range waiting {
		group := []chan error{first}
		buffer = append(buffer[:0], payload...)
		for len(waiting) > 0 && len(group) < 1024 {
			group = append(group, <-waiting)
			buffer = append(buffer, payload...)
		}
		_, err := f.Write(buffer)
		if err == nil {
			err = syncData(f)
		}
		for _, done := range group {
			done <- err
		}
	}
}

// BenchmarkInsertEach is SQLite without group commit: a transaction for each.
func BenchmarkInsertEach(b *testing.B) {
	each(b, func(b *testing.B, n int) {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "each.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(60000)")
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		db.SetMaxOpenConns(1)
		if _, err := db.Exec(`CREATE TABLE events (seq INTEGER PRIMARY KEY, data BLOB)`); err != nil {
			b.Fatal(err)
		}
		insert, err := db.Prepare(`INSERT INTO events (seq, data) VALUES (?, ?)`)
		if err != nil {
			b.Fatal(err)
		}
		defer insert.Close()
		writers(b, n, func(i uint64) {
			if _, err := insert.Exec(int64(i), payload); err != nil {
				b.Error(err)
			}
		})
	})
}

// accept waits until e is on disk.
func accept(s *store.Store, e *events.Event, hooks ...string) error {
	done := make(chan error, 1)
	if err := s.Accept(e, nil, hooks, func(err error) { done <- err }); err != nil {
		return err
	}
	return <-done
}
