package discovery

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/hookd/hookd/internal/contract/dialect" // fills the contract table
	"github.com/hookd/hookd/internal/hooks/hook"
)

// asking is a hooks directory and a file of hooks, read with reload.mode: ask
// by one daemon after another.
type asking struct {
	*testing.T
	opts      Options
	approvals Approvals
	last      *hook.Snapshot
}

func newAsking(t *testing.T) *asking {
	dir := t.TempDir()
	a := &asking{T: t, approvals: NewApprovals(filepath.Join(dir, "allowed"))}
	file := filepath.Join(dir, "agents.txt")
	a.opts = Options{Root: filepath.Join(dir, "hooks"), Approved: a.approvals.All, Parsers: map[string]Parse{"list": readList}, Files: []FilePlace{{Type: "list", Pattern: file, Parse: readList}}}
	a.write("hooks/guard/HOOK.yaml", "name: guard\nevents: [pre_tool_use]\ncommand: ./run.sh\n")
	a.write("hooks/guard/run.sh", "#!/bin/sh\nexit 0\n")
	a.write("agents.txt", "one=true\ntwo=true\n")
	return a
}

// readList reads a file of hooks, one name=script a line.
func readList(path string, text []byte) (hooks []*hook.Hook, problems []hook.Problem) {
	for line := range strings.Lines(string(text)) {
		name, script, _ := strings.Cut(strings.TrimSpace(line), "=")
		hooks = append(hooks, &hook.Hook{ID: path + "#" + name, Name: name, File: path, Source: hook.Source{Type: "list", Path: path},
			Type: hook.Script, Shell: "/bin/sh", ScriptText: script, Definition: line, Enabled: true})
	}
	return hooks, nil
}

func (a *asking) write(name, text string) {
	a.Helper()
	path := filepath.Join(filepath.Dir(a.opts.Root), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		a.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		a.Fatal(err)
	}
}

// scan reads everything again and returns the entry of a hook.
func (a *asking) scan(name string) hook.Entry {
	a.Helper()
	a.last = Scan(a.opts, a.last)
	for _, e := range a.last.Entries {
		if e.Name == name {
			return e
		}
	}
	a.Fatalf("no %s among %+v", name, a.last.Entries)
	return hook.Entry{}
}

func (a *asking) restart() { a.last = nil }

func (a *asking) allow(name string) {
	a.Helper()
	e := a.scan(name)
	if e.Waits == nil {
		a.Fatalf("%s does not wait: %+v", name, e)
	}
	p := Approve(e.Waits)
	p.By, p.At = "me", time.Now()
	if err := a.approvals.Put(p); err != nil {
		a.Fatal(err)
	}
	if e := a.scan(name); e.State != hook.Active || e.Waits != nil || e.Provisional {
		a.Errorf("%s is allowed: %+v", name, e)
	}
}

// inForce checks the version that runs of a hook that waits: nothing, its definition, or a
// refusal.
func (a *asking) inForce(e hook.Entry, want string) {
	a.Helper()
	got := "nothing"
	switch {
	case e.Hook != nil && len(e.Hook.Seal.Refusals()) > 0:
		got = "refused"
	case e.Hook != nil && e.Hook.Command != "":
		got = e.Hook.Patterns[0].Text
	case e.Hook != nil:
		got = e.Hook.ScriptText
	}
	if e.State != hook.Waiting || got != want {
		a.Errorf("%s is %s, in force %s; want it waiting, in force %s", e.Name, e.State, got, want)
	}
}

func TestAskFolders(t *testing.T) {
	a := newAsking(t)
	a.inForce(a.scan("guard"), "nothing")
	a.allow("guard")
	a.restart()
	if e := a.scan("guard"); e.State != hook.Active {
		t.Errorf("allowed, and after a restart %s", e.State)
	}

	a.write("hooks/guard/HOOK.yaml", "name: guard\nevents: [stop]\ncommand: ./run.sh\n")
	a.inForce(a.scan("guard"), "pre_tool_use")
	a.restart()
	a.inForce(a.scan("guard"), "pre_tool_use") // from what was stored
	a.inForce(a.scan("guard"), "pre_tool_use")

	a.write("hooks/guard/run.sh", "#!/bin/sh\nexit 1\n")
	a.inForce(a.scan("guard"), "refused") // that program is gone
	a.restart()
	a.inForce(a.scan("guard"), "refused")
	a.write("hooks/guard/run.sh", "#!/bin/sh\nexit 0\n")
	a.inForce(a.scan("guard"), "pre_tool_use") // and is back

	a.write("hooks/guard/HOOK.yaml", "name: other\nevents: [stop]\ncommand: ./run.sh\n")
	a.inForce(a.scan("guard"), "pre_tool_use") // a new name is a change of the hook, too
	a.write("hooks/guard/HOOK.yaml", "broken: [\n")
	if e := a.scan("guard"); e.State != hook.Degraded || e.Hook.Patterns[0].Text != "pre_tool_use" {
		t.Errorf("broken: %+v, want the last good version", e)
	}
	a.write("hooks/guard/HOOK.yaml", "name: guard\nevents: [stop]\ncommand: ./run.sh\n")
	a.allow("guard")
}

// While a change is not allowed, the version that was allowed runs.
func TestAnApprovalThatIsTakenBack(t *testing.T) {
	a := newAsking(t)
	a.scan("guard")
	a.allow("guard")
	if err := os.RemoveAll(filepath.Join(filepath.Dir(a.opts.Root), "allowed")); err != nil {
		t.Fatal(err)
	}
	a.inForce(a.scan("guard"), "pre_tool_use")
	a.write("hooks/guard/run.sh", "#!/bin/sh\nexit 0 # whatever\n")
	a.inForce(a.scan("guard"), "refused")
	a.restart()
	a.inForce(a.scan("guard"), "nothing")
}

func TestAskFilesOfHooks(t *testing.T) {
	a := newAsking(t)
	a.inForce(a.scan("one"), "nothing")
	a.allow("one")
	a.inForce(a.scan("two"), "nothing")
	a.allow("two")
	a.write("agents.txt", "one=true\ntwo=false\nthree=true\n")
	if e := a.scan("one"); e.State != hook.Active {
		t.Errorf("one has not changed and is %s", e.State)
	}
	a.inForce(a.scan("two"), "true")
	a.inForce(a.scan("three"), "nothing")
	a.restart()
	a.inForce(a.scan("two"), "true") // it was allowed: it must not vanish
	a.inForce(a.scan("three"), "nothing")
	a.allow("two")
}

// An approval counts only if a person certainly gave it for that hook.
func TestApprovals(t *testing.T) {
	a := newAsking(t)
	a.allow("guard")
	file := a.approvals.file("guard")
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v; want mode 0600", info, err)
	}
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		do   func() error
	}{
		{"open", func() error { return os.Chmod(file, 0o666) }},
		{"cut-off", func() error { return os.WriteFile(file, good[:len(good)/2], 0o600) }},
		{"of-another-hook", func() error {
			return os.WriteFile(file, []byte(strings.Replace(string(good), `"guard"`, `"other"`, 1)), 0o600)
		}},
		{"gone", func() error { return os.Remove(file) }},
	} {
		if err := tt.do(); err != nil {
			t.Fatal(err)
		}
		if _, ok := a.approvals.Get("guard"); ok {
			t.Errorf("%s: it counts", tt.name)
		}
		os.Remove(file)
		if err := os.WriteFile(file, good, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, ok := a.approvals.Get("guard"); !ok || got.By != "me" || len(got.Texts) != 2 {
			t.Errorf("a good one does not count: %+v", got)
		}
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".new-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A refused new version does not take the place of a good one, and a hook that
// was never accepted is no last good version.
func TestRefusedVersions(t *testing.T) {
	a := newAsking(t)
	a.opts.Approved = nil
	if e := a.scan("guard"); e.State != hook.Active {
		t.Fatalf("at first %+v", e)
	}
	a.write("hooks/guard/open.sh", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(a.opts.Root, "guard", "open.sh"), 0o777); err != nil {
		t.Fatal(err)
	}
	a.write("hooks/guard/HOOK.yaml", "name: guard\nevents: [pre_tool_use]\ncommand: ./open.sh\n")
	if e := a.scan("guard"); e.State != hook.Degraded || !strings.HasSuffix(e.Hook.Path, "run.sh") || len(e.Hook.Seal.Refusals()) > 0 {
		t.Errorf("%s %+v, want the version before to run", e.State, e.Hook)
	}
	a.restart()
	if e := a.scan("guard"); e.State != hook.Refused || !e.Provisional || len(a.last.Runnable()) != 3 {
		t.Errorf("%+v, want it refused and matched", e)
	}
	a.write("hooks/guard/HOOK.yaml", "broken: [\n")
	if e := a.scan("guard"); e.State != hook.Rejected || e.Hook != nil {
		t.Errorf("%+v, want it rejected: it never was good", e)
	}
}
