package neutral

import (
	"encoding/json"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// subjects returns the arguments that name the subject of a canonical tool: the first
// that a call has counts.
func subjects(tool string) string {
	switch tool {
	case "Glob", "Grep":
		return canonicalArgs(tool)
	case "MultiEdit":
		return "file_path"
	case "Agent", "Task":
		return "description prompt"
	case "Skill":
		return "skill command"
	}
	first, _, _ := strings.Cut(canonicalArgs(tool), " ")
	return first
}

// usual are the arguments that say it of other tools, where no text comes first.
const usual = "command file_path path url query pattern prompt"

// Subject returns the argument that tells a person the subject of the call, with the
// name it has; "" = it has none. The text is whole and may be of any kind.
func (c ToolCall) Subject() (name, text string) {
	if c.Tool == Shell {
		if lines := c.Commands(); len(lines) > 0 {
			return "command", strings.Join(lines, "\n")
		}
	}
	for name := range strings.FieldsSeq(subjects(c.Tool)) {
		if text := TextOf(rawjson.Get(c.Input, name)); text != "" {
			return name, text
		}
	}
	for key, value := range rawjson.Members(c.Given) {
		if text := TextOf(value); text != "" {
			return key, text
		}
	}
	for name := range strings.FieldsSeq(usual) {
		if text := textIn(rawjson.Get(c.Given, name)); text != "" {
			return name, text
		}
	}
	return "", TextOf(c.Given)
}

// textIn returns the text that v is, or the texts of the list that it is.
func textIn(v json.RawMessage) string {
	if text := TextOf(v); text != "" {
		return text
	}
	var list []string
	if json.Unmarshal(v, &list) != nil {
		return ""
	}
	return strings.Join(list, " ")
}
