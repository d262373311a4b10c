package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/journal"
	"github.com/hookd/hookd/internal/record/journal/journaltest"
	"github.com/hookd/hookd/wire"
)

// machine is a store on a disk that can lose power: the journal is on a journaltest.Disk, of
// the database only the synced part is left.
type machine struct {
	disk *journaltest.Disk
	path string

	mu       sync.Mutex
	image    map[string][]byte // of the database, as of the last sync
	off      bool              // image stays as it is
	next     uint64
	accepted map[uint64]bool // that were answered
	told     map[uint64]bool // that the store was told of the end of
}

// on starts the store on the contents of the disks.
func (m *machine) on(t *testing.T) *Store {
	m.path = filepath.Join(t.TempDir(), "hookd.db")
	for suffix, text := range m.image {
		if err := os.WriteFile(m.path+suffix, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(Options{
		Path: m.path, Durable: DurableFsync, probe: time.Hour, delay: time.Millisecond, sweep: -1,
		files: fixed{m.disk}, synced: func() { m.keep(m.databaseNow(t)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	m.next = max(m.next, s.FirstSeq())
	m.mu.Unlock()
	return s
}

// fixed is a disk on which the journal has the same place whatever the database is called.
type fixed struct{ *journaltest.Disk }

func (d fixed) List(string) ([]string, error) {
	paths, err := d.Disk.List("/j")
	for i, p := range paths {
		paths[i] = filepath.Join("/anywhere", filepath.Base(p))
	}
	return paths, err
}
func (d fixed) at(path string) string { return filepath.Join("/j", filepath.Base(path)) }
func (d fixed) Create(path string) (journal.File, error) {
	f, err := d.Disk.Create(d.at(path))
	return moved{f, d}, err
}
func (d fixed) Open(path string) (journal.File, error) {
	f, err := d.Disk.Open(d.at(path))
	return moved{f, d}, err
}
func (d fixed) Rename(from, to string) error { return d.Disk.Rename(d.at(from), d.at(to)) }
func (d fixed) Link(from, to string) error   { return d.Disk.Link(d.at(from), d.at(to)) }
func (d fixed) Remove(path string) error     { return d.Disk.Remove(d.at(path)) }

type moved struct {
	journal.File
	disk fixed
}

func (f moved) SizeAt(path string) (int64, error) { return f.File.SizeAt(f.disk.at(path)) }

func (m *machine) databaseNow(t *testing.T) map[string][]byte {
	image := map[string][]byte{}
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(m.path + suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		image[suffix] = text
	}
	return image
}

func (m *machine) keep(image map[string][]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.off {
		m.image = image
	}
}

// cut turns the disks off; the next daemon's goes off after so many operations.
func (m *machine) cut(s *Store, next int) {
	m.mu.Lock()
	m.off = true
	m.mu.Unlock()
	m.disk = m.disk.Crash(next)
	s.Close() // which tells the disks nothing any more
	m.off = false
}

func (m *machine) number() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next++
	return m.next
}

// work accepts events of one or two hooks from several senders and ends some, until the power
// is cut or it has done enough.
func (m *machine) work(s *Store, r *rand.Rand, each int) {
	var senders sync.WaitGroup
	var order sync.Mutex
	for range 3 {
		seed := r.Uint64()
		senders.Go(func() {
			r := rand.New(rand.NewPCG(seed, 2))
			for range each {
				done := make(chan error, 1)
				order.Lock() // as dispatch does
				e := event(m.number(), "agent:end", fmt.Sprintf(`{"n":%q}`, make([]byte, r.IntN(200))))
				err := s.Accept(e, nil, []string{"a", "b"}[:1+r.IntN(2)], func(err error) { done <- err })
				order.Unlock()
				if err != nil || <-done != nil {
					return
				}
				m.mu.Lock()
				m.accepted[e.Seq] = true
				m.mu.Unlock()
				switch r.IntN(4) {
				case 0:
					s.Retry(events.PendingKey{Seq: e.Seq, Hook: "a"}, run(m.number(), e, "a", wire.ResultFailed), time.Now())
				case 1, 2:
					m.mu.Lock()
					m.told[e.Seq] = true
					m.mu.Unlock()
					s.Done(events.PendingKey{Seq: e.Seq, Hook: "a"}, run(m.number(), e, "a", wire.ResultOK))
				}
				if r.IntN(20) == 0 {
					s.FlushEvents(context.Background())
				}
			}
		})
	}
	senders.Wait()
}

// check names the faults in a store after a power cut.
func (m *machine) check(t *testing.T, s *Store, when string) {
	t.Helper()
	var order []uint64
	waits := map[events.PendingKey]bool{}
	for after := uint64(0); ; {
		page, err := s.Pending(t.Context(), after, 7)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, p := range page {
			after = p.Event.Seq
			order = append(order, after)
			if waits[p.Key()] {
				t.Errorf("%s: %v is pending twice", when, p.Key())
			}
			waits[p.Key()] = true
		}
	}
	if !slices.IsSorted(order) {
		t.Errorf("%s: pending runs are out of order: %v", when, order)
	}
	flush(t, s)
	ended := map[uint64]bool{}
	for before := uint64(0); ; {
		page, err := s.Runs(t.Context(), wire.RunQuery{Hook: "a", Result: wire.ResultOK, Before: before})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Runs {
			e, err := s.Event(t.Context(), r.EventID)
			if err != nil {
				t.Fatalf("%s: a run of an event that is not there: %v", when, err)
			}
			ended[e.Seq] = true
		}
		if before = page.Next; before == 0 {
			break
		}
	}
	for seq := range m.accepted {
		switch a := (events.PendingKey{Seq: seq, Hook: "a"}); {
		case !waits[a] && !ended[seq]:
			t.Fatalf("%s: %d was accepted and is lost", when, seq)
		case waits[a] && ended[seq]:
			t.Fatalf("%s: %d has ended and is pending", when, seq)
		case ended[seq] && !m.told[seq]:
			t.Fatalf("%s: %d has ended by itself", when, seq)
		}
	}
	if s.FirstSeq() <= slices.Max(append(order, 0)) {
		t.Errorf("%s: numbers come back: %d", when, s.FirstSeq())
	}
}

// Whenever the power is cut, each accepted event is pending or has ended, once and in order. That
// holds also when it is cut again while the next daemon reads the remains.
func TestPowerCutAtEveryWriteOfTheJournal(t *testing.T) {
	t.Parallel()
	whole := journaltest.New(1, -1)
	m := &machine{disk: whole, accepted: map[uint64]bool{}, told: map[uint64]bool{}}
	s := m.on(t)
	m.work(s, rand.New(rand.NewPCG(1, 1)), 20)
	operations := whole.Done()
	closed(t, s)
	step := hooktest.Amount(3, 13)
	for cut := 3; cut < operations; cut += step {
		t.Run(fmt.Sprint("cut=", cut), func(t *testing.T) {
			t.Parallel()
			m := &machine{disk: journaltest.New(uint64(cut), cut), accepted: map[uint64]bool{}, told: map[uint64]bool{}}
			r := rand.New(rand.NewPCG(uint64(cut), 1))
			for round := range 3 {
				s := m.on(t)
				if round > 0 {
					m.check(t, s, fmt.Sprint("round ", round))
				}
				m.work(s, r, 20)
				m.cut(s, []int{25, -1, -1}[round])
			}
		})
	}
}
