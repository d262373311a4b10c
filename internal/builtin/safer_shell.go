package builtin

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/builtin/shellsafe"
	"github.com/hookd/hookd/internal/events"
)

var saferShell = Builtin{
	Name: "safer_shell", Events: []string{"pre_tool_use"},
	Doc: "asks before a shell command that is destructive or not known to be safe, and says how far its harm may reach",
	Run: askAboutShell,
}

// shellTools are the tools whose calls are looked at, in any letter case:
// docker-agent's, then those of the other agents that hookd knows.
var shellTools = []string{
	"shell", "run_background_job", "bash", "run_shell_command", "local_shell", "exec_command", "execute_command",
	"run_command", "terminal",
}

// askAboutShell gives verdicts, as seed 004 says: destructive and unknown lines
// ask, known reads are silent. What the harm would be is in the metadata, which
// the agent shows beside its question. A shell call without a command that can
// be found is as unknown as one that cannot be read.
func askAboutShell(_ context.Context, c *Call) ([]byte, error) {
	contract := events.Lookup(c.Event)
	if contract == nil || contract.Kind != events.KindToolBefore {
		return nil, nil
	}
	tool, _ := events.GetString(c.Payload, "tool_name")
	if !slices.Contains(shellTools, strings.ToLower(tool)) {
		return nil, nil
	}
	found := shellsafe.Assessment{Radius: shellsafe.Unknown, Category: shellsafe.CategoryUnknown, Reason: "the call has no command that can be read"}
	if line := commandLine(events.Get(c.Payload, "tool_input")); line != "" {
		found = shellsafe.Assess(line)
	}
	if found.Safe() {
		return nil, nil
	}
	return answer{Specific: &specific{
		PermissionDecision: "ask",
		PermissionReason:   found.Reason,
		Metadata:           map[string]string{"blast_radius": string(found.Radius), "category": found.Category, "reason": found.Reason},
	}}.encode()
}

// commandLine is the command of a shell call, under either of its names: a text,
// or a list of words such as ["bash", "-lc", "ls"]. "" = there is none to read.
func commandLine(input json.RawMessage) string {
	for _, key := range []string{"cmd", "command"} {
		raw := events.Get(input, key)
		var line string
		if raw != nil && json.Unmarshal(raw, &line) == nil && line != "" {
			return line
		}
		var words []string
		if raw != nil && json.Unmarshal(raw, &words) == nil && len(words) > 0 {
			return quotedWords(words)
		}
	}
	return ""
}

// quotedWords writes words as a command line that means them and nothing else.
func quotedWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}
