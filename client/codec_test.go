package client

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// usual are answers as hookd writes them.
var usual = []string{
	`{"ok":true,"event_id":"01KAXQZJ7V0000000000000000","seq":18446744073709551615,"matched":[],"warnings":[]}`,
	`{"ok":true,"event_id":"a","seq":7,"matched":["guard","b/\"c\""],"duplicate":true,"warnings":["é\n"],` +
		`"verdict":{"allowed":false,"continue":true,"permission_decision":"deny","decision_reason":"no","message":"no \u00e9 <b>","system_message":"s","additional_context":"c",` +
		`"updated_input":{"a" : [1]},"updated_tool_response":"","exit_code":2,"stderr":"e","decided_by":["guard"]},` +
		`"runs":[{"run_id":"r","hook":"guard","result":"ok","exit_code":-1,"duration_ms":0.25,"error":"x"},{"run_id":"","hook":"","result":"","exit_code":0,"duration_ms":1e3}]}`,
}

// A usual answer is read without encoding/json, whose first look at a type takes longer
// than all the rest.
func TestUsualAnswersAreReadByHand(t *testing.T) {
	for _, line := range usual {
		r := answerReader{Walker: rawjson.Walk([]byte(line))}
		if r.answer(); !r.End() || r.odd {
			t.Errorf("%s is left to encoding/json", line)
		}
	}
}

// An answer says the same as encoding/json reads in the line.
func FuzzAnswer(f *testing.F) {
	for _, line := range append(usual,
		`{"ok":false,"error":{"code":"too_large","message":"m","hint":"h"}}`, `{"OK":true,"Verdict":{"Allowed":true}}`, `null`, `[]`, `{}`, `{`, `{} {}`, ``,
		`{"ok":null,"event_id":null,"seq":null,"matched":null,"warnings":[null],"verdict":null,"runs":null}`, `{"seq":-1}`, `{"seq":1.5}`, `{"seq":"1"}`, `{"event_id":1}`,
		`{"verdict":{"allowed":true},"verdict":{"continue":true}}`, `{"runs":[{"hook":"a"},{"hook":"b"}],"runs":[{"result":"ok"}]}`, `{"runs":[null,{"exit_code":1e2}]}`, `{"runs":[{"exit_code":-1,"signal":"SIGKILL"},{"signal":1}]}`,
		`{"verdict":{"metadata":{"a":"b"},"specific":{"retry":true},"skip":true,"summary":"s","updated_input":null,"later":1}}`, "{\"event_id\":\"\xff\"}", "{\"\xff\":1}",
		`{"matched":["a"],"matched":[]}`, `{"event_id":"\ud800"}`, `{"runs":[{"duration_ms":1e999}]}`, `{"e\u0076ent_id":"x"}`) {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var want struct {
			Answer
			Error *Error `json:"error"`
		}
		wrong := json.Unmarshal(line, &want)
		got, err := parseAnswer(line)
		var refused *Error
		switch {
		case errors.As(err, &refused):
			if wrong != nil || !reflect.DeepEqual(refused, want.Error) {
				t.Fatalf("%q is the refusal %+v, want %+v, %v", line, refused, want.Error, wrong)
			}
		case (err == nil) != (wrong == nil):
			t.Fatalf("%q: %v, encoding/json says %v", line, err, wrong)
		case err == nil && !reflect.DeepEqual(got, want.Answer):
			t.Fatalf("%q:\n got %+v\nwant %+v", line, got, want.Answer)
		}
	})
}

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
