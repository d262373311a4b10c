package config

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/base/https"
	"github.com/hookd/hookd/internal/base/spell"
)

// key is one setting: its name in hookd.yaml, its meaning, and how a value is read.
type key struct {
	name string
	doc  string
	reader
}

// reader says which values a setting may have, and how a value is read.
type reader struct {
	form Form
	set  func(*Config, *yaml.Node) error
	get  func(*Config) any
}

func valueOf[T any](field func(*Config) *T) func(*Config) any {
	return func(c *Config) any { return *field(c) }
}

// Form says which values a setting may have.
type Form struct {
	Type      string   // one of the Form words
	Values    []string // of FormWord
	Low, High int      // of FormCount
}

// The words of Form.Type.
const (
	FormText      = "text"
	FormPath      = "path"
	FormCount     = "count"    // a whole number
	FormSize      = "size"     // bytes: a whole number, or a text such as 16MiB
	FormDuration  = "duration" // 5s, 500ms, or a number of seconds
	FormAge       = "age"      // 12h, 30d
	FormHold      = "hold"     // auto, never, or a duration
	FormBool      = "bool"
	FormWord      = "word" // one of Values
	FormSources   = "sources"
	FormProviders = "providers"
	FormAgents    = "agents"
	FormForward   = "forward"   // a list of Forward
	FormVariables = "variables" // a mapping of names to values
	FormServers   = "servers"   // a list of addresses
	FormGlobs     = "globs"     // a list of globs
	FormApprovers = "approvers" // a mapping of names to public keys
)

// keys is every setting, in the order of the documentation.
var keys = []key{
	{"hooks_dir", "folder of hook folders", path(func(c *Config) *string { return &c.HooksDir })},
	{
		"sources",
		"further hooks: files, [{type: docker-agent, path: ./agent.yaml}] whose path may be a glob, or folders of " +
			"hook folders, [{type: hookdir, path: ~/team}]",
		reader{Form{Type: FormSources}, sources, func(c *Config) any { return c.Sources }},
	},
	{"socket", "Unix socket (needs a restart)", path(func(c *Config) *string { return &c.Socket })},
	{"slots.observers", "runs of observers at once (needs a restart)",
		count(1, 1024, func(c *Config) *int { return &c.SlotsObservers })},
	{"slots.decidable", "runs of decidable events at once, at each depth of events (needs a restart)",
		count(1, 1024, func(c *Config) *int { return &c.SlotsDecidable })},
	{"queue.max_events", "events that may wait for their observers (needs a restart)",
		count(1, 10_000_000, func(c *Config) *int { return &c.QueueMaxEvents })},
	{"queue.max_bytes", "payload in memory, half for events that wait in memory (needs a restart)",
		size(func(c *Config) *int64 { return &c.QueueMaxBytes })},
	{"queue.max_disk_bytes", "payload that may wait on disk for its hooks",
		size(func(c *Config) *int64 { return &c.QueueMaxDisk })},
	{"store.path", "database of accepted events and history (needs a restart)",
		path(func(c *Config) *string { return &c.StorePath })},
	{"store.durable", "fsync: an accepted event survives a loss of power; os: a crash of hookd (needs a restart)",
		oneOf([]string{"fsync", "os"}, func(c *Config) *string { return &c.StoreDurable })},
	{"history.max_age", "how long runs and events are kept, such as 30d or 12h",
		age(func(c *Config) *time.Duration { return &c.HistoryMaxAge })},
	{"history.max_bytes", "size of the database beyond which the oldest go",
		size(func(c *Config) *int64 { return &c.HistoryMaxBytes })},
	{"history.max_runs", "runs that are kept, and as many events",
		count(1, 1_000_000_000, func(c *Config) *int { return &c.HistoryMaxRuns })},
	{
		"history.payload",
		"what is kept of an event's data once its hooks have run: none, preview (2 KiB; of what was decided 16 KiB) or full",
		oneOf([]string{"none", "preview", "full"}, func(c *Config) *string { return &c.HistoryPayload }),
	},
	{"redact_history", "take secrets out of what the history keeps",
		boolean(func(c *Config) *bool { return &c.RedactHistory })},
	{"replay_max_age", "an event that is older than this when hookd comes back is not run any more",
		age(func(c *Config) *time.Duration { return &c.ReplayMaxAge })},
	{"max_event_bytes", "largest event on the socket (needs a restart)",
		size(func(c *Config) *int64 { return &c.MaxEventBytes })},
	{"timeouts.command", "deadline of a command hook that names none",
		deadline(func(c *Config) *time.Duration { return &c.TimeoutCommand })},
	{"timeouts.script", "deadline of a script hook that names none",
		deadline(func(c *Config) *time.Duration { return &c.TimeoutScript })},
	{"timeouts.builtin", "deadline of a built-in that names none",
		deadline(func(c *Config) *time.Duration { return &c.TimeoutBuiltin })},
	{"timeouts.model", "deadline of a model hook that names none",
		deadline(func(c *Config) *time.Duration { return &c.TimeoutModel })},
	{"timeouts.agent", "deadline of a hook that starts another agent and names none",
		deadline(func(c *Config) *time.Duration { return &c.TimeoutAgent })},
	{
		"asks.hold",
		"when hookd holds a call that a hook asks about until a person answers: auto (where the agent cannot ask), " +
			"never, or for so long whatever the agent can do; only while an approver is present",
		hold(func(c *Config) *string { return &c.AskHold }),
	},
	{"asks.timeout", "how long such a call is held at most",
		deadline(func(c *Config) *time.Duration { return &c.AskTimeout })},
	{"undo.keep", "keep what calls destroy, so that `hookd undo` brings it back",
		boolean(func(c *Config) *bool { return &c.Undo.Keep })},
	{"undo.wait", "how long a verdict waits for that at most",
		deadline(func(c *Config) *time.Duration { return &c.Undo.Wait })},
	{
		"undo.late",
		"a call when that is over before all is kept: wait (5 s at most, then ask), go (with a warning on record), ask or deny",
		oneOf([]string{UndoWait, UndoGo, UndoAsk, UndoDeny}, func(c *Config) *string { return &c.Undo.Late }),
	},
	{"undo.max_bytes", "size of all that is kept beyond which the oldest go",
		size(func(c *Config) *int64 { return &c.Undo.MaxBytes })},
	{"undo.max_age", "how long it is kept; a call of more than 1 GiB for a day at most",
		age(func(c *Config) *time.Duration { return &c.Undo.MaxAge })},
	{"undo.never", "globs of paths, or of names, that are never kept: ['*.iso', /big/**]",
		reader{Form{Type: FormGlobs}, undoNever, func(c *Config) any { return c.Undo.Never }}},
	{
		"snapshot",
		"run the built-in snapshot for every agent, so that `hookd undo` lists what each turn changed",
		boolean(func(c *Config) *bool { return &c.Snapshot }),
	},
	{"providers", "where model hooks are answered: {name: {type: openai|anthropic, base_url: URL, api_key_env: NAME}}",
		reader{Form{Type: FormProviders}, providers, func(c *Config) any { return c.Providers }}},
	{
		"http.listen",
		"loopback address for agents that call hooks over HTTP, such as 127.0.0.1:7780; default: none (needs a restart)",
		loopback(func(c *Config) *string { return &c.HTTPListen }),
	},
	{
		"metrics.listen",
		"loopback address on which metrics are read with a token, such as 127.0.0.1:7781; default: none (needs a restart)",
		loopback(func(c *Config) *string { return &c.MetricsListen }),
	},
	{"watch_programs", "compare the programs that agents' processes start with the calls that hookd was asked about, " +
		"see [security.md](security.md) (Linux 6.6; needs a restart)",
		boolean(func(c *Config) *bool { return &c.WatchPrograms })},
	{"cgroup", "give each run a cgroup of its own where that is possible; false: process groups only (needs a restart)",
		boolean(func(c *Config) *bool { return &c.Cgroup })},
	{
		"env",
		"variables added to the environment of every hook",
		reader{Form{Type: FormVariables}, environment, func(c *Config) any { return c.Env }},
	},
	{"agents", "how Familiar's agent actions are started: {name: {command: [...], prompt: stdin|arg}}",
		reader{Form{Type: FormAgents}, agents, func(c *Config) any { return c.Agents }}},
	{"path", "PATH of every hook; empty: the daemon's own", text(func(c *Config) *string { return &c.Path })},
	{
		"forward",
		"where decisions are handed on to, see [forward.md](forward.md): [{type: otlp, url: URL}, " +
			"{type: webhook, url: URL, headers: {NAME: VALUE}, sign: file:PATH}, {type: file, path: PATH}]",
		reader{Form{Type: FormForward}, forwards, func(c *Config) any { return shownForwards(c.Forward) }},
	},
	{"policy.interval", "how often the source of a policy is asked for a newer bundle",
		age(func(c *Config) *time.Duration { return &c.PolicyInterval })},
	{
		"fleet.servers",
		"NATS servers that the machine shares with others, see [fleet.md](fleet.md): [tls://nats.example.org:4222]; " +
			"default: none (needs a restart)",
		reader{Form{Type: FormServers}, fleetServers, func(c *Config) any { return c.Fleet.Servers }},
	},
	{"fleet.creds", "file that the machine proves its name with: an nkey seed, or a NATS .creds file (needs a restart)",
		path(func(c *Config) *string { return &c.Fleet.Creds })},
	{"fleet.ca", "certificates to trust with tls:// servers; empty: the system's certificates (needs a restart)",
		path(func(c *Config) *string { return &c.Fleet.CA })},
	{"fleet.name", "name of this machine in the fleet; empty: its host name (needs a restart)",
		fleetName(func(c *Config) *string { return &c.Fleet.Name })},
	{"fleet.tenant", "machines of another tenant are in another fleet (needs a restart)",
		fleetName(func(c *Config) *string { return &c.Fleet.Tenant })},
	{"fleet.embedded", "start hookd-fleet-server at the first of fleet.servers, else at 127.0.0.1:4222 (needs a restart)",
		boolean(func(c *Config) *bool { return &c.Fleet.Embedded })},
	{"fleet.approvers", "whose signed answers to this machine's asks count: {NAME: ed25519:KEY}",
		reader{Form{Type: FormApprovers}, fleetApprovers, func(c *Config) any { return c.Fleet.Approvers }}},
	{
		"reload.mode",
		"auto: also on file changes; ask: the same, but new and changed hooks wait for `hookd allow`; manual: only when asked (needs a restart)",
		oneOf([]string{"auto", "ask", "manual"}, func(c *Config) *string { return &c.ReloadMode }),
	},
	{"log.level", "debug, info, warn or error",
		oneOf([]string{"debug", "info", "warn", "error"}, func(c *Config) *string { return &c.LogLevel })},
	{"log.format", "json or console; default: console on a terminal (needs a restart)",
		oneOf([]string{"json", "console"}, func(c *Config) *string { return &c.LogFormat })},
	{"fire_startup", "emit gateway:startup when the boot is done",
		boolean(func(c *Config) *bool { return &c.FireStartup })},
	{"required", "of the system daemon only: agents' calls are denied where it does not answer, see [system.md](system.md)",
		boolean(func(c *Config) *bool { return &c.Required })},
}

// Key describes a setting for documentation.
type Key struct {
	Name, Env, Flag, Doc string
	Form                 Form
}

// Keys returns every setting. The list is shared: read it only.
func Keys() []Key { return allKeys() }

var allKeys = sync.OnceValue(func() []Key {
	list := make([]Key, len(keys))
	for i, k := range keys {
		list[i] = Key{k.name, k.envName(), FlagName(k.name), k.doc, k.form}
	}
	return list
})

func (k key) envName() string {
	return "HOOKD_" + strings.ToUpper(strings.ReplaceAll(k.name, ".", "_"))
}

// needsRestart reports whether only a restart of the daemon puts a change of the key into force.
func (k key) needsRestart() bool { return strings.Contains(k.doc, "needs a restart") }

// setText sets the key from a flag or variable, which is read as YAML.
func (k key) setText(c *Config, value string) error {
	node := yaml.Node{Kind: yaml.ScalarNode, Value: value}
	if slices.Contains([]string{"env", "sources", "agents", "providers", "fleet.approvers", "forward"}, k.name) {
		root, err := document([]byte(value))
		if err != nil || root == nil || null(root) != nil {
			return fmt.Errorf("want YAML such as {NAME: value} or [{type: T, path: P}], got %q", value)
		}
		node = *root
	}
	return k.set(c, &node)
}

func find(name string) *key {
	i := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
	if i < 0 {
		return nil
	}
	return &keys[i]
}

func isGroup(name string) bool {
	return slices.ContainsFunc(keys, func(k key) bool { return strings.HasPrefix(k.name, name+".") })
}

// EnvName is the variable of a setting.
func EnvName(name string) string { return key{name: name}.envName() }

// Near says which setting a misspelt name may mean; "" = none is near.
func Near(name string) string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return spell.DidYouMean(name, names)
}

func scalar(n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode {
		return "", fmt.Errorf("want one value, not a list or mapping")
	}
	return n.Value, nil
}

// parsed is the reader of a setting with one value, which parse reads.
func parsed[T any](form Form, field func(*Config) *T, parse func(c *Config, text string) (T, error)) reader {
	return reader{form, func(c *Config, n *yaml.Node) error {
		text, err := scalar(n)
		if err != nil {
			return err
		}
		v, err := parse(c, text)
		if err == nil {
			*field(c) = v
		}
		return err
	}, valueOf(field)}
}

func text(field func(*Config) *string) reader {
	return parsed(Form{Type: FormText}, field, func(_ *Config, v string) (string, error) { return v, nil })
}

func path(field func(*Config) *string) reader {
	return parsed(Form{Type: FormPath}, field, func(c *Config, v string) (string, error) { return absolute(c.Home, v) })
}

// absolute expands ~, and makes a relative path one below the home, where hookd.yaml
// is.
func absolute(home, path string) (string, error) {
	if path == "" {
		return "", fmt.Errorf("want a path, it is empty")
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		return filepath.Join(user, rest), nil
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Join(home, path), nil
}

func sources(c *Config, n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		return fmt.Errorf("want a list such as [{type: docker-agent, path: ./agent.yaml}]")
	}
	list := []Source{}
	for _, item := range n.Content {
		s, err := source(c, item)
		if err != nil {
			return fmt.Errorf("line %d: %w", item.Line, err)
		}
		list = append(list, s)
	}
	c.Sources = list
	return nil
}

func source(c *Config, n *yaml.Node) (s Source, err error) {
	if n.Kind != yaml.MappingNode {
		return s, fmt.Errorf("want {type: …, path: …}")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i].Value; k != "type" && k != "path" {
			return s, fmt.Errorf("unknown key %q, want type and path", k)
		}
	}
	if err := n.Decode(&s); err != nil {
		return s, fmt.Errorf("want {type: …, path: …}")
	}
	if !slices.Contains(SourceTypes, s.Type) {
		return s, fmt.Errorf("type %q, want %s", s.Type, strings.Join(SourceTypes, " or "))
	}
	if s.Path, err = absolute(c.Home, s.Path); err != nil {
		return s, err
	}
	if _, err := filepath.Match(s.Path, ""); err != nil {
		return s, fmt.Errorf("path %q: %w", s.Path, err)
	}
	return s, nil
}

func count(low, high int, field func(*Config) *int) reader {
	return parsed(Form{Type: FormCount, Low: low, High: high}, field, func(_ *Config, v string) (int, error) {
		i, err := strconv.Atoi(v)
		if err != nil || i < low || i > high {
			return 0, fmt.Errorf("want a whole number from %d to %d, got %q", low, high, v)
		}
		return i, nil
	})
}

// age reads a duration that may be long: 12h, 30d.
func age(field func(*Config) *time.Duration) reader {
	return parsed(Form{Type: FormAge}, field, func(_ *Config, v string) (time.Duration, error) {
		d, err := duration.Parse(v)
		if err != nil || d < time.Second || d > 100*365*24*time.Hour {
			return 0, fmt.Errorf("want a time from 1s to 36500d such as 12h or 30d, got %q", v)
		}
		return d, nil
	})
}

// size reads bytes: a whole number, or one with KiB, MiB or GiB.
func size(field func(*Config) *int64) reader {
	return parsed(Form{Type: FormSize}, field, func(_ *Config, v string) (int64, error) {
		digits, unit := v, int64(1)
		for suffix, u := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
			if d, ok := strings.CutSuffix(v, suffix); ok {
				digits, unit = strings.TrimSpace(d), u
			}
		}
		i, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || i < 1 || i > 1<<40/unit {
			return 0, fmt.Errorf("want bytes such as 1048576, 512KiB or 16MiB, got %q", v)
		}
		return i * unit, nil
	})
}

func deadline(field func(*Config) *time.Duration) reader {
	return parsed(Form{Type: FormDuration}, field, func(_ *Config, v string) (time.Duration, error) {
		d, err := duration.Parse(v)
		if err != nil || d < 50*time.Millisecond || d > 10*time.Minute {
			return 0, fmt.Errorf("want a duration from 50ms to 10m such as 5s or 500ms, got %q", v)
		}
		return d, nil
	})
}

// hold reads auto, never or a duration.
func hold(field func(*Config) *string) reader {
	return parsed(Form{Type: FormHold}, field, func(_ *Config, v string) (string, error) {
		d, err := duration.Parse(v)
		if v != HoldAuto && v != HoldNever && (err != nil || d < time.Second || d > 10*time.Minute) {
			return "", fmt.Errorf("want auto, never, or a duration from 1s to 10m such as 1m, got %q", v)
		}
		return v, nil
	})
}

func boolean(field func(*Config) *bool) reader {
	return parsed(Form{Type: FormBool}, field, func(_ *Config, v string) (bool, error) {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return false, fmt.Errorf("want true or false, got %q", v)
		}
		return b, nil
	})
}

func oneOf(allowed []string, field func(*Config) *string) reader {
	return parsed(Form{Type: FormWord, Values: allowed}, field, func(_ *Config, v string) (string, error) {
		if !slices.Contains(allowed, v) {
			return "", fmt.Errorf("want %s, got %q", strings.Join(allowed, " or "), v)
		}
		return v, nil
	})
}

func environment(c *Config, n *yaml.Node) error {
	env := map[string]string{}
	if err := n.Decode(&env); err != nil {
		return fmt.Errorf("want a mapping of names to values")
	}
	for name, value := range env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return fmt.Errorf("%q cannot be the name of a variable", name)
		}
	}
	c.Env = env
	return nil
}

func agents(c *Config, n *yaml.Node) error {
	list := map[string]Agent{}
	if n.Kind != yaml.MappingNode || n.Decode(&list) != nil {
		return fmt.Errorf("want a mapping such as {default: {command: [claude, -p], prompt: stdin}}")
	}
	for name, a := range list {
		if len(a.Command) == 0 || a.Command[0] == "" {
			return fmt.Errorf("agent %q has no command", name)
		}
		if a.Prompt == "" {
			a.Prompt = "stdin"
		}
		if a.Prompt != "stdin" && a.Prompt != "arg" {
			return fmt.Errorf("agent %q: prompt %q, want stdin or arg", name, a.Prompt)
		}
		list[name] = a
	}
	c.Agents = list
	return nil
}

func providers(c *Config, n *yaml.Node) error {
	list := map[string]Provider{}
	if n.Kind != yaml.MappingNode || n.Decode(&list) != nil {
		return fmt.Errorf("want a mapping such as {local: {type: openai, base_url: http://127.0.0.1:8080/v1}}")
	}
	for name, p := range list {
		if p.Type != "" && p.Type != "openai" && p.Type != "anthropic" {
			return fmt.Errorf("provider %q: type %q, want openai or anthropic", name, p.Type)
		}
		if p.BaseURL != "" && !strings.HasPrefix(p.BaseURL, "http://") && !strings.HasPrefix(p.BaseURL, "https://") {
			return fmt.Errorf("provider %q: base_url %q, want http:// or https://", name, p.BaseURL)
		}
	}
	c.Providers = list
	return nil
}

// loopback reads HOST:PORT with a loopback host; "" is none.
func loopback(field func(*Config) *string) reader {
	return parsed(Form{Type: FormText}, field, func(_ *Config, v string) (string, error) {
		if v == "" {
			return "", nil
		}
		host, port, err := net.SplitHostPort(v)
		if number, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || number == 0 {
			return "", fmt.Errorf("%q, want HOST:PORT such as 127.0.0.1:7780", v)
		}
		if !https.Local(host) {
			return "", fmt.Errorf("%q, want a loopback address such as 127.0.0.1:%s: "+
				"hookd is not for other machines", v, port)
		}
		return v, nil
	})
}
