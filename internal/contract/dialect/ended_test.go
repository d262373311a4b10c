package dialect

import (
	"testing"

	"github.com/hookd/hookd/internal/events"
)

// TestEnded reads how calls ended from payloads that agents sent; the payloads are from
// real runs.
func TestEnded(t *testing.T) {
	for name, x := range map[string]struct {
		dialect     events.Dialect
		event, data string
		want        Ending
	}{
		"claude code": {"claude-code", "PostToolUse",
			`{"tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":"a","stderr":"","interrupted":false}}`, EndedOK},
		"claude code, exit code": {"claude-code", "PostToolUseFailure",
			`{"tool_name":"Bash","tool_input":{"command":"false"},"error":"Exit code 1"}`, EndedFailed},
		"claude code, in the background": {"claude-code", "PostToolUse",
			`{"tool_name":"Bash","tool_input":{"command":"make","run_in_background":true},"tool_response":{"stdout":""}}`, EndedUnknown},
		"claude code, moved to the background": {"claude-code", "PostToolUse",
			`{"tool_name":"Bash","tool_input":{"command":"make"},"tool_response":{"stdout":"","backgroundTaskId":"b1"}}`, EndedUnknown},
		"codex": {"codex", "PostToolUse",
			`{"tool_name":"Bash","tool_input":{"command":"false"},"tool_response":"Exit code: 0 says the program"}`, EndedUnknown},
		"qwen": {"qwen-code", "PostToolUse",
			`{"tool_name":"run_shell_command","tool_input":{"command":"x"},"tool_response":{"llmContent":"Command: x\nOutput: Exit Code: 0\nError: (none)\nExit Code: 2\nSignal: (none)"}}`,
			EndedFailed},
		"copilot": {"copilot", "postToolUse",
			`{"toolName":"bash","toolArgs":{"command":"x"},"toolResult":{"resultType":"success","textResultForLlm":"hello\n<shellId: 0 completed with exit code 0>"}}`,
			EndedOK},
		"docker-agent": {"docker-agent", "post_tool_use",
			`{"tool_name":"shell","tool_input":{"cmd":"x"},"tool_error":true,"tool_response":"no"}`, EndedFailed},
		"before a call": {"claude-code", "PreToolUse", `{"tool_name":"Bash","tool_input":{"command":"x"}}`, EndedUnknown},
	} {
		e := &events.Event{Contract: events.For(x.dialect, x.event)}
		e.Dialect, e.Data = x.dialect, []byte(x.data)
		if got := Ended(e); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}
