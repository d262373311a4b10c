package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts/secrets"
)

var redactSecrets = Builtin{
	Name: "redact_secrets", Events: []string{"tool_input_transform", "pre_tool_use", "before_llm_call", "tool_response_transform"},
	Doc: "replaces secrets of known forms by [REDACTED] in a tool call's arguments, in messages for the model and in tool results",
	Run: redactEvent,
	Needs: func(row *events.Contract) bool {
		return row.Rewrite != events.RewriteNone || row.Kind == events.KindToolBefore
	},
}

var errNothingToRedact = errors.New("redact_secrets has nothing to rewrite on this event")

// redactEvent works on the field that the event's contract lets hooks rewrite: the
// arguments, the result or the messages.
func redactEvent(_ context.Context, c *Invocation) ([]byte, error) {
	switch c.Row.Rewrite {
	case events.RewriteNone:
		return c.cannotRedact()
	case events.RewriteInput:
		return c.redactInput(c.Tool.Given)
	}
	value := rawjson.Get(c.Data, c.Row.Target)
	if len(value) == 0 || string(value) == "null" {
		return nil, nil
	}
	switch c.Row.Rewrite {
	case events.RewriteMessages:
		return redactMessages(value)
	}
	return redactResponse(value, c.Row.TextOnly)
}

// cannotRedact says that a call keeps its secrets where the agent takes no other
// arguments, and that there is nothing to redact elsewhere.
func (c *Invocation) cannotRedact() ([]byte, error) {
	if c.Row.Kind != events.KindToolBefore {
		c.log("redact_secrets on "+c.Event, errNothingToRedact)
		return nil, nil
	}
	if out, err := c.redactInput(c.Tool.Given); len(out) == 0 || err != nil {
		return nil, err
	}
	return answer{SystemMessage: fmt.Sprintf("redact_secrets: the arguments of tool %q hold secret material, and %s takes no others from a hook",
		c.Tool.Own, c.Row.Name)}.encode()
}

// redactInput answers with the changed top-level keys only: the rest stays.
func (c *Invocation) redactInput(input json.RawMessage) ([]byte, error) {
	redacted, ok := secrets.RedactJSON(input, "", nil)
	if !ok {
		return nil, nil
	}
	var was, changed []rawjson.Member
	for key, value := range rawjson.Members(input) {
		was = append(was, rawjson.Member{Key: key, Value: value})
	}
	for key, value := range rawjson.Members(redacted) { // as many, in the same order
		if was[0].Key == key && !bytes.Equal(was[0].Value, value) {
			changed = append(changed, rawjson.Member{Key: key, Value: value})
		}
		was = was[1:]
	}
	if len(changed) == 0 {
		return nil, nil // a secret is in the name of an argument, which an answer cannot change
	}
	return answer{
		SystemMessage: fmt.Sprintf("redact_secrets: redacted secret material from arguments of tool %q", c.Tool.Own),
		Specific:      &specific{UpdatedInput: rawjson.With(json.RawMessage(`{}`), changed...)},
	}.encode()
}

// opaque are the fields of a message that must reach the provider as they are:
// signatures over the text, names, and data that is no text.
var opaque = map[string]bool{
	"id": true, "role": true, "type": true, "name": true, "model": true,
	"tool_call_id": true, "tool_use_id": true, "call_id": true,
	"signature": true, "thinking_signature": true, "thought_signature": true, "thoughtSignature": true,
	"encrypted_content": true,
	"data":              true, "url": true, "image_url": true, "file_id": true, "media_type": true, "mime_type": true,
}

// redactMessages answers with the full list, and only if something changed:
// the agent takes the given list for all there is.
func redactMessages(messages json.RawMessage) ([]byte, error) {
	redacted, changed := secrets.RedactJSON(messages, "", opaque)
	if !changed {
		return nil, nil
	}
	return answer{Specific: &specific{UpdatedMessages: redacted}}.encode()
}

// redactResponse rewrites a result. Where results are text, a result in another form
// stays as it is; elsewhere they may have parts.
func redactResponse(response json.RawMessage, textOnly bool) ([]byte, error) {
	if textOnly && response[0] != '"' {
		return nil, nil
	}
	redacted, changed := secrets.RedactJSON(response, "", nil)
	if !changed {
		return nil, nil
	}
	return answer{Specific: &specific{UpdatedResponse: redacted}}.encode()
}
