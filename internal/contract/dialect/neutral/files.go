package neutral

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/verdict"
)

// Members under which a call's files stand where they are not one argument of their
// own: all of them as a list, and one a line where a guard looks for a file.
const (
	filePaths = "file_paths"
	filePath  = "file_path"
)

// severalFiles reports whether the tool's files stand elsewhere than in one argument.
func (n *ToolName) severalFiles() bool { return n.Paths != "" || n.Patches != "" }

// files returns the files that a call with the input works on, as it names them.
// A line of a patch that may name one counts: a guard rather sees one too many.
func (n *ToolName) files(input json.RawMessage) []string {
	paths := n.argumentTexts(input, n.Paths)
	patches := n.argumentTexts(input, n.Patches)
	switch {
	case kind(input) == '{':
	case n.Patches != "":
		patches = textsIn(input)
	default:
		paths = textsIn(input)
	}
	for _, patch := range patches {
		for _, file := range PatchedFiles(patch) {
			paths = append(paths, file.Path)
		}
	}
	return verdict.Unique(paths)
}

// argumentTexts returns the texts under the arguments called names.
func (n *ToolName) argumentTexts(input json.RawMessage, names string) (texts []string) {
	for name := range strings.FieldsSeq(names) {
		_, value := argument(input, name, n.Folds)
		texts = append(texts, listedTexts(value)...)
	}
	return texts
}

// listedTexts is textsIn of an argument, which may be a list as JSON text.
func listedTexts(v json.RawMessage) []string {
	if texts := textsIn(fromText(v)); len(texts) > 0 {
		return texts
	}
	return textsIn(v)
}

// textsIn returns the text that v is, the texts in its lists, and the paths of the
// objects in it.
func textsIn(v json.RawMessage) (texts []string) {
	switch kind(v) {
	case '"':
		if text := TextOf(v); text != "" {
			texts = append(texts, text)
		}
	case '[':
		var list []json.RawMessage
		_ = json.Unmarshal(v, &list) // what is no list has no elements
		for _, element := range list {
			texts = append(texts, textsIn(element)...)
		}
	case '{':
		for key, value := range rawjson.Members(v) {
			if isAlias(filePath, key) {
				texts = append(texts, textsIn(value)...)
			}
		}
	}
	return texts
}

// withFiles returns canonical input with the files that the call works on, and
// the texts of its edits: own is the same input as it came. Where the tool has them in one argument, that is
// enough. A member of these names that says something else goes.
func (n *ToolName) withFiles(canonical, own json.RawMessage) json.RawMessage {
	if n.Edits != "" {
		canonical = rawjson.With(canonical, n.editMembers(own)...)
	}
	if !n.severalFiles() || own == nil {
		return canonical
	}
	if kind(own) == '"' { // a patch that is no member of an object
		canonical = rawjson.With(nil, rawjson.Member{Key: "input", Value: own})
	}
	return setFiles(canonical, n.files(own), filePath)
}

// setFiles puts paths into input, an object, the one text under the member called
// name. Where name has the one path there is, nothing is missing.
func setFiles(input json.RawMessage, paths []string, name string) json.RawMessage {
	one, all := rawjson.Get(input, name), rawjson.Get(input, filePaths)
	switch {
	case len(paths) == 1 && all == nil && TextOf(one) == paths[0]:
		return input
	case len(paths) == 0 && all == nil && one == nil:
		return input // it is unknown, and nothing pretends to tell it
	}
	return rawjson.With(input, fileMembers(paths, name)...)
}

// fileMembers are the members that hold paths; null where there is none.
func fileMembers(paths []string, name string) []rawjson.Member {
	one, all := json.RawMessage("null"), json.RawMessage("null")
	if len(paths) > 0 {
		one = rawjson.Quote(strings.Join(paths, "\n"))
		all, _ = json.Marshal(paths) // texts
	}
	return []rawjson.Member{{Key: name, Value: one}, {Key: filePaths, Value: all}}
}

// WithFiles returns change, a hook's change of the canonical input of the tool
// that t's dialect calls own, with the files that it works on now, if it says.
func (t *Table) WithFiles(own string, change json.RawMessage) json.RawMessage {
	tool := t.tool(own)
	if tool == nil || !tool.severalFiles() {
		return change
	}
	if paths := tool.files(change); len(paths) > 0 {
		return setFiles(change, paths, filePath)
	}
	return change
}

// WithoutFiles returns canonical input of the tool that t's dialect calls own,
// without the files that stand beside its arguments.
func (t *Table) WithoutFiles(own string, input json.RawMessage) json.RawMessage {
	tool := t.tool(own)
	if tool == nil || !tool.severalFiles() || rawjson.Get(input, filePaths) == nil {
		return input
	}
	var members []rawjson.Member
	for key, value := range rawjson.Members(input) {
		if key != filePaths && key != filePath {
			members = append(members, rawjson.Member{Key: key, Value: value})
		}
	}
	return rawjson.With(nil, members...)
}

// editMembers are the texts that the edits of the call take away and put in.
func (n *ToolName) editMembers(input json.RawMessage) (members []rawjson.Member) {
	_, edits := argument(input, n.Edits, n.Folds)
	var list []json.RawMessage
	if edits = fromText(edits); json.Unmarshal(edits, &list) != nil {
		list = []json.RawMessage{edits}
	}
	for _, name := range []string{"old_string", "new_string"} {
		var texts []string
		for _, edit := range list {
			for key, value := range rawjson.Members(edit) {
				if isAlias(name, key) || key+"_string" == name {
					texts = append(texts, textsIn(value)...)
				}
			}
		}
		if len(texts) > 0 {
			members = append(members, rawjson.StringMember(name, strings.Join(texts, "\n")))
		}
	}
	return members
}

// OwnChange returns change, a hook's change of the input was of the tool that t's
// dialect calls own, without the members that the hook was given beside the arguments.
// If the hook has changed that, why says that the tool takes no such argument.
func (t *Table) OwnChange(own string, was, change json.RawMessage) (_ json.RawMessage, why string) {
	tool := t.tool(own)
	if tool == nil {
		return change, ""
	}
	if change = tool.inEachCase(was, change); !tool.severalFiles() && tool.Edits == "" {
		return change, ""
	}
	given := tool.besides(fromText(was), t.fileArgument(tool))
	var members []rawjson.Member
	for key, value := range rawjson.Members(change) {
		i := slices.IndexFunc(given, func(m rawjson.Member) bool { return m.Key == key })
		switch {
		case i < 0 || tool.takes(key) && compact(given[i].Value) != compact(value):
			members = append(members, rawjson.Member{Key: key, Value: value})
		case compact(given[i].Value) != compact(value):
			return change, "it changes " + key + " of " + own + ", which has that elsewhere in its arguments"
		}
	}
	return rawjson.With(json.RawMessage("{}"), members...), ""
}

// inEachCase returns change for each letter case that was has of a name in it,
// where the tool would take any of them.
func (n *ToolName) inEachCase(was, change json.RawMessage) json.RawMessage {
	if !n.Folds {
		return change
	}
	for name, value := range rawjson.Members(change) {
		for key := range rawjson.Members(was) {
			if key != name && strings.EqualFold(key, name) {
				change = rawjson.With(change, rawjson.Member{Key: key, Value: value})
			}
		}
	}
	return change
}

// besides are the members that a hook is given beside the arguments in input.
func (n *ToolName) besides(input json.RawMessage, name string) (members []rawjson.Member) {
	if n.Edits != "" {
		members = n.editMembers(input)
	}
	paths := n.files(input)
	if n.severalFiles() && string(setFiles(input, paths, name)) != string(input) {
		members = append(members, fileMembers(paths, name)...)
		members = append(members, fileMembers(paths, filePath)...)
	}
	return members
}

// takes reports whether the tool has an argument of its own called name.
func (n *ToolName) takes(name string) bool {
	return slices.ContainsFunc(n.pairs(), func(p pair) bool { return p.from == name })
}
