package builtin

import (
	"cmp"
	"context"
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
	var in struct {
		Tool  string `json:"tool_name"`
		Input struct {
			Cmd     string `json:"cmd"`
			Command string `json:"command"`
		} `json:"tool_input"`
	}
	contract := events.Lookup(c.Event)
	if contract == nil || contract.Kind != events.KindToolBefore {
		return nil, nil
	}
	if err := c.read(&in); err != nil {
		return nil, err
	}
	if !slices.Contains(shellTools, strings.ToLower(in.Tool)) {
		return nil, nil
	}
	found := shellsafe.Assessment{Radius: shellsafe.Unknown, Category: shellsafe.CategoryUnknown, Reason: "the call has no command that can be read"}
	if line := cmp.Or(in.Input.Cmd, in.Input.Command); line != "" {
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
