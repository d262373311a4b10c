package codex

import (
	"strings"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// ships: the program has the JSON Schema of each event's payload in it.
var ships = neutral.Shipped{
	Files: []string{
		".", "vendor/*/bin/codex", "../codex-*/vendor/*/bin/codex", "node_modules/@openai/codex-*/vendor/*/bin/codex",
	},
	Passage: `"title": "[a-z-]+\.command\.input"`,
	Row:     rowOf,
}

// rowOf is the event of a schema such as pre-tool-use.command.input.
func rowOf(title string) string {
	words, ok := strings.CutSuffix(title, ".command.input")
	if !ok {
		return ""
	}
	var name strings.Builder
	for word := range strings.SplitSeq(words, "-") {
		if word != "" {
			name.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return name.String()
}
