package ui_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/people/ui"
)

// agentProgram looks for an agent's program in PATH and in HOOKD_AGENTS, a folder of
// programs or a folder that npm has installed into. Without it the test is skipped.
func agentProgram(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("HOOKD_AGENTS")
	for _, path := range []string{name, filepath.Join(dir, name), filepath.Join(dir, "node_modules", ".bin", name)} {
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	t.Skipf("SKIP-TOOL %s: neither in PATH nor in $HOOKD_AGENTS", name)
	return ""
}

// messages is a model that speaks the Messages API. It asks for shell commands, one after
// another, and ends its turn when each has its result.
type messages struct {
	commands []string

	mu      sync.Mutex
	results string // what the model was given last
}

func (m *messages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if !strings.HasSuffix(r.URL.Path, "/messages") {
		io.WriteString(w, `{"input_tokens":10}`)
		return
	}
	var req struct {
		Stream bool
		Tools  []struct{ Name string }
	}
	json.Unmarshal(body, &req) // what is none asks for nothing
	type object = map[string]any
	block, delta, stop := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": "done"}, "end_turn"
	if n := bytes.Count(body, []byte(`"type":"tool_result"`)); len(req.Tools) > 0 {
		m.mu.Lock()
		m.results = string(body)
		m.mu.Unlock()
		if n < len(m.commands) {
			input, _ := json.Marshal(object{"command": m.commands[n], "description": "do it"})
			block = object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", n), "name": "Bash", "input": object{}}
			delta, stop = object{"type": "input_json_delta", "partial_json": string(input)}, "tool_use"
		}
	}
	message := object{"id": "msg", "type": "message", "role": "assistant", "model": "mock", "content": []any{}, "usage": object{"input_tokens": 1, "output_tokens": 1}}
	if !req.Stream {
		message["content"], message["stop_reason"] = []any{object{"type": "text", "text": "done"}}, "end_turn"
		json.NewEncoder(w).Encode(message)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range []object{
		{"type": "message_start", "message": message},
		{"type": "content_block_start", "index": 0, "content_block": block},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": object{"stop_reason": stop}, "usage": object{"output_tokens": 1}},
		{"type": "message_stop"},
	} {
		text, _ := json.Marshal(e)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], text)
	}
}

// given returns the last input of the model: all that was said, and the tools' results.
func (m *messages) given() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.results
}

// claudeCode runs Claude Code once in a terminal of its own, so that it and the page are
// not of one tree of processes. ended returns its output.
func (s *site) claudeCode(program string, model *messages) (work string, ended func() string) {
	s.t.Helper()
	person, work := hooktest.ShortDir(s.t), hooktest.ShortDir(s.t)
	bridge := filepath.Join(hooktest.Programs(s.t), "hookd-bridge")
	plan, err := connect.Connect(connect.Options{
		Agent: "claude-code", Home: person, Bridge: bridge, Socket: s.client.Socket(), AskTimeout: 5 * time.Minute, Getenv: func(string) string { return "" },
	})
	hooktest.Must(s.t, err)
	hooktest.Must(s.t, plan.Apply())
	hooktest.Write(s.t, filepath.Join(work, "victim/kept"), "", 0o644)
	server := httptest.NewServer(model)
	s.t.Cleanup(server.Close)
	c := exec.CommandContext(s.t.Context(), program, "-p", "tidy up, then push", "--allowedTools", "Bash", "--output-format", "json")
	c.Dir, c.WaitDelay = work, 10*time.Second
	c.Env = []string{
		"HOME=" + person, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=dumb", "HOOKD_SOCKET=" + s.client.Socket(), "ANTHROPIC_BASE_URL=" + server.URL, "ANTHROPIC_API_KEY=sk-test",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1",
	}
	var out bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(""), &out, &out
	hooktest.Terminal(s.t, c)
	hooktest.Must(s.t, c.Start())
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	return work, func() string {
		s.t.Helper()
		select {
		case err := <-done:
			return fmt.Sprintf("%s (%v)", out.String(), err)
		case <-time.After(hooktest.Patience):
			s.t.Fatal("the agent does not end")
			return ""
		}
	}
}

// A real Claude Code works while a person looks: its session appears, its denied command is
// found by search, the run opened and replayed, and the question of a guard answered. Only
// keys are used. Then the daemon is killed and started again, and the page loaded again.
func TestClaudeCodeWorksWhileAPersonLooks(t *testing.T) {
	browser(t) // or skip before anything is built
	program := agentProgram(t, "claude")
	home := newHome(t, nil)
	hooktest.Write(t, filepath.Join(home, "hookd.yaml"), "asks: {hold: 5m, timeout: 5m}\n", 0o600)
	daemon := &process{t: t, home: home}
	s := openWith(t, home, daemon.start(), ui.Options{Act: true}, "#now")
	s.until("nothing has happened", `document.querySelector("#now h1").textContent === "Nothing has happened yet"`)
	const denied, asked = "rm -rf victim", "echo git push > pushed"
	model := &messages{commands: []string{"ls victim", denied, asked}}
	work, ended := s.claudeCode(program, model)

	s.until("its session appears", `/Claude Code/.test(document.querySelector("#now table.sessions tbody tr")?.textContent)`)
	s.until("the guard's question is open", fmt.Sprintf(`document.querySelector(".askbox .cmd")?.textContent.startsWith(%q)`, asked))
	s.until("it says who asks, and after which prompt", `/command-guard: [^]*claude-code, session [^]*after “tidy up, then push”/.test(document.querySelector(".askbox").textContent)`)

	s.keys("2")
	s.until("its calls are there", `document.querySelectorAll("#stream tr[data-id]").length > 1`)
	s.keys("/")
	s.until("the search has the focus", `document.activeElement.matches(".search input")`)
	s.typed(`agent:claude-code decision:deny "rm -rf victim"`)
	s.keys(kb.Enter)
	s.until("the denied command is found", fmt.Sprintf(`document.querySelectorAll("#stream tr[data-id]").length === 1 && document.querySelector("#stream tr[data-id] code").textContent === %q`, denied))
	s.keys("j", kb.Enter)
	s.until("what the agent was told", `document.querySelector("tr.open .told")?.textContent.includes("to Claude Code: deny, “")`)
	s.tabTo("the link to the run", `document.activeElement.closest(".peek .acts") && document.activeElement.textContent === "Run"`)
	s.typed(kb.Enter)
	s.until("why it was denied", `/exit 2deny[^]*verdictdeny/.test(document.querySelector("#run .steps")?.textContent)`)
	s.tabTo("the button that replays", `document.activeElement.matches("[data-act=replay]")`)
	s.typed(kb.Enter)
	s.until("its new run", `[...document.querySelectorAll("#run a")].some((a) => a.textContent === "Its run")`)

	s.keys("1")
	s.until("the question is still open", `document.querySelector(".askbox [data-act=allow]:enabled")`)
	s.press("a", `!document.querySelector(".askbox")`)
	if out := ended(); !strings.Contains(out, `"result":"done"`) {
		t.Fatalf("the agent ended with %s", out)
	}
	if _, err := os.Stat(filepath.Join(work, "victim/kept")); err != nil {
		t.Errorf("what was denied has happened: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(work, "pushed")); err != nil || string(text) != "git push\n" {
		t.Errorf("what was allowed has not happened: %q (%v)", text, err)
	}
	if !strings.Contains(model.given(), "rm -rf on a folder that git does not track") {
		t.Errorf("the model was not given the reason: %s", model.given())
	}

	s.keys("3")
	s.until("the session is told to its end", `/tidy up, then push[^]*rm -rf victim[^]*deny[^]*git push[^]*ask, allow/.test(document.querySelector("#session tbody")?.textContent)`)
	s.keys("j", kb.Enter)
	s.until("a row is open", `document.querySelector("#session tr.open")`)
	at, rows := s.text("location.hash"), s.text(`document.querySelectorAll("#session tr[data-id]").length`)
	daemon.kill()
	s.until("it is said", `document.querySelector(".banner b")?.textContent.includes("hookd has not answered since")`)
	daemon.start()
	s.until("it is healed", `!document.querySelector(".conn").textContent.includes("not connected")`)
	s.run(chromedp.Reload())
	s.until("the same row is open after a reload", fmt.Sprintf(`document.querySelector("#session tr.open") && document.querySelectorAll("#session tr[data-id]").length === %s`, rows))
	if now := s.text("location.hash"); now != at {
		t.Errorf("the address was %s and is %s", at, now)
	}
}

// tabTo presses Tab until the element that has the focus is wanted, and returns how often.
func (s *site) tabTo(what, wanted string) int {
	s.t.Helper()
	for n := range 200 {
		if js[bool](s, "!!("+wanted+")") {
			return n
		}
		s.keys(kb.Tab)
	}
	s.t.Fatalf("Tab does not lead to %s", what)
	return 0
}

// process is a daemon in a process of its own, which can be killed.
type process struct {
	t    *testing.T
	home string
	cmd  *exec.Cmd
}

// daemonFor makes the test's own program a daemon of the home that this variable names.
const daemonFor = "HOOKD_UI_TEST_DAEMON"

// start starts the daemon, again on the same socket, and returns a client for it.
func (p *process) start() *client.Client {
	p.t.Helper()
	self, err := os.Executable()
	hooktest.Must(p.t, err)
	p.cmd = exec.Command(self)
	p.cmd.Env = append(os.Environ(), daemonFor+"="+p.home)
	p.cmd.Stderr = os.Stderr
	hooktest.Must(p.t, p.cmd.Start())
	p.t.Cleanup(p.kill)
	c := client.New(client.Options{Socket: settings(p.t, p.home).Socket})
	hooktest.Until(p.t, "the daemon is ready", func() bool { return c.Ready(p.t.Context()) == nil })
	return c
}

// kill ends the daemon as a crash would. A second call does nothing.
func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}
