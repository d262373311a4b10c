package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// watched opens a store whose incidents are collected.
func watched(t *testing.T, o Options) (*Store, *incidents) {
	t.Helper()
	in := &incidents{}
	o.Incident = in.add
	return open(t, o), in
}

func healthy(s *Store) func() bool { return func() bool { return s.Health().Err == nil } }

func TestDeletedDatabaseIsBegunAnew(t *testing.T) {
	o := options(t)
	s := open(t, o)
	accept(t, s, event(1, "agent:end", `{"t":"`+strings.Repeat("x", 1000)+`"}`), "a", "b")
	accept(t, s, event(2, "agent:end", `{}`), "a")
	s.SaveManifest(Manifest{Source: "m", Digest: "1", Text: []byte("x")})
	closed(t, s)

	s, in := watched(t, o) // what the process before left is on disk only
	epoch := s.Epoch()
	accept(t, s, event(s.FirstSeq(), "agent:end", `{}`), "c")
	s.Done(events.PendingKey{Seq: 2, Hook: "a"}, run(s.FirstSeq()+1, event(2, "agent:end", `{}`), "a", wire.ResultOK))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(o.Path + suffix); err != nil {
			t.Fatal(err)
		}
	}
	accept(t, s, event(s.FirstSeq()+2, "agent:end", `{}`), "d") // on the new file when it returns
	flush(t, s)
	want := []string{"1:a", "1:b", fmt.Sprint(s.FirstSeq(), ":c"), fmt.Sprint(s.FirstSeq()+2, ":d")}
	if got := pending(t, s); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if i, ok := in.find(IncidentGone); !ok || i.Lost != 0 || i.Kept < 3 || !strings.Contains(i.Error(), o.Path) {
		t.Errorf("incident %+v, want nothing lost", i)
	}
	if s.Epoch() != epoch || s.Health().Err != nil {
		t.Errorf("epoch %s, health %+v", s.Epoch(), s.Health())
	}
	closed(t, s)
	s = open(t, o)
	if got := pending(t, s); !slices.Equal(got, want) || len(s.Manifests()) != 1 {
		t.Errorf("after a restart: got %v and %v, want %v", got, s.Manifests(), want)
	}
}

// filled makes a database with a few thousand runs, all in the main file.
func filled(t *testing.T, o Options) {
	t.Helper()
	s := open(t, o)
	for i := range uint64(3000) {
		e := event(2*i+1, "agent:end", `{}`)
		s.Note(e, nil)
		s.Record(run(2*i+2, e, fmt.Sprint("hook", i%7), wire.ResultOK))
	}
	accept(t, s, event(10_001, "agent:end", `{}`), "a", "b")
	closed(t, s)
}

// overwrite puts garbage into the file. The file stays open until the test
// ends: closing it would drop the locks of the store's own connections.
func overwrite(t *testing.T, path string, from, to int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xA5}, int(to-from)), from); err != nil {
		t.Fatal(err)
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestCorruptDatabaseIsMovedAsideAtStart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		from, to int64 // to 0 = the end
	}{
		{"header", 0, 100},
		{"first_page", 100, 4096},
		{"all_but_the_first_page", 4096, 0},
		{"everything", 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := options(t)
			filled(t, o)
			to := tt.to
			if to == 0 {
				to = fileSize(t, o.Path)
			}
			overwrite(t, o.Path, tt.from, to)
			s, in := watched(t, o)
			i, ok := in.find(IncidentCorrupt)
			if !ok || i.MovedTo == "" || !strings.Contains(i.Error(), o.Path) || !strings.Contains(i.Error(), i.MovedTo) {
				t.Fatalf("incidents %v %v, want corrupt with both names", in.kinds(), i)
			}
			if _, err := os.Stat(i.MovedTo); err != nil {
				t.Error(err)
			}
			if s.FirstSeq() <= 10_001 {
				t.Errorf("numbers begin at %d again", s.FirstSeq())
			}
			accept(t, s, event(s.FirstSeq(), "agent:end", `{}`), "a")
			if h := s.Health(); h.Err != nil || h.Runs != 0 || h.PendingRuns != 1 {
				t.Errorf("health %+v, want a new database", h)
			}
		})
	}
}

func TestCorruptDatabaseIsReplacedWhileRunning(t *testing.T) {
	o := options(t)
	filled(t, o)
	s, in := watched(t, o)
	first := s.FirstSeq()
	accept(t, s, event(first, "agent:end", `{"mine":1}`), "c", "d")
	s.Done(events.PendingKey{Seq: first, Hook: "c"}, run(first+1, event(first, "agent:end", `{}`), "c", wire.ResultOK))
	flush(t, s)
	s.checkpoint(t.Context())
	overwrite(t, o.Path, 4096, fileSize(t, o.Path))
	var reading sync.WaitGroup
	for i := range 8 {
		reading.Go(func() {
			hooktest.Until(t, "the corruption was noticed", func() bool {
				s.Runs(t.Context(), wire.RunQuery{Hook: fmt.Sprint("hook", i)})
				_, found := in.find(IncidentCorrupt)
				return found
			})
		})
	}
	reading.Wait()
	hooktest.Until(t, "healthy", healthy(s))
	flush(t, s)
	if got := in.kinds(); !slices.Equal(got, []IncidentKind{IncidentCorrupt}) {
		t.Errorf("incidents %v, want one", got)
	}
	i, _ := in.find(IncidentCorrupt)
	if i.Kept != 1 || i.Lost != 2 {
		t.Errorf("kept %d, lost %d, want 1 and 2: %v", i.Kept, i.Lost, i)
	}
	accept(t, s, event(first+2, "agent:end", `{}`), "e")
	if got, want := pending(t, s), []string{fmt.Sprint(first, ":d"), fmt.Sprint(first+2, ":e")}; !slices.Equal(got, want) {
		t.Errorf("pending %v, want %v", got, want)
	}
	page, err := s.Pending(t.Context(), 0, 1)
	if err != nil || string(page[0].Event.Data) != `{"mine":1}` {
		t.Errorf("got %v %v", page, err)
	}
}

func TestNewerDatabaseIsRefused(t *testing.T) {
	o := options(t)
	closed(t, open(t, o))
	alter(t, o.Path, "PRAGMA user_version = 99")
	before, err := os.ReadFile(o.Path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(o)
	if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), o.Path) || !strings.Contains(err.Error(), "99") {
		t.Errorf("got %v, want %v with path and version", err, ErrNewer)
	}
	if after, _ := os.ReadFile(o.Path); !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
}

func TestForeignDatabaseIsRefused(t *testing.T) {
	o := options(t)
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	alter(t, o.Path, "CREATE TABLE customers (id INTEGER)")
	if _, err := Open(o); !errors.Is(err, ErrForeign) {
		t.Errorf("got %v, want %v", err, ErrForeign)
	}
}

func alter(t *testing.T, path, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(text); err != nil {
		t.Fatal(err)
	}
}

func TestOlderDatabaseIsMigrated(t *testing.T) {
	o := options(t)
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(o.Path, nil, 0o600); err != nil { // version 0: an empty file
		t.Fatal(err)
	}
	s := open(t, o)
	accept(t, s, event(1, "agent:end", `{}`), "a")
	closed(t, s)

	next := append(slices.Clone(migrations), `ALTER TABLE dead ADD COLUMN note TEXT NOT NULL DEFAULT ''; CREATE TABLE more (id INTEGER PRIMARY KEY) STRICT`)
	broken := append(slices.Clone(next), `CREATE TABLE half (id INTEGER PRIMARY KEY) STRICT; SELECT no_such_function()`)
	if db, err := openDatabase(o.Path, DurableOS, broken); err == nil {
		db.close()
		t.Fatal("a migration that cannot work did")
	}
	db, err := openDatabase(o.Path, DurableOS, next)
	if err != nil {
		t.Fatal(err)
	}
	defer db.close()
	var version, half, rows int
	if err := db.row(`SELECT (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema WHERE name = 'half'), (SELECT count(*) FROM pending)`).Scan(&version, &half, &rows); err != nil {
		t.Fatal(err)
	}
	if version != len(next) || half != 0 || rows != 1 {
		t.Errorf("version %d with %d halves and %d pending, want %d, none and 1", version, half, rows, len(next))
	}
	if _, err := openDatabase(o.Path, DurableOS, migrations); !errors.Is(err, ErrNewer) {
		t.Errorf("the older hookd got %v, want %v", err, ErrNewer)
	}
}

// The records of the first version of the file are there after its migration.
func TestFirstVersionIsMigrated(t *testing.T) {
	o := options(t)
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := openDatabase(o.Path, DurableOS, migrations[:1])
	if err != nil {
		t.Fatal(err)
	}
	e := event(1, "agent:end", `{"a":1}`)
	if _, err := db.exec(`INSERT INTO events (seq, id, at, name, size, detail, redacted, kept, data) VALUES (1, ?, ?, 'agent:end', 7, X'7B7D', 0, 2, ?)`,
		e.EventID, nanos(e.Time), []byte(e.Data)); err != nil {
		t.Fatal(err)
	}
	began := time.Now().UTC()
	if _, err := db.exec(`INSERT INTO pending (seq, ord, hook, attempt, due, run_id, started) VALUES (1, 0, 'z "1"', 0, 0, 'R1', ?), (1, 1, 'a', 2, 7, '', 0)`, nanos(began)); err != nil {
		t.Fatal(err)
	}
	if err := (state{epoch: "E", seq: 100, events: 1}).save(db); err != nil {
		t.Fatal(err)
	}
	db.close()
	s := open(t, o)
	page, err := s.Pending(t.Context(), 0, 10)
	if err != nil || len(page) != 2 || s.FirstSeq() != 101 || s.Epoch() != "E" {
		t.Fatalf("got %v %v, first %d of epoch %s", page, err, s.FirstSeq(), s.Epoch())
	}
	if got := page[0].Event; string(got.Data) != `{"a":1}` || got.EventID != e.EventID {
		t.Errorf("got %+v, want the event as it was", got)
	}
	if p := page[0]; p.Hook != `z "1"` || p.RunID != "R1" || !p.Started.Equal(began) || p.Attempt != 0 {
		t.Errorf("got %+v, want the attempt that was under way", p)
	}
	if p := page[1]; p.Hook != "a" || p.RunID != "" || p.Attempt != 2 || !p.Due.Equal(time.Unix(0, 7)) {
		t.Errorf("got %+v, want what waits for its third attempt", p)
	}
}

func TestUnwritablePathIsNoReasonNotToStart(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "home")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil { // where the directory should be
		t.Fatal(err)
	}
	o := options(t)
	o.Path = filepath.Join(blocked, "hookd.db")
	s, in := watched(t, o)
	if s.Health().Err == nil || s.FirstSeq() < uint64(time.Now().Add(-time.Hour).UnixMilli()) {
		t.Errorf("health %+v, first number %d", s.Health(), s.FirstSeq())
	}
	e := event(s.FirstSeq(), "agent:end", `{}`)
	if err := acceptNow(s, e, "a"); err == nil {
		t.Error("accepted into the void")
	}
	if _, err := s.Pending(t.Context(), 0, 1); err == nil {
		t.Error("read from the void")
	}
	s.Note(e, nil)
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	hooktest.Until(t, "healed", healthy(s))
	flush(t, s)
	if got, err := s.Event(t.Context(), e.EventID); err != nil || got.Seq != e.Seq {
		t.Errorf("got %+v %v, want what was noted", got, err)
	}
	if got := in.kinds(); !slices.Equal(got, []IncidentKind{IncidentDown, IncidentHealed}) {
		t.Errorf("incidents %v", got)
	}
}

func TestLockedDatabaseIsWaitedFor(t *testing.T) {
	t.Parallel()
	o := options(t)
	s, _ := watched(t, o)
	other, err := sql.Open("sqlite", dsn(o.Path))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	conn, err := other.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	accept(t, s, event(1, "agent:end", `{}`), "a") // which the journal takes
	if err := s.FlushEvents(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v, want %v", err, ErrBusy)
	}
	if err := acceptNow(s, event(3, "agent:end", `{}`), "a"); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v, want %v", err, ErrBusy)
	}
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	hooktest.Until(t, "healed", healthy(s))
	accept(t, s, event(2, "agent:end", `{}`), "a")
	if got := pending(t, s); !slices.Equal(got, []string{"1:a", "2:a"}) {
		t.Errorf("pending %v, want what was accepted", got)
	}
}

func TestRecordsAreBoundedWhileNothingCanBeWritten(t *testing.T) {
	q := newQueue(time.Hour)
	ends := 0
	end := func(*database) error { ends++; return nil }
	for range 100 {
		q.add(&op{exec: end, lean: end, size: 1 << 20})
		q.add(&op{exec: func(*database) error { return nil }, size: 1 << 20})
	}
	records, dropped := q.load()
	if q.bytes > maxBacklog || dropped == 0 || records < 100 || records >= 200 {
		t.Errorf("%d records of %d bytes, %d dropped", records, q.bytes, dropped)
	}
	for batch := q.take(); len(batch) > 0; batch = q.take() {
		for _, o := range batch {
			o.exec(nil)
		}
	}
	if ends != 100 || q.bytes != 0 {
		t.Errorf("%d ends of 100 are left, %d bytes", ends, q.bytes)
	}
}

func TestFlushTellsWhyNot(t *testing.T) {
	o := options(t)
	s := open(t, o)
	s.down.Store(&outage{err: ErrFull, since: time.Now()})
	if err := s.Flush(context.Background()); !errors.Is(err, ErrFull) {
		t.Errorf("got %v, want %v", err, ErrFull)
	}
	s.down.Store(nil)
	flush(t, s)
}

// The meaning of an error is said once, through however many hands it goes.
func TestAnErrorIsClassifiedOnce(t *testing.T) {
	err := classify(fmt.Errorf("commit: %w", classify(syscall.ENOSPC)))
	if got, want := err.Error(), "commit: no space left for the database: no space left on device"; got != want || !errors.Is(err, ErrFull) {
		t.Errorf("got %q, want %q", got, want)
	}
}
