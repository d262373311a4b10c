package store

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/record/audit"
	"github.com/hookd/hookd/wire"
)

const unwrittenEnv = "HOOKD_STORE_UNWRITTEN_TEST"

// unwrittenChild hands denials over from eight goroutines and prints the number of each once
// Decided has returned, until it is killed.
func unwrittenChild() {
	s, err := Open(Options{Path: os.Getenv(unwrittenEnv), Memory: os.Getenv(unwrittenEnv + "_MEMORY")})
	if err != nil {
		panic(err)
	}
	var last atomic.Uint64
	last.Store(s.FirstSeq())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				seq := last.Add(1)
				s.Decided(denial(seq))
				fmt.Println("decided", seq) // one write
			}
		})
	}
	wg.Wait()
}

func denial(seq uint64) *wire.Decision {
	return &wire.Decision{
		EventID: fmt.Sprint("E", seq), Seq: seq, EventSeq: seq, Time: time.Now(), Event: "x", Subject: "rm -rf /",
		Decision: wire.OutcomeDeny, DecidedBy: []string{"guard"}, Reason: "never",
	}
}

// Each decision that was handed over is in the history once, and once in the chain, whenever
// the process is killed.
func TestDecisionsOutliveAKill(t *testing.T) {
	o := options(t)
	o.Memory = filepath.Join(t.TempDir(), "memory")
	handed := map[uint64]bool{}
	for range hooktest.Amount(5, 2) {
		killWhileDeciding(t, o, handed)
	}
	s := open(t, o)
	hooktest.Must(t, s.Flush(t.Context()))
	stored := map[uint64]bool{}
	rows, err := s.db.reading.QueryContext(t.Context(), `SELECT event_seq FROM decisions`)
	hooktest.Must(t, err)
	for rows.Next() {
		var seq uint64
		hooktest.Must(t, rows.Scan(&seq))
		stored[seq] = true
	}
	hooktest.Must(t, rows.Close())
	for seq := range handed {
		if !stored[seq] {
			t.Errorf("decision %d is lost", seq)
		}
	}
	hooktest.Must(t, s.Close())
	checker, denied := audit.NewChecker(audit.Head{}), 0
	head, err := ReadAudit(t.Context(), o.Path, time.Time{}, func(r audit.Link, _ audit.Hash) error {
		checker.Add(r, nil)
		denied++
		return nil
	})
	hooktest.Must(t, err)
	if r := checker.End(true, &head); len(r.Findings) > 0 || denied != len(stored)+1 {
		t.Errorf("%d decisions and %d records of the chain, with its beginning: %+v", len(stored), denied, r.Findings)
	}
	t.Logf("%d decisions handed over", len(handed))
	if _, err := os.Lstat(o.Memory); !os.IsNotExist(err) {
		t.Errorf("the folder in memory is left: %v", err)
	}
}

// killWhileDeciding kills a child at a random moment and notes the decisions that it has handed over.
func killWhileDeciding(t *testing.T, o Options, handed map[uint64]bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), unwrittenEnv+"="+o.Path, unwrittenEnv+"_MEMORY="+o.Memory)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	hooktest.Must(t, err)
	hooktest.Must(t, cmd.Start())
	defer cmd.Wait()
	after := 1 + rand.IntN(2000)
	for lines, n := bufio.NewScanner(out), 0; lines.Scan(); n++ {
		var seq uint64
		var word string
		if _, err := fmt.Sscan(lines.Text(), &word, &seq); err != nil {
			break // cut off by the kill
		}
		handed[seq] = true
		if n == after { // what is in the pipe was handed over, too, so read on
			hooktest.Must(t, cmd.Process.Kill())
		}
	}
}

// A decision that was held and never handed over is restored once, behind all others; the
// answer to an ask is one of its own.
func TestWhatWasHeldIsRestored(t *testing.T) {
	o := options(t)
	o.Memory = filepath.Join(t.TempDir(), "memory")
	s := open(t, o)
	s.Targets([]string{"web"})
	ask, answer, other := denial(10), denial(10), denial(11)
	ask.Decision, answer.Answered = wire.OutcomeAsk, &wire.Answered{}
	answer.Seq, other.Seq = 0, 0 // they get one when they are handed over
	s.Decided(ask)
	s.Deciding(answer)
	s.Deciding(other)
	hooktest.Must(t, s.Flush(t.Context()))
	s.Forwarded("web", 10, 0)
	copied := filepath.Join(t.TempDir(), "copy") // as a kill leaves it
	hooktest.Must(t, os.CopyFS(copied, os.DirFS(o.Memory)))
	hooktest.Must(t, s.Close())
	o.Memory = copied
	for range 2 {
		s = open(t, o)
		hooktest.Must(t, s.Flush(t.Context()))
		a, err := s.Ahead(t.Context(), "web", math.MaxInt64, 10)
		hooktest.Must(t, err)
		if len(a.Decisions) != 2 || a.Decisions[0].Answered == nil || a.Decisions[1].EventID != "E11" {
			t.Errorf("restored are %+v", a.Decisions)
		}
		hooktest.Must(t, s.Close())
	}
}

// Of an event that waited for its hooks when hookd was killed there is a record; none where its decision was made, or
// an ask about it is held.
func TestAnEventWithoutADecisionIsOnRecord(t *testing.T) {
	o := options(t)
	o.Memory = filepath.Join(t.TempDir(), "memory")
	s := open(t, o)
	waits := func(seq uint64) {
		d := denial(seq)
		d.Seq, d.Decision, d.Reason = 0, wire.OutcomeNone, "killed"
		s.Undecided(d)
	}
	for seq := uint64(10); seq < 15; seq++ {
		waits(seq)
	}
	s.Decided(denial(10))
	s.Deciding(denial(11))
	_, _ = s.SaveAsk(Saved{ID: "A", EventSeq: 12, Text: []byte("{}")})
	hooktest.Must(t, s.Flush(t.Context()))
	o = killed(t, s)
	for range 2 { // the second one finds no record of the first in memory
		s = open(t, o)
		hooktest.Must(t, s.Flush(t.Context()))
		page, err := s.Decisions(t.Context(), wire.DecisionQuery{Limit: 10})
		hooktest.Must(t, err)
		got := map[uint64]string{}
		for _, d := range page.Decisions {
			got[d.EventSeq] += d.Reason
		}
		if want := map[uint64]string{10: "never", 11: "never", 13: "killed", 14: "killed"}; !maps.Equal(got, want) {
			t.Errorf("on record are %v, want %v", got, want)
		}
		hooktest.Must(t, s.Close())
	}
}

// What is noted of events that wait takes no memory once they are decided.
func TestEventsThatWaitedTakeNoMemory(t *testing.T) {
	o := options(t)
	o.Memory = filepath.Join(t.TempDir(), "memory")
	s := open(t, o)
	for seq := uint64(10); seq < 15; seq++ {
		s.Undecided(denial(seq))
		s.Decided(denial(seq))
	}
	hooktest.Must(t, s.Flush(t.Context()))
	u := &s.unwritten
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.list)+len(u.open)+len(u.of) > 0 {
		t.Errorf("%d records are held, of %d events that wait and %d decisions", len(u.list), len(u.open), len(u.of))
	}
}

// A target that was in force gets each decision that outlived a kill, also when the kill came before
// the database had the place of the target.
func TestAPlaceOutlivesAKill(t *testing.T) {
	o := options(t)
	o.Memory, o.delay = filepath.Join(t.TempDir(), "memory"), time.Hour // so the database gets nothing
	s := open(t, o)
	s.Targets([]string{"web", "siem"})
	s.Decided(denial(10))
	s.Decided(denial(11))
	o = killed(t, s)
	for range 2 { // the second one finds no record of the first in memory
		s = open(t, o)
		s.Targets([]string{"siem", "new"})
		hooktest.Must(t, s.Flush(t.Context()))
		behind(t, s, "web", 2)
		behind(t, s, "siem", 2)
		behind(t, s, "new", 0)
		hooktest.Must(t, s.Close())
	}
}

// Where memory is full decisions are written as without it.
func TestMemoryThatCannotBeUsed(t *testing.T) {
	o := options(t)
	o.Memory = filepath.Join(t.TempDir(), "memory")
	s := open(t, o)
	hooktest.Must(t, os.RemoveAll(o.Memory))
	hooktest.Must(t, os.WriteFile(o.Memory, nil, 0o600))
	for seq := range uint64(3) {
		s.Decided(denial(seq + 10))
	}
	hooktest.Must(t, s.Flush(t.Context()))
	var n int
	hooktest.Must(t, s.db.reading.QueryRowContext(t.Context(), `SELECT count(*) FROM decisions`).Scan(&n))
	if n != 3 {
		t.Errorf("%d decisions", n)
	}
}

// Decisions in the database are not held in memory: it takes a few segments, whatever comes.
func TestMemoryIsBounded(t *testing.T) {
	o := options(t)
	o.Memory = filepath.Join(t.TempDir(), "memory")
	s := open(t, o)
	for seq := range uint64(20_000) {
		s.Decided(denial(seq + 10))
		if seq%1000 == 0 {
			hooktest.Must(t, s.Flush(t.Context()))
		}
	}
	if size := s.unwritten.log.Size(); size > 3*unwrittenSegment {
		t.Errorf("%d bytes are in memory", size)
	}
}

// BenchmarkDecided hands decisions over and waits until the database has them: denials, which
// the chain has too, and others; with and without memory that outlives a kill.
func BenchmarkDecided(b *testing.B) {
	inMemory, err := MemoryDir(filepath.Join(b.TempDir(), "x.db"))
	hooktest.Must(b, err)
	for name, memory := range map[string]string{"alone": "", "memory": inMemory} {
		for _, decision := range []wire.Outcome{wire.OutcomeDeny, wire.OutcomeAllow} {
			b.Run(name+"/"+string(decision), func(b *testing.B) {
				s, err := Open(Options{Path: filepath.Join(b.TempDir(), "a.db"), Memory: memory})
				hooktest.Must(b, err)
				seq := s.FirstSeq()
				for b.Loop() {
					seq++
					d := denial(seq)
					d.Decision = decision
					s.Decided(d)
					if seq%1000 == 0 {
						hooktest.Must(b, s.Flush(b.Context()))
					}
				}
				hooktest.Must(b, s.Close())
			})
		}
	}
}

// A decision that a kill has left keeps its number, so that no subscriber that has it is told
// again. But it gets a new number when a later decision is written: a target of forward may be past
// it.
func TestDecisionsThatAKillHasLeftKeepTheirNumbers(t *testing.T) {
	o := options(t)
	o.Memory, o.delay = filepath.Join(t.TempDir(), "memory"), time.Hour // until Flush
	s := open(t, o)
	first := s.FirstSeq()
	s.Decided(denial(first + 2))
	hooktest.Must(t, s.Flush(t.Context()))
	for _, seq := range []uint64{first + 4, first + 1, first + 3} {
		s.Decided(denial(seq))
	}
	late := denial(first + 5)
	late.Seq = 0
	s.Deciding(late)
	o = killed(t, s)
	s = open(t, o)
	hooktest.Must(t, s.Flush(t.Context()))
	got := allDecisions(t, s)
	if len(got) != 5 {
		t.Fatalf("%d decisions, want 5", len(got))
	}
	for _, d := range got {
		if kept := d.Seq == d.EventSeq; kept != (d.EventSeq >= first+2 && d.EventSeq <= first+4) {
			t.Errorf("decision %d has the number %d", d.EventSeq, d.Seq)
		}
		if d.EventSeq == first+1 && d.Seq <= first+4 {
			t.Errorf("the one that was passed has the number %d", d.Seq)
		}
	}
}

// A hook that is slow to decide does not fill the memory: its event, and the decisions made meanwhile, outlive a kill.
func TestASlowHookLeavesRoomInMemory(t *testing.T) {
	o := options(t)
	o.Memory = filepath.Join(t.TempDir(), "memory")
	s := open(t, o)
	seq := s.FirstSeq()
	s.Undecided(denial(seq))
	many := 2 * maxUnwritten / (64 << 10)
	for n := range many {
		seq++
		d := denial(seq)
		d.NewInput = []byte(`{"x":"` + strings.Repeat("x", 64<<10) + `"}`)
		if s.Decided(d); n%32 == 0 {
			hooktest.Must(t, s.Flush(t.Context()))
		}
	}
	hooktest.Must(t, s.Flush(t.Context()))
	s.Deciding(denial(seq + 1))
	s = open(t, killed(t, s))
	hooktest.Must(t, s.Flush(t.Context()))
	if got := allDecisions(t, s); len(got) != many+2 {
		t.Errorf("%d decisions, want %d", len(got), many+2)
	}
}

// allDecisions reads page by page: one ends early where much has to be looked through, as between the
// numbers that a killed process had reserved and those after them, and the machine is busy.
func allDecisions(t testing.TB, s *Store) (all []wire.Decision) {
	t.Helper()
	for q := (wire.DecisionQuery{}); ; {
		page, err := s.Decisions(t.Context(), q)
		hooktest.Must(t, err)
		all = append(all, page.Decisions...)
		if q.Before = page.Next; page.Next == 0 {
			return all
		}
	}
}

// Records in memory that say nothing, or are damaged, are told.
func TestRecordsInMemoryThatCannotBeReadAreTold(t *testing.T) {
	for name, spoil := range map[string]func(text []byte) []byte{
		"no decision": func(text []byte) []byte { return text },
		"damaged":     func(text []byte) []byte { return bytes.Replace(text, []byte("E10"), []byte("E19"), 1) },
	} {
		o := options(t)
		o.Memory = filepath.Join(t.TempDir(), "memory")
		s := open(t, o)
		if s.Deciding(denial(10)); name == "no decision" {
			s.unwritten.append(11, []byte("[1]"))
		}
		s.Deciding(denial(12))
		copied := filepath.Join(t.TempDir(), "copy") // as a kill leaves it
		hooktest.Must(t, os.CopyFS(copied, os.DirFS(o.Memory)))
		closed(t, s)
		files, err := filepath.Glob(filepath.Join(copied, "*.seg"))
		hooktest.Must(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			hooktest.Must(t, err)
			hooktest.Must(t, os.WriteFile(file, spoil(text), 0o600))
		}
		o.Memory = copied
		s = open(t, o)
		if l := s.Losses(); len(l) != 1 || !strings.HasSuffix(l[0].Why, "are not in the history: 1") {
			t.Errorf("%s: told %+v", name, l)
		}
		closed(t, s)
	}
}
