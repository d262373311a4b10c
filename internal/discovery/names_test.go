package discovery

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/hooks/hook"
)

// Hooks of different files that have one name are told apart by their files, both
// of them: a person's word on the name from when one had it is about neither.
func TestHooksOfDifferentFilesAreToldApart(t *testing.T) {
	a := newAsking(t)
	dir := filepath.Dir(a.opts.Root)
	a.opts.Approved = nil
	a.opts.Files = nil
	for _, pattern := range []string{"*/*.txt", "*.txt"} {
		a.opts.Files = append(a.opts.Files, FilePlace{Type: "list", Pattern: filepath.Join(dir, pattern), Parse: readList})
	}
	names := func(want string) *hook.Snapshot {
		t.Helper()
		a.last = Scan(a.opts, a.last)
		if got := strings.ReplaceAll(states(a.last), dir, "DIR"); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
		for _, e := range a.last.Entries {
			if e.Hook != nil && e.Hook.Name != e.Name {
				t.Errorf("the hook of %s is called %s", e.Name, e.Hook.Name)
			}
		}
		return a.last
	}
	one := names("guard=active one=active two=active")
	a.write("x/team.txt", "two=true\nguard=true\n")
	names("guard=active two@team.txt=active guard@team.txt=active one=active two@agents.txt=active")
	if got := states(one); got != "guard=active one=active two=active" || one.Entries[2].Hook.Name != "two" {
		t.Errorf("what was published is now %s", got)
	}
	a.write("y/team.txt", "two=true\n")
	names("guard=active two@DIR/x/team.txt=active guard@team.txt=active two@DIR/y/team.txt=active one=active " +
		"two@agents.txt=active")
	for _, gone := range []string{"x", "y"} {
		if err := os.RemoveAll(filepath.Join(dir, gone)); err != nil {
			t.Fatal(err)
		}
	}
	names("guard=active one=active two=active")
}

// Under reload.mode: ask a hook waits under the name that tells it apart, and that
// is the name to type.
func TestAHookThatWaitsIsToldApart(t *testing.T) {
	a := newAsking(t)
	dir := filepath.Dir(a.opts.Root)
	a.allow("guard")
	a.allow("one")
	a.allow("two")
	a.opts.Files = append(a.opts.Files, FilePlace{Type: "list", Pattern: filepath.Join(dir, "more.txt"), Parse: readList})
	a.write("more.txt", "two=false\n")
	e, told := a.scan("two@more.txt"), describe(a.last)
	if e.State != hook.Waiting || e.Waits == nil || e.Waits.Name != e.Name || !strings.Contains(told, "hookd allow two@more.txt") {
		t.Errorf("got %+v\n%s", e, told)
	}
	if e := a.scan("two@agents.txt"); e.State != hook.Active {
		t.Errorf("got %+v", e)
	}
	a.allow("two@more.txt")
	if e := a.scan("two@more.txt"); e.State != hook.Active {
		t.Errorf("allowed, and it is %+v", e)
	}
	a.restart()
	if e := a.scan("two@more.txt"); e.State != hook.Active {
		t.Errorf("after a restart it is %+v", e)
	}
}
