package docs

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// move is one part of migrating.md: files by where they stand in a home.
type move map[string]map[string]string // before, after, folder → path → text

func part(t *testing.T, title string) move {
	t.Helper()
	_, text, ok := strings.Cut(read(t, "migrating.md"), "\n## "+title+"\n")
	if !ok {
		t.Fatalf("migrating.md has no part %q", title)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	files := filepath.Join(t.TempDir(), "part.md")
	hooktest.Write(t, files, text, 0o644)
	m := move{}
	for _, s := range snippets(t, files) {
		when, path, ok := strings.Cut(s.name, " ~/")
		if !ok {
			t.Fatalf("a block has the title %q", s.name)
		}
		if m[when] == nil {
			m[when] = map[string]string{}
		}
		m[when][path] = s.text
	}
	return m
}

// mover is a user who has these files, and a daemon with the settings in them.
func (m move) mover(t *testing.T, when string) *user {
	t.Helper()
	hooktest.NeedTool(t, "go", "jq")
	bin := hooktest.Programs(t)
	home := newHome(t)
	if len(m[when]) == 0 {
		t.Fatalf("no block is called %q", when)
	}
	for path, text := range m[when] {
		mode := os.FileMode(0o644)
		if strings.HasSuffix(path, ".sh") {
			mode = 0o755
		}
		hooktest.Write(t, filepath.Join(home, path), text, mode)
	}
	t.Setenv("HOME", home)
	return &user{start(t, filepath.Join(home, ".librefang")), []string{"HOME=" + home, "PATH=" + bin + ":" + os.Getenv("PATH")}}
}

// whole fails the test unless n hooks are loaded and nothing is wrong.
func (u *user) whole(n int) {
	u.t.Helper()
	list, err := u.client.Hooks(u.t.Context())
	if err != nil {
		u.t.Fatal(err)
	}
	if len(list.Hooks) != n || len(list.Problems) > 0 {
		u.t.Errorf("%d hooks, problems %v, want %d and none", len(list.Hooks), list.Problems, n)
	}
	for _, h := range list.Hooks {
		if h.State != "active" || len(h.Problems) > 0 {
			u.t.Errorf("%s is %s: %v", h.Name, h.State, h.Problems)
		}
	}
}

// call runs an agent's hook command as the agent would, and returns its exit
// code, stdout and stderr.
func (u *user) call(env []string, stdin string, argv ...string) (int, string, string) {
	u.t.Helper()
	cmd := u.command(filepath.Dir(u.home), argv...)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		u.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out), stderr.String()
}

func TestMigratingFromLibreFang(t *testing.T) {
	m := part(t, "From LibreFang")
	const data = `{"agent_id":"a1","status":"ok","response_preview":"it's \"done\" $(x)"}`
	ran := func(u *user, folder string) string {
		dir := filepath.Join(filepath.Dir(u.home), folder)
		cmd := u.command(dir, "./run.sh") // as LibreFang does
		cmd.Env = append(cmd.Env, "HOOK_EVENT=agent:end", "HOOK_EVENT_DATA="+data)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v: %s", err, out)
		}
		log := filepath.Join(filepath.Dir(u.home), "ends.log")
		hooktest.Until(t, "it is logged", func() bool { text, _ := os.ReadFile(log); return strings.HasSuffix(string(text), "\n") })
		return read(t, log)
	}
	before := ran(m.mover(t, "before"), ".librefang/hooks/log-ends")
	after := m.mover(t, "after")
	after.whole(1)
	if got := ran(after, ".librefang/hooks/hookd"); got != before || got != "agent:end "+data+"\n" {
		t.Errorf("after: %q, before: %q", got, before)
	}
	same := m.mover(t, "before") // or nothing is moved, and events come by the socket
	same.whole(1)
	same.send(event{libreFang, "agent:end", map[string]any{"agent_id": "a1"}})
	if got := read(t, filepath.Join(filepath.Dir(same.home), "ends.log")); got != "agent:end {\"agent_id\":\"a1\"}\n" {
		t.Errorf("by the socket: %q", got)
	}
}

func TestMigratingFromDockerAgent(t *testing.T) {
	m := part(t, "From docker-agent")
	type hooks struct {
		Agents map[string]struct {
			Hooks map[string][]struct {
				Matcher string
				Hooks   []struct{ Command string }
			}
		}
	}
	parse := func(when, path string) string {
		var h hooks
		if err := yaml.Unmarshal([]byte(m[when][path]), &h); err != nil {
			t.Fatal(err)
		}
		return h.Agents["root"].Hooks["pre_tool_use"][0].Hooks[0].Command
	}
	payload := func(command string) string {
		text, _ := json.Marshal(map[string]any{"session_id": "s", "cwd": "/tmp", "hook_event_name": "pre_tool_use", "agent_name": "root",
			"tool_name": "shell", "tool_use_id": "c1", "tool_input": map[string]any{"cmd": command}})
		return string(text)
	}
	asks := func(u *user, command string) {
		t.Helper()
		code, out, stderr := u.call(nil, payload("sudo ls '$(x)'"), "sh", "-c", command)
		if code != 2 || !strings.Contains(stderr, "no sudo here") {
			t.Errorf("sudo: exit %d, %s, %s", code, out, stderr)
		}
		if code, out, stderr := u.call(nil, payload("ls"), "sh", "-c", command); code != 0 || out != "" || stderr != "" {
			t.Errorf("ls: exit %d, %s, %s", code, out, stderr)
		}
	}
	asks(m.mover(t, "before"), parse("before", "project/agent.yaml"))
	after := m.mover(t, "after")
	after.whole(1)
	asks(after, parse("after", "project/agent.yaml"))
	folder := m.mover(t, "folder")
	folder.whole(1)
	asks(folder, parse("after", "project/agent.yaml"))
	if v := folder.send(runs(claude, "sudo ls")).Verdict; describe(v) != "deny" {
		t.Errorf("Claude Code's sudo: %s", describe(v))
	}
}

func TestMigratingFromFamiliar(t *testing.T) {
	m := part(t, "From Familiar")
	call := func(command string) event {
		return event{"familiar", "beforeToolCall", map[string]any{"agent_name": "coder", "agent_id": "a", "conversation_id": "c", "workspace": "/tmp",
			"tool_name": "Bash", "tool_args": map[string]any{"command": command}}}
	}
	asks := func(u *user) {
		t.Helper()
		if v := u.send(call("sudo 'x' \"y\" $(touch ran)")).Verdict; describe(v) != "deny" || !strings.Contains(reason(v), "no sudo here") {
			t.Errorf("sudo: %s %q", describe(v), reason(v))
		}
		if v := u.send(call("ls")).Verdict; describe(v) != "no opinion" {
			t.Errorf("ls: %s %q", describe(v), reason(v))
		}
	}
	before := m.mover(t, "before") // as a source itself
	hooktest.Write(t, filepath.Join(before.home, "hookd.yaml"), "sources: [{type: familiar, path: ~/agents/*/AGENT.md}]\n", 0o600)
	before.restart()
	before.whole(1)
	asks(before)
	after := m.mover(t, "after")
	after.whole(1)
	asks(after)
	folder := m.mover(t, "folder")
	folder.whole(1)
	asks(folder)

	// The script that Familiar runs: the script of its file, with the values in it.
	front := strings.Split(m["after"]["agents/coder/AGENT.md"], "---\n")[1]
	var file struct{ Hooks []struct{ Script string } }
	if err := yaml.Unmarshal([]byte(front), &file); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]int{"sudo ls": 1, "ls 'it' $(x)": 0} {
		data, _ := json.Marshal(call(command).data)
		script := strings.ReplaceAll(file.Hooks[0].Script, "{{json_context}}", string(data))
		if code, _, stderr := after.call(nil, "", "sh", "-c", script); code != want || want == 1 && !strings.Contains(stderr, "no sudo here") {
			t.Errorf("%s: exit %d, %s, want %d", command, code, stderr, want)
		}
	}
}

func TestMigratingFromClaudeCode(t *testing.T) {
	m := part(t, "From Claude Code")
	command := func(when string) string {
		var s struct {
			Hooks map[string][]struct {
				Hooks []struct{ Command string }
			}
		}
		if err := json.Unmarshal([]byte(m[when][".claude/settings.json"]), &s); err != nil {
			t.Fatal(err)
		}
		return s.Hooks["PreToolUse"][0].Hooks[0].Command
	}
	payload := func(text string) string {
		e := runs(claude, text)
		e.data["hook_event_name"] = e.name
		data, _ := json.Marshal(e.data)
		return string(data)
	}
	before := m.mover(t, "before")
	if code, _, stderr := before.call(nil, payload("sudo ls"), "sh", "-c", command("before")); code != 2 || stderr != "no sudo here\n" {
		t.Errorf("before: exit %d, %q", code, stderr)
	}
	after := m.mover(t, "after")
	after.whole(1)
	code, out, stderr := after.call(nil, payload("sudo ls '$(x)'"), "sh", "-c", command("after"))
	var answer struct {
		HookSpecificOutput struct{ PermissionDecision, PermissionDecisionReason string }
	}
	if err := json.Unmarshal([]byte(out), &answer); code != 0 || err != nil || answer.HookSpecificOutput.PermissionDecision != "deny" || answer.HookSpecificOutput.PermissionDecisionReason != "no sudo here" {
		t.Errorf("after: exit %d, %s, %s", code, out, stderr)
	}
	if code, out, stderr := after.call(nil, payload("ls"), "sh", "-c", command("after")); code != 0 || out != "" || stderr != "" {
		t.Errorf("ls: exit %d, %q, %q", code, out, stderr)
	}
	if v := after.send(runs(docker, "sudo ls")).Verdict; describe(v) != "deny" {
		t.Errorf("docker-agent's sudo: %s", describe(v))
	}
}
