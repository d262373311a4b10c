package cline

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// The tools whose input is more than renamed arguments. Cline's command line takes each
// of them in several forms; the forms read here are the forms that it executes.
const (
	runCommands = "run_commands"
	readFiles   = "read_files"
	search      = "search_codebase"
	fetch       = "fetch_web_content"
	editor      = "editor"
)

// tools are the extension's tools, then the tools of the command line.
var tools = []neutral.ToolName{
	{Own: "execute_command", Canonical: "Bash"},
	{Own: "read_file", Canonical: "Read", Args: "path=file_path"},
	{Own: "write_to_file", Canonical: "Write", Args: "path=file_path"},
	{Own: "replace_in_file", Canonical: "Edit", Args: "path=file_path"},
	{Own: "list_files", Canonical: "LS"},
	{Own: "search_files", Canonical: "Grep", Args: "regex=pattern"},
	{Own: "web_fetch", Canonical: "WebFetch"},
	{Own: "ask_followup_question", Canonical: "AskUserQuestion"},
	{Own: "new_task", Canonical: "Agent"},
	{Own: runCommands, Canonical: "Bash", OneWay: true, Canon: commandInput},
	{Own: readFiles, Canonical: "Read", OneWay: true, Canon: objectOr,
		Paths: "files file_paths paths path file_path filePath"},
	{Own: search, Canonical: "Grep", OneWay: true, Canon: queries},
	{Own: fetch, Canonical: "WebFetch", OneWay: true, Canon: requests},
	{Own: editor, Canonical: "Edit", OneWay: true, Canon: editorInput,
		Args: "path=file_path old_text=old_string new_text=new_string"},
	{Own: editor, Canonical: "Write", OneWay: true},
	{Own: "apply_patch", Canonical: "Edit", OneWay: true, Canon: patchInput,
		Args: "input=input =file_path", Patches: "input"},
	{Own: "apply_patch", Canonical: "Write", OneWay: true},
	{Own: "ask_question", Canonical: "AskUserQuestion", OneWay: true},
	{Own: "spawn_agent", Canonical: "Agent", OneWay: true, Args: "task=prompt"},
}

// commandInput adds the lines that run_commands executes: commands, one line each, and command,
// with all of these lines.
func commandInput(input json.RawMessage) json.RawMessage {
	lines := commandsOf(input)
	if lines == nil { // a form that is not known: a guard sees every text in it
		lines = texts(input, nil)
	}
	return with(input, lines)
}

func with(input json.RawMessage, lines []string) json.RawMessage {
	list, _ := json.Marshal(lines) // texts
	return rawjson.With(objectOr(input), neutral.Str("command", joined(lines)), neutral.Raw("commands", list))
}

// completed makes both members of a changed input say the same: command wins, as the
// member that hooks know.
func completed(change json.RawMessage) json.RawMessage {
	if line, ok := rawjson.GetString(change, "command"); ok {
		list := neutral.Raw("commands", orNull(rawjson.Get(change, "commands")))
		if lines := commandsOf(rawjson.With(nil, list)); joined(lines) == line {
			return with(change, lines)
		}
		return with(change, []string{line})
	}
	if lines := commandsOf(change); lines != nil {
		return with(change, lines)
	}
	return change
}

// commandsOf returns the commands that run_commands executes, in the order in
// which it tries the forms of its input; nil where none fits, which Cline
// refuses. An argument list becomes a line with quoted words.
func commandsOf(input json.RawMessage) []string {
	list, isList := elements(input)
	commands := rawjson.Get(input, "commands")
	if inner, ok := elements(commands); ok {
		if lines, ok := linesOf(inner, textLine, argsLine); ok {
			return lines
		}
	}
	if line, ok := oneOf(commands, textLine, argsLine); ok {
		return []string{line}
	}
	if lines, ok := linesOf(list, argsLine); isList && ok {
		return lines
	}
	if line, ok := oneOf(input, argsLine); ok {
		return []string{line}
	}
	for _, key := range []string{"command", "cmd"} {
		if line, ok := textLine(rawjson.Get(input, key)); ok {
			return []string{line}
		}
	}
	if lines, ok := linesOf(list, textLine); isList && ok {
		return lines
	}
	if line, ok := textLine(input); ok {
		return []string{line}
	}
	return nil
}

type reading = func(json.RawMessage) (string, bool)

func oneOf(v json.RawMessage, forms ...reading) (string, bool) {
	for _, form := range forms {
		if line, ok := form(v); ok {
			return line, true
		}
	}
	return "", false
}

func linesOf(list []json.RawMessage, forms ...reading) ([]string, bool) {
	lines := []string{}
	for _, v := range list {
		line, ok := oneOf(v, forms...)
		if !ok {
			return nil, false
		}
		lines = append(lines, line)
	}
	return lines, true
}

// textLine reads a line for a shell.
func textLine(v json.RawMessage) (string, bool) {
	var line *string
	if json.Unmarshal(v, &line) != nil || line == nil {
		return "", false
	}
	return *line, true
}

// argsLine reads {command, args}: a program with its arguments, or without
// args a line for a shell.
func argsLine(v json.RawMessage) (string, bool) {
	command, ok := rawjson.GetString(v, "command")
	if !ok || command == "" {
		return "", false
	}
	list := rawjson.Get(v, "args")
	if list == nil {
		return command, true
	}
	args, ok := elements(list)
	words, valid := linesOf(args, textLine)
	if !ok || !valid {
		return "", false
	}
	line := quoted(command)
	for _, word := range words {
		line += " " + quoted(word)
	}
	return line, true
}

// queries adds all that search_codebase looks for, one a line.
func queries(input json.RawMessage) json.RawMessage {
	return added(input, "pattern", texts(input, []string{"queries"}))
}

// requests adds all that fetch_web_content fetches, one a line.
func requests(input json.RawMessage) json.RawMessage {
	return added(input, "url", texts(input, []string{"requests", "url"}))
}

func added(input json.RawMessage, key string, lines []string) json.RawMessage {
	if len(lines) == 0 {
		return objectOr(input)
	}
	return rawjson.With(objectOr(input), neutral.Str(key, strings.Join(lines, "\n")))
}

// editorInput takes the new text for the content of a file where there is no
// old one.
func editorInput(input json.RawMessage) json.RawMessage {
	if old := rawjson.Get(input, "old_string"); old == nil || string(old) == "null" {
		if text, ok := rawjson.GetString(input, "new_string"); ok {
			input = rawjson.With(input, neutral.Str("content", text))
		}
	}
	return input
}

// oneText makes content and new_string of a changed input the same: editor has
// one text. content wins.
func oneText(change json.RawMessage) json.RawMessage {
	for _, name := range []string{"content", "new_string"} {
		if text := rawjson.Get(change, name); text != nil {
			return rawjson.With(change, neutral.Raw("content", text), neutral.Raw("new_string", text))
		}
	}
	return change
}

// patchInput takes a patch that is no member of an object, too.
func patchInput(input json.RawMessage) json.RawMessage {
	if text, ok := textLine(input); ok {
		return rawjson.With(nil, neutral.Str("input", text))
	}
	return input
}

// texts returns the texts in v, in order: the texts that stand in lists and under keys;
// nil = under every key.
func texts(v json.RawMessage, keys []string) []string {
	if text, ok := textLine(v); ok {
		return []string{text}
	}
	var found []string
	list, _ := elements(v)
	for _, inner := range list {
		found = append(found, texts(inner, keys)...)
	}
	for key, inner := range rawjson.Members(v) {
		if keys == nil || slices.Contains(keys, key) {
			found = append(found, texts(inner, keys)...)
		}
	}
	return found
}

func elements(v json.RawMessage) (list []json.RawMessage, ok bool) {
	return list, len(v) > 0 && json.Unmarshal(v, &list) == nil && list != nil
}

func objectOr(v json.RawMessage) json.RawMessage {
	if len(v) > 0 && v[0] == '{' {
		return v
	}
	return json.RawMessage("{}")
}

func orNull(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	return v
}

// override is the input that Cline is to execute when hooks have made changed
// of the canonical one; false for tools whose lists cannot be put together again.
func override(own string, changed json.RawMessage) (json.RawMessage, bool) {
	switch own {
	case runCommands:
		return rawjson.With(nil, neutral.Raw("commands", rawjson.Get(completed(changed), "commands"))), true
	case readFiles, search, fetch:
		return nil, false
	case editor:
		changed = without(changed, "content") // which is its new text
	}
	table := &neutral.Table{Tools: tools}
	return (&neutral.Table{}).Args("", table.WithoutFiles(own, changed), table, own), true
}

func without(object json.RawMessage, name string) json.RawMessage {
	var members []rawjson.Member
	for key, value := range rawjson.Members(object) {
		if key != name {
			members = append(members, rawjson.Member{Key: key, Value: value})
		}
	}
	return rawjson.With(nil, members...)
}

// joined is one script of several commands; Cline gives each to a shell of its own.
// Where a command could change how the next one is read, such as by an open quote, a
// here-document or a function, it stands in quotes.
func joined(lines []string) string {
	if len(lines) == 1 {
		return lines[0]
	}
	var script []string
	for _, line := range lines {
		if !closed(line) {
			line = "sh -c " + quoted(line)
		}
		script = append(script, line)
	}
	return strings.Join(script, "\n")
}

// compound has the words that begin a command which goes on after the end of a line.
const compound = "if then elif else fi for while until do done case esac select function time coproc ! [["

// closed reports whether a line is nothing but simple commands with all of
// their quotes closed, so that a shell reads the next one as if it were the first.
func closed(line string) bool {
	var quote rune
	escaped := false
	for _, c := range line {
		switch {
		case escaped:
			escaped = false
		case quote == '\'':
			if c == quote {
				quote = 0
			}
		case c == '\\':
			escaped = true
		case strings.ContainsRune("$`", c), quote == 0 && strings.ContainsRune("(){}<\n\r", c):
			return false
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		}
	}
	words := strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(" \t;|&", c) })
	isCompound := func(word string) bool { return slices.Contains(strings.Fields(compound), word) }
	return quote == 0 && !escaped && !slices.ContainsFunc(words, isCompound)
}

// quoted is a word as a shell is given it.
func quoted(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,@%"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
