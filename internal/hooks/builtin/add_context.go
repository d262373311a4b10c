package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/template"
)

var addContext = Builtin{
	Name: "add_context", Events: []string{
		"session_start", "user_prompt_submit", "user_steering_messages_submit", "user_followup_submit",
		"turn_start", "post_tool_use", "pre_compact", "stop", "worktree_create",
	},
	Args: `Go templates over the event, such as "The user works in {{.Cwd}}"; .Payload has every field under its own name`,
	Doc:  "gives the model text made from the event",
	Run:  renderContext,
}

// Input is the data of add_context's templates: docker-agent's payload under the
// names of its Go struct. Absent fields are zero.
type Input struct {
	SessionID             string         `json:"session_id"`
	Cwd                   string         `json:"cwd"`
	HookEventName         string         `json:"hook_event_name"`
	AgentName             string         `json:"agent_name"`
	ToolName              string         `json:"tool_name"`
	ToolUseID             string         `json:"tool_use_id"`
	ToolCategory          string         `json:"tool_category"`
	ToolInput             map[string]any `json:"tool_input"`
	ToolResponse          any            `json:"tool_response"`
	ToolError             bool           `json:"tool_error"`
	SafetyPolicy          string         `json:"safety_policy"`
	Source                string         `json:"source"`
	Reason                string         `json:"reason"`
	Prompt                string         `json:"prompt"`
	SteeringMessages      []string       `json:"steering_messages"`
	Iteration             int            `json:"iteration"`
	ModelID               string         `json:"model_id"`
	Messages              []any          `json:"messages"`
	StopResponse          string         `json:"stop_response"`
	LastUserMessage       string         `json:"last_user_message"`
	Usage                 map[string]any `json:"usage"`
	Cost                  *float64       `json:"cost"`
	InputTokens           int            `json:"input_tokens"`
	OutputTokens          int            `json:"output_tokens"`
	ContextLimit          int            `json:"context_limit"`
	CompactionReason      string         `json:"compaction_reason"`
	Summary               string         `json:"summary"`
	ParentSessionID       string         `json:"parent_session_id"`
	NotificationLevel     string         `json:"notification_level"`
	NotificationMessage   string         `json:"notification_message"`
	FromAgent             string         `json:"from_agent"`
	ToAgent               string         `json:"to_agent"`
	AgentSwitchKind       string         `json:"agent_switch_kind"`
	PreviousMaxIterations int            `json:"previous_max_iterations"`
	NewMaxIterations      int            `json:"new_max_iterations"`
	ApprovalDecision      string         `json:"approval_decision"`
	ApprovalSource        string         `json:"approval_source"`
	SafetyLabel           string         `json:"safety_label"`
	WorktreePath          string         `json:"worktree_path"`
	WorktreeBranch        string         `json:"worktree_branch"`
	WorktreeSourceDir     string         `json:"worktree_source_dir"`
	Payload               map[string]any `json:"-"` // the whole payload, for every other event
}

func renderContext(_ context.Context, c *Invocation) ([]byte, error) {
	if len(c.Args) == 0 {
		return nil, nil
	}
	in, err := c.input()
	if err != nil {
		return nil, fmt.Errorf("add_context: %w", err)
	}
	var parts []string
	for i, arg := range c.Args {
		tmpl, err := template.New("add_context").Option("missingkey=error").Parse(arg)
		if err != nil {
			return nil, fmt.Errorf("add_context: parse arg %d: %w", i+1, err)
		}
		var b strings.Builder
		if err := tmpl.Execute(&b, in); err != nil {
			return nil, fmt.Errorf("add_context: render arg %d: %w", i+1, err)
		}
		if strings.TrimSpace(b.String()) != "" {
			parts = append(parts, b.String())
		}
	}
	return contextText(strings.Join(parts, "\n"))
}

// input decodes the payload field by field, so that one of an unexpected type
// (another dialect's, say) leaves the others readable.
func (c *Invocation) input() (*Input, error) {
	in := &Input{}
	var raw map[string]json.RawMessage
	if len(c.Payload) > 0 {
		if err := errors.Join(json.Unmarshal(c.Payload, &in.Payload), json.Unmarshal(c.Payload, &raw)); err != nil {
			return nil, fmt.Errorf("read payload of %s: %w", c.Event, err)
		}
	}
	for key, value := range raw {
		one, err := json.Marshal(map[string]json.RawMessage{key: value})
		if err != nil {
			return nil, err
		}
		_ = json.Unmarshal(one, in) // of the wrong type: stays zero, and is in Payload
	}
	in.HookEventName = c.Event
	if in.SessionID == "" {
		in.SessionID = c.SessionID
	}
	if in.Cwd == "" {
		in.Cwd = c.Cwd
	}
	return in, nil
}
