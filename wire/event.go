package wire

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// An Envelope is an event as it is sent: each field goes to hookd. Only Event, its
// name, is required. SessionID, AgentID, AgentName and Cwd are taken from Data
// where they are empty.
type Envelope struct {
	// Event is the name, e.g. "agent:end" or "pre_tool_use"; `hookd events` lists them.
	Event string `json:"event"`
	// Data is a JSON object, the input of the hooks; nil is {}.
	Data json.RawMessage `json:"data,omitempty"`
	// Wait holds the answer until the runs have ended, and asks for a verdict.
	// EmitWait and Decide set it.
	Wait bool `json:"wait,omitempty"`
	// ID is the sender's own: hookd takes the same ID from the same Sender once in
	// 10 minutes, and answers the second time with the first answer. With an ID, an
	// event can be sent again after its connection was lost.
	ID string `json:"id,omitempty"`
	// SessionID is the agent's session.
	SessionID string `json:"session_id,omitempty"`
	// AgentID is the agent's id.
	AgentID string `json:"agent_id,omitempty"`
	// AgentName is the agent's name, for people and for filters of hooks.
	AgentName string `json:"agent_name,omitempty"`
	// Cwd is the folder that the agent works in.
	Cwd string `json:"cwd,omitempty"`
	// Sender names the sender of the event; "" is uid:N, the user of this process.
	Sender string `json:"sender,omitempty"`
	// Dialect is the system whose name Event is; "" is the first that knows it.
	Dialect Dialect `json:"dialect,omitempty"`
	// Lane is which hooks of pre_tool_use run: "default" or "preempt"; "" is both.
	Lane string `json:"lane,omitempty"`
	// TimeoutMS is how many milliseconds the hooks of a decidable event may take
	// together; 0 is as long as their own timeouts allow.
	TimeoutMS int64 `json:"timeout_ms,omitempty"`
	// Parent is the EventID of the event that this one follows from.
	Parent string `json:"parent,omitempty"`
	// Unattended says that the agent runs without a person, and takes an ask for a denial.
	Unattended bool `json:"unasked,omitempty"`
	// Tried says that a person tries hooks with it. hookd takes that from its own commands alone, and
	// from none of an agent's processes: the event of another program counts as an agent's.
	Tried bool `json:"tried,omitempty"`
	// Tells says that Conn.Tell follows the answer. The decision is recorded with it, or as not
	// known when the connection ends without it.
	Tells bool `json:"tells,omitempty"`
}

// AppendLine appends e as one line without its newline. It fails where Data is no JSON.
func (e *Envelope) AppendLine(dst []byte) ([]byte, error) {
	dst = rawjson.AppendString(append(dst, `{"event":`...), e.Event)
	if len(e.Data) > 0 {
		data := bytes.NewBuffer(rawjson.AppendKey(dst, "data"))
		if err := json.Compact(data, e.Data); err != nil { // it may have line ends
			return nil, fmt.Errorf("encode event %q: %w", e.Event, err)
		}
		dst = data.Bytes()
	}
	return append(e.AppendFields(dst), '}'), nil
}

// AppendFields appends the members of e except its name and data, as encoding/json writes them, to an object that has
// begun.
func (e *Envelope) AppendFields(dst []byte) []byte {
	dst = rawjson.AppendTrue(dst, "wait", e.Wait)
	dst = rawjson.AppendText(dst, "id", e.ID)
	dst = rawjson.AppendText(dst, "session_id", e.SessionID)
	dst = rawjson.AppendText(dst, "agent_id", e.AgentID)
	dst = rawjson.AppendText(dst, "agent_name", e.AgentName)
	dst = rawjson.AppendText(dst, "cwd", e.Cwd)
	dst = rawjson.AppendText(dst, "sender", e.Sender)
	dst = rawjson.AppendText(dst, "dialect", string(e.Dialect))
	dst = rawjson.AppendText(dst, "lane", e.Lane)
	dst = rawjson.AppendInt(dst, "timeout_ms", e.TimeoutMS)
	dst = rawjson.AppendText(dst, "parent", e.Parent)
	dst = rawjson.AppendTrue(dst, "unasked", e.Unattended)
	dst = rawjson.AppendTrue(dst, "tried", e.Tried)
	return rawjson.AppendTrue(dst, "tells", e.Tells)
}

// A Dialect is a system whose names an event uses, e.g. "claude-code";
// `hookd events` lists them.
type Dialect string

// Kind is the meaning of an event, whatever its dialect calls it.
type Kind string
