package verdict

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hookd/hookd/internal/events"
)

// checkStrict holds an answer to the promise of strict_output: every key is known, and
// the event can use every one of them.
func (a *Answer) checkStrict(c *events.Contract, o object) error {
	top := pick(o, topKeys)
	inner := pick(top.object(keySpecific), insideKeys)
	unknown := slices.DeleteFunc(append(top.unknown, inner.unknown...), func(key string) bool {
		return dialectHas(a.Terms.Words, key)
	})
	if len(unknown) > 0 {
		return fmt.Errorf("invalid hook output: unknown field %q", unknown[0])
	}
	if name := inner.text(keyEventName); name != "" && name != c.Name {
		return fmt.Errorf("invalid hook output: hook_event_name %q does not match %s", name, c.Name)
	}
	if a.SuppressOutput {
		return errors.New("invalid hook output: suppress_output is not supported")
	}
	if a.blocks() && !c.CanBlock {
		return fmt.Errorf("%s does not support blocking output", c.Name)
	}
	for _, key := range inner.given() {
		if !a.supported(c, key) {
			return fmt.Errorf("%s does not support %s", c.Name, key)
		}
	}
	return nil
}

// supported reports whether an event with contract c can use a key of
// hook_specific_output.
func (a *Answer) supported(c *events.Contract, key string) bool {
	switch key {
	case keyPermission, keyPermReason, keyProfile:
		return c.Decision != events.DecisionNone || a.denies(c)
	case keyInput, keyMessages, keyResponse:
		return string(c.Rewrite) == key
	case keyContext, keyEntries:
		return c.Context
	case keySummary:
		return c.Summary
	case keyMetadata:
		return c.Metadata
	case keyEventName:
		return true
	}
	return c.TakesKey(key)
}
