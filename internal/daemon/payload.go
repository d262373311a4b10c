package daemon

import (
	"encoding/json"
	"time"

	dialect "github.com/hookd/hookd/internal/dialect/dockeragent"
	"github.com/hookd/hookd/internal/dialect/familiar"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/source/dockeragent"
)

// payload is the event's data in the shape that the hook's source documents.
func payload(j *dispatch.Job) json.RawMessage {
	switch j.Hook.Source.Type {
	case dockeragent.SourceType, dockeragent.FlagSourceType:
		return dialect.Payload(j.Payload)
	}
	return j.Payload
}

// stdin is the object that the process reads: the payload and what hookd knows.
func stdin(j *dispatch.Job) []byte {
	data := payload(j)
	members := []events.Member{
		events.StringMember("hook_event_name", j.Given),
		events.StringMember("event_id", j.Event.EventID),
	}
	for _, m := range []events.Member{
		events.StringMember("session_id", j.Event.SessionID),
		events.StringMember("cwd", cwd(j)),
		events.StringMember("timestamp", j.Event.Time.Format(time.RFC3339Nano)),
	} {
		if events.Get(data, m.Key) == nil {
			members = append(members, m)
		}
	}
	return events.With(data, members...)
}

// cwd is what the hook is told: the event's own, or, to hooks that run in it,
// where they run when the event has none (docker-agent: reference 3.1).
func cwd(j *dispatch.Job) string {
	dir := eventDir(j)
	if dir == "" && j.Hook.InEventCwd {
		return j.Hook.Dir
	}
	return dir
}

// eventDir is where the event happened; Familiar calls it the workspace.
func eventDir(j *dispatch.Job) string {
	if j.Hook.Dialect == events.Familiar {
		return familiar.Workspace(j.Event)
	}
	return j.Event.Cwd
}
