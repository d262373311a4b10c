package familiar

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/events"
)

// Context has the variables that the templates of one run may name.
type Context struct {
	row    *events.Contract // Familiar's, of the event as the hook is given it; nil if it has none
	values json.RawMessage  // the payload, with the common variables
	whole  json.RawMessage  // json_context
}

// NewContext returns the context of a run: payload is the payload that the hook is
// given under the name given, output the text that earlier hooks of the conversation
// printed. Variables that Familiar documents for every hook are there whatever the
// payload holds; of other agents' payloads, fields that mean the same stand in.
func NewContext(e *events.Event, given string, payload json.RawMessage, output string) *Context {
	c := &Context{row: events.LookupIn(events.Familiar, given)}
	if len(bytes.TrimSpace(payload)) == 0 {
		payload = json.RawMessage("{}")
	}
	var common []rawjson.Member
	add := func(name string, value json.RawMessage) {
		if value != nil && missing(payload, name) {
			common = append(common, rawjson.Member{Key: name, Value: value})
		}
	}
	add("agent_name", text(Agent(e)))
	add("agent_id", text(e.AgentID))
	add("conversation_id", text(e.SessionID))
	add("workspace", text(Workspace(e)))
	add("timestamp", text(e.Time.UTC().Format(time.RFC3339Nano)))
	for _, s := range synonyms {
		if e.Dialect != events.Familiar && c.documents(s.name) {
			add(s.name, rawjson.Get(payload, s.of))
		}
	}
	if output != "" { // what hookd kept wins: it is newer than what the agent was told
		common = append(common, rawjson.Member{Key: "hook_output", Value: text(output)})
	}
	c.values = rawjson.With(payload, common...)
	if c.whole = rawjson.Get(payload, "json_context"); isNull(c.whole) {
		c.whole = c.values
	}
	return c
}

// synonyms are fields of other agents' payloads that mean the same as a variable of
// Familiar; the first that is there counts.
var synonyms = []struct{ name, of string }{
	{"tool_args", "tool_input"},
	{"tool_args", "args"},
	{"tool_result", "tool_response"},
	{"tool_result", "tool_output"},
	{"tool_error", "error"},
	{"tool_duration_ms", "duration_ms"},
	{"error_message", "error"},
	{"error_message", "message"},
	{"parameters", "params"},
}

func missing(obj json.RawMessage, name string) bool { return isNull(rawjson.Get(obj, name)) }

func isNull(value json.RawMessage) bool { return value == nil || string(value) == "null" }

// text returns s as a JSON string, nil for an empty one.
func text(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return rawjson.Quote(s)
}

// Value returns the text of a variable: strings as they are, numbers and
// booleans as in JSON, lists of strings one per line, other lists and objects
// as compact JSON, null as nothing. Dots lead into objects. A variable is
// known if the event has or documents the field that its name begins with.
func (c *Context) Value(name string) (value string, known bool) {
	if name == "json_context" {
		return render(c.whole), true
	}
	found := c.find(name)
	if found != nil {
		return render(found), true
	}
	root, _, _ := strings.Cut(name, ".")
	return "", root == "hook_output" || rawjson.Get(c.values, root) != nil || c.documents(root)
}

// find follows name into the payload. A key with dots in it is found as well.
func (c *Context) find(name string) json.RawMessage {
	at := c.values
	for {
		if found := rawjson.Get(at, name); found != nil {
			return found
		}
		key, rest, more := strings.Cut(name, ".")
		if !more {
			return nil
		}
		if at = rawjson.Get(at, key); at == nil {
			return nil
		}
		name = rest
	}
}

func (c *Context) documents(field string) bool {
	if c.row == nil {
		return false
	}
	for _, f := range c.row.Fields {
		if f.Name == field {
			return true
		}
	}
	return false
}

// render returns the text of a JSON value.
func render(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil { // null leaves it empty
		return s
	}
	if lines, ok := stringList(value); ok {
		return strings.Join(lines, "\n")
	}
	var out bytes.Buffer
	if json.Compact(&out, value) != nil {
		return string(value)
	}
	return out.String()
}

// stringList returns the strings of a list that holds nothing else.
func stringList(value json.RawMessage) (lines []string, ok bool) {
	var list []any
	if json.Unmarshal(value, &list) != nil {
		return nil, false
	}
	for _, item := range list {
		s, isString := item.(string)
		if !isString {
			return nil, false
		}
		lines = append(lines, s)
	}
	return lines, true
}
