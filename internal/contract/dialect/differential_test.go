package dialect

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Here stands, apart from the tables, which arguments agents execute: the event of a
// tool call, where its arguments are, and by which of them a tool works.
type executes struct {
	dialect events.Dialect
	event   string
	call    string // the payload; TOOL and ARGS are replaced
	tool    string
	args    map[string]string // what a guard looks at, and the argument that the tool takes for it
}

const (
	claudeCall = `{"session_id":"s","cwd":"/w","tool_name":TOOL,"tool_input":ARGS,"tool_use_id":"t"}`
	clineCall  = `{"taskId":"s","hookName":"PreToolUse","preToolUse":{"toolName":TOOL,"parameters":ARGS}}`
)

var tools = []executes{
	{events.ClaudeCode, "PreToolUse", claudeCall, "Bash", map[string]string{"command": "command"}},
	{events.ClaudeCode, "PreToolUse", claudeCall, "Write", map[string]string{"path": "file_path", "content": "content"}},
	{events.ClaudeCode, "PreToolUse", claudeCall, "Edit", map[string]string{"path": "file_path", "old": "old_string", "new": "new_string"}},
	{events.ClaudeCode, "PreToolUse", claudeCall, "WebFetch", map[string]string{"url": "url"}},
	{events.ClaudeCode, "PreToolUse", claudeCall, "WebSearch", map[string]string{"query": "query"}},
	{events.ClaudeCode, "PermissionRequest", claudeCall, "Bash", map[string]string{"command": "command"}},
	{events.ClaudeCode, "PostToolUse", claudeCall, "Bash", map[string]string{"command": "command"}},
	{events.Codex, "PreToolUse", claudeCall, "Bash", map[string]string{"command": "command"}},
	{events.Codex, "PreToolUse", claudeCall, "exec_command", map[string]string{"command": "cmd"}},
	{events.DockerAgent, "pre_tool_use", claudeCall, "shell", map[string]string{"command": "cmd"}},
	{events.DockerAgent, "pre_tool_use", claudeCall, "write_file", map[string]string{"path": "path", "content": "content"}},
	{events.DockerAgent, "pre_tool_use", claudeCall, "edit_file", map[string]string{"path": "path"}},
	{events.DockerAgent, "post_tool_use", claudeCall, "shell", map[string]string{"command": "cmd"}},
	{events.GeminiCLI, "BeforeTool", claudeCall, "run_shell_command", map[string]string{"command": "command"}},
	{events.GeminiCLI, "BeforeTool", claudeCall, "write_file", map[string]string{"path": "file_path", "content": "content"}},
	{events.GeminiCLI, "BeforeTool", claudeCall, "replace", map[string]string{"path": "file_path", "old": "old_string", "new": "new_string"}},
	{events.GeminiCLI, "AfterTool", claudeCall, "run_shell_command", map[string]string{"command": "command"}},
	{events.Cursor, "preToolUse", claudeCall, "Shell", map[string]string{"command": "command"}},
	{events.Cursor, "beforeShellExecution", `{"conversation_id":"s","command":ARGS.command,"tool_input":ARGS,"cwd":"/w"}`, "Shell", map[string]string{"command": "command"}},
	{events.Copilot, "preToolUse", `{"sessionId":"s","toolName":TOOL,"toolArgs":ARGS}`, "bash", map[string]string{"command": "command"}},
	{events.Copilot, "preToolUse", `{"sessionId":"s","toolName":TOOL,"toolArgs":"ARGS"}`, "bash", map[string]string{"command": "command"}},
	{events.Copilot, "preToolUse", `{"sessionId":"s","toolName":TOOL,"toolArgs":ARGS}`, "create", map[string]string{"path": "path", "content": "file_text"}},
	{events.Copilot, "preToolUse", `{"sessionId":"s","toolName":TOOL,"toolArgs":ARGS}`, "edit", map[string]string{"path": "path", "old": "old_str", "new": "new_str"}},
	{events.Kimi, "PreToolUse", claudeCall, "WriteFile", map[string]string{"path": "path", "content": "content"}},
	{events.Windsurf, "pre_run_command", `{"trajectory_id":"s","tool_info":{"command_line":ARGS.command,"command":"decoy-9"},"command":"decoy-8"}`, "run_command", map[string]string{"command": "command"}},
	{events.Cline, "PreToolUse", clineCall, "execute_command", map[string]string{"command": "command"}},
	{events.Cline, "PreToolUse", clineCall, "write_to_file", map[string]string{"path": "path", "content": "content"}},
	{events.Antigravity, "PreToolUse", `{"conversationId":"s","toolCall":{"name":TOOL,"args":ARGS}}`, "run_command", map[string]string{"command": "CommandLine"}},
	{events.Antigravity, "PreToolUse", `{"conversationId":"s","toolCall":{"name":TOOL,"args":ARGS}}`, "write_to_file", map[string]string{"path": "TargetFile", "content": "CodeContent"}},
	{
		events.Antigravity, "PreToolUse", `{"conversationId":"s","toolCall":{"name":TOOL,"args":ARGS}}`,
		"replace_file_content",
		map[string]string{"path": "TargetFile", "old": "TargetContent", "new": "ReplacementContent"},
	},
	{
		events.Antigravity, "PreToolUse", `{"conversationId":"s","toolCall":{"name":TOOL,"args":ARGS}}`,
		"multi_replace_file_content", map[string]string{"path": "TargetFile"},
	},
	{
		events.Antigravity, "PreToolUse", `{"conversationId":"s","toolCall":{"name":TOOL,"args":ARGS}}`,
		"send_command_input", map[string]string{"command": "Input"},
	},
	{events.Kimi, "PreToolUse", claudeCall, "Shell", map[string]string{"command": "command"}},
	{events.ClaudeCode, "PreToolUse", claudeCall, "Monitor", map[string]string{"command": "command"}},
	{events.ClaudeCode, "PreToolUse", claudeCall, "Read", map[string]string{"path": "file_path"}},
	{
		events.Familiar, "beforeToolCall", `{"conversation_id":"s","tool_name":TOOL,"tool_args":ARGS}`, "Bash",
		map[string]string{"command": "command"},
	},
	{
		events.Windsurf, "pre_write_code", `{"trajectory_id":"s","tool_info":ARGS}`, "write_code",
		map[string]string{"path": "file_path"},
	},
	{
		events.OpenClaw, "before_tool_call", `{"sessionId":"s","toolName":TOOL,"params":ARGS}`, "edit",
		map[string]string{"path": "path", "old": "oldText", "new": "newText"},
	},
	{events.Hermes, "pre_tool_call", claudeCall, "execute_code", map[string]string{"command": "code"}},
	{
		events.Cline, "PreToolUse", `{"taskId":"s","hookName":"tool_call","tool_call":{"name":TOOL,"input":ARGS}}`,
		"editor", map[string]string{"path": "path", "new": "new_text"},
	},
	{events.Hermes, "pre_tool_call", claudeCall, "terminal", map[string]string{"command": "command"}},
	{events.Hermes, "pre_tool_call", claudeCall, "write_file", map[string]string{"path": "path", "content": "content"}},
	{events.OpenCode, "tool.execute.before", `{"sessionID":"s","tool":TOOL,"args":ARGS}`, "bash", map[string]string{"command": "command"}},
	{events.OpenCode, "tool.execute.before", `{"sessionID":"s","tool":TOOL,"args":ARGS}`, "edit", map[string]string{"path": "filePath", "old": "oldString", "new": "newString"}},
	{events.OpenClaw, "before_tool_call", `{"sessionId":"s","toolName":TOOL,"params":ARGS}`, "exec", map[string]string{"command": "command"}},
	{events.OpenClaw, "before_tool_call", `{"sessionId":"s","toolName":TOOL,"params":ARGS}`, "write", map[string]string{"path": "path", "content": "content"}},
}

// looks says, for each dialect that a guard may be written for, in which fields
// it looks: by the name that it is given, else by its dialect.
var looks = map[string]map[string][]string{
	"claude-code":          {"command": {"tool_input.command"}, "path": {"tool_input.file_path"}, "content": {"tool_input.content"}, "old": {"tool_input.old_string"}, "new": {"tool_input.new_string"}, "url": {"tool_input.url"}, "query": {"tool_input.query"}},
	"codex":                {"command": {"tool_input.command", "tool_input.cmd"}},
	"gemini-cli":           {"command": {"tool_input.command"}, "path": {"tool_input.file_path"}, "content": {"tool_input.content"}, "old": {"tool_input.old_string"}, "new": {"tool_input.new_string"}, "query": {"tool_input.query"}},
	"docker-agent":         {"command": {"tool_input.cmd"}, "path": {"tool_input.path"}, "content": {"tool_input.content"}},
	"familiar":             {"command": {"tool_args.command"}, "path": {"tool_args.file_path", "tool_args.path"}},
	"cursor":               {"command": {"tool_input.command"}},
	"beforeShellExecution": {"command": {"command"}},
	"beforeReadFile":       {"path": {"file_path"}},
	"copilot":              {"command": {"toolArgs.command"}, "path": {"toolArgs.path"}, "content": {"toolArgs.file_text"}, "old": {"toolArgs.old_str"}, "new": {"toolArgs.new_str"}},
	"windsurf":             {"command": {"tool_info.command_line"}, "path": {"tool_info.file_path"}},
	"cline":                {"command": {"preToolUse.parameters.command", "postToolUse.parameters.command"}, "path": {"preToolUse.parameters.path"}, "content": {"preToolUse.parameters.content"}},
	"antigravity":          {"command": {"toolCall.args.CommandLine"}, "path": {"toolCall.args.TargetFile"}, "content": {"toolCall.args.CodeContent"}},
	"hermes":               {"command": {"tool_input.command"}, "path": {"tool_input.path"}, "content": {"tool_input.content"}},
	"opencode":             {"command": {"args.command"}, "path": {"args.filePath"}, "content": {"args.content"}, "old": {"args.oldString"}, "new": {"args.newString"}},
	"openclaw":             {"command": {"params.command"}, "path": {"params.path"}, "content": {"params.content"}},
	"librefang":            {"command": {"tool_input.command"}, "path": {"tool_input.path"}},
}

// decoys are names that an argument has in some dialect, in all letter cases, and other
// members that an agent may carry.
var decoys = strings.Fields(`command cmd commands CMD Cmd COMMAND Command command_line CommandLine commandline file_path path filePath Path PATH FILE_PATH
	absolute_path AbsolutePath TargetFile targetfile content Content file_text CodeContent new_string newString new_str New_String old_string oldString old_str
	url urls URL query Query tool_input toolArgs params args emitted tool_name toolName server_name mcp_server_name tool description edits input`)

// TestGuardsSeeWhatAgentsExecute: for random payloads with colliding, renamed, extra,
// nested and oddly cased fields, a guard sees, under each name that the event goes by,
// the arguments that the agent's tool would execute; and so does a built-in.
func TestGuardsSeeWhatAgentsExecute(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 1))
	seen := 0
	for _, x := range tools {
		for range 60 {
			e, want := x.random(t, r)
			for _, row := range e.Contract.Aliases() {
				if own := row == e.Contract || row.Name == e.Contract.Name; own && x.dialect != events.DockerAgent || !Stands(row, e) {
					continue // under its own name the event is as the agent sent it
				}
				given := rowOf(e.Contract, row.Name)
				payload := Payload(e, row.Name, nil)
				if !json.Valid(payload) {
					t.Fatalf("%s as %s: %s", e.Data, row.Name, payload)
				}
				fields := looks[row.Name]
				if fields == nil {
					fields = looks[string(given.Dialect)]
				}
				for fact, value := range want {
					for _, field := range fields[fact] {
						got := at(payload, field)
						if top, _, _ := strings.Cut(field, "."); got == nil || !documents(given, top) {
							continue // not under this name
						}
						if other := otherCase(payload, field); other != "" && given != e.Contract {
							t.Fatalf("%s of %s as %s: beside %s there is %s, which a guard written in Go reads\nsent %s\ngiven %s",
								x.tool, x.dialect, row.Name, field, other, e.Data, payload)
						}
						seen++
						if got != value {
							t.Fatalf("%s %s of %s as %s of %s: %s is %v, the agent executes %q\nsent  %s\ngiven %s",
								x.dialect, x.event, x.tool, row.Name, given.Dialect, field, got, value, e.Data, payload)
						}
						if string(rawjson.Get(payload, "emitted")) != string(e.Data) && at(e.Data, field) != nil && at(e.Data, field) != value {
							t.Fatalf("%s as %s: %s was another, and emitted is %s", e.Data, row.Name, field, rawjson.Get(payload, "emitted"))
						}
					}
				}
			}
			if tool := Call(e).Tool; want["command"] != "" && tool != "Bash" {
				t.Fatalf("%s of %s is taken for %s: %s", x.tool, x.dialect, tool, e.Data)
			}
			if line := want["command"]; line != "" && !slices.Contains(Call(e).Commands(), line) {
				t.Fatalf("built-ins see %q, the agent executes %q: %s", Call(e).Commands(), line, e.Data)
			}
		}
	}
	if seen < 10_000 {
		t.Errorf("guards have looked at %d values: the test is not about much", seen)
	}
}

func documents(row *events.Contract, field string) bool {
	return slices.ContainsFunc(row.Fields, func(f events.Field) bool { return f.Name == field })
}

// random returns a call with the arguments that the tool executes, and their values,
// between others that it does not.
func (x executes) random(t *testing.T, r *rand.Rand) (*events.Event, map[string]string) {
	own, want := map[string]bool{}, map[string]string{}
	var members []rawjson.Member
	for fact, arg := range x.args {
		value := fmt.Sprintf("evil-%s-%d", fact, r.IntN(1000))
		own[arg], want[fact] = true, value
		members = append(members, rawjson.StringMember(arg, value))
	}
	if r.IntN(4) == 0 {
		members = append(members, rawjson.StringMember("server_name", "gh"), rawjson.StringMember("tool_name", "make"))
	}
	for range r.IntN(6) {
		name := decoys[r.IntN(len(decoys))]
		if own[name] {
			continue
		}
		values := []json.RawMessage{json.RawMessage(`"decoy"`), json.RawMessage(`null`), json.RawMessage(`["decoy"]`), json.RawMessage(`{"command":"decoy","cmd":"decoy","path":"decoy"}`), json.RawMessage(`7`)}
		members = append(members, rawjson.Member{Key: name, Value: values[r.IntN(len(values))]})
	}
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	args := string(rawjson.With(nil, members...))
	if x.dialect == events.DockerAgent {
		x.folded(members, want)
	}
	command := rawjson.StringIn([]byte(args), "command")
	data := strings.NewReplacer("TOOL", string(rawjson.Quote(x.tool)), `"ARGS"`, string(rawjson.Quote(args)), "ARGS.command", string(rawjson.Quote(command)), "ARGS", args).Replace(x.call)
	for range r.IntN(3) { // beside the call: agents may add fields to come
		name := decoys[r.IntN(len(decoys))]
		if rawjson.Get([]byte(data), name) == nil && name != "tool_input" { // which the bridge fills in for Cline
			data = string(rawjson.With([]byte(data), rawjson.StringMember(name, "decoy")))
		}
	}
	return event(t, x.dialect, x.event, data), want
}

// folded says which argument a program in Go takes: of an argument in several letter
// cases the last one. With one of another type it executes nothing.
func (x executes) folded(members []rawjson.Member, want map[string]string) {
	for fact, arg := range x.args {
		for _, m := range members {
			var text *string
			switch {
			case !strings.EqualFold(m.Key, arg):
			case json.Unmarshal(m.Value, &text) != nil:
				delete(want, fact)
				return
			case text != nil:
				want[fact] = *text
			}
		}
	}
}

// otherCase returns a member that differs from the one at a path in letter case
// alone; "" = there is none.
func otherCase(payload json.RawMessage, path string) string {
	dot := strings.LastIndexByte(path, '.')
	object, _ := at(payload, path[:max(0, dot)]).(map[string]any)
	for name := range object {
		if name != path[dot+1:] && strings.EqualFold(name, path[dot+1:]) {
			return name
		}
	}
	return ""
}

// Where it is not certain which argument a tool takes, built-ins look at all that it
// could be: a name in another letter case, a tool that only other agents are known to
// have.
func TestBuiltinsSeeWhatIsInDoubt(t *testing.T) {
	for _, tt := range []struct {
		dialect    events.Dialect
		event      string
		data, want string // commands, one a line
	}{
		{events.ClaudeCode, "PreToolUse", `{"tool_name":"BASH","tool_input":{"command":"a"}}`, "a"},
		{events.DockerAgent, "pre_tool_use", `{"tool_name":"Shell","tool_input":{"cmd":"a"}}`, "a"},
		{
			events.GeminiCLI, "BeforeTool",
			`{"tool_name":"run_shell_command","tool_input":{"command":"a","Command":"b"}}`, "a\nb",
		},
		{
			events.ClaudeCode, "PreToolUse",
			`{"tool_name":"run_shell_command","tool_input":{"command":"a","cmd":"b"}}`, "a\nb",
		},
		{events.ClaudeCode, "PreToolUse", `{"tool_name":"execute_code","tool_input":{"code":"a"}}`, "a"},
	} {
		c := Call(event(t, tt.dialect, tt.event, tt.data))
		if got := strings.Join(c.Commands(), "\n"); c.Tool != neutral.Shell || got != tt.want {
			t.Errorf("%s %s: %s with %q, want %q", tt.dialect, tt.data, c.Tool, got, tt.want)
		}
	}
}

// at returns the text at a path of fields; nil = there is nothing.
func at(object json.RawMessage, path string) any {
	key, rest, nested := strings.Cut(path, ".")
	v := rawjson.Get(object, key)
	if nested {
		if v == nil || v[0] != '{' {
			return nil
		}
		return at(v, rest)
	}
	var value any
	_ = json.Unmarshal(v, &value)
	return value
}
