package client

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/stream"
	"github.com/hookd/hookd/wire"
)

// fields returns the JSON members of a struct, also the members of embedded structs.
func fields(typ reflect.Type) (list []reflect.StructField) {
	for _, f := range reflect.VisibleFields(typ) {
		if tag := f.Tag.Get("json"); tag != "" && tag != "-" {
			list = append(list, f)
		}
	}
	return list
}

// The daemon writes records of the stream without a type: its output is compared.
func TestStreamHasTheMembersOfItsRecords(t *testing.T) {
	e := &events.Event{Depth: 1, Contract: events.For("", "agent:end"), Seq: 1, Time: time.Unix(1, 0)}
	e.Envelope = events.Envelope{
		Event: "agent:end", Data: json.RawMessage(`{}`), SessionID: "s", AgentID: "a", AgentName: "n", Cwd: "/",
		Sender: "u", Dialect: events.LibreFang, Lane: events.LaneDefault, Parent: "p", Tried: true,
	}
	e.EventID, e.ReplayOf, e.Tool, e.Subject, e.CallID = "e", "r", "Bash", "ls", "c"
	written := members(t, stream.BriefEventRecord(e, 9, "{")(1, nil))
	known := map[string]bool{"type": true, "seq": true}
	for _, f := range fields(reflect.TypeFor[EventRecord]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		known[name] = true
	}
	if !maps.Equal(written, known) {
		t.Errorf("the daemon writes events with %v,\nan EventRecord has %v", written, known)
	}
	run := wire.Run{ID: "r", Given: "g", Spawned: "s", Input: "i", Error: "e", Killed: "tree", Left: 1, Signal: "SIGKILL"}
	known = map[string]bool{"type": true}
	for _, f := range fields(reflect.TypeFor[Run]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		known[name] = true
	}
	for name := range members(t, stream.RunRecord(&run)(1, nil)) {
		if !known[name] {
			t.Errorf("the daemon writes runs with %q, which a Run lacks", name)
		}
	}
}

func members(t *testing.T, text []byte) map[string]bool {
	t.Helper()
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	names := map[string]bool{}
	for name := range object {
		names[name] = true
	}
	return names
}

// Each field of an Event reaches the daemon as it was given.
func TestEachFieldOfAnEventIsSent(t *testing.T) {
	values := map[string]any{
		"Event": "x:y", "Data": json.RawMessage(`{"a":"<é>"}`), "Wait": true, "ID": "i", "SessionID": "s", "AgentID": "a",
		"AgentName": "n", "Cwd": "/c", "Sender": "me", "Dialect": Dialect("claude-code"), "Lane": "preempt", "TimeoutMS": int64(7),
		"Parent": events.NewID(time.Now()), "Unattended": true, "Tried": true, "Tells": true,
	}
	var all Event
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Event]()) {
		value, ok := values[f.Name]
		if !ok {
			t.Fatalf("no value for Event.%s: add one to this test", f.Name)
		}
		reflect.ValueOf(&all).Elem().FieldByIndex(f.Index).Set(reflect.ValueOf(value))
	}
	line, err := all.AppendLine(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, bad := events.Parse(line)
	if bad != nil {
		t.Fatalf("the daemon refuses %s: %v", line, bad)
	}
	for name, value := range values {
		if arrived := reflect.ValueOf(got).FieldByName(name); fmt.Sprint(arrived) != fmt.Sprint(reflect.ValueOf(value)) {
			t.Errorf("Event.%s is %v, the daemon read %v", name, value, arrived)
		}
	}
}
