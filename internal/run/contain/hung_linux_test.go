package contain

import (
	"path/filepath"
	"testing"

	"github.com/hookd/hookd/internal/base/hangfs"
	"github.com/hookd/hookd/internal/run/box"
)

// A box that begins in a folder that does not answer holds up no other box.
func TestAHungFolderHoldsUpNoOtherBox(t *testing.T) {
	w := newWorld(t)
	l := boxedLine(t, w.Box(w.call(agent, "PreToolUse", "make"), contained(box.Project), false))
	other := boxedLine(t, w.Box(w.call(agent, "PreToolUse", "make x"), contained(box.Project), false))
	m := hangfs.New(t, map[string]string{"project/file": ""})
	m.Hang()
	ended := make(chan bool)
	go func() {
		_, ok := w.Begin(l.Ticket, "make", filepath.Join(m.Dir, "project"), box.Project)
		ended <- ok
	}()
	m.Held()
	if _, ok := w.Begin(other.Ticket, "make x", w.project, box.Project); !ok {
		t.Error("another box is not approved")
	}
	m.Answer()
	if <-ended {
		t.Error("a box in another folder is approved")
	}
}
