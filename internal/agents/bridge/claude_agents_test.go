//go:build agents

package bridge

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// A process of the tests is an MCP server where the agent starts it as one.
func init() {
	if os.Getenv("BRIDGE_TEST_ASKER") != "" {
		askColor(os.Stdin, os.Stdout)
		os.Exit(0)
	}
}

// newAnswers are hooks that give answers which only Claude Code reads, by the scenario that
// looks for them. WORK and HOME stand for the folders of the stage.
var newAnswers = map[string][2]string{
	"start": {"events: [SessionStart]\n", `[ ! -e WORK/watched ] || exit 0
: > WORK/watched
mkdir -p HOME/.claude/skills/late-4711
printf -- '---\nname: late-4711\ndescription: late-4711 greets\n---\nGreet.\n' > HOME/.claude/skills/late-4711/SKILL.md
echo '{"hookSpecificOutput":{"hookEventName":"SessionStart","session_title":"title-4711","initial_user_message":"greet 4711","watch_paths":["WORK/watched"],"reload_skills":true}}'
`},
	"changed":   {"events: [FileChanged]\n", ": > WORK/changed\n"},
	"later":     {"events: [PreToolUse]\nmatcher: Bash\n", `grep -q defer-4711 && echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permission_decision":"defer","permission_decision_reason":"later"}}'; exit 0` + "\n"},
	"forbidden": {"events: [UserPromptSubmit]\n", `grep -q forbidden-4711 && echo '{"decision":"block","reason":"not that","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","suppress_original_prompt":true}}'; exit 0` + "\n"},
	"color":     {"events: [Elicitation]\n", `echo '{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"color":"teal-4711"}}}'` + "\n"},
}

// TestRealAgentsNewAnswers: Claude Code reads the answers that no other agent reads.
func TestRealAgentsNewAnswers(t *testing.T) {
	r := reals[0]
	program := r.found(t)
	r.text = func(bridge string, _ *stage) string {
		return registered(bridge, "SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "FileChanged", "Elicitation", "ElicitationResult")
	}
	r.hooks = newAnswers
	s := newStage(t, r, program, built(t, t.TempDir()))

	// A watcher reports a file that was left alone for a while after its change.
	changes := "n=0; while [ ! -e changed ] && [ $n -lt 300 ]; do [ $((n%50)) != 0 ] || echo $n > watched; sleep 0.1; n=$((n+1)); done"
	s.play(t, script{commands: []string{changes}})
	first := s.model.asked()[0]
	for scenario, seen := range map[string]bool{
		"initial_user_message": strings.Contains(first, "greet 4711"),
		"reload_skills":        strings.Contains(first, "late-4711"),
		"watch_paths":          s.has("changed"),
		"session_title":        s.written(t, "title-4711"),
	} {
		t.Run(scenario, func(t *testing.T) {
			if !seen {
				t.Errorf("not seen; the first request is\n%.4000s", first)
			}
		})
	}
	t.Run("suppress_original_prompt", s.suppressed)
	t.Run("defer", s.deferred)
	t.Run("elicitation", s.elicited)
}

// written reports whether the agent has written text into the record of a session.
func (s *stage) written(t *testing.T, text string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.home, ".claude/projects/*/*.jsonl"))
	hooktest.Must(t, err)
	for _, file := range files {
		record, err := os.ReadFile(file)
		hooktest.Must(t, err)
		if strings.Contains(string(record), text) {
			return true
		}
	}
	return false
}

// saying runs the agent with a prompt and more arguments.
func (s *stage) saying(t *testing.T, sc script, prompt string, more ...string) string {
	t.Helper()
	s.model.play(sc)
	r := s.begin(t, append([]string{"-p", prompt, "--output-format", "json"}, more...))
	defer r.cancel()
	if err := <-r.ended; err != nil {
		t.Logf("the agent ended with %v", err)
	}
	return r.out.String()
}

func (s *stage) suppressed(t *testing.T) {
	out := s.saying(t, script{}, "forbidden-4711")
	if !strings.Contains(out, "not that") || strings.Contains(out, "forbidden-4711") || len(s.model.asked()) > 0 {
		t.Errorf("the model was asked %d times, and the agent said\n%s", len(s.model.asked()), out)
	}
}

func (s *stage) deferred(t *testing.T) {
	out := s.saying(t, script{commands: []string{"touch defer-4711"}}, "do it", "--allowedTools", "Bash")
	if !strings.Contains(out, "tool_deferred") || s.has("defer-4711") {
		t.Errorf("the call ran: %t; the agent said\n%s", s.has("defer-4711"), out)
	}
}

func (s *stage) elicited(t *testing.T) {
	file := filepath.Join(s.work, "mcp.json")
	hooktest.Write(t, file, raw(object{"mcpServers": object{"asker": object{
		"type": "stdio", "command": os.Args[0], "args": []string{}, "env": object{"BRIDGE_TEST_ASKER": "1"},
	}}}), 0o600)
	ask := &delegate{tool: "mcp__asker__ask", args: func(string) object { return object{} }}
	out := s.saying(t, script{delegate: ask}, "do it", "--allowedTools", "mcp__asker__ask", "--mcp-config", file)
	asked := s.model.asked()
	if last := asked[len(asked)-1]; len(asked) < 2 || !strings.Contains(last, "teal-4711") {
		t.Errorf("the model was not told what the hook has answered; the agent said\n%s\nthe last request is\n%.6000s", out, last)
	}
}

// askColor is an MCP server with one tool, which asks the user for a color and returns
// the answer.
func askColor(in io.Reader, out io.Writer) {
	type message struct {
		ID     json.RawMessage `json:"id"`
		Method string
		Params struct{ ProtocolVersion string }
		Result json.RawMessage
	}
	send := func(m object) {
		m["jsonrpc"] = "2.0"
		fmt.Fprintln(out, raw(m))
	}
	var call json.RawMessage // that waits for the answer
	lines := json.NewDecoder(in)
	for {
		var m message
		if lines.Decode(&m) != nil {
			return
		}
		switch m.Method {
		case "initialize":
			send(object{"id": m.ID, "result": object{
				"protocolVersion": m.Params.ProtocolVersion, "capabilities": object{"tools": object{}},
				"serverInfo": object{"name": "asker", "version": "1"},
			}})
		case "tools/list":
			tool := object{"name": "ask", "description": "asks for a color", "inputSchema": object{"type": "object", "properties": object{}}}
			send(object{"id": m.ID, "result": object{"tools": []any{tool}}})
		case "tools/call":
			call = m.ID
			form := object{"type": "object", "properties": object{"color": object{"type": "string"}}, "required": []string{"color"}}
			send(object{"id": "q", "method": "elicitation/create", "params": object{"message": "Which color?", "requestedSchema": form}})
		case "":
			if string(m.ID) == `"q"` {
				send(object{"id": call, "result": object{"content": []any{object{"type": "text", "text": string(m.Result)}}}})
			}
		case "ping":
			send(object{"id": m.ID, "result": object{}})
		}
	}
}
