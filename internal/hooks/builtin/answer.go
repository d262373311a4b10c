package builtin

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// answer is the object that a docker-agent hook prints, as far as built-ins
// use it.
type answer struct {
	Decision      string    `json:"decision,omitempty"`
	Reason        string    `json:"reason,omitempty"`
	SystemMessage string    `json:"system_message,omitempty"`
	Specific      *specific `json:"hook_specific_output,omitempty"`
}

type specific struct {
	PermissionDecision string            `json:"permission_decision,omitempty"`
	PermissionReason   string            `json:"permission_decision_reason,omitempty"`
	AdditionalContext  string            `json:"additional_context,omitempty"`
	UpdatedInput       json.RawMessage   `json:"updated_input,omitempty"`
	UpdatedMessages    json.RawMessage   `json:"updated_messages,omitempty"`
	UpdatedResponse    json.RawMessage   `json:"updated_tool_response,omitempty"`
	Metadata           map[string]string `json:"metadata,omitempty"`
}

// encode writes a with <, > and & as they are.
func (a answer) encode() ([]byte, error) {
	text, err := rawjson.Encode(a)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return text, nil
}

// contextText answers with text for the model; blank text is no opinion.
func contextText(text string) ([]byte, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	return answer{Specific: &specific{AdditionalContext: strings.ToValidUTF8(text, "\uFFFD")}}.encode()
}
