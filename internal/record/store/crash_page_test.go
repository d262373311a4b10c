package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
)

const givenEnv = "HOOKD_STORE_GIVEN_TEST"

// givenChild accepts 1 and 2, leaves 3 out, notes 4 to 6, writes none of these three, and waits to
// be killed.
func givenChild() {
	s, err := Open(Options{Path: os.Getenv(givenEnv), Durable: DurableOS, delay: time.Hour, sweep: -1})
	if err != nil {
		panic(err)
	}
	make := func(seq uint64) *events.Event {
		now := time.Now()
		return &events.Event{Envelope: events.Envelope{Event: "agent:end", Data: []byte(`{"n":1}`)}, EventID: events.NewID(now), Seq: seq, Time: now, Contract: events.For("", "agent:end")}
	}
	first := s.FirstSeq()
	for _, n := range []uint64{0, 1} {
		if err := acceptNow(s, make(first+n), "a"); err != nil {
			panic(err)
		}
	}
	for _, n := range []uint64{3, 4, 5} {
		if os.Getenv(givenEnv+"_QUIET") == "" {
			s.Note(make(first+n), nil)
		}
	}
	fmt.Println(first)
	select {}
}

// Numbers that were given and vanished with the process are missing, not more and not
// less; where nothing vanished, nothing is missing.
func TestNumbersThatVanishedAreMissing(t *testing.T) {
	o := options(t)
	var want []Range
	for round, quiet := range []bool{false, true, false} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), givenEnv+"="+o.Path)
		if quiet {
			cmd.Env = append(cmd.Env, givenEnv+"_QUIET=1")
		}
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var first uint64
		if _, err := fmt.Fscan(out, &first); err != nil {
			t.Fatal(err)
		}
		cmd.Process.Kill()
		io.Copy(io.Discard, out)
		cmd.Wait()
		if !quiet {
			want = append(want, Range{first + 2, first + 5})
		}
		s := open(t, o)
		flush(t, s)
		feed, err := s.Since(t.Context(), 0, s.FirstSeq()-1, 100, 1<<20)
		if err != nil || !slices.Equal(feed.Missing, want) || len(feed.Records) != 2*(round+1) {
			t.Fatalf("round %d: missing %v, %d records, %v, want %v", round, feed.Missing, len(feed.Records), err, want)
		}
		closed(t, s) // in good order: no number vanishes
	}
}

// After a crash of the machine it is unknown which numbers were given: all
// reserved numbers count as missing.
func TestNumbersOfAnotherBootAreMissing(t *testing.T) {
	o := options(t)
	s := open(t, o)
	accept(t, s, event(s.FirstSeq(), "agent:end", "{}"), "a")
	flush(t, s)
	image := map[string][]byte{}
	for _, name := range []string{o.Path, o.Path + "-wal", lockPath(o.Path)} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		image[name] = text
	}
	closed(t, s)
	copy(image[lockPath(o.Path)][pageBoot:], "another boot")
	os.Remove(o.Path + "-shm")
	for name, text := range image {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, o)
	feed, err := s.Since(t.Context(), 0, s.FirstSeq()-1, 100, 1<<20)
	if want := []Range{{2, s.FirstSeq() - 1}}; err != nil || !slices.Equal(feed.Missing, want) {
		t.Errorf("missing %v, %v, want %v", feed.Missing, err, want)
	}
}

// A process whose file of numbers is cut off forgets the numbers and goes on.
func TestTheFileOfNumbersIsCutOff(t *testing.T) {
	o := options(t)
	s := open(t, o)
	accept(t, s, event(1, "agent:end", "{}"), "a")
	if err := os.Truncate(lockPath(o.Path), 0); err != nil {
		t.Fatal(err)
	}
	accept(t, s, event(2, "agent:end", "{}"), "a")
}

// A database has one store at a time, by whatever name it is reached, and the
// next one when that is closed.
func TestOneStoreADatabase(t *testing.T) {
	t.Parallel()
	o := options(t)
	s := open(t, o)
	accept(t, s, event(1, "agent:end", "{}"), "a")
	link := o
	link.Path = filepath.Join(t.TempDir(), "other.db")
	if err := os.Symlink(o.Path, link.Path); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{o, link} {
		if _, err := Open(o); !errors.Is(err, ErrLocked) {
			t.Errorf("a second store on %s: %v, want %v", o.Path, err, ErrLocked)
		}
	}
	closed(t, s)
	s = open(t, link)
	if got := pending(t, s); len(got) != 1 {
		t.Errorf("pending is %v", got)
	}
}
