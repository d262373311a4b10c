package store

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/wire"
)

func ids(t *testing.T, list func(context.Context) ([]Saved, error)) (ids []string) {
	t.Helper()
	all, err := list(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range all {
		if string(k.Text) != `{"of":"`+k.ID+`"}` {
			t.Fatalf("%s has the text %s", k.ID, k.Text)
		}
		ids = append(ids, k.ID)
	}
	return ids
}

// Held questions and granted answers are there after a restart. Dropped ones, and questions
// that a decision ended, are not.
func TestAsksAndGrantsOutliveARestart(t *testing.T) {
	o := Options{Path: t.TempDir() + "/hookd.db"}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	of := func(id string) Saved { return Saved{ID: id, Text: []byte(`{"of":"` + id + `"}`)} }
	for _, id := range []string{"a1", "a2", "a3"} {
		if _, written := s.SaveAsk(of(id)); <-written != nil {
			t.Fatal(id)
		}
		if err := s.SaveGrants(t.Context(), of("g"+id)); err != nil {
			t.Fatal(err)
		}
	}
	s.DropAsk("a2")
	d := decision(1, time.Now())
	d.Answered = &wire.Answered{AskID: "a3"}
	s.Decided(d)
	if err := s.DropGrants(t.Context(), "ga1", "ga3", "none"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(o); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := ids(t, s.Asks); !slices.Equal(got, []string{"a1"}) {
		t.Errorf("asks after a restart: %v", got)
	}
	if got := ids(t, s.Grants); !slices.Equal(got, []string{"ga2"}) {
		t.Errorf("grants after a restart: %v", got)
	}
}

// An ask that was answered just before a kill has ended with that answer, also while only
// memory has it: the next daemon records that end once, and no other.
func TestAnAnswerThatAKillHasLeftEndsItsAsk(t *testing.T) {
	for _, handed := range []bool{false, true} {
		o := options(t)
		o.Memory, o.delay = filepath.Join(t.TempDir(), "memory"), time.Hour // until Flush
		s := open(t, o)
		of := func(id string) Saved { return Saved{ID: id, Text: []byte(`{"of":"` + id + `"}`)} }
		for _, id := range []string{"answered", "open"} {
			_, written := s.SaveAsk(of(id))
			hooktest.Must(t, <-written)
		}
		d := denial(s.FirstSeq())
		d.Answered = &wire.Answered{AskID: "answered", By: wire.ByPerson, Answer: wire.OutcomeDeny}
		if handed {
			s.Decided(d)
		} else {
			s.Deciding(d)
		}
		o = killed(t, s)
		o.delay = time.Hour // as for a daemon that looks before it has written
		s = open(t, o)
		if got := ids(t, s.Asks); !slices.Equal(got, []string{"open"}) {
			t.Errorf("handed over %t: asks that have no end: %v", handed, got)
		}
		hooktest.Must(t, s.Flush(t.Context()))
		got, err := s.Decisions(t.Context(), wire.DecisionQuery{Limit: 10})
		if err != nil || len(got.Decisions) != 1 || got.Decisions[0].Answered == nil {
			t.Errorf("handed over %t: recorded as %+v, %v", handed, got.Decisions, err)
		}
		if got := ids(t, s.Asks); !slices.Equal(got, []string{"open"}) {
			t.Errorf("handed over %t: asks on disk: %v", handed, got)
		}
	}
}

// A question that the database has not got before a kill, because the disk hangs, is known to the next
// daemon in its newest state. A question that was dropped, or has its end on record, is not.
func TestAnAskIsHeldWhileTheDiskHangs(t *testing.T) {
	o := options(t)
	o.Memory = filepath.Join(t.TempDir(), "memory")
	s := open(t, o)
	of := func(id, text string) Saved { return Saved{ID: id, EventSeq: s.FirstSeq(), Text: []byte(text)} }
	_, written := s.SaveAsk(of("early", "1"))
	hooktest.Must(t, <-written)
	hangs := make(chan bool)
	s.queue.add(&op{exec: func(*database) error { <-hangs; return nil }, done: func(error) {}})
	for _, k := range []Saved{of("early", "2"), of("late", "1"), of("late", "2"), of("dropped", "1"), of("ended", "1")} {
		if held, _ := s.SaveAsk(k); !held {
			t.Errorf("%s is not held", k.ID)
		}
	}
	s.DropAsk("dropped")
	d := denial(s.FirstSeq() + 1)
	d.Answered = &wire.Answered{AskID: "ended", By: wire.ByPerson, Answer: wire.OutcomeDeny}
	s.Decided(d)
	memory, kept := filepath.Join(t.TempDir(), "memory"), options(t)
	hooktest.Must(t, os.CopyFS(memory, os.DirFS(o.Memory)))
	copyFiles(t, o.Path, kept.Path)
	close(hangs)
	closed(t, s)
	kept.Memory = memory
	for range 2 {
		s = open(t, kept)
		hooktest.Must(t, s.Flush(t.Context()))
		all, err := s.Asks(t.Context())
		if err != nil || len(all) != 2 || string(all[0].Text) != "2" || string(all[1].Text) != "2" {
			t.Errorf("%v, %v", all, err)
		}
		hooktest.Must(t, s.Close())
	}
}
