package neutral

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// Shell is the canonical name of the tools that run a command.
const Shell = "Bash"

// ToolCall is a tool call as it acts: its arguments as the tool of the agent that makes
// the call takes them. The zero ToolCall is none.
type ToolCall struct {
	Own   string          // the tool, as its agent calls it
	Tool  string          // its canonical name; Own where it has none
	Input json.RawMessage // the arguments under their canonical names
	Given json.RawMessage // the arguments as they came
	Code  string          // the language of its command; "" = a shell's
	// Dirs are the directories that its command may run in, as its arguments have them; "" is the event's. None =
	// the event's.
	Dirs []string
	// Guessed: the agent's own table does not know the tool, another dialect's does.
	Guessed bool
}

// Call returns the call that the payload data of an event is about.
func (t *Table) Call(event string, data json.RawMessage) ToolCall {
	f := t.read(event, data, ofCall)
	c := ToolCall{Own: f.String(Tool), Given: fromText(f[Input])}
	row := t.tool(c.Own)
	if c.Dirs = row.dirs(c.Given); row != nil {
		c.Code = row.Code
	}
	t.canonize(f)
	c.Tool, c.Input = f.String(Tool), f[Input]
	return c
}

// Made returns the call of the tool that t's dialect calls own, with its arguments, and the names
// that a matcher finds the tool by.
func (t *Table) Made(own string, given json.RawMessage) (c ToolCall, names []string) {
	c = ToolCall{Own: own, Tool: own, Given: fromText(given)}
	c.Input, names = c.Given, []string{own}
	row := t.tool(own)
	if c.Dirs = row.dirs(c.Given); row == nil {
		return c, names
	}
	c.Tool, c.Input, c.Code = row.Canonical, row.canonical(c.Given), row.Code
	for _, other := range t.Tools {
		if other.Own == row.Own && !slices.Contains(names, other.Canonical) {
			names = append(names, other.Canonical)
		}
	}
	return c, names
}

// Guess returns c as t's dialect has it, if that knows a tool of the name and c
// is not known yet.
func (t *Table) Guess(c ToolCall) (_ ToolCall, ok bool) {
	row := t.tool(c.Own)
	if row == nil || c.Known() {
		return c, false
	}
	c.Tool, c.Input, c.Code, c.Guessed = row.Canonical, row.canonical(c.Given), row.Code, true
	if c.Dirs = row.dirs(c.Given); c.Dirs != nil && !slices.Contains(c.Dirs, "") {
		c.Dirs = append(c.Dirs, "")
	}
	return c, true
}

// usualDirs are the arguments, folded, by which tools take the directory of a command.
const usualDirs = "workdir cwd workingdirectory workingdir dirpath directory"

// dirs returns the directories that a command may run in. Where no row says which argument has it, the tool
// may take none.
func (n *ToolName) dirs(given json.RawMessage) (dirs []string) {
	names := usualDirs
	if n != nil && n.Canonical != Shell {
		return nil
	} else if n != nil && n.Dir != "" {
		names = n.Dir
	}
	for key, value := range rawjson.Members(given) {
		if !holds(names, folded(key)) {
			continue
		}
		if dir := TextOf(value); dir != "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if dirs != nil && names == usualDirs {
		dirs = append(dirs, "")
	}
	return dirs
}

// Variables returns the environment that the call gives its command, each as NAME=value; nil = none that can be read.
// Tools take an object, or a list of such texts.
func (c ToolCall) Variables() (list []string) {
	for key, value := range rawjson.Members(c.Given) {
		if !holds("env environment envvars environmentvariables", folded(key)) {
			continue
		}
		for name, v := range rawjson.Members(value) {
			text, isText := rawjson.Text(v)
			if !isText {
				text = string(v)
			}
			list = append(list, name+"="+text)
		}
		var texts []string
		if json.Unmarshal(value, &texts) == nil {
			list = append(list, texts...)
		}
	}
	return list
}

// Known reports whether the dialect of the call knows its tool, or no dialect could
// know more about that tool.
func (c ToolCall) Known() bool { return c.Own == "" || c.Tool != c.Own || canonicalTool(c.Own) != nil }

// commandNames are the arguments by which tools take a command, folded.
var commandNames = map[string]bool{
	"cmd": true, "command": true, "commands": true, "commandline": true, "commandlines": true, "shellcommand": true,
	"script": true, "code": true, "input": true, "chars": true, "args": true, "argv": true,
}

// Commands returns the command lines that a shell tool runs. Where it is not
// certain which argument the tool takes, these are all that it could be, each once.
func (c ToolCall) Commands() []string {
	var lines []string
	if line := commandLine(rawjson.Get(c.Input, "command")); line != "" {
		if lines = append(lines, line); !c.Guessed && !rawjson.Ambiguous(c.Given) {
			return lines
		}
	}
	for key, value := range rawjson.Members(c.Given) {
		if !commandNames[folded(key)] {
			continue
		}
		if line := commandLine(value); line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// commandLine reads a command: a text, or a list of words such as ["bash",
// "-lc", "ls"], which is one line that means them and nothing else.
func commandLine(v json.RawMessage) string {
	if line := TextOf(v); line != "" {
		return line
	}
	var words []string
	if v == nil || json.Unmarshal(v, &words) != nil || len(words) == 0 {
		return ""
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}
