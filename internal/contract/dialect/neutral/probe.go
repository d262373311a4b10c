package neutral

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"
)

// CallKind is a kind of call that agents make, in words for people.
type CallKind string

// The kinds of call whose way to the hooks is looked at. A MCPCall is of an MCP server's
// tool, an InsideCall is the command of a subagent. A LineCall runs before the model reads the text around it.
// A SlashCall comes after a prompt that names a command.
const (
	RunCall    CallKind = "run a command"
	WriteCall  CallKind = "write a file"
	ReadCall   CallKind = "read a file"
	FetchCall  CallKind = "fetch a page"
	SearchCall CallKind = "search the web"
	MCPCall    CallKind = "call an MCP tool"
	StartCall  CallKind = "start a subagent"
	InsideCall CallKind = "a subagent's command"
	LineCall   CallKind = "a shell line of a skill or slash command"
	BackCall   CallKind = "a command in the background"
	SlashCall  CallKind = "after a slash command"
)

// How the payload of an agent's call tells its kind, where the facts do not.
const (
	Untold = "untold" // it does not: the call looks like any other
	Lacked = "lacked" // the agent makes no such call
)

// Inside says whether the commands of an agent's subagents are reported.
type Inside string

const (
	InsideUnknown Inside = ""     // nothing says so
	InsideTold    Inside = "told" // they come as the agent's own do
	InsideSilent  Inside = "silent"
	InsideNone    Inside = "none" // the agent has no subagents of its own
)

// Probe is an event that an agent could send, which does nothing: `hookd doctor`
// sends it to see the whole way from the agent to its hooks and back.
type Probe struct {
	Kind  CallKind // "" = RunCall, where the event is about a call
	Event string
	// Payload is the JSON of the event. As values it has "$SESSION", "$CWD", "$FILE" (one
	// in $CWD that need not exist) and "$TIME" (RFC 3339). "" in a System = hookd makes it of
	// the fields that the event documents.
	Payload string
}

// With returns the payload with these values.
func (p Probe) With(session, cwd string, now time.Time) json.RawMessage {
	quoted := func(s string) string {
		text, _ := json.Marshal(s) // a string always can be
		return string(text)
	}
	text := strings.NewReplacer(
		`"$SESSION"`, quoted(session), `"$CWD"`, quoted(cwd), `"$FILE"`, quoted(filepath.Join(cwd, "hookd-doctor.txt")),
		`"$TIME"`, quoted(now.UTC().Format(time.RFC3339)),
	).Replace(p.Payload)
	var out bytes.Buffer
	_ = json.Compact(&out, []byte(text)) // a test checks each Payload
	return out.Bytes()
}
