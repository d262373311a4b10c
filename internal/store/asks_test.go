package store

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
)

func ids(t *testing.T, list func(context.Context) ([]Kept, error)) (ids []string) {
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

// What is held and granted is there after a restart; what was dropped, and what a
// decision ended, is not.
func TestAsksAndGrantsOutliveARestart(t *testing.T) {
	o := Options{Path: t.TempDir() + "/hookd.db"}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	of := func(id string) Kept { return Kept{ID: id, Text: []byte(`{"of":"` + id + `"}`)} }
	for _, id := range []string{"a1", "a2", "a3"} {
		if err := s.SaveAsk(t.Context(), of(id)); err != nil {
			t.Fatal(err)
		}
		if err := s.SaveGrants(t.Context(), of("g"+id)); err != nil {
			t.Fatal(err)
		}
	}
	s.DropAsk("a2")
	d := decision(1, time.Now())
	d.Answered = &events.Answered{AskID: "a3"}
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
