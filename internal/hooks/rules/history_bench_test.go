package rules

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/facts"
)

// fifty are fifty rules that look back, each of its own.
func fifty(b testing.TB) *Set {
	var text strings.Builder
	for i := range 50 {
		switch i % 5 {
		case 0:
			fmt.Fprintf(&text, "- deny: git push * b%d\n  unless: {ran: [go test *, make t%d], ok: true, since: edit}\n", i, i)
		case 1:
			fmt.Fprintf(&text, "- ask: {effect: [connect, send], host: h%d}\n  after: {effect: secret, path: /s%d/**}\n", i, i)
		case 2:
			fmt.Fprintf(&text, "- ask: {same: call, count: %d, within: 10m}\n", i)
		case 3:
			fmt.Fprintf(&text, "- ask: {effect: write, path: /w%d/**, other_session: true, within: %dm}\n", i, i)
		case 4:
			fmt.Fprintf(&text, "- ask: {tool: t%d, count: %d, since: prompt}\n", i, i)
		}
	}
	return setOf(b, text.String())
}

// used is the processor time that the process has used.
func used() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it has no reason to fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// caller makes calls of a session, for a History of fifty rules.
func caller(tb testing.TB) (h *History, call func(session int)) {
	var subjects []*Subject
	for _, line := range lines {
		f := facts.Line(line, facts.Env{Cwd: "/home/u/p", Home: testHome})
		subjects = append(subjects, &Subject{Facts: f, Tools: []string{"Bash"}, Cwd: "/home/u/p", Project: "/home/u/p", Home: testHome})
	}
	h = NewHistory(nil)
	if err := h.Use([]*Set{fifty(tb)}, nil); err != nil {
		tb.Fatal(err)
	}
	n, now := 0, time.Now()
	return h, func(session int) {
		n++
		now = now.Add(time.Second)
		s := *subjects[n%len(subjects)]
		m := Moment{ID: fmt.Sprint("01M8FNGRJBGSZGFN", n), Kind: Asked, Time: now, Session: fmt.Sprint("session ", session),
			Agent: "agent", Call: fmt.Sprint("c", n), Keys: Keys{uint64(n%len(subjects)) + 1, 1}, Subject: &s}
		h.Begin(&m)
		h.End(m.ID, n%7 == 0, false)
		h.Begin(&Moment{ID: "r" + m.ID, Kind: Ended, Time: now, Session: m.Session, Agent: "agent", Call: m.Call,
			Outcome: Succeeded, Keys: m.Keys, Subject: &s, Unseen: true})
	}
}

// A session with very many calls holds as much as one with some.
func TestStateOfASessionIsBounded(t *testing.T) {
	calls := 20_000
	if hooktest.All() {
		calls = 100_000
	}
	h, call := caller(t)
	most := 0
	for i := range calls {
		call(1)
		held := len(h.waiting) + len(h.order) + len(h.st.files)
		for _, s := range h.st.scopes {
			held += len(s.open) + len(s.over) + len(s.like)
			for at, trail := range s.trails {
				if limit := 4*h.st.table.tracks[at].most + 8; len(trail) > limit {
					t.Fatalf("a track that counts to %d holds %d", h.st.table.tracks[at].most, len(trail))
				}
				held += len(trail)
			}
		}
		for _, f := range h.st.files {
			held += len(f.edits)
		}
		if i < 5000 {
			most = max(most, held)
		} else if held > most+most/10 {
			t.Fatalf("after %d calls %d things are held, at most %d of the first 5,000", i, held, most)
		}
	}
}

// BenchmarkMemory is the heap that fifty rules hold for all sessions, and for each that is remembered: it has
// made a hundred calls.
func BenchmarkMemory(b *testing.B) {
	for _, sessions := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(sessions, " sessions"), func(b *testing.B) {
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				h, call := caller(b)
				for session := range sessions {
					call(session)
					for i := 1; i < 100 && sessions-session <= mostScopes; i++ {
						call(session)
					}
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				held := float64(after.HeapAlloc-before.HeapAlloc) / 1024
				b.ReportMetric(held/1024, "MiB")
				b.ReportMetric(held/float64(len(h.st.scopes)), "KiB/session")
			}
		})
	}
}

// BenchmarkHistory is the cost that fifty rules that look back add to a call, with 1,000 sessions
// known: the call gets its place, is judged by the events before it, gets its fate and its end.
// p50 is of the part that its verdict waits for, and may be 30 µs; cpu is the whole cost.
func BenchmarkHistory(b *testing.B) {
	set, subjects := fifty(b), []*Subject{}
	for _, line := range lines {
		f := facts.Line(line, facts.Env{Cwd: "/home/u/p", Home: testHome})
		subjects = append(subjects, &Subject{Facts: f, Tools: []string{"Bash"}, Cwd: "/home/u/p", Project: "/home/u/p", Home: testHome})
	}
	h := NewHistory(nil)
	if err := h.Use([]*Set{set}, nil); err != nil {
		b.Fatal(err)
	}
	n, took := 0, []time.Duration{}
	now := time.Now()
	call := func() {
		n++
		now = now.Add(time.Second)
		s := *subjects[n%len(subjects)]
		m := Moment{ID: fmt.Sprint("01M8FNGRJBGSZGFN", n), Kind: Asked, Time: now, Session: fmt.Sprint("session ", n%1000),
			Agent: "agent", Call: fmt.Sprint("c", n), Keys: Keys{uint64(n%len(subjects)) + 1, 1}, Subject: &s}
		began := time.Now()
		s.Before = h.Begin(&m)
		set.Judge(&s)
		h.End(m.ID, false, false)
		took = append(took, time.Since(began))
		h.Begin(&Moment{ID: "r" + m.ID, Kind: Ended, Time: now, Session: m.Session, Agent: "agent", Call: m.Call,
			Outcome: Succeeded, Keys: m.Keys, Subject: &s, Unseen: true})
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 100_000 { // a hundred calls of each session
		call()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	memory := float64(after.HeapAlloc-before.HeapAlloc) / 1000
	took = took[:0]
	began := used()
	for b.Loop() {
		call()
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2])/1e3, "p50-µs/call")
	b.ReportMetric(float64(used()-began)/1e3/float64(b.N), "cpu-µs/call")
	b.ReportMetric(memory/1024, "KiB/session")
	runtime.KeepAlive(h)
}
