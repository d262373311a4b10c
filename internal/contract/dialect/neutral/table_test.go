package neutral

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/events"
)

func valid(v []byte) bool { return json.Valid(v) }

var sample = Table{
	Rows: []FieldFact{
		{Field: "id", Fact: Session},
		{Field: "other_id", Fact: Session},
		{Field: "in.tool", Fact: Tool},
		{Field: "in.args", Fact: Input, Events: "call"},
		{Field: "command", Fact: Input + ".command", Events: "shell"},
		{Field: "roots.0", Fact: Cwd},
		{Field: "ok", Fact: Failed, Form: Not},
		{Field: "text", Fact: Result, Form: JSON},
		{Field: "start", Fact: Prompt, Form: Preview},
		{Field: "parts", Fact: Answer, Form: Parts},
		{Field: "end", Fact: Status, Words: "fine=ok bad=error"},
		{Field: "server", Fact: MCPServer},
	},
	Fixed:     []Fixed{{Events: "shell", Fact: Tool, Value: `"sh"`}},
	Tools:     []ToolName{{Own: "sh", Canonical: "Bash", Args: "cmd=command"}, {Own: "zsh", Canonical: "Bash", OneWay: true}, {Own: "zsh", Canonical: "Zsh"}},
	MCPPrefix: "MCP:",
}

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		event, data string
		fact        Fact
		want        string
	}{
		{"any", `{"id":"a","other_id":"b"}`, Session, `"a"`},
		{"any", `{"id":null,"other_id":"b"}`, Session, `"b"`},
		{"any", `{}`, Session, ``},
		{"call", `{"in":{"tool":"sh","args":{"cmd":"x","y":1}}}`, Tool, `"Bash"`},
		{"call", `{"in":{"tool":"sh","args":{"cmd":"x","y":1}}}`, Input, `{"command":"x","y":1}`},
		{"call", `{"in":{"tool":"sh","args":{"cmd":"x","command":"y"}}}`, Input, `{"command":"x"}`},
		{"any", `{"in":{"args":{"cmd":"x"}}}`, Input, ``},
		{"any", `{"in":"text"}`, Tool, ``},
		{"shell", `{"command":"ls"}`, Input, `{"command":"ls"}`},
		{"shell", `{"command":"ls"}`, Tool, `"Bash"`},
		{"any", `{"roots":["/a","/b"]}`, Cwd, `"/a"`},
		{"any", `{"roots":[]}`, Cwd, ``},
		{"any", `{"ok":true}`, Failed, `false`},
		{"any", `{"ok":1}`, Failed, ``},
		{"any", `{"text":"{\"a\":1}"}`, Result, `{"a":1}`},
		{"any", `{"text":"no json"}`, Result, `"no json"`},
		{"any", `{"parts":[{"type":"text","text":"a"},{"type":"image"},{"text":"b"}]}`, Answer, `"a\nb"`},
		{"any", `{"parts":"plain"}`, Answer, `"plain"`},
		{"any", `{"end":"bad"}`, Status, `"error"`},
		{"any", `{"in":{"tool":"MCP:make"},"server":"gh"}`, Tool, `"mcp__gh__make"`},
		{"any", `{"in":{"tool":"MCP:make"}}`, Tool, `"MCP:make"`},
	} {
		if got := string(sample.Read(tt.event, []byte(tt.data))[tt.fact]); got != tt.want {
			t.Errorf("%s of %s %s: got %s, want %s", tt.fact, tt.event, tt.data, got, tt.want)
		}
	}
}

func TestWrite(t *testing.T) {
	row := &events.Contract{Name: "call"}
	for _, name := range strings.Fields("id in roots ok text start end command") {
		row.Fields = append(row.Fields, events.Field{Name: name})
	}
	facts := Facts{
		Session: json.RawMessage(`"s"`), Tool: json.RawMessage(`"Bash"`), Input: json.RawMessage(`{"command":"x","y":1}`), Cwd: json.RawMessage(`"/w"`),
		Failed: json.RawMessage(`true`), Result: json.RawMessage(`{"a": 1}`), Prompt: rawjson.Quote(strings.Repeat("é", 130)), Status: json.RawMessage(`"aborted"`),
		Answer: json.RawMessage(`"undocumented"`),
	}
	got := string(rawjson.With(nil, sample.Write(row, facts)...))
	want := `{"id":"s","in":{"tool":"sh","args":{"cmd":"x","y":1}},"roots":["/w"],"ok":false,"text":"{\"a\":1}","start":"` + strings.Repeat("é", 120) + `"}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	row.Name = "shell"
	if got := rawjson.Get(rawjson.With(nil, sample.Write(row, facts)...), "command"); got != nil {
		t.Errorf("the tool's own name for the argument is cmd, got command %s", got) // "command" is then no argument of sh
	}
	if string(facts[Tool]) != `"Bash"` || string(facts[Input]) != `{"command":"x","y":1}` {
		t.Errorf("Write changed the facts: %v", facts)
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct{ event, data, want string }{
		{"call", `{"in":{"tool":"sh"}}`, "sh Bash"},
		{"call", `{"in":{"tool":"zsh"}}`, "zsh Bash Zsh"},
		{"call", `{"in":{"tool":"Bash"}}`, "Bash"},
		{"call", `{"in":{"tool":"other"}}`, "other"},
		{"shell", `{}`, "sh Bash"},
		{"call", `{"in":{"tool":"MCP:make"},"server":"gh"}`, "MCP:make mcp__gh__make"},
		{"call", `{}`, ""},
	} {
		if got := strings.Join(sample.Names(tt.event, []byte(tt.data)), " "); got != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.event, tt.data, got, tt.want)
		}
	}
}

func TestArgsThereAndBack(t *testing.T) {
	other := Table{Tools: []ToolName{{Own: "run", Canonical: "Bash", Args: "CommandLine=command"}}}
	for _, tt := range []struct{ in, want string }{
		{`{"CommandLine":"x"}`, `{"cmd":"x"}`},
		{`{"CommandLine":null,"z":1}`, `{"cmd":null,"z":1}`},
		{`{}`, `{}`},
	} {
		if got := string(other.Args("run", []byte(tt.in), &sample, "sh")); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.in, got, tt.want)
		}
	}
	if got := other.Args("run", nil, &sample, "sh"); got != nil {
		t.Errorf("nil: got %s", got)
	}
}

// LibreFang counts characters, not bytes.
func TestFirst120(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""}, {"short", "short"},
		{strings.Repeat("a", 120), strings.Repeat("a", 120)},
		{strings.Repeat("a", 121), strings.Repeat("a", 120)},
		{strings.Repeat("é", 119) + "😀zz", strings.Repeat("é", 119) + "😀"},
	} {
		if got := first120(tt.text); got != tt.want {
			t.Errorf("of %d bytes: got %d, want %d", len(tt.text), len(got), len(tt.want))
		}
	}
}
