package rawjson

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMembers(t *testing.T) {
	const obj = " {\"a\" : 1 , \"b\":{\"x\":[\"}\",2]},\"\\u0063\\n\":\"q\\\"\",\"a\":null,\"e\":[ ],\"f\":true}\n"
	want := []Member{
		{"a", json.RawMessage(`1`)}, {"b", json.RawMessage(`{"x":["}",2]}`)}, {"c\n", json.RawMessage(`"q\""`)},
		{"a", json.RawMessage(`null`)}, {"e", json.RawMessage(`[ ]`)}, {"f", json.RawMessage(`true`)},
	}
	var got []Member
	for key, value := range Members(json.RawMessage(obj)) {
		got = append(got, Member{key, value})
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	for range Members(json.RawMessage(obj)) {
		break // a walk may end early
	}
	for _, none := range []string{"", " ", "{}", " { } ", "[1]", `"a"`, "null", "3"} {
		for key := range Members(json.RawMessage(none)) {
			t.Errorf("%q has a member %q", none, key)
		}
	}
}

func TestGet(t *testing.T) {
	obj := json.RawMessage(`{"a":1,"nested":{"b":2},"a":"last","t":true,"\u0061b":"x"}`)
	for key, want := range map[string]string{"a": `"last"`, "nested": `{"b":2}`, "b": "", "t": "true", "ab": `"x"`, "A": ""} {
		if got := string(Get(obj, key)); got != want {
			t.Errorf("Get(%q): got %s, want %s", key, got, want)
		}
	}
	if got, ok := GetString(obj, "a"); got != "last" || !ok {
		t.Errorf("got %q %v", got, ok)
	}
	if got, ok := GetString(obj, "t"); got != "" || ok {
		t.Errorf("got %q %v for a boolean", got, ok)
	}
}

func TestWith(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	tests := map[string]struct {
		obj     string
		members []Member
		want    string
	}{
		"nil":               {"", []Member{{"a", raw("1")}}, `{"a":1}`},
		"empty":             {"{}", []Member{{"a", raw("1")}, {"b", nil}}, `{"a":1,"b":null}`},
		"nothing":           {` {"a" :1} `, nil, ` {"a" :1} `},
		"append":            {`{"a":1}`, []Member{StringMember("b", "x\n")}, `{"a":1,"b":"x\n"}`},
		"replace":           {`{"a":1,"b":2,"c":3}`, []Member{{"b", raw(`{"x":1}`)}}, `{"a":1,"b":{"x":1},"c":3}`},
		"replace-and-add":   {`{"a":1,"b":2}`, []Member{{"z", raw("9")}, {"a", raw("0")}}, `{"a":0,"b":2,"z":9}`},
		"blanks-stay":       {"{ \"a\" : 1 ,\n \"b\" : 2 \n}", []Member{{"b", raw("3")}, {"c", raw("4")}}, "{ \"a\" : 1 ,\n \"b\" : 3,\"c\":4 \n}"},
		"empty-with-blanks": {`{ }`, []Member{{"a", raw("1")}}, `{"a":1 }`},
		"repeated-key":      {`{"a":1,"b":2,"a":3,"c":4,"a":5}`, []Member{{"a", raw("0")}}, `{"a":0,"b":2,"c":4}`},
		"repeated-beside":   {`{"a":1,"a":2,"a":3}`, []Member{{"a", raw("0")}, {"b", raw("1")}}, `{"a":0,"b":1}`},
		"repeated-others":   {`{"x":1,"x":2}`, []Member{{"a", raw("0")}}, `{"x":1,"x":2,"a":0}`},
		"later-wins":        {`{"a":1}`, []Member{{"a", raw("2")}, {"b", raw("1")}, {"a", raw("3")}, {"b", raw("4")}}, `{"a":3,"b":4}`},
		"escaped-key":       {`{"\u0061":1}`, []Member{{"a", raw("2")}}, `{"\u0061":2}`},
		"no-object":         {`[1]`, []Member{{"a", raw("2")}}, `{"a":2}`},
		"odd-key":           {`{}`, []Member{{"a\"\\", raw("2")}}, `{"a\"\\":2}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			obj := json.RawMessage(tt.obj)
			before := slices.Clone(obj)
			got := With(obj, tt.members...)
			if string(got) != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if !slices.Equal(obj, before) {
				t.Errorf("With changed its input to %s", obj)
			}
		})
	}
}

func TestQuote(t *testing.T) {
	for _, s := range []string{"", "plain", "a\"b\\c/d", "\x00\x01\x1f\x7f", "\b\f\n\r\t", "<&>", "é€😀\u2028", "bad\xffbytes\xc3"} {
		got := Quote(s)
		var back string
		if err := json.Unmarshal(got, &back); err != nil {
			t.Errorf("Quote(%q) = %s: %v", s, got, err)
		}
		if want := strings.ToValidUTF8(s, "\uFFFD"); back != want {
			t.Errorf("Quote(%q) reads back as %q, want %q", s, back, want)
		}
	}
}

func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":{"c":[1,"}"]}}`), "a", "x")
	f.Add([]byte(" {\n} "), "k\"", "\x00")
	f.Add([]byte(`{"a":1,"a":2,"\u0061":3}`), "a", "")
	f.Add([]byte(`{"":null}`), "", "é")
	f.Fuzz(func(t *testing.T, obj []byte, key, value string) {
		for range Members(obj) { // whatever it is, no panic
		}
		With(obj, Member{key, nil})
		var whole map[string]json.RawMessage
		if !utf8.Valid(obj) || json.Unmarshal(obj, &whole) != nil || whole == nil {
			return
		}
		sameMembers(t, obj, whole)
		key = strings.ToValidUTF8(key, "\uFFFD")
		got := With(obj, StringMember(key, value), Member{"other", json.RawMessage("[1]")})
		if !json.Valid(got) {
			t.Fatalf("With(%s) = %s", obj, got)
		}
		whole[key], whole["other"] = Quote(value), json.RawMessage("[1]")
		sameMembers(t, got, whole)
	})
}

// sameMembers checks Members and Get of obj against encoding/json's reading.
func sameMembers(t *testing.T, obj json.RawMessage, want map[string]json.RawMessage) {
	t.Helper()
	got := map[string]json.RawMessage{}
	for key, value := range Members(obj) {
		got[key] = value
		if last := Get(obj, key); string(last) != string(want[key]) {
			t.Fatalf("Get(%s, %q): got %s, want %s", obj, key, last, want[key])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: got %d members, want %d", obj, len(got), len(want))
	}
	for key, value := range want {
		if string(got[key]) != string(value) {
			t.Fatalf("%s: member %q: got %s, want %s", obj, key, got[key], value)
		}
	}
}

func BenchmarkWith(b *testing.B) {
	obj := json.RawMessage(`{"agent_id":"a","session_id":"s","status":"ok","tokens_used":120,"steps":4,"duration_ms":3400,"response_preview":"Done."}`)
	event, id := Quote("agent:end"), Quote("01ARYZ6S41TSV4RRFFQ69G5FAV")
	b.ReportAllocs()
	for b.Loop() {
		With(obj, Member{"hook_event_name", event}, Member{"event_id", id}, Member{"session_id", event})
	}
}

func BenchmarkMembers(b *testing.B) {
	obj := json.RawMessage(`{"big":"` + strings.Repeat("x", 1<<20) + `","list":[` + strings.Repeat(`{"a":1},`, 1<<15) + `0]}`)
	b.ReportAllocs()
	b.SetBytes(int64(len(obj)))
	for b.Loop() {
		Get(obj, "none")
	}
}
