package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// read returns the messages that lines hands on, with a limit of 100 bytes.
func read(t testing.TB, in io.Reader) (out string, notes []string) {
	t.Helper()
	l := &lines{in: io.NopCloser(in), most: 100, tooLong: func(note string) { notes = append(notes, note) }}
	all, err := io.ReadAll(l)
	if err != nil {
		t.Fatal(err)
	}
	return string(all), notes
}

const denied = `{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"hook","arguments":{}}}` + "\n"

func TestLongMessages(t *testing.T) {
	long := strings.Repeat("x", 300)
	deep := `{"id":"inner","method":"other","a":["` + long + `",{"id":9}]}`
	for name, tt := range map[string]struct{ in, want string }{
		"short":           {`{"id":1}` + "\n", `{"id":1}` + "\n"},
		"no_line_end":     {`{"id":1}`, `{"id":1}`},
		"id_last":         {`{"method":"tools/call","params":"` + long + `","id":7}` + "\n", "7"},
		"id_first":        {`{"id":"a\"b","method":"tools/call","params":` + deep + `}` + "\n", `"a\"b"`},
		"inner_ids":       {`{"params":` + deep + `,"method":"tools/call","id":3}` + "\n", "3"},
		"escaped":         {`{"p":"` + long + `\",\"id\":5","method":"tools/call","id":6}` + "\n", "6"},
		"escaped_names":   {`{"p":"` + long + `","\u006dethod":"tools/call","id":6}` + "\n", "6"},
		"spaces":          {`{ "p" : "` + long + `" , "method" : "tools/call" , "id" : 8 }` + "\n", "8"},
		"long_id":         {`{"method":"tools/call","id":"` + long + `"}` + "\n", ""},
		"id_is_an_object": {`{"method":"tools/call","id":{"x":"` + long + `"}}` + "\n", ""},
		"other_method":    {`{"method":"tools/list","id":1,"p":"` + long + `"}` + "\n", ""},
		"no_id":           {`{"method":"tools/call","p":"` + long + `"}` + "\n", ""},
		"answer":          {`{"id":1,"result":"` + long + `"}` + "\n", ""},
		"no_json":         {long + "\n", ""},
		"cut_off":         {`{"method":"tools/call","id":1,"p":"` + long, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			want := tt.want
			if len(tt.in) > 100 && want != "" {
				want = strings.Replace(denied, "ID", want, 1)
			}
			const after = `{"id":2,"method":"ping"}` + "\n"
			for _, in := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in))} {
				if got, notes := read(t, in); got != want || (len(notes) > 0) != (len(tt.in) > 100) {
					t.Errorf("got %q, notes %q, want %q", got, notes, want)
				}
			}
			if !strings.HasSuffix(tt.in, "\n") {
				return
			}
			if got, _ := read(t, strings.NewReader(tt.in+after)); got != want+after {
				t.Errorf("with a message after it: got %q, want %q", got, want+after)
			}
		})
	}
}

// FuzzOutline: of any object the outline has the members that encoding/json finds, if they
// are short texts or numbers, and it takes any bytes.
func FuzzOutline(f *testing.F) {
	f.Add([]byte(`{"id":1,"method":"tools/call","params":{"id":2}}`))
	f.Add([]byte(`{"a":"\\","b":"\"","c":[{}],"d":{},"e":null, "f" : 1e3 }`))
	f.Add([]byte(`{"a":"}`))
	f.Add([]byte(`]]}{"id":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		o := &outline{}
		o.read(text)
		o.call()
		var members map[string]json.RawMessage
		if json.Unmarshal(text, &members) != nil || members == nil || bytes.Contains(text, []byte(`\u`)) {
			return
		}
		got := map[string]string{}
		for _, m := range o.members {
			got[m.Key] = string(m.Value)
		}
		for key, value := range members {
			short := len(key)+len(value) < mostOfMember/2 && value[0] != '{' && value[0] != '['
			if short && len(text) < mostOfMember && got[key] != string(value) {
				t.Errorf("%s: %q is %q, want %q", text, key, got[key], value)
			}
		}
	})
}
