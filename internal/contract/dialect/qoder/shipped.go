package qoder

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// ships: its bundle has an enumeration of its events.
var ships = neutral.Shipped{
	Files:   []string{"bundle/qodercli.js"},
	Passage: `\.PreToolUse="PreToolUse"(?:,[a-z]+\.[A-Za-z]+="[A-Za-z]+")+`,
}
