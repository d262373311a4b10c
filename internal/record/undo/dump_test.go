package undo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/wire"
)

// A hook makes a dump before keeping begins, under the id that its agent gave the call.
func TestADumpOfAHook(t *testing.T) {
	v := newVaultTest(t)
	v.write("shop.sql", "rows")
	c := call(v.work)
	c.CallID = "toolu_0123456789"
	ask := wire.DumpRequest{Path: filepath.Join(v.work, "shop.sql"), Restore: "psql shop < {}"}
	dump, bad := v.k.Dumps.Add(c.CallID, ask)
	if bad != nil || !strings.HasPrefix(dump.Restore, "psql shop < /") || dump.Size != 4 {
		t.Fatalf("%+v, %v", dump, bad)
	}
	r := v.k.Keep(c, factsOf("dropdb shop", v.work))
	if r.Word != Part || len(r.Lost) == 0 {
		t.Errorf("before the call: %+v", r)
	}
	hooktest.Must(t, os.Remove(ask.Path)) // the hook's own copy
	v.ended("s", c.ID)
	a := v.undo(wire.UndoRequest{Calls: []string{c.ID}})
	if len(a.Calls) != 1 || len(a.Calls[0].Dumps) != 1 || a.Word != wire.UndoNothing || len(a.Lost) != 1 {
		t.Fatalf("undo: %+v", a)
	}
	if text, err := os.ReadFile(a.Calls[0].Dumps[0].Path); string(text) != "rows" {
		t.Errorf("the dump is %q, %v", text, err)
	}
	if n, bad := v.k.Purge(c.ID); n != 1 || bad != nil || exists(dump.Path) {
		t.Errorf("purge: %d, %v; the dump is there: %v", n, bad, exists(dump.Path))
	}
}

func TestDumpsThatAreRefused(t *testing.T) {
	v := newVaultTest(t)
	v.write("a", "text")
	at := filepath.Join(v.work, "a")
	for name, ask := range map[string]struct {
		id string
		wire.DumpRequest
	}{
		"a folder":                   {"toolu_1", wire.DumpRequest{Path: v.work}},
		"a missing file":             {"toolu_1", wire.DumpRequest{Path: at + "x"}},
		"no absolute path":           {"toolu_1", wire.DumpRequest{Path: "a"}},
		"an id that leads elsewhere": {"../../etc", wire.DumpRequest{Path: at}},
		"a command of two lines":     {"toolu_1", wire.DumpRequest{Path: at, Restore: "true\nrm -rf ~"}},
	} {
		if _, bad := v.k.Dumps.Add(ask.id, ask.DumpRequest); bad == nil {
			t.Errorf("%s is taken", name)
		}
	}
	for range mostDumps {
		if _, bad := v.k.Dumps.Add("toolu_2", wire.DumpRequest{Path: at}); bad != nil {
			t.Fatal(bad)
		}
	}
	if _, bad := v.k.Dumps.Add("toolu_2", wire.DumpRequest{Path: at}); bad == nil {
		t.Error("a call has any number of dumps")
	}
	old := time.Now().Add(-2 * leastTime)
	hooktest.Must(t, os.Chtimes(filepath.Join(v.k.Dumps.dir, "toolu_2"), old, old))
	v.k.Expire(time.Now())
	if len(v.k.Dumps.of("toolu_2")) > 0 {
		t.Error("dumps of a call that never ran stay")
	}
}

func TestPathsThatAreNeverKept(t *testing.T) {
	v := newRepositoryTest(t)
	s := *v.k.settings.Load()
	for _, glob := range []string{"*.env", v.work + "/d/**"} {
		p, err := pattern.Compile(glob, '/')
		hooktest.Must(t, err)
		s.Never = append(s.Never, p)
	}
	v.k.Configure(s)
	r := v.k.Keep(call(v.work), factsOf("rm -rf .env d tracked", v.work))
	if r.Word != Part || r.Files != 1 || r.Undoable() {
		t.Errorf("before the call: %+v", r)
	}
	v.k.bases.refresh(rootOf(v.work))
	b, err := v.k.bases.of(rootOf(v.work))
	hooktest.Must(t, err)
	for path, f := range b.last.Load().files {
		if f.Kept != "" && (strings.HasSuffix(path, ".env") || strings.Contains(path, "/d/")) {
			t.Errorf("%s is in the snapshot", path)
		}
	}
}

func TestPurgeRemovesTheBytes(t *testing.T) {
	v := newRepositoryTest(t)
	sh(t, v.work, "echo needle > s")
	v.ran("s", "rm s")
	v.ran("s", "python3 -V; echo 2 > tracked")
	if _, bad := v.k.Purge("all"); bad != nil {
		t.Fatal(bad)
	}
	hooktest.Must(t, filepath.WalkDir(v.k.vaults.home, func(path string, d os.DirEntry, err error) error {
		if text, _ := os.ReadFile(path); strings.Contains(string(text), "needle") || strings.Contains(path, "/f/") || strings.Contains(path, "/base/") {
			t.Errorf("%s is left", path)
		}
		return err
	}))
	if list := v.k.List(wire.UndoQuery{}); len(list.Calls) > 0 {
		t.Errorf("the list has %+v", list)
	}
	v.want("tracked", "2\n")
	c, _ := v.unknown("s") // a purge ends nothing
	sh(t, v.work, "rm tracked")
	v.ended("s", c)
	v.undo(wire.UndoRequest{Calls: []string{c}})
	v.want("tracked", "2\n")
}

// --path takes one folder of a call back, and the rest can follow.
func TestUndoOfOnePath(t *testing.T) {
	v := newRepositoryTest(t)
	c := v.ran("s", "rm -rf d tracked .env")
	v.undo(wire.UndoRequest{Calls: []string{c}, Path: filepath.Join(v.work, "d")})
	v.want("d/a", "a\n")
	v.want("tracked", "")
	if list := v.k.List(wire.UndoQuery{Path: v.work + "/none"}); len(list.Calls) > 0 {
		t.Errorf("calls of another path: %+v", list)
	}
	v.undo(wire.UndoRequest{Calls: []string{c}})
	v.want("tracked", "1\n")
	v.want(".env", "key\n")
}
