package rules

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/facts"
)

// fifty are fifty rules that look back, each of its own.
func fifty(b *testing.B) *Set {
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
