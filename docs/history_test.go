package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// The commands of the document print the text that it says.
func TestHistoryBlocks(t *testing.T) {
	u := newUser(t)
	says := map[string]string{
		"hookd dev dead list | grep": "post-status",
		"hookd log output":           "no route to host",
		"hookd dev dead retry 1":     "retried: post-status",
		"hookd replay --dry-run":     "would run post-status",
		"hookd replay --hook":        "runs post-status",
		"FROM runs GROUP BY hook":    "post-status|",
	}
	list := snippets(t, "reference/history.md")
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Log("SKIP-TOOL sqlite3: the backup is not tried")
		delete(says, "FROM runs GROUP BY hook")
		list = slices.DeleteFunc(list, func(s snippet) bool { return strings.HasPrefix(s.text, "sqlite3") })
	}
	u.prints(list, says)
	hooktest.Until(t, "the replayed event is posted", func() bool {
		text, _ := os.ReadFile(filepath.Join(u.home, "posted"))
		return strings.Count(string(text), `"agent_id":"a1"`) == 2
	})
}
