package events

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/wire"
)

// Every key of an envelope.
const specLine = `{"event":"agent:end","data":{"agent_id":"a","status":"ok"},"wait":false,"id":"optional, yours","session_id":"s","agent_id":"a","agent_name":"n","cwd":"/p","sender":"librefang","dialect":"librefang","lane":"default","timeout_ms":4000,"parent":"event_id"}`

func TestParseTakesEveryKey(t *testing.T) {
	got, err := Parse([]byte(specLine))
	if err != nil {
		t.Fatal(err)
	}
	want := Envelope{
		Event: "agent:end", Data: json.RawMessage(`{"agent_id":"a","status":"ok"}`), ID: "optional, yours",
		SessionID: "s", AgentID: "a", AgentName: "n", Cwd: "/p", Sender: "librefang", Dialect: LibreFang,
		Lane: LaneDefault, TimeoutMS: 4000, Parent: "event_id", AgentNamed: true, Peerless: true,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestParseTolerates(t *testing.T) {
	tests := map[string]struct {
		line string
		want Envelope
	}{
		"only-a-name":        {`{"event":"x"}`, Envelope{Event: "x"}},
		"nulls-are-absent":   {`{"event":"x","data":null,"wait":null,"id":null,"timeout_ms":null,"lane":null}`, Envelope{Event: "x"}},
		"blanks-around":      {" \t{ \"event\" : \"x\" , \"wait\" : true }\r\n", Envelope{Event: "x", Wait: true}},
		"unknown-keys":       {`{"event":"x","extra":{"event":"y"},"also":[1,"}"]}`, Envelope{Event: "x"}},
		"case-sensitive":     {`{"event":"x","Event":"y","WAIT":true,"Data":7}`, Envelope{Event: "x"}},
		"last-one-counts":    {`{"event":"y","wait":true,"event":"x","wait":false}`, Envelope{Event: "x"}},
		"escaped-key":        {`{"\u0065vent":"\u0078"}`, Envelope{Event: "x"}},
		"whole-as-float":     {`{"event":"x","timeout_ms":4e3}`, Envelope{Event: "x", TimeoutMS: 4000}},
		"longest-timeout":    {`{"event":"x","timeout_ms":600000}`, Envelope{Event: "x", TimeoutMS: 600000}},
		"preempt":            {`{"event":"x","lane":"preempt"}`, Envelope{Event: "x", Lane: LanePreempt}},
		"longest-id":         {`{"event":"x","id":"` + strings.Repeat("i", 128) + `"}`, Envelope{Event: "x", ID: strings.Repeat("i", 128)}},
		"reserved-is-a-name": {`{"event":"hookd:reload"}`, Envelope{Event: "hookd:reload"}},
		"data-fills": {
			`{"event":"x","data":{"session_id":"s","agent_id":"a","agent_name":"n","cwd":"/c","sender":"z","id":"no"}}`,
			Envelope{Event: "x", SessionID: "s", AgentID: "a", AgentName: "n", Cwd: "/c",
				Data: json.RawMessage(`{"session_id":"s","agent_id":"a","agent_name":"n","cwd":"/c","sender":"z","id":"no"}`)},
		},
		"envelope-wins": {`{"event":"x","session_id":"mine","data":{"session_id":"s"}}`,
			Envelope{Event: "x", SessionID: "mine", Data: json.RawMessage(`{"session_id":"s"}`)}},
		"only-strings-fill": {`{"event":"x","data":{"session_id":7,"cwd":null,"deep":{"agent_id":"a"}}}`,
			Envelope{Event: "x", Data: json.RawMessage(`{"session_id":7,"cwd":null,"deep":{"agent_id":"a"}}`)}},
		"raw-newlines": {"{\"event\":\"x\",\"data\":{\n  \"a\": 1,\r\n  \"b\": \"<&>\"\n}}",
			Envelope{Event: "x", Data: json.RawMessage(`{"a":1,"b":"<&>"}`)}},
		"bytes-as-they-are": {`{"event":"x","data":{ "a" : 1.00 , "b":"\u003c\u0000" }}`,
			Envelope{Event: "x", Data: json.RawMessage(`{ "a" : 1.00 , "b":"\u003c\u0000" }`)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.want.Data == nil {
				tt.want.Data = json.RawMessage("{}")
			}
			tt.want.Peerless = true
			got, err := Parse([]byte(tt.line))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	tests := map[string]struct {
		line    string
		code    wire.Code
		message string // a part of it
	}{
		"empty":            {"", wire.CodeBadJSON, "event is empty"},
		"blank":            {" \n", wire.CodeBadJSON, "event is empty"},
		"cut-off":          {`{"event":"x"`, wire.CodeBadJSON, "unexpected end of JSON input"},
		"trailing":         {`{"event":"x"} x`, wire.CodeBadJSON, "at byte 15"},
		"two-objects":      {`{"event":"x"}{"event":"y"}`, wire.CodeBadJSON, "after top-level value"},
		"array":            {`[{"event":"x"}]`, wire.CodeBadJSON, "event is an array, not an object"},
		"string":           {` "x"`, wire.CodeBadJSON, "event is a string"},
		"null":             {`null`, wire.CodeBadJSON, "event is null"},
		"raw-nul":          {"{\"event\":\"x\x00\"}", wire.CodeBadJSON, "invalid character"},
		"too-deep":         {`{"event":"x","data":{"a":` + strings.Repeat("[", 10001) + strings.Repeat("]", 10001) + `}}`, wire.CodeBadJSON, "max depth"},
		"no-name":          {`{"data":{}}`, wire.CodeBadEventName, "event has no name"},
		"null-name":        {`{"event":null}`, wire.CodeBadEventName, "event has no name"},
		"bad-name":         {`{"event":"a b"}`, wire.CodeBadEventName, `event name "a b" has a blank`},
		"number-name":      {`{"event":7}`, wire.CodeBadField, "field `event` is a number, not a string"},
		"data-array":       {`{"event":"x","data":[]}`, wire.CodeBadData, "field `data` is an array, not an object"},
		"data-string":      {`{"event":"x","data":"{}"}`, wire.CodeBadData, "field `data` is a string, not an object"},
		"wait-string":      {`{"event":"x","wait":"true"}`, wire.CodeBadField, "field `wait` is a string, not a boolean"},
		"wait-number":      {`{"event":"x","wait":1}`, wire.CodeBadField, "field `wait` is a number, not a boolean"},
		"cwd-object":       {`{"event":"x","cwd":{}}`, wire.CodeBadField, "field `cwd` is an object, not a string"},
		"session-number":   {`{"event":"x","session_id":3}`, wire.CodeBadField, "field `session_id` is a number"},
		"long-id":          {`{"event":"x","id":"` + strings.Repeat("i", 129) + `"}`, wire.CodeBadField, "field `id` is 129 bytes long"},
		"lane":             {`{"event":"x","lane":"fast"}`, wire.CodeBadField, "field `lane` is \"fast\""},
		"timeout-negative": {`{"event":"x","timeout_ms":-1}`, wire.CodeBadField, "field `timeout_ms` is -1, not between 0 and 600000"},
		"timeout-long":     {`{"event":"x","timeout_ms":600001}`, wire.CodeBadField, "is 600001"},
		"timeout-huge":     {`{"event":"x","timeout_ms":1e999}`, wire.CodeBadField, "field `timeout_ms` is"},
		"timeout-fraction": {`{"event":"x","timeout_ms":1.5}`, wire.CodeBadField, "is a number with a fraction, not an integer"},
		"timeout-string":   {`{"event":"x","timeout_ms":"5s"}`, wire.CodeBadField, "is a string, not an integer"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(tt.line))
			if err == nil {
				t.Fatal("accepted")
			}
			if err.Code != tt.code || !strings.Contains(err.Message, tt.message) {
				t.Errorf("got %s %q, want %s with %q", err.Code, err.Message, tt.code, tt.message)
			}
			if err.Hint == "" {
				t.Error("no hint")
			}
		})
	}
}

func TestParseReplacesInvalidUTF8(t *testing.T) {
	got, err := Parse([]byte("{\"event\":\"x\",\"cwd\":\"/a\xff\",\"data\":{\"k\xfe\":\"\xc3(\"}}"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Cwd != "/a\uFFFD" || string(got.Data) != "{\"k\uFFFD\":\"\uFFFD(\"}" {
		t.Errorf("got cwd %q, data %s", got.Cwd, got.Data)
	}
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "U+FFFD") {
		t.Errorf("got warnings %q", got.Warnings)
	}
}

// A line that is read in pieces is the same event, wherever its characters lie.
func TestParseInPieces(t *testing.T) {
	for shift := range 5 {
		for _, text := range []string{"é", "€", "😀", "a\xff", "a\xe2\x82"} {
			text = strings.Repeat("x", shift) + strings.Repeat(text, 3*pieceBytes/len(text))
			line := []byte(`{"event":"a:b","data":{"text":"` + text + `"}}`)
			want, bad := Parse(line)
			if bad != nil {
				t.Fatal(bad)
			}
			paused := 0
			p := Parser{Pause: func() { paused++ }}
			got, bad := p.Parse(line)
			if bad != nil || !bytes.Equal(got.Data, want.Data) || len(got.Warnings) != len(want.Warnings) {
				t.Errorf("%.8q after %d bytes: in pieces %d bytes, %q, %v; at once %d bytes, %q",
					text, shift, len(got.Data), got.Warnings, bad, len(want.Data), want.Warnings)
			}
			if paused < 3 {
				t.Errorf("%.8q after %d bytes: %d pauses", text, shift, paused)
			}
		}
	}
}

// Of the line, only the data is kept.
func TestParseSharesDataOnly(t *testing.T) {
	line := []byte(`{"event":"agent:end","data":{"session_id":"s"},"id":"one"}`)
	got, err := Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Index(string(line), `{"session_id"`); &got.Data[0] != &line[want] || cap(got.Data) != len(got.Data) {
		t.Errorf("data %s is no part of the line, or could grow over it", got.Data)
	}
	for i := range line {
		line[i] = 'x'
	}
	if got.Event != "agent:end" || got.ID != "one" || got.SessionID != "s" {
		t.Errorf("the envelope changed with the line: %+v", got)
	}
}

// A Parser reads each line as if it were the first, into texts that stay as
// they are when the buffer of the lines is used again.
func TestParserRemembersNothingButTexts(t *testing.T) {
	lines := []string{
		specLine, specLine, `{"event":"agent:end"}`, `{"event":"agent:end","session_id":"s","data":{"session_id":"other","cwd":"/p"}}`,
		`{"event":"x","cwd":"C:\\n"}`, `{"event":"x","cwd":"C:\n"}`, `{"event":"x","cwd":"C:\n"}`, `{"event":"x","cwd":7}`, `{"event":"x","cwd":"C:\\n","wait":true}`,
		"{\"event\":\"x\",\"cwd\":\"\xff\"}", `{"event":"x","session_id":"` + strings.Repeat("s", MaxIdentity+1) + `"}`, `{"event":"x"}`,
	}
	var p Parser
	var buf []byte
	var got []Envelope
	for _, line := range lines {
		buf = append(buf[:0], line...)
		env, err := p.Parse(buf)
		want, bad := Parse([]byte(line))
		if err == nil && !reflect.DeepEqual(*env, want) || !reflect.DeepEqual(err, bad) {
			t.Errorf("%s\n got %+v, %v\nwant %+v, %v", line, env, err, want, bad)
		}
		got = append(got, Envelope{})
		if err == nil {
			got[len(got)-1] = *env
		}
	}
	for i, line := range lines {
		if want, _ := Parse([]byte(line)); got[i].Cwd != want.Cwd || got[i].SessionID != want.SessionID || got[i].Event != want.Event {
			t.Errorf("%s: the envelope has changed since, to %+v", line, got[i])
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		specLine, `{"event":"x"}`, `{"event":"a b"}`, `{"event":"x","data":[]}`, `[]`, `{"event":"x"}x`, "{\"event\":\"x\xff\"}",
		`{"\u0065vent":"x","data":{"a":"\ud800","cwd":"\"}"}}`, "{\"event\":\"x\",\"data\":{\n}}", `{"event":"x","timeout_ms":1e2}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		before := slices.Clone(line)
		env, err := Parse(line)
		p := Parser{env: Envelope{Event: "x", Cwd: `\"}`, SessionID: "a", Wait: true, AgentNamed: true, At: time.Now(), Warnings: []string{"w"}}}
		for range 2 {
			if again, bad := p.Parse(line); !reflect.DeepEqual(bad, err) || bad == nil && !reflect.DeepEqual(*again, env) {
				t.Fatalf("got %+v, %v, another time %+v, %v", env, err, again, bad)
			}
		}
		if !slices.Equal(line, before) {
			t.Fatal("Parse changed its input")
		}
		if !json.Valid(line) && (err == nil || err.Code != wire.CodeBadJSON) {
			t.Fatalf("invalid JSON got %v", err)
		}
		if err != nil {
			if err.Message == "" || err.Hint == "" {
				t.Fatalf("a refusal without words: %+v", err)
			}
			return
		}
		agrees(t, line, env)
	})
}

// agrees checks an accepted envelope against encoding/json.
func agrees(t *testing.T, line []byte, env Envelope) {
	t.Helper()
	if bad := CheckName(env.Event); bad != nil {
		t.Fatalf("accepted %v", bad)
	}
	var data map[string]json.RawMessage
	if err := json.Unmarshal(env.Data, &data); err != nil || data == nil {
		t.Fatalf("data %q is no object: %v", env.Data, err)
	}
	if strings.ContainsAny(string(env.Data), "\r\n") {
		t.Fatalf("data %q has line breaks", env.Data)
	}
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(line, &whole); err != nil {
		t.Fatalf("accepted what encoding/json does not: %v", err)
	}
	var name string
	if err := json.Unmarshal(whole["event"], &name); err != nil || name != env.Event {
		t.Fatalf("event %q, encoding/json reads %q (%v)", env.Event, name, err)
	}
}

// A line changes nothing about the next one of its Parser.
func FuzzParseAgain(f *testing.F) {
	const head = `{"event":"x","session_id":"s","data":`
	for _, seed := range [][4]string{
		{head, `{}`, `{"a":[1,"\n",{}]}`, `}`},
		{head, `{"cwd":"/a"}`, `{"session_id":"t"}`, `}`},
		{`{"event":"x","cwd":"/a","data":`, `{"cwd":"/b"}`, `{"cwd":1}`, `}`},
		{`{"event":"x","cwd":"","data":`, `{}`, `{"cwd":"/b"}`, `}`},
		{`{"event":"x","agent_name":"a","data":`, `{}`, `{"agent_name":"b"}`, ` } `},
		{head, `{}`, `[]`, `}`}, {head, `{}`, `{`, `}`}, {head, `{}`, `{}}{`, `}`}, {head, `{}`, ``, ``}, {head, `{}`, `{}`, `,"event":"y"}`},
		{head, `{}`, "{\n}", "\n}"}, {head, `{}`, "{\"a\":\"\xff\"}", `}`}, {"{\"event\":\"x\",\"cwd\":\"\xff\",\"data\":", `{}`, `{"a":1}`, `}`},
		{`{"data":`, `{}`, `{"a":1}`, `,"event":"x"}`}, {`{"event":"x","data":null,"data":`, `{}`, `{"a":1}`, `}`}, {`{"event":"x","wait":true,"d\u0061ta":`, `{}`, `{"a":1}`, `,"data":{}}`},
		{`{"event":"a b","data":`, `{}`, `{"a":1}`, `}`}, {`{"event":"x","lane":"y","data":`, `{}`, `{"a":1}`, `}`}, {"{\n\"event\":\"x\",\"data\":", `{}`, `{"a":1}`, `}`},
		{`{"event":"x","sender":"` + strings.Repeat("s", MaxIdentity+1) + `","data":`, `{}`, `{"a":1}`, `}`},
		{`{"event":"x","id":"1","data":`, `{}`, `{"text":"` + strings.Repeat("x", MaxIdentity+1) + `"}`, `}`},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	f.Fuzz(func(t *testing.T, head, one, other, tail string) {
		var p Parser
		datas := []string{one, one, one, other, other, other, one}
		for _, heads := range []int{1, 3} { // in turn
			for i := range heads * len(datas) {
				line := []byte(strings.Repeat(" ", i%heads) + head + datas[i/heads] + tail)
				want, wantErr := Parse(bytes.Clone(line))
				got, err := p.Parse(line)
				if !reflect.DeepEqual(err, wantErr) || err == nil && !reflect.DeepEqual(*got, want) {
					t.Fatalf("%q: got %+v, %v, alone %+v, %v", line, got, err, want, wantErr)
				}
				if err == nil { // the caller may change it
					*got = Envelope{Event: "changed", Wait: true, AgentNamed: true, At: time.Now(), Owned: true, Peer: &Peer{}, Brought: &Brought{}, Traceparent: "a", Tracestate: "b"}
				}
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	sized := func(n int) []byte {
		return []byte(`{"event":"bench:none","session_id":"s1","cwd":"/tmp","data":{"text":"` + strings.Repeat("x", n-76) + `"}}`)
	}
	for _, c := range []struct {
		name string
		line []byte
	}{{"spec", []byte(specLine)}, {"266", sized(266)}, {"1200", sized(1200)}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.line)))
			var p Parser
			for b.Loop() {
				if _, err := p.Parse(c.line); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"-json.Valid", func(b *testing.B) {
			b.SetBytes(int64(len(c.line)))
			for b.Loop() {
				if !json.Valid(c.line) {
					b.Fatal("it is valid")
				}
			}
		})
	}
}
