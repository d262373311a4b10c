package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

var transformJSON = Builtin{
	Name: "transform_json", Events: []string{"tool_response_transform"},
	Args: "the top-level keys to keep; without any nothing changes",
	Doc:  "keeps only the named keys of a tool result that is a JSON object; a failed tool's result stays as it is",
	Run:  keepKeys,
}

var errNotObject = errors.New("transform_json: the tool result is not a JSON object")

func keepKeys(_ context.Context, c *Invocation) ([]byte, error) {
	var payload struct {
		ToolError bool `json:"tool_error"`
	}
	if err := c.read(&payload); err != nil {
		return nil, err
	}
	if payload.ToolError || len(c.Args) == 0 {
		return nil, nil
	}
	result, text := c.result()
	if result == nil {
		return nil, nil
	}
	kept, err := pickKeys(result, c.Args)
	if err != nil {
		return nil, err
	}
	if text { // it came as text that holds JSON, and so it goes
		return c.answerResult(string(kept))
	}
	return answer{Specific: &specific{UpdatedResponse: kept}}.encode()
}

// pickKeys returns the members of obj that have one of the keys, in obj's
// order and with their values untouched.
func pickKeys(obj json.RawMessage, keys []string) (json.RawMessage, error) {
	if !json.Valid(obj) || !startsObject(obj) {
		return nil, errNotObject
	}
	var members []rawjson.Member
	for key, value := range rawjson.Members(obj) {
		if slices.Contains(keys, key) {
			members = append(members, rawjson.Member{Key: key, Value: value})
		}
	}
	return rawjson.With(json.RawMessage(`{}`), members...), nil
}

func startsObject(text []byte) bool {
	for _, b := range text {
		switch b {
		case ' ', '\t', '\r', '\n':
			continue
		}
		return b == '{'
	}
	return false
}

// result returns the tool result that the event lets hooks rewrite, as JSON, and
// whether it is text whose content this is: the text that the model sees, where
// that holds an object. nil means that there is none.
func (c *Invocation) result() (json.RawMessage, bool) {
	if c.Row.Rewrite != events.RewriteResponse {
		return nil, false
	}
	raw := rawjson.Get(c.Data, c.Row.Target)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, false
	}
	text := json.RawMessage(neutral.ResultText(raw))
	if raw[0] != '"' && !(json.Valid(text) && startsObject(text)) {
		return raw, false
	}
	return text, true
}

// answerResult answers with text as the new result, in the shape of the result that
// the agent sent.
func (c *Invocation) answerResult(text string) ([]byte, error) {
	value := rawjson.Quote(text)
	if was := rawjson.Get(c.Data, c.Row.Target); len(was) > 0 && was[0] != '"' {
		value = neutral.WithResultText(was, text)
	}
	return answer{Specific: &specific{UpdatedResponse: value}}.encode()
}
