package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/record/journal"
	"github.com/hookd/hookd/internal/record/journal/journaltest"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// segment is the size of the segments on a disk of journaltest.
const segment = 64 << 10

// record makes one whose contents follow from its number.
func record(n uint64, size int) journal.Item {
	return journal.Item{
		Number: n, Head: fmt.Appendf(nil, "head of %d", n), Body: bytes.Repeat(fmt.Appendf(nil, "%d ", n), size),
	}
}

// opened opens a journal and returns the numbers of its records.
func opened(t *testing.T, o journal.Options, from journal.Pos) (*journal.Journal, []journal.Entry, journal.Found) {
	t.Helper()
	var list []journal.Entry
	j, found, err := journal.Open(o, from, func(e journal.Entry, head []byte) error {
		if want := fmt.Sprintf("head of %d", e.Number); string(head) != want {
			t.Errorf("got %q, want %q", head, want)
		}
		list = append(list, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close(false) })
	return j, list, found
}

// damaged is how many bytes of records that were confirmed are none.
func damaged(f journal.Found) (n int64) {
	for _, d := range f.Damaged {
		if !d.Torn {
			n += d.Bytes
		}
	}
	return n
}

func numbers(list []journal.Entry) (all []uint64) {
	for _, e := range list {
		all = append(all, e.Number)
	}
	return all
}

func appendAll(t *testing.T, j *journal.Journal, records ...journal.Item) []journal.Entry {
	t.Helper()
	entries, err := j.Append(records)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// kinds are the files of the operating system that a journal may be in.
var kinds = map[string]journal.Files{"written": nil, "mapped": journal.MappedFiles()}

func TestRecordsComeBack(t *testing.T) {
	for name, files := range kinds {
		t.Run(name, func(t *testing.T) { testRecordsComeBack(t, files) })
	}
}

func testRecordsComeBack(t *testing.T, files journal.Files) {
	o := journal.Options{Dir: filepath.Join(t.TempDir(), "j"), Owner: "me", Sync: true, Files: files}
	j, _, _ := opened(t, o, journal.Pos{})
	var want []uint64
	var entries []journal.Entry
	for n := uint64(1); n <= 60; n++ { // over several segments, one of them for a large record alone
		size := 1000 * int(n%40)
		if n == 30 {
			size = journal.SegmentBytes
		}
		entries = append(entries, appendAll(t, j, record(2*n, size), record(2*n+1, 0))...)
		want = append(want, 2*n, 2*n+1)
	}
	check := func(j *journal.Journal, entries []journal.Entry) {
		t.Helper()
		if got := numbers(entries); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		for _, e := range entries {
			head, body, err := j.Read(e)
			if err != nil || string(head) != fmt.Sprintf("head of %d", e.Number) || len(body) != int(e.Body) ||
				len(body) > 0 && !bytes.HasPrefix(body, fmt.Appendf(nil, "%d ", e.Number)) {
				t.Errorf("record %d: %q and %d bytes, %v", e.Number, head, len(body), err)
			}
		}
	}
	check(j, entries)
	j.Close(false)
	for range 2 { // read twice: reading changes nothing
		var found journal.Found
		j, entries, found = opened(t, o, journal.Pos{})
		check(j, entries)
		if len(found.Missing) > 0 || len(found.Damaged) > 0 || len(found.Aside) > 0 {
			t.Errorf("found %+v, want nothing odd", found)
		}
		j.Close(false)
	}
}

func TestFreedSegmentsAreUsedAgain(t *testing.T) {
	for name, files := range kinds {
		t.Run(name, func(t *testing.T) { testFreedSegmentsAreUsedAgain(t, files) })
	}
}

func testFreedSegmentsAreUsedAgain(t *testing.T, files journal.Files) {
	dir := filepath.Join(t.TempDir(), "j")
	j, _, _ := opened(t, journal.Options{Dir: dir, Owner: "me", Files: files}, journal.Pos{})
	for n := uint64(1); n < 200; n++ {
		last := appendAll(t, j, record(n, 100_000))[0]
		j.Free(last.Pos)
		if size := j.Size(); size > 4*journal.SegmentBytes {
			t.Fatalf("%d bytes after record %d, all of them freed", size, n)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 4 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
	j.Close(true)
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("%d files are left of an empty journal", len(files))
	}
}

// The place that Next returns is where nothing is found, whatever a removal left behind.
func TestNextIsAfterEverything(t *testing.T) {
	o := journal.Options{Dir: t.TempDir(), Owner: "me"}
	j, _, _ := opened(t, o, journal.Pos{})
	appendAll(t, j, record(1, 10))
	next := j.Next()
	j.Close(false)
	j, list, found := opened(t, o, next)
	if len(list) > 0 || len(found.Missing) > 0 {
		t.Errorf("got %v, %+v, want nothing", list, found)
	}
	if e := appendAll(t, j, record(2, 10))[0]; e.Before(next) {
		t.Errorf("a new record at %v, before %v", e.Pos, next)
	}
}

// A power cut after any number of operations, twice in a row, loses no confirmed record. The disk
// may have lost any of the rest. Nothing from before the place that is read from comes back, and
// everything after it in order.
func TestPowerCutAnywhere(t *testing.T) {
	whole := work(t, journaltest.New(1, -1), nil)
	if whole.ops < 50 {
		t.Fatalf("%d operations", whole.ops)
	}
	step := 1
	if !hooktest.All() {
		step = 7
	}
	for cut := 1; cut < whole.ops; cut += step {
		disk := journaltest.New(uint64(cut), cut)
		first := work(t, disk, nil)
		second := work(t, disk.Crash(cut%17+5), &first)
		for n := range first.confirmed {
			if !second.found[n] && n >= first.free {
				t.Fatalf("cut after %d: %d was confirmed and is lost", cut, n)
			}
		}
		third := work(t, second.disk.Crash(-1), &second)
		for n := range second.confirmed {
			if !third.found[n] && n >= second.free {
				t.Fatalf("cut twice after %d: %d was confirmed and is lost", cut, n)
			}
		}
	}
}

// worked has the results of the work done until the disk went off.
type worked struct {
	disk             *journaltest.Disk
	ops              int
	confirmed, found map[uint64]bool
	free             uint64 // all before this number was freed
	from             journal.Pos
	next             uint64
}

// work reads the records that an earlier worked left, and appends, frees and reads until the disk is off.
func work(t *testing.T, disk *journaltest.Disk, earlier *worked) (w worked) {
	w = worked{disk: disk, confirmed: map[uint64]bool{}, found: map[uint64]bool{}, next: 1}
	if earlier != nil {
		w.from, w.next, w.free = earlier.from, earlier.next+1000, earlier.free
	}
	defer func() { w.ops = disk.Done() }()
	last := uint64(0)
	o := journal.Options{Dir: "/j", Owner: "me", Sync: true, Bytes: segment, Files: disk}
	j, _, err := journal.Open(o, w.from, func(e journal.Entry, head []byte) error {
		if e.Number <= last || string(head) != fmt.Sprintf("head of %d", e.Number) {
			t.Errorf("%d after %d, with %q", e.Number, last, head)
		}
		if e.Number < w.free {
			t.Errorf("%d comes back although it was freed", e.Number)
		}
		last = e.Number
		w.found[e.Number], w.confirmed[e.Number] = true, true
		return nil
	})
	if err != nil {
		if !errors.Is(err, journaltest.ErrOff) {
			t.Error(err)
		}
		w.confirmed, w.found = map[uint64]bool{}, map[uint64]bool{}
		if earlier != nil { // it did nothing
			w.confirmed, w.found = earlier.confirmed, earlier.confirmed
		}
		return w
	}
	defer j.Close(false)
	for i := range 24 {
		var batch []journal.Item
		for n := range uint64(1 + i%4) {
			size := 20 << (i % 9)
			if i == 13 {
				size = segment / 2
			}
			batch = append(batch, record(w.next+n, size))
		}
		entries, err := j.Append(batch)
		w.next += uint64(len(batch))
		if err != nil {
			if !errors.Is(err, journaltest.ErrOff) {
				t.Error(err)
			}
			return w
		}
		for _, e := range entries {
			w.confirmed[e.Number] = true
		}
		if i%5 == 4 {
			w.from, w.free = entries[0].Pos, entries[0].Number
			j.Free(w.from)
		}
	}
	return w
}

// A write or a sync that fails voids its records and no others: they do not come back, even though the
// disk may have them, and the next ones do.
func TestFailureAnywhere(t *testing.T) {
	for _, what := range []string{"write", "sync", "create", "syncdir"} {
		for at := 1; ; at++ {
			disk := journaltest.New(uint64(at), -1)
			seen := 0
			disk.Fail = func(op, _ string) error {
				if op != what {
					return nil
				}
				if seen++; seen == at {
					return syscall.EIO
				}
				return nil
			}
			o := journal.Options{Dir: "/j", Owner: "me", Sync: true, Bytes: segment, Files: disk}
			j, _, _ := opened(t, o, journal.Pos{})
			var confirmed []uint64
			void := map[uint64]bool{}
			for n := uint64(1); n <= 30; n++ {
				_, err := j.Append([]journal.Item{record(2*n, 2000), record(2*n+1, 100)})
				if err == nil {
					confirmed = append(confirmed, 2*n, 2*n+1)
					continue
				}
				void[2*n], void[2*n+1] = true, true
				if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "/j") {
					t.Fatalf("got %v, want what the disk said and the place", err)
				}
				if _, again := j.Append([]journal.Item{record(1, 1)}); again == nil {
					t.Fatal("appended although the segment has failed")
				}
				if err := j.Renew(); err != nil {
					t.Fatal(err)
				}
			}
			j.Close(false)
			_, list, found := opened(t, journal.Options{Dir: "/j", Owner: "me", Files: disk.Crash(-1)}, journal.Pos{})
			got := slices.DeleteFunc(numbers(list), func(n uint64) bool { return slices.Contains(confirmed, n) })
			if len(got) > 0 || len(list) != len(confirmed) || len(found.Missing) > 0 {
				t.Fatalf("%s %d: void records %v came back, %d of %d confirmed, %+v", what, at, got, len(list), len(confirmed), found)
			}
			if seen < at {
				break
			}
		}
	}
}

func TestDeletedSegmentIsNoticed(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"removed": os.Remove,
		"cut":     func(path string) error { return os.Truncate(path, 5000) },
		"replaced": func(path string) error {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.WriteFile(path, text, 0o600)
		},
	} {
		for kind, files := range kinds {
			t.Run(name+" and "+kind, func(t *testing.T) { testDeletedSegment(t, files, damage) })
		}
	}
}

func testDeletedSegment(t *testing.T, files journal.Files, damage func(path string) error) {
	dir := t.TempDir()
	j, _, _ := opened(t, journal.Options{Dir: dir, Owner: "me", Files: files}, journal.Pos{})
	first := appendAll(t, j, record(1, 100))[0]
	if err := damage(filepath.Join(dir, "1.seg")); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append([]journal.Item{record(2, 100)}); !errors.Is(err, journal.ErrGone) {
		t.Errorf("got %v, want %v", err, journal.ErrGone)
	}
	if err := j.Renew(); err != nil {
		t.Fatal(err)
	}
	appendAll(t, j, record(3, 100))
	if _, _, err := j.Read(first); err != nil {
		t.Errorf("what was written to the file that is open cannot be read: %v", err)
	}
}

// A mapping of a file that another process has cut off cannot be written to: the
// Append fails, also an Append that does not look, and the program does not end.
func TestMappedSegmentThatWasCutOff(t *testing.T) {
	dir := t.TempDir()
	o := journal.Options{Dir: dir, Owner: "me", Files: journal.MappedFiles(), Look: time.Hour}
	j, _, _ := opened(t, o, journal.Pos{})
	appendAll(t, j, record(1, 100))
	if err := os.Truncate(filepath.Join(dir, "1.seg"), 0); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := j.Append([]journal.Item{record(2, 100)}); !errors.Is(err, journal.ErrGone) {
			t.Errorf("got %v, want %v", err, journal.ErrGone)
		}
	}
	if err := j.Renew(); err != nil {
		t.Fatal(err)
	}
	entry := appendAll(t, j, record(3, 100))[0]
	if _, body, err := j.Read(entry); err != nil || !bytes.HasPrefix(body, []byte("3 ")) {
		t.Errorf("the segment after it: %.20q, %v", body, err)
	}
}

// With Options.Look only an Append that looks notices it.
func TestDeletedSegmentIsLookedFor(t *testing.T) {
	for look, want := range map[time.Duration]error{time.Hour: nil, 1: journal.ErrGone} {
		dir := t.TempDir()
		j, _, _ := opened(t, journal.Options{Dir: dir, Owner: "me", Look: look}, journal.Pos{})
		appendAll(t, j, record(1, 100))
		if err := os.Remove(filepath.Join(dir, "1.seg")); err != nil {
			t.Fatal(err)
		}
		if _, err := j.Append([]journal.Item{record(2, 100)}); !errors.Is(err, want) {
			t.Errorf("a look each %v: got %v, want %v", look, err, want)
		}
	}
}

func TestWhatOpenFindsWrong(t *testing.T) {
	make := func(t *testing.T) (dir string, entries []journal.Entry) {
		dir = t.TempDir()
		j, _, _ := opened(t, journal.Options{Dir: dir, Owner: "me"}, journal.Pos{})
		for n := uint64(1); n <= 30; n++ {
			entries = append(entries, appendAll(t, j, record(n, 100_000))...)
		}
		j.Close(false)
		if entries[29].Segment < 3 {
			t.Fatalf("%d segments", entries[29].Segment)
		}
		return dir, entries
	}
	t.Run("missing", func(t *testing.T) {
		dir, entries := make(t)
		j, _, _ := opened(t, journal.Options{Dir: dir, Owner: "me"}, entries[0].Pos)
		appendAll(t, j, record(31, 1)) // so that there is a segment after the one that is deleted
		j.Close(false)
		files, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
		for _, f := range files {
			if text, err := os.ReadFile(f); err != nil {
				t.Fatal(err)
			} else if text[8] == 2 { // the number of the segment
				os.Remove(f)
			}
		}
		_, list, found := opened(t, journal.Options{Dir: dir, Owner: "me"}, entries[0].Pos)
		if !slices.Equal(found.Missing, []uint64{2}) || list[0].Number != 1 || list[len(list)-1].Number != 31 {
			t.Errorf("found %+v and %v", found, numbers(list))
		}
	})
	t.Run("all_missing", func(t *testing.T) {
		_, entries := make(t)
		j, list, found := opened(t, journal.Options{Dir: t.TempDir(), Owner: "me"}, entries[3].Pos)
		if len(found.Missing) != 1 || len(list) > 0 {
			t.Errorf("found %+v and %v", found, numbers(list))
		}
		if next := appendAll(t, j, record(1, 1))[0]; next.Before(entries[3].Pos) {
			t.Errorf("the next record is at %v, before %v: it would not be read", next.Pos, entries[3].Pos)
		}
	})
	t.Run("other_owner", func(t *testing.T) {
		dir, _ := make(t)
		j, list, found := opened(t, journal.Options{Dir: dir, Owner: "you", Former: []string{"he"}}, journal.Pos{})
		if len(list) > 0 || len(found.Aside) < 3 {
			t.Fatalf("found %+v and %v", found, numbers(list))
		}
		for _, a := range found.Aside {
			if _, err := os.Stat(a.Path); err != nil {
				t.Error(err)
			}
		}
		appendAll(t, j, record(5, 1))
		j.Close(false)
		if _, list, _ = opened(t, journal.Options{Dir: dir, Owner: "she", Former: []string{"you"}}, journal.Pos{}); !slices.Equal(numbers(list), []uint64{5}) {
			t.Errorf("under its former name there is %v", numbers(list))
		}
	})
	t.Run("adopted", func(t *testing.T) {
		dir, _ := make(t)
		if _, list, found := opened(t, journal.Options{Dir: dir, Owner: "you", Adopt: true}, journal.Pos{}); len(list) != 30 || len(found.Aside) > 0 {
			t.Errorf("found %+v and %v", found, numbers(list))
		}
	})
	for _, at := range []int64{0, 4, 9, 17, 21, 25, 29, 33, 60, 5000} { // each part of a record
		t.Run(fmt.Sprint("damaged_at_", at), func(t *testing.T) {
			dir, entries := make(t)
			e := entries[12]
			files, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
			for _, f := range files {
				text, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				if uint64(text[8]) == e.Segment {
					text[e.Offset+at] ^= 0x10
					if err := os.WriteFile(f, text, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			j, list, found := opened(t, journal.Options{Dir: dir, Owner: "me"}, journal.Pos{})
			if len(list) != 29 || damaged(found) != e.Bytes() || slices.Contains(numbers(list), e.Number) {
				t.Errorf("found %+v and %v, want all but %d", found, numbers(list), e.Number)
			}
			if _, _, err := j.Read(e); !errors.Is(err, journal.ErrDamaged) {
				t.Errorf("got %v, want %v", err, journal.ErrDamaged)
			}
		})
	}
}

// A freed record is not read as another record that has its place.
func TestFreedRecordIsNotRead(t *testing.T) {
	j, _, _ := opened(t, journal.Options{Dir: t.TempDir(), Owner: "me"}, journal.Pos{})
	first := appendAll(t, j, record(1, 100))[0]
	for n := uint64(2); n < 100; n++ {
		j.Free(appendAll(t, j, record(n, 200_000))[0].Pos)
	}
	if _, _, err := j.Read(first); !errors.Is(err, journal.ErrDamaged) {
		t.Errorf("got %v, want %v", err, journal.ErrDamaged)
	}
}

func TestFilesAreTheUsersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "j")
	j, _, _ := opened(t, journal.Options{Dir: dir, Owner: "me"}, journal.Pos{})
	appendAll(t, j, record(1, 100))
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v %v", info, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "1.seg")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a file: %v %v", info, err)
	}
}

// Each damage of each byte of a journal is told, unless all records are there.
func TestEachByteIsDamaged(t *testing.T) {
	t.Parallel()
	const records = 200
	disk := journaltest.New(1, -1)
	o := journal.Options{Dir: "/j", Owner: "me", Bytes: 256 << 10, Files: disk}
	j, _, _ := opened(t, o, journal.Pos{})
	var last journal.Entry
	for n := uint64(1); n <= records; n++ {
		last = appendAll(t, j, record(n, int(n%9)))[0]
	}
	o.Confirmed = journal.Pos{Segment: last.Segment, Offset: last.Offset + last.Bytes()}
	text := disk.Text("/j/1.seg")
	if last.Segment != 1 {
		t.Fatalf("%d segments", last.Segment)
	}
	end, step := int(o.Confirmed.Offset), 1
	if !hooktest.All() {
		step = 23
	}
	for what, damage := range map[string]func(text []byte, at int) []byte{
		"flip": func(text []byte, at int) []byte { text[at] ^= 1 << (at % 8); return text },
		"zero": func(text []byte, at int) []byte { clear(text[at:min(at+512, len(text))]); return text },
		"cut":  func(text []byte, at int) []byte { return text[:at] },
	} {
		for at := 0; at < end; at += step {
			if what != "flip" && at%7 > 0 && step > 1 || at > 256 && at < 4096 {
				continue // the rest of the header is not used
			}
			broken := journaltest.New(1, -1)
			broken.Create("/j/1.seg")
			broken.Damage("/j/1.seg", 0, damage(slices.Clone(text), at))
			o.Files = broken
			got := 0
			j, found, err := journal.Open(o, journal.Pos{}, func(journal.Entry, []byte) error { got++; return nil })
			told := len(found.Missing) > 0 || len(found.Aside) > 0
			for _, d := range found.Damaged {
				told = told || !d.Torn && d.Kept != "" && d.Records > 0
			}
			if err != nil || got < records && !told || got == records && told {
				t.Fatalf("%s at %d: %d records, found %+v, %v", what, at, got, found, err)
			}
			j.Close(false)
		}
	}
}

func FuzzOpen(f *testing.F) {
	dir := f.TempDir()
	j, _, err := journal.Open(journal.Options{Dir: dir, Owner: "me"}, journal.Pos{}, nil)
	if err != nil {
		f.Fatal(err)
	}
	if _, err := j.Append([]journal.Item{record(1, 10), record(2, 300)}); err != nil {
		f.Fatal(err)
	}
	j.Close(false)
	text, err := os.ReadFile(filepath.Join(dir, "1.seg"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text[:8192])
	f.Fuzz(func(t *testing.T, text []byte) {
		disk := journaltest.New(1, -1)
		disk.Create("/j/1.seg")
		disk.Damage("/j/1.seg", 0, text)
		j, _, err := journal.Open(journal.Options{Dir: "/j", Owner: "me", Files: disk}, journal.Pos{}, func(e journal.Entry, head []byte) error {
			if len(head) != int(e.Head) {
				t.Errorf("%d bytes, want %d", len(head), e.Head)
			}
			return nil
		})
		if err != nil && !errors.Is(err, journal.ErrNewer) {
			t.Fatal(err)
		}
		j.Close(false)
	})
}
