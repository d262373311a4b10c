package store

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/events"

	"github.com/hookd/hookd/internal/base/hooktest"
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

// The pending rows are the same as in a plain map of rows, however they are kept.
func TestLiveIsAMapOfRows(t *testing.T) {
	for _, lists := range []int{3, 2 * mostLists} { // few lists of hooks, and more than have numbers
		l, want := newLive(64<<10), map[uint64][]pendingRow{}
		random := rand.New(rand.NewPCG(1, uint64(lists)))
		hooksOf := func() []string {
			n := random.IntN(lists)
			return []string{fmt.Sprint("a", n), fmt.Sprint("b", n/2), "c"}[:1+n%3]
		}
		for i := range 8 * mostLists {
			seq := uint64(1 + random.IntN(300))
			rows := want[seq]
			switch op := random.IntN(5); {
			case rows == nil && op < 4:
				hooks := hooksOf()
				l.accept(seq, &events.Event{Seq: seq}, 100, hooks, fate{})
				want[seq] = firstAttempts(hooks)
			case rows == nil:
				l.add(seq, nil, 100, []pendingRow{{hook: "dead", attempt: 2}})
				want[seq] = []pendingRow{{hook: "dead", attempt: 2}}
			case op < 3:
				k := events.PendingKey{Seq: seq, Hook: rows[random.IntN(len(rows))].hook}
				l.end(k)
				if want[seq] = slices.DeleteFunc(rows, func(r pendingRow) bool { return r.hook == k.Hook }); len(want[seq]) == 0 {
					delete(want, seq)
				}
			case op == 3:
				k := events.PendingKey{Seq: seq, Hook: rows[0].hook}
				l.change(k, func(r *pendingRow) { r.attempt++; r.due = int64(i) })
				rows[0].attempt++
				rows[0].due = int64(i)
			default:
				l.forget(seq)
				delete(want, seq)
			}
			if got, _ := l.rows(seq); !slices.Equal(got, want[seq]) {
				t.Fatalf("step %d: event %d has %v, want %v", i, seq, got, want[seq])
			}
		}
		runs := 0
		for _, rows := range want {
			runs += len(rows)
		}
		if n, r, bytes := l.load(); n != len(want) || r != runs || bytes != int64(100*len(want)) || l.inRAM > l.most {
			t.Errorf("%d events, %d runs, %d bytes, %d in memory; want %d, %d", n, r, bytes, l.inRAM, len(want), runs)
		}
		for seq := range want {
			l.forget(seq)
		}
		if n, r, bytes := l.load(); n+r != 0 || bytes != 0 || l.inRAM != 0 || len(l.whole) != 0 || len(l.changed) != 0 {
			t.Errorf("after all ended: %d events, %d runs, %d bytes, %d in memory", n, r, bytes, l.inRAM)
		}
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
	s := &core{live: newLive(0), opts: Options{Waiting: func(n int) { told = append(told, n) }}}
	for seq := uint64(1); seq <= 2*waitingStep; seq++ {
		s.live.accept(seq, nil, 1, []string{"a"}, fate{})
		s.tellWaiting()
	}
	for seq := uint64(1); seq <= 2*waitingStep; seq++ {
		s.live.forget(seq)
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
	closed(t, open(t, o))
	const n = 100_000
	alter(t, o.Path, fmt.Sprintf(`WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d)
		INSERT INTO events (seq, id, at, name, size, detail, redacted, kept, data)
		SELECT i, 'E' || i, 1, 'agent:end', 2, CAST('{}' AS BLOB), 0, 2, CAST('{}' AS BLOB) FROM c`, n))
	alter(t, o.Path, `INSERT INTO pending (seq, hook, ord, attempt, due) SELECT seq, 'note', 0, 0, 0 FROM events`)
	alter(t, o.Path, `UPDATE state SET events = (SELECT count(*) FROM events), seq = 10000000`)
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
