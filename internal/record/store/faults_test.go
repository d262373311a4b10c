package store

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
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
	"github.com/hookd/hookd/internal/record/audit"
	"github.com/hookd/hookd/internal/record/journal"
)

// faultStep is the distance of two places that are damaged, in bytes of a file. 1 is each byte.
var faultStep = flag.Int("faults", 0, "damage each so many bytes of journal, database and log; 0 = a few")

const faultEvents = 200

// faultImage returns the files of a store with 200 accepted events, as a kill leaves them: half of
// the events are in the database.
func faultImage(t *testing.T) map[string][]byte {
	o := options(t)
	s := open(t, o)
	for seq := uint64(1); seq <= faultEvents; seq++ {
		accept(t, s, event(seq, "agent:end", fmt.Sprintf(`{"n":%d}`, seq)), "a")
		if seq == faultEvents/2 {
			flush(t, s)
			s.checkpoint(t.Context())
		}
		if seq == faultEvents*3/4 {
			flush(t, s)
		}
	}
	image := map[string][]byte{}
	files := append(segments(t, o.Path), o.Path+"-lock", o.Path, o.Path+"-wal")
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(filepath.Dir(o.Path), path)
		if err != nil {
			t.Fatal(err)
		}
		image[name] = text
	}
	closed(t, s)
	return image
}

// put writes an image to a new folder and returns options for a store on it.
func put(t *testing.T, image map[string][]byte) Options {
	t.Helper()
	dir, err := os.MkdirTemp(memoryOrTemp(t), "faults")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for name, text := range image {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		used := bytes.TrimRight(text, "\x00")
		if err := errors.Join(os.WriteFile(path, used, 0o600), os.Truncate(path, int64(len(text)))); err != nil {
			t.Fatal(err)
		}
	}
	return readable(filepath.Join(dir, "hookd.db"))
}

// readable are the options for a store of an image.
func readable(path string) Options {
	return Options{Path: path, Durable: DurableOS, sweep: -1, delay: time.Millisecond, probe: 5 * time.Millisecond}
}

// memoryOrTemp is a folder in memory where there is one.
func memoryOrTemp(t *testing.T) string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return t.TempDir()
}

// state of the accepted events in a store.
type found struct {
	waits map[uint64]bool // with their own data
	wrong []string        // with other data, or that were never accepted
	told  []string        // incidents, losses, refusals
	lost  int64
	more  bool
}

// fails says which reads of a database fail.
type fails string

const (
	readsDoNotFail fails = ""
	readsFailOnce  fails = "once"
	readsFail      fails = "always"
)

// look reads the events that wait in a store; where a read fails once, again and again.
func look(t *testing.T, o Options, reads fails) (f found) {
	f.waits = map[uint64]bool{}
	in := &incidents{}
	o.Incident = in.add
	s, err := Open(o)
	if err != nil {
		f.told, f.more = append(f.told, err.Error()), true
		return f
	}
	defer func() {
		s.Close()
		for _, l := range s.Losses() {
			f.told, f.lost, f.more = append(f.told, l.Why), f.lost+l.Lost, f.more || l.More
		}
	}()
	if err := s.Health().Err; err != nil {
		f.told, f.more = append(f.told, err.Error()), true
		return f
	}
	for after := uint64(0); ; {
		page, err := s.Pending(t.Context(), after, faultEvents/2+1)
		if err != nil && reads == readsFail {
			f.told, f.more = append(f.told, err.Error()), true
			return f
		}
		if errors.Is(err, errCorrupt) || errors.Is(err, errReplaced) {
			hooktest.Until(t, "the damaged database was replaced, or read again", func() bool {
				_, err := s.Pending(t.Context(), after, 1)
				return err == nil && healthy(s)()
			})
			continue
		}
		if err != nil && reads == readsFailOnce {
			continue // until the disk reads again
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, p := range page {
			after = p.Event.Seq
			if want := fmt.Sprintf(`{"n":%d}`, after); string(p.Event.Data) != want || p.Hook != "a" {
				f.wrong = append(f.wrong, fmt.Sprintf("%d: %s for %s", after, p.Event.Data, p.Hook))
				continue
			}
			f.waits[after] = true
		}
	}
	return f
}

// check names the faults that a store does not tell.
func (f found) check(all int) error {
	missing := int64(all - len(f.waits))
	switch {
	case missing == 0:
		return nil
	case f.lost == 0 && !f.more:
		return fmt.Errorf("%d events are gone without a word; wrong: %v, told: %v", missing, f.wrong, f.told)
	case f.lost < missing && !f.more:
		return fmt.Errorf("%d events are gone, %d are told: %v", missing, f.lost, f.told)
	}
	return nil
}

// damages are the ways in which the bytes of a file from a place on are damaged.
var damages = map[string]func(text []byte, at int) []byte{
	"flip": func(text []byte, at int) []byte { text[at] ^= 1 << (at % 8); return text },
	"zero": func(text []byte, at int) []byte { clear(text[at:min(at+512, len(text))]); return text },
	"cut":  func(text []byte, at int) []byte { return text[:at] },
	"repeat": func(text []byte, at int) []byte {
		n := min(512, at, len(text)-at)
		copy(text[at:], text[at-n:at])
		return text
	},
}

// used are the places of a file that hold something: not the room that a segment or a page still has,
// nor the frames of a log that an older one has left.
func used(name string, text []byte) (places []int) {
	end := len(text)
	if strings.HasSuffix(name, "-wal") {
		const header, frame = 32, 24 + 4096
		end = header
		for end+frame <= len(text) && bytes.Equal(text[end+8:end+16], text[16:24]) { // the salt of the log
			end += frame
		}
	}
	const run = 64 // zeros that are room
	for from := 0; from < end; {
		to := from
		for to < end && text[to] == 0 {
			to++
		}
		if to-from < run {
			to = min(max(to, from+1), end)
			for at := from; at < to; at++ {
				places = append(places, at)
			}
		}
		from = to
	}
	return places
}

// A damaged byte, a part that is zero, that is missing or that is there twice, anywhere in the
// files, loses no event without a word.
func TestEachDamageIsTold(t *testing.T) {
	t.Parallel()
	image := faultImage(t)
	if f := look(t, put(t, image), readsDoNotFail); len(f.waits) != faultEvents || len(f.told) > 0 {
		t.Fatalf("%d events without a fault, told %v", len(f.waits), f.told)
	}
	for name, text := range image {
		if strings.HasSuffix(name, "-lock") {
			continue
		}
		all := used(name, text)
		for what := range damages {
			places := all
			if what == "cut" {
				places = ends(name, all)
			}
			kind := filepath.Ext(strings.ReplaceAll(name, "-wal", ".wal")) + " " + what
			step := cmp.Or(*faultStep, len(places)/6+1)
			for worker := range faultWorkers {
				t.Run(fmt.Sprintf("%s/%d", kind, worker), func(t *testing.T) {
					t.Parallel()
					cases := 0
					for i := worker*step + (len(name)+len(what))%step; i < len(places); i += faultWorkers * step {
						broken := maps.Clone(image)
						broken[name] = damages[what](slices.Clone(text), places[i])
						o := put(t, broken)
						if err := look(t, o, readsDoNotFail).check(faultEvents); err != nil {
							t.Errorf("%s %s at %d: %v", what, name, places[i], err)
						}
						os.RemoveAll(filepath.Dir(o.Path))
						cases++
					}
					t.Logf("%d faults at %d places", cases, len(places))
				})
			}
		}
	}
}

// A flip in the text of the schema is seen neither by SQLite's check nor by a sum: the file is set aside.
func TestADamagedSchemaIsTold(t *testing.T) {
	t.Parallel()
	image := faultImage(t)
	for _, column := range []string{"id         TEXT    NOT NULL UNIQUE", "hook    TEXT    NOT NULL,\n\tord", "size       INTEGER"} {
		at := bytes.Index(image["hookd.db"], []byte(column))
		if at < 0 {
			t.Fatalf("the schema has no %q", column)
		}
		broken := maps.Clone(image)
		broken["hookd.db"] = slices.Clone(image["hookd.db"])
		broken["hookd.db"][at] ^= 1
		if err := look(t, put(t, broken), readsDoNotFail).check(faultEvents); err != nil {
			t.Errorf("%q: %v", column, err)
		}
	}
}

// A row whose number was damaged does not stand for the event with that number.
func TestADamagedNumberOfAnEventIsTold(t *testing.T) {
	t.Parallel()
	image := faultImage(t)
	for _, c := range [][2]byte{{3, 1}, {18, 16}, {22, 20}, {37, 36}, {41, 40}, {41, 90}} {
		missed := 0
		for at, text := 0, image["hookd.db"]; at < len(text); at++ {
			if !bytes.HasPrefix(text[at:], []byte{c[0], 0x10, 0, 0x41}) { // the head of a row with a text of 26 bytes
				continue
			}
			broken := maps.Clone(image)
			broken["hookd.db"] = slices.Clone(text)
			broken["hookd.db"][at] = c[1]
			f := look(t, put(t, broken), readsDoNotFail)
			if err := f.check(faultEvents); err != nil || len(f.wrong) > 0 {
				t.Errorf("%d as %d: %v; wrong: %v", c[0], c[1], err, f.wrong)
			}
			missed += faultEvents - len(f.waits)
		}
		if missed == 0 {
			t.Errorf("%d as %d: no such row is of an event that waits", c[0], c[1])
		}
	}
}

// faultWorkers damage files side by side: a store waits before it reads again.
const faultWorkers = 4

// ends are the places at which a file is cut off. Of a database SQLite uses whole pages, of its log whole
// frames: all cuts within one are the same to it, and its beginning, middle and end stand for them.
func ends(name string, places []int) (list []int) {
	const page, header, frame = 4096, 32, 24 + 4096
	within := func(at int) int { return at % page }
	switch {
	case strings.HasSuffix(name, ".seg"):
		return places
	case strings.HasSuffix(name, "-wal"):
		within = func(at int) int { return (at - header + frame) % frame }
	}
	for at := range places[len(places)-1] + 1 {
		if n := within(at); at < header || n < 2 || n == 24 || n == page/2 || n == page-1 {
			list = append(list, at)
		}
	}
	return list
}

// failing are files whose reads fail.
type failing struct {
	journal.Files

	mu    sync.Mutex
	reads int
	fail  func(n int, path string) bool // n counts reads from 1
}

func (f *failing) read(path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	if f.fail != nil && f.fail(f.reads, path) {
		return &os.PathError{Op: "read", Path: path, Err: syscall.EIO}
	}
	return nil
}

func (f *failing) set(fail func(n int, path string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail, f.reads = fail, 0
}

func (f *failing) List(dir string) ([]string, error) {
	if err := f.read(dir); err != nil {
		return nil, err
	}
	return f.Files.List(dir)
}

func (f *failing) Open(path string) (journal.File, error) {
	if err := f.read(path); err != nil {
		return nil, err
	}
	file, err := f.Files.Open(path)
	return failingFile{file, f, path}, err
}

func (f *failing) Create(path string) (journal.File, error) {
	file, err := f.Files.Create(path)
	return failingFile{file, f, path}, err
}

type failingFile struct {
	journal.File
	files *failing
	path  string
}

func (f failingFile) ReadAt(b []byte, at int64) (int, error) {
	if err := f.files.read(f.path); err != nil {
		return 0, err
	}
	return f.File.ReadAt(b, at)
}

// Each read of the journal at start that fails once, or many times, loses nothing: the store has all
// events then, or refuses new ones until the disk gives them.
func TestEachReadOfTheJournalFails(t *testing.T) {
	t.Parallel()
	image := faultImage(t)
	files := &failing{Files: journal.MappedFiles()}
	o := put(t, image)
	o.files = files
	s := open(t, o)
	reads := files.reads
	if got := pending(t, s); len(got) != faultEvents {
		t.Fatalf("%d events", len(got))
	}
	closed(t, s)
	for _, times := range []int{1, 1000} {
		for at := 1; at <= reads; at++ {
			o := put(t, image)
			o.files = files
			files.set(func(n int, _ string) bool { return n >= at && n < at+times })
			s, err := Open(o)
			if err != nil {
				t.Fatal(err)
			}
			if times > 1 && s.Health().Err == nil && at < 3 {
				t.Errorf("read %d fails, and the store is healthy", at)
			}
			if s.Health().Err != nil {
				if err := acceptNow(s, event(9999, "agent:end", `{}`), "a"); !errors.Is(err, ErrIO) {
					t.Errorf("an event was taken while the journal cannot be read: %v", err)
				}
			}
			files.set(nil)
			hooktest.Until(t, "healed", healthy(s))
			if got := pending(t, s); len(got) != faultEvents || len(s.Losses()) > 0 {
				t.Errorf("read %d fails %d times: %d events are pending, losses %v", at, times, len(got), s.Losses())
			}
			closed(t, s)
			os.RemoveAll(filepath.Dir(o.Path))
		}
	}
}

// Each read of the journal of a daemon that runs: an event that is not given once is read again.
func TestEachReadOfARunningJournalFails(t *testing.T) {
	t.Parallel()
	for at := 1; at <= 12; at++ {
		o := options(t)
		files := &failing{Files: journal.MappedFiles()}
		o.files, o.Held, o.probe = files, 1, 5*time.Millisecond
		s := open(t, o)
		for seq := uint64(1); seq <= 10; seq++ {
			accept(t, s, event(seq, "agent:end", `{"n":1}`), "a")
		}
		files.set(func(n int, _ string) bool { return n == at })
		hooktest.Until(t, "all events can be read", func() bool {
			page, err := s.Pending(t.Context(), 0, 20)
			return err == nil && len(page) == 10
		})
		hooktest.Until(t, "all events are in the database", func() bool { return s.FlushEvents(t.Context()) == nil })
		if got := pending(t, s); len(got) != 10 || len(s.Losses()) > 0 {
			t.Errorf("read %d: %d events are pending, losses %v", at, len(got), s.Losses())
		}
		closed(t, s)
	}
}

// A record that is never given is given up in the end, and the file that has it stays.
func TestUnreadableEventIsGivenUp(t *testing.T) {
	t.Parallel()
	o := options(t)
	files := &failing{Files: journal.MappedFiles()}
	o.files, o.Held, o.probe, o.unread = files, 1, 5*time.Millisecond, 20*time.Millisecond
	s, in := watched(t, o)
	accept(t, s, event(1, "agent:end", `{"n":1}`), "a", "b")
	files.set(func(_ int, path string) bool { return strings.HasSuffix(path, ".seg") })
	hooktest.Until(t, "the event is given up", func() bool {
		s.FlushEvents(t.Context())
		_, told := in.find(IncidentJournal)
		return told && healthy(s)()
	})
	losses := s.Losses()
	if len(losses) != 1 || losses[0].Lost != 2 || losses[0].Path == "" {
		t.Fatalf("losses %+v", losses)
	}
	files.set(nil)
	taken := 0
	_, err := s.SetAside(t.Context(), losses[0], func(e *events.Event, hooks []string) error {
		taken += len(hooks)
		return nil
	})
	if err != nil || taken != 2 {
		t.Errorf("%d runs can be taken back, %v", taken, err)
	}
}

// A file that cannot be read is set aside in the end, with its number of events; its events run
// when it can be read again.
func TestUnreadableJournalIsSetAsideAndTakenBack(t *testing.T) {
	t.Parallel()
	files := &failing{Files: journal.MappedFiles()}
	o := put(t, faultImage(t))
	o.files, o.unread = files, 20*time.Millisecond
	files.set(func(_ int, path string) bool { return strings.Contains(path, ".seg") })
	s, in := watched(t, o)
	hooktest.Until(t, "healed without the file", healthy(s))
	i, ok := in.find(IncidentJournal)
	if !ok || !strings.Contains(i.MovedTo, ".unread-") || i.Lost == 0 && !i.More {
		t.Fatalf("incident %+v", i)
	}
	losses := s.Losses()
	waiting := map[uint64]bool{}
	if len(losses) != 1 {
		t.Fatalf("losses %+v", losses)
	}
	if _, err := s.SetAside(t.Context(), losses[0], nil); err == nil {
		t.Error("the file was read although it cannot be")
	}
	files.set(nil)
	unreadable, err := s.SetAside(t.Context(), losses[0], func(e *events.Event, hooks []string) error {
		if !slices.Equal(hooks, []string{"a"}) {
			t.Errorf("hooks %v", hooks)
		}
		waiting[e.Seq] = true
		return nil
	})
	stored := pending(t, s)
	if err != nil || unreadable > 0 || len(waiting)+len(stored) != faultEvents {
		t.Errorf("%d set aside and %d pending, %d parts cannot be read, %v", len(waiting), len(stored), unreadable, err)
	}
	if err := s.ForgetLoss(t.Context(), losses[0], len(waiting)); err != nil || len(s.Losses()) > 0 {
		t.Errorf("%v, losses %v", err, s.Losses())
	}
	if _, err := os.Stat(TakenBack(losses[0].Path)); err != nil {
		t.Error(err)
	}
	s = open(t, killed(t, s))
	if len(s.Losses()) > 0 {
		t.Errorf("the next daemon has the losses %v", s.Losses())
	}
}

// Losses outlive the process, and are in the audit chain.
func TestLossesAreKept(t *testing.T) {
	image := faultImage(t)
	for name := range image {
		if strings.HasSuffix(name, ".seg") {
			image[name] = image[name][:len(image[name])/100]
		}
	}
	o := put(t, image)
	s := open(t, o)
	flush(t, s)
	losses := s.Losses()
	if len(losses) != 1 || losses[0].Lost == 0 || losses[0].More || losses[0].Path == "" {
		t.Fatalf("losses %+v", losses)
	}
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	chained := 0
	_, err := ReadAudit(t.Context(), o.Path, time.Time{}, func(r audit.Link, _ audit.Hash) error {
		if text := string(r.Text); strings.Contains(text, `"kind":"storage"`) && strings.Contains(text, losses[0].Path) {
			chained++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if chained != 1 {
		t.Errorf("%d records of the audit chain tell of it", chained)
	}
	s = open(t, killed(t, s))
	if again := s.Losses(); len(again) != 1 || again[0].Why != losses[0].Why || again[0].Lost != losses[0].Lost {
		t.Errorf("the next daemon has %+v, want %+v", again, losses)
	}
}
