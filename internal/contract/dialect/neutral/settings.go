package neutral

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/events"
)

// Settings says where an agent keeps its hooks, and how a hook is written there:
// package connect edits these settings. Its rows and its Agent give its events and
// deadlines.
type Settings struct {
	Programs string // names of its program on PATH, separated by blanks
	Trace    string // folder in the user's home that it makes when it is used; "" = Dir

	DirEnv  string // variable that names Dir itself
	HomeEnv string // variable that stands for the user's home
	Dir     string // in the user's home
	File    string // in Dir
	Project string // in a project's folder; "" = it reads no project's hooks
	// Manifest is a file beside the settings that makes the agent read them, where hookd
	// has a folder of its own. The zero value is none.
	Manifest Manifest
	Managed  Managed // the settings of all users, which root writes
	Given    bool    // the file has no place of its own: the user names it

	Format Format
	At     []string // the object of the hooks by event; * is every key
	Beside []Leaf   // members that must be there too, whatever their value
	Shape  Shape
	Unit   time.Duration // of the deadline; 0 = deadlines cannot be set
	// Longest is how long a deadline may be that connect writes so that a person has
	// time to answer; 0 = the agent's own is all there is.
	Longest time.Duration
	Keys    Keys
	Lead    []Setting // what a handler begins with
	// Shell: a shell reads the command. So it may go on where the command cannot be executed.
	Shell bool
	Named bool // the event's name is an argument of the bridge
	// NoMatcher: a group of all tools has no matcher. Elsewhere it is "*".
	NoMatcher bool

	Plain  string                      // events of tools that stand in no group all the same
	Skip   func(*events.Contract) bool // events that cannot be registered; nil = none
	Posts  func(*events.Contract) bool // events that take HTTP instead of a command; nil = none
	Ships  *Shipped                    // where it ships the names of its events; nil = nowhere that can be read
	Reach  []Reach                     // its tools that reach something under a name of their own
	Import Import                      // whether its own hooks can be taken over as folders
	Newer  string                      // events that older versions refuse: only with --all-events

	Files    Files  // for agents whose hooks are files; "" = they are in settings
	Entry    *Entry // what those files need in the agent's settings; nil = nothing
	OwnDir   bool   // the folder of the files is hookd's alone
	Manual   string // what to do by hand, where there are no settings
	After    []string
	Switches []Toggle
	Other    *OtherFile // nil = none
	Runs     *Foreign   // nil = it runs no other agent's hooks
	OwnList  *OwnList   // nil = no list of its own is written
}

// Folder returns where the user's own settings are: Dir in the home, or the folder that the agent's variables
// name in the environment.
func (s *Settings) Folder(home string, getenv func(string) string) string {
	dir := filepath.Join(home, s.Dir)
	if other := getenv(s.HomeEnv); s.HomeEnv != "" && other != "" {
		dir = filepath.Join(other, s.Dir)
	}
	if own := getenv(s.DirEnv); s.DirEnv != "" && own != "" {
		dir = own
	}
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		dir = filepath.Join(home, rest)
	}
	return dir
}

// Manifest is a file that connect writes beside the settings, and disconnect removes.
type Manifest struct{ Name, Text string } // Name is relative to the settings' folder

// Managed are an agent's settings that root writes for all users, in the form of the
// user's own. The zero Managed is none.
type Managed struct {
	Linux, MacOS string   // the file, absolute
	Beside       *Whole   // a file that must be there too; nil = none
	After        []string // what root must know
}

// Whole is a file that is written where there is none, and that only a person changes.
type Whole struct {
	Path, Text string // the path is absolute
	Else       string // what to do where there is one already that says other things
}

// Format is a file format.
type Format string

const (
	FormatJSON Format = "json"
	FormatTOML Format = "toml"
	FormatYAML Format = "yaml"
)

// Import says which of an agent's own hooks `hookd import` takes over.
type Import int

const (
	ImportsNone     Import = iota
	ImportsCommands        // those whose type is "command", or that have no type
	ImportsTyped           // those whose type is "command"
)

// Shape is how an event's list looks.
type Shape int

const (
	Grouped Shape = iota // of groups of a matcher and handlers
	Handlers
	ByTool // grouped on events of tools, else handlers
	Listed // one list for all events, each item names its own
)

// Files names the kind of the files.
type Files string

const (
	Scripts Files = "scripts" // executables named after events, which call the bridge
	Plugin  Files = "plugin"  // a program in the agent's own process: see internal/agents/bridge/shims
)

// Keys are an agent's words for the parts of a handler.
type Keys struct{ Command, Timeout string }

// StandardKeys are the keys of most agents.
var StandardKeys = Keys{"command", "timeout"}

// Setting is one member of an object that is to be written, in its place.
type Setting struct {
	Key   string
	Value any
}

// TypeCommand begins a handler of most agents.
var TypeCommand = []Setting{{"type", "command"}}

// Leaf is a member of the object at Path, or, with List, an item of the list
// that the member holds.
type Leaf struct {
	Path  []string
	Key   string
	Value any
	List  bool
}

// Toggle is a setting with which an agent runs no hooks at all.
type Toggle struct {
	Path []string
	Off  bool // the value that switches hooks off
	Say  string
}

// Entry is the entry that an agent's settings must have for it to run hookd's files.
type Entry struct {
	Env, File string   // variable that names the settings; their name in the agent's folder
	At        []string // the object that all leaves are in
	Leaves    func(tree map[string]any) []Leaf
	Switches  []Toggle
}

// OtherFile stands beside the settings and says more of the agent's hooks.
type OtherFile struct {
	Name     string
	Format   Format
	Switches []Toggle
	// Hooks is an object of hooks by event; Except is a key in it that is none.
	// Say is the note on hooks there.
	Hooks, Except, Say string
}

// Foreign are another agent's settings whose hooks an agent may run beside its own.
type Foreign struct {
	Agent     events.Dialect
	By, Title string // what people call the agent that runs them, and the other one
}

// Value walks down objects; nil if there is no such way.
func Value(tree any, path ...string) any {
	for _, key := range path {
		m, _ := tree.(map[string]any)
		tree = m[key]
	}
	return tree
}

// Only returns a Skip or Posts for the events of names.
func Only(names string) func(*events.Contract) bool {
	return func(c *events.Contract) bool { return slices.Contains(strings.Fields(names), c.Name) }
}
