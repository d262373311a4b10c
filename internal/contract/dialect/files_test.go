package dialect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

const patch = `*** Begin Patch\n*** Add File: new.go\n+x\n*** Update File: old.go\n*** Move to: moved.go\n@@\n-a\n+b\n  *** Delete File: gone.go\n*** End Patch`

// Calls whose files are not one text at the top of the arguments, and the files.
var filed = []struct {
	dialect            events.Dialect
	event, tool, input string
	files              string // separated by blanks
}{
	{events.Codex, "PreToolUse", "apply_patch", `{"command":"` + patch + `","file_path":"decoy"}`, "new.go old.go moved.go gone.go"},
	{events.Codex, "PreToolUse", "apply_patch", `{"input":"*** Begin Patch\n*** Update File:  /w/one two.go \r\n@@"}`, "/w/one_two.go"},
	{events.Codex, "PermissionRequest", "apply_patch", `{"command":"` + patch + `"}`, "new.go old.go moved.go gone.go"},
	{events.Codex, "PostToolUse", "apply_patch", `{"command":"` + patch + `"}`, "new.go old.go moved.go gone.go"},
	{events.Copilot, "preToolUse", "apply_patch", `{"input":"` + patch + `","path":"decoy","file_paths":["decoy"]}`, "new.go old.go moved.go gone.go"},
	{events.Copilot, "preToolUse", "apply_patch", `"{\"patch\":\"*** Begin Patch\\n*** Add File: new.go\"}"`, "new.go"},
	{events.OpenCode, "tool.execute.before", "apply_patch", `{"patchText":"` + patch + `","filePath":"decoy"}`, "new.go old.go moved.go gone.go"},
	{events.OpenCode, "tool.execute.before", "patch", `{"patchText":"--- a/old.go\t2026\n+++ b/new.go\n@@ -1 +1 @@\n-a\n+b"}`, "old.go new.go"},
	{events.OpenClaw, "before_tool_call", "apply_patch", `{"input":"` + patch + `"}`, "new.go old.go moved.go gone.go"},
	{events.Hermes, "pre_tool_call", "patch", `{"mode":"patch","path":"decoy.go","patch":"` + patch + `"}`, "decoy.go new.go old.go moved.go gone.go"},
	{events.DockerAgent, "pre_tool_use", "read_multiple_files", `{"Paths":["a","b"],"path":"decoy"}`, "a b"},
	{events.DockerAgent, "pre_tool_use", "read_multiple_files", `{"paths":["a"]}`, "a"},
	{events.GeminiCLI, "BeforeTool", "read_many_files", `{"include":["a","b/**"],"file_path":"decoy"}`, "a b/**"},
	{events.Cline, "PreToolUse", "read_files", `{"files":[{"path":"a"},{"path":"b"}],"file_path":"c"}`, "a b c"},
	{events.Cline, "PreToolUse", "read_files", `["a","b"]`, "a b"},
	{events.Cline, "PreToolUse", "apply_patch", `"` + patch + `"`, "new.go old.go moved.go gone.go"},
}

var payloads = map[events.Dialect]string{
	events.Copilot:  `{"sessionId":"s","toolName":TOOL,"toolArgs":ARGS}`,
	events.OpenCode: `{"sessionID":"s","tool":TOOL,"args":ARGS}`,
	events.OpenClaw: `{"sessionId":"s","toolName":TOOL,"params":ARGS}`,
	events.Cline:    `{"taskId":"s","hookName":"tool_call","tool_call":{"name":TOOL,"input":ARGS}}`,
}

func filedEvent(t *testing.T, i int) *events.Event {
	f, payload := filed[i], payloads[filed[i].dialect]
	if payload == "" {
		payload = claudeCall
	}
	return event(t, f.dialect, f.event, strings.NewReplacer("TOOL", string(rawjson.Quote(f.tool)), "ARGS", f.input).Replace(payload))
}

// TestGuardsSeeEachFile: under each name of a call, its own included, all of its files
// are where a guard looks for a file, and in a list beside it.
func TestGuardsSeeEachFile(t *testing.T) {
	for i, f := range filed {
		e := filedEvent(t, i)
		var want []string
		for path := range strings.FieldsSeq(f.files) {
			want = append(want, strings.ReplaceAll(path, "_", " "))
		}
		for _, row := range e.Contract.Aliases() {
			if !Stands(row, e) {
				continue
			}
			payload, given := Payload(e, row.Name, nil), rowOf(e.Contract, row.Name)
			seen, input := filesSeen(payload, looks[string(given.Dialect)]["path"])
			if input == nil {
				continue // no field of this name tells of a file
			}
			if seen != strings.Join(want, "\n") {
				t.Errorf("%s of %s as %s of %s: a guard sees %q, want %q\nsent %s\ngiven %s", f.tool, f.dialect, row.Name, given.Dialect, seen, want, e.Data, payload)
			}
			if list, _ := json.Marshal(input["file_paths"]); given.Dialect != events.Windsurf && string(list) != string(jsonOf(t, want)) {
				t.Errorf("%s of %s as %s: file_paths are %s, want %q in %s", f.tool, f.dialect, row.Name, list, want, payload)
			}
			if given == e.Contract && string(rawjson.Get(payload, "emitted")) != string(e.Data) {
				t.Errorf("%s of %s under its own name: emitted is not what was sent: %s", f.tool, f.dialect, payload)
			}
		}
	}
}

// filesSeen returns the text that a guard sees which looks at the first of fields that
// is there, and the object of that field; nil = there is none.
func filesSeen(payload json.RawMessage, fields []string) (seen string, input map[string]any) {
	for _, field := range fields {
		dot := strings.LastIndex(field, ".")
		input, _ = at(payload, field[:dot]).(map[string]any)
		if text, ok := input[field[dot+1:]].(string); ok {
			return text, input
		}
	}
	return "", input
}

func jsonOf(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A hook may answer with all of the input that it was given: members beside the
// arguments do not reach the agent, and a change of such a member is a failure.
func TestFilesAreNoArguments(t *testing.T) {
	for i, f := range filed {
		e := filedEvent(t, i)
		for _, row := range e.Contract.Aliases() {
			if row.Rewrite != events.RewriteInput || e.Contract.Rewrite != events.RewriteInput || f.dialect == events.Cline || strings.HasPrefix(f.input, `"`) {
				continue // Cline's answer has the whole input: see its own test
			}
			given := rowOf(e.Contract, row.Name)
			input := rawjson.Get(Payload(e, row.Name, nil), given.Target)
			back := Answer(e, row.Name, verdict.Answer{UpdatedInput: input})
			if got := verdict.Fold(e.Contract, e.Data, []verdict.Answer{{Terms: verdict.Terms{Blocking: true}, UpdatedInput: back.UpdatedInput}}).UpdatedInput; back.Failure != "" || got == nil || !sameBut(got, rawjson.Get(e.Data, e.Contract.Target)) {
				t.Errorf("%s of %s as %s: %q, got %s\nsent %s", f.tool, f.dialect, row.Name, back.Failure, got, e.Data)
			}
			change := rawjson.With(input, rawjson.StringMember("file_paths", "other"))
			if back := Answer(e, row.Name, verdict.Answer{UpdatedInput: change}); back.Failure == "" && rawjson.Get(input, "file_paths") != nil {
				t.Errorf("%s of %s as %s: a change of its files is %+v", f.tool, f.dialect, row.Name, back)
			}
		}
	}
}

// sameBut reports whether got has the members of want, and no files beside them.
func sameBut(got, want json.RawMessage) bool {
	for key, value := range rawjson.Members(want) {
		if is := rawjson.Get(got, key); string(is) != string(value) {
			return false
		}
	}
	for key := range rawjson.Members(got) {
		if rawjson.Get(want, key) == nil && key != "paths" { // which the tool takes for Paths
			return false
		}
	}
	return true
}

// A tool that takes an argument in any letter case is given a change in each.
func TestAChangeReachesEachLetterCase(t *testing.T) {
	e := event(t, events.DockerAgent, "pre_tool_use", `{"tool_name":"shell","tool_input":{"cmd":"ls","CMD":"rm -rf x","cwd":"/"}}`)
	for _, name := range []string{"pre_tool_use", "PreToolUse"} {
		field := map[string]string{"pre_tool_use": "cmd", "PreToolUse": "command"}[name]
		if got := at(Payload(e, name, nil), "tool_input."+field); got != "rm -rf x" {
			t.Errorf("%s: a guard sees %v", name, got)
		}
		got := Answer(e, name, verdict.Answer{UpdatedInput: rawjson.With(nil, rawjson.StringMember(field, "true"))})
		if want := `{"cmd":"true","CMD":"true"}`; string(got.UpdatedInput) != want {
			t.Errorf("%s: the change is %s, want %s", name, got.UpdatedInput, want)
		}
	}
}

// Arguments that came as JSON text are an object for every hook, also under the
// agent's own name, and a change of one leaves the others.
func TestArgumentsAsText(t *testing.T) {
	for _, tt := range []struct {
		dialect events.Dialect
		event   string
		data    string
		field   string // where a guard looks under the agent's own name
	}{
		{events.ClaudeCode, "PreToolUse", `{"tool_name":"Bash","tool_input":"{\"command\":\"rm\",\"timeout\":5}"}`, "tool_input.command"},
		{events.Codex, "PreToolUse", `{"tool_name":"Bash","tool_input":"{\"command\":\"rm\",\"timeout\":5}"}`, "tool_input.command"},
		{events.DockerAgent, "pre_tool_use", `{"tool_name":"shell","tool_input":"{\"cmd\":\"rm\",\"timeout\":5}"}`, "tool_input.cmd"},
		{events.Copilot, "preToolUse", `{"toolName":"bash","toolArgs":"{\"command\":\"rm\",\"timeout\":5}"}`, "toolArgs.command"},
		{events.GeminiCLI, "BeforeTool", `{"tool_name":"run_shell_command","tool_input":"{\"command\":\"rm\",\"timeout\":5}"}`, "tool_input.command"},
		{events.Antigravity, "PreToolUse", `{"toolCall":{"name":"run_command","args":"{\"CommandLine\":\"rm\"}"}}`, "toolCall.args.CommandLine"},
		{events.OpenClaw, "before_tool_call", `{"toolName":"exec","params":"{\"command\":\"rm\",\"timeout\":5}"}`, "params.command"},
		{events.OpenCode, "tool.execute.before", `{"tool":"bash","args":"{\"command\":\"rm\",\"timeout\":5}"}`, "args.command"},
		{events.Hermes, "pre_tool_call", `{"tool_name":"terminal","tool_input":"{\"command\":\"rm\",\"timeout\":5}"}`, "tool_input.command"},
		{events.Kimi, "PreToolUse", `{"tool_name":"Shell","tool_input":"{\"command\":\"rm\",\"timeout\":5}"}`, "tool_input.command"},
	} {
		e := event(t, tt.dialect, tt.event, tt.data)
		given := Payload(e, tt.event, nil)
		if got := at(given, tt.field); got != "rm" || string(rawjson.Get(given, "emitted")) != string(e.Data) {
			t.Errorf("%s: a guard sees %v in %s", tt.dialect, got, given)
		}
		if e.Contract.Rewrite != events.RewriteInput {
			continue
		}
		name := tt.field[strings.LastIndex(tt.field, ".")+1:]
		answer := verdict.Answer{Terms: verdict.Terms{Blocking: true}, UpdatedInput: rawjson.With(nil, rawjson.StringMember(name, "ls"))}
		want := `{"` + name + `":"ls","timeout":5}`
		if got := verdict.Fold(e.Contract, e.Data, []verdict.Answer{Answer(e, tt.event, answer)}).UpdatedInput; string(got) != want {
			t.Errorf("%s: the new input is %s, want %s", tt.dialect, got, want)
		}
	}
}

// The texts of a list of edits are where a guard on written text looks, under another
// agent's name.
func TestGuardsSeeEachEdit(t *testing.T) {
	for _, tt := range []struct {
		dialect            events.Dialect
		event, tool, input string
	}{
		{events.ClaudeCode, "PreToolUse", "MultiEdit", `{"file_path":"f","edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":"d"}],"new_string":"decoy"}`},
		{events.DockerAgent, "pre_tool_use", "edit_file", `{"path":"f","edits":[{"oldText":"a","newText":"b"},{"oldText":"c","newText":"d"}],"newText":"decoy"}`},
		{events.OpenCode, "tool.execute.before", "multiedit", `{"filePath":"f","edits":[{"oldString":"a","newString":"b"},{"oldString":"c","newString":"d"}],"newString":"decoy"}`},
		{events.Kimi, "PreToolUse", "StrReplaceFile", `{"path":"f","edit":[{"old":"a","new":"b"},{"old":"c","new":"d"}],"new_string":"decoy"}`},
	} {
		payload := payloads[tt.dialect]
		if payload == "" {
			payload = claudeCall
		}
		e := event(t, tt.dialect, tt.event, strings.NewReplacer("TOOL", string(rawjson.Quote(tt.tool)), "ARGS", tt.input).Replace(payload))
		given := Payload(e, "BeforeTool", nil)
		if was, is := at(given, "tool_input.old_string"), at(given, "tool_input.new_string"); was != "a\nc" || is != "b\nd" {
			t.Errorf("%s of %s: a guard sees %v and %v in %s", tt.tool, tt.dialect, was, is, given)
		}
		change := verdict.Answer{UpdatedInput: json.RawMessage(`{"new_string":"[REDACTED]"}`)}
		if got := Answer(e, "BeforeTool", change); got.Failure == "" {
			t.Errorf("%s of %s: a change that reaches nothing is %s", tt.tool, tt.dialect, got.UpdatedInput)
		}
	}
}
