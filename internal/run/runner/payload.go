package runner

import (
	"bytes"
	"cmp"
	"encoding/json"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/dispatch"
)

// payload returns the event's data in the shape of the hook's rules.
func payload(j *dispatch.Job) json.RawMessage {
	if shape := j.Rules.Payload; shape != nil {
		return shape(j.Payload)
	}
	return j.Payload
}

// Stdin returns the object that the process reads: the payload and the envelope's fields.
func Stdin(j *dispatch.Job) []byte { return bytes.Join(stdinParts(j), nil) }

// stdinParts is Stdin without a copy of the payload.
func stdinParts(j *dispatch.Job) [][]byte {
	data := payload(j)
	members := make([]rawjson.Member, 0, 6)
	members = append(members,
		rawjson.StringMember("hook_event_name", j.Given), rawjson.StringMember("event_id", j.Event.EventID))
	add := func(key string, text func() string) {
		if rawjson.Get(data, key) == nil {
			members = append(members, rawjson.StringMember(key, text()))
		}
	}
	if j.Facts != nil { // never those that a sender made up
		members = append(members, rawjson.Member{Key: "facts", Value: j.Facts})
	}
	add("session_id", func() string { return j.Event.SessionID })
	add("cwd", func() string { return cwd(j) })
	add("timestamp", func() string { return j.Event.Time.Format(time.RFC3339Nano) })
	return rawjson.Parts(data, members...)
}

// cwd returns the cwd in the payload: the event's own. If the event has none, a hook that
// runs in the event's cwd gets the directory that it runs in, as docker-agent does.
func cwd(j *dispatch.Job) string {
	dir := j.Place
	if dir == "" && j.Hook.InEventCwd {
		return j.Hook.Dir
	}
	return dir
}

// withFacts gives the job of a hook with `facts: true` the known facts of the call; {} where the
// event is about none.
func (r *Runner) withFacts(j *dispatch.Job) {
	if !j.Hook.Facts {
		return
	}
	now := *j.Event
	now.Data = j.Data // as hooks before it have rewritten it
	j.Facts = json.RawMessage("{}")
	if call := dialect.Call(&now); call.Own != "" || call.Tool != "" {
		j.Facts = r.facts.Read(call, cmp.Or(j.Place, now.Cwd)).JSON()
	}
}
