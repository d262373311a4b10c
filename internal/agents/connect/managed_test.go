package connect

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The settings for all users are written like the user's own, readable by all, and taken
// back byte for byte.
func TestManaged(t *testing.T) {
	for agent, before := range map[string]string{
		"claude-code": "{\n  // ours\n  \"allowManagedHooksOnly\": true\n}\n",
		"codex":       "",
		"gemini-cli":  "{\"hooksConfig\": {\"enabled\": true}}",
		"cursor":      "{\"version\": 1, \"hooks\": {\"stop\": [{\"command\": \"x\"}]}}\n",
	} {
		t.Run(agent, func(t *testing.T) {
			o, _ := options(t, agent, nil)
			o.Managed, o.root = true, t.TempDir()
			path, err := find(agent).path(o)
			if err != nil || !strings.HasPrefix(path, o.root+"/") {
				t.Fatal(path, err)
			}
			if before != "" {
				write(t, path, []byte(before))
			}
			plan, err := Connect(o)
			if err == nil {
				err = plan.Apply()
			}
			if err != nil {
				t.Fatal(err)
			}
			text := readOrNil(t, path)
			if !bytes.Contains(text, []byte(bridge+" "+agent)) || bytes.Contains(text, []byte("--socket")) {
				t.Errorf("written: %s", text)
			}
			if info, err := os.Stat(path); before == "" && (err != nil || info.Mode().Perm() != 0o644) {
				t.Errorf("users cannot read it: %v, %v", info.Mode(), err)
			}
			if again, err := Connect(o); err != nil || len(again.Changes) > 0 {
				t.Errorf("again: %+v, %v", again.Changes, err)
			}
			plan, err = Disconnect(o)
			if err == nil {
				err = plan.Apply()
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := readOrNil(t, path); string(got) != before {
				t.Errorf("taken back: %q, want %q", got, before)
			}
			rest, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
			if before == "" && len(rest) > 0 {
				t.Errorf("left behind: %q", rest)
			}
		})
	}
	o, _ := options(t, "cline", nil)
	o.Managed, o.root = true, t.TempDir()
	if _, err := Connect(o); err == nil || !strings.Contains(err.Error(), "no settings that root writes") {
		t.Errorf("an agent without such settings: %v", err)
	}
}
