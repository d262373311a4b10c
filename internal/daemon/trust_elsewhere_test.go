package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// A program that a docker-agent hook names by a relative path is judged in the directory of each
// event: the same hook runs in one and is refused in another.
func TestWhatAnEventsDirectoryHas(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "agent.yaml"), `agents:
  root:
    hooks:
      before_compaction:
        - {type: command, command: ./check.sh}
        - {type: command, command: check.sh, env: {PATH: /usr/bin:/bin, BASH_ENV: ./rc}}
`, 0o644)
	h := start(t, newHome(t), func(c *config.Config) {
		c.Sources = []config.Source{{Type: "docker-agent", Path: filepath.Join(dir, "agent.yaml")}}
	})
	for name, tt := range map[string]struct {
		mode    os.FileMode
		file    string
		refused bool
	}{
		"own": {0o755, "check.sh", false}, "open": {0o777, "check.sh", true}, "open rc": {0o666, "rc", true},
	} {
		cwd := filepath.Join(dir, name)
		hooktest.Must(t, os.Mkdir(cwd, 0o755))
		for file, mode := range map[string]os.FileMode{"check.sh": 0o755, "rc": 0o644} {
			writeFile(t, filepath.Join(cwd, file), "#!/bin/sh\n", mode)
		}
		hooktest.Must(t, os.Chmod(filepath.Join(cwd, tt.file), tt.mode))
		a := h.emit(fmt.Sprintf(`{"event":"before_compaction","wait":true,"cwd":%q}`, cwd))
		refused := 0
		for _, r := range a.Runs {
			if r.Result == client.ResultSpawnError && strings.Contains(r.Error, "is writable by every user") {
				refused++
			}
		}
		if (refused > 0) != tt.refused {
			t.Errorf("%s: runs %+v", name, a.Runs)
		}
	}
}

// A program that hookd.yaml names for agents, and a file of agents, must not be open
// to changes of others.
func TestAgentsThatOthersCanChange(t *testing.T) {
	runner := filepath.Join(t.TempDir(), "runner.sh")
	writeFile(t, runner, "#!/bin/sh\n", 0o755)
	h, file := startAgent(t, "  - {event: onStop, action: agent, agent: other, prompt: go}\n",
		map[string]config.Agent{"default": {Command: []string{"sh", "-e", runner}, Prompt: "stdin"}})
	stop := `{"event":"onStop","wait":true,"agent_name":"coder"}`
	if a := h.emit(stop); a.Runs[0].Result != client.ResultOK {
		t.Fatalf("runs %+v", a.Runs)
	}
	hooktest.Must(t, os.Chmod(runner, 0o777))
	if a := h.emit(stop); a.Runs[0].Result != client.ResultSpawnError || !strings.Contains(a.Runs[0].Error, "chmod go-w "+runner) {
		t.Errorf("an open program of an agent: runs %+v", a.Runs)
	}
	hooktest.Must(t, os.Chmod(runner, 0o755))
	hooktest.Must(t, os.Chmod(file, 0o666))
	if a := h.emit(stop); a.Runs[0].Result != client.ResultSpawnError || !strings.Contains(a.Runs[0].Error, "chmod go-w "+file) {
		t.Errorf("an open AGENT.md: runs %+v", a.Runs)
	}
}
