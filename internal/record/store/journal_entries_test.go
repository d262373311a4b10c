package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/journal"
	"github.com/hookd/hookd/wire"
)

// killed returns options of a copy of the files of s as they are now: the
// next daemon finds these after a kill. s is closed.
func killed(t *testing.T, s *Store) Options {
	t.Helper()
	o := options(t)
	if s.opts.Memory != "" {
		o.Memory = filepath.Join(t.TempDir(), "memory")
		hooktest.Must(t, os.CopyFS(o.Memory, os.DirFS(s.opts.Memory)))
	}
	copyFiles(t, s.opts.Path, o.Path)
	closed(t, s)
	return o
}

func segments(t *testing.T, path string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(journalDir(path), "*.seg"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no segments: %v", err)
	}
	return list
}

// Events that only the journal has come back whole, with their ids, and once.
func TestNextDaemonReadsTheJournal(t *testing.T) {
	s := open(t, options(t))
	first := event(1, "agent:end", `{"t":"`+strings.Repeat("x", 3<<20)+`"}`)
	first.Sent, first.ID, first.Warnings = &events.Sent{Content: [32]byte{1, 2}, Matched: []string{"a"}}, "mine", []string{"odd"}
	accept(t, s, first, "b", "a")
	second := event(2, "pre_tool_use", `{"n":2}`)
	second.Wait, second.Cwd, second.Tool, second.Subject, second.ReplayOf, second.Depth = true, "/w", "Bash", "ls", "r", 3
	accept(t, s, second, "c")
	s.Done(events.PendingKey{Seq: 1, Hook: "b"}, run(3, first, "b", wire.ResultOK))
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h := s.Health(); h.Journaled != 1 || h.Events != 2 || h.JournalBytes == 0 {
		t.Errorf("health %+v, want one event in the journal alone", h)
	}
	o := killed(t, s)
	for round := range 2 { // and again, with what the first one has left
		s = open(t, o)
		if got := pending(t, s); !slices.Equal(got, []string{"1:a", "2:c"}) {
			t.Fatalf("round %d: pending %v", round, got)
		}
		page, err := s.Pending(t.Context(), 1, 10)
		if err != nil || len(page) != 1 || !reflect.DeepEqual(page[0].Event, second) {
			t.Errorf("got  %+v %v\nwant %+v", page, err, second)
		}
		var ids []string
		err = s.Sent(time.Now().Add(-time.Hour), func(e events.SentEvent) {
			ids = append(ids, fmt.Sprint(e.Seq, e.ID, e.Content[1], e.Matched, e.Warnings, e.EventID == first.EventID))
		})
		if want := []string{"1mine2 [a] [odd] true"}; err != nil || !slices.Equal(ids, want) {
			t.Errorf("ids %v %v, want %v", ids, err, want)
		}
		flush(t, s)
		if got, err := s.Events(t.Context(), wire.EventQuery{}); err != nil || len(got.Events) != 2 {
			t.Errorf("round %d: %d events, %v", round, len(got.Events), err)
		}
		if got, err := s.Sessions(t.Context(), wire.SessionQuery{}, nil); err != nil || len(got) == 0 || got[0].Events != 1 {
			t.Errorf("round %d: sessions %+v, %v", round, got, err)
		}
		o = killed(t, s)
	}
}

// Events that come into the database after later ones are counted, whenever hookd is killed.
func TestEventsAreCountedOverKills(t *testing.T) {
	s := open(t, options(t))
	var list []*events.Event
	for seq := uint64(1); seq <= 20; seq++ {
		list = append(list, event(seq, "agent:end", `{}`))
		accept(t, s, list[seq-1], "a")
	}
	done := func(part []*events.Event) {
		for _, e := range part {
			s.Done(events.PendingKey{Seq: e.Seq, Hook: "a"}, run(100+e.Seq, e, "a", wire.ResultOK))
		}
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	done(list[10:])
	s = open(t, killed(t, s))
	done(list[5:10])
	s = open(t, killed(t, s))
	done(list[:5])
	s = open(t, killed(t, s))
	if h := s.Health(); h.Events != 20 || h.Runs != 20 {
		t.Errorf("%d events and %d runs are counted, want 20 of each", h.Events, h.Runs)
	}
}

// An id is found whether the database has its event or not, and an answer to it stays.
func TestIDsAreInTheJournalToo(t *testing.T) {
	s := open(t, options(t))
	for seq := uint64(1); seq <= 4; seq++ {
		e := event(seq, "agent:end", `{}`)
		e.Sent, e.ID = &events.Sent{}, fmt.Sprint("id", seq)
		hooks := []string{"a"}
		if seq == 3 {
			hooks = nil // nothing runs, but the id is on disk
		}
		accept(t, s, e, hooks...)
	}
	s.Answered(2, 2, func() ([]byte, error) { return []byte("ok"), nil })
	s.ForgetSent(4)
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	s = open(t, killed(t, s))
	var got []string
	if err := s.Sent(time.Time{}, func(e events.SentEvent) { got = append(got, e.ID+string(e.Answer)) }); err != nil {
		t.Fatal(err)
	}
	if want := []string{"id1", "id2ok", "id3"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A history that is pruned at once forgets no event that the journal would bring back.
func TestPrunedEventsStayGone(t *testing.T) {
	o := options(t)
	o.Limits.MaxRuns = 3
	s := open(t, o)
	accept(t, s, event(1, "agent:end", `{}`), "waits")
	for seq := uint64(2); seq < 40; seq += 2 {
		e := event(seq, "agent:end", `{}`)
		accept(t, s, e, "a")
		s.Done(events.PendingKey{Seq: seq, Hook: "a"}, run(seq+1, e, "a", wire.ResultOK))
		if err := s.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, killed(t, s))
	if got := pending(t, s); !slices.Equal(got, []string{"1:waits"}) {
		t.Errorf("pending %v, want what was never run", got)
	}
}

// Each event is pending or ended, however its runs end, be it in one transaction or in several.
func TestRunsThatEndInTheJournal(t *testing.T) {
	t.Parallel()
	key := func(hook string) events.PendingKey { return events.PendingKey{Seq: 1, Hook: hook} }
	e := event(1, "agent:end", `{"secret":1}`)
	for name, tt := range map[string]struct {
		end     func(s *Store)
		pending []string
		runs    int
		dead    int
	}{
		"both":      {func(s *Store) { s.Done(key("a"), run(2, e, "a", "ok")); s.Done(key("b"), run(3, e, "b", "ok")) }, nil, 2, 0},
		"one":       {func(s *Store) { s.Done(key("a"), run(2, e, "a", "ok")) }, []string{"1:b"}, 1, 0},
		"forgotten": {func(s *Store) { s.Forget(key("b")); s.Forget(key("a")) }, nil, 0, 0},
		"again, then not": {func(s *Store) {
			s.Retry(key("a"), run(2, e, "a", "failed"), time.Now())
			s.Forget(key("b"))
			s.Done(key("a"), run(3, e, "a", "ok"))
		}, nil, 2, 0},
		"again": {func(s *Store) { s.Retry(key("a"), run(2, e, "a", "failed"), time.Now()); s.Forget(key("b")) }, []string{"1:a"}, 1, 0},
		"given up": {func(s *Store) {
			s.Done(key("a"), run(2, e, "a", "ok"))
			s.GiveUp(key("b"), run(3, e, "b", "failed"), "no")
		}, nil, 2, 1},
		"twice":      {func(s *Store) { s.Forget(key("a")); s.Forget(key("a")) }, []string{"1:b"}, 0, 0},
		"not at all": {func(s *Store) { s.Done(key("z"), run(2, e, "z", "ok")) }, []string{"1:a", "1:b"}, 1, 0},
	} {
		for _, between := range []bool{false, true} {
			t.Run(fmt.Sprint(name, between), func(t *testing.T) {
				o := options(t)
				o.delay = time.Hour // until Flush
				s := open(t, o)
				accept(t, s, e, "a", "b")
				if between {
					flush(t, s)
				}
				tt.end(s)
				if err := s.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					if got := pending(t, s); !slices.Equal(got, tt.pending) && len(got)+len(tt.pending) > 0 {
						t.Errorf("pending %v, want %v", got, tt.pending)
					}
					flush(t, s)
					runs, err := s.Runs(t.Context(), wire.RunQuery{})
					dead, err2 := s.DeadLetters(t.Context(), "", 0, 0)
					if err != nil || err2 != nil || len(runs.Runs) != tt.runs || len(dead) != tt.dead {
						t.Errorf("%d runs, %d dead letters, %v %v, want %d and %d", len(runs.Runs), len(dead), err, err2, tt.runs, tt.dead)
					}
					if got, err := s.Event(t.Context(), e.EventID); err != nil || string(got.Data) != `{"secret":1}` {
						t.Errorf("got %+v, %v", got, err)
					}
					s = open(t, killed(t, s))
				}
			})
		}
	}
}

// An event that the transaction under way moves is neither in the journal alone nor seen in
// the database: it is pending all the same.
func TestPendingWhileItMoves(t *testing.T) {
	s := open(t, options(t))
	e := event(1, "agent:end", `{"n":1}`)
	e.Sent = &events.Sent{Content: [32]byte{1}, Matched: []string{"a"}}
	e.ID = "mine"
	accept(t, s, e, "a")
	moved, commit := make(chan struct{}), make(chan struct{})
	s.queue.add(&op{event: 1, done: func(error) {}, exec: func(*database) error {
		close(moved)
		<-commit
		return nil
	}})
	<-moved
	page, err := s.Pending(t.Context(), 0, 1)
	size, err2 := s.NextPending(t.Context(), 0)
	sent := 0
	err3 := s.Sent(time.Time{}, func(events.SentEvent) { sent++ })
	close(commit)
	if err != nil || len(page) != 1 || page[0].Hook != "a" || string(page[0].Event.Data) != `{"n":1}` {
		t.Errorf("pending %+v, %v, want the run of a", page, err)
	}
	if err2 != nil || size != 7 {
		t.Errorf("the next pending event has %d bytes, %v, want 7", size, err2)
	}
	if err3 != nil || sent != 1 {
		t.Errorf("%d ids of senders, %v, want 1", sent, err3)
	}
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := pending(t, s); !slices.Equal(got, []string{"1:a"}) {
		t.Errorf("pending %v after the move, want it once", got)
	}
}

// An event that the journal does not give is read again where the writer has moved it, and
// else an error.
func TestPendingThatHasMoved(t *testing.T) {
	o := options(t)
	o.Held = 1 // its data is not in memory
	s := open(t, o)
	accept(t, s, event(1, "agent:end", `{"n":1}`), "a")
	gone := *s.journaled.onlyHere(1)
	gone.Segment += 100
	for at, want := range map[whereabouts]error{inJournal: journal.ErrDamaged, inDatabase: errMoved} {
		gone.where = at
		if _, err := s.pendingOnly(&gone, nil); !errors.Is(err, want) {
			t.Errorf("at place %v: %v, want %v", at, err, want)
		}
	}
}

// History keeps the same whether or not an event ended while only the journal had it.
func TestHistoryIsTheSameByEitherWay(t *testing.T) {
	t.Parallel()
	redact := func(text []byte) []byte { return []byte(strings.ReplaceAll(string(text), "hush", "***")) }
	for _, kept := range []Payload{PayloadNone, PayloadPreview, PayloadFull} {
		for _, data := range []string{`{}`, `{"a":"hush"}`, `{"a":"` + strings.Repeat("y", 5000) + `"}`, `{"a":"hush` + strings.Repeat("z", 600_000) + `"}`} {
			var seen [2]StoredEvent
			for i, settle := range []bool{false, true} {
				o := options(t)
				o.delay, o.Limits = time.Hour, Limits{Payload: kept, Redact: redact}
				s := open(t, o)
				e := event(1, "agent:end", data)
				e.EventID, e.Time = "E", time.Unix(1, 0).UTC()
				accept(t, s, e, "a")
				if settle {
					flush(t, s)
				}
				s.Forget(events.PendingKey{Seq: 1, Hook: "a"})
				if err := s.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				var err error
				if seen[i], err = s.Event(t.Context(), "E"); err != nil {
					t.Fatal(err)
				}
				closed(t, s)
			}
			if !reflect.DeepEqual(seen[0], seen[1]) {
				t.Errorf("%s, %d bytes:\nfrom the journal  %.300v\nfrom the database %.300v", kept, len(data), seen[0], seen[1])
			}
			if strings.Contains(string(seen[0].Data)+seen[0].Preview, "hush") {
				t.Errorf("%s, %d bytes: a secret is kept", kept, len(data))
			}
		}
	}
}

// Whatever happens to the journal of a daemon that runs, nothing that it accepted is lost.
func TestJournalThatIsDamagedUnderTheStore(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, dir string){
		"deleted": func(t *testing.T, dir string) { os.RemoveAll(dir) },
		"file":    func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "1.seg")) },
		"cut": func(t *testing.T, dir string) {
			if err := os.Truncate(filepath.Join(dir, "1.seg"), 0); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, in := watched(t, options(t))
			for seq := uint64(1); seq <= 5; seq++ {
				accept(t, s, event(seq, "agent:end", `{"n":1}`), "a")
			}
			damage(t, journalDir(s.opts.Path))
			accept(t, s, event(6, "agent:end", `{}`), "a")
			hooktest.Until(t, "the damage is told", func() bool {
				_, told := in.find(IncidentJournal)
				return told
			})
			flush(t, s)
			if i, ok := in.find(IncidentJournal); !ok || i.Lost != 0 || !strings.Contains(i.Error(), "hookd.db-accepted") {
				t.Errorf("incident %v", i)
			}
			want := []string{"1:a", "2:a", "3:a", "4:a", "5:a", "6:a"}
			if got := pending(t, s); !slices.Equal(got, want) || s.Health().Err != nil {
				t.Errorf("pending %v, %v", got, s.Health().Err)
			}
			s = open(t, killed(t, s))
			if got := pending(t, s); !slices.Equal(got, want) {
				t.Errorf("the next daemon has %v", got)
			}
		})
	}
}

func TestJournalThatIsNotAsItShouldBeAtStart(t *testing.T) {
	t.Parallel()
	filled := func(t *testing.T) Options {
		s := open(t, options(t))
		for seq := uint64(1); seq <= 5; seq++ {
			accept(t, s, event(seq, "agent:end", `{"n":1}`), "a")
		}
		s.Forget(events.PendingKey{Seq: 2, Hook: "a"})
		if err := s.Flush(t.Context()); err != nil { // so that the database knows of the journal
			t.Fatal(err)
		}
		return killed(t, s)
	}
	t.Run("another database", func(t *testing.T) {
		mine, other := filled(t), filled(t)
		if err := os.RemoveAll(journalDir(mine.Path)); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(journalDir(other.Path), journalDir(mine.Path)); err != nil {
			t.Fatal(err)
		}
		s, in := watched(t, mine)
		if i, ok := in.find(IncidentJournal); !ok || !strings.Contains(i.Error(), ".other-") {
			t.Errorf("incident %v", i)
		}
		if got := pending(t, s); len(got) > 0 {
			t.Errorf("%v are pending, which another database has accepted", got)
		}
		accept(t, s, event(s.FirstSeq(), "agent:end", `{}`), "b")
	})
	t.Run("missing", func(t *testing.T) {
		o := filled(t)
		for _, f := range segments(t, o.Path) {
			os.Remove(f)
		}
		alter(t, o.Path, `UPDATE journaled SET segment = 1, offset = 4096`)
		s, in := watched(t, o)
		if i, ok := in.find(IncidentJournal); !ok || !strings.Contains(i.Error(), "missing") {
			t.Errorf("incident %v", i)
		}
		accept(t, s, event(s.FirstSeq(), "agent:end", `{}`), "b")
		s = open(t, killed(t, s))
		if got := pending(t, s); len(got) != 1 {
			t.Errorf("pending %v, want what came after", got)
		}
	})
	t.Run("damaged", func(t *testing.T) {
		o := filled(t)
		f := filepath.Join(journalDir(o.Path), "1.seg")
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		at := strings.Index(string(text), `"uid:1"`) // the first record
		text[at]++
		if err := os.WriteFile(f, text, 0o600); err != nil {
			t.Fatal(err)
		}
		s, in := watched(t, o)
		if i, ok := in.find(IncidentJournal); !ok || !strings.Contains(i.Error(), "are damaged") {
			t.Errorf("incident %v", i)
		}
		if got := pending(t, s); !slices.Equal(got, []string{"3:a", "4:a", "5:a"}) {
			t.Errorf("pending %v, want all that can be read", got)
		}
	})
	t.Run("database corrupt", func(t *testing.T) {
		o := filled(t)
		overwrite(t, o.Path, 0, fileSize(t, o.Path))
		os.Remove(o.Path + "-wal")
		s, in := watched(t, o)
		if i, ok := in.find(IncidentCorrupt); !ok || i.Kept != 5 {
			t.Errorf("incident %v", i)
		}
		if got := pending(t, s); len(got) != 5 { // also the one that had ended, which nothing knows any more
			t.Errorf("pending %v", got)
		}
		if s.FirstSeq() < 1<<40 {
			t.Errorf("numbers begin at %d", s.FirstSeq())
		}
	})
	t.Run("not to be read", func(t *testing.T) {
		o := filled(t)
		if err := os.RemoveAll(journalDir(o.Path)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(journalDir(o.Path), nil, 0o600); err != nil { // where the folder should be
			t.Fatal(err)
		}
		s, _ := watched(t, o)
		if err := s.Health().Err; !errors.Is(err, ErrIO) || !strings.Contains(err.Error(), "hookd.db-accepted") {
			t.Errorf("health %v, want a file in the way", err)
		}
	})
}

// A daemon that stops in good order leaves nothing in the journal.
func TestClosedJournalIsEmpty(t *testing.T) {
	o := options(t)
	s := open(t, o)
	for seq := uint64(1); seq <= 3; seq++ {
		accept(t, s, event(seq, "agent:end", `{}`), "a")
	}
	closed(t, s)
	if list, err := os.ReadDir(journalDir(o.Path)); err != nil || len(list) > 0 {
		t.Errorf("%v are left, %v", list, err)
	}
	s, in := watched(t, o)
	if got := pending(t, s); len(got) != 3 || len(in.kinds()) > 0 {
		t.Errorf("pending %v, incidents %v", got, in.kinds())
	}
}

func FuzzDecodeAccepted(f *testing.F) {
	e := event(7, "agent:end", `{"a":"hush"}`)
	e.Sent = &events.Sent{Matched: []string{"a"}}
	row := encodeEvent(e, true, &Limits{Payload: PayloadFull, Redact: func([]byte) []byte { return []byte("x") }})
	r, err := encodeAccepted(row, []string{"a", "b"}, sentOf(e))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(r.Head)
	f.Fuzz(func(t *testing.T, head []byte) {
		a, err := decodeAccepted(7, head, nil)
		if err != nil {
			return
		}
		r, err := encodeAccepted(a.row, a.hooks, a.sent)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := decodeAccepted(7, r.Head, nil); err != nil || !reflect.DeepEqual(a, again) {
			t.Errorf("got  %+v %v\nwant %+v", again, err, a)
		}
	})
}
