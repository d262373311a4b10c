package familiar

import (
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/events"
)

// Agent returns the agent whose hooks run for e; "" = none. There is no
// default: an event that names no agent belongs to no AGENT.md file.
func Agent(e *events.Event) string { return e.AgentName }

// Workspace returns where e's hooks run and the folder that a workspace filter looks
// at: the payload's workspace, else the event's cwd; "" = unknown.
func Workspace(e *events.Event) string {
	if dir, ok := rawjson.GetString(e.Data, "workspace"); ok && dir != "" {
		return dir
	}
	return e.Cwd
}

// Conversation returns the key under which Outputs keeps the output of the hooks of e's
// conversation. An event without a conversation is a conversation of its own.
func Conversation(e *events.Event) string {
	id := e.SessionID
	if own, ok := rawjson.GetString(e.Data, "conversation_id"); ok && own != "" {
		id = own
	}
	if id == "" {
		return "event\x00" + e.EventID
	}
	return Agent(e) + "\x00" + id
}
