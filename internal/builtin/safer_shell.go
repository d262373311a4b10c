package builtin

import (
	"context"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/builtin/shellsafe"
	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

var saferShell = Builtin{
	Name: "safer_shell", Events: []string{"pre_tool_use"},
	Doc: "asks before a shell command that is destructive or not known to be safe, and says how far its harm may reach",
	Run: askAboutShell,
	Needs: func(row *events.Contract) bool {
		coversShell := row.Tools == "" || slices.Contains(strings.Fields(row.Tools), neutral.Shell)
		return row.Decision == events.DecisionVerdict && coversShell
	},
}

// askAboutShell gives verdicts: destructive and unknown lines
// ask, known reads are silent. What the harm would be is in the metadata, which
// the agent shows beside its question. A shell call without a command that can
// be found is as unknown as one that cannot be read.
func askAboutShell(_ context.Context, c *Call) ([]byte, error) {
	if c.Row.Decision != events.DecisionVerdict || c.Tool.Tool != neutral.Shell {
		return nil, nil
	}
	found := assessCall(c.Tool)
	if found.Safe() {
		return nil, nil
	}
	return answer{Specific: &specific{
		PermissionDecision: "ask",
		PermissionReason:   found.Reason,
		Metadata: map[string]string{
			"blast_radius": string(found.Radius), "category": found.Category, "reason": found.Reason,
		},
	}}.encode()
}

// assessCall judges each command line that the call may run: one that is not
// safe decides.
func assessCall(call neutral.ToolCall) shellsafe.Assessment {
	unread := shellsafe.Assessment{
		Radius: shellsafe.Unknown, Category: shellsafe.CategoryUnknown,
		Reason: "the call has no command that can be read",
	}
	if call.Code != "" {
		unread.Reason = "the command is " + call.Code + ", which safer_shell does not read"
		return unread
	}
	found := unread
	for _, line := range call.Commands() {
		if found = shellsafe.Assess(line); !found.Safe() {
			break
		}
	}
	return found
}
