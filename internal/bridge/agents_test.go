//go:build agents

package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/connect"
	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooktest"
)

// The marks by which the tests tell what the model was shown.
const (
	theContext  = "the build number is 4711"
	theReason   = "rm -rf is not for agents"
	theSecret   = "s3cret-7731"
	theRedacted = "[redacted-7731]"
)

// commands are what the model asks for, one after another. The second fails
// unless a hook rewrites it: there is no folder made.
var commands = []string{"rm -rf victim", "mkdir made/deep", "cat secret.txt"}

// agentHooks are the same folders for every agent, in Claude Code's and in
// LibreFang's words.
var agentHooks = map[string][2]string{
	"guard":    {"events: [PreToolUse]\nmatcher: Bash\n", "grep -q 'rm -rf' && { echo '" + theReason + "' >&2; exit 2; }\nexit 0\n"},
	"rewriter": {"events: [PreToolUse]\nmatcher: Bash\n", `sed -n 's/.*"command":"mkdir \([^"]*\)".*/{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"mkdir -p \1"}}}/p'` + "\n"},
	"context":  {"events: [SessionStart]\n", "echo '" + theContext + "'\n"},
	"redact":   {"events: [transform_tool_result]\n", `printf '%s' "$HOOK_EVENT_DATA" | sed -n 's/.*"tool_output":"\([^"]*\)` + theSecret + `\([^"]*\)".*/\1` + theRedacted + `\2/p'` + "\n"},
}

// real is an agent's own command line.
type real struct {
	name     string // of the test
	dialect  events.Dialect
	program  string
	settings string // file in the home that registers the bridge
	text     func(bridge string, s *stage) string
	model    func(*model) http.HandlerFunc
	command  func(url string) (args, env []string)

	connects bool                      // settings are only the beginning: connect adds hookd to them
	before   func(url string) []string // a command line of its own that sets it up; nil = none
	leaves   bool                      // it leaves processes behind, which end with a name space of their own
	ends     bool                      // a denial ends its run: each command has one
	ownID    bool                      // its payloads have an agent_id
	// cannot is what its protocol does not offer: start, reason, redact; or not without
	// an approval: rewrite; and decoys, where it refuses a call with arguments that the
	// tool has not.
	cannot string
}

var reals = []real{
	{
		name: "claude-code", dialect: events.ClaudeCode, program: "claude", settings: ".claude/settings.json", model: anthropic,
		cannot: "decoys",
		text: func(bridge string, _ *stage) string {
			return registered(bridge, "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")
		},
		command: claude,
	},
	{
		name: "claude-code-http", dialect: events.ClaudeCode, program: "claude", settings: ".claude/settings.json", model: anthropic,
		text: posted, command: claude, cannot: "decoys",
	},
	{
		name: "codex", dialect: events.Codex, program: "codex", settings: ".codex/hooks.json", model: openAI, cannot: "rewrite",
		text: func(bridge string, _ *stage) string {
			return registered(bridge, "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")
		},
		command: func(url string) (args, env []string) {
			provider := fmt.Sprintf(`model_providers.mock={name="mock",base_url=%q,wire_api="responses",env_key="MOCK_KEY"}`, url+"/v1")
			return []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox",
				"-c", `model="gpt-test"`, "-c", `model_provider="mock"`, "-c", provider, "do it"}, []string{"MOCK_KEY=x"}
		},
	},
	{
		name: "gemini-cli", dialect: events.GeminiCLI, program: "gemini", settings: ".gemini/settings.json", model: generateContent,
		text: func(bridge string, _ *stage) string {
			hooks := registered(bridge, "SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd")
			return strings.Replace(hooks, "{", `{"security":{"auth":{"selectedType":"gemini-api-key"}},`, 1)
		},
		command: func(url string) (args, env []string) {
			return []string{"--yolo", "-m", "gemini-2.5-pro", "-p", "do it"},
				[]string{"GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_CLI_TRUST_WORKSPACE=true"}
		},
	},
}

var plugged = []real{
	{
		name: "openclaw", dialect: events.OpenClaw, program: "openclaw", settings: ".openclaw/openclaw.json", model: chat, connects: true,
		cannot: "start", // `agent --local` tells of no start
		text: func(_ string, s *stage) string {
			defaults := object{"workspace": s.work, "skipBootstrap": true, "model": object{"primary": "mock/gpt-test"}}
			model := object{"id": "gpt-test", "name": "gpt-test", "contextWindow": 128000, "maxTokens": 4096}
			provider := object{"baseUrl": s.url, "apiKey": "x", "api": "openai-completions", "models": []any{model}}
			return "// settings as people have them\n" + raw(object{
				"agents": object{"defaults": defaults}, "models": object{"providers": object{"mock": provider}},
				"tools": object{"exec": object{"security": "full", "ask": "off"}},
			})
		},
		command: func(string) (args, env []string) {
			return []string{"agent", "--local", "--agent", "main", "--session-id", "one", "--message", "do it"}, []string{"OPENCLAW_SKIP_CHANNELS=1"}
		},
	},
	{
		name: "cline", dialect: events.Cline, program: "cline", model: chat, connects: true, leaves: true, ends: true, ownID: true,
		cannot: "start reason redact",
		before: func(url string) []string {
			return []string{"auth", "-p", "openai", "-k", "x", "-m", "gpt-test", "-b", url + "/v1"}
		},
		command: func(string) (args, env []string) {
			return []string{"--auto-approve", "true", "do it"}, []string{"CLINE_TELEMETRY_DISABLED=1"}
		},
	},
}

// others are agents that speak to the model as OpenAI's chat does.
var others = []real{
	{
		name: "qwen-code", dialect: events.Qwen, program: "qwen", model: chat, connects: true, cannot: "rewrite redact",
		command: func(url string) (args, env []string) {
			return []string{"--yolo", "--auth-type", "openai", "-p", "do it"},
				[]string{"OPENAI_API_KEY=x", "OPENAI_BASE_URL=" + url + "/v1", "OPENAI_MODEL=gpt-test"}
		},
	},
	{
		name: "opencode", dialect: events.OpenCode, program: "opencode", model: chat, connects: true,
		settings: ".config/opencode/opencode.json",
		text:     func(string, *stage) string { return `{"autoupdate": false, "share": "disabled"}` },
		command: func(url string) (args, env []string) {
			return []string{"run", "do it"}, forked("OPENCODE", url)
		},
	},
	{
		name: "kilo", dialect: events.Kilo, program: "kilo", model: chat, connects: true,
		settings: ".config/kilo/kilo.json",
		text:     func(string, *stage) string { return `{"autoupdate": false, "share": "disabled"}` },
		command: func(url string) (args, env []string) {
			return []string{"run", "--auto", "do it"}, forked("KILO", url)
		},
	},
	{
		name: "pi", dialect: events.Pi, program: "pi", model: chat, connects: true, settings: ".pi/agent/models.json",
		text: func(_ string, s *stage) string {
			models := []any{object{"id": "gpt-test"}}
			return raw(object{"providers": object{"mock": object{
				"baseUrl": s.url + "/v1", "apiKey": "x", "api": "openai-completions", "models": models,
			}}})
		},
		command: func(string) (args, env []string) {
			return []string{"--provider", "mock", "--model", "gpt-test", "-p", "do it"}, []string{"PI_OFFLINE=1", "PI_TELEMETRY=0"}
		},
	},
	{
		name: "copilot", dialect: events.Copilot, program: "copilot", model: chat, connects: true, cannot: "rewrite",
		command: func(url string) (args, env []string) {
			return []string{"--allow-all-tools", "-p", "do it"}, []string{
				"COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_PROVIDER_TYPE=openai", "COPILOT_PROVIDER_API_KEY=x",
				"COPILOT_MODEL=gpt-test", "COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false",
			}
		},
	},
}

// forked is the environment of OpenCode, and of the agent that began as OpenCode.
func forked(prefix, url string) []string {
	provider := object{
		"npm": "@ai-sdk/openai-compatible", "options": object{"baseURL": url + "/v1", "apiKey": "x"},
		"models": object{"gpt-test": object{"tool_call": true}},
	}
	return []string{
		"npm_config_fetch_retries=0", prefix + "_DISABLE_AUTOUPDATE=1", prefix + "_DISABLE_MODELS_FETCH=1",
		prefix + "_DISABLE_LSP_DOWNLOAD=1",
		prefix + "_CONFIG_CONTENT=" + raw(object{
			"model": "mock/gpt-test", "small_model": "mock/gpt-test", "provider": object{"mock": provider},
			"permission": object{"bash": "allow"},
		}),
	}
}

// lacks reports whether the agent's protocol does not offer something.
func (r real) lacks(what string) bool { return slices.Contains(strings.Fields(r.cannot), what) }

func claude(url string) (args, env []string) {
	return []string{"-p", "do it", "--allowedTools", "Bash", "--output-format", "json"},
		[]string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=sk-test", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1"}
}

// posted registers hookd's HTTP door where Claude Code takes one.
func posted(bridge string, s *stage) string {
	token, err := os.ReadFile(filepath.Join(filepath.Dir(s.socket), "hookd", "http.token"))
	if err != nil {
		return err.Error()
	}
	hooks := map[string]any{}
	handler := object{"type": "http", "url": "http://" + s.door + "/agents/claude-code", "headers": object{"Authorization": "Bearer " + strings.TrimSpace(string(token))}}
	for _, name := range []string{"UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"} {
		hooks[name] = []any{object{"hooks": []any{handler}}}
	}
	hooks["SessionStart"] = []any{object{"hooks": []any{object{"type": "command", "command": bridge}}}}
	return raw(object{"hooks": hooks})
}

// registered is the part of the settings that all three agents share.
func registered(bridge string, names ...string) string {
	hooks := map[string]any{}
	for _, name := range names {
		hooks[name] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": bridge}}}}
	}
	text, _ := json.Marshal(map[string]any{"hooks": hooks})
	return string(text)
}

// found looks for an agent in PATH and in HOOKD_AGENTS, a folder of programs
// or one that npm has installed into.
func (r real) found(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath(r.program); err == nil {
		return path
	}
	if dir := os.Getenv("HOOKD_AGENTS"); dir != "" {
		npm := filepath.Join("node_modules", ".bin", r.program)
		for _, path := range []string{filepath.Join(dir, r.program), filepath.Join(dir, npm), filepath.Join(dir, r.name, npm)} {
			if found, err := exec.LookPath(path); err == nil {
				return found
			}
		}
	}
	t.Skipf("SKIP-TOOL %s: %s is neither in PATH nor in $HOOKD_AGENTS", r.program, r.dialect)
	return ""
}

// The same hooks work unchanged in every agent that is installed.
func TestRealAgents(t *testing.T) {
	var bridge string
	dir := t.TempDir()
	for _, r := range slices.Concat(reals, plugged, others) {
		t.Run(r.name, func(t *testing.T) {
			program := r.found(t)
			if bridge == "" {
				bridge = built(t, dir)
			}
			h := newStage(t, r)
			h.run(t, r, program, bridge)
			h.check(t, r)
			h.atOnce(t, r, program)
		})
	}
}

// built builds the bridge's program in dir.
func built(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "hookd-bridge")
	if out, err := exec.Command("go", "build", "-o", path, "../../cmd/hookd-bridge").CombinedOutput(); err != nil {
		t.Fatalf("build hookd-bridge: %v\n%s", err, out)
	}
	return path
}

// stage is what one agent plays on.
type stage struct {
	home, work string
	socket     string
	door       string // http.listen
	ended      string // folder of what agent:end was given
	model      *model
	url        string
	notified   chan string // what the documented script has posted
}

func newStage(t *testing.T, r real) *stage {
	t.Helper()
	s := &stage{home: hooktest.ShortDir(t), work: hooktest.ShortDir(t), ended: hooktest.ShortDir(t), model: &model{}, notified: make(chan string, 9)}
	server := httptest.NewServer(r.model(s.model))
	t.Cleanup(server.Close)
	s.url = server.URL
	hooked := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		s.notified <- string(text)
	}))
	t.Cleanup(hooked.Close)
	script, err := filepath.Abs("../../testdata/hooks/notify-on-end/run.sh")
	if err != nil {
		t.Fatal(err)
	}
	hooks := map[string][2]string{
		"notify": {"events: [agent:end]\ntimeout: 60\nenv: {SLACK_WEBHOOK_URL: '" + hooked.URL + "'}\n", "exec '" + script + "'\n"},
		"record": {"events: [agent:end]\n", `printf '%s' "$HOOK_EVENT $HOOK_EVENT_DATA" > ` + s.ended + `/$$ && mv ` + s.ended + `/$$ ` + s.ended + `/$$.done` + "\n"},
	}
	for name, hook := range agentHooks {
		hooks[name] = hook
	}
	home := furnished(t, hooks)
	s.door = freePort(t)
	if err := os.WriteFile(filepath.Join(home, "hookd.yaml"), []byte("http: {listen: '"+s.door+"'}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.socket = StartDaemon(t, home)
	for name, text := range map[string]string{"victim/kept": "", "secret.txt": "the key is " + theSecret + "\n"} {
		path := filepath.Join(s.work, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// freePort is a loopback address that was free a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// run lets the agent work until it ends.
func (s *stage) run(t *testing.T, r real, program, bridge string) {
	t.Helper()
	if r.text != nil {
		path := filepath.Join(s.home, r.settings)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		command := bridge + " " + string(r.dialect) + " --socket=" + s.socket
		if err := os.WriteFile(path, []byte(r.text(command, s)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if r.connects {
		plan, err := connect.Connect(connect.Options{Agent: string(r.dialect), Home: s.home, Bridge: bridge, Getenv: func(string) string { return "" }})
		if err == nil {
			err = plan.Apply()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	args, env := r.command(s.url)
	if r.before != nil {
		s.start(t, r, program, r.before(s.url), env)
	}
	if !r.ends {
		s.start(t, r, program, args, env)
		return
	}
	for i := range commands {
		s.model.only(i)
		s.start(t, r, program, args, env)
	}
}

// atOnce lets the agent make two calls of one answer, first with arguments that only
// look like the tool's: the one that a guard denies is not run, the other one is.
func (s *stage) atOnce(t *testing.T, r real, program string) {
	t.Helper()
	for _, decoys := range []bool{true, false} {
		beside := fmt.Sprintf("beside-%t", decoys)
		s.model.atOnce(decoys, "rm -rf victim", "touch "+beside)
		args, env := r.command(s.url)
		s.start(t, r, program, args, env)
		if _, err := os.Stat(filepath.Join(s.work, "victim/kept")); err != nil {
			t.Errorf("at once, decoys %t: the denied command ran: %v", decoys, err)
		}
		_, err := os.Stat(filepath.Join(s.work, beside))
		switch refuses := decoys && r.lacks("decoys"); {
		case r.ends: // a denial ends the run, whatever stands beside it
		case refuses && err == nil:
			t.Error("at once: the agent took a call with arguments that the tool has not")
		case !refuses && err != nil:
			t.Errorf("at once, decoys %t: the call beside the denied one was not run: %v", decoys, err)
		}
	}
}

// start runs the agent's program once.
func (s *stage) start(t *testing.T, r real, program string, args, env []string) {
	t.Helper()
	if r.leaves {
		apart := []string{"--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"}
		if err := exec.Command("unshare", append(apart, "true")...).Run(); err != nil {
			t.Skipf("SKIP-TOOL unshare: %v, and %s leaves processes behind", err, r.dialect)
		}
		program, args = "unshare", slices.Concat(apart, []string{program}, args)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.WaitDelay = s.work, 10*time.Second
	// Some agents want a newer node than the system has.
	search := filepath.Join(os.Getenv("HOOKD_AGENTS"), "node", "node_modules", ".bin") + ":" + os.Getenv("PATH")
	cmd.Env = append([]string{"HOME=" + s.home, "PATH=" + search, "LANG=C.UTF-8", "TERM=dumb", "HOOKD_SOCKET=" + s.socket}, env...)
	if out, err := cmd.CombinedOutput(); err != nil && !r.ends {
		t.Fatalf("%s: %v\n%s", r.dialect, err, out)
	} else {
		t.Logf("%s", out)
	}
}

// check looks at what was run and at what the model was shown.
func (s *stage) check(t *testing.T, r real) {
	t.Helper()
	asked := s.model.asked()
	if len(asked) <= len(commands) && !r.ends {
		t.Fatalf("the model was asked %d times, want more than %d", len(asked), len(commands))
	}
	if !r.lacks("start") && !strings.Contains(asked[0], theContext) {
		t.Errorf("the context of the session's start is not in the model's first request:\n%.6000s", asked[0])
	}
	if _, err := os.Stat(filepath.Join(s.work, "victim/kept")); err != nil {
		t.Errorf("the denied command ran: %v", err)
	}
	if !r.lacks("reason") && !strings.Contains(asked[1], theReason) {
		t.Errorf("the model was not told why its call was denied:\n%.6000s", asked[1])
	}
	_, err := os.Stat(filepath.Join(s.work, "made/deep"))
	if r.lacks("rewrite") { // and is not given one, which would approve the call
		if err == nil {
			t.Error("the command ran rewritten, although the hook allowed nothing")
		}
	} else if err != nil {
		t.Errorf("the rewritten command did not run rewritten: %v", err)
	}
	if r.lacks("redact") {
		s.checkEnd(t, r)
		return
	}
	if last := asked[len(commands)]; !strings.Contains(last, theRedacted) || strings.Contains(last, theSecret) {
		t.Errorf("the secret is not redacted in the model's next request:\n%.6000s", last)
	}
	s.checkEnd(t, r)
}

// checkEnd looks at what hooks on LibreFang's agent:end were told.
func (s *stage) checkEnd(t *testing.T, r real) {
	t.Helper()
	name, data := collected(t, s.ended)
	session, _ := data["session_id"].(string)
	if name != "agent:end" || session == "" || !r.ownID && data["agent_id"] != neutral.AgentUUID(r.dialect, session) || data["status"] != "ok" {
		t.Errorf("%s got %v", name, data)
	}
	late := time.After(time.Minute)
	for { // where a denial ends a run, there were more of them
		select {
		case text := <-s.notified:
			if strings.Contains(text, fmt.Sprint(data["agent_id"])) && strings.Contains(text, "finished with status *ok*") {
				return
			}
			t.Logf("the documented script posted %s", text)
		case <-late:
			t.Errorf("the documented agent:end script has not posted of agent %v", data["agent_id"])
			return
		}
	}
}
