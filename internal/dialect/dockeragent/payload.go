package dockeragent

import (
	"encoding/json"

	"github.com/hookd/hookd/internal/events"
)

// Payload returns data as docker-agent writes it for its hooks: a field that
// is false, 0, "", null, [] or {} is absent. The exception is cost, where a
// priced zero means something (reference/docker-agent.md 1.2, from types.go).
func Payload(data json.RawMessage) json.RawMessage {
	var kept []events.Member
	dropped := false
	for key, value := range events.Members(data) {
		if empty(key, value) {
			dropped = true
			continue
		}
		kept = append(kept, events.Member{Key: key, Value: value})
	}
	if !dropped {
		return data
	}
	return events.With(json.RawMessage("{}"), kept...)
}

func empty(key string, value json.RawMessage) bool {
	switch string(value) {
	case "null":
		return true
	case `""`, "false", "{}", "[]", "0", "0.0":
		return key != "cost"
	}
	return false
}
