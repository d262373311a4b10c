// Package dialect is the list of dialects and what needs all of them: the
// payload of an event in another dialect's words, the names of its tool, and
// the agents that the bridge can stand for. It is pure, knows no hook and never
// blocks: what an event does not tell stays untold, and nothing here fails.
package dialect

import (
	"cmp"
	"slices"
	"sync"

	"github.com/hookd/hookd/internal/dialect/antigravity"
	"github.com/hookd/hookd/internal/dialect/claudecode"
	"github.com/hookd/hookd/internal/dialect/cline"
	"github.com/hookd/hookd/internal/dialect/codex"
	"github.com/hookd/hookd/internal/dialect/copilot"
	"github.com/hookd/hookd/internal/dialect/cursor"
	"github.com/hookd/hookd/internal/dialect/dockeragent"
	"github.com/hookd/hookd/internal/dialect/familiar"
	"github.com/hookd/hookd/internal/dialect/gemini"
	"github.com/hookd/hookd/internal/dialect/hermes"
	"github.com/hookd/hookd/internal/dialect/kimi"
	"github.com/hookd/hookd/internal/dialect/librefang"
	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/dialect/openclaw"
	"github.com/hookd/hookd/internal/dialect/opencode"
	"github.com/hookd/hookd/internal/dialect/windsurf"
	"github.com/hookd/hookd/internal/events"
)

// agents is every dialect, made when somebody first asks.
var agents = sync.OnceValue(func() map[events.Dialect]*neutral.Agent {
	made := map[events.Dialect]*neutral.Agent{}
	for name, make := range map[events.Dialect]func() neutral.Agent{
		events.LibreFang:   librefang.Bridge,
		events.DockerAgent: dockeragent.Bridge,
		events.Familiar:    familiar.Bridge,
		events.ClaudeCode:  claudecode.Agent,
		events.Codex:       codex.Agent,
		events.GeminiCLI:   gemini.Agent,
		events.Cursor:      cursor.Agent,
		events.Copilot:     copilotAgent,
		events.Kimi:        kimi.Agent,
		events.Windsurf:    windsurf.Agent,
		events.Cline:       cline.Agent,
		events.Antigravity: antigravity.Agent,
		events.Hermes:      hermes.Agent,
		events.OpenCode:    opencode.Agent,
		events.OpenClaw:    openclaw.Agent,
	} {
		a := make()
		made[name] = &a
	}
	return made
})

// copilotAgent is Copilot in both of its forms: what it sends under a
// PascalCase name it sends as Claude Code does, and it is told likewise.
func copilotAgent() neutral.Agent {
	a := copilot.Agent()
	a.Answer = func(asked neutral.Asked) neutral.Reply {
		if events.LookupIn(events.Copilot, asked.Event) == nil && events.LookupIn(events.ClaudeCode, asked.Event) != nil {
			reply := claudecode.Answer(asked)
			reply.Stdout = cmp.Or(reply.Stdout, "{}") // what an empty one means is not documented
			return reply
		}
		return copilot.Answer(asked)
	}
	return a
}

// Agent returns the agent that speaks d, or nil. One without an Answer takes a
// plugin and not the bridge. Do not change it.
func Agent(d events.Dialect) *neutral.Agent { return agents()[d] }

// Agents returns the names of all agents that the bridge can stand for, sorted.
// Those that take a plugin instead are not among them.
func Agents() []string {
	var names []string
	for d, agent := range agents() {
		if agent.Answer != nil {
			names = append(names, string(d))
		}
	}
	slices.Sort(names)
	return names
}

// nothing is the table of a dialect that nobody knows.
var nothing neutral.Table

func table(d events.Dialect) *neutral.Table {
	if a := Agent(d); a != nil {
		return &a.Table
	}
	return &nothing
}
