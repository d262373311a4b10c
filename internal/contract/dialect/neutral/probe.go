package neutral

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
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
	// in $CWD that need not exist), "$TIME" (RFC 3339) and "$MILLIS" (a number, since 1970).
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
		`"$TIME"`, quoted(now.UTC().Format(time.RFC3339)), `"$MILLIS"`, strconv.FormatInt(now.UnixMilli(), 10),
	).Replace(p.Payload)
	var out bytes.Buffer
	_ = json.Compact(&out, []byte(text)) // a test checks each Payload
	return out.Bytes()
}

// Of returns p as a call of another tool: own, with input. ok is false where p's payload
// has no place for the name of a tool.
func (p Probe) Of(t *Table, kind CallKind, own string, input json.RawMessage) (_ Probe, ok bool) {
	payload := json.RawMessage(p.Payload)
	for _, r := range t.Rows {
		if !holds(r.Events, p.Event) || lookedUp(payload, r.Field) == nil {
			continue
		}
		switch r.Fact {
		case Tool:
			payload, ok = put(payload, r.Field, rawjson.Quote(own)), true
		case Input:
			payload = put(payload, r.Field, input)
		}
	}
	return Probe{Kind: kind, Event: p.Event, Payload: string(payload)}, ok
}

// Within returns p as a subagent's call, where the payload of its event has members for
// the subagent's id and type; else as it is.
func (p Probe) Within(t *Table, documented func(field string) bool) Probe {
	payload := json.RawMessage(p.Payload)
	for _, r := range t.Rows {
		if (r.Fact == AgentID || r.Fact == AgentType) && holds(r.Events, p.Event) && documented(r.Field) {
			payload = put(payload, r.Field, json.RawMessage(`"hookd-doctor"`))
		}
	}
	return Probe{Kind: InsideCall, Event: p.Event, Payload: string(payload)}
}

// lookedUp returns the value at a path of keys; nil = there is none.
func lookedUp(payload json.RawMessage, path string) json.RawMessage {
	for key := range strings.SplitSeq(path, ".") {
		payload = rawjson.Get(payload, key)
	}
	return payload
}

// put returns payload with a value at a path of keys.
func put(payload json.RawMessage, path string, value json.RawMessage) json.RawMessage {
	key, rest, nested := strings.Cut(path, ".")
	if nested {
		value = put(rawjson.Get(payload, key), rest, value)
	}
	return rawjson.With(payload, rawjson.Member{Key: key, Value: value})
}
