package builtin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
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
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return b.Bytes(), nil
}

// contextText answers with text for the model; blank text is no opinion.
func contextText(text string) ([]byte, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	return answer{Specific: &specific{AdditionalContext: strings.ToValidUTF8(text, "\uFFFD")}}.encode()
}

// quoted returns text as a JSON string with <, > and & as they are.
func quoted(text string) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		return nil, fmt.Errorf("encode text: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}
