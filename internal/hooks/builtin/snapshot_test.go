package builtin

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/builtin/shadow"
)

// snapshotBench sends a session's events to the built-in and reads the content of
// the shadow afterwards.
type snapshotBench struct {
	*testing.T
	cwd, data string
}

func newSnapshotBench(t *testing.T) snapshotBench {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIP-TOOL git: not installed")
	}
	b := snapshotBench{t, t.TempDir(), filepath.Join(t.TempDir(), "data")}
	if out, err := exec.Command("git", "-C", b.cwd, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	b.write("a.txt", "one\n")
	return b
}

func (b snapshotBench) write(name, text string) {
	b.Helper()
	if err := os.WriteFile(filepath.Join(b.cwd, name), []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}

// send runs the built-in; it must have no answer and nothing to log.
func (b snapshotBench) send(event, payload string) {
	b.Helper()
	c := callOf(events.For("", event), payload)
	c.Cwd, c.SessionID, c.DataDir = b.cwd, "s/1", b.data
	c.Log = func(msg string, err error) { b.Errorf("%s: %v", msg, err) }
	if out, err := snapshot.Run(b.Context(), &c); len(out) != 0 || err != nil {
		b.Fatalf("%s: got %q, %v, want nothing", event, out, err)
	}
}

func (b snapshotBench) repo() *shadow.Repo {
	b.Helper()
	r, err := shadow.Open(b.Context(), b.data, b.cwd, nil)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// notes are those of the checkpoints, oldest first.
func (b snapshotBench) notes() []string {
	b.Helper()
	list, err := b.repo().List(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	notes := []string{}
	for _, cp := range list {
		notes = append(notes, cp.Note)
	}
	return notes
}

func TestSnapshotOfATurn(t *testing.T) {
	b := newSnapshotBench(t)
	b.send("session_start", `{}`)
	b.send("turn_start", `{}`)
	b.write("a.txt", "two\n")
	b.write("b.txt", "new\n")
	b.send("turn_end", `{}`)
	b.send("turn_start", `{}`) // a last answer that changes nothing
	b.send("turn_end", `{}`)
	b.send("session_end", `{}`)
	if got := b.notes(); !slices.Equal(got, []string{"turn"}) {
		t.Fatalf("got checkpoints %q, want one turn", got)
	}
	if _, err := b.repo().Reset(t.Context(), 0, false); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(b.cwd, "a.txt")); err != nil || string(text) != "one\n" {
		t.Errorf("a.txt: got %q, %v, want one", text, err)
	}
	if _, err := os.Stat(filepath.Join(b.cwd, "b.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("b.txt: got %v, want it deleted", err)
	}
}

func TestSnapshotOfToolsInATurn(t *testing.T) {
	b := newSnapshotBench(t)
	b.send("turn_start", `{}`)
	b.send("pre_tool_use", `{"tool_name":"edit","tool_use_id":"1"}`)
	b.send("pre_tool_use", `{"tool_name":"shell","tool_use_id":"2"}`)
	b.write("a.txt", "two\n")
	b.send("post_tool_use", `{"tool_name":"edit","tool_use_id":"1"}`)
	b.send("post_tool_use", `{"tool_name":"shell","tool_use_id":"2"}`) // what edit did is not counted again
	b.send("turn_end", `{}`)
	if got := b.notes(); !slices.Equal(got, []string{"edit"}) {
		t.Errorf("got checkpoints %q, want edit alone", got)
	}
	b.write("a.txt", "three\n")
	b.send("turn_end", `{}`)
	if got := b.notes(); !slices.Equal(got, []string{"edit", "turn"}) {
		t.Errorf("got checkpoints %q, want edit, turn", got)
	}
}

func TestSnapshotIsSilentWithoutARepository(t *testing.T) {
	b := newSnapshotBench(t)
	b.cwd = t.TempDir()
	b.send("turn_start", `{}`)
	b.send("turn_end", `{}`)
	b.cwd = ""
	b.send("turn_start", `{}`)
	if _, err := os.Stat(b.data); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("data directory: got %v, want none", err)
	}
}

func TestSnapshotErrorsAreOnlyLogged(t *testing.T) {
	b := newSnapshotBench(t)
	if err := os.WriteFile(b.data, nil, 0o600); err != nil { // no directory can be made here
		t.Fatal(err)
	}
	var logged error
	c := callOf(events.LookupIn(events.DockerAgent, "turn_start"), "{}")
	c.Cwd, c.SessionID, c.DataDir, c.Log = b.cwd, "s", b.data, func(_ string, err error) { logged = err }
	if out, err := snapshot.Run(t.Context(), &c); len(out) != 0 || err != nil || logged == nil {
		t.Errorf("got %q, %v, logged %v, want only a log entry", out, err, logged)
	}
}
