package docs

import (
	"path/filepath"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// Below hookd serve, whose own executable only root may read, it lets an ordinary call pass,
// and keeps the programs that run and the home that is used, wherever they are.
func TestSelfGuardKeepsWhatRuns(t *testing.T) {
	home := newHome(t)
	install(t, home, "self-guard", nil)
	h := start(t, home)
	bin := hooktest.Programs(t)
	for line, want := range map[string]bool{
		"ls":                                                 true,
		"ls -l /proc/1/exe":                                  true,
		"cat /proc/1/exe":                                    true,
		"rm -r '" + home + "/project'":                       true,
		"rm '" + bin + "/hookd-bridge'":                      false,
		"cd '" + bin + "'; echo > hookd":                     false,
		"mv '" + bin + "' '" + bin + ".1'":                   false,
		"rm -r '" + home + "/hooks'":                         false,
		"rm -rf '" + home + "'":                              false,
		"echo > '" + filepath.Join(home, "hookd.yaml") + "'": false,
		"rm '" + home + "'/hookd.db*":                        false,
	} {
		v := h.send(event{claude, "PreToolUse", map[string]any{
			"session_id": "s", "cwd": "/tmp", "tool_name": "Bash", "tool_input": map[string]any{"command": line},
		}}).Verdict
		if v.Allowed != want || want && v.PermissionDecision != "" {
			t.Errorf("%s: allowed is %v, %q, %s; want %v", line, v.Allowed, v.PermissionDecision, v.Message, want)
		}
	}
}
