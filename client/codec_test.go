package client

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// The line sent for an event is the line that encoding/json would write, byte for byte
// where no text has a separator of lines that only it escapes.
func FuzzEvent(f *testing.F) {
	f.Add("agent:end", []byte(`{"a" : "<é>",
	"b":[]}`), true, "i", "s", "\x00\xff\"\\", int64(-7))
	f.Add("", []byte(nil), false, "", "", "", int64(0))
	f.Add("x", []byte(`{`), false, "", "", "", int64(0))
	f.Add("x", []byte(` null `), false, "", "<&>\u2028", "", int64(1))
	f.Fuzz(func(t *testing.T, name string, data []byte, wait bool, id, session, other string, timeout int64) {
		ev := Event{
			Event: name, Data: data, Wait: wait, ID: id, SessionID: session, AgentID: other, AgentName: other, Cwd: session, Sender: other,
			Dialect: Dialect(other), Lane: session, TimeoutMS: timeout, Parent: id,
		}
		want, wrong := rawjson.Encode(ev)
		got, err := ev.AppendLine([]byte("before"))
		if (err == nil) != (wrong == nil) {
			t.Fatalf("%+v: %v, encoding/json says %v", ev, err, wrong)
		}
		if err != nil {
			return
		}
		var sent, wanted any
		if err := errors.Join(json.Unmarshal(got[len("before"):], &sent), json.Unmarshal(want, &wanted)); err != nil || !reflect.DeepEqual(sent, wanted) {
			t.Fatalf("got  %s\nwant %s (%v)", got, want, err)
		}
		if !utf8.Valid(got) && utf8.Valid(want) {
			t.Fatalf("%q is no UTF-8", got)
		}
	})
}
