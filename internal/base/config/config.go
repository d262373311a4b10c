// Package config has hookd's settings: the struct, the defaults, and where values
// come from. Flags win over the environment (HOOKD_ and the key in upper snake case),
// which wins over hookd.yaml, which wins over the defaults. A bad value is an error
// with the key, its place and the values that it may have; there is no half-loaded
// Config. The package reads one file and has no state.
package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/system"
	"github.com/hookd/hookd/internal/base/trust"
)

// Config is every setting. Paths are absolute after Load.
type Config struct {
	Home   string // LIBREFANG_HOME, default ~/.librefang
	State  string // folder of what the daemon writes; Home, except for the system daemon
	System bool   // of the system daemon: Home is root's alone
	Socket string // default HOME/hookd.sock

	HooksDir string   // default HOME/hooks
	Sources  []Source // further files that hold hooks

	SlotsObservers int // runs of observers at once
	SlotsDecidable int // runs of decidable events at once and depth; guards in the shadow have as many
	QueueMaxEvents int // events that wait for their observers
	QueueMaxBytes  int64
	QueueMaxDisk   int64 // payload that may wait on disk
	MaxEventBytes  int64 // of one event on the socket

	HTTPListen string // loopback HOST:PORT for agents that call hooks over HTTP; "" = none
	// MetricsListen is the loopback HOST:PORT on which metrics are read; "" = none.
	MetricsListen string

	StorePath    string // default HOME/hookd.db
	StoreDurable string // fsync or os

	HistoryMaxAge   time.Duration
	HistoryMaxBytes int64
	HistoryMaxRuns  int
	HistoryPayload  string // none, preview or full
	RedactHistory   bool   // secrets are redacted in it
	Undo            Undo
	Snapshot        bool          // the snapshot built-in runs for every agent
	ReplayMaxAge    time.Duration // a run of an older event becomes a dead letter when hookd starts

	TimeoutCommand time.Duration // deadline of a hook that sets none, by type
	TimeoutScript  time.Duration
	TimeoutBuiltin time.Duration
	TimeoutModel   time.Duration
	TimeoutAgent   time.Duration

	AskHold    string        // HoldAuto, HoldNever or a duration: when and how long asks are held
	AskTimeout time.Duration // how long at most

	// WatchPrograms compares the programs that agents' processes start with the calls that hookd was asked about.
	WatchPrograms bool

	Cgroup bool // a cgroup of its own for each run, where a cgroup v2 folder is writable

	Env  map[string]string // added to the environment of every hook
	Path string            // PATH of every hook; "" = the daemon's own

	Providers map[string]Provider // of model hooks, on top of openai, anthropic, ollama and dmr

	Agents map[string]Agent // how Familiar's agent actions are started, by name; "default" for other names

	Forward []Forward // where decisions are handed on to

	PolicyInterval time.Duration // between two looks at the source of a policy

	Fleet Fleet // the other machines

	ReloadMode  string // auto: on file changes too; ask: the same, but changes wait to be allowed; manual: by command
	LogLevel    string // debug, info, warn, error
	LogFormat   string // json, console; "" = console on a terminal, else json
	FireStartup bool   // emit gateway:startup when the boot is done
	Required    bool   // of the system daemon: without its answer agents' calls are denied

	File        []byte   // hookd.yaml as it was read; nil = there is none
	Asks        bool     // changes of hookd.yaml wait to be allowed
	AllowedText []byte   // hookd.yaml as it was allowed, with Asks
	Held        []string // keys of hookd.yaml whose change waits; they have their allowed values
}

// The words that asks.hold and a hook's hold may have beside a duration.
const (
	HoldAuto  = "auto"  // where the agent cannot ask a person itself
	HoldNever = "never" // an ask goes to the agent
)

// Source is one entry of `sources`.
type Source struct {
	Type string `yaml:"type"` // one of SourceTypes
	Path string `yaml:"path"` // a file, or a glob of files; of a hookdir a folder; absolute after Load
}

// SourceTypes are the values of Source.Type: words of hookd.yaml, each the name of a
// file format that package catalog has a parser for.
var SourceTypes = []string{"docker-agent", "familiar", HookDir}

// HookDir is the type of a source that is a folder of hook folders.
const HookDir = "hookdir"

// Provider is a service that model hooks ask. An empty field has the value of the
// known provider of that name.
type Provider struct {
	Type      string `yaml:"type"`        // openai or anthropic: the protocol
	BaseURL   string `yaml:"base_url"`    // http or https
	APIKeyEnv string `yaml:"api_key_env"` // the variable that holds the key; the key itself is never in a file
}

// Agent is how another agent is started with a prompt.
type Agent struct {
	Command []string `yaml:"command"` // program and arguments, no shell
	Prompt  string   `yaml:"prompt"`  // stdin, or arg: appended to Command
}

// Home returns LIBREFANG_HOME, else ~/.librefang, absolute.
func Home() (string, error) {
	if home := os.Getenv("LIBREFANG_HOME"); home != "" {
		return filepath.Abs(home)
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the home directory: %w; set LIBREFANG_HOME", err)
	}
	return filepath.Join(user, ".librefang"), nil
}

// SettingsFile is where the settings are written; it need not be there.
func (c Config) SettingsFile() string { return filepath.Join(c.Home, "hookd.yaml") }

// Besides its socket, lock, settings and database, hookd has all its files in one
// folder: the home is LibreFang's, too.

// TempDir is the folder for payloads that are too large for the environment, during a
// run. It is emptied at the start.
func (c Config) TempDir() string { return filepath.Join(c.State, "hookd", "tmp") }

// DataDir is the folder of built-ins for data that outlives a run.
func (c Config) DataDir() string { return filepath.Join(c.State, "hookd", "data") }

// VaultDir is the folder of the files that calls destroyed, and that can be brought
// back.
func (c Config) VaultDir() string { return filepath.Join(c.State, "vault") }

// DisabledDir is the folder of the markers of hooks that are switched off.
func (c Config) DisabledDir() string { return filepath.Join(c.Home, "hookd", "disabled") }

// AllowedDir is the folder of the approvals of `hookd allow`.
func (c Config) AllowedDir() string { return filepath.Join(c.Home, "hookd", "allowed") }

// TrustedDir holds the records of repositories that were allowed with `hookd trust`.
func (c Config) TrustedDir() string { return filepath.Join(c.Home, "hookd", "trusted") }

// PolicyDir holds the policy that was set, and its bundles.
func (c Config) PolicyDir() string { return filepath.Join(c.Home, "hookd", "policy") }

// ChangesFile is the log of changes of hooks.
func (c Config) ChangesFile() string { return filepath.Join(c.State, "hookd", "changes.log") }

// TokenFile is the file of the token for agents that call hooks over HTTP.
func (c Config) TokenFile() string { return filepath.Join(c.State, "hookd", "http.token") }

// MetricsTokenFile is the file of the token for metrics over HTTP.
func (c Config) MetricsTokenFile() string { return filepath.Join(c.State, "hookd", "metrics.token") }

// RunsFile lists the runs under way for the next daemon, should this one be killed.
func (c Config) RunsFile() string { return filepath.Join(c.State, "hookd", "runs") }

// PastFile keeps the calls and prompts that rules count which look back, with another
// file, PastFile.1.
func (c Config) PastFile() string { return filepath.Join(c.State, "hookd", "past") }

// ProgramsFile keeps the programs that agents started while hookd was not asked about a call.
func (c Config) ProgramsFile() string { return filepath.Join(c.State, "hookd", "programs.json") }

// LockFile is locked for as long as the daemon runs.
func (c Config) LockFile() string { return filepath.Join(c.State, "hookd.lock") }

// Checker returns the judge of the files of hooks: the files of the system daemon must
// be root's, not its own user's.
func (c Config) Checker() *trust.Checker { return c.CheckerOf(os.Geteuid()) }

// CheckerOf returns the judge of the files of hooks for a daemon that acts as uid.
func (c Config) CheckerOf(uid int) *trust.Checker {
	if c.System {
		return trust.Of(system.Here().Root)
	}
	return trust.Of(uid)
}

// Default returns the settings of a home without hookd.yaml.
func Default(home string) Config {
	slots := max(8, 2*runtime.NumCPU())
	return Config{
		Home: home, State: home,
		Socket: filepath.Join(home, "hookd.sock"), HooksDir: filepath.Join(home, "hooks"),
		SlotsObservers: slots, SlotsDecidable: slots,
		QueueMaxEvents: 10_000, QueueMaxBytes: 64 << 20, QueueMaxDisk: 1 << 30, MaxEventBytes: 16 << 20,
		StorePath: filepath.Join(home, "hookd.db"), StoreDurable: "fsync",
		HistoryMaxAge: 30 * 24 * time.Hour, HistoryMaxBytes: 1 << 30, HistoryMaxRuns: 1_000_000,
		HistoryPayload: "preview", RedactHistory: true, ReplayMaxAge: 24 * time.Hour,
		TimeoutCommand: 5 * time.Second, TimeoutScript: 5 * time.Second,
		TimeoutBuiltin: 5 * time.Second, TimeoutModel: 60 * time.Second, TimeoutAgent: 120 * time.Second,
		AskHold: HoldAuto, AskTimeout: 2 * time.Minute,
		Undo: Undo{
			Keep: true, Wait: 50 * time.Millisecond, Late: UndoGo, MaxBytes: 5 << 30, MaxAge: 14 * 24 * time.Hour,
		},
		Fleet:  Fleet{Tenant: "default"},
		Cgroup: true, PolicyInterval: time.Hour, ReloadMode: "auto", LogLevel: "info", FireStartup: true,
	}
}

// Load returns the settings of home. flags maps keys to values that were given
// on the command line; environ is the environment as os.Environ gives it.
func Load(home string, flags map[string]string, environ []string) (Config, error) {
	c, err := fill(Default(home), flags, environ)
	if err == nil && c.Required {
		err = fmt.Errorf("%s: required is a setting of the system daemon: remove it here", c.SettingsFile())
	}
	if err != nil {
		return Config{}, err
	}
	return c, nil
}

// LoadSystem returns the settings of the system daemon at p. No variable counts.
func LoadSystem(p system.Place, flags map[string]string) (Config, error) {
	c := Default(p.Folder)
	c.System, c.State, c.Socket, c.StorePath = true, p.State, p.Socket, filepath.Join(p.State, "hookd.db")
	c, err := fill(c, flags, nil)
	if err == nil {
		err = c.checkSystem(p)
	}
	if err != nil {
		return Config{}, err
	}
	return c, nil
}

// checkSystem refuses settings that the system daemon cannot have.
func (c Config) checkSystem(p system.Place) error {
	why := ""
	switch {
	case c.Socket != p.Socket:
		why = "socket: agents look for the system daemon at " + p.Socket + " alone: remove the key"
	case c.HTTPListen != "":
		why = "http.listen: the system daemon must know which process calls, so it has its socket alone: remove the key"
	case c.ReloadMode == "ask":
		why = "reload.mode: root alone changes the hooks of the system daemon, so none waits: write auto or manual"
	case c.Required != system.Required(c.File):
		why = "required: write it as a line of its own, `required: true` or `required: false`, and the word nowhere else: " +
			"the programs that ask the daemon read that line alone"
	default:
		return nil
	}
	return fmt.Errorf("%s: %s", c.SettingsFile(), why)
}

// fill sets on top of c the values of hookd.yaml, the environment and the flags.
func fill(c Config, flags map[string]string, environ []string) (Config, error) {
	mode, _ := lookup(environ, "HOOKD_RELOAD_MODE")
	if err := c.readFile(c.SettingsFile(), cmp.Or(flags["reload.mode"], mode)); err != nil {
		return Config{}, err
	}
	for _, k := range keys {
		name := k.envName()
		if v, ok := lookup(environ, name); ok {
			if err := k.setText(&c, v); err != nil {
				return Config{}, fmt.Errorf("environment variable %s: %w", name, err)
			}
		}
	}
	for _, k := range keys {
		if v, ok := flags[k.name]; ok {
			if err := k.setText(&c, v); err != nil {
				return Config{}, fmt.Errorf("flag --%s: %w", FlagName(k.name), err)
			}
		}
	}
	return c, nil
}

// FlagName is the flag of a setting: slots.observers is --slots-observers.
func FlagName(key string) string { return dashes.Replace(key) }

var dashes = strings.NewReplacer(".", "-", "_", "-")

// readFile applies hookd.yaml as far as it is allowed; an absent or empty file sets
// nothing. mode is the reload.mode that wins over the file's; "" = none.
func (c *Config) readFile(path, mode string) error {
	data, err := readfile.Read(path, readfile.Limit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	c.File = data
	nodes, err := parseSettings(path, data)
	if err != nil {
		return err
	}
	whole := *c
	if err := whole.apply(path, nodes); err != nil { // values that wait must be right, too
		return err
	}
	if nodes, err = c.hold(nodes, mode); err != nil {
		return err
	}
	return c.apply(path, nodes)
}

// document returns the root of the only YAML document in data, nil when there is
// none. Its errors begin with their place: ":LINE:COLUMN: " or ": ".
func document(data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf(": %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, fmt.Errorf(":%d:%d: a second YAML document: "+
			"move its settings into the first, and remove the line ---", second.Line, second.Column)
	case !errors.Is(err, io.EOF):
		return nil, fmt.Errorf(": %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return doc.Content[0], nil
}

// parseSettings returns the value of each key that the text of a hookd.yaml sets.
func parseSettings(path string, text []byte) (map[string]*yaml.Node, error) {
	root, err := document(text)
	if err != nil {
		return nil, fmt.Errorf("%s%w", path, err)
	}
	f := settingsFile{path: path, nodes: map[string]*yaml.Node{}, lines: map[string]int{}}
	if root == nil {
		return f.nodes, nil
	}
	return f.nodes, f.mapping("", root)
}

// settingsFile is hookd.yaml while it is read.
type settingsFile struct {
	path  string
	nodes map[string]*yaml.Node // value of each key, under its full name
	lines map[string]int        // of the keys
}

// mapping reads the keys of a mapping, whose nested mappings are dotted keys.
func (f *settingsFile) mapping(prefix string, m *yaml.Node) error {
	if m.Kind != yaml.MappingNode {
		return errorAt(f.path, m, "a mapping of settings is wanted here")
	}
	groups := map[string]int{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		at, value := m.Content[i], m.Content[i+1]
		name, lines := prefix+at.Value, f.lines
		isKey := find(name) != nil
		if !isKey && !isGroup(name) {
			return errorAt(f.path, at, "unknown key %q%s", name, Near(name))
		}
		if !isKey {
			lines = groups // `log.level: x` beside `log: {format: y}` is no repetition
		}
		if line, again := lines[name]; again {
			return errorAt(f.path, at, "%s is set twice, first in line %d: remove one of them", name, line)
		}
		lines[name] = at.Line
		if !isKey {
			if err := f.mapping(name+".", value); err != nil {
				return err
			}
			continue
		}
		if n := null(value); n != nil {
			return errorAt(f.path, n, "%s: there is no value: write one, or remove the key for its default", name)
		}
		f.nodes[name] = value
	}
	return nil
}

// apply sets the keys that have a value.
func (c *Config) apply(path string, nodes map[string]*yaml.Node) error {
	for _, k := range keys {
		if n := nodes[k.name]; n != nil {
			if err := k.set(c, n); err != nil {
				return errorAt(path, n, "%s: %w", k.name, err)
			}
		}
	}
	return nil
}

func errorAt(path string, n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d:%d: %w", path, n.Line, n.Column, fmt.Errorf(format, args...))
}

// null returns the first node in n that has no value: in a list or mapping, too.
func null(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return n
	}
	for _, inner := range n.Content {
		if found := null(inner); found != nil {
			return found
		}
	}
	return nil
}

// NeedsRestart returns the keys in which next differs from c and that only a restart can
// change, as their documentation says, with the values of c; nil = none.
func (c Config) NeedsRestart(next Config) (inForce map[string]string) {
	for _, k := range keys {
		if k.needsRestart() && !reflect.DeepEqual(k.get(&c), k.get(&next)) {
			if inForce == nil {
				inForce = map[string]string{}
			}
			inForce[k.name] = display(k.get(&c))
		}
	}
	return inForce
}

// UntilRestart returns next with the values of c of all keys that only a restart can change.
func (c Config) UntilRestart(next Config) Config {
	next.Socket, next.StorePath, next.StoreDurable = c.Socket, c.StorePath, c.StoreDurable
	next.SlotsObservers, next.SlotsDecidable = c.SlotsObservers, c.SlotsDecidable
	next.QueueMaxEvents, next.QueueMaxBytes, next.MaxEventBytes = c.QueueMaxEvents, c.QueueMaxBytes, c.MaxEventBytes
	next.HTTPListen, next.MetricsListen = c.HTTPListen, c.MetricsListen
	next.WatchPrograms, next.Cgroup = c.WatchPrograms, c.Cgroup
	next.ReloadMode, next.LogFormat = c.ReloadMode, c.LogFormat
	approvers := next.Fleet.Approvers
	next.Fleet = c.Fleet
	next.Fleet.Approvers = approvers
	return next
}

// Restart is the command that ends a daemon with these settings and starts the next one.
func (c Config) Restart() string {
	switch {
	case c.System && runtime.GOOS == "darwin":
		return "sudo launchctl kickstart -k system/io.github.hookd.system"
	case c.System:
		return "sudo systemctl restart hookd"
	}
	return "hookd daemon restart"
}

func lookup(environ []string, name string) (string, bool) {
	for i := len(environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(environ[i], name+"="); ok {
			return v, true
		}
	}
	return "", false
}
