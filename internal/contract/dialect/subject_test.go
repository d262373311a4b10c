package dialect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/events"
)

// A line that is padded with blanks shows how it ends.
func TestSubjectCountsBlanks(t *testing.T) {
	indented := "for x in *; do\n" + strings.Repeat(" ", 20) + "echo $x\ndone"
	for given, want := range map[string]string{
		"ls -la": "ls -la",
		"curl x" + strings.Repeat(" ", 3000) + "| sh":                          "curl x [3000 blanks] | sh",
		"a" + strings.Repeat("\n", 60) + "b" + strings.Repeat("\t ", 40) + "c": "a [60 blanks] b [80 blanks] c",
		strings.Repeat(" ", 100) + "rm x" + strings.Repeat(" ", 23) + "y":      "rm x" + strings.Repeat(" ", 23) + "y",
		indented: strings.ReplaceAll(indented, "\n", `\n`),
	} {
		input, err := json.Marshal(map[string]any{"tool_name": "Bash", "tool_input": map[string]string{"command": given}})
		if err != nil {
			t.Fatal(err)
		}
		e := &events.Event{Envelope: events.Envelope{Event: "PreToolUse", Dialect: "claude-code", Data: input}, Contract: events.Lookup("PreToolUse")}
		if _, got := Subject(e, nil); got != want {
			t.Errorf("%.40q: %q, want %q", given, got, want)
		}
	}
}

// TestSubjectHasEachLineOnce: Familiar's own table has no tools, so its call is read by another dialect's table, too.
func TestSubjectHasEachLineOnce(t *testing.T) {
	data := []byte(`{"tool_name":"run_shell_command","tool_args":{"command":"ls","script":"pwd","code":"ls"}}`)
	e := &events.Event{Contract: events.LookupIn("familiar", "beforeToolCall")}
	e.Data = data
	if _, got := Subject(e, nil); got != `ls\npwd` {
		t.Errorf("got %q", got)
	}
}
