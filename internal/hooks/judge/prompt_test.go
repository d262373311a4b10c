package judge

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/events"
)

func TestRender(t *testing.T) {
	const payload = `{"session_id":"abcdef","tool_name":"shell","tool_input":{"cmd":"ls","n":12345678901234567890,"f":1e7,"deep":{"k":[1,"<&>"]}},
		"tool_response":"done","messages":[{"role":"user","content":"hi","extra":1}],"usage":{"input_tokens":7},"cost":0.25,
		"skill":{"name":"n","content":"text"},"steering_messages":["a","b"],"from_agent_models":[{"base_url":"u"}],"custom":{"x":1}}`
	for _, tt := range []struct{ name, prompt, want, fails string }{
		{"fields", "{{.ToolName}} {{.SessionID}} {{.Skill.Content}} {{.HookEventName}}", "shell abcdef text pre_tool_use", ""},
		{"key", "{{.ToolInput.cmd}}", "ls", ""},
		{"missing-key", "{{.ToolInput.nope}}", "<no value>", ""},
		{"absent-field", "[{{.Summary}}{{.Cost}}{{.Iteration}}]", "[0.250]", ""},
		{"json", "{{.ToolInput | toJSON}}", `{"cmd":"ls","deep":{"k":[1,"<&>"]},"f":1e7,"n":12345678901234567890}`, ""},
		{"exact-number", "{{.ToolInput.n}} {{.ToolInput.f}}", "12345678901234567890 1e7", ""},
		{"messages", "{{range .Messages}}{{.Role}}: {{.Content}} {{toJSON .}}{{end}}", `user: hi {"content":"hi","extra":1,"role":"user"}`, ""},
		{"lists", "{{range .SteeringMessages}}{{.}},{{end}}{{(index .FromAgentModels 0).BaseURL}} {{.Usage.InputTokens}}", "a,b,u 7", ""},
		{"payload", "{{.Payload.custom.x}} {{.Payload.tool_name}}", "1 shell", ""},
		{"truncate", "{{truncate 3 .SessionID}}|{{truncate 6 .SessionID}}|{{truncate 0 .SessionID}}|{{truncate -1 .SessionID}}", "abc…|abcdef|abcdef|abcdef", ""},
		{"piped", "{{.ToolInput | toJSON | truncate 7}}", `{"cmd":…`, ""},
		{"nil-pointer", "{{if .PromptFile}}x{{else}}none{{end}}", "none", ""},

		{"unknown-field", "{{.NoSuchField}}", "", "can't evaluate field NoSuchField"},
		{"unknown-helper", "{{shout .ToolName}}", "", `function "shout" not defined`},
		{"not-closed", "{{.ToolName", "", "unclosed action"},
		{"nil-field", "{{.PromptFile.Content}}", "", "nil pointer"},
		{"wrong-argument", "{{truncate 3 .ToolInput}}", "", "wrong type"},
		{"empty", "{{if .ToolError}}x{{end}} ", "", "the prompt is empty"},
		{"endless", `{{define "a"}}{{template "a"}}{{end}}{{template "a"}}`, "", "exceeded maximum template depth"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, err := newInput("pre_tool_use", json.RawMessage(payload))
			if err != nil {
				t.Fatal(err)
			}
			got, err := render(tt.prompt, in)
			if got != tt.want || (err == nil) != (tt.fails == "") {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
			if tt.fails != "" && !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("error = %v, want %s", err, tt.fails)
			}
		})
	}
}

func TestTruncateKeepsCharactersWhole(t *testing.T) {
	for n, want := range []string{"aé€😀", "a…", "a…", "aé…", "aé…", "aé…", "aé€…", "aé€…", "aé€…", "aé€…", "aé€😀"} {
		if got := truncate(n, "aé€😀"); got != want {
			t.Errorf("truncate %d = %q, want %q", n, got, want)
		}
	}
}

func TestInput(t *testing.T) {
	for _, tt := range []struct{ name, payload, tool, fails string }{
		{"nothing", ``, "", ""},
		{"spelling", `{"tool_name":"shell","Tool_Name":"ls","TOOL_NAME":"ls"}`, "shell", ""},
		{"last-counts", `{"tool_name":"ls","tool_name":"shell"}`, "shell", ""},
		{"null", `{"tool_name":null,"tool_input":null,"skill":null}`, "", ""},
		{"input-is-text", `{"tool_name":"shell","tool_input":"rm -rf /"}`, "", "tool_input is not of the documented type"},
		{"name-is-object", `{"tool_name":{"s":"secret"}}`, "", "tool_name is not of the documented type"},
		{"list", `[1]`, "", "it is not one JSON object"},
		{"null-payload", `null`, "", "it is not one JSON object"},
		{"two", `{} {}`, "", "it is not one JSON object"},
		{"broken", `{`, "", "it is not one JSON object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, err := newInput("e", json.RawMessage(tt.payload))
			if tt.fails != "" {
				if err == nil || err.Error() != "read payload: "+tt.fails {
					t.Errorf("error = %v, want %s", err, tt.fails)
				}
				return
			}
			if err != nil || in.ToolName != tt.tool || in.HookEventName != "e" {
				t.Errorf("got %+v, %v", in, err)
			}
		})
	}
}

// Every documented field of docker-agent's events has a name for templates.
func TestInputHasEveryDocumentedField(t *testing.T) {
	value := map[events.Type]string{
		events.String: `"x"`, events.Integer: `3`, events.Number: `1.5`, events.Boolean: `true`, events.Object: `{}`, events.Any: `"x"`,
	}
	for _, c := range events.All() {
		if c.Dialect != events.DockerAgent {
			continue
		}
		for _, f := range c.Fields {
			text := value[f.Type]
			if f.Type == events.Array {
				text = `[{}]`
				if f.Name == "steering_messages" {
					text = `["x"]`
				}
			}
			in, err := newInput("", json.RawMessage(`{"`+f.Name+`":`+text+`}`))
			if err != nil {
				t.Errorf("%s %s: %v", c.Name, f.Name, err)
				continue
			}
			in.Payload = nil
			all, err := rawjson.Encode(in)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(rawjson.Get(all, f.Name)); got == "" || f.Type != events.Object && f.Type != events.Array && got != text {
				t.Errorf("%s: %s = %s, want %s", c.Name, f.Name, got, text)
			}
		}
	}
}

func FuzzInput(f *testing.F) {
	for _, seed := range []string{`{"tool_name":"shell","tool_input":{"a":1}}`, `{"messages":[{"role":1}],"usage":{},"cost":1}`, `{"tool_name":"a","tool_name":"b"}`, `{"tool_error":1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		payload = bytes.ToValidUTF8(payload, []byte("\uFFFD")) // as the door does
		in, err := newInput("", payload)
		if err != nil || len(payload) == 0 {
			return
		}
		if name, ok := rawjson.GetString(payload, "tool_name"); ok && in.ToolName != name {
			t.Errorf("the judge sees %q, the matcher %q", in.ToolName, name)
		}
		if _, err := render("{{.ToolName}}. {{.ToolInput | toJSON}} {{.Payload | toJSON}} {{range .Messages}}{{.Role}}{{end}}", in); err != nil {
			t.Error(err)
		}
	})
}

// The tool call counts as it is given, not as members of the payload say.
func TestInputHasTheCallThatRuns(t *testing.T) {
	c := Question{
		Event: "preToolUse", Payload: json.RawMessage(`{"toolName":"bash","toolArgs":{"command":"rm"},"tool_name":"x","tool_input":{"command":"ls","a":1}}`),
		ToolName: "bash", ToolInput: json.RawMessage(`{"command":"rm"}`),
	}
	in, err := c.input()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := render("{{.ToolName}} {{.ToolInput | toJSON}}", in); got != `bash {"command":"rm"}` {
		t.Errorf("got %q, %v", got, err)
	}
	c.ToolInput = json.RawMessage(`"rm"`)
	if in, err := c.input(); err == nil {
		t.Errorf("a call without readable arguments is shown as %v", in.ToolInput)
	}
}
