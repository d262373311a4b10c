// Package neutral is the common part of the dialects: facts that each of them calls
// differently, tables that say how, and the shape of an answer to an agent. It promises
// that reading and writing are pure, take time and memory in proportion to the payload,
// and never fail: a fact that a payload does not hold, or holds in another type than
// documented, is simply not known. It knows no dialect, moves no bytes and never
// decides anything.
package neutral

import (
	"encoding/json"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// Fact is one thing that an event may hold, whatever its dialect calls it.
type Fact string

const (
	Session         Fact = "session"
	Turn            Fact = "turn"
	Cwd             Fact = "cwd"
	Transcript      Fact = "transcript"
	Model           Fact = "model"
	Mode            Fact = "mode"
	Event           Fact = "event" // the event's name
	AgentID         Fact = "agent_id"
	AgentName       Fact = "agent_name"
	AgentType       Fact = "agent_type"
	AgentTranscript Fact = "agent_transcript"
	ParentAgent     Fact = "parent_agent"
	ParentSession   Fact = "parent_session" // that started a session, which is a subagent's

	Tool        Fact = "tool"  // canonical name
	Input       Fact = "input" // object; the arguments' names are canonical too
	Call        Fact = "call"  // id of the call
	MCPServer   Fact = "mcp_server"
	MCPTool     Fact = "mcp_tool"
	Result      Fact = "result"
	Failed      Fact = "failed"
	ErrorText   Fact = "error_text"
	ErrorType   Fact = "error_type"
	Recoverable Fact = "recoverable"
	Interrupted Fact = "interrupted"
	Took        Fact = "took" // milliseconds

	Prompt       Fact = "prompt"
	Answer       Fact = "answer" // the agent's last text
	Looped       Fact = "looped" // it already goes on because of a stop hook
	Status       Fact = "status" // ok, error or aborted
	Tokens       Fact = "tokens"
	Steps        Fact = "steps"
	Step         Fact = "step"
	Sender       Fact = "sender"
	Source       Fact = "source"
	Reason       Fact = "reason"
	Trigger      Fact = "trigger"
	Instructions Fact = "instructions"
	Summary      Fact = "summary"
	Messages     Fact = "messages"
	Text         Fact = "text" // of a notification
	Title        Fact = "title"
	NoticeType   Fact = "notice_type"
	Task         Fact = "task"
	Suggestions  Fact = "suggestions"
	Messaged     Fact = "messaged" // number of messages
	Calls        Fact = "calls"    // number of tool calls
	File         Fact = "file"
)

// arg is the fact that is one argument of the call.
func arg(name string) Fact { return Fact(argPrefix + name) }

const argPrefix = string(Input) + "."

// Facts are the known facts about an event; values are valid JSON, never null.
type Facts map[Fact]json.RawMessage

// String returns the text of a fact; "" if it is unknown or no string.
func (f Facts) String(fact Fact) string { return TextOf(f[fact]) }

// Set adds a fact that is a text; an empty one is unknown.
func (f Facts) Set(fact Fact, text string) {
	if text != "" {
		f[fact] = rawjson.Quote(text)
	}
}

// Form says how a field holds its fact.
type Form int

const (
	Plain   Form = iota
	JSON         // as text that is JSON
	Flat         // as the text that the model sees, see ResultText
	Preview      // as its first 120 characters
	Not          // negated
	NotZero      // as a number that is not 0; never written
	Parts        // as text, or as a list of parts with text in them
	Texts        // as an object of texts, of which lists and objects are JSON
)

// FieldFact ties one field of a payload to a fact. Where several rows have the same
// fact, the first that is there is read; where several have the same field,
// the first is written.
type FieldFact struct {
	Field  string // dots lead into objects, ".0" to the first element of a list
	Fact   Fact
	Events string // the events it holds for, separated by blanks; "" = all
	Form   Form
	Words  string // "own=canonical" of its values, separated by blanks; others are not written
}

// Fixed is a fact that follows from the event's name alone.
type Fixed struct {
	Events string
	Fact   Fact
	Value  string // JSON
}

// ToolName ties a dialect's own name of a tool, and of the arguments that it
// executes, to the canonical ones, which are Claude Code's.
type ToolName struct {
	Own, Canonical string
	// Args are the arguments that differ: "own=canonical", separated by blanks. Of
	// several for one canonical name the tool takes the first that it is given.
	// "own[]=canonical" is a list of them; "=canonical" says that the tool has no
	// such argument. A canonical argument without a pair has the same name here.
	Args   string
	OneWay bool   // other tools are never called by this name: its arguments are of another kind
	Code   string // the language of its command; "" = a shell's
	Dir    string // the arguments, folded, that name the directory of its command; "" = none is known
	// Canon makes the input canonical where more than names differ. It gets the input with
	// the names that Args give. Nil = Args say all.
	Canon func(input json.RawMessage) json.RawMessage
	// Folds: the tool takes an argument in any letter case, and of several the last
	// that is not null, as encoding/json does.
	Folds bool
	// Paths and Patches are the arguments, separated by blanks, that have the files
	// which a call works on: of tools that do not take one file as one text. A path
	// may be a text, a list, or in the objects of a list. Hooks are given the files
	// as file_path and file_paths. "" = an argument of the canonical tool has it.
	Paths, Patches string
	// Edits is the argument that has one edit, or a list of them, for a tool that
	// does not take it as two texts. Hooks that are given the call under another
	// name have all old texts as old_string, all new ones as new_string. "" = none.
	Edits string
}

// Table is how one dialect states the facts that all dialects state. The zero Table
// knows nothing.
type Table struct {
	Rows      []FieldFact
	Fixed     []Fixed
	Tools     []ToolName
	Others    string // further tools of the agent, separated by blanks: no other dialect has them
	MCPPrefix string // before the name of an MCP tool: "MCP:" of MCP:create_issue
	MCPJoin   string // between the names of server and tool: "__" of github__create_issue
	// MCPCallers are the tools, separated by blanks, whose arguments name an MCP
	// tool. "" = the agent itself names it, beside the call's arguments.
	MCPCallers string
}

// holds reports whether list, names separated by blanks, has name; "" has all.
func holds(list, name string) bool {
	for list != "" {
		var first string
		if first, list, _ = strings.Cut(list, " "); first == name {
			return true
		}
		if list == "" {
			return false
		}
	}
	return true
}
