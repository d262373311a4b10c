package dockeragent

import (
	"github.com/hookd/hookd/internal/hooks/source/yamlnode"
	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/events"
)

// injected are the built-ins that docker-agent adds for an agent's own flags, and
// their events.
var injected = []struct {
	flag, builtin string
	events        []string
}{
	{"add_date", "add_date", []string{"turn_start"}},
	{"add_environment_info", "add_environment_info", []string{"session_start"}},
	{"add_prompt_files", "add_prompt_files", []string{"turn_start"}},
	{"redact_secrets", "redact_secrets", []string{"pre_tool_use", "before_llm_call", "tool_response_transform"}},
	{"snapshot", "snapshot", []string{
		"session_start", "turn_start", "turn_end", "pre_tool_use", "post_tool_use", "session_end",
	}},
}

// inject adds the built-ins that flags of an agent ask for, after its own
// hooks. A built-in that the file spells out as well is the same hook, and runs once.
func (r *reader) inject(agent *yaml.Node, name string) {
	at := place{agent: name, path: "agents." + name}
	for _, f := range injected {
		flag := r.Lookup(agent, f.flag)
		if flag == nil || yamlnode.IsNull(flag) {
			continue
		}
		s := settings{Type: "builtin", Command: f.builtin}
		p := yamlnode.Pair{Name: f.flag, Value: yamlnode.Resolve(flag)}
		if f.flag == "add_prompt_files" {
			if s.Args = r.texts(p, at.path); len(s.Args) == 0 {
				continue
			}
		} else if !r.boolean(p, at.path) {
			continue
		}
		for _, event := range f.events {
			r.injectOne(s, at, event)
		}
	}
	if r.saferShell(agent, at) {
		at.preempt = true
		r.injectOne(settings{Type: "builtin", Command: "safer_shell"}, at, "pre_tool_use")
	}
}

func (r *reader) injectOne(s settings, at place, event string) {
	at.contract = events.LookupIn(events.DockerAgent, event)
	at.id = at.agent + "." + event + "+" + s.Command
	r.hooks = append(r.hooks, r.hook(s, at))
}

// saferShell reports whether one of the agent's shell toolsets has safer: true.
func (r *reader) saferShell(agent *yaml.Node, at place) (safer bool) {
	toolsets := r.Lookup(agent, "toolsets")
	if toolsets == nil {
		return false
	}
	for i, t := range yamlnode.Items(yamlnode.Resolve(toolsets)) {
		kind, flag := r.Lookup(t, "type"), r.Lookup(t, "safer")
		if kind == nil || kind.Value != "shell" || flag == nil || yamlnode.IsNull(flag) {
			continue
		}
		if r.boolean(yamlnode.Pair{Name: "safer", Value: yamlnode.Resolve(flag)}, at.in("toolsets").index(i).path) {
			safer = true
		}
	}
	return safer
}
