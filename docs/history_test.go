package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The commands of the document print what it says they do.
func TestHistoryBlocks(t *testing.T) {
	u := newUser(t)
	says := map[string]string{
		"hookd dlq list | grep":   "post-status",
		"hookd logs":              "no route to host",
		"hookd dlq retry 1":       "retried: post-status",
		"hookd replay --dry-run":  "would run post-status",
		"hookd replay --hook":     "runs post-status",
		"FROM runs GROUP BY hook": "post-status|",
	}
	for _, s := range snippets(t, "history.md") {
		if _, err := exec.LookPath("sqlite3"); err != nil && strings.HasPrefix(s.text, "sqlite3") {
			t.Log("SKIP-TOOL sqlite3: the backup is not tried")
			delete(says, "FROM runs GROUP BY hook")
			continue
		}
		out := u.block(s.text)
		for part, want := range says {
			if strings.Contains(s.text, part) {
				delete(says, part)
				if !strings.Contains(out, want) {
					t.Errorf("%s\nprinted no %q:\n%s", s.text, want, out)
				}
			}
		}
	}
	for part := range says {
		t.Errorf("no block has %q", part)
	}
	until(t, "the replayed event is posted", func() bool {
		text, _ := os.ReadFile(filepath.Join(u.home, "posted"))
		return strings.Count(string(text), `"agent_id":"a1"`) == 2
	})
}
