package qwen

import (
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

const shared = "PreToolUse PermissionRequest PermissionDenied PostToolUse PostToolUseFailure PostToolBatch UserPromptSubmit " +
	"UserPromptExpansion Stop StopFailure SubagentStart SubagentStop Notification SessionStart SessionEnd PreCompact " +
	"PostCompact InstructionsLoaded"

// Rows is Qwen Code's contract, as its code and its payloads say.
func Rows() []events.Contract {
	common := events.Fields(neutral.SharedCommon(),
		events.String.Field("timestamp", "ISO 8601"),
		events.String.Field("prompt_id", "the prompt"),
	)
	todo := events.Fields(common,
		events.String.Field("todo_id", "the item"),
		events.String.Field("todo_content", "what it says"),
		events.Array.Field("all_todos", "the list"),
		events.String.Field("phase", "validation or postWrite"),
	)
	return append(form.Rows(common, shared),
		events.Contract{Name: "MessageDisplay", Streaming: true, When: "a piece of the answer is shown",
			Fields: events.Fields(common,
				events.String.Field("message_id", "the message"),
				events.String.Field("displayed_text", "its text"),
				events.Boolean.Field("is_final", "it is the last piece"),
			)},
		events.Contract{Name: "SessionDelete", When: "a session was deleted",
			Fields: events.Fields(common, events.String.Field("deleted_session_id", "which"))},
		events.Contract{Name: "TodoCreated", When: "an item is put on the list of things to do", Fields: todo,
			CanBlock: true},
		events.Contract{Name: "TodoCompleted", When: "an item of the list is marked done", Fields: todo,
			CanBlock: true},
	)
}
