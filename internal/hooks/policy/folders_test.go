package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/hooks/pack"
)

// homeTest is a home with a bundle in force.
type homeTest struct {
	signer
	Home
	source   string
	sequence uint64
}

func newHomeTest(t *testing.T, c pack.Content) *homeTest {
	t.Helper()
	r := &homeTest{newSigner(t), NewHome(t.TempDir()), filepath.Join(t.TempDir(), "acme.bundle"), 0}
	r.put(t, c)
	hooktest.Must(t, r.Sweep())
	return r
}

// put puts content in force.
func (r *homeTest) put(t *testing.T, c pack.Content) Current {
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

var first = pack.Content{
	{Path: "hooks/a/HOOK.yaml", Data: []byte("a")}, {Path: "hooks/a/run", Exec: true, Data: []byte("a long program")},
	{Path: "hooks/b/HOOK.yaml", Data: []byte("b")}, {Path: "hooks/b/lib/x/y", Data: []byte("y")},
	{Path: "hooks/c/HOOK.yaml", Data: []byte("c")}, {Path: "shared", Data: []byte("s")},
}

// The leftovers of a killed process are removed, and nothing that is in use.
func TestSweep(t *testing.T) {
	r := newHomeTest(t, first)
	for _, left := range []string{".new-x", ".old-1-x"} {
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
	if want := map[string]int{"3": 1, "4": 1}; fmt.Sprint(count) != fmt.Sprint(want) {
		t.Errorf("folders: %v, want %v", count, want)
	}
}

// A copy is in force elsewhere, without the files that only this home needs.
func TestCopy(t *testing.T) {
	r := newHomeTest(t, first)
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
