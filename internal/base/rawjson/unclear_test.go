package rawjson

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Programs read different values where a pair is halved, or a key stands twice.
func TestUnclear(t *testing.T) {
	many := func(last string) string { // more keys than are compared with each other
		var b strings.Builder
		for i := range 3 * fewKeys {
			fmt.Fprintf(&b, `"k%d":%d,`, i, i)
		}
		return "{" + b.String() + last + "}"
	}
	const half, twice = "half a character", "twice"
	for _, c := range []struct{ value, want string }{
		{`{}`, ""}, {`[]`, ""}, {`7`, ""}, {`""`, ""}, {` {"a" : [ null , true, 1e3 ] } `, ""},
		{`"\ud83d\ude00 \uD83D\uDE00 \\ud800 \u00d8 \"\n"`, ""},
		{`"\ud800"`, half}, {`"\uDfFf"`, half}, {`"\ud800\ud800\udc00"`, half}, {`"\ud800\\udc00"`, half}, {`"\ud800x\udc00"`, half},
		{`"\udc00\ud800"`, half}, {`"😀\uDBFF\u0041"`, half}, {`{"\ud800":1}`, half}, {`[[{"a":["\udfff"]}]]`, half},
		{`{"a":1,"b":1,"aa":2}`, ""}, {`{"a":{"a":1},"b":{"a":2}}`, ""}, {`[{"a":1},{"a":2}]`, ""},
		{`{"a":1,"a":1}`, ""}, {`{"PROXY":"x","proxy":"x"}`, ""},
		{`{"a":1,"a":2}`, twice}, {`{"cmd":"ls","CMD":"rm"}`, twice}, {`{"cmd":"ls","\u0063md":"rm"}`, twice}, {`{"k":1,"\u212a":2}`, twice},
		{`{"x":[{"a":1,"b":{"c":1,"c":2}}]}`, twice}, {`{"a":1,"a":1,"a":3}`, twice},
		{many(`"k":1`), ""}, {many(`"k3":3`), ""}, {many(`"K3":4`), twice}, {many(`"k20":4`), twice}, {many(`"n":1,"\u004e":2`), twice},
	} {
		if got := Unclear([]byte(c.value)); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.value, got, c.want)
		}
	}
}

// No valid JSON makes Unclear panic.
func FuzzUnclear(f *testing.F) {
	f.Add([]byte(`{"a":"\ud800","\u0041":[1,{"b":"\ud83d\ude00"}]}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		if json.Valid(value) {
			Unclear(value)
		}
	})
}

func BenchmarkUnclear(b *testing.B) {
	value := []byte(`{"session_id":"s","cwd":"/home/me/project","hook_event_name":"PreToolUse","tool_name":"Bash","permission_mode":"default",` +
		`"tool_input":{"command":"go test ./... 2>&1 | tail -20","description":"run the tests","timeout":120000},"tool_use_id":"toolu_01"}`)
	for b.Loop() {
		Unclear(value)
	}
}
