package rules

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/facts"
)

// TestHistoryTogether has sessions make calls at once while rules are reloaded: of one
// session's equal calls exactly as many are let through as its rule says.
func TestHistoryTogether(t *testing.T) {
	sets := []*Set{
		setOf(t, "- deny: {same: call, count: 6}"),
		setOf(t, "- deny: {same: call, count: 6}\n- ask: ls\n  after: {effect: secret}"),
	}
	var mu sync.Mutex
	var log []Moment
	h := NewHistory(func(m *Moment) {
		mu.Lock()
		defer mu.Unlock()
		log = append(log, *m)
	})
	read := func(each func(*Moment)) error {
		mu.Lock()
		list := log[:len(log):len(log)]
		mu.Unlock()
		for _, m := range list {
			each(&m)
		}
		return nil
	}
	if err := h.Use(sets[:1], read); err != nil {
		t.Fatal(err)
	}
	f := facts.Line("ls", facts.Env{Cwd: "/p", Home: testHome})
	const sessions, calls = 8, 20
	var passed [sessions]int
	var all, reloads sync.WaitGroup
	ended := make(chan struct{})
	reloads.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-ended:
				return
			default:
				if err := h.Use(sets[i%2:i%2+1], read); err != nil {
					t.Error(err)
				}
			}
		}
	})
	for i := range sessions {
		var count sync.Mutex
		for n := range calls {
			all.Go(func() {
				s := &Subject{Facts: f, Tools: []string{"Bash"}, Cwd: "/p", Project: "/p", Home: testHome}
				m := &Moment{ID: fmt.Sprint(i, " ", n), Kind: Asked, Time: time.Now(), Session: fmt.Sprint(i), Keys: Keys{7, 7},
					Subject: s}
				seen := *s
				seen.Before = h.Begin(m)
				denied := sets[0].Judge(&seen).Action == Deny
				h.End(m.ID, denied, false)
				if !denied {
					count.Lock()
					passed[i]++
					count.Unlock()
				}
			})
		}
	}
	all.Wait()
	close(ended)
	reloads.Wait()
	for i, n := range passed {
		if n > 5 {
			t.Errorf("session %d: %d equal calls pass, at most 5 may", i, n)
		}
	}
}
