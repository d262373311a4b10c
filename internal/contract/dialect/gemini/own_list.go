package gemini

import (
	"regexp"
	"strings"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// ownList is a file of policies: Gemini CLI looks only at calls that a hook denies. The
// expression is held against the arguments as JSON, behind `"command":"`, so a quote ends the
// command.
var ownList = neutral.OwnList{
	File: "policies/hookd-learned.toml",
	Text: func(commands [][]string) string {
		var b strings.Builder
		b.WriteString(neutral.OwnListMark)
		for _, words := range commands {
			b.WriteString("\n[[rule]]\ntoolName = \"run_shell_command\"\ncommandRegex = '" +
				regexp.QuoteMeta(strings.Join(words, " ")) + "\"'\ndecision = \"allow\"\npriority = 100\n")
		}
		return b.String()
	},
}
