package docs

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/docs/gallery"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// house is a daemon, the built program, on a home of its own in a folder with a blank.
type house struct {
	t      testing.TB
	home   string
	client *client.Client
	mark   string // a file that exists only if something ran text as a program
	stop   func()
}

// start runs a daemon until the test ends, with the settings of home. Hooks are
// put in place before, or taken up by reload.
func start(t testing.TB, home string) *house {
	t.Helper()
	h := &house{t: t, home: home, client: client.New(client.Options{Socket: filepath.Join(home, "hookd.sock"), Timeout: hooktest.Patience}), mark: filepath.Join(home, "ran")}
	h.serve()
	t.Cleanup(func() { h.stop() })
	return h
}

func (h *house) serve() {
	h.t.Helper()
	h.stop = hooktest.Serve(h.t, h.home)
	hooktest.Until(h.t, "the daemon is ready", func() bool { return h.client.Ready(h.t.Context()) == nil })
}

// restart stops the daemon and starts another on the same home.
func (h *house) restart() {
	h.t.Helper()
	h.stop()
	h.serve()
}

// newHome makes a home whose socket path is short.
func newHome(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "hookd docs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// install copies a hook of the gallery into home, as a user would, and changes
// values of its env, which must be there.
func install(t testing.TB, home, name string, env map[string]string) string {
	t.Helper()
	dir := filepath.Join(home, "hooks", name)
	hooktest.Must(t, os.MkdirAll(filepath.Dir(dir), 0o700))
	hooktest.Must(t, gallery.Copy(name, dir))
	file := filepath.Join(dir, "HOOK.yaml")
	text := read(t, file)
	for key, value := range env {
		line := regexp.MustCompile(`(?m)^  ` + key + `: .*$`)
		if !line.MatchString(text) {
			t.Fatalf("%s has no %s in its env", name, key)
		}
		quoted, _ := json.Marshal(value)
		text = line.ReplaceAllLiteralString(text, "  "+key+": "+string(quoted))
	}
	hooktest.Write(t, file, text, 0o600)
	return dir
}

// event is an event that an agent sends, in its own words.
type event struct {
	dialect client.Dialect
	name    string
	data    map[string]any
}

// send sends it and waits for its runs.
func (h *house) send(e event) client.Answer {
	h.t.Helper()
	data, err := json.Marshal(e.data)
	if err != nil {
		h.t.Fatal(err)
	}
	answer, err := h.client.Emit(h.t.Context(), client.Event{Event: e.name, Dialect: e.dialect, Data: data, Wait: true})
	if err != nil {
		h.t.Fatalf("send %s: %v", e.name, err)
	}
	return answer
}

// ran sends an event and returns the run of the one hook that is installed.
func (h *house) ran(e event) client.Run {
	h.t.Helper()
	id := h.send(e).EventID
	var run client.Run
	hooktest.Until(h.t, "the run for "+e.name+" is recorded", func() bool {
		runs, err := h.client.Runs(h.t.Context(), client.RunQuery{})
		for _, r := range runs {
			if r.EventID == id {
				run = r
				return true
			}
		}
		return err != nil
	})
	run, err := h.client.Run(h.t.Context(), run.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	return run
}

// ok fails the test when the run did.
func (h *house) ok(e event) client.Run {
	h.t.Helper()
	run := h.ran(e)
	if run.Result != "ok" {
		h.t.Errorf("%s of %s: %s, %s %s", e.name, e.dialect, run.Result, run.Error, run.Stderr.Head)
	}
	return run
}

// hostile is text that does harm when it is pasted into a program, a header, a
// line of a file or markup. It makes h.mark when a shell runs it.
func (h *house) hostile() string {
	touch := "touch '" + h.mark + "'"
	return `it's "quoted" $(` + touch + ") `" + touch + "`; " + touch + " & ' ; " + touch + "; ' \" ; " + touch + "; \"\nBcc: evil@example.com\r\n.\r\n" +
		`</b><script> %s ${HOME} \ \n =cmd|' ` + "\x1b[31m \u202e ü"
}

// unharmed fails the test when hostile text was run.
func (h *house) unharmed() {
	h.t.Helper()
	if _, err := os.Stat(h.mark); err == nil {
		h.t.Error("text of an event was run as a program")
	}
}

// project makes a folder whose name is hostile too.
func (h *house) project() string {
	dir := filepath.Join(h.home, `my "project" $(touch ran) 'x'; `)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		h.t.Fatal(err)
	}
	return dir
}

// shell runs a command in dir and returns its output.
func shell(t testing.TB, dir string, argv ...string) string {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return string(out)
}

// The three systems that every hook of the gallery is tried with.
const (
	claude    client.Dialect = "claude-code"
	docker    client.Dialect = "docker-agent"
	libreFang client.Dialect = "librefang"
)

// ended is how each reports that an agent has finished.
func ended(d client.Dialect, session, cwd, said string) event {
	switch d {
	case claude:
		return event{d, "Stop", map[string]any{"session_id": session, "cwd": cwd, "last_assistant_message": said, "stop_hook_active": false}}
	case docker:
		return event{d, "stop", map[string]any{"session_id": session, "cwd": cwd, "agent_name": "root", "stop_response": said}}
	}
	return event{d, "agent:end", map[string]any{"session_id": session, "cwd": cwd, "agent_id": "a1", "status": "ok", "tokens_used": 42, "duration_ms": 61500, "response_preview": said}}
}

// calls is how the agents that can be denied announce a tool call.
func calls(d client.Dialect, tool string, input map[string]any) event {
	name := "PreToolUse"
	if d == docker {
		name = "pre_tool_use"
	}
	return event{d, name, map[string]any{"session_id": "s", "cwd": "/tmp", "tool_name": tool, "tool_input": input}}
}

func runs(d client.Dialect, command string) event {
	if d == docker {
		return calls(d, "shell", map[string]any{"cmd": command})
	}
	return calls(d, "Bash", map[string]any{"command": command})
}

func describe(v *client.Verdict) string {
	switch {
	case v == nil:
		return "none"
	case !v.Allowed:
		return "deny"
	case v.PermissionDecision != "":
		return string(v.PermissionDecision)
	}
	return "no opinion"
}

func reason(v *client.Verdict) string {
	if v == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprint(v.Message, " ", v.DecisionReason))
}
