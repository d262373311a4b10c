package connect

import (
	"time"

	"github.com/hookd/hookd/internal/events"
)

// agent says where one agent keeps its hooks, and how one is written there
// (reference/dialects.md, the sections of A). Its events and deadlines are
// those of packages events and dialect.
type agent struct {
	name events.Dialect

	dirEnv  string // variable that names dir itself
	homeEnv string // variable that stands for the user's home
	dir     string // in the user's home
	file    string // in dir
	project string // in a project's folder; "" = it reads no project's hooks
	given   bool   // the file has no place of its own, it is named

	format format
	at     []string // the object of the hooks by event; * is every key
	// beside are members that must be there too, whatever their value.
	beside []leaf
	shape  shape
	once   time.Duration // unit of timeout; 0 = deadlines cannot be set
	keys   handlerKeys
	lead   []member // what a handler begins with
	named  bool     // the event's name is an argument of the bridge

	skip  func(*events.Contract) bool // events that cannot be registered; nil = none
	posts func(*events.Contract) bool // events that take HTTP instead of a command; nil = none
	newer string                      // events that older versions of the agent refuse: only with all

	whole    whole    // for agents whose hooks are files
	ownDir   bool     // their folder is hookd's alone
	manual   string   // what to do by hand, where there are no settings
	after    []string // what to do when connected
	switches []toggle
}

// shape is how an event's list looks.
type shape int

const (
	grouped shape = iota // of groups of a matcher and handlers
	flat                 // of handlers
	byTool               // grouped on events of tools, else flat
	listed               // one list for all events, each item names its own
)

// handlerKeys are an agent's words for the parts of a handler.
type handlerKeys struct{ command, timeout string }

// toggle is a setting with which an agent runs no hooks at all.
type toggle struct {
	path []string
	off  bool // the value that switches hooks off
	say  string
}

var (
	standard = handlerKeys{"command", "timeout"}
	typed    = []member{{"type", "command"}}
)

// agents is every agent that bridges exist for.
var agents = []*agent{
	{
		name: events.ClaudeCode, dirEnv: "CLAUDE_CONFIG_DIR", dir: ".claude", file: "settings.json", project: ".claude/settings.json",
		format: jsonFormat{}, at: []string{"hooks"}, keys: standard, lead: typed, once: time.Second,
		skip:     named("WorktreeCreate"), // there a hook makes the worktree itself
		posts:    func(c *events.Contract) bool { return c.Name != "SessionStart" && c.Name != "Setup" },
		switches: []toggle{{[]string{"disableAllHooks"}, true, "`disableAllHooks` is true there: Claude Code runs no hooks until it is removed"}},
	},
	{
		name: events.Codex, dirEnv: "CODEX_HOME", dir: ".codex", file: "hooks.json", project: ".codex/hooks.json",
		format: jsonFormat{}, at: []string{"hooks"}, keys: standard, lead: typed, once: time.Second,
		after: []string{"Codex runs a new hook when you trust it: start codex and type /hooks"},
	},
	{
		name: events.GeminiCLI, homeEnv: "GEMINI_CLI_HOME", dir: ".gemini", file: "settings.json", project: ".gemini/settings.json",
		format: jsonFormat{}, at: []string{"hooks"}, keys: standard, lead: []member{{"name", "hookd"}, {"type", "command"}}, once: time.Millisecond,
		switches: []toggle{{[]string{"hooksConfig", "enabled"}, false, "`hooksConfig.enabled` is false there: Gemini CLI runs no hooks until it is removed"}},
	},
	{
		name: events.Cursor, dir: ".cursor", file: "hooks.json", project: ".cursor/hooks.json",
		format: jsonFormat{}, at: []string{"hooks"}, beside: []leaf{{key: "version", value: 1}}, shape: flat, keys: standard, lead: typed, once: time.Second,
	},
	{
		name: events.Copilot, dirEnv: "COPILOT_HOME", dir: ".copilot", file: "hooks/hookd.json", project: ".github/hooks/hookd.json",
		format: jsonFormat{}, at: []string{"hooks"}, beside: []leaf{{key: "version", value: 1}}, shape: flat, named: true,
		keys: handlerKeys{"bash", "timeoutSec"}, lead: typed, once: time.Second,
		switches: []toggle{{[]string{"disableAllHooks"}, true, "`disableAllHooks` is true there: Copilot runs no hooks of it until it is removed"}},
	},
	{
		name: events.Kimi, dirEnv: "KIMI_CODE_HOME", dir: ".kimi-code", file: "config.toml",
		format: tomlFormat{}, at: []string{"hooks"}, shape: listed, keys: standard, once: time.Second,
	},
	{
		name: events.Windsurf, dir: ".codeium/windsurf", file: "hooks.json", project: ".windsurf/hooks.json",
		format: jsonFormat{}, at: []string{"hooks"}, shape: flat, keys: handlerKeys{command: "command"},
	},
	{
		name: events.Antigravity, dir: ".gemini/config", file: "hooks.json", project: ".agents/hooks.json",
		format: jsonFormat{}, at: []string{"hookd"}, beside: []leaf{{path: []string{"hookd"}, key: "enabled", value: true}}, shape: byTool, named: true,
		keys: standard, lead: typed, once: time.Second,
		switches: []toggle{{[]string{"hookd", "enabled"}, false, "`hookd.enabled` is false there: Antigravity calls the bridge when it is true"}},
	},
	{
		name: events.Hermes, dirEnv: "HERMES_HOME", dir: ".hermes", file: "config.yaml",
		format: yamlFormat{}, at: []string{"hooks"}, shape: flat, keys: standard, once: time.Second,
		skip:  notForShell,
		after: []string{"Hermes asks for consent to each new hook: start hermes at a terminal, or with --accept-hooks"},
	},
	{
		name: events.DockerAgent, given: true,
		format: yamlFormat{}, at: []string{"agents", "*", "hooks"}, shape: byTool, keys: standard, lead: typed, once: time.Second,
		skip:  func(c *events.Contract) bool { return c.Explicit }, // no opinion would deny
		newer: "tool_input_transform tool_guard",
	},
	{
		name: events.Cline, dir: "Documents/Cline/Hooks", project: ".clinerules/hooks", named: true, whole: scripts{},
	},
	{
		name: events.OpenCode, dirEnv: "XDG_CONFIG_HOME", dir: ".config", file: "opencode/plugins", project: ".opencode/plugins", whole: plugin{},
		after: []string{"OpenCode loads plugins at its start: start it again"},
	},
	{
		name: events.OpenClaw, dirEnv: "OPENCLAW_STATE_DIR", dir: ".openclaw", file: "extensions/hookd", whole: plugin{}, ownDir: true,
		after: []string{"start OpenClaw's gateway again; `openclaw plugins list` must show hookd"},
	},
	{name: events.Familiar, manual: "give each AGENT.md a script hook that pipes {{json_context}} into `hookd-bridge familiar EVENT`: see docs/agents.md"},
	{name: events.LibreFang, manual: "it reads the hooks directory itself; what it sends to hookd's socket reaches every hook: see docs/protocol.md"},
}
