package daemon

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/hooks/builtin/shadow"
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
	c := config.Default(home)
	r, err := shadow.Open(t.Context(), c.DataDir(), repo, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := r.List(t.Context())
	if err != nil || len(list) != 4 {
		t.Errorf("checkpoints %+v, %v; want one of each pair", list, err)
	}
}
