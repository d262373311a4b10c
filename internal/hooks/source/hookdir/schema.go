package hookdir

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// Field describes one key of HOOK.yaml.
type Field struct {
	Key      string      `json:"key"` // a dot joins the keys of a nested mapping
	Type     string      `json:"type"`
	Default  string      `json:"default,omitempty"`
	Required bool        `json:"required,omitempty"`
	Values   []string    `json:"values,omitempty"` // the words it may be; nil = not a word list
	For      []hook.Type `json:"for,omitempty"`    // hook types that use it; nil = all
	Doc      string      `json:"doc"`
}

// row is a field and the function that sets its value in the hook.
type row struct {
	Field
	set func(d *draft, n *yaml.Node)
}

var (
	types = []string{string(hook.Command), string(hook.Script), string(hook.Builtin), string(hook.Model),
		string(hook.Rules)}
	orders  = []string{string(hook.OrderSession), string(hook.OrderSerial), string(hook.OrderParallel)}
	onError = []string{string(hook.OnErrorWarn), string(hook.OnErrorIgnore), string(hook.OnErrorDeny)}
	schemas = []string{"pre_tool_use_decision", "guard_decision"}
	lanes   = []string{events.LaneDefault, events.LanePreempt}
	modes   = []string{modeSpawn, modePersistent}
	scopes  = []string{"local", string(hook.ScopeFleet), string(hook.ScopeEvery)}
)

// schema has all keys of HOOK.yaml. A key that is not in it is unknown. A row without
// set is a mapping, whose keys are the rows that begin with its own key and a dot.
var schema = []row{
	{Field{Key: "name", Type: "string", Required: true,
		Doc: "shown in logs; unique among all hooks"}, (*draft).setName},
	{Field{Key: "description", Type: "string",
		Doc: "notes for people"}, func(d *draft, n *yaml.Node) { d.text(n, &d.hook.Description) }},
	{Field{Key: "events", Type: "list of glob, or one string", Required: true,
		Doc: "events that trigger the hook; `*` matches everything, `agent:*` all agent events, `{a,b}`, `?` and `[abc]` work; " +
			"a hook with `rules` may leave it out: it then judges tool calls, and prompts if a rule is about them"},
		(*draft).setEvents},
	{Field{Key: "command", Type: "string", Required: true, For: []hook.Type{hook.Command, hook.Builtin},
		Doc: "executable: relative to the folder, absolute, `~/…`, or a name looked up in the folder and then in PATH; without `args` it is split on white space, no shell. For `type: builtin` the built-in's name"},
		(*draft).setCommand},
	{Field{Key: "args", Type: "list of string", For: []hook.Type{hook.Command, hook.Builtin},
		Doc: "exact arguments; `command` is then one exact path. For `type: builtin` its arguments"},
		(*draft).setArgs},
	{Field{Key: "type", Type: "word", Default: string(hook.Command), Values: types,
		Doc: "what the hook runs"}, func(d *draft, n *yaml.Node) { word(&d.valueReader, n, types, &d.hook.Type) }},
	{Field{Key: "rules", Type: "list of rule", Required: true, For: []hook.Type{hook.Rules},
		Doc: "deny, ask, contain, rewrite, context or allow, judged without a program, see [rules.md](../rules.md); " +
			"a text in the list is a file of rules, or a folder of them, in the hook's folder"}, (*draft).setRules},
	{Field{Key: "script", Type: "string", Required: true, For: []hook.Type{hook.Script},
		Doc: "text for `/bin/sh -c`"}, (*draft).setScript},
	{Field{Key: "model", Type: "string", Required: true, For: []hook.Type{hook.Model},
		Doc: "`provider/name`, see `providers` in hookd.yaml"},
		func(d *draft, n *yaml.Node) { d.text(n, &d.hook.Model) }},
	{Field{Key: "prompt", Type: "string", Required: true, For: []hook.Type{hook.Model},
		Doc: "Go template over the payload, with `toJSON` and `truncate`"},
		func(d *draft, n *yaml.Node) { d.text(n, &d.hook.Prompt) }},
	{Field{Key: "system_prompt", Type: "string", For: []hook.Type{hook.Model},
		Doc: "replaces hookd's own"}, func(d *draft, n *yaml.Node) { d.text(n, &d.hook.SystemPrompt) }},
	{Field{Key: "schema", Type: "word", Values: schemas, For: []hook.Type{hook.Model},
		Doc: "how the reply is read; none: it is context"},
		func(d *draft, n *yaml.Node) { word(&d.valueReader, n, schemas, &d.hook.Schema) }},
	{Field{Key: "timeout", Type: "duration or seconds", Default: "5s, for a model 60s",
		Doc: "the whole process group is killed after it, 50ms to 10m"}, (*draft).setTimeout},
	{Field{Key: "term_before", Type: "duration or seconds", Default: "0",
		Doc: "SIGTERM that long before the kill"}, (*draft).setTermBefore},
	{Field{Key: "blocking", Type: "bool", Default: "true if the event is decidable and the pattern has none of `* ? [`",
		Doc: "false: the hook observes, it never delays, denies or adds to a verdict"}, (*draft).setBlocking},
	{Field{Key: "on_error", Type: "word", Default: string(hook.OnErrorWarn), Values: onError,
		Doc: "what a failure (not a verdict) does"},
		(*draft).setOnError},
	{Field{Key: "hold", Type: "auto, never or duration", Default: "`asks.hold` of hookd.yaml",
		Doc: "whether an ask of the hook is held until a person answers, and how long, see [asks.md](../asks.md)"},
		(*draft).setHold},
	{Field{Key: "strict_output", Type: "bool", Default: "false",
		Doc: "anything but an empty or exact answer is a failure"},
		func(d *draft, n *yaml.Node) { d.boolean(n, &d.hook.StrictOutput) }},
	{Field{Key: "matcher", Type: "regex", Default: "all tools",
		Doc: "on the tool name, RE2, matches the whole name; empty and `*` are all"}, (*draft).setMatcher},
	{Field{Key: "filter", Type: "mapping", Doc: "all that are given must hold"}, nil},
	{Field{Key: "filter.tools", Type: "list of string",
		Doc: "exact tool names"}, func(d *draft, n *yaml.Node) { d.hook.Filter.Tools = d.texts(n) }},
	{Field{Key: "filter.exclude_tools", Type: "list of string",
		Doc: "exact tool names; wins over `tools`"},
		func(d *draft, n *yaml.Node) { d.hook.Filter.ExcludeTools = d.texts(n) }},
	{Field{Key: "filter.workspaces", Type: "list of glob, or one string",
		Doc: "the event's `cwd` or a folder above; `*` stops at `/`, `**` does not"}, (*draft).setWorkspaces},
	{Field{Key: "filter.agents", Type: "list of glob, or one string",
		Doc: "the event's `agent_name` or its dialect"},
		func(d *draft, n *yaml.Node) { d.hook.Filter.Agents = d.patterns(n) }},
	{Field{Key: "when", Type: "list of condition", Default: "always",
		Doc: "starts the hook only for events that one of these fits, see [conditions](#conditions): " +
			"maps of `tool`, `command`, `path`, `prompt` and `data.PATH`, of which all that are given must fit"},
		(*draft).setWhen},
	{Field{Key: "facts", Type: "bool", Default: "false",
		Doc: "true: the payload has `facts`, what hookd knows of the call: its commands, effects and doubts, see [facts](../writing-hooks.md#facts-of-a-call)"},
		func(d *draft, n *yaml.Node) { d.boolean(n, &d.hook.Facts) }},
	{Field{Key: "lane", Type: "word", Default: events.LaneDefault, Values: lanes,
		Doc: "`pre_tool_use` only: the preempt lane runs first"},
		func(d *draft, n *yaml.Node) { word(&d.valueReader, n, lanes, &d.hook.Lane) }},
	{Field{Key: "shadow", Type: "bool", Default: "false",
		Doc: "true: what it would have decided is recorded, and never counts; nothing waits for it"},
		func(d *draft, n *yaml.Node) { d.boolean(n, &d.hook.Shadow) }},
	{Field{Key: "debounce", Type: "duration or seconds", Default: "0",
		Doc: "of an observer: of the events of a session that come within it the last one runs, the others are recorded as `merged`; 1h at most"},
		(*draft).setDebounce},
	{Field{Key: "throttle", Type: "rate", Default: "no limit",
		Doc: "of an observer: how often it runs at most, such as `1/10s` or `30/1m`; what is too much is recorded as `merged`"},
		(*draft).setThrottle},
	{Field{Key: "scope", Type: "word", Default: "local", Values: scopes,
		Doc: "of an observer on machines of a fleet: `fleet` runs on one machine that has the hook, `every` on each, see [fleet.md](fleet.md)"},
		(*draft).setScope},
	{Field{Key: "env", Type: "mapping",
		Doc: "added to the environment; `${env.X}` in values expands"}, (*draft).setEnv},
	{Field{Key: "working_dir", Type: "path", Default: "the hook's folder",
		Doc: "relative joins the folder"}, (*draft).setWorkingDir},
	{Field{Key: "run_as", Type: "string", Default: "the daemon's user", For: []hook.Type{hook.Command, hook.Script},
		Doc: "hooks of the system daemon only: the user that the process runs as, see [system.md](system.md#other-users)"},
		(*draft).setRunAs},
	{Field{Key: "enabled", Type: "bool", Default: "true",
		Doc: "false: the hook is loaded and never run"},
		func(d *draft, n *yaml.Node) { d.boolean(n, &d.hook.Enabled) }},
	{Field{Key: "mode", Type: "word", Default: modeSpawn, Values: modes, For: []hook.Type{hook.Command, hook.Script},
		Doc: "`persistent`: the process is started once and gets a line per event, see [persistent-hooks.md](persistent-hooks.md)"},
		(*draft).setMode},
	{Field{Key: "warm", Type: "bool", Default: "true of a guard", For: []hook.Type{hook.Command, hook.Script},
		Doc: "`mode: persistent` only: the process starts when the hook is loaded, and not at the first event"},
		(*draft).setWarm},
	{Field{Key: "concurrency", Type: "int", Default: "0 (no limit of its own)",
		Doc: "runs at once; of a persistent hook: workers, 0 is one"}, (*draft).setConcurrency},
	{Field{Key: "retry", Type: "mapping", Doc: "try a failed run of an observer again; then it is a dead letter"},
		nil},
	{Field{Key: "retry.max", Type: "int", Default: "0 (never)",
		Doc: "attempts after the first, 100 at most"}, (*draft).setRetryMax},
	{Field{Key: "retry.backoff", Type: "duration or seconds", Default: "1s",
		Doc: "before the first of them; doubles each time up to 1h, less up to a half at random"},
		(*draft).setRetryBackoff},
	{Field{Key: "order", Type: "word", Default: string(hook.OrderSession), Values: orders,
		Doc: "which runs of the hook wait for each other"},
		func(d *draft, n *yaml.Node) { word(&d.valueReader, n, orders, &d.hook.Order) }},
	{Field{Key: "tests", Type: "list of test",
		Doc: "what the hook is to answer, see [tests](#tests): maps of `name`, `event`, `tool`, `data`, " +
			"`cwd`, `dialect`, `expect`, `reason`, `context` and `given`; `hookd test HOOK` runs them"}, (*draft).setTests},
}

// rowOf finds the row of a key.
func rowOf(rows []row, key string) (row, bool) {
	i := slices.IndexFunc(rows, func(r row) bool { return r.Key == key })
	if i < 0 {
		return row{}, false
	}
	return rows[i], true
}

// Fields returns every key of HOOK.yaml in the order of the documentation.
func Fields() []Field {
	var fields []Field
	for _, r := range schema {
		fields = append(fields, r.Field)
	}
	return fields
}

// keysUnder lists the keys of one mapping, without its prefix.
func keysUnder(prefix string) []string {
	var keys []string
	for _, r := range schema {
		key, ok := strings.CutPrefix(r.Key, prefix)
		if ok && !strings.Contains(key, ".") {
			keys = append(keys, key)
		}
	}
	return keys
}

// usedBy reports whether hooks of type t read the field.
func (f Field) usedBy(t hook.Type) bool { return f.For == nil || slices.Contains(f.For, t) }
