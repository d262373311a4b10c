package store

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// breaks drives a store against a disk that stops taking writes. It checks
// that the store does until and after mend as its package comment says.
func breaks(t *testing.T, o Options, want error, spoil, mend func()) {
	s, in := watched(t, o)
	defer s.Close()
	text := `{"t":"` + strings.Repeat("x", 20_000) + `"}`
	accepted := []string{}
	seq := uint64(0)
	try := func() error {
		seq++
		err := acceptNow(s, event(seq, "agent:end", text), "a")
		if err == nil {
			accepted = append(accepted, fmt.Sprintf("%d:a", seq))
		}
		return err
	}
	if err := try(); err != nil {
		t.Fatal(err)
	}
	spoil()
	var err error
	for range 10_000 {
		if err = try(); err != nil {
			break
		}
	}
	if !errors.Is(err, want) {
		t.Fatalf("got %v, want %v", err, want)
	}
	hooktest.Until(t, "down", func() bool { return !healthy(s)() })
	h := s.Health()
	if !errors.Is(h.Err, want) || h.Since.IsZero() {
		t.Errorf("health %+v, want %v", h, want)
	}

	// Records that do not wait go on, and are kept.
	seq++
	noted := event(seq, "pre_tool_use", `{"n":1}`)
	s.Note(noted, nil)
	seq++
	s.Done(events.PendingKey{Seq: 1, Hook: "a"}, run(seq, noted, "a", wire.ResultOK))
	seq++
	s.Record(run(seq, noted, "guard", wire.ResultDeny))
	mend()
	hooktest.Until(t, "healed", healthy(s))
	hooktest.Until(t, "accepts again", func() bool { return try() == nil })
	flush(t, s)
	if got, err := s.Runs(t.Context(), wire.RunQuery{}); err != nil || len(got.Runs) != 2 {
		t.Errorf("runs %+v %v, want the two that were recorded meanwhile", got.Runs, err)
	}
	kinds := in.kinds()
	if len(kinds) < 2 || kinds[0] != IncidentDown || kinds[len(kinds)-1] != IncidentHealed {
		t.Errorf("incidents %v, want down … healed", kinds)
	}
	closed(t, s)
	s = open(t, o)
	if got, want := pending(t, s), accepted[1:]; !slices.Equal(got, want) {
		t.Errorf("pending %d runs, want the %d that were accepted:\n%v\n%v", len(got), len(want), got, want)
	}
}

func TestFullDiskHealsByItself(t *testing.T) {
	t.Parallel()
	for _, durable := range []Durability{DurableFsync, DurableOS} {
		t.Run(string(durable), func(t *testing.T) {
			o := options(t)
			dir := hooktest.Disk(t, "24m")
			o.Path, o.Durable = filepath.Join(dir, "home", "hookd.db"), durable
			ballast := filepath.Join(dir, "ballast")
			breaks(t, o, ErrFull, func() {
				if err := os.WriteFile(ballast, make([]byte, 16<<20), 0o600); err != nil {
					t.Fatal(err)
				}
			}, func() {
				if err := os.Remove(ballast); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func TestReadOnlyFileSystemHealsByItself(t *testing.T) {
	o := options(t)
	dir := hooktest.Disk(t, "24m")
	o.Path = filepath.Join(dir, "hookd.db")
	closed(t, open(t, o))
	remount := func(flags uintptr) {
		if err := syscall.Mount("none", dir, "tmpfs", syscall.MS_REMOUNT|flags, "size=24m"); err != nil {
			t.Fatal(err)
		}
	}
	remount(syscall.MS_RDONLY)
	s, in := watched(t, o)
	defer s.Close()
	if s.Health().Err == nil {
		t.Error("healthy on a read-only file system")
	}
	if got := in.kinds(); len(got) != 1 || got[0] != IncidentDown {
		t.Errorf("incidents %v, want down", got)
	}
	remount(0)
	hooktest.Until(t, "healed", healthy(s))
	accept(t, s, event(s.FirstSeq(), "agent:end", `{}`), "a")
}

func TestWriteErrorHealsByItself(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ) // the write fails with EFBIG instead
	defer signal.Reset(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	limit := func(l syscall.Rlimit) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l); err != nil {
			t.Fatal(err)
		}
	}
	defer limit(was)
	breaks(t, options(t), ErrIO, func() { limit(syscall.Rlimit{Cur: 2 << 20, Max: was.Max}) }, func() { limit(was) })
}
