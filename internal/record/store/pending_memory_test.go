package store

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookd/hookd/internal/events"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/record/journal"
)

// The garbage collector follows no pointer of an event that waits on disk.
func TestWhatWaitsHasNoPointers(t *testing.T) {
	for _, v := range []any{waiting{}, entry{}} {
		if typ := reflect.TypeOf(v); hasPointers(typ) {
			t.Errorf("%s has a pointer", typ)
		}
	}
}

func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return hasPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	default:
		return !(t.Kind() >= reflect.Bool && t.Kind() <= reflect.Complex128)
	}
}

// The rows in memory are the same as in a plain map of rows, however they are kept, and all that is pending
// is counted wherever it is.
func TestLiveIsAMapOfRows(t *testing.T) {
	for _, lists := range []int{3, 2 * mostLists} { // few lists of hooks, and more than have numbers
		l, want, stored := newPendingMemory(64<<10), map[uint64][]pendingRow{}, map[uint64]bool{}
		random := rand.New(rand.NewPCG(1, uint64(lists)))
		hooksOf := func() []string {
			n := random.IntN(lists)
			return []string{fmt.Sprint("a", n), fmt.Sprint("b", n/2), "c"}[:1+n%3]
		}
		disk := func() (a amount) {
			for seq := range stored {
				a.add(amount{1, int64(len(want[seq])), 100})
			}
			return a
		}
		for i := range 8 * mostLists {
			seq := uint64(1 + random.IntN(300))
			rows, op := want[seq], random.IntN(5)
			switch {
			case rows == nil:
				hooks := hooksOf()
				l.accept(seq, &events.Event{Seq: seq}, 100, hooks, fate{})
				want[seq] = firstAttempts(hooks)
			case op < 2 && !stored[seq]:
				stored[seq] = true
				l.stored([]*entry{{Entry: journal.Entry{Number: seq}}}, disk())
			case !stored[seq]:
				l.forget(seq)
				delete(want, seq)
			case op < 3:
				k := events.PendingKey{Seq: seq, Hook: rows[random.IntN(len(rows))].hook}
				want[seq] = slices.DeleteFunc(rows, func(r pendingRow) bool { return r.hook == k.Hook })
				if len(want[seq]) == 0 {
					delete(want, seq)
					delete(stored, seq)
				}
				l.inDatabase(disk())
				l.end(k)
			case op == 3:
				rows[0].attempt++
				rows[0].due = int64(i)
				l.change(events.PendingKey{Seq: seq, Hook: rows[0].hook}, rows[0])
			default:
				l.holdRead(&events.Event{Envelope: events.Envelope{Data: make([]byte, 100)}, Seq: seq}, rows, 64<<10)
			}
			got, held := l.rows(seq)
			if l.has(seq) != (want[seq] != nil && (!stored[seq] || held != nil)) {
				t.Fatalf("step %d: event %d in memory: %v", i, seq, l.has(seq))
			}
			if l.has(seq) && !slices.Equal(got, want[seq]) {
				t.Fatalf("step %d: event %d has %v, want %v", i, seq, got, want[seq])
			}
		}
		runs := 0
		for _, rows := range want {
			runs += len(rows)
		}
		n, r, bytes := l.load()
		if kept, lost := l.count(); n != len(want) || r != runs || bytes != int64(100*n) || l.inRAM > l.most || kept+lost != r {
			t.Errorf("%d events, %d runs (%d, %d), %d bytes, %d in memory; want %d, %d", n, r, kept, lost, bytes, l.inRAM, len(want), runs)
		}
		for seq, rows := range want {
			if !stored[seq] {
				l.forget(seq)
			}
			for _, row := range rows {
				l.end(events.PendingKey{Seq: seq, Hook: row.hook})
			}
		}
		l.inDatabase(amount{})
		if n, r, bytes := l.load(); n+r != 0 || bytes != 0 || l.inRAM != 0 || len(l.whole)+len(l.changed)+len(l.events) != 0 {
			t.Errorf("after all ended: %d events, %d runs, %d bytes, %d in memory", n, r, bytes, l.inRAM)
		}
	}
}

// Rows that were read before they changed are not held after it.
func TestRowsThatHaveChangedAreNotHeld(t *testing.T) {
	l, rows := newPendingMemory(1<<20), []pendingRow{{hook: "a"}, {hook: "b"}}
	l.watch()
	l.end(events.PendingKey{Seq: 1, Hook: "a"})
	if l.holdRead(&events.Event{Seq: 1}, rows, 1<<20) || !l.holdRead(&events.Event{Seq: 2}, rows, 1<<20) {
		t.Error("the event whose run has ended is held, or the other one is not")
	}
	l.unwatch()
	if l.watch(); !l.holdRead(&events.Event{Seq: 1}, rows[1:], 1<<20) {
		t.Error("what was read after the end is not held")
	}
}

// Lists that differ only in where their names end have different numbers.
func TestListsOfHooksAreToldApart(t *testing.T) {
	var h hookLists
	seen := map[uint32]string{}
	for _, list := range [][]string{{"a", "b"}, {"ab"}, {"a\x01b"}, {"a", "b", ""}, {"", "a", "b"}, {"b", "a"}} {
		n := h.number(list)
		if other, there := seen[n]; there || n == 0 {
			t.Errorf("%q has number %d, as %s", list, n, other)
		}
		seen[n] = strings.Join(list, ",")
		if got := h.hooks(n); !slices.Equal(got, list) || h.number(slices.Clone(list)) != n {
			t.Errorf("number %d is %q, want %q", n, got, list)
		}
	}
}

// How many events wait is told as their number grows and shrinks, not for each.
func TestHowManyWaitIsTold(t *testing.T) {
	var told []int
	s := &core{pending: newPendingMemory(0), opts: Options{Waiting: func(n int) { told = append(told, n) }}}
	for seq := uint64(1); seq <= 2*waitingStep; seq++ {
		s.pending.accept(seq, nil, 1, []string{"a"}, fate{})
		s.tellWaiting()
	}
	for seq := uint64(1); seq <= 2*waitingStep; seq++ {
		s.pending.forget(seq)
		s.tellWaiting()
	}
	if want := []int{waitingStep, 2 * waitingStep, waitingStep, 0}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}

// Of a million events that wait on disk, each takes at most 100 bytes of memory.
func TestABacklogTakesLittleMemory(t *testing.T) {
	hooktest.Long(t)
	o := options(t)
	const n = 100_000
	fillBacklog(t, o.Path, n)
	memory := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := memory()
	s := open(t, o)
	each := float64(memory()-before) / n
	if h := s.Health(); h.PendingEvents != n || h.PendingRuns != n || each > 100 {
		t.Errorf("%d events and %d runs wait, each takes %.0f bytes", h.PendingEvents, h.PendingRuns, each)
	}
	t.Logf("%.0f bytes an event", each)
}

// fillBacklog makes a database in which n events wait, as an earlier version has left it.
func fillBacklog(t *testing.T, path string, n int) {
	t.Helper()
	o := options(t)
	o.Path = path
	closed(t, open(t, o))
	alter(t, path, fmt.Sprintf(`WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d)
		INSERT INTO events (seq, id, at, name, size, detail, redacted, kept, data)
		SELECT i, 'E' || i, 1, 'agent:end', 2, CAST('{}' AS BLOB), 0, 2, CAST('{}' AS BLOB) FROM c`, n))
	alter(t, path, `INSERT INTO pending (seq, hook, ord, attempt, due) SELECT seq, 'note', 0, 0, 0 FROM events`)
	alter(t, path, `UPDATE state SET events = (SELECT count(*) FROM events), seq = 10000000`)
	alter(t, path, `UPDATE journaled SET waiting_sum = NULL`)
}

// A large backlog is checked behind Open, before it is read: damage is found before any of its runs.
func TestALargeBacklogIsCheckedBehindOpen(t *testing.T) {
	const n = 3 * mostAtOnce / 2
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, path string)
		most   int // runs that are left
	}{
		{"sound", func(*testing.T, string) {}, n},
		{"events missing", func(t *testing.T, path string) { alter(t, path, `DELETE FROM events WHERE seq % 3 = 0`) }, n - n/3},
		{"a page of zeros", zeroPendingPage, n - 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t)
			fillBacklog(t, o.Path, n)
			closed(t, open(t, o)) // it knows how much waits now
			c.damage(t, o.Path)
			s := open(t, o)
			runs, after := 0, uint64(0)
			for {
				page, err := s.Pending(t.Context(), after, 500)
				if err != nil {
					t.Fatal(err)
				}
				if len(page) == 0 {
					break
				}
				runs, after = runs+len(page), page[len(page)-1].Event.Seq
			}
			lost := s.Health().Lost
			if runs > c.most || runs < n/2 || s.Health().PendingRuns != runs || lost != int64(n-runs) {
				t.Errorf("%d runs, %d pending, %d lost", runs, s.Health().PendingRuns, lost)
			}
			closed(t, s)
		})
	}
}

// zeroPendingPage overwrites the last page of the pending runs.
func zeroPendingPage(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var root, size int64
	row := db.QueryRow(`SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = 'pending'`)
	if err := row.Scan(&root, &size); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var last [4]byte // the last child of the root
	if _, err := f.ReadAt(last[:], (root-1)*size+8); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, size), int64(binary.BigEndian.Uint32(last[:])-1)*size); err != nil {
		t.Fatal(err)
	}
}

// The events that only the journal has are few, however many wait: each takes memory, and the next start reads them.
func TestFewEventsWaitInTheJournalAlone(t *testing.T) {
	hooktest.Long(t)
	o := options(t)
	s := open(t, o)
	const n = 3 * lateEvents
	var kept sync.WaitGroup
	most := 0
	for seq := s.FirstSeq(); seq < s.FirstSeq()+n; seq++ {
		kept.Add(1)
		err := s.Accept(event(seq, "agent:end", `{}`), nil, []string{"a"}, func(err error) {
			if err != nil {
				t.Error(err)
			}
			kept.Done()
		})
		if err != nil {
			t.Fatal(err)
		}
		if most = max(most, s.Health().InMemory); seq%512 == 0 {
			kept.Wait()
		}
	}
	kept.Wait()
	held := int(o.Held+16<<20) / heldCost
	const more = 1024 // that are accepted at the same time
	if h := s.Health(); h.PendingRuns != n || most > lateEvents+held+more {
		t.Errorf("%d runs wait, up to %d events were in memory", h.PendingRuns, most)
	}
	closed(t, s)
	if s = open(t, o); s.Health().PendingRuns != n || s.Health().Journaled > lateEvents+more {
		t.Errorf("in the next process %d runs wait, the journal alone has %d", s.Health().PendingRuns, s.Health().Journaled)
	}
}
