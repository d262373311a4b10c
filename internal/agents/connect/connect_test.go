package connect

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files again")

const bridge = "/usr/local/bin/hookd-bridge"

// options are those of a home of its own, in which before is the agent's
// settings file; nil = there is none.
func options(t *testing.T, agent string, before []byte) (o Options, path string) {
	t.Helper()
	o = Options{Agent: agent, Home: t.TempDir(), Bridge: bridge, Getenv: func(string) string { return "" }}
	if find(agent).Given {
		o.File = filepath.Join(o.Home, "agent.yaml")
	}
	path, err := find(agent).path(o)
	if err != nil {
		t.Fatal(err)
	}
	if before != nil {
		write(t, path, before)
	}
	return o, path
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o640); err != nil {
		t.Fatal(err)
	}
}

func readOrNil(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return text
}

func apply(t *testing.T, plan func(Options) (Plan, error), o Options) Plan {
	t.Helper()
	p, err := plan(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestGolden runs testdata/AGENT/CASE: before is the agent's file (none: it is
// missing), after is the file that connect makes from it. diff is the diff of a dry run,
// and notes are the notes of connect.
func TestGolden(t *testing.T) {
	cases, err := filepath.Glob("testdata/*/*")
	if err != nil || len(cases) < 40 {
		t.Fatalf("got %d cases, %v", len(cases), err)
	}
	for _, dir := range cases {
		t.Run(strings.TrimPrefix(dir, "testdata/"), func(t *testing.T) { golden(t, dir, filepath.Base(filepath.Dir(dir))) })
	}
}

func golden(t *testing.T, dir, agent string) {
	before := readOrNil(t, filepath.Join(dir, "before"))
	o, path := options(t, agent, before)
	dry, err := Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	if got := readOrNil(t, path); !bytes.Equal(got, before) {
		t.Error("a plan alone has changed the file")
	}
	apply(t, Connect, o)
	after := readOrNil(t, path)
	compare(t, filepath.Join(dir, "after"), after)
	compare(t, filepath.Join(dir, "diff"), bytes.ReplaceAll(dry.Diff(), []byte(o.Home), []byte("~")))
	compare(t, filepath.Join(dir, "notes"), []byte(strings.ReplaceAll(strings.Join(dry.Notes, "\n"), o.Home, "~")))
	again, err := Connect(o)
	if err != nil || len(again.Changes) > 0 {
		t.Errorf("connecting again: %v, would change\n%s", err, again.Diff())
	}
	had, err := find(agent).registered(path, bytes.TrimPrefix(before, mark))
	if err != nil {
		t.Fatal(err)
	}
	apply(t, Disconnect, o)
	got := readOrNil(t, path)
	if len(had) == 0 && (!bytes.Equal(got, before) || (got == nil) != (before == nil)) {
		t.Errorf("after disconnect: got\n%q\nwant what was there before\n%q", got, before)
	}
	if len(had) > 0 {
		compare(t, filepath.Join(dir, "disconnected"), got)
	}
	if _, err := os.Stat(path + BackupSuffix); err == nil {
		t.Error("the backup is still there")
	}
	if again, err := Disconnect(o); err != nil || len(again.Changes) > 0 {
		t.Errorf("disconnecting again: %v, would change\n%s", err, again.Diff())
	}
}

func compare(t *testing.T, golden string, got []byte) {
	t.Helper()
	if *update && len(got) > 0 {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := readOrNil(t, golden); !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", golden, got, want)
	}
}

// Text that was changed since stays, however the file looks now.
func TestDisconnectAfterEdits(t *testing.T) {
	claude := "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"bye\"}]}\n    ]\n  }\n}\n"
	for name, c := range map[string]struct {
		agent, before string
		edit          func(string) string
		want          string
	}{
		"a member behind": {"claude-code", "{\n  \"model\": \"a\"\n}\n",
			func(s string) string { return strings.TrimSuffix(s, "\n}\n") + ",\n  \"z\": 1\n}\n" },
			"{\n  \"model\": \"a\",\n  \"z\": 1\n}\n"},
		"a member before": {"claude-code", claude,
			func(s string) string { return "{ // new\n  \"a\": 1," + s[1:] },
			"{ // new\n  \"a\": 1," + claude[1:]},
		"a hook in our group": {"claude-code", "{}\n",
			func(s string) string {
				return strings.Replace(s, `"hooks": [{"type"`, `"hooks": [{"type": "command", "command": "mine"}, {"type"`, 1)
			},
			"{\n  \"hooks\": {\n    \"PreToolUse\": [{\"matcher\": \"*\", \"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}]\n  }\n}\n"},
		"a file of our own": {"codex", "",
			func(s string) string { return strings.Replace(s, "{", "{\n  \"note\": \"x\",", 1) },
			"{\n  \"note\": \"x\"\n}\n"},
		"an item behind ours": {"hermes", "a: 1\n",
			func(s string) string {
				return strings.Replace(s, "timeout: 60}\n", "timeout: 60}\n    # mine\n    - command: x\n", 1) + "b: 2\n"
			},
			"a: 1\nhooks:\n  on_session_start:\n    # mine\n    - command: x\nb: 2\n"},
		"a comment between": {"hermes", "a: 1\n",
			func(s string) string { return strings.Replace(s, "hooks:\n", "hooks:\n  # why\n", 1) + "b: 2\n" },
			"a: 1\nb: 2\n"},
		"tables around": {"kimi", "a = 1\n",
			func(s string) string { return s + "\n# mine\n[[hooks]]\nevent = \"Stop\"\ncommand = \"x\"\n" },
			"a = 1\n\n# mine\n[[hooks]]\nevent = \"Stop\"\ncommand = \"x\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var before []byte
			if c.before != "" {
				before = []byte(c.before)
			}
			o, path := options(t, c.agent, before)
			apply(t, Connect, o)
			write(t, path, []byte(c.edit(string(readOrNil(t, path)))))
			apply(t, Disconnect, o)
			if got := string(readOrNil(t, path)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// Files that cannot be edited stay as they are, and the error says where.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct{ agent, text, want string }{
		"JSON, broken":       {"claude-code", "{\n  \"a\": 1\n  \"b\": 2\n}\n", "settings.json:3:3: not valid JSON"},
		"JSON, no object":    {"claude-code", "[]", "settings.json:1:1: want an object, found a list"},
		"JSON, hooks a list": {"claude-code", "{\n  \"hooks\": []\n}", "settings.json:2:12: want an object of hooks, found a list"},
		"JSON, hooks null":   {"cursor", "{\"hooks\": null}", "hooks.json:1:11: want an object of hooks, found null"},
		"JSON, event text":   {"claude-code", "{\"hooks\": {\n\"Stop\": \"x\"}}", "settings.json:2:9: want a list of hooks, found text"},
		"JSON, twice":        {"claude-code", "{\"hooks\": {}, \"hooks\": {}}", "settings.json:1:15: the key \"hooks\" stands there twice"},
		"TOML, broken":       {"kimi", "a = 1\nb = \n", "config.toml:2:"},
		"TOML, inline hooks": {"kimi", "hooks = []\n", "config.toml: its hooks are not written as [[hooks]] tables"},
		"YAML, broken":       {"hermes", "a: 1\nb: [\n", "config.yaml:"},
		"YAML, two":          {"hermes", "a: 1\n---\nb: 1\n", "want one YAML document, found a second one"},
		"YAML, a list":       {"hermes", "- a\n", "config.yaml:1:1: want a mapping, found a list"},
		"YAML, no list":      {"docker-agent", "agents:\n  root:\n    hooks:\n      stop:\n        command: x\n", "agent.yaml:5:9: want a list of hooks, found a mapping: put `- ` before it"},
		"YAML, merged":       {"docker-agent", "x: &x\n  hooks: {}\nagents:\n  root:\n    <<: *x\n", "agent.yaml:5:5: \"hooks\" comes from a merge (<<) here"},
		"YAML, no agents":    {"docker-agent", "models: {}\n", "agent.yaml: there is nothing under `agents` to connect"},
		"YAML, null":         {"hermes", "hooks: ~\n", "config.yaml:1:8: it is \"~\": leave its place empty"},
	} {
		t.Run(name, func(t *testing.T) {
			o, path := options(t, c.agent, []byte(c.text))
			_, err := Connect(o)
			var where *FileError
			if !errors.As(err, &where) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want a FileError with %q", err, c.want)
			}
			if got := string(readOrNil(t, path)); got != c.text {
				t.Errorf("the file has changed: %q", got)
			}
		})
	}
}

// A link is followed, the file's mode stays, and the backup is the text from
// before the first connect.
func TestLinksModesBackups(t *testing.T) {
	o, path := options(t, "claude-code", nil)
	real := filepath.Join(o.Home, "dotfiles", "claude.json")
	write(t, real, []byte("{}\n"))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, path); err != nil {
		t.Fatal(err)
	}
	apply(t, Connect, o)
	o.AllEvents = true
	apply(t, Connect, o)
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", info, err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode: got %v %v, want 0640", info.Mode(), err)
	}
	if got := string(readOrNil(t, real+BackupSuffix)); got != "{}\n" {
		t.Errorf("backup: got %q, want what was there first", got)
	}
	apply(t, Disconnect, o)
	left, _ := os.ReadDir(filepath.Dir(real))
	if got := string(readOrNil(t, real)); got != "{}\n" || len(left) != 1 {
		t.Errorf("after disconnect: got %q and %d files, want the file alone as it was", got, len(left))
	}
}

func TestLinkToNothing(t *testing.T) {
	o, path := options(t, "codex", nil)
	write(t, filepath.Join(filepath.Dir(path), "x"), nil)
	if err := os.Symlink("nowhere", path); err != nil {
		t.Fatal(err)
	}
	if _, err := Connect(o); err == nil || !strings.Contains(err.Error(), "symbolic link to nothing") {
		t.Errorf("got %v, want an error about the link", err)
	}
}

// A file that is written between the plan and its execution is not lost.
func TestChangedMeanwhile(t *testing.T) {
	o, path := options(t, "claude-code", []byte("{}\n"))
	p, err := Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, []byte(`{"model": "new"}`))
	if err := p.Apply(); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v, want an error", err)
	}
	if got := string(readOrNil(t, path)); got != `{"model": "new"}` {
		t.Errorf("got %q, want what was written meanwhile", got)
	}
}

// Every event that is registered and every event that is left out stands in
// the table, streaming ones are left out, and no agent is without any.
func TestEvents(t *testing.T) {
	left := map[string][]string{
		"claude-code": {"MessageDisplay"}, "gemini-cli": {"BeforeModel", "BeforeToolSelection", "AfterModel"},
		"crush": {"PreCompact"}, "qwen-code": {"MessageDisplay"}, "tabnine": {"BeforeModel", "BeforeToolSelection", "AfterModel"},
		"kimi": {"SessionHeartbeat"}, "docker-agent": {"tool_input_transform", "tool_guard"},
	}
	for name := range left {
		slices.Sort(left[name])
	}
	never := map[string][]string{"claude-code": {"WorktreeCreate"}, "qoder": {"WorktreeCreate"}, "docker-agent": {"skill_content_guard", "prompt_file_guard"}, "hermes": {"agent:end", "transform_tool_result"}}
	for _, a := range agents() {
		if a.Manual != "" {
			continue
		}
		name := string(a.name)
		all := a.events(true)
		if len(a.events(false)) == 0 || len(a.events(false))+len(a.left()) != len(all) {
			t.Errorf("%s: got %v, left %v", name, a.events(false), a.left())
		}
		got, want := slices.Sorted(slices.Values(a.left())), slices.Sorted(slices.Values(left[name]))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: left out %v, want %v", name, got, want)
		}
		for _, event := range never[name] {
			if slices.Contains(all, event) {
				t.Errorf("%s: %s is registered", name, event)
			}
		}
	}
}

func TestProjectsAndVariables(t *testing.T) {
	for _, c := range []struct{ agent, variable, project, want string }{
		{"claude-code", "", "", "/h/.claude/settings.json"},
		{"claude-code", "CLAUDE_CONFIG_DIR", "", "/v/settings.json"},
		{"claude-code", "CLAUDE_CONFIG_DIR", "/p", "/p/.claude/settings.json"},
		{"gemini-cli", "GEMINI_CLI_HOME", "", "/v/.gemini/settings.json"},
		{"codex", "CODEX_HOME", "", "/v/hooks.json"},
		{"copilot", "COPILOT_HOME", "", "/v/hooks/hookd.json"},
		{"opencode", "XDG_CONFIG_HOME", "", "/v/opencode/plugins"},
		{"cursor", "", "/p", "/p/.cursor/hooks.json"},
		{"cline", "", "/p", "/p/.clinerules/hooks"},
	} {
		o := Options{Home: "/h", Project: c.project, Getenv: func(name string) string {
			if name != "" && name == c.variable {
				return "/v"
			}
			return ""
		}}
		if got, err := find(c.agent).path(o); err != nil || got != c.want {
			t.Errorf("%+v: got %s, %v", c, got, err)
		}
	}
	if _, err := Connect(Options{Agent: "kimi", Project: "/p", Home: "/h", Bridge: bridge}); err == nil {
		t.Error("kimi takes a project's hooks")
	}
}
