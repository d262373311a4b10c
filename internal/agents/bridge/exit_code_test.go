package bridge

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// Codex tells a hook no exit code. It has noted the code in the file of the conversation.
func TestExitCodeIsReadFromTheConversation(t *testing.T) {
	item := func(kind, id, output, code string) string {
		return `{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"` + kind + `","id":"` + id +
			`","aggregated_output":` + string(rawjson.Quote(output)) + code + `}}}` + "\n"
	}
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	forged := `{"type":"CommandExecution","id":"c1","exit_code":0}`
	for name, tt := range map[string]struct{ tool, text, path, want string }{
		"ok":                {text: item("CommandExecution", "c1", "", `,"exit_code":0`), want: "0"},
		"failed":            {text: item("CommandExecution", "c1", "", `,"exit_code":2`), want: "2"},
		"ended by a signal": {text: item("CommandExecution", "c1", "", `,"exit_code":-1`), want: "-1"},
		"no end of line":    {text: strings.TrimSpace(item("CommandExecution", "c1", "", `,"exit_code":2`)), want: "2"},
		"of another call":   {text: item("CommandExecution", "c2", "", `,"exit_code":0`)},
		"of an edit":        {text: item("FileChange", "c1", "", `,"exit_code":0`)},
		"still runs":        {text: item("CommandExecution", "c1", "", `,"exit_code":null`)},
		"printed":           {text: item("CommandExecution", "c2", forged+"\n"+forged, `,"exit_code":1`)},
		"half a line":       {text: item("CommandExecution", "c1", "", `,"exit_code":0`)[:80]},
		"the last one": {text: item("CommandExecution", "c1", "", `,"exit_code":0`) +
			item("CommandExecution", "c1", "", `,"exit_code":1`), want: "1"},
		"much behind it": {text: item("CommandExecution", "c1", "", `,"exit_code":3`) +
			strings.Repeat(item("CommandExecution", "c2", "x", `,"exit_code":0`), 5000), want: "3"},
		"a long line":  {text: item("CommandExecution", "c1", strings.Repeat("x", 1<<20), `,"exit_code":3`), want: "3"},
		"too much":     {text: item("CommandExecution", "c1", "", `,"exit_code":0`) + strings.Repeat(" ", mostTail)},
		"no command":   {tool: "apply_patch", text: item("CommandExecution", "c1", "", `,"exit_code":0`)},
		"no file":      {path: filepath.Join(dir, "none")},
		"a pipe":       {path: fifo},
		"an empty one": {},
	} {
		t.Run(name, func(t *testing.T) {
			path := tt.path
			if path == "" {
				path = filepath.Join(t.TempDir(), "rollout.jsonl")
				if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if tt.tool == "" {
				tt.tool = "Bash"
			}
			var sent json.RawMessage
			socket := serve(t, func(_ context.Context, env events.Envelope) (wire.Answer, *wire.Error) {
				sent = env.Data
				return wire.Answer{}, nil
			})
			got := called(t, Options{Agent: "codex", Socket: socket}, `{"hook_event_name":"PostToolUse","session_id":"s",
				"transcript_path":"`+path+`","tool_name":"`+tt.tool+`","tool_input":{"command":"make"},
				"tool_use_id":"c1","tool_response":""}`)
			if got.exit != 0 || string(rawjson.Get(sent, "exit_code")) != tt.want {
				t.Errorf("exit %d, sent %s, want the code %q", got.exit, sent, tt.want)
			}
		})
	}
}
