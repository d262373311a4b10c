package dockeragent

import (
	"strconv"
	"strings"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// FlagSourceType is the source type of hooks that come from flags.
const FlagSourceType = "flag"

// Flag is a flag of docker-agent that appends hooks to an event.
type Flag struct{ Name, Event string }

// Flags returns docker-agent's flags, in the order in which their hooks register.
func Flags() []Flag {
	return []Flag{
		{"hook-pre-tool-use", "pre_tool_use"},
		{"hook-post-tool-use", "post_tool_use"},
		{"hook-session-start", "session_start"},
		{"hook-session-end", "session_end"},
		{"hook-on-user-input", "on_user_input"},
		{"hook-stop", "stop"},
	}
}

// FromFlags returns the hooks that the flags ask for: commands by event name,
// for every agent and tool, to be registered after all others. Blank commands
// and calls of hookd's bridge are skipped. The hooks run in the event's cwd,
// else in dir.
func FromFlags(commands map[string][]string, dir string, opt Options) []*hook.Hook {
	var hooks []*hook.Hook
	for _, f := range Flags() {
		for i, text := range commands[f.Event] {
			s := settings{Type: "command", Command: text}
			if strings.TrimSpace(text) == "" || unsupported(s) != "" {
				continue
			}
			h := build(s, f.Event, dir, opt.shell())
			h.ID = "--" + f.Name + "[" + strconv.Itoa(i) + "]"
			h.Name = strings.TrimPrefix(h.ID, "--")
			h.Source = hook.Source{Type: FlagSourceType, Path: "--" + f.Name}
			if c := events.LookupIn(events.DockerAgent, f.Event); c.ToolMatched {
				h.MatcherText = "*"
			}
			h.Definition = s.identity(dir, h.Lane)
			hooks = append(hooks, h)
		}
	}
	return hooks
}
