package judge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// Input is the data that a prompt sees: docker-agent's payload under the names of its Go
// struct. A member that the event does not have is zero. Numbers without a fixed type
// are json.Number, so that the judge reads exactly the digits that the tool will get.
type Input struct {
	Fields

	Messages        []Message       `json:"messages"`
	Usage           *Usage          `json:"usage"` // nil = not reported
	FromAgentModels []ModelEndpoint `json:"from_agent_models"`
	Skill           *Skill          `json:"skill"`       // nil = the event has none
	PromptFile      *PromptFile     `json:"prompt_file"` // nil = the event has none

	Payload map[string]any `json:"-"` // the whole payload under its own names, for other dialects' events
}

// Fields are the members of docker-agent's payload that the templates of judges and of add_context read alike.
type Fields struct {
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

// Message is one chat message, with every field that it has.
type Message map[string]any

// Role is the message's author.
func (m Message) Role() any { return m["role"] }

// Content is the message's text, or its parts.
func (m Message) Content() any { return m["content"] }

// Usage is the cost of one model call, in tokens.
type Usage struct {
	InputTokens       int64 `json:"input_tokens"`
	OutputTokens      int64 `json:"output_tokens"`
	CachedInputTokens int64 `json:"cached_input_tokens"`
	CachedWriteTokens int64 `json:"cached_write_tokens"`
	ReasoningTokens   int64 `json:"reasoning_tokens"`
}

// ModelEndpoint is a model that the agent was switched away from.
type ModelEndpoint struct {
	Provider  string `json:"provider"`
	Model     string `json:"model"`
	BaseURL   string `json:"base_url"`
	UnloadAPI string `json:"unload_api"`
}

// Skill is the subject of skill_content_guard.
type Skill struct {
	Name    string `json:"name"`
	Source  string `json:"source"`
	Path    string `json:"path"`
	Content string `json:"content"`
}

// PromptFile is the subject of prompt_file_guard.
type PromptFile struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// input returns the payload. Its tool call has the names of Call if Payload has
// another dialect's.
func (c *Question) input() (*Input, error) {
	in, err := newInput(c.Event, c.Payload)
	if err != nil {
		return nil, err
	}
	in.ToolName = cmp.Or(c.ToolName, in.ToolName)
	if len(c.ToolInput) == 0 {
		return in, nil
	}
	in.ToolInput = nil
	if err := decode(c.ToolInput, &in.ToolInput); err != nil {
		return nil, errors.New("read payload: the arguments of the tool are not one JSON object")
	}
	return in, nil
}

// newInput reads the payload. Keys are case-sensitive, as in the rest of hookd: the
// judge must see the same tool as the matcher. A field of another type than
// documented is an error, because a judge would call an empty one harmless.
func newInput(event string, payload json.RawMessage) (*Input, error) {
	in := &Input{}
	if len(payload) == 0 {
		payload = json.RawMessage("{}")
	}
	if err := decode(payload, &in.Payload); err != nil || in.Payload == nil {
		return nil, errors.New("read payload: it is not one JSON object")
	}
	for _, field := range reflect.VisibleFields(reflect.TypeOf(*in)) {
		key := field.Tag.Get("json")
		value := rawjson.Get(payload, key)
		if field.Anonymous || value == nil {
			continue
		}
		if err := decode(value, reflect.ValueOf(in).Elem().FieldByIndex(field.Index).Addr().Interface()); err != nil {
			return nil, fmt.Errorf("read payload: %s is not of the documented type", key)
		}
	}
	in.HookEventName = cmp.Or(event, in.HookEventName)
	return in, nil
}

// decode reads exactly one JSON value.
func decode(text []byte, into any) error {
	if !json.Valid(text) {
		return errors.New("not one JSON value")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return dec.Decode(into)
}
