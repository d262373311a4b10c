//go:build agents

package bridge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
)

// real is an agent's own command line.
type real struct {
	name     string // of the test
	dialect  events.Dialect
	program  string
	settings string // file in the home that registers the bridge
	text     func(bridge string, s *stage) string
	model    func(*model) http.HandlerFunc
	command  func(url string) (args, env []string)

	// delegate starts a subagent; nil = the agent has none.
	delegate *delegate

	connects bool                      // settings are only the beginning: connect adds hookd to them
	before   func(url string) []string // a command line of its own that sets it up; nil = none
	leaves   bool                      // it leaves processes behind, which end with a name space of their own
	ends     bool                      // a denial ends its run: each command has one
	ownID    bool                      // its payloads have an agent_id
	hooks    map[string][2]string      // beside agentHooks
	// cannot has the scenarios that its protocol does not offer. Each has the behavior that
	// the test sees instead, for the table.
	cannot map[string]string
}

var reals = []real{
	{
		name: "claude-code", dialect: events.ClaudeCode, program: "claude", settings: ".claude/settings.json", model: anthropic,
		cannot: claudeCannot, delegate: claudeTask,
		text: func(bridge string, _ *stage) string {
			return registered(bridge, "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd")
		},
		command: claude,
	},
	{
		name: "claude-code-http", dialect: events.ClaudeCode, program: "claude", settings: ".claude/settings.json", model: anthropic,
		text: posted, command: claude, cannot: claudeCannot, delegate: claudeTask,
	},
	{
		name: "codex", dialect: events.Codex, program: "codex", settings: ".codex/hooks.json", model: openAI,
		cannot: map[string]string{"rewrite": "with an approval only"}, delegate: codexTask,
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
		delegate: &delegate{tool: "invoke_agent", args: func(task string) object {
			return object{"agent_name": "generalist", "prompt": task}
		}},
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
		cannot: map[string]string{
			"context": "with a prompt: `agent --local` tells of no start", "subagent": "`agent --local` starts none",
		},
		delegate: openClawTask,
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
		cannot: map[string]string{
			"deny": "yes, which ends the run, without the reason", "context": "not at the start", "result": "not possible",
		},
		delegate: &delegate{tool: "spawn_agent", args: func(task string) object {
			return object{"systemPrompt": "You do what you are told.", "task": task}
		}},
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
		name: "qwen-code", dialect: events.Qwen, program: "qwen", model: chat, connects: true,
		cannot: map[string]string{"rewrite": "not possible", "result": "not possible"},
		delegate: &delegate{tool: "agent", args: func(task string) object {
			return object{"description": "do it", "prompt": task, "subagent_type": "general-purpose", "run_in_background": false}
		}},
		command: func(url string) (args, env []string) {
			return []string{"--yolo", "--auth-type", "openai", "-p", "do it"},
				[]string{"OPENAI_API_KEY=x", "OPENAI_BASE_URL=" + url + "/v1", "OPENAI_MODEL=gpt-test"}
		},
	},
	{
		name: "opencode", dialect: events.OpenCode, program: "opencode", model: chat, connects: true,
		delegate: forkedTask,
		settings: ".config/opencode/opencode.json",
		text:     func(string, *stage) string { return `{"autoupdate": false, "share": "disabled"}` },
		command: func(url string) (args, env []string) {
			return []string{"run", "do it"}, forked("OPENCODE", url)
		},
	},
	{
		name: "kilo", dialect: events.Kilo, program: "kilo", model: chat, connects: true,
		delegate: forkedTask,
		settings: ".config/kilo/kilo.json",
		text:     func(string, *stage) string { return `{"autoupdate": false, "share": "disabled"}` },
		command: func(url string) (args, env []string) {
			// It asks its maker for models, whatever its settings say, and waits for a network that does
			// not answer. So its network refuses at once.
			return []string{"run", "--auto", "do it"},
				append(forked("KILO", url), "HTTPS_PROXY=http://127.0.0.1:1", "NO_PROXY=127.0.0.1")
		},
	},
	{
		name: "pi", dialect: events.Pi, program: "pi", model: chat, connects: true, settings: ".pi/agent/models.json",
		cannot: map[string]string{"subagent": "it has none of its own"},
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
		name: "copilot", dialect: events.Copilot, program: "copilot", model: chat, connects: true,
		cannot: map[string]string{"rewrite": "with an approval only"},
		delegate: &delegate{tool: "task", args: func(task string) object {
			return object{"name": "helper", "description": "do it", "prompt": task, "agent_type": "general-purpose", "mode": "sync"}
		}},
		command: func(url string) (args, env []string) {
			return []string{"--allow-all-tools", "-p", "do it"}, []string{
				"COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_PROVIDER_TYPE=openai", "COPILOT_PROVIDER_API_KEY=x",
				"COPILOT_MODEL=gpt-test", "COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false",
			}
		},
	},
	{
		name: "kimi", dialect: events.Kimi, program: "kimi", model: chat, connects: true,
		cannot: map[string]string{
			"rewrite": "not possible", "result": "not possible", "context": "not at the start",
		},
		delegate: &delegate{tool: "Agent", args: func(task string) object {
			return object{"description": "do it", "prompt": task, "subagent_type": "coder"}
		}},
		command: func(url string) (args, env []string) {
			return []string{"-p", "do it"}, []string{
				"KIMI_MODEL_NAME=gpt-test", "KIMI_MODEL_API_KEY=x", "KIMI_MODEL_PROVIDER_TYPE=openai",
				"KIMI_MODEL_BASE_URL=" + url + "/v1",
			}
		},
	},
}

var claudeCannot = map[string]string{"decoys": "it refuses the call itself"}

var claudeTask = &delegate{tool: "Agent", args: func(task string) object {
	return object{"description": "do it", "prompt": task, "subagent_type": "general-purpose", "run_in_background": false}
}}

var forkedTask = &delegate{tool: "task", args: func(task string) object {
	return object{"description": "do it", "prompt": task, "subagent_type": "general"}
}}

// codexAgent is the id that Codex gives a subagent, within the text of a result.
var codexAgent = regexp.MustCompile(`agent_id[\\": ]+([0-9a-f-]{36})`)

var codexTask = &delegate{
	tool: "spawn_agent", namespace: "multi_agent_v1",
	args: func(task string) object { return object{"message": task} },
	wait: func(history string) *toolUse {
		id := codexAgent.FindStringSubmatch(history)
		if id == nil || strings.Contains(history, `"name":"wait_agent"`) {
			return nil
		}
		return &toolUse{namespace: "multi_agent_v1", tool: "wait_agent", args: object{"targets": []string{id[1]}, "timeout_ms": 120000}}
	},
}

// openClawRun is the id of a subagent's run, within the text of a result.
var openClawRun = regexp.MustCompile(`runId[\\": ]+([0-9a-zA-Z-]{8,})`)

var openClawTask = &delegate{
	tool: "sessions_spawn",
	args: func(task string) object { return object{"task": task, "collect": true} },
	wait: func(history string) *toolUse {
		id := openClawRun.FindStringSubmatch(history)
		if id == nil || strings.Contains(history, `"name":"agents_wait"`) {
			return nil
		}
		return &toolUse{tool: "agents_wait", args: object{"ids": []string{id[1]}, "timeoutSeconds": 120}}
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
// or a folder that npm has installed into.
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

// scenarios are the columns of the table, in order.
var scenarios = []string{
	"deny", "rewrite", "context", "result", "agent:end", "together", "decoys", "subagent", "killed", "restarted", "once", "guarded",
}

// The same hooks work unchanged in every agent that is installed. The scenarios that an agent
// cannot do are tried, too.
func TestRealAgents(t *testing.T) {
	all := slices.Concat(reals, plugged, others)
	rows := make([][]string, len(all))
	dir := t.TempDir()
	bridge := sync.OnceValue(func() string { return built(t, dir) })
	t.Run("all", func(t *testing.T) {
		for i, r := range all {
			t.Run(r.name, func(t *testing.T) {
				t.Parallel()
				program := r.found(t)
				rows[i] = newStage(t, r, program, bridge()).playAll(t)
			})
		}
	})
	table := "| agent | version | " + strings.Join(scenarios, " | ") + " |\n" + strings.Repeat("| --- ", len(scenarios)+2) + "|\n"
	for _, row := range rows {
		if row != nil {
			table += "| " + strings.Join(row, " | ") + " |\n"
		}
	}
	t.Log("what was seen, for docs/reference/agents.md:\n" + table)
}

// built puts the bridge's program into dir.
func built(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "hookd-bridge")
	program, err := os.ReadFile(filepath.Join(hooktest.Programs(t), "hookd-bridge"))
	hooktest.Must(t, err)
	hooktest.Must(t, os.WriteFile(path, program, 0o755))
	return path
}
