package catalog

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/wire"
)

// The record stays small and keeps the last of each hook.
func TestTheRecordOfChangesIsBounded(t *testing.T) {
	c := config.Default(t.TempDir())
	r := OpenChanges(c, zap.NewNop())
	record(r, wire.Change{Hook: "old", Change: "added", To: "1"})
	for range 1200 {
		record(r, wire.Change{Hook: "busy", Change: "changed", To: strings.Repeat("x", 1000)})
	}
	record(r, wire.Change{Hook: "busy", Change: "changed", To: "last"})
	info, err := os.Stat(c.ChangesFile())
	if err != nil || info.Size() > maxChanges {
		t.Fatalf("%v, %v; want at most %d bytes", info, err, maxChanges)
	}
	f, err := os.OpenFile(c.ChangesFile(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"hook":"cut o`)
	f.Close()
	again := OpenChanges(c, zap.NewNop())
	if last := again.Of("old"); len(last) != 1 || last[0].To != "1" {
		t.Errorf("of the old hook %+v, want its one record", last)
	}
	if last := again.Of("busy"); len(last) != shownChanges || last[0].To != "last" {
		t.Errorf("of the busy hook %d records, want the last %d", len(last), shownChanges)
	}
	record(again, wire.Change{Hook: "after", Change: "added", To: "2"})
	if last := OpenChanges(c, zap.NewNop()).Of("after"); len(last) != 1 {
		t.Error("what was written after a line that was cut off is lost")
	}
}

// record writes one change.
func record(r *Changes, c wire.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write([]wire.Change{c})
}

// A change that could not be written is observed all the same, and written with the
// next one.
func TestAChangeThatCannotBeWrittenIsNotLost(t *testing.T) {
	c := config.Default(t.TempDir())
	r := OpenChanges(c, zap.NewNop())
	if err := os.MkdirAll(c.ChangesFile(), 0o700); err != nil { // in the file's way
		t.Fatal(err)
	}
	record(r, wire.Change{Hook: "a", Change: "added", To: "1"})
	if last := r.Of("a"); len(last) != 1 {
		t.Errorf("of a there is %+v, want its one record", last)
	}
	if err := os.Remove(c.ChangesFile()); err != nil {
		t.Fatal(err)
	}
	record(r, wire.Change{Hook: "b", Change: "added", To: "2"})
	again := OpenChanges(c, zap.NewNop())
	for _, id := range []string{"a", "b"} {
		if last := again.Of(id); len(last) != 1 {
			t.Errorf("on record of %s is %+v, want one", id, last)
		}
	}
}

// FuzzChanges: whatever the record of changes holds, it is read; an added change
// stands there at the next start, behind all that could be read before.
func FuzzChanges(f *testing.F) {
	for _, s := range []string{
		"", "\n\n", `{"hook":"a","change":"added","to":"1"}` + "\n", `{"hook":"a","change":"added","to":"1"}` + "\n" + `{"hook":"a","chan`,
		`{"hook":"a","change":"waiting","from":"1","to":"2"}` + "\n" + `{"hook":"a","change":"removed"}` + "\n", "null\n[]\n{}\n", `{"hook":"a","change":"broken","time":"x"}` + "\n",
		"{\"hook\":\"a\\u0000\",\"change\":\"\"}\r\n", "\x00\xff\n",
	} {
		f.Add([]byte(s))
	}
	c := config.Default(f.TempDir())
	if err := os.MkdirAll(filepath.Dir(c.ChangesFile()), 0o700); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(c.ChangesFile(), text, 0o600); err != nil {
			t.Fatal(err)
		}
		before := slices.Collect(changesIn(text))
		for _, l := range before {
			if l.Hook == "" {
				t.Fatalf("%q holds a change of no hook", text)
			}
		}
		record(OpenChanges(c, zap.NewNop()), wire.Change{Hook: "fresh", Change: "added", To: "d", File: "/h\n"})
		again := OpenChanges(c, zap.NewNop())
		again.mu.Lock() // it has been read
		defer again.mu.Unlock()
		now, err := again.text()
		if after := slices.Collect(changesIn(now)); err != nil || len(after) != len(before)+1 ||
			again.last["fresh"].digest != "d" {
			t.Fatalf("of %d changes in %q and one more, %d are in %q, %v", len(before), text, len(after), now, err)
		}
		if now, err := os.ReadFile(c.ChangesFile()); err != nil || !bytes.HasSuffix(now, []byte("\n")) ||
			again.size != int64(len(now)) {
			t.Fatalf("%q: %v, and its size is %d", now, err, again.size)
		}
	})
}
