package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
)

// A built-in that guards gets a finding where it would have no say: on an event that it
// is not made for, an event that no agent sends, and an event that its hook observes.
func TestAGuardThatDoesNothingIsWarnedOf(t *testing.T) {
	for _, c := range []struct{ text, warns string }{
		{"command: safer_shell\nevents: [pre_tool_use]", ""},
		{"command: safer_shell\nevents: [preToolUse, pre_run_command, BeforeTool, beforeShellExecution, tool.execute.before]", ""},
		{"command: safer_shell\nevents: [tool_guard]", ""},
		{"command: safer_shell\nevents: ['{PreToolUse,BeforeTool}']", ""},
		{"command: safer_shell\nevents: ['Pre*']\nblocking: true", ""},
		{"command: safer_shell\nevents: ['Pre*']", "only observes"},
		{"command: safer_shell\nevents: ['*']", "only observes"},
		{"command: safer_shell\nevents: [PreToolUse]\nblocking: false", "only observes"},
		{"command: safer_shell\nevents: [pre_tool_use, post_tool_use]", "on `post_tool_use`"},
		{"command: safer_shell\nevents: [beforeReadFile]", "on `beforeReadFile`"},
		{"command: safer_shell\nevents: [PermissionRequest]", "is for pre_tool_use"},
		{"command: safer_shell\nevents: ['tool:before']", "is for pre_tool_use"},
		{"command: redact_secrets\nevents: [pre_tool_use, PostToolUse, transform_tool_result, before_llm_call]", ""},
		{"command: redact_secrets\nevents: [session_start]", "on `session_start`"},
		{"command: redact_secrets\nevents: ['*']", "only observes"},
		{"command: limit_large_tool_results\nevents: [tool_response_transform, session_end, PostToolUse]", ""},
		{"command: limit_large_tool_results\nevents: [pre_tool_use]", "on `pre_tool_use`"},
		{"command: http_post\nevents: ['*']", ""},
		{"command: add_date\nevents: [SessionStart]", ""},
	} {
		dir := filepath.Join(t.TempDir(), "guard")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "HOOK.yaml"), []byte("name: guard\ntype: builtin\n"+c.text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, problems := hookdir.Read(dir, readOptions(config.Default(t.TempDir()), false))
		var warned []string
		for _, p := range problems {
			warned = append(warned, p.Message)
		}
		text := strings.Join(warned, "\n")
		if c.warns == "" && text != "" || !strings.Contains(text, c.warns) {
			t.Errorf("%s: warns %q, want %q", c.text, text, c.warns)
		}
	}
}
