package store

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"

	"github.com/hookd/hookd/internal/base/hooktest"
)

const crashEnv = "HOOKD_STORE_CRASH_TEST"

// crashChild accepts events from eight goroutines and prints the number of
// each once Accept has returned, ends some of them, and prints that before it
// tells the store, until it is killed.
func crashChild() {
	s, err := Open(Options{Path: os.Getenv(crashEnv), Durable: Durability(os.Getenv(crashEnv + "_DURABLE"))})
	if err != nil {
		panic(err)
	}
	var mu sync.Mutex
	next := s.FirstSeq()
	number := func() uint64 { mu.Lock(); defer mu.Unlock(); next++; return next - 1 }
	fmt.Println("first", s.FirstSeq())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				now := time.Now()
				e := &events.Event{Envelope: events.Envelope{Event: "agent:end", Data: []byte(`{"n":1}`)}, EventID: events.NewID(now), Seq: number(), Time: now, Contract: events.For("", "agent:end")}
				if err := acceptNow(s, e, "a", "b"); err != nil {
					panic(err)
				}
				fmt.Println("accepted", e.Seq) // one write
				if i%3 == 0 {
					fmt.Println("ended", e.Seq)
					s.Done(events.PendingKey{Seq: e.Seq, Hook: "a"}, &wire.Run{ID: events.NewRunID(now), Seq: number(), EventID: e.EventID, Event: "agent:end", Hook: "a", Result: wire.ResultOK, Started: now})
				}
			}
		})
	}
	wg.Wait()
}

func TestAcknowledgedEventsSurviveKill(t *testing.T) {
	t.Parallel()
	for _, durable := range []Durability{DurableFsync, DurableOS} {
		t.Run(string(durable), func(t *testing.T) {
			o := options(t)
			o.Durable = durable
			rounds := 12
			if !hooktest.All() {
				rounds = 3
			}
			acknowledged, greatest := map[uint64]bool{}, uint64(0)
			ended := map[uint64]bool{}
			for range rounds {
				first := crashRound(t, o, acknowledged, ended)
				if first <= greatest {
					t.Fatalf("numbering began at %d, but %d was acknowledged", first, greatest)
				}
				for seq := range acknowledged {
					greatest = max(greatest, seq)
				}
			}
			lost, again := checkPending(t, o, acknowledged, ended)
			t.Logf("acknowledged %d, ended %d of them, would run again %d, lost %d", len(acknowledged), len(ended), again, lost)
			if lost > 0 {
				t.Errorf("lost %d acknowledged runs", lost)
			}
		})
	}
}

// crashRound lets a child write until it is killed at a random moment.
func crashRound(t *testing.T, o Options, acknowledged, ended map[uint64]bool) (first uint64) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashEnv+"="+o.Path, crashEnv+"_DURABLE="+string(o.Durable))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	after := 1 + rand.IntN(2000)
	for lines, n := bufio.NewScanner(out), 0; lines.Scan(); n++ {
		var word string
		var seq uint64
		if _, err := fmt.Sscan(lines.Text(), &word, &seq); err != nil {
			break // cut off by the kill
		}
		switch word {
		case "first":
			first = seq
		case "accepted":
			acknowledged[seq] = true
		case "ended":
			ended[seq] = true
		}
		if n == after { // what is in the pipe was acknowledged too, so read on
			cmd.Process.Kill()
		}
	}
	return first
}

// checkPending counts the acknowledged runs that are neither pending nor
// ended, and the ended runs that are still pending.
func checkPending(t *testing.T, o Options, acknowledged, ended map[uint64]bool) (lost, again int) {
	t.Helper()
	s := open(t, o)
	found := map[events.PendingKey]bool{}
	var order []uint64
	for after := uint64(0); ; {
		page, err := s.Pending(t.Context(), after, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, p := range page {
			found[p.Key()] = true
			after = p.Event.Seq
			order = append(order, after)
		}
	}
	if !slices.IsSorted(order) {
		t.Error("pending runs came back out of order")
	}
	for seq := range acknowledged {
		if !found[events.PendingKey{Seq: seq, Hook: "b"}] || !found[events.PendingKey{Seq: seq, Hook: "a"}] && !ended[seq] {
			lost++
		}
		if found[events.PendingKey{Seq: seq, Hook: "a"}] && ended[seq] {
			again++
		}
	}
	return lost, again
}

const faultEnv = "HOOKD_STORE_FAULT_TEST"

// faultChild accepts one event after the other, also when some are refused, and prints the
// outcome of each. It ends each second one, and prints that before.
func faultChild() {
	s, err := Open(Options{Path: os.Getenv(faultEnv), probe: 10 * time.Millisecond})
	if err != nil {
		panic(err)
	}
	tick := time.NewTicker(time.Millisecond)
	refused, after := 0, 0
	for seq := s.FirstSeq(); seq < s.FirstSeq()+20_000 && after < 100; seq++ {
		now := time.Now()
		e := &events.Event{Envelope: events.Envelope{Event: "agent:end", Data: []byte(`{"n":1}`)}, EventID: events.NewID(now), Seq: seq, Time: now, Contract: events.For("", "agent:end")}
		switch err := acceptNow(s, e, "a"); {
		case err == nil:
			fmt.Println("accepted", seq)
			if refused > 0 {
				after++
			}
			if seq%2 == 0 {
				fmt.Println("ended", seq)
				s.Done(events.PendingKey{Seq: seq, Hook: "a"}, &wire.Run{})
			}
		case errors.Is(err, ErrIO):
			fmt.Println("refused", seq)
			refused++
			<-tick.C
		default:
			panic(err)
		}
	}
	if err := s.Close(); err != nil { // the fault may arrive as late as this
		fmt.Println("closed", 0, err)
	}
}

func TestFailedSyncRefusesAndHeals(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("needs strace")
	}
	for name, fault := range map[string]string{
		"journal":  "fdatasync:error=EIO:when=20..22",
		"database": "fsync:error=EIO:when=3..5",
		"write":    "pwrite64:error=EIO:when=60..63",
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			cmd := exec.Command(strace, "-f", "--seccomp-bpf", "-qq", "-o", os.DevNull, "-e", "trace="+strings.SplitN(fault, ":", 2)[0], "-e", "inject="+fault, os.Args[0])
			cmd.Env = append(os.Environ(), faultEnv+"="+o.Path)
			out, err := cmd.CombinedOutput()
			if err != nil && (strings.Contains(string(out), "ptrace") || strings.Contains(string(out), "seccomp-bpf")) {
				t.Skipf("strace may not trace here: %s", out)
			}
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			accepted, refused, ended := map[string]bool{}, map[string]bool{}, map[string]bool{}
			for line := range strings.Lines(string(out)) {
				word, seq, _ := strings.Cut(strings.TrimSpace(line), " ")
				switch word {
				case "accepted":
					accepted[seq+":a"] = true
				case "refused":
					refused[seq+":a"] = true
				case "ended":
					ended[seq+":a"] = true
				}
			}
			found := pending(t, open(t, o))
			t.Logf("accepted %d, refused %d, found %d", len(accepted), len(refused), len(found))
			if len(refused) == 0 {
				t.Error("nothing was refused: the fault did not arrive")
			}
			for key := range ended {
				delete(accepted, key)
			}
			for _, key := range found {
				if refused[key] {
					t.Errorf("%s was refused and is pending", key)
				}
				delete(accepted, key)
			}
			if len(accepted) > 0 {
				t.Errorf("%d accepted events are lost", len(accepted))
			}
		})
	}
}
