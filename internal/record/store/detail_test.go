package store

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/hookd/hookd/internal/events"
)

// appendDetail writes every member that encoding/json would.
func TestDetailOfAnEventIsWhole(t *testing.T) {
	d := eventDetail{AgentNamed: true, Depth: 2, ReplayOf: "01J"}
	envelope := reflect.ValueOf(&d.Envelope).Elem()
	for i := range envelope.NumField() {
		field, f := envelope.Type().Field(i), envelope.Field(i)
		if name := field.Tag.Get("json"); name == "-" || field.Name == "Event" || field.Name == "Data" {
			continue
		}
		switch f.Kind() {
		case reflect.String:
			f.SetString("é \"" + field.Name)
		case reflect.Bool:
			f.SetBool(true)
		default:
			f.SetInt(int64(i + 1))
		}
	}
	e := &events.Event{Envelope: d.Envelope, Depth: d.Depth, ReplayOf: d.ReplayOf}
	e.AgentNamed = true
	for _, e := range []*events.Event{e, {}} {
		want, err := json.Marshal(eventDetail{Envelope: e.Envelope, AgentNamed: e.AgentNamed, Depth: e.Depth, ReplayOf: e.ReplayOf})
		if err != nil {
			t.Fatal(err)
		}
		got := appendDetail(nil, e)
		var a, b map[string]any
		if json.Unmarshal(got, &a) != nil || json.Unmarshal(want, &b) != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
