package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/template"

	"github.com/hookd/hookd/internal/hooks/judge"
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
	judge.Fields

	Messages []any          `json:"messages"`
	Usage    map[string]any `json:"usage"`
	Payload  map[string]any `json:"-"` // the whole payload, for every other event
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
