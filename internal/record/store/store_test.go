package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/hookd/hookd/internal/contract/dialect" // the contract table
	"github.com/hookd/hookd/wire"

	"go.uber.org/goleak"

	"github.com/hookd/hookd/internal/events"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(crashEnv) != "":
		crashChild()
		return
	case os.Getenv(unwrittenEnv) != "":
		unwrittenChild()
		return
	case os.Getenv(givenEnv) != "":
		givenChild()
		return
	case os.Getenv(upgradeEnv) != "":
		upgradeChild()
		return
	case os.Getenv(faultEnv) != "":
		faultChild()
		return
	}
	goleak.VerifyTestMain(m)
}

// incidents collects the reports of a store.
type incidents struct {
	mu   sync.Mutex
	list []Incident
}

func (in *incidents) add(i Incident) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.list = append(in.list, i)
}

func (in *incidents) kinds() (kinds []IncidentKind) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, i := range in.list {
		kinds = append(kinds, i.Kind)
	}
	return kinds
}

func (in *incidents) find(k IncidentKind) (Incident, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	i := slices.IndexFunc(in.list, func(i Incident) bool { return i.Kind == k })
	if i < 0 {
		return Incident{}, false
	}
	return in.list[i], true
}

func options(t testing.TB) Options {
	return Options{Path: filepath.Join(t.TempDir(), "home", "hookd.db"), Durable: DurableOS, probe: 20 * time.Millisecond, delay: time.Millisecond, sweep: -1, patience: 100 * time.Millisecond}
}

func open(t testing.TB, o Options) *Store {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func closed(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantCounted(t, s.opts.Path)
}

// wantCounted fails unless a closed database knows how much is pending in it.
func wantCounted(t testing.TB, path string) {
	t.Helper()
	db, err := openDatabase(path, DurableOS, migrations)
	if err != nil {
		t.Fatal(err)
	}
	defer db.close()
	st, err := readState(db)
	is, errIs := countWaiting(db)
	if err != nil || errIs != nil || st.waiting != is {
		t.Errorf("the database says that %+v wait, and has %+v (%v, %v)", st.waiting, is, err, errIs)
	}
}

// event makes an event as dispatch hands it over.
func event(seq uint64, name, data string) *events.Event {
	now := time.Now().UTC()
	return &events.Event{
		Envelope: events.Envelope{Event: name, Data: json.RawMessage(data), SessionID: "s1", Sender: "uid:1", Dialect: events.For("", name).Dialect},
		EventID:  events.NewID(now), Seq: seq, Time: now, Contract: events.For("", name),
	}
}

func run(seq uint64, e *events.Event, hook string, result wire.Result) *wire.Run {
	now := time.Now().UTC()
	return &wire.Run{
		ID: events.NewRunID(now), Seq: seq, EventID: e.EventID, Event: e.Envelope.Event, Hook: hook, SessionID: e.SessionID,
		Result: result, Started: now, DurationMS: 1.5,
	}
}

func accept(t testing.TB, s *Store, e *events.Event, hooks ...string) {
	t.Helper()
	if err := acceptNow(s, e, hooks...); err != nil {
		t.Fatal(err)
	}
}

// acceptNow waits for the answer of Accept.
func acceptNow(s *Store, e *events.Event, hooks ...string) error {
	done := make(chan error, 1)
	if err := s.Accept(e, nil, hooks, func(err error) { done <- err }); err != nil {
		return err
	}
	return <-done
}

func flush(t testing.TB, s *Store) {
	t.Helper()
	if err := s.FlushEvents(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// pending lists the pending runs as "seq:hook".
func pending(t testing.TB, s *Store) []string {
	t.Helper()
	list := []string{}
	for after := uint64(0); ; {
		page, err := s.Pending(t.Context(), after, 3)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return list
		}
		for _, p := range page {
			list = append(list, fmt.Sprintf("%d:%s", p.Event.Seq, p.Hook))
			after = p.Event.Seq
		}
	}
}

func TestPendingComesBackInOrder(t *testing.T) {
	o := options(t)
	s := open(t, o)
	first := s.FirstSeq()
	e := event(first, "agent:end", `{"agent_id":"a","text":"`+strings.Repeat("x", 1000)+`"}`)
	e.AgentNamed, e.Depth, e.AgentName, e.Cwd, e.Lane, e.TimeoutMS, e.Parent = true, 3, "n", "/p", "default", 7, "P"
	accept(t, s, e, "b", "a", "b")
	accept(t, s, event(first+1, "agent:end", `{}`), "a")
	accept(t, s, event(first+2, "agent:end", `{}`), "c")
	accept(t, s, event(first+3, "agent:end", `{}`))
	s.Done(events.PendingKey{Seq: first + 1, Hook: "a"}, run(first+4, e, "a", wire.ResultOK))
	closed(t, s)

	s = open(t, o)
	want := []string{fmt.Sprint(first, ":b"), fmt.Sprint(first, ":a"), fmt.Sprint(first+2, ":c")}
	if got := pending(t, s); !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	page, err := s.Pending(t.Context(), 0, 1)
	if err != nil || len(page) != 2 || page[0].Event != page[1].Event {
		t.Fatalf("got %v %v, want the two runs of one event", page, err)
	}
	if got := page[0].Event; !reflect.DeepEqual(got, e) {
		t.Errorf("got  %+v\nwant %+v", got, e)
	}
	if h := s.Health(); h.PendingEvents != 2 || h.PendingRuns != 3 || h.PendingBytes != int64(len(e.Data)+2) || h.Events != 4 || h.Runs != 1 {
		t.Errorf("health %+v", h)
	}
}

func TestNumbersNeverComeBack(t *testing.T) {
	o := options(t)
	epoch, last := "", uint64(0)
	for round := range 4 {
		s := open(t, o)
		if s.FirstSeq() <= last {
			t.Errorf("process %d begins at %d, but %d was given", round, s.FirstSeq(), last)
		}
		if epoch != "" && s.Epoch() != epoch {
			t.Errorf("epoch changed from %s to %s", epoch, s.Epoch())
		}
		epoch = s.Epoch()
		last = s.FirstSeq() + uint64(round)*seqBlock
		accept(t, s, event(last, "agent:end", `{}`))
		if round%2 == 0 {
			closed(t, s)
			continue
		}
		// A crash: the next daemon finds the files as they are now.
		copied := options(t)
		copyFiles(t, o.Path, copied.Path)
		closed(t, s)
		o = copied
	}
}

func copyFiles(t testing.TB, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"-lock", "", "-wal"} { // the lock first: what it says is true of the others then
		text, err := os.ReadFile(from + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+suffix, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(journalDir(to), os.DirFS(journalDir(from))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

func TestFilesAreTheUsersAlone(t *testing.T) {
	o := options(t)
	o.Path = filepath.Join(filepath.Dir(o.Path), "a b%20c?d#e.db") // a name is not a URL
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(o.Path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s := open(t, o)
	accept(t, s, event(1, "agent:end", `{}`), "a")
	entries, err := os.ReadDir(filepath.Dir(o.Path))
	if err != nil || len(entries) != 5 {
		t.Fatalf("got %v %v, want the database, its log, its index, its lock and its journal", entries, err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && entry.IsDir() && info.Mode().Perm() == 0o700 {
			continue // the journal
		}
		if err != nil || info.Mode().Perm() != 0o600 || !strings.HasPrefix(entry.Name(), filepath.Base(o.Path)) {
			t.Errorf("%s has mode %v, want 0600 (%v)", entry.Name(), info.Mode(), err)
		}
	}
}

func TestNewDirectoryIsPrivate(t *testing.T) {
	o := options(t)
	open(t, o)
	if info, err := os.Stat(filepath.Dir(o.Path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("got %v %v, want 0700", info.Mode(), err)
	}
}

func TestRetrySurvivesRestart(t *testing.T) {
	o := options(t)
	s := open(t, o)
	e := event(1, "agent:end", `{"a":1}`)
	accept(t, s, e, "flaky", "slow")
	due := time.Now().Add(time.Hour).UTC()
	s.Started(events.PendingKey{Seq: 1, Hook: "flaky"}, "R1", time.Now())
	s.Retry(events.PendingKey{Seq: 1, Hook: "flaky"}, run(2, e, "flaky", wire.ResultFailed), due)
	began := time.Now().UTC()
	s.Started(events.PendingKey{Seq: 1, Hook: "slow"}, "R2", began)
	closed(t, s)

	s = open(t, o)
	page, err := s.Pending(t.Context(), 0, 10)
	if err != nil || len(page) != 2 {
		t.Fatalf("got %v %v, want two", page, err)
	}
	if p := page[0]; p.Hook != "flaky" || p.Attempt != 1 || !p.Due.Equal(due) || p.RunID != "" || p.Key() != (events.PendingKey{Seq: 1, Hook: "flaky"}) {
		t.Errorf("got %+v, want attempt 1 due %v", p, due)
	}
	if p := page[1]; p.Hook != "slow" || p.Attempt != 0 || !p.Due.IsZero() || p.RunID != "R2" || !p.Started.Equal(began) {
		t.Errorf("got %+v, want R2 begun %v", p, began)
	}
	if got, err := s.Runs(t.Context(), wire.RunQuery{}); err != nil || len(got.Runs) != 1 || got.Runs[0].Result != wire.ResultFailed {
		t.Errorf("runs %+v %v, want the failed one", got, err)
	}
	s.Forget(events.PendingKey{Seq: 1, Hook: "flaky"})
	s.Done(events.PendingKey{Seq: 1, Hook: "slow"}, run(3, e, "slow", wire.ResultOK))
	flush(t, s)
	if got := pending(t, s); len(got) != 0 {
		t.Errorf("still pending: %v", got)
	}
}

func TestDeadLetters(t *testing.T) {
	o := options(t)
	s := open(t, o)
	data := `{"text":"` + strings.Repeat("y", 5000) + `"}`
	e := event(1, "agent:end", data)
	accept(t, s, e, "a", "b")
	s.Retry(events.PendingKey{Seq: 1, Hook: "a"}, run(2, e, "a", wire.ResultFailed), time.Now())
	s.GiveUp(events.PendingKey{Seq: 1, Hook: "a"}, run(3, e, "a", wire.ResultFailed), "2 attempts failed")
	s.GiveUp(events.PendingKey{Seq: 1, Hook: "b"}, &wire.Run{}, "older than 24h")
	closed(t, s)

	s = open(t, o)
	ctx := t.Context()
	list, err := s.DeadLetters(ctx, "", 0, 0)
	if err != nil || len(list) != 2 || s.Health().DeadLetters != 2 {
		t.Fatalf("got %+v %v, want two", list, err)
	}
	b, a := list[0], list[1]
	if a.Hook != "a" || a.Attempts != 2 || a.Reason != "2 attempts failed" || a.RunID == "" || a.EventID != e.EventID || a.Event != "agent:end" || time.Since(a.Time) > time.Hour {
		t.Errorf("got %+v", a)
	}
	if b.Hook != "b" || b.Attempts != 0 || b.RunID != "" {
		t.Errorf("got %+v", b)
	}
	if page, err := s.DeadLetters(ctx, "", b.ID, 0); err != nil || len(page) != 1 || page[0].ID != a.ID {
		t.Errorf("before %d: got %+v %v", b.ID, page, err)
	}
	if page, err := s.DeadLetters(ctx, "b", 0, 0); err != nil || len(page) != 1 || page[0].ID != b.ID {
		t.Errorf("of b: got %+v %v", page, err)
	}
	if got := pending(t, s); len(got) != 0 {
		t.Errorf("still pending: %v", got)
	}
	if _, p, err := s.DeadLetter(ctx, a.ID); err != nil || string(p.Event.Data) != data {
		t.Errorf("got %v, want all of the data", err)
	}
	p, err := s.RetryDead(ctx, a.ID)
	if err != nil || string(p.Event.Data) != data || p.Hook != "a" || p.Attempt != 2 {
		t.Errorf("retry: got %+v %v", p, err)
	}
	if got := pending(t, s); !slices.Equal(got, []string{"1:a"}) {
		t.Errorf("pending %v, want 1:a", got)
	}
	if err := s.DropDead(ctx, b.ID); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{"drop": s.DropDead(ctx, b.ID), "show": errOf(s.DeadLetter(ctx, b.ID)), "retry": errOf2(s.RetryDead(ctx, a.ID))} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: got %v, want %v", name, err, ErrNotFound)
		}
	}
	s.Done(p.Key(), run(4, e, "a", wire.ResultOK))
	flush(t, s)
	if v, err := s.Event(ctx, e.EventID); err != nil || v.Whole {
		t.Errorf("event %+v %v, want no more than a preview", v, err)
	}
	if h := s.Health(); h.DeadLetters != 0 || h.PendingRuns != 0 || h.Err != nil {
		t.Errorf("health %+v", h)
	}
}

func errOf[A, B any](_ A, _ B, err error) error { return err }
func errOf2[A any](_ A, err error) error        { return err }

func TestManifestsOutliveRestarts(t *testing.T) {
	o := options(t)
	s := open(t, o)
	at := time.Now().UTC()
	s.SaveManifest(Manifest{Source: "b", Name: "guard", Digest: "1", Text: []byte("x"), At: at})
	s.SaveManifest(Manifest{Source: "a", Name: "log", Digest: "1", Text: []byte("y"), At: at})
	s.SaveManifest(Manifest{Source: "c", Name: "gone", Digest: "1", Text: nil, At: at})
	s.SaveManifest(Manifest{Source: "b", Name: "guard", Digest: "2", Text: []byte("z"), At: at})
	s.DropManifest("c")
	closed(t, s)
	s = open(t, o)
	want := []Manifest{{"a", "log", "1", []byte("y"), at}, {"b", "guard", "2", []byte("z"), at}}
	if got := s.Manifests(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestManyWritersAtOnce(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Durable = DurableFsync
	s := open(t, o)
	const writers, each = 64, 40
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				seq := uint64(w*each+i)*2 + 1
				e := event(seq, "agent:end", `{"n":1}`)
				if err := acceptNow(s, e, "h", "k"); err != nil {
					t.Error(err)
				}
				s.Done(events.PendingKey{Seq: seq, Hook: "h"}, run(seq+1, e, "h", wire.ResultOK))
				if i%10 == 0 {
					if _, err := s.Runs(t.Context(), wire.RunQuery{Hook: "h", Limit: 5}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	closed(t, s)
	s = open(t, o)
	if h := s.Health(); h.Events != writers*each || h.Runs != writers*each || h.PendingRuns != writers*each || h.Dropped != 0 {
		t.Errorf("health %+v, want %d of each", h, writers*each)
	}
	for _, p := range pending(t, s) {
		if !strings.HasSuffix(p, ":k") {
			t.Errorf("%s is pending", p)
		}
	}
}

func TestFlushWithdrawsWhenItsCallerLeaves(t *testing.T) {
	s := open(t, options(t))
	inside, leave := make(chan struct{}), make(chan struct{})
	go s.do(context.Background(), func(*database) error { close(inside); <-leave; return nil })
	<-inside
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	go func() { result <- s.Flush(ctx) }()
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	close(leave)
}

func TestAcceptTellsInOrder(t *testing.T) {
	s := open(t, options(t))
	var mu sync.Mutex
	var told []uint64
	var all sync.WaitGroup
	for seq := uint64(1); seq <= 200; seq++ {
		all.Add(1)
		e := event(seq, "agent:end", `{}`)
		if err := s.Accept(e, nil, []string{"a"}, func(err error) {
			defer all.Done()
			mu.Lock()
			defer mu.Unlock()
			told = append(told, e.Seq)
		}); err != nil {
			t.Fatal(err)
		}
	}
	all.Wait()
	if len(told) != 200 || !slices.IsSorted(told) {
		t.Errorf("told of %d, in order: %v", len(told), slices.IsSorted(told))
	}
}

// The caller of Note reuses the event's memory before the event is written.
func TestNoteKeepsItsOwnData(t *testing.T) {
	s := open(t, options(t))
	e := event(1, "agent:step", `{"n":1}`)
	s.Note(e, nil)
	copy(e.Data, "overwri")
	e.Envelope.Event = "other"
	if err := s.FlushEvents(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := s.Event(t.Context(), e.EventID)
	if err != nil || got.Envelope.Event != "agent:step" || string(got.Data) != `{"n":1}` {
		t.Errorf("got %s %s, %v", got.Envelope.Event, got.Data, err)
	}
}

func TestEventsThatComeTooFastAreKnownToBeLost(t *testing.T) {
	s := open(t, options(t))
	inside, leave := make(chan struct{}), make(chan struct{})
	go s.do(context.Background(), func(*database) error { close(inside); <-leave; return nil })
	<-inside
	now := time.Now()
	note := func(seq uint64, at time.Time) {
		e := event(seq, "agent:step", `{}`)
		e.Time = at
		s.Note(e, nil)
	}
	for seq := uint64(1); seq <= noteBurst+100; seq++ {
		note(seq, now)
	}
	note(noteBurst+101, now.Add(time.Second))
	close(leave)
	flush(t, s)
	feed, err := s.Since(t.Context(), 0, noteBurst+101, 2*noteBurst, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	want := []Range{{noteBurst + 1, noteBurst + 100}}
	if len(feed.Records) != noteBurst+1 || !slices.Equal(feed.Missing, want) {
		t.Errorf("%d records, missing %v, want %d and %v", len(feed.Records), feed.Missing, noteBurst+1, want)
	}
}

func TestQueueOnDiskIsBounded(t *testing.T) {
	o := options(t)
	o.Limits.QueueBytes = 1000
	s := open(t, o)
	big := `{"t":"` + strings.Repeat("x", 700) + `"}`
	accept(t, s, event(1, "agent:end", big), "a")
	if err := acceptNow(s, event(2, "agent:end", big), "a"); !errors.Is(err, ErrQueueFull) {
		t.Errorf("got %v, want %v", err, ErrQueueFull)
	}
	accept(t, s, event(3, "agent:end", big)) // nothing waits for it
	s.Forget(events.PendingKey{Seq: 1, Hook: "a"})
	flush(t, s)
	accept(t, s, event(4, "agent:end", `{"t":"`+strings.Repeat("x", 2000)+`"}`), "a") // one always fits
}

func TestRefusedEventHurtsNobody(t *testing.T) {
	s := open(t, options(t))
	accept(t, s, event(7, "agent:end", `{}`), "a")
	if err := acceptNow(s, event(7, "agent:end", `{}`), "a"); err == nil {
		t.Error("a number was given twice, and no error said so")
	}
	accept(t, s, event(8, "agent:end", `{}`), "a")
	if got := pending(t, s); !slices.Equal(got, []string{"7:a", "8:a"}) || s.Health().Err != nil {
		t.Errorf("pending %v, health %+v", got, s.Health())
	}
}

func TestRecordWithoutANumberIsDroppedAlone(t *testing.T) {
	s := open(t, options(t))
	e := event(1, "agent:end", `{}`)
	accept(t, s, e, "a")
	s.Note(event(1, "agent:end", `{}`), nil) // given before
	s.Done(events.PendingKey{Seq: 1, Hook: "a"}, run(0, e, "a", wire.ResultOK))
	s.Record(run(2, e, "b", wire.ResultOK))
	flush(t, s)
	if h := s.Health(); h.Dropped != 2 || h.Runs != 1 || h.Events != 1 || h.PendingRuns != 0 || h.Err != nil {
		t.Errorf("health %+v, want 2 dropped and the run ended", h)
	}
}

func TestClosedStoreRefuses(t *testing.T) {
	s := open(t, options(t))
	closed(t, s)
	closed(t, s)
	if err := acceptNow(s, event(1, "agent:end", `{}`)); !errors.Is(err, ErrClosed) {
		t.Errorf("accept: got %v, want %v", err, ErrClosed)
	}
	if _, err := s.Runs(t.Context(), wire.RunQuery{}); !errors.Is(err, ErrClosed) {
		t.Errorf("runs: got %v, want %v", err, ErrClosed)
	}
	s.Record(&wire.Run{ID: "x", Seq: 1}) // does nothing
}
