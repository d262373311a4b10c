// Package importer turns hooks that stand in an agent's own settings into folders
// of hookd.
//
// It promises: the agent's settings are only read. A hook is taken over only where
// it does the same as before. A hook that hookd cannot express, or would run differently, is named
// with the reason and left where it is. A folder appears complete or not at all, and
// the hook in it is switched off from the start: as long as the agent has it too, it
// would run twice. Nothing of a hook is run.
package importer

import (
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/base/lazyregexp"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/events"
)

// Agents returns the agents whose hooks can be imported.
func Agents() []string {
	return dialect.AgentsWith(func(s *neutral.Settings) bool { return s.Import != neutral.ImportsNone })
}

// Candidate is a hook that can be taken over.
type Candidate struct {
	Name    string   `json:"name"`
	Event   string   `json:"event"`
	Matcher string   `json:"matcher,omitempty"`
	Command string   `json:"command"`
	Dir     string   `json:"dir"`
	There   bool     `json:"there"` // it was imported before
	Notes   []string `json:"notes,omitempty"`

	text string // of its HOOK.yaml
}

// Left is a hook that stays with the agent.
type Left struct {
	Event   string `json:"event"`
	Command string `json:"command,omitempty"`
	Why     string `json:"why"`
}

// Plan has the hooks to import.
type Plan struct {
	Agent string      `json:"agent"`
	File  string      `json:"file"` // the agent's settings
	Hooks []Candidate `json:"hooks"`
	Left  []Left      `json:"left"`

	markers discovery.Markers
}

// Options say whose hooks to read, and where they are to go.
type Options struct {
	Connect     connect.Options // Agent is required
	HooksDir    string
	DisabledDir string // where hookd marks hooks that are off
}

// Read plans an import. It changes nothing.
func Read(o Options) (Plan, error) {
	p := Plan{Agent: o.Connect.Agent, Hooks: []Candidate{}, Left: []Left{}}
	p.markers = discovery.NewMarkers(o.DisabledDir)
	path, list, err := connect.OwnHooks(o.Connect)
	if err != nil {
		return p, err
	}
	p.File = path
	taken := map[string]bool{}
	for _, own := range list {
		command, _ := own.Handler["command"].(string)
		h, why := p.hook(own)
		if why != "" {
			p.Left = append(p.Left, Left{own.Event, command, why})
			continue
		}
		if err := p.place(&h, o.HooksDir, taken); err != nil {
			return p, err
		}
		p.Hooks = append(p.Hooks, h)
	}
	return p, nil
}

// known are the members of a group and of a handler that mean nothing else here, or
// are taken over.
var known = map[string]bool{
	"type": true, "command": true, "timeout": true, "async": true, "description": true, "name": true,
	"statusMessage": true, "sequential": true, "args": true,
}

// hook turns a hook into one of hookd's; it returns why it cannot be one, otherwise.
func (p Plan) hook(own connect.OwnHook) (h Candidate, why string) {
	d := events.Dialect(p.Agent)
	row := events.LookupIn(d, own.Event)
	kind, _ := own.Handler["type"].(string)
	typed := dialect.Settings(d).Import == neutral.ImportsTyped
	h = Candidate{Event: own.Event, Matcher: own.Matcher}
	switch {
	case row == nil:
		return h, "hookd does not know this event"
	case kind != "command" && (kind != "" || typed):
		return h, "it is no command, but of type " + strconv.Quote(kind)
	case row.Explicit:
		return h, "the agent takes its silence for a denial"
	case own.Matcher != "" && own.Matcher != "*" && !row.ToolMatched:
		return h, "its matcher " + strconv.Quote(own.Matcher) + " is not about a tool"
	}
	for _, members := range []map[string]any{own.Group, own.Handler} {
		for key := range members {
			if !known[key] {
				return h, "hookd has nothing for its `" + key + "`"
			}
		}
	}
	if h.Command, why = commandOf(own.Handler); why != "" {
		return h, why
	}
	if h.Matcher == "*" {
		h.Matcher = ""
	}
	if _, err := regexp.Compile(h.Matcher); err != nil {
		return h, "its matcher is no regular expression that hookd takes: " + err.Error()
	}
	timeout := dialect.Agent(d).Timeout(own.Event)
	if n, err := strconv.ParseFloat(fmt.Sprint(own.Handler["timeout"]), 64); err == nil && n > 0 && !math.IsInf(n, 0) {
		timeout = time.Duration(n * float64(cmp.Or(dialect.Settings(d).Unit, time.Second)))
	}
	h.text = p.yaml(h, own, min(max(timeout, 50*time.Millisecond), 10*time.Minute))
	h.Notes = append(h.Notes, "it runs in its own folder; the one where the agent works is `cwd` of what it is given")
	if row.FailClosed {
		h.Notes = append(h.Notes, "when it crashes the call is denied; as the agent's own hook it would let it through")
	}
	return h, ""
}

// relative matches a program or argument that begins in the folder where the agent
// works: hookd runs hooks in their own.
var relative = lazyregexp.New(`(^|[\s;&|("'=])(\.\.?/|[A-Za-z0-9_.-]+/)`)

// inFolder matches words that stand for the folder where the agent works, or for a file in
// it without a folder's name: `.`, `*.go`, `check.py`, `$PWD`, `git rev-parse --show-toplevel`.
var inFolder = lazyregexp.New(`(^|[\s;&|("'=])(\.\.?|[^\s/;&|("'=$]*\*[^\s]*|` +
	`[A-Za-z0-9_-]+\.(py|sh|bash|zsh|js|mjs|cjs|ts|rb|pl|php|lua|jar))($|[\s;&|)"'])|` +
	`\$\{?(OLD)?PWD\b|(^|[\s;&|(` + "`" + `])pwd\b|--show-toplevel`)

// commandOf is the shell text that a handler runs.
func commandOf(handler map[string]any) (command, why string) {
	command, _ = handler["command"].(string)
	if args, ok := handler["args"].([]any); ok {
		command = quote(command)
		for _, a := range args {
			text, ok := a.(string)
			if !ok {
				return "", "its `args` are not all texts"
			}
			command += " " + quote(text)
		}
	}
	switch {
	case strings.TrimSpace(command) == "":
		return "", "it has no command"
	case strings.ContainsRune(command, 0):
		return "", "its command has a null byte"
	case strings.Contains(command, "_PROJECT_DIR"):
		return command, "it asks for the project's folder by a variable: hookd gives it as `cwd` of the payload"
	case relative.MatchString(command), inFolder.MatchString(command):
		return command, "it names a file in the folder where the agent works: hookd runs hooks in their own folder"
	}
	return command, ""
}

func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// yaml writes the HOOK.yaml. Texts are in JSON's quotes, which are YAML's, too. The
// name stands in its first line and is written by place.
func (p Plan) yaml(h Candidate, own connect.OwnHook, timeout time.Duration) string {
	text := func(s string) string {
		quoted, _ := rawjson.Encode(s) // text always encodes
		return string(quoted)
	}
	var b strings.Builder
	description, _ := own.Handler["description"].(string)
	if description == "" {
		description = own.Event + " of " + p.Agent + ", out of " + p.File
	}
	fmt.Fprintf(&b, "description: %s\nevents: %s\n", text(description), text(own.Event))
	if h.Matcher != "" {
		fmt.Fprintf(&b, "matcher: %s\n", text(h.Matcher))
	}
	fmt.Fprintf(&b, "type: script\nscript: %s\ntimeout: %s\n", text(h.Command), timeout)
	if async, _ := own.Handler["async"].(bool); async {
		b.WriteString("blocking: false\n")
	}
	fmt.Fprintf(&b, "filter:\n  agents: [%s] # leave it out to serve every agent\n", p.Agent)
	return b.String()
}

// place gives a hook a name that is free, or the folder that it was imported into.
func (p Plan) place(h *Candidate, hooksDir string, taken map[string]bool) error {
	base := nameOf(h.Command, h.Event)
	for n := 1; ; n++ {
		h.Name = base
		if n > 1 {
			h.Name = base + "-" + strconv.Itoa(n)
		}
		h.Dir = filepath.Join(hooksDir, h.Name)
		if taken[h.Name] {
			continue
		}
		_, err := os.Lstat(h.Dir)
		if err == nil {
			have, readErr := os.ReadFile(filepath.Join(h.Dir, "HOOK.yaml"))
			if h.There = readErr == nil && string(have) == h.manifest(); !h.There {
				continue
			}
		} else if !os.IsNotExist(err) {
			return err
		}
		taken[h.Name] = true
		return nil
	}
}

func (h Candidate) manifest() string { return "name: " + h.Name + "\n" + h.text }

var (
	notInName = lazyregexp.New(`[^A-Za-z0-9._-]+`)
	skipped   = []string{"sh", "bash", "zsh", "env", "exec", "python", "python3", "node", "npx", "uv", "uvx", "run", "sudo"}
)

// nameOf is the name of the program or script that a command runs, else the event's.
func nameOf(command, event string) string {
	for word := range strings.FieldsSeq(strings.NewReplacer(`"`, "", `'`, "").Replace(command)) {
		name := filepath.Base(word)
		if strings.HasPrefix(word, "-") || strings.Contains(word, "=") || slices.Contains(skipped, name) {
			continue
		}
		name = strings.TrimSuffix(name, filepath.Ext(name))
		if name = strings.Trim(notInName.ReplaceAllString(name, "-"), "-._"); name != "" && len(name) <= 64 {
			return name
		}
		break
	}
	return strings.Trim(notInName.ReplaceAllString(event, "-"), "-._")
}

// Apply writes the folders of the hooks that are not there yet, each switched off.
func (p Plan) Apply() error {
	for _, h := range p.Hooks {
		if h.There {
			continue
		}
		if err := p.markers.Disable(h.Name, "hookd import"); err != nil { // before it can be seen
			return err
		}
		if err := h.write(); err != nil {
			return fmt.Errorf("import %s: %w", h.Name, err)
		}
	}
	return nil
}

func (h Candidate) write() error {
	if err := os.MkdirAll(filepath.Dir(h.Dir), 0o700); err != nil {
		return err
	}
	draft, err := os.MkdirTemp(filepath.Dir(h.Dir), ".import-") // such names are no hooks
	if err != nil {
		return err
	}
	defer os.RemoveAll(draft)
	if err := os.WriteFile(filepath.Join(draft, "HOOK.yaml"), []byte(h.manifest()), 0o644); err != nil {
		return err
	}
	if err := os.Chmod(draft, 0o755); err != nil {
		return err
	}
	if _, err := os.Lstat(h.Dir); err == nil {
		return fs.ErrExist
	}
	return os.Rename(draft, h.Dir)
}
