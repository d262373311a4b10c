package familiar

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/base/spell"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/yamlnode"
)

// The words of Familiar's format.
var (
	hookKeys = []string{
		"event", "action", "script", "agent", "prompt", "filter", "blocking", "timeout", "onFailure",
		"captureOutput", "enabled", "name",
	}
	filterKeys = []string{"tools", "excludeTools", "workspaces"}
	eventNames = []string{
		"onStart", "onStop", "beforeToolCall", "afterToolCall", "onError", "beforeMessage", "afterMessage",
	}
	actions    = []string{"script", "agent"}
	onFailures = []string{"warn", "abort", "ignore"}
)

// blockingByDefault are the events that wait for their hooks.
var blockingByDefault = []string{"onStart", "onStop", "beforeToolCall", "beforeMessage"}

// Deadlines, in milliseconds in the file.
const (
	defaultTimeout = 30 * time.Second
	maxTimeout     = 24 * time.Hour // a larger number is a mistake
)

// fields are the settings of one hook and its place.
type fields struct {
	pairs map[string]yamlnode.Pair
	at    string // as in messages: hooks[0]
	node  *yaml.Node
	event string
}

// hook reads one item of the list.
func (r *reader) hook(i int, n *yaml.Node) {
	at := "hooks[" + strconv.Itoa(i) + "]"
	if n.Kind != yaml.MappingNode {
		r.Errorf(n, "%s must be a mapping", at)
		return
	}
	first := len(r.Problems)
	f := fields{pairs: r.pairs(n, at, hookKeys), at: at, node: n}
	f.event = r.word(f, "event", eventNames, "")
	h := &hook.Hook{
		ID:         r.Path + "#" + at,
		Name:       r.Text(f.pairs["name"], at),
		Source:     hook.Source{Type: SourceType, Path: r.Path},
		File:       r.Path,
		Dir:        filepath.Dir(r.Path),
		Dialect:    events.Familiar,
		Agent:      r.name,
		Patterns:   []pattern.Pattern{{Text: f.event}},
		Lane:       events.LaneDefault,
		Timeout:    r.timeout(f),
		InEventCwd: true,
		Capture:    r.boolean(f.pairs["captureOutput"], at, false),
		Enabled:    r.boolean(f.pairs["enabled"], at, true),
		Order:      hook.OrderSession,
		Filter:     r.filter(f),
	}
	if h.Name == "" {
		h.Name = r.name + "/" + f.event + "[" + strconv.Itoa(i) + "]"
	}
	blocks := r.boolean(f.pairs["blocking"], at, slices.Contains(blockingByDefault, f.event))
	h.Blocking = &blocks
	h.OnError, h.OnErrorAlone = r.onFailure(f, blocks), true
	if r.action(f, h) {
		h.Problems = slices.Clone(r.Problems[first:])
		r.hooks = append(r.hooks, h)
	}
}

// word reads a string that must be one of known. Absent it is byDefault; a
// required one has none.
func (r *reader) word(f fields, key string, known []string, byDefault string) string {
	p := f.pairs[key]
	if p.Value == nil || yamlnode.IsNull(p.Value) {
		if byDefault == "" {
			r.Problem(f.node, hook.Problem{
				Message: f.at + ": " + key + " is required", Hint: "one of " + strings.Join(known, ", "),
			})
		}
		return byDefault
	}
	text := r.Text(p, f.at)
	if p.Value.Kind == yaml.ScalarNode && !slices.Contains(known, text) {
		hint := "one of " + strings.Join(known, ", ")
		if near := spell.Near(text, known); near != "" {
			hint = "did you mean " + strconv.Quote(near) + "?"
		}
		r.Problem(p.Value, hook.Problem{Message: f.at + ": unknown " + key + " " + strconv.Quote(text), Hint: hint})
	}
	return text
}

func (r *reader) timeout(f fields) time.Duration {
	p := f.pairs["timeout"]
	if p.Value == nil || yamlnode.IsNull(p.Value) {
		return defaultTimeout
	}
	var n int64
	if p.Value.Kind != yaml.ScalarNode || p.Value.Tag != "!!int" || p.Value.Decode(&n) != nil {
		r.Errorf(p.Value, "%s: timeout must be a whole number of milliseconds", f.at)
		return defaultTimeout
	}
	switch {
	case n < hook.MinTimeout.Milliseconds():
		least := strconv.FormatInt(hook.MinTimeout.Milliseconds(), 10)
		r.Problem(p.Value, hook.Problem{
			Message: f.at + ": timeout must be at least " + least,
			Hint:    "it is in milliseconds: 5000 is five seconds",
		})
	case n > maxTimeout.Milliseconds():
		r.Errorf(p.Value, "%s: timeout must not be over a day", f.at)
	default:
		return time.Duration(n) * time.Millisecond
	}
	return defaultTimeout
}

func (r *reader) onFailure(f fields, blocks bool) hook.OnError {
	switch r.word(f, "onFailure", onFailures, "warn") {
	case "abort":
		if !blocks {
			r.warnf(f.pairs["onFailure"].Key, "set blocking: true",
				"%s: onFailure abort does nothing: the agent does not wait for this hook", f.at)
		}
		return hook.OnErrorDeny
	case "ignore":
		return hook.OnErrorIgnore
	}
	return hook.OnErrorWarn
}

func (r *reader) filter(f fields) hook.Filter {
	var filter hook.Filter
	p := f.pairs["filter"]
	if p.Value == nil || yamlnode.IsNull(p.Value) {
		return filter
	}
	at := f.at + ".filter"
	if p.Value.Kind != yaml.MappingNode {
		r.Errorf(p.Value, "%s must be a mapping", at)
		return filter
	}
	keys := r.pairs(p.Value, at, filterKeys)
	for _, tool := range r.texts(keys["tools"], at) {
		filter.Tools = append(filter.Tools, tool.Value.Value)
	}
	for _, tool := range r.texts(keys["excludeTools"], at) {
		filter.ExcludeTools = append(filter.ExcludeTools, tool.Value.Value)
	}
	for _, workspace := range r.texts(keys["workspaces"], at) {
		pattern, err := pattern.Compile(r.home(workspace.Value.Value), '/')
		if err != nil {
			r.Errorf(workspace.Value, "%s: %s: %v", at, workspace.Name, err)
		}
		filter.Workspaces = append(filter.Workspaces, pattern)
	}
	byTool := len(filter.Tools)+len(filter.ExcludeTools) > 0
	if c := events.LookupIn(events.Familiar, f.event); c != nil && !c.ToolMatched && byTool {
		r.warnf(p.Key, "", "%s: %s has no tool, so a hook with a filter of tools never runs", at, f.event)
	}
	return filter
}

func (r *reader) home(pattern string) string {
	if r.opt.Home != "" && (pattern == "~" || strings.HasPrefix(pattern, "~/")) {
		return filepath.Join(r.opt.Home, pattern[1:])
	}
	return pattern
}

// action reads the action of h, and reports whether h is a hook to load.
func (r *reader) action(f fields, h *hook.Hook) bool {
	action := r.word(f, "action", actions, "")
	switch action {
	case "script":
		r.useless(f, action, "agent", "prompt")
		return r.script(f, h)
	case "agent":
		r.useless(f, action, "script")
		h.Type = hook.Spawn
		h.SpawnAgent = r.required(f, "agent", action)
		h.Template = Prompt{r.required(f, "prompt", action)}
		h.Command = h.SpawnAgent
		if p := f.pairs["timeout"]; r.opt.AgentTimeout > 0 && (p.Value == nil || yamlnode.IsNull(p.Value)) {
			h.Timeout = r.opt.AgentTimeout
		}
		if p := f.pairs["prompt"]; p.Value != nil {
			r.variables(f, p, func(string) bool { return true })
		}
		if h.SpawnAgent == r.name && r.name != "" {
			r.Errorf(f.pairs["agent"].Value,
				"%s: agent %q cannot start itself: its hooks would run again without end", f.at, r.name)
		}
	}
	return true
}

func (r *reader) required(f fields, key, action string) string {
	text := r.Text(f.pairs[key], f.at)
	if strings.TrimSpace(text) == "" {
		r.Errorf(f.node, "%s: %s is required for action %s", f.at, key, action)
	}
	return text
}

func (r *reader) useless(f fields, action string, keys ...string) {
	for _, key := range keys {
		if p := f.pairs[key]; p.Value != nil && !yamlnode.IsNull(p.Value) {
			r.warnf(p.Key, "", "%s: %s does nothing with action %s", f.at, key, action)
		}
	}
}

// script compiles the hook's script.
func (r *reader) script(f fields, h *hook.Hook) bool {
	h.Type, h.Shell = hook.Script, r.opt.Shell
	h.Command = r.required(f, "script", "script")
	p := f.pairs["script"]
	if p.Value == nil {
		return false
	}
	if hook.CallsBridge(h.Command) {
		r.warnf(p.Value, "",
			"%s: this hook is hookd's own bridge and is not loaded: it would answer its own events", f.at)
		return false
	}
	s, problems := Compile(h.Command)
	if s != nil {
		h.Template, h.ScriptText = s, s.text
		if f.event == "beforeToolCall" && h.OnError == hook.OnErrorDeny {
			problems = append(problems, s.echoes...)
		}
		r.variables(f, p, s.binds)
	}
	for _, problem := range problems {
		problem.Message = f.at + ": " + problem.Message
		r.Problem(p.Value, r.at(p.Value, h.Command, problem))
	}
	return true
}

// variables warns of placeholders in p that the event does not document. The message
// events document none, so for them each name may be right.
func (r *reader) variables(f fields, p yamlnode.Pair, used func(name string) bool) {
	c := events.LookupIn(events.Familiar, f.event)
	if c == nil || f.event == "beforeMessage" || f.event == "afterMessage" {
		return
	}
	known := []string{"hook_output"}
	for _, field := range c.Fields {
		known = append(known, field.Name)
	}
	for _, at := range placeholder.FindAllStringSubmatchIndex(p.Value.Value, -1) {
		name := p.Value.Value[at[2]:at[3]]
		root, _, _ := strings.Cut(name, ".")
		if slices.Contains(known, root) || !used(name) {
			continue
		}
		w := hook.Problem{
			Message: f.at + ": " + f.event + " has no variable {{" + name + "}}", Warning: true,
			Hint: "it is empty unless the event brings it",
		}
		if near := spell.Near(root, known); near != "" {
			w.Hint = "did you mean {{" + near + strings.TrimPrefix(name, root) + "}}?"
		}
		w.Line, w.Column = position(p.Value.Value, at[0])
		r.Problem(p.Value, r.at(p.Value, p.Value.Value, w))
	}
}
