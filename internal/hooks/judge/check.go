package judge

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hookd/hookd/internal/events"
)

var errModelForm = errors.New("model must be provider/name, such as openai/gpt-4o-mini")

// Check returns the error in a model hook for an event with contract c, or nil. It
// uses the words of docker-agent's own checks where docker-agent has them. A nil c
// skips the checks that depend on the event.
func Check(model, prompt, schema string, c *events.Contract) error {
	if model == "" {
		return errors.New("model is required for model hooks")
	}
	if provider, name, _ := strings.Cut(model, "/"); provider == "" || name == "" {
		return errModelForm
	}
	if strings.TrimSpace(prompt) == "" {
		return errors.New("prompt is required for model hooks")
	}
	if _, err := parse(prompt); err != nil {
		return fmt.Errorf("parse prompt: %w", err)
	}
	if _, err := schemaNamed(schema); err != nil {
		return err
	}
	if c == nil {
		return nil
	}
	return fits(schema, c)
}

// fits returns an error if an event cannot use the answers of the schema.
func fits(schema string, c *events.Contract) error {
	switch {
	case c.Explicit && schema != SchemaContentRule:
		return errors.New("model hooks require schema guard_decision")
	case schema == SchemaContentRule && !c.CanBlock:
		return errors.New("guard_decision requires a blocking event")
	case schema == SchemaPreToolUse && c.Decision == events.DecisionNone:
		return errors.New("pre_tool_use_decision requires an approval event")
	}
	return nil
}
