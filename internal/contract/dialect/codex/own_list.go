package codex

import (
	"encoding/json"
	"strings"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// ownList is a file of rules: to Codex a PreToolUse hook that allows has failed. An example that
// does not fit stops Codex from reading the file, so each rule has one.
var ownList = neutral.OwnList{
	File: "rules/hookd-learned.rules",
	Text: func(commands [][]string) string {
		var b strings.Builder
		b.WriteString(neutral.OwnListMark)
		for _, words := range commands {
			pattern, _ := json.Marshal(words)                    // texts
			example, _ := json.Marshal(strings.Join(words, " ")) // a text
			b.WriteString("prefix_rule(pattern=" + string(pattern) + `, decision="allow", match=[` + string(example) +
				"])\n")
		}
		return b.String()
	},
	Loose: "with more words behind them, too",
}
