package dockeragent

// Input is docker-agent's payload under the names of its Go struct, for templates: the members that all of them read
// alike. A member that the event does not have is zero.
type Input struct {
	SessionID     string `json:"session_id"`
	Cwd           string `json:"cwd"`
	HookEventName string `json:"hook_event_name"`
	AgentName     string `json:"agent_name"`

	ToolName     string         `json:"tool_name"`
	ToolUseID    string         `json:"tool_use_id"`
	ToolCategory string         `json:"tool_category"`
	ToolInput    map[string]any `json:"tool_input"`
	ToolResponse any            `json:"tool_response"`
	ToolError    bool           `json:"tool_error"`
	SafetyPolicy string         `json:"safety_policy"`

	ApprovalDecision string `json:"approval_decision"`
	ApprovalSource   string `json:"approval_source"`
	SafetyLabel      string `json:"safety_label"`

	Prompt           string   `json:"prompt"`
	SteeringMessages []string `json:"steering_messages"`
	Source           string   `json:"source"`
	Reason           string   `json:"reason"`
	Iteration        int      `json:"iteration"`
	ModelID          string   `json:"model_id"`
	StopResponse     string   `json:"stop_response"`
	LastUserMessage  string   `json:"last_user_message"`
	Cost             *float64 `json:"cost"` // US dollars; nil = not priced
	ParentSessionID  string   `json:"parent_session_id"`

	NotificationLevel   string `json:"notification_level"`
	NotificationMessage string `json:"notification_message"`

	InputTokens      int64  `json:"input_tokens"`
	OutputTokens     int64  `json:"output_tokens"`
	ContextLimit     int64  `json:"context_limit"`
	CompactionReason string `json:"compaction_reason"`
	Summary          string `json:"summary"`

	FromAgent             string `json:"from_agent"`
	ToAgent               string `json:"to_agent"`
	AgentSwitchKind       string `json:"agent_switch_kind"`
	PreviousMaxIterations int    `json:"previous_max_iterations"`
	NewMaxIterations      int    `json:"new_max_iterations"`

	WorktreePath      string `json:"worktree_path"`
	WorktreeBranch    string `json:"worktree_branch"`
	WorktreeSourceDir string `json:"worktree_source_dir"`
}
