package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/wire"
)

// A call over the socket: kept before it, settled after it, listed, taken back, and on the record.
func TestUndoOverTheSocket(t *testing.T) {
	home, work := newHome(t), t.TempDir()
	guard := filepath.Join(home, "hooks", "g", "HOOK.yaml")
	writeFile(t, guard, "name: g\nevents: [pre_tool_use]\ntype: script\nscript: 'true'\n", 0o644)
	h := start(t, home, func(c *config.Config) { c.Undo.Wait = hooktest.Patience })
	ask := func(method, path, body string, to any) int {
		t.Helper()
		status, text := h.request(method, path, body, nil)
		if to != nil && status == 200 {
			if err := json.Unmarshal([]byte(text), to); err != nil {
				t.Fatalf("%s %s: %v: %s", method, path, err, text)
			}
		}
		return status
	}
	emit := func(event, id, line string) client.Answer {
		t.Helper()
		return h.emit(fmt.Sprintf(`{"event":%q,"dialect":"claude-code","wait":true,"session_id":"s1","cwd":%q,"data":{"tool_name":"Bash",`+
			`"tool_use_id":%q,"tool_input":{"command":%q}}}`, event, work, id, line))
	}
	victim := filepath.Join(work, "notes")
	writeFile(t, victim, "mine", 0o640)
	dump := filepath.Join(home, "dump.sql")
	writeFile(t, dump, "rows", 0o600)
	if status := ask("POST", wire.PathUndo+"/toolu_one/dumps", fmt.Sprintf(`{"path":%q,"restore":"psql < {}"}`, dump), nil); status != 200 {
		t.Errorf("a dump: %d", status)
	}
	line := "rm notes; dropdb shop"
	a := emit("PreToolUse", "toolu_one", line)
	var page wire.Decisions
	h.until("the decision is on record", func() bool {
		return ask("GET", wire.PathDecisions+"?session=s1", "", &page) == 200 && len(page.Decisions) > 0
	})
	if d := page.Decisions[0]; d.Kept == nil || d.Kept.Word != "part" || d.Kept.Files != 1 || !strings.Contains(fmt.Sprint(d.Kept.Lost), "database") {
		t.Errorf("the record says %+v before the call", d.Kept)
	}
	if err := os.Remove(victim); err != nil {
		t.Fatal(err)
	}
	emit("PostToolUse", "toolu_one", line)
	var list wire.UndoList
	h.until("the call is settled", func() bool {
		list = wire.UndoList{}
		return ask("GET", wire.PathUndo+"?session=s1", "", &list) == 200 && len(list.Calls) == 1 && list.Calls[0].Settled
	})
	if c := list.Calls[0]; c.ID != a.EventID || c.Files != 1 || len(c.Dumps) != 1 {
		t.Errorf("the list has %+v", c)
	}
	var done wire.UndoAnswer
	body := fmt.Sprintf(`{"calls":[%q],"preview":true}`, a.EventID)
	if ask("POST", wire.PathUndo, body, &done) != 200 || done.Count[wire.UndoBack] != 1 {
		t.Errorf("preview: %+v", done)
	}
	if _, err := os.Stat(victim); err == nil {
		t.Error("the preview brought it back")
	}
	if ask("POST", wire.PathUndo, strings.Replace(body, "true", "false", 1), &done) != 200 || done.Word != wire.UndoPart {
		t.Errorf("undo: %+v", done)
	}
	if text, err := os.ReadFile(victim); string(text) != "mine" {
		t.Errorf("the file is %q, %v", text, err)
	}
	var purged wire.UndoPurged
	gone := func() bool {
		t.Helper()
		if page = (wire.Decisions{}); ask("GET", wire.PathDecisions+"?session=s1", "", &page) != 200 || len(page.Decisions) == 0 {
			t.Fatal("the decision is not on record")
		}
		e, err := h.client.Event(t.Context(), a.EventID)
		hooktest.Must(t, err)
		d := page.Decisions[len(page.Decisions)-1]
		if d.Kept.Gone != e.Decision.Kept.Gone {
			t.Errorf("the list says gone: %v, the event %v", d.Kept.Gone, e.Decision.Kept.Gone)
		}
		return d.Kept.Gone
	}
	if gone() {
		t.Error("what is in the vault is said to be gone")
	}
	if ask("DELETE", wire.PathUndo+"/all", "", &purged) != 200 || purged.Calls != 2 {
		t.Errorf("purge: %+v, want the call and its undo", purged)
	}
	if !gone() {
		t.Error("the decision offers files that were purged")
	}
}
