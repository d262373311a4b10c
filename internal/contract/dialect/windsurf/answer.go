package windsurf

import (
	"strings"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Answer writes the answer that Windsurf reads.
func Answer(a neutral.Asked) neutral.Reply {
	if a.Denies() && strings.HasPrefix(a.Event, "pre_") {
		return neutral.Reply{Stderr: a.Reason(), Exit: 2}
	}
	return neutral.Reply{}
}
