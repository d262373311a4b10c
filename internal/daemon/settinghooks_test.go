package daemon

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/record/undo"
	"github.com/hookd/hookd/wire"
)

// With snapshot: true every agent's turns are recorded, whatever its dialect
// calls them.
func TestTheSettingSnapshot(t *testing.T) {
	need(t, "git")
	home, repo := newHome(t), t.TempDir()
	if out, err := exec.Command("git", "-C", repo, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	h := start(t, home, func(c *config.Config) { c.Snapshot, c.TimeoutBuiltin = true, time.Minute })
	emit := func(event, session string) {
		a := h.emit(
			`{"event":"` + event + `","wait":true,"session_id":"` + session + `","cwd":"` + repo + `","data":{"tool_name":"Write","tool_use_id":"t1"}}`,
		)
		if len(a.Runs) != 1 || a.Runs[0].Result != "ok" || a.Verdict != nil && !a.Verdict.Allowed {
			t.Fatalf("%s: runs %+v, verdict %+v", event, a.Runs, a.Verdict)
		}
	}
	for i, names := range [][2]string{{"UserPromptSubmit", "Stop"}, {"PreToolUse", "PostToolUse"}, {"turn_start", "turn_end"}, {"BeforeTool", "AfterTool"}} {
		session := "s" + string(rune('0'+i))
		emit(names[0], session)
		writeFile(t, filepath.Join(repo, "made-in-"+session), "x", 0o600)
		emit(names[1], session)
	}
	var list wire.UndoList
	_, text := h.request("GET", wire.PathUndo, "", nil)
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if steps := slices.DeleteFunc(list.Calls, func(c wire.UndoCall) bool { return c.Tool != undo.Step || !c.Settled }); len(steps) != 4 {
		t.Errorf("steps %+v; want one of each pair", steps)
	}
}
