package qwen

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// ships: its bundle has an enumeration of its events.
var ships = neutral.Shipped{
	Files:   []string{"cli.js", "chunks/*.js"},
	Passage: `HookEventName[0-9]*\["[A-Za-z]+"\]`,
}
