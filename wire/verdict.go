package wire

import "encoding/json"

// A Verdict is the joint answer of the hooks that block. A field that no hook set is
// zero, but Allowed and Continue, which are then true.
type Verdict struct {
	Allowed            bool   `json:"allowed"`                       // false denies, and Message says why
	Continue           bool   `json:"continue"`                      // false stops the agent, not only this call
	PermissionDecision string `json:"permission_decision,omitempty"` // "", allow, contain, ask or deny
	DecisionReason     string `json:"decision_reason,omitempty"`     // of PermissionDecision
	// Contain has the profiles of boxes that hooks want the call to run in; of the answer to an agent
	// the profile of the box that it does run in, by UpdatedInput. Nil = it runs in none.
	Contain []string `json:"contain,omitempty"`
	// Opens has ways out of that box that are open, or that a person is asked to open: paths, or HOST:PORT.
	Opens             []string `json:"opens,omitempty"`
	PermissionAllowed bool     `json:"permission_allowed,omitempty"` // a hook granted a permission that the agent asks for
	Message           string   `json:"message,omitempty"`            // why it is denied, for the model
	SystemMessage     string   `json:"system_message,omitempty"`     // text for the user
	AdditionalContext string   `json:"additional_context,omitempty"` // text for the model

	UpdatedInput        json.RawMessage `json:"updated_input,omitempty"`         // the tool's whole new input; nil = none
	UpdatedToolResponse json.RawMessage `json:"updated_tool_response,omitempty"` // its new result, "" clears it; nil = none
	UpdatedMessages     json.RawMessage `json:"updated_messages,omitempty"`      // the whole new list; nil = none

	Summary  string            `json:"summary,omitempty"`  // what replaces a conversation that is compacted
	Metadata map[string]string `json:"metadata,omitempty"` // what hooks add for the agent's own use
	// Specific has fields that few agents read, by their keys in hook_specific_output:
	// session_title, watch_paths and others that `hookd events NAME` lists. Nil = no hook
	// set any.
	Specific       map[string]json.RawMessage `json:"specific,omitempty"`
	Skip           bool                       `json:"skip,omitempty"`            // the agent leaves this step out, without an error
	StopReason     string                     `json:"stop_reason,omitempty"`     // why Continue is false
	SuppressOutput bool                       `json:"suppress_output,omitempty"` // the agent does not show what the hooks printed
	ExitCode       int                        `json:"exit_code,omitempty"`       // of the hook that denied by its exit code
	Stderr         string                     `json:"stderr,omitempty"`          // of that hook
	DecidedBy      []string                   `json:"decided_by,omitempty"`      // hooks whose answers made the verdict what it is
}

// Asks reports whether the verdict leaves a call to a person.
func (v *Verdict) Asks() bool { return v.Allowed && v.Continue && v.PermissionDecision == "ask" }

// Contains reports whether the call is to run in a box if it runs.
func (v *Verdict) Contains() bool { return v.Allowed && v.Continue && len(v.Contain) > 0 }

// Skips reports whether the verdict of pre_tool_use's preempt lane leaves
// nothing for the default lane to say: it denied, or it asks the user.
func (v *Verdict) Skips() bool {
	return !v.Allowed || v.PermissionDecision == "ask" || v.PermissionDecision == "deny"
}
