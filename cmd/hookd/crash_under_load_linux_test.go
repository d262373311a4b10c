package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/hooktest"
)

// seen is what a subscriber was told: records, and numbers that are missing.
type seen struct {
	mu   sync.Mutex
	seqs map[uint64]bool
	gaps [][2]uint64
}

func (s *seen) follow(ctx context.Context, c *client.Client, since uint64, once bool) error {
	return c.Tail(ctx, client.TailOptions{Since: &since, Once: once}, func(raw json.RawMessage) error {
		var r struct {
			Type          string
			Seq, From, To uint64
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		switch r.Type {
		case "gap":
			s.gaps = append(s.gaps, [2]uint64{r.From, r.To})
		case "event", "run":
			s.seqs[r.Seq] = true
		}
		return nil
	})
}

// told reports whether a number came as a record or in a gap.
func (s *seen) told(seq uint64) bool {
	for _, g := range s.gaps {
		if g[0] <= seq && seq <= g[1] {
			return true
		}
	}
	return s.seqs[seq]
}

// TestKilledUnderLoad kills hookd again and again while agents send events with
// ids, large ones and ones for which no hook waits, and subscribers read along.
// No accepted event is lost, each number that was answered is a record or a gap
// of the stream, and memory stays within queue.max_bytes and 64 MiB.
func TestKilledUnderLoad(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	const large = 3 << 20
	home := t.TempDir()
	ran := filepath.Join(home, "ran")
	writeCrashHook(t, home, ran)
	note := "#!/bin/sh\nhead -c 40 | tr -d '\\n' | sed 's/$/\\n/' >> " + ran + "\n"
	if err := os.WriteFile(filepath.Join(home, "hooks", "note", "note.sh"), []byte(note), 0o755); err != nil {
		t.Fatal(err)
	}
	c := client.New(client.Options{Socket: filepath.Join(home, "hookd.sock")})
	var mu sync.Mutex
	answered, accepted := map[uint64]bool{}, map[string]bool{}
	most := 0
	for round := range rounds {
		kill := serveUntilKilled(t, home)
		ctx, end := context.WithCancel(t.Context())
		var busy sync.WaitGroup
		for s := range 4 {
			busy.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					id, size, name := fmt.Sprintf("r%02d-s%d-n%06d", round, s, n), 10, "agent:step"
					if n%20 == 10 {
						size = large
					}
					if n%2 == 1 {
						name = "agent:quiet"
					}
					data := fmt.Sprintf(`{"id":%q,"pad":%q}`, id, strings.Repeat("x", size))
					answer, err := c.Emit(ctx, client.Event{Event: name, ID: id, SessionID: id[:6], Data: []byte(data)})
					if err != nil {
						return
					}
					mu.Lock()
					answered[answer.Seq] = true
					if name == "agent:step" {
						accepted[id] = true
					}
					mu.Unlock()
				}
			})
		}
		for range 3 {
			busy.Go(func() { (&seen{seqs: map[uint64]bool{}}).follow(ctx, c, 0, false) })
		}
		if st, err := c.Status(ctx); err == nil {
			<-time.After(time.Duration(100+rand.IntN(400)) * time.Millisecond) // the moment is random: nothing is waited for
			most = max(most, peakMemory(st.PID))
		}
		kill()
		end()
		busy.Wait()
	}
	kill := serveUntilKilled(t, home)
	defer kill()
	hooktest.Until(t, "everything has run", func() bool {
		st, err := c.Status(t.Context())
		return err == nil && st.Store.PendingRuns == 0 && st.Queued == 0
	})
	if st, err := c.Status(t.Context()); err == nil {
		most = max(most, peakMemory(st.PID))
	}
	text, err := os.ReadFile(ran)
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]bool{}
	for _, id := range regexp.MustCompile(`r\d\d-s\d-n\d{6}`).FindAllString(string(text), -1) {
		runs[id] = true
	}
	lost, silent := 0, 0
	for id := range accepted {
		if !runs[id] {
			lost++
		}
	}
	all := &seen{seqs: map[uint64]bool{}}
	if err := all.follow(t.Context(), c, 0, true); err != nil {
		t.Fatal(err)
	}
	for seq := range answered {
		if !all.told(seq) {
			silent++
		}
	}
	t.Logf("%d rounds: answered %d, with a hook %d, lost %d, silent gaps %d, gaps told %d, at most %d MiB", rounds, len(answered), len(accepted), lost, silent, len(all.gaps), most>>20)
	if lost > 0 || silent > 0 || len(accepted) < rounds {
		t.Errorf("accepted %d, lost %d, silent gaps %d", len(accepted), lost, silent)
	}
	if most > 64<<20+64<<20 {
		t.Errorf("hookd took %d MiB, want no more than 128", most>>20)
	}
}

// peakMemory is the most memory that a process has had, in bytes.
func peakMemory(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(m[1])) // digits
	return n << 10
}
