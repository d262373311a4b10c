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

// reach has the tools of 0.171 that reach something under a name of their own. Its program has no list of tools
// that can be read.
var reach = []neutral.Reach{
	{Tools: "write_stdin", What: "writes to a program that runs, such as a shell",
		Unseen: "Codex calls no hook for it, as seen in 0.171"},
	{Tools: "web_search", What: "searches the web", Unseen: "it runs where the model does"},
	{Tools: "send_input followup_task", What: "has an agent go on; its own calls are asked about"},
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
