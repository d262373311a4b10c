package dockeragent

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/hookd/hookd/internal/base/spell"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/yamlnode"
	"gopkg.in/yaml.v3"
)

// place is a place in the file, with the settings that apply there.
type place struct {
	agent    string
	path     string // as in messages, e.g. agents.root.hooks.stop[0]
	id       string // as in a hook's ID, e.g. root.stop[0]
	contract *events.Contract

	matcherText string
	matcher     *regexp.Regexp // nil = every tool
	preempt     bool
}

func (p place) in(key string) place {
	p.path += "." + key
	p.id += "." + key
	return p
}

func (p place) index(i int) place {
	p.path += "[" + strconv.Itoa(i) + "]"
	p.id += "[" + strconv.Itoa(i) + "]"
	return p
}

// grouped are the events whose hooks are in matcher groups; under all others hooks
// are listed directly.
var grouped = []string{
	"pre_tool_use", "tool_input_transform", "tool_guard", "permission_request", "tool_response_transform",
	"post_tool_use",
}

var eventNames = sync.OnceValue(func() []string {
	var names []string
	for _, c := range events.All() {
		if c.Dialect == events.DockerAgent {
			names = append(names, c.Name)
		}
	}
	return names
})

// block reads one agent's hooks.
func (r *reader) block(n *yaml.Node, at place) {
	for _, p := range r.pairs(n, at.path) {
		if !slices.Contains(eventNames(), p.Name) {
			hint := ""
			if near := spell.Near(p.Name, eventNames()); near != "" {
				hint = "did you mean " + strconv.Quote(near) + "?"
			}
			r.Problem(p.Key, hook.Problem{Message: at.in(p.Name).path + ": unknown event", Hint: hint})
			continue
		}
		event := at
		event.id = at.agent
		event = event.in(p.Name)
		event.contract = events.LookupIn(events.DockerAgent, p.Name)
		if slices.Contains(grouped, p.Name) {
			r.groups(p.Value, event)
		} else {
			r.list(p.Value, event, "hook event must be a hook or a list of hooks")
		}
	}
}

// groups reads the matcher groups of a tool event.
func (r *reader) groups(n *yaml.Node, at place) {
	for i, item := range yamlnode.Items(n) {
		if item.Kind != yaml.MappingNode {
			r.Errorf(item, "%s: hook event must be a matcher or a list of matchers", at.path)
			continue
		}
		r.group(item, at.index(i))
	}
}

var groupKeys = []string{"matcher", "hooks", "preempt_yolo"}

func (r *reader) group(n *yaml.Node, at place) {
	var hooks *yaml.Node
	for _, p := range r.pairs(n, at.path) {
		switch p.Name {
		case "matcher":
			at.matcherText = r.Text(p, at.path)
			at.matcher = r.compile(p.Value, at)
		case "preempt_yolo":
			at.preempt = !yamlnode.IsNull(p.Value) && r.boolean(p, at.path)
			if !yamlnode.IsNull(p.Value) && at.contract.Name != "pre_tool_use" {
				r.Errorf(p.Key, "%s: preempt_yolo is only valid on pre_tool_use", at.path)
			}
		case "hooks":
			hooks = p.Value
		default:
			hint := ""
			if slices.Contains(hookKeys, p.Name) {
				hint = at.contract.Name + " takes matcher groups: put the hook under hooks:"
			}
			r.unknown(p, at.path, groupKeys, hint)
		}
	}
	if hooks == nil || len(yamlnode.Items(hooks)) == 0 {
		r.Errorf(n, "%s: at least one hook is required", at.path)
		return
	}
	r.list(hooks, at.in("hooks"), "hooks must be a hook or a list of hooks")
}

// compile anchors a matcher as docker-agent does; "" and * match everything,
// also a call without a tool name.
func (r *reader) compile(n *yaml.Node, at place) *regexp.Regexp {
	if at.matcherText == "" || at.matcherText == "*" {
		return nil
	}
	re, err := regexp.Compile("^(?:" + at.matcherText + ")$")
	if err != nil {
		r.Errorf(n, "%s: invalid matcher: %v", at.path, err)
	}
	return re
}

// list reads hooks; a single mapping stands for a list of one.
func (r *reader) list(n *yaml.Node, at place, shape string) {
	for i, item := range yamlnode.Items(n) {
		if item.Kind != yaml.MappingNode {
			r.Errorf(item, "%s: %s", at.path, shape)
			continue
		}
		if r.count++; r.count > maxHooks {
			if r.count == maxHooks+1 {
				r.Errorf(item, "more than %d hooks in one file", maxHooks)
			}
			return
		}
		r.one(item, at.index(i))
	}
}

// one reads one hook.
func (r *reader) one(n *yaml.Node, at place) {
	first := len(r.Problems)
	s := r.settings(n, at)
	before := len(r.Problems)
	r.check(n, s, at)
	if len(r.Problems) > before {
		return
	}
	if why := unsupported(s); why != "" {
		r.Problem(n, hook.Problem{Message: fmt.Sprintf("%s: %s", at.path, why), Warning: true})
		return
	}
	h := r.hook(s, at)
	h.Problems = slices.Clone(r.Problems[first:])
	r.hooks = append(r.hooks, h)
}
