package importer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/discovery/catalog"
)

// settings are the settings of a user, for an agent, in a home of hookd's.
func settings(t *testing.T, agent, path, text string) (Options, config.Config) {
	t.Helper()
	home := t.TempDir()
	hooktest.Write(t, filepath.Join(home, path), text, 0o600)
	c := config.Default(filepath.Join(home, ".librefang"))
	return Options{
		Connect:  connect.Options{Agent: agent, Home: home, Getenv: func(string) string { return "" }},
		HooksDir: c.HooksDir, DisabledDir: c.DisabledDir(),
	}, c
}

const claude = `{
  // comments are allowed there
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash|Write", "hooks": [
        {"type": "command", "command": "~/.claude/hooks/no-sudo.sh --strict", "timeout": 10},
        {"type": "command", "command": "/usr/bin/hookd-bridge claude-code"},
        {"type": "prompt", "prompt": "is it safe?"}
      ]},
      {"matcher": "(", "hooks": [{"type": "command", "command": "broken"}]},
      {"hooks": [{"type": "command", "command": "./scripts/check.sh"}]},
      {"hooks": [{"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/.claude/check.py"}]},
      {"hooks": [{"type": "command", "command": "say hi", "if": "Bash(git *)"}]}
    ],
    "Stop": [{"hooks": [{"type": "command", "command": "echo it's \"done\"; printf '%s' \"$HOME\"\ntrue", "async": true}]}],
    "SessionStart": [
      {"matcher": "*", "hooks": [{"type": "command", "command": "date", "args": ["+%s", "it's"]}]},
      {"matcher": "resume", "hooks": [{"type": "command", "command": "date"}]}
    ],
    "Someday": [{"hooks": [{"type": "command", "command": "x"}]}]
  }
}
`

// Each hook that can be taken over becomes a hook that hookd takes without complaint and does
// not run; everything else is named.
func TestImport(t *testing.T) {
	o, c := settings(t, "claude-code", ".claude/settings.json", claude)
	p, err := Read(o)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, h := range p.Hooks {
		names = append(names, h.Name)
	}
	if want := []string{"no-sudo", "date", "echo"}; !slices.Equal(names, want) {
		t.Fatalf("got %v, want %v", names, want)
	}
	var why []string
	for _, l := range p.Left {
		why = append(why, l.Event+": "+l.Why)
	}
	for i, want := range []string{
		`PreToolUse: it is no command, but of type "prompt"`, "PreToolUse: its matcher is no regular expression",
		"PreToolUse: it names a file in the folder", "PreToolUse: it asks for the project's folder", "PreToolUse: hookd has nothing for its `if`",
		`SessionStart: its matcher "resume" is not about a tool`, "Someday: hookd does not know this event",
	} {
		if i >= len(why) || !strings.HasPrefix(why[i], want) {
			t.Errorf("left %q, want %q as number %d", why, want, i)
		}
	}
	if _, err := os.Stat(o.HooksDir); err == nil {
		t.Error("a plan alone has written something")
	}
	hooktest.Must(t, p.Apply())
	v, err := catalog.Validate(c, nil, true)
	if err != nil || len(v.Hooks) != 3 {
		t.Fatalf("got %+v, %v", v, err)
	}
	for _, h := range v.Hooks {
		if len(h.Problems) > 0 {
			t.Errorf("%s: %v", h.Name, h.Problems)
		}
	}
	for _, e := range catalog.Scan(c).Entries {
		if e.State != "disabled" {
			t.Errorf("%s is %s", e.Name, e.State)
		}
	}
	again, err := Read(o)
	if err != nil || len(again.Hooks) != 3 || slices.ContainsFunc(again.Hooks, func(h Candidate) bool { return !h.There }) {
		t.Errorf("again: got %+v, %v", again.Hooks, err)
	}
}

// The shell text, the deadline and the matcher are as before.
func TestImportedText(t *testing.T) {
	o, c := settings(t, "claude-code", ".claude/settings.json", claude)
	p, err := Read(o)
	if err != nil {
		t.Fatal(err)
	}
	hooktest.Must(t, p.Apply())
	for name, want := range map[string]struct{ script, matcher, timeout string }{
		"no-sudo": {"~/.claude/hooks/no-sudo.sh --strict", "Bash|Write", "10s"},
		"echo":    {"echo it's \"done\"; printf '%s' \"$HOME\"\ntrue", "", "10m0s"},
		"date":    {`'date' '+%s' 'it'\''s'`, "", "10m0s"},
	} {
		h, err := catalog.Find(c, name)
		if err != nil {
			t.Fatal(err)
		}
		if h.ScriptText != want.script || h.MatcherText != want.matcher || h.Timeout.String() != want.timeout {
			t.Errorf("%s: got %q, %q, %s", name, h.ScriptText, h.MatcherText, h.Timeout)
		}
	}
}

// A hook of another name or content is never overwritten.
func TestNamesThatAreTaken(t *testing.T) {
	o, _ := settings(t, "gemini-cli", ".gemini/settings.json", `{"hooks": {"BeforeTool": [
		{"matcher": "run_shell_command", "hooks": [{"name": "a", "type": "command", "command": "guard", "timeout": 2500}, {"command": "guard"}]}]}}`)
	mine := filepath.Join(o.HooksDir, "guard", "HOOK.yaml")
	hooktest.Write(t, mine, "name: guard\n", 0o644)
	p, err := Read(o)
	if err != nil || len(p.Hooks) != 2 || p.Hooks[0].Name != "guard-2" || p.Hooks[1].Name != "guard-3" {
		t.Fatalf("got %+v, %v", p, err)
	}
	if !strings.Contains(p.Hooks[0].text, "timeout: 2.5s\n") {
		t.Errorf("got\n%s", p.Hooks[0].text)
	}
	hooktest.Must(t, p.Apply())
	if text, err := os.ReadFile(mine); err != nil || string(text) != "name: guard\n" {
		t.Errorf("got %q, %v", text, err)
	}
}

// Commands whose words are files of the project are known.
func TestCommandsOfTheProject(t *testing.T) {
	for command, taken := range map[string]bool{
		"npm test": true, "~/bin/x a": true, "/usr/bin/x": true, "python3 /opt/x.py": true, "curl https://example.com/x": true,
		"./x": false, "../x": false, "scripts/x.sh": false, "sh scripts/x.sh": false, "a && ./b": false, "X=./y z": false, "cat 'sub/x'": false,
	} {
		if _, why := commandOf(map[string]any{"command": command}); (why == "") != taken {
			t.Errorf("%s: %q", command, why)
		}
	}
}

// A command that works on the agent's folder stays with the agent, however it is written.
func TestCommandsOfTheAgentsFolder(t *testing.T) {
	for command, stays := range map[string]bool{
		"$CLAUDE_PROJECT_DIR/x.py": true, "${GEMINI_PROJECT_DIR}/x": true, "./x": true, "../x": true, "scripts/x.sh": true,
		"python3 .claude/hooks/x.py": true, "python3 check.py": true, "sh -c 'node lint.mjs'": true, "eslint .": true, "gofmt -l *.go": true,
		"cat $PWD/x": true, "cd `pwd`": true, "ls ${OLDPWD}": true, "cd $(git rev-parse --show-toplevel)": true, "deno run -A x.ts": true,
		"/opt/x/check.py": false, "~/bin/check.sh --strict": false, "python3 ~/.claude/hooks/x.py": false, "notify-send done": false,
		"$HOME/bin/x": false, "jq .cwd": false, "echo '{}'": false, "date +%s": false,
	} {
		if _, why := commandOf(map[string]any{"command": command}); (why != "") != stays {
			t.Errorf("%s: got %q, want that it stays: %v", command, why, stays)
		}
	}
}
