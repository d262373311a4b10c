// Package hook defines a hook: its fields after loading, its compiled
// patterns, and the problems found with it. Values are immutable once their snapshot
// is published. Packages source/NAME read files, package discovery finds them.
package hook

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/rules"
	"github.com/hookd/hookd/wire"
)

// Type is the kind of thing that a hook runs.
type Type string

const (
	Command Type = "command" // an executable, no shell
	Script  Type = "script"  // text for a shell
	Builtin Type = "builtin" // written in Go, see package builtin
	Rules   Type = "rules"   // judged in the daemon, see package rules
	Model   Type = "model"   // a question to a language model, see package judge
	Spawn   Type = "agent"   // another agent, with a prompt
	Send    Type = "send"    // nothing here: its events go to the fleet, see Sender
)

// OnError is the effect of a failure (not a verdict) of a blocking hook where the
// event is not fail-closed.
type OnError string

const (
	OnErrorWarn   OnError = "warn"
	OnErrorIgnore OnError = "ignore"
	OnErrorDeny   OnError = "deny"
)

// Order rules which runs of one hook wait for each other in the observers' queue.
type Order string

const (
	OrderSession  Order = "session" // events of one session in the order accepted
	OrderSerial   Order = "serial"  // one after another
	OrderParallel Order = "parallel"
)

// Limits of a hook's deadline.
const (
	MinTimeout     = 50 * time.Millisecond
	MaxTimeout     = 10 * time.Minute
	DefaultTimeout = 5 * time.Second
	MinHold        = time.Second // the shortest Hold
)

// Hook is one hook, ready to run.
type Hook struct {
	ID          string // unique in a snapshot; the name, for a folder
	Name        string // shown to people
	Called      string // its name in messages to an agent, of docker-agent's hooks without a name; "" = Name
	PlainName   string // what its file calls it, where Name distinguishes it from a hook of another file; "" = Name
	Description string
	Source      Source
	File        string // the file that defines it
	Line        int    // where in File, 1-based; 0 = unknown
	Column      int
	Dir         string // its folder; also where it runs unless WorkingDir is set

	Type       Type
	Path       string   // Command: absolute path of the executable ("" when it was not found)
	NoStart    bool     // Command: the system would not start it; a problem of its file says why
	Missing    []string // Command: files that are not there, any of which may let it start
	Args       []string // Command: arguments after the executable; Builtin: its arguments
	ScriptText string   // Script: text for the shell
	Shell      string   // Script: absolute path of the shell, run as Shell -c ScriptText
	Command    string   // as configured, for people; Builtin: its name

	Model        string // Model: provider/name
	Prompt       string // Model: Go template over the payload
	SystemPrompt string // Model: "" = the judge's own
	Schema       string // Model: "" = the reply is context

	Template   Template       // Script, Spawn: makes ScriptText or the prompt for each event; nil = no placeholders
	SpawnAgent string         // Spawn: name of the agent to start
	Dialect    events.Dialect // of the system whose file defines it, see dialect.Rules; "" = none
	Capture    bool           // Familiar: stdout is appended to hook_output

	Layer   Layer  // how far hookd goes for it without a person's word
	Project string // root of the only working tree whose events it gets; "" = of all
	Files   Files  // of its own, beside those that it names

	Patterns     []pattern.Pattern
	Agent        string // only events of this agent; "" = of all (docker-agent and Familiar files)
	Matcher      *regexp.Regexp
	MatcherText  string
	Filter       Filter
	Lane         string // events.LaneDefault or events.LanePreempt
	Blocking     *bool  // nil = by event and pattern, see Blocks
	OnError      OnError
	OnErrorAlone bool // OnError decides about a failure, also where that of a guard denies
	StrictOutput bool
	Hold         string // of its asks, as the setting asks.hold; "" = that

	Timeout     time.Duration
	TermBefore  time.Duration // SIGTERM this long before the kill; 0 = never
	Env         []string      // NAME=value; see Environ
	WorkingDir  string        // "" = Dir; see RunDir
	RunAs       *Account      // the user that its process runs as; nil = the daemon's own
	Facts       bool          // its payload has the facts of the call
	InEventCwd  bool          // runs in the event's cwd when that exists (docker-agent)
	Enabled     bool
	Persistent  bool // it has workers, see package worker
	Concurrency int  // runs at once, or workers; 0 = no limit of its own, or one worker
	Order       Order
	Retry       Retry // of observers' runs that failed

	Rules    *rules.Set    // Rules: what it judges by
	When     []Condition   // it runs for events that one of them fits; none = for all
	Shadow   bool          // its answers are recorded and never count
	Debounce time.Duration // of the events of a session within it, the last one runs; 0 = each does
	Throttle Rate          // of observers' runs; the zero Rate is no limit
	Scope    Scope         // on which machines of a fleet it runs
	Warm     *bool         // its workers start when it is loaded; nil = if it guards, see IsWarm
	Tests    []Test

	Text       []byte      // of File as it was read; hooks of one file share it
	Sum        string      // of its definition, see trust.Sum
	Digest     string      // of its definition and files, see trust.Digest
	Seal       *trust.Seal // of the same files, checked before each start; nil = none
	Definition string      // identity for de-duplication within one event; "" = never a duplicate
	Problems   []Problem
}

// Account is a user of the machine.
type Account struct {
	Name, Home string
	UID, GID   uint32
	Groups     []uint32 // beside GID
}

// Layer is the origin of a hook, and decides about its rights.
type Layer string

const (
	LayerUser    Layer = ""        // the user's own
	LayerPack    Layer = "pack"    // of a pack: it waits until it is allowed
	LayerProject Layer = "project" // of a repository: it waits, too, and may only tighten
	LayerPolicy  Layer = "policy"  // of a signed bundle: hooks of all other layers may only tighten what it decides
)

// Shared reports whether hooks of the layer were written by others and no signature
// vouches for them: they wait to be allowed whatever reload.mode says.
func (l Layer) Shared() bool { return l == LayerPack || l == LayerProject }

// Signed reports whether a signature vouches for the layer's hooks: they wait for nothing,
// and nothing below switches them off.
func (l Layer) Signed() bool { return l == LayerPolicy }

// Sealed reports whether every file of the layer's hooks counts as their content.
func (l Layer) Sealed() bool { return l.Shared() || l.Signed() }

// Text is the layer for people.
func (l Layer) Text() string {
	if l == LayerUser {
		return "user"
	}
	return string(l)
}

// Files are all files that count as a hook's content.
type Files struct {
	Paths   []string                // of regular files
	Folders []string                // in which no entry may come or go
	Signed  map[string]trust.Signed // by path, what is signed of files; nil = nothing is
	Bad     string                  // why they are not known; "" = they are
	Mend    string                  // the command that mends them; "" = the folder is listed
}

// Relative is the path of a file as it is the same in every working tree of the
// hook's repository; that of a hook of no project stays as it is.
func (h *Hook) Relative(path string) string {
	if h.Project == "" {
		return path
	}
	return strings.TrimPrefix(path, h.Project+"/")
}

// Retry says how often and after which time a failed run of an observer is tried
// again. The zero Retry is never.
type Retry struct {
	Max     int           // attempts after the first
	Backoff time.Duration // before the first of them; doubles each time, with jitter
}

// Source says where a hook was read from.
type Source struct {
	Type string `json:"type"` // hooks_dir, docker-agent, familiar, flag
	Path string `json:"path"`
}

func (s Source) String() string { return s.Type + ":" + s.Path }

// Filter narrows the events of a hook. All that are given must hold.
type Filter struct {
	Tools        []string
	ExcludeTools []string
	Workspaces   []pattern.Pattern // with '/' as separator
	Agents       []pattern.Pattern
}

// Problem is something wrong with a hook's definition.
type Problem = wire.Problem

// Rejects reports whether one of the problems is no warning.
func Rejects(list []Problem) bool {
	return slices.ContainsFunc(list, func(p Problem) bool { return !p.Warning })
}

// State is the state of a hook in a snapshot.
type State string

const (
	Active   State = "active"
	Degraded State = "degraded" // its file is broken and the last good version runs, or it guards and does not work
	Rejected State = "rejected" // its file is broken and there is no good version
	Disabled State = "disabled" // by `hookd disable` or enabled: false
	Refused  State = "refused"  // other users can change its files: it matches, and each of its runs fails
	Waiting  State = "waiting"  // its file is new or has changed: `hookd allow` puts that into force
	Gone     State = "gone"     // it was allowed and is not there any more: it denies until `hookd allow --gone`
)

// Entry is a hook's place in a snapshot.
type Entry struct {
	Hook     *Hook // the version in force; nil when rejected, and while a new one is waiting
	Waits    *Hook // the version that waits to be allowed; nil = none. Hook itself: its marker waits
	Name     string
	File     string
	Source   Source
	State    State
	Problems []Problem // of the file as it stands now

	OffBy string // who has switched it off for all machines of the fleet; "" = the fleet has not

	// Provisional means that Hook was never good: its runs fail, so that a guard that
	// is refused denies. It is no last good version.
	Provisional bool
}

// Quoted is the hook's name as it is typed in a shell.
func (h *Hook) Quoted() string { return escape.Quote(h.Name) }

// IsGuard reports whether the hook takes part in the verdict of any known event, or of another
// agent's event of the same kind: DecidesByName counts the names in its patterns alone.
func (h *Hook) IsGuard() bool { return !h.Shadow && h.WouldGuard() }

// WouldGuard is IsGuard of a hook that may be in the shadow.
func (h *Hook) WouldGuard() bool {
	for _, p := range h.Patterns {
		for named := range events.Rows() {
			if p.Match(named.Name) && h.blocksKind(named.Kind, p) {
				return true
			}
		}
	}
	return false
}

// blocksKind reports whether a pattern makes the hook one of the verdict of a row of that
// kind.
func (h *Hook) blocksKind(kind events.Kind, p pattern.Pattern) bool {
	for c := range events.Rows() {
		if c.Kind == kind && h.Blocks(c, p) {
			return true
		}
	}
	return false
}
