package docs

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/dialect"
	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooktest"
)

// self-guard knows where each agent that hookd connects keeps its hooks.
func TestSelfGuardKnowsAgents(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Where agents keep their hooks, as `hookd connect` knows it. Written by go test ./docs -run TestSelfGuardKnowsAgents -update.\n")
	count := 0
	for _, d := range events.Dialects() {
		s := dialect.Settings(d)
		if s == nil || s.Dir == "" {
			continue // its file is named by the user, or it has none
		}
		count++
		b.WriteString(section(string(d), s))
	}
	if count < 12 {
		t.Errorf("only %d agents have settings", count)
	}
	file := filepath.Join("gallery", "self-guard", "rules", "agents.ini")
	if *update {
		hooktest.Write(t, file, b.String(), 0o644)
	}
	if read(t, file) != b.String() {
		t.Errorf("%s is old: go test ./docs -run TestSelfGuardKnowsAgents -update", file)
	}
}

func TestSelfGuard(t *testing.T) {
	hooktest.NeedTool(t, "python3")
	cases(t, "self-guard", func(line string) (string, map[string]any) {
		return "Bash", map[string]any{"command": line}
	})
	w := talk(t, "self-guard", "/home/me")
	const settings = "/home/me/.claude/settings.json"
	for _, tt := range []struct {
		tool  string
		input map[string]any
		want  string
	}{
		{"Write", map[string]any{"file_path": settings, "content": "{}"}, "deny"},
		{"Write", map[string]any{"file_path": "../.claude/settings.json", "content": "{}"}, "deny"},
		{"Write", map[string]any{"file_path": "~/.claude/settings.json", "content": "{}"}, "deny"},
		{"Edit", map[string]any{"file_path": "/p/.claude/settings.local.json", "old_string": "a", "new_string": "b"}, "deny"},
		{"Edit", map[string]any{"file_path": "a\n" + settings, "file_paths": []any{"a", settings}}, "deny"},
		{"MultiEdit", map[string]any{"file_path": "/home/me/.librefang/hooks/a/HOOK.yaml", "edits": []any{}}, "deny"},
		{"mcp__fs__write_file", map[string]any{"path": settings, "content": "{}"}, "deny"},
		{"mcp__fs__move_file", map[string]any{"source": "x", "destination": settings}, "deny"},
		{"mcp__shell__run", map[string]any{"command": "hookd stop"}, "deny"},
		{"Read", map[string]any{"file_path": settings}, ""},
		{"Grep", map[string]any{"pattern": "hooks", "path": "/home/me/.claude"}, ""},
		{"mcp__fs__read_file", map[string]any{"path": settings}, ""},
		{"Write", map[string]any{"file_path": "/p/notes.md", "content": "rm " + settings + "; hookd stop"}, ""},
		{"Write", map[string]any{"file_path": "/p/settings.json", "content": "{}"}, ""},
		{"Bash", map[string]any{"command": "ls"}, ""},
		{"Task", map[string]any{"prompt": "hookd stop", "description": settings}, ""},
	} {
		if got := w.judge("/home/me/project", tt.tool, tt.input); got.decision != tt.want {
			t.Errorf("%s %v: %s %s, want %q", tt.tool, tt.input, got.decision, got.reason, tt.want)
		}
	}
}

// Links do not hide a file: neither one that is there, nor a second name of it.
func TestSelfGuardFollowsLinks(t *testing.T) {
	hooktest.NeedTool(t, "python3")
	home := t.TempDir()
	settings := filepath.Join(home, ".claude", "settings.json")
	hooktest.Write(t, settings, "{}", 0o600)
	project := filepath.Join(home, "project")
	hooktest.Must(t, os.Mkdir(project, 0o755))
	hooktest.Must(t, os.Symlink(settings, filepath.Join(project, "soft")))
	hooktest.Must(t, os.Symlink(filepath.Dir(settings), filepath.Join(project, "folder")))
	hooktest.Must(t, os.Link(settings, filepath.Join(project, "hard")))
	hooktest.Write(t, filepath.Join(project, "mine"), "{}", 0o600)
	hooktest.Must(t, os.Link(filepath.Join(project, "mine"), filepath.Join(project, "mine too")))
	w := talk(t, "self-guard", home)
	for name, want := range map[string]string{"soft": "deny", "folder/settings.json": "deny", "hard": "deny", "mine": "", "mine too": ""} {
		if got := w.judge(project, "Write", map[string]any{"file_path": name, "content": "{}"}); got.decision != want {
			t.Errorf("write %s: %s %s, want %q", name, got.decision, got.reason, want)
		}
		if got := w.judge(project, "Bash", map[string]any{"command": "echo > '" + name + "'"}); got.decision != want {
			t.Errorf("echo > %s: %s %s, want %q", name, got.decision, got.reason, want)
		}
	}
}

// section is what self-guard is to know of one agent.
func section(name string, s *neutral.Settings) string {
	folder := s.Files != "" || s.OwnDir
	var paths []string
	add := func(where, file string) {
		p := where + path.Clean(file)
		if folder && path.Ext(p) == "" {
			p += "/"
		}
		paths = append(paths, p)
	}
	add("~/", path.Join(s.Dir, s.File))
	if s.Dir != ".config" && strings.HasPrefix(s.Dir, ".") {
		add("**/", path.Join(s.Dir, s.File)) // a home that is not this user's, or that a variable names
	}
	if s.Project != "" && s.Project != path.Join(s.Dir, s.File) {
		add("**/", s.Project)
	}
	if s.Other != nil {
		paths = append(paths, "~/"+path.Join(s.Dir, s.Other.Name))
	}
	sets := []string{s.DirEnv, s.HomeEnv}
	if s.Entry != nil {
		sets = append(sets, s.Entry.Env)
		if s.Entry.File != "" {
			paths = append(paths, "~/"+path.Join(s.Dir, s.Entry.File))
		}
	}
	if s.Tools != nil { // hookd may be one of its MCP servers
		at := "~/" + path.Join(s.Dir, s.Tools.Servers.File)
		if s.Tools.Servers.InHome {
			at = "~/" + s.Tools.Servers.File
		}
		if !slices.Contains(paths, at) {
			paths = append(paths, at)
		}
	}
	file := strings.TrimSuffix(paths[0], "/")
	text := fmt.Sprintf("\n[%s]\npath    = %s\n", name, strings.Join(paths, " "))
	if names := strings.Fields(strings.Join(sets, " ")); len(names) > 0 {
		text += "sets    = " + strings.Join(names, " ") + "\n"
	}
	if s.Programs != "" {
		text += "command = " + s.Programs + "\n"
	}
	return text + fmt.Sprintf("catches = echo x > %s\n          rm -rf %s\npasses  = ls -l %s\n", file, path.Dir(file), file)
}
