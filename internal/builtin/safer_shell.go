package builtin

import (
	"cmp"
	"context"
	"slices"

	"github.com/hookd/hookd/internal/builtin/shellsafe"
	"github.com/hookd/hookd/internal/events"
)

var saferShell = Builtin{
	Name: "safer_shell", Events: []string{"pre_tool_use"},
	Doc: "asks before a shell command that is destructive or not known to be safe, and says how far its harm may reach",
	Run: askAboutShell,
}

// shellTools are the tools whose calls are looked at, in the words of the
// agents that hookd knows.
var shellTools = []string{"shell", "run_background_job", "Bash", "bash", "run_shell_command"}

// askAboutShell gives verdicts, as seed 004 says: destructive and unknown lines
// ask, known reads are silent. What the harm would be is in the metadata, which
// the agent shows beside its question.
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
	line := cmp.Or(in.Input.Cmd, in.Input.Command)
	if line == "" || !slices.Contains(shellTools, in.Tool) {
		return nil, nil
	}
	found := shellsafe.Assess(line)
	if found.Safe() {
		return nil, nil
	}
	return answer{Specific: &specific{
		PermissionDecision: "ask",
		PermissionReason:   found.Reason,
		Metadata:           map[string]string{"blast_radius": string(found.Radius), "category": found.Category, "reason": found.Reason},
	}}.encode()
}
