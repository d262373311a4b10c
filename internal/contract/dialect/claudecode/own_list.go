package claudecode

import (
	"strings"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// ownList is the list of permissions: in plan mode Claude Code does not listen to a hook that allows, and
// listens to a permission, as seen in 2.1.332. An entry without * is that command alone.
var ownList = neutral.OwnList{
	File: "hookd-learned.json",
	At:   []string{"permissions", "allow"},
	Entry: func(words []string) string {
		return "Bash(" + strings.Join(words, " ") + ")"
	},
	When: "in plan mode",
}
