package hook

import (
	"regexp"
	"strings"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/facts"
)

// Condition is one element of a hook's `when`: all members that are given must fit. A
// member may have several values, of which one must fit. Letter case never counts,
// but in Prompts. Package when holds conditions against events.
type Condition struct {
	Tools    []pattern.Fold         // names of the tool, the agent's own and canonical ones
	Commands []facts.CommandPattern // that the call runs
	Paths    []pattern.Fold         // of files, absolute
	Prompts  []*regexp.Regexp
	Data     []DataPattern
}

// DataPattern is a glob on the value under a path in an event's data.
type DataPattern struct {
	Path     []string // keys, the outermost first
	Patterns []pattern.Fold
}

// String is the condition as it is written, on one line.
func (c Condition) String() string {
	var parts []string
	part := func(name string, texts []string) {
		if len(texts) > 0 {
			parts = append(parts, name+": "+strings.Join(texts, " or "))
		}
	}
	part("tool", pattern.Texts(c.Tools))
	var commands, prompts []string
	for _, p := range c.Commands {
		commands = append(commands, p.Text)
	}
	for _, p := range c.Prompts {
		prompts = append(prompts, p.String())
	}
	part("command", commands)
	part("path", pattern.Texts(c.Paths))
	part("prompt", prompts)
	for _, p := range c.Data {
		part("data."+strings.Join(p.Path, "."), pattern.Texts(p.Patterns))
	}
	return strings.Join(parts, ", ")
}
