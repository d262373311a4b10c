package store

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/events"
)

// Whatever another program does to the files, the next event is accepted, once,
// into a file that holds it and all that was pending in memory.
func TestFilesThatAreDamagedUnderTheStore(t *testing.T) {
	t.Parallel()
	truncate := func(suffix string, size int64) func(string) error {
		return func(path string) error { return os.Truncate(path+suffix, size) }
	}
	tests := []struct {
		name   string
		damage func(path string) error
		kind   IncidentKind
	}{
		{"no_log", func(path string) error { return os.Remove(path + "-wal") }, IncidentGone},
		{"no_files", func(path string) error { os.Remove(path + "-wal"); return os.Remove(path) }, IncidentGone},
		{"log_emptied", truncate("-wal", 0), IncidentCorrupt},
		{"log_cut", truncate("-wal", 5000), IncidentCorrupt},
		{"emptied", truncate("", 0), IncidentCorrupt},
		{"cut", truncate("", 4096), IncidentCorrupt},
		{"header", func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteAt(make([]byte, 100), 0)
			return err
		}, IncidentCorrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := options(t)
			var in incidents
			o.Incident = in.add
			s := open(t, o)
			for seq := uint64(1); seq <= 20; seq++ {
				accept(t, s, event(seq, "agent:step", `{"t":"`+strings.Repeat("x", 2000)+`"}`), "a")
			}
			if err := s.do(t.Context(), func(*database) error { return nil }); err != nil {
				t.Fatal(err)
			}
			s.checkpoint(t.Context())
			for seq := uint64(21); seq <= 40; seq++ {
				accept(t, s, event(seq, "agent:step", `{"t":"`+strings.Repeat("x", 2000)+`"}`), "a")
			}
			flush(t, s)
			if err := tt.damage(o.Path); err != nil {
				t.Fatal(err)
			}
			accept(t, s, event(41, "agent:step", `{"n":41}`), "a", "b")
			accept(t, s, event(42, "agent:step", `{"n":42}`), "a")
			flush(t, s)
			if _, ok := in.find(tt.kind); !ok {
				t.Errorf("no incident %s is told", tt.kind)
			}
			s.Forget(events.PendingKey{Seq: 1, Hook: "a"})
			flush(t, s)
			want := pending(t, s)
			if len(want) != 42 {
				t.Errorf("%d runs are pending, want 42", len(want))
			}
			health := s.Health()
			closed(t, s)
			s = open(t, o)
			if got := pending(t, s); !slices.Equal(got, want) {
				t.Errorf("the next daemon has %v, want %v", got, want)
			}
			if h := s.Health(); h.Events != health.Events || health.Events != 42 {
				t.Errorf("%d events are counted, %d were, want 42", h.Events, health.Events)
			}
		})
	}
}
