package neutral

import (
	"encoding/json"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/events"
)

// Emitted is the member that has the payload as it came, where a hook is given a
// field that is not as it was.
const Emitted = "emitted"

// Given returns the payload data of an event of row as a hook is given it under the
// name that its agent has for it: as it came, except for a tool's arguments. Arguments
// that came as JSON text are the object that the text holds, unless the row documents a
// text; each has the value that the tool takes; and the files of a call stand with them
// where no argument has them, under the dialect's name for a file and as file_paths.
// Where that changes data, all of data is under Emitted.
func (t *Table) Given(row *events.Contract, data json.RawMessage) json.RawMessage {
	field := t.inputField(row, data)
	if field == "" {
		return data
	}
	sent := at(data, field)
	input := sent
	if !documentsText(row, field) {
		if object := fromText(sent); kind(object) == '{' {
			input = object
		}
	}
	input = t.givenInput(row.Name, data, input)
	if string(input) == string(sent) {
		return data
	}
	return rawjson.With(set(data, field, input), rawjson.Member{Key: Emitted, Value: data})
}

// inputField returns where data has a tool's arguments; "" = nowhere.
func (t *Table) inputField(row *events.Contract, data json.RawMessage) string {
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Fact != Input || !holds(r.Events, row.Name) {
			continue
		}
		if key, _, _ := strings.Cut(r.Field, "."); rawjson.Get(data, key) != nil && at(data, r.Field) != nil {
			return r.Field
		}
	}
	return ""
}

// at returns the value at a path of members; nil when it is absent or null.
func at(object json.RawMessage, path string) json.RawMessage {
	key, rest, nested := strings.Cut(path, ".")
	value := known(rawjson.Get(object, key))
	if !nested || value == nil {
		return value
	}
	return at(value, rest)
}

// set returns object with value at a path of members that are there.
func set(object json.RawMessage, path string, value json.RawMessage) json.RawMessage {
	key, rest, nested := strings.Cut(path, ".")
	if nested {
		value = set(rawjson.Get(object, key), rest, value)
	}
	return rawjson.With(object, rawjson.Member{Key: key, Value: value})
}

func documentsText(row *events.Contract, field string) bool {
	for _, f := range row.Fields {
		if f.Name == field {
			return f.Type == events.String
		}
	}
	return false
}

// givenInput returns the arguments of a tool as it takes them, with the files of
// the call, which are called as the dialect's own tools call them.
func (t *Table) givenInput(event string, data, input json.RawMessage) json.RawMessage {
	tool := t.tool(t.toolName(event, data))
	if tool == nil || kind(input) != '{' {
		return input
	}
	for _, p := range tool.pairs() {
		if !p.folds || p.from == "" {
			continue
		}
		key, v := argument(input, p.from, true)
		if v != nil && (key != p.from || string(v) != string(rawjson.Get(input, key))) {
			input = rawjson.With(input, rawjson.Member{Key: p.from, Value: v})
		}
	}
	if !tool.severalFiles() {
		return input
	}
	return setFiles(input, tool.files(input), t.fileArgument(tool))
}

// toolName returns the tool of an event as its payload calls it.
func (t *Table) toolName(event string, data json.RawMessage) string {
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Fact != Tool || !holds(r.Events, event) {
			continue
		}
		if name := TextOf(at(data, r.Field)); name != "" {
			return name
		}
	}
	return t.fixed(Tool, event)
}

// fileArgument returns the name that t's dialect has for a file in calls of the
// kind of tool.
func (t *Table) fileArgument(tool *ToolName) string {
	if row := t.named(tool.Canonical); row != nil {
		for _, p := range row.pairs() {
			if p.to == filePath && p.from != "" {
				return p.from
			}
		}
	}
	return filePath
}
