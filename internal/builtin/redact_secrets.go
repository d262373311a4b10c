package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hookd/hookd/internal/builtin/secrets"
	"github.com/hookd/hookd/internal/events"
)

var redactSecrets = Builtin{
	Name: "redact_secrets", Events: []string{"tool_input_transform", "pre_tool_use", "before_llm_call", "tool_response_transform"},
	Doc: "replaces secrets of known forms by [REDACTED] in a tool call's arguments, in messages for the model and in tool results",
	Run: redactEvent,
}

// Redact returns s with each secret replaced by [REDACTED]; see package
// secrets for what it promises. It is safe for use by many goroutines.
func Redact(s string) string { return secrets.Redact(s) }

var errNothingToRedact = errors.New("redact_secrets has nothing to rewrite on this event")

// redactEvent works on what the event's contract lets hooks rewrite: the
// arguments, the result or the messages.
func redactEvent(_ context.Context, c *Call) ([]byte, error) {
	contract := events.Lookup(c.Event)
	if contract == nil || contract.Rewrite == events.RewriteNone {
		c.log("redact_secrets on "+c.Event, errNothingToRedact)
		return nil, nil
	}
	value := events.Get(c.Payload, contract.Target)
	if len(value) == 0 || string(value) == "null" {
		return nil, nil
	}
	switch contract.Rewrite {
	case events.RewriteInput:
		return c.redactInput(value)
	case events.RewriteMessages:
		return redactMessages(value)
	}
	return redactResponse(value, contract.Dialect == events.DockerAgent)
}

// redactInput answers with the changed top-level keys only: the rest stays.
func (c *Call) redactInput(input json.RawMessage) ([]byte, error) {
	var changed []events.Member
	for key, value := range events.Members(input) {
		if redacted, ok := redactJSON(value, key, nil); ok {
			changed = append(changed, events.Member{Key: key, Value: redacted})
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	tool, _ := events.GetString(c.Payload, "tool_name")
	return answer{
		SystemMessage: fmt.Sprintf("redact_secrets: redacted secret material from arguments of tool %q", tool),
		Specific:      &specific{UpdatedInput: events.With(json.RawMessage(`{}`), changed...)},
	}.encode()
}

// opaque are the fields of a message that must reach the provider as they are:
// signatures over the text, names, and data that is no text.
var opaque = map[string]bool{
	"id": true, "role": true, "type": true, "name": true, "model": true, "tool_call_id": true, "tool_use_id": true, "call_id": true,
	"signature": true, "thinking_signature": true, "thought_signature": true, "thoughtSignature": true, "encrypted_content": true,
	"data": true, "url": true, "image_url": true, "file_id": true, "media_type": true, "mime_type": true,
}

// redactMessages answers with the full list, and only if something changed:
// the agent takes what it gets for all there is.
func redactMessages(messages json.RawMessage) ([]byte, error) {
	redacted, changed := redactJSON(messages, "", opaque)
	if !changed {
		return nil, nil
	}
	return answer{Specific: &specific{UpdatedMessages: redacted}}.encode()
}

// redactResponse rewrites a result. docker-agent's results are text, and one
// that is not stays as it is there; other agents' may have parts.
func redactResponse(response json.RawMessage, textOnly bool) ([]byte, error) {
	if textOnly && response[0] != '"' {
		return nil, nil
	}
	redacted, changed := redactJSON(response, "", nil)
	if !changed {
		return nil, nil
	}
	return answer{Specific: &specific{UpdatedResponse: redacted}}.encode()
}
