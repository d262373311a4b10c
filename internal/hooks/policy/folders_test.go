package policy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/hooks/pack"
)

// roomTest is a home with a bundle in force and room for the next one.
type roomTest struct {
	signer
	Home
	source   string
	sequence uint64
}

func newRoomTest(t *testing.T, c pack.Content) *roomTest {
	t.Helper()
	r := &roomTest{newSigner(t), NewHome(t.TempDir()), filepath.Join(t.TempDir(), "acme.bundle"), 0}
	r.put(t, c)
	hooktest.Must(t, r.Sweep())
	return r
}

// put puts content in force.
func (r *roomTest) put(t *testing.T, c pack.Content) Current {
	t.Helper()
	r.sequence++
	text, err := Build(c, "acme", r.sequence, nil, r.key)
	hooktest.Must(t, err)
	hooktest.Must(t, os.WriteFile(r.source, text, 0o600))
	result, err := r.Set(t.Context(), r.source, r.public, "", "", anything)
	hooktest.Must(t, err)
	if got := inForce(t, r.Home); got != r.sequence {
		t.Errorf("%d is in force, want %d", got, r.sequence)
	}
	return result.Current
}

// room is the path of a file in the room for the next bundle; there must be one.
func (r *roomTest) room(t *testing.T, file string) string {
	t.Helper()
	rooms, err := filepath.Glob(filepath.Join(r.dir, sparePrefix+"*"))
	if err != nil || len(rooms) != 1 {
		t.Fatalf("room for the next bundle: %q, %v", rooms, err)
	}
	return filepath.Join(rooms[0], file)
}

// files are all paths below a folder, folders with a slash at the end.
func files(t *testing.T, dir string) (list []string) {
	t.Helper()
	hooktest.Must(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		rel, relErr := filepath.Rel(dir, path)
		if e.IsDir() {
			rel += "/"
		}
		list = append(list, rel)
		return errors.Join(err, relErr)
	}))
	return list
}

var first = pack.Content{
	{Path: "hooks/a/HOOK.yaml", Data: []byte("a")}, {Path: "hooks/a/run", Exec: true, Data: []byte("a long program")},
	{Path: "hooks/b/HOOK.yaml", Data: []byte("b")}, {Path: "hooks/b/lib/x/y", Data: []byte("y")},
	{Path: "hooks/c/HOOK.yaml", Data: []byte("c")}, {Path: "shared", Data: []byte("s")},
}

// Whatever differs from the bundle before, the next bundle is in force and nothing else.
func TestTheRoomBecomesTheNextBundle(t *testing.T) {
	for name, next := range map[string]pack.Content{
		"the same paths": first,
		"other bytes":    {{Path: "hooks/a/HOOK.yaml", Data: []byte("other")}, {Path: "hooks/a/run", Exec: true}},
		"other modes":    {{Path: "hooks/a/HOOK.yaml", Exec: true}, {Path: "hooks/a/run", Data: []byte("text")}},
		"other paths":    {{Path: "hooks/z/HOOK.yaml"}, {Path: "hooks/b/lib/x/z"}},
		"a file becomes a folder": {
			{Path: "hooks/a/HOOK.yaml"}, {Path: "hooks/a/run/x"}, {Path: "shared/x"},
		},
		"a folder becomes a file": {{Path: "hooks/a/HOOK.yaml"}, {Path: "hooks/b/lib"}, {Path: "hooks/c"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoomTest(t, first)
			was, err := os.Stat(r.room(t, "hooks/a/HOOK.yaml"))
			hooktest.Must(t, err)
			now := r.put(t, next)
			if f, found := next.File("hooks/a/HOOK.yaml"); found && !f.Exec {
				is, err := os.Stat(filepath.Join(now.Dir, f.Path))
				hooktest.Must(t, err)
				if !os.SameFile(was, is) {
					t.Error("the file that was made ahead is not used")
				}
			}
			fresh := filepath.Join(t.TempDir(), "fresh")
			hooktest.Must(t, next.Write(fresh))
			if got, want := files(t, now.Dir), files(t, fresh); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// Room that is not as it was made does no harm: a link in it is not followed.
func TestTheRoomIsNotTrusted(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "victim")
	hooktest.Must(t, os.WriteFile(victim, []byte("mine"), 0o600))
	for name, spoil := range map[string]func(r *roomTest) error{
		"a link in place of a file": func(r *roomTest) error {
			file := r.room(t, "hooks/a/run")
			hooktest.Must(t, os.Remove(file))
			return os.Symlink(victim, file)
		},
		"a link in place of a folder": func(r *roomTest) error {
			hooktest.Must(t, os.RemoveAll(r.room(t, "hooks")))
			return os.Symlink(filepath.Dir(victim), r.room(t, "hooks"))
		},
		"a folder in place of a file": func(r *roomTest) error {
			hooktest.Must(t, os.Remove(r.room(t, "shared")))
			return os.Mkdir(r.room(t, "shared"), 0o700)
		},
		"longer files": func(r *roomTest) error {
			return os.WriteFile(r.room(t, "shared"), []byte(strings.Repeat("long", 100)), 0o600)
		},
		"nothing in it": func(r *roomTest) error { return os.RemoveAll(r.room(t, "hooks")) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoomTest(t, first)
			hooktest.Must(t, spoil(r))
			r.put(t, first)
			if text, err := os.ReadFile(victim); err != nil || string(text) != "mine" {
				t.Errorf("a file outside is %q, %v", text, err)
			}
			if left, err := os.ReadDir(filepath.Dir(victim)); err != nil || len(left) != 1 {
				t.Errorf("beside it are %v, %v", left, err)
			}
		})
	}
}

// The leftovers of a killed process are removed, and nothing that is in use.
func TestSweep(t *testing.T) {
	r := newRoomTest(t, first)
	for _, left := range []string{newPrefix + "x", oldPrefix + "1-x", sparePrefix + "0-x"} {
		hooktest.Must(t, first.Write(filepath.Join(r.dir, left)))
	}
	for range 3 {
		r.put(t, first)
		hooktest.Must(t, r.Sweep())
	}
	entries, err := os.ReadDir(r.dir)
	hooktest.Must(t, err)
	count := map[string]int{}
	for _, e := range entries {
		kind, _, _ := strings.Cut(e.Name(), "-")
		if e.IsDir() {
			count[kind]++
		}
	}
	if want := map[string]int{".spare": 1, "3": 1, "4": 1}; fmt.Sprint(count) != fmt.Sprint(want) {
		t.Errorf("folders: %v, want %v", count, want)
	}
}

// A copy is in force elsewhere, without the files that only this home needs.
func TestCopy(t *testing.T) {
	r := newRoomTest(t, first)
	r.put(t, first)
	to := NewHome(filepath.Join(t.TempDir(), "to"))
	hooktest.Must(t, r.Copy(to))
	if got := inForce(t, to); got != 2 {
		t.Errorf("%d is in force in the copy", got)
	}
	if dirs, err := filepath.Glob(filepath.Join(to.dir, "*", "hooks")); err != nil || len(dirs) != 1 {
		t.Errorf("the copy has %q, %v", dirs, err)
	}
	damaged := filepath.Join(to.dir, filepath.Base(mustCurrent(t, to).Dir), "shared")
	hooktest.Must(t, os.WriteFile(damaged, []byte("x"), 0o600))
	if differed, err := to.Repair(); err != nil || differed != damaged {
		t.Errorf("repaired %q, %v", differed, err)
	}
	if err := NewHome(t.TempDir()).Copy(NewHome(filepath.Join(t.TempDir(), "none"))); err != nil {
		t.Error(err)
	}
}

func mustCurrent(t *testing.T, h Home) Current {
	t.Helper()
	c, _, err := h.Current()
	hooktest.Must(t, err)
	return c
}
