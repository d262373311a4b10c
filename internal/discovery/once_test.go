package discovery

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hookd/hookd/internal/hooks/hook"
)

// A file that is saved while it is read is read again: the sum is of the bytes that
// were parsed, so the newer text is a change.
func TestASaveWhileAFileIsRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "agents.txt")
	save := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	save("one=old")
	saves := 0
	opts := Options{Root: t.TempDir(), Files: []FilePlace{{Type: "list", Pattern: file, Parse: func(path string, text []byte) ([]*hook.Hook, []hook.Problem) {
		if saves++; saves == 1 {
			save("one=new")
		}
		hooks, problems := readList(path, text)
		for _, h := range hooks {
			h.Definition = "" // the whole file is it
		}
		return hooks, problems
	}}}}
	first := Scan(opts, nil)
	if h := first.Entries[0].Hook; h.ScriptText != "old" || string(h.Text) != "one=old" {
		t.Fatalf("read %q, kept %q", h.ScriptText, h.Text)
	}
	if h := Scan(opts, first).Entries[0].Hook; h.ScriptText != "new" || string(h.Text) != "one=new" {
		t.Errorf("after the save %q is in force, kept is %q", h.ScriptText, h.Text)
	}
}
