package bridge

import (
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// Visual Studio Code runs the hooks of Copilot's and of Claude Code's settings, with
// payloads in Claude Code's form and tools of its own: a guard on Bash sees its shell,
// and the denial is in that form.
func TestVisualStudioCodeThroughOthers(t *testing.T) {
	payload := captured(t, "vscode/PreToolUse.json")
	for _, o := range []Options{{Agent: "copilot", Args: []string{"preToolUse"}}, {Agent: "claude-code"}, {Agent: "vscode"}} {
		t.Run(o.Agent, func(t *testing.T) {
			seen := catch(t, o, payload)
			if len(seen) != 1 || events.For(seen[0].Dialect, seen[0].Event).Kind != events.KindToolBefore {
				t.Fatalf("got %+v", seen)
			}
			e := &events.Event{Envelope: seen[0], Contract: events.For(seen[0].Dialect, seen[0].Event)}
			if names := dialect.ToolNames(e); !slices.Contains(names, "Bash") {
				t.Errorf("the tool goes by %q", names)
			}
			d := &table{}
			d.set(verdict.Answer{ExitCode: 2, Stderr: "no", Blocked: true})
			o.Socket = serve(t, d.emit)
			if got := called(t, o, payload).stdout; !strings.Contains(got, `"permissionDecision":"deny","permissionDecisionReason":"no"`) {
				t.Errorf("the answer is %s", got)
			}
		})
	}
}

// Qwen Code's prompts without a text, which it makes of results, reach no hook.
func TestPromptsOfResultsAreSkipped(t *testing.T) {
	o := Options{Agent: "qwen-code"}
	if seen := catch(t, o, captured(t, "qwen-code/UserPromptSubmit-after-tool.json")); len(seen) != 0 {
		t.Errorf("hookd got %+v", seen)
	}
	if seen := catch(t, o, captured(t, "qwen-code/UserPromptSubmit.json")); len(seen) != 1 {
		t.Errorf("hookd got %+v", seen)
	}
}
