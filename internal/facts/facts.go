// Package facts reads a tool call once, for everything that judges calls: the commands of a
// shell line, their effects, and the unknown parts (doubt). Programs are data,
// in programs/*.yaml; programs/README.md says how to write one.
//
// Reading is one-sided: it rather finds one effect too many than one too few. An
// unknown part is a doubt, never silently nothing. It runs nothing, and asks outside only
// where a path leads (Links). The same call gives the same facts. It never fails, never
// blocks, and is bounded: the part over a limit is a doubt.
//
// The files, in the order in which a call comes through them:
//
//	facts, says               the facts, and their words for people
//	reader, read              a machine's reader; one call and its arguments
//	shell, parse, word        shell lines: commands, variables, words
//	command, program, options the table's entry for a command, and its options
//	apply, roles, templates   the words of a command by that entry, to effects
//	runs, xargs, builtins     commands that run others
//	verbs                     programs without an entry
//	code, codelex, toolscript code within a call; also awk, sed, sql, powershell, makefile
//	places, listing, host     paths and their meaning; variables; hosts
//	made, prints, empties     files and texts that the call itself makes
//	environ                   secrets in variables
//	gitalias                  aliases of git
//	finder                    where effects and doubts are added
//	pattern, exit             for rules: command patterns, and which command proves another
package facts

import (
	"encoding/json"
	"slices"
)

// EffectKind is a sort of effect.
type EffectKind string

// The kinds of effects. A write into a place of start-up files is a write and a configure;
// the read of a place of secrets is a read and a secret.
const (
	KindRead      EffectKind = "read"
	KindWrite     EffectKind = "write"
	KindDelete    EffectKind = "delete"
	KindMove      EffectKind = "move"
	KindConnect   EffectKind = "connect"
	KindSend      EffectKind = "send"
	KindRun       EffectKind = "run"
	KindInstall   EffectKind = "install"
	KindPublish   EffectKind = "publish"
	KindHistory   EffectKind = "history"
	KindEscalate  EffectKind = "escalate"
	KindKill      EffectKind = "kill"
	KindConfigure EffectKind = "configure"
	KindGuard     EffectKind = "guard"
	KindSecret    EffectKind = "secret"
)

// Kinds are all kinds of effects.
var Kinds = []EffectKind{
	KindRead, KindWrite, KindDelete, KindMove, KindConnect, KindSend, KindRun, KindInstall, KindPublish, KindHistory,
	KindEscalate, KindKill, KindConfigure, KindGuard, KindSecret,
}

// DoubtKind is a sort of doubt.
type DoubtKind string

// The kinds of doubt.
const (
	DoubtProgram    DoubtKind = "program"    // not in the tables
	DoubtOption     DoubtKind = "option"     // of a known program, not in its entry
	DoubtSubcommand DoubtKind = "subcommand" // of a known program, not in its entry
	DoubtWord       DoubtKind = "word"       // computed, where it matters: a program, an option, a target
	DoubtCode       DoubtKind = "code"       // another language, not read in full
	DoubtEval       DoubtKind = "eval"       // code that is made or fetched when it runs
	DoubtOpen       DoubtKind = "open"       // an interpreter, a shell or a client that reads commands from elsewhere
	DoubtMade       DoubtKind = "made"       // a program that the same line makes, fetches or unpacks
	DoubtVariable   DoubtKind = "variable"   // a variable that runs code, or may
	DoubtParse      DoubtKind = "parse"      // it does not parse
	DoubtTool       DoubtKind = "tool"       // a tool of unknown shape
	DoubtLimits     DoubtKind = "limits"     // more than is read
)

// DoubtKinds are all kinds of doubt.
var DoubtKinds = []DoubtKind{
	DoubtProgram, DoubtOption, DoubtSubcommand, DoubtWord, DoubtCode, DoubtEval, DoubtOpen, DoubtMade, DoubtVariable,
	DoubtParse, DoubtTool, DoubtLimits,
}

// Span is a place in Facts.Text, in bytes. The zero Span is the whole.
type Span struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// WordKind says how much of a word is known.
type WordKind string

// The kinds of words.
const (
	Literal WordKind = "literal"
	Pattern WordKind = "pattern" // names of files may stand in its place
	Unknown WordKind = "unknown" // a part is only known when the line runs
)

// Word is one word of a command, without quotes and backslashes. In an unknown word `…`
// stands for the parts that are not known.
type Word struct {
	Text string   `json:"text"`
	Kind WordKind `json:"kind"`

	safe    bool   // what is unknown of it is one word without a dash at its beginning, and no path
	from    string // the command that computed it; "" = a variable, or a command that is named
	made    bool   // the shell makes a part, such as the value of a variable
	several bool   // it is a variable that may be an option: without quotes, or by its name
	span    Span
}

// Assign is a variable that is set for a command.
type Assign struct {
	Name  string `json:"name"`
	Value Word   `json:"value"`
}

// Redirect is a redirection of a command.
type Redirect struct {
	Op     string `json:"op"`
	Target Word   `json:"target"`
	Span   Span   `json:"span"`
}

// Command is one command of a call.
type Command struct {
	Words     []Word     `json:"words"`
	Text      string     `json:"text"` // as it is written
	Env       []Assign   `json:"env,omitempty"`
	Redirects []Redirect `json:"redirects,omitempty"`
	Via       []string   `json:"via,omitempty"`   // what it is behind, the outermost first: sudo, bash -c, ssh
	Guess     bool       `json:"guess,omitempty"` // it may be what runs
	Span      Span       `json:"span"`

	Dir   string `json:"-"` // absolute path of the folder that it runs in; "" = not known
	Async bool   `json:"-"` // the line does not wait for it

	program string // see name; "" = not computed yet
}

// Program returns the name of the command's program, without its folder. known is false
// where it is computed.
func (c *Command) Program() (name string, known bool) {
	if len(c.Words) == 0 || c.Words[0].Kind == Unknown {
		return "", false
	}
	return c.name(), true
}

// name is the program's name by the first word. A call is held against many patterns.
func (c *Command) name() string {
	if c.program != "" {
		return c.program
	}
	return programName(c.Words[0].Text)
}

// Effect is one thing that a call does. Its target is an absolute path, which may be a
// pattern, or has a scheme: host:example.org, table:users, process:hookd, package:left-pad,
// remote:origin. An empty target is not known.
type Effect struct {
	Kind    EffectKind `json:"kind"`
	Target  string     `json:"target,omitempty"`
	Certain bool       `json:"certain"`
	Span    Span       `json:"span"`
	Command int        `json:"command"`       // index of the command that has it; -1 = none
	Why     string     `json:"why,omitempty"` // the command, or the reason of a place, for people
}

// Doubt is one thing that could not be known.
type Doubt struct {
	Kind    DoubtKind `json:"kind"`
	Text    string    `json:"text"` // what, and why
	Span    Span      `json:"span"`
	Command int       `json:"command"` // -1 = none
}

// Facts are the known facts of one call. They must not be changed.
type Facts struct {
	Tool     string    `json:"tool,omitempty"` // canonical
	Text     string    `json:"text,omitempty"` // that spans are places in: the line, or a tool's path
	Commands []Command `json:"commands,omitempty"`
	Effects  []Effect  `json:"effects,omitempty"`
	Doubts   []Doubt   `json:"doubts,omitempty"`
}

// Has reports whether one of the effects is of one of the kinds.
func (f *Facts) Has(kinds ...EffectKind) bool {
	return slices.ContainsFunc(f.Effects, func(e Effect) bool { return slices.Contains(kinds, e.Kind) })
}

// JSON is the facts as the payload of a hook with `facts: true` has them.
func (f *Facts) JSON() json.RawMessage {
	text, err := json.Marshal(f)
	if err != nil { // nothing in them can fail
		panic(err)
	}
	return text
}

// Links finds where a path leads. It must return soon, whatever the file system does.
type Links interface {
	// Real returns an absolute path without links, of a file that need not exist; ok is
	// false where that is not known.
	Real(path string) (real string, ok bool)
}

// Dependency is something that guards depend on: a file or a folder by its absolute path, a
// process as process:NAME, a service as unit:NAME.
type Dependency struct {
	Target string
	Tree   bool // all below it, too
	Why    string
}

// Env is the surroundings of a call. The zero Env is nothing known.
type Env struct {
	Cwd, Home string // absolute; "" = not known: targets stay as they are written
	Links     Links  // nil = links are not followed
	Guard     []Dependency
	// Text returns a small file of settings. It must return soon, whatever the file system does; ok is false where the
	// file cannot be read. nil = none can: the aliases of git are not known.
	Text func(path string) (text string, ok bool)
}

// Limits of one call. Beyond them there is a doubt.
const (
	maxLine     = 64 << 10 // bytes of a text that is read
	maxRead     = 256 << 10
	maxExpanded = 64 << 10 // bytes that all expansions give, and wordCost for each word
	maxBraces   = 12       // braces in a word
	maxWords    = 4000     // of a command
	maxPath     = 4 << 10  // bytes of a path, as systems have it
	maxNesting  = 200      // of brackets and of compound commands
	maxIndex    = 20       // of brackets in one word
	maxDepth    = 10       // of lines within lines, and of calls of functions
	maxCommands = 400
	maxEffects  = 400
	maxUnparsed = 500  // steps after which no part of a text that does not parse is read
	maxSteps    = 4000 // commands that are followed, also those that were read before
)
