package droid

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// ships: the program has its script in it, with a list of all events.
var ships = neutral.Shipped{
	Files:   []string{".", "bin/droid"},
	Passage: `\["PreToolUse","PostToolUse"(?:,"[A-Za-z]+"){4,}\]`,
}
