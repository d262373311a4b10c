package dialect

import (
	"testing"

	"github.com/hookd/hookd/internal/events"
)

// The lines are from runs of the agents; hooks and their own lines are no commands.
func TestCommandIn(t *testing.T) {
	const claude = `source /h/.claude/shell-snapshots/snapshot-bash-1-a.sh 2>/dev/null || true && ` +
		`\builtin shopt -u extglob 2>/dev/null || true && eval 'echo '"'"'it is'"'"' > a.txt' < /dev/null && pwd -P >| /tmp/claude-1-cwd`
	const codex = "__CODEX_SNAPSHOT_OVERRIDE_SET_0=\"${X+x}\"\nfi\n\nexec '/bin/bash' -c 'echo '\"'\"'it is'\"'\"' > a.txt'"
	const gemini = "shopt -u promptvars nullglob extglob nocaseglob dotglob; _bgpids_file=/tmp/gemini-shell-q/bgpids.tmp\n(\n" +
		"  trap 'jobs -p > \"$_bgpids_file\"' EXIT\necho 'it is' > a.txt\n)\n__code=$?\nexit $__code"
	const openclaw = "if [ -r '/h/.openclaw/cache/shell-snapshots/8.sh' ]; then . '/h/.openclaw/cache/shell-snapshots/8.sh'; fi\n" +
		"export PATH='/bin'\neval 'echo '\\''it is'\\'' > a.txt'"
	for _, tt := range []struct {
		agent events.Dialect
		line  string
		is    bool
	}{
		{events.ClaudeCode, claude, true},
		{events.ClaudeCode, "env", false},
		{events.ClaudeCode, "/x/my-hook eval 'a' && pwd", false},
		{events.ClaudeCode, "SNAPSHOT_FILE=/h/.claude/shell-snapshots/a.sh\nshopt -u extglob", false},
		{events.Codex, codex, true},
		{events.Codex, "my-hook", false},
		{events.GeminiCLI, gemini, true},
		{events.GeminiCLI, "shopt -u promptvars nullglob extglob nocaseglob dotglob; echo 'it is' > a.txt", true},
		{events.GeminiCLI, "my-hook", false},
		{events.OpenClaw, openclaw, true},
		{events.OpenClaw, "printf '\\0'; env -0", false},
		{events.Pi, "echo 'it is' > a.txt", true},
		{events.Pi, "", false},
		{events.Qwen, "echo 'it is' > a.txt", false}, // hooks and git look alike
		{"unknown", claude, false},
	} {
		command, is := CommandIn(tt.agent, tt.line)
		if is != tt.is || is && command != "echo 'it is' > a.txt" {
			t.Errorf("%s: %q: got %q, %v", tt.agent, tt.line, command, is)
		}
	}
}
