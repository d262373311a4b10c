package gemini

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// ships: its bundle has an enumeration of its events.
var ships = neutral.Shipped{
	Files:   []string{"bundle/*.js", "dist/src/hooks/types.js", "node_modules/@google/gemini-cli-core/dist/src/hooks/types.js"},
	Passage: `HookEventName[0-9]*\["[A-Za-z]+"\]`,
}
