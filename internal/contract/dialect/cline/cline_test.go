package cline

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

func inputOf(t *testing.T, payload string) json.RawMessage {
	t.Helper()
	table := Table()
	return table.Read("PreToolUse", json.RawMessage(payload))[neutral.Input]
}

// A guard sees the commands that run_commands executes, in each form that its schema
// takes, and where several stand side by side.
func TestCommandsAreWhatClineExecutes(t *testing.T) {
	for _, tt := range []struct{ input, want string }{
		{`{"commands":["touch evil"]}`, "touch evil"},
		{`{"commands":["ls","touch evil"]}`, "ls\ntouch evil"},
		{`{"commands":"touch evil"}`, "touch evil"},
		{`{"commands":"[\"ls\"]"}`, `["ls"]`},
		{`{"commands":{"command":"touch","args":["e v"]}}`, "touch 'e v'"},
		{`{"commands":["ls",{"command":"touch","args":["evil"]}]}`, "ls\ntouch evil"},
		{`{"command":"touch evil"}`, "touch evil"},
		{`{"command":"touch","args":["evil"]}`, "touch evil"},
		{`{"cmd":"touch evil"}`, "touch evil"},
		{`["ls","touch evil"]`, "ls\ntouch evil"},
		{`[{"command":"touch","args":["evil"]}]`, "touch evil"},
		{`"touch evil"`, "touch evil"},
		{`{"commands":["touch evil"],"command":"ls","cmd":"ls"}`, "touch evil"},
		{`{"commands":7,"command":"touch evil","cmd":"ls"}`, "touch evil"},
		{`{"commands":["ls",7],"command":"touch evil"}`, "touch evil"},
		{`{"command":7,"cmd":"touch evil"}`, "touch evil"},
		{`{"Commands":["ls"],"Command":"ls","cmd":"touch evil"}`, "touch evil"},
		{`{"script":["ls",{"then":"touch evil"}]}`, "ls\ntouch evil"}, // Cline refuses it
	} {
		payload := `{"tool_call":{"name":"run_commands","input":` + tt.input + `},"preToolUse":{"toolName":"ask_question","parameters":{"commands":"[\"ls\"]","command":"ls"}}}`
		input := inputOf(t, payload)
		if got := rawjson.StringIn(input, "command"); got != tt.want {
			t.Errorf("%s: got command %q, want %q", tt.input, got, tt.want)
		}
		var list []string
		if err := json.Unmarshal(rawjson.Get(input, "commands"), &list); err != nil || joined(list) != tt.want {
			t.Errorf("%s: got commands %q, want those of %q", tt.input, list, tt.want)
		}
	}
}

// Where Cline sends no whole call, its texts have the list.
func TestCommandsInParameters(t *testing.T) {
	input := inputOf(t, `{"preToolUse":{"toolName":"run_commands","parameters":{"commands":"[\"ls\",\"touch evil\"]"}}}`)
	if got := rawjson.StringIn(input, "command"); got != "ls\ntouch evil" {
		t.Errorf("got %s", input)
	}
}

// Whatever a command leaves open, the next one is a command of the script, and
// a shell runs it as Cline's next shell does.
func TestNoCommandHidesTheNext(t *testing.T) {
	for _, first := range []string{
		"true", "echo 'open", `echo "open`, "echo `open", "echo $(open", "cat <<EOF", "cat <<-'E F'", "cat <<<x; cat <<E", "f() {", "f() (", "(", "{",
		"if false; then", "case x in y)", "while false; do", "for x in; do", "echo a \\", "# comment", "echo a # b", "false &&", `echo "$(echo '"`, "exit", "echo ${x:", "[[ a ||",
		"function f {", "select x in a; do", "echo 'a'\\''b' \"c\"", "echo a\r", "echo $'\\'", "! {", "time {", "until true; do", "alias echo=true", "set -n", "exec true",
	} {
		script := joined([]string{first, "echo ran"})
		lines := strings.Split(script, "\n")
		if last := lines[len(lines)-1]; last != "echo ran" {
			t.Errorf("%q: the last line is %q", first, last)
		}
		if slices.Contains([]string{"exit", "set -n", "exec true", "alias echo=true", "false &&"}, first) {
			continue // what they do to the shell is no question of how the next line is read
		}
		out, _ := exec.Command("sh", "-c", script).Output()
		if !strings.HasSuffix(string(out), "ran\n") {
			t.Errorf("%q hides the next command: sh printed %q", first, out)
		}
	}
}

func TestFilesAndPatches(t *testing.T) {
	for _, tt := range []struct{ tool, input, key, want string }{
		{"read_files", `{"files":[{"path":"/a"},{"path":"/b/.env","start_line":1}]}`, "file_path", "/a\n/b/.env"},
		{"read_files", `["/a","/b"]`, "file_path", "/a\n/b"},
		{"read_files", `"/a"`, "file_path", "/a"},
		{"read_files", `{"files":"/a"}`, "file_path", "/a"},
		{"read_files", `{"filePath":"/a"}`, "file_path", "/a"},
		{"read_files", `{"paths":["/a",{"file_path":"/b"}]}`, "file_path", "/a\n/b"},
		{"search_codebase", `{"queries":["a","b"]}`, "pattern", "a\nb"},
		{"fetch_web_content", `{"requests":[{"url":"http://x","prompt":"p"}]}`, "url", "http://x"},
		{"editor", `{"path":"/a","new_text":"t"}`, "content", "t"},
		{"editor", `{"path":"/a","old_text":"o","new_text":"t"}`, "new_string", "t"},
		{"apply_patch", `"*** Begin Patch"`, "input", "*** Begin Patch"},
	} {
		input := inputOf(t, `{"tool_call":{"name":"`+tt.tool+`","input":`+tt.input+`}}`)
		if got := rawjson.StringIn(input, tt.key); got != tt.want {
			t.Errorf("%s %s: %s is %q, want %q", tt.tool, tt.input, tt.key, got, tt.want)
		}
	}
}

// A change of one member is a change of the other: guards that come later and
// Cline itself see one command.
func TestChangesAreOneCommand(t *testing.T) {
	for _, tt := range []struct{ change, want string }{
		{`{"command":"a"}`, `{"command":"a","commands":["a"]}`},
		{`{"commands":["a","b"]}`, `{"commands":["a","b"],"command":"a\nb"}`},
		{`{"command":"a","commands":["b"]}`, `{"command":"a","commands":["a"]}`},
		{`{"command":"a\nb","commands":["a","b"]}`, `{"command":"a\nb","commands":["a","b"]}`},
		{`{"cwd":"/"}`, `{"cwd":"/"}`},
	} {
		if got := string(completed(json.RawMessage(tt.change))); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.change, got, tt.want)
		}
	}
}

// editor has one text, which hooks see as the content of a new file: a change of
// that is a change of the text, and Cline is given no other argument.
func TestEditorHasOneText(t *testing.T) {
	agent := Agent()
	for _, tt := range []struct{ input, change, want string }{
		{`{"path":"/a","new_text":"t"}`, `{"content":"c"}`, `{"path":"/a","new_text":"c"}`},
		{`{"path":"/a","new_text":"t"}`, `{"new_text":"c"}`, `{"path":"/a","new_text":"c"}`},
		{`{"path":"/a","new_text":"t"}`, `{"new_string":"c"}`, `{"path":"/a","new_text":"c"}`},
		{`{"path":"/a","old_text":"o","new_text":"t"}`, `{"file_path":"/b"}`, `{"path":"/b","old_text":"o","new_text":"t"}`},
	} {
		input := inputOf(t, `{"tool_call":{"name":"editor","input":`+tt.input+`}}`)
		for key, value := range rawjson.Members(agent.Completed("editor", json.RawMessage(tt.change))) {
			input = rawjson.With(input, rawjson.Member{Key: key, Value: value})
		}
		if got, ok := override("editor", input); !ok || string(got) != tt.want {
			t.Errorf("%s with %s: got %s, want %s", tt.input, tt.change, got, tt.want)
		}
	}
}
