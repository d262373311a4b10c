// Package verdict reads what one hook answered and folds the answers of many
// into one decision, by one set of rules for every source of hooks; where hookd
// documents none, docker-agent's hold. Both steps are pure: no clock, no files, no
// log. Answers are folded in registration order, whichever hook finished first.
//
// An answer that cannot be read is a failure, never an opinion; on a
// fail-closed event it denies. A hook that does not block adds nothing. The
// package runs nothing and does not know which hooks match.
package verdict

import "encoding/json"

// Verdict is the merged answer to a decidable event. A nil map or raw message means
// that no hook said anything about it.
type Verdict struct {
	Allowed             bool              `json:"allowed"`
	Continue            bool              `json:"continue"` // false: stop the agent, not just this call
	PermissionDecision  string            `json:"permission_decision,omitempty"`
	DecisionReason      string            `json:"decision_reason,omitempty"`
	PermissionAllowed   bool              `json:"permission_allowed,omitempty"`
	Message             string            `json:"message,omitempty"`
	SystemMessage       string            `json:"system_message,omitempty"`
	AdditionalContext   string            `json:"additional_context,omitempty"`
	UpdatedInput        json.RawMessage   `json:"updated_input,omitempty"`         // the complete input after all patches
	UpdatedToolResponse json.RawMessage   `json:"updated_tool_response,omitempty"` // "" clears
	UpdatedMessages     json.RawMessage   `json:"updated_messages,omitempty"`
	Summary             string            `json:"summary,omitempty"`
	Metadata            map[string]string `json:"metadata,omitempty"`
	// Specific has what few agents read, by its key in hook_specific_output: see
	// events.Takeable.
	Specific       map[string]json.RawMessage `json:"specific,omitempty"`
	Skip           bool                       `json:"skip,omitempty"`
	StopReason     string                     `json:"stop_reason,omitempty"`
	SuppressOutput bool                       `json:"suppress_output,omitempty"`
	ExitCode       int                        `json:"exit_code,omitempty"`
	Stderr         string                     `json:"stderr,omitempty"`
	DecidedBy      []string                   `json:"decided_by,omitempty"` // hooks whose answer made it what it is
}
