package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/hookd/hookd/internal/events"
)

var transformJSON = Builtin{
	Name: "transform_json", Events: []string{"tool_response_transform"},
	Args: "the top-level keys to keep; without any nothing changes",
	Doc:  "keeps only the named keys of a tool result that is a JSON object; a failed tool's result stays as it is",
	Run:  keepKeys,
}

var errNotObject = errors.New("transform_json: the tool result is not a JSON object")

func keepKeys(_ context.Context, c *Call) ([]byte, error) {
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
		if kept, err = quoted(string(kept)); err != nil {
			return nil, err
		}
	}
	return answer{Specific: &specific{UpdatedResponse: kept}}.encode()
}

// pickKeys returns the members of obj that have one of the keys, in obj's
// order and with their values untouched.
func pickKeys(obj json.RawMessage, keys []string) (json.RawMessage, error) {
	if !json.Valid(obj) || !startsObject(obj) {
		return nil, errNotObject
	}
	var members []events.Member
	for key, value := range events.Members(obj) {
		if slices.Contains(keys, key) {
			members = append(members, events.Member{Key: key, Value: value})
		}
	}
	return events.With(json.RawMessage(`{}`), members...), nil
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

// result returns the tool result that the event carries, as JSON, and whether
// it came as a string whose content this is. nil means that there is none.
func (c *Call) result() (json.RawMessage, bool) {
	raw := events.Get(c.Payload, c.target(events.RewriteResponse, "tool_response"))
	if len(raw) == 0 || string(raw) == "null" {
		return nil, false
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return raw, false
	}
	return json.RawMessage(text), true
}

// target returns the payload field that the event lets hooks rewrite by r, or
// docker-agent's name for it where the event's contract has none.
func (c *Call) target(r events.Rewrite, otherwise string) string {
	if contract := events.Lookup(c.Event); contract != nil && contract.Rewrite == r {
		return contract.Target
	}
	return otherwise
}
