package neutral

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// canonicalArgs returns the arguments that a canonical tool acts on: the arguments that a
// guard looks at; "" = there is no such tool. Like its neighbours it is no map, which each
// start of a bridge would fill.
func canonicalArgs(tool string) string {
	switch tool {
	case "Bash":
		return "command"
	case "Read":
		return "file_path"
	case "Write":
		return "file_path content"
	case "Edit":
		return "file_path old_string new_string"
	case "NotebookEdit":
		return "notebook_path new_source"
	case "Glob", "Grep":
		return "pattern path"
	case "LS":
		return "path"
	case "WebFetch":
		return "url"
	case "WebSearch":
		return "query"
	case "Agent":
		return "prompt"
	}
	return ""
}

// canonicalTool returns the row of a tool that has its canonical name; nil =
// there is no such tool.
func canonicalTool(name string) *ToolName {
	if canonicalArgs(name) == "" {
		return nil
	}
	return &ToolName{Own: name, Canonical: name}
}

// pair ties two names of one argument.
type pair struct {
	from, to string
	list     bool // the tool's own argument is a list
	folds    bool // see ToolName.Folds
}

// pairs returns the arguments that the tool executes, from its own names to the
// canonical ones. "" on the left = it has none. The list is not to be changed: it is made once
// for each kind of tool, which takes as long as the rest of reading a call.
func (n *ToolName) pairs() []pair {
	kind := toolKind{n.Args, n.Canonical, n.Folds}
	if list, ok := pairsOf.Load(kind); ok {
		return list.([]pair)
	}
	list := n.parsedPairs()
	pairsOf.Store(kind, list)
	return list
}

// toolKind has the facts that pairs depend on: members of the rows of dialects, which
// are few.
type toolKind struct {
	args, canonical string
	folds           bool
}

var pairsOf sync.Map // of toolKind to []pair

func (n *ToolName) parsedPairs() []pair {
	list, told := parsePairs(n.Args), map[string]bool{}
	for _, p := range list {
		told[p.to] = true
	}
	for name := range strings.FieldsSeq(canonicalArgs(n.Canonical)) {
		if !told[name] {
			list = append(list, pair{from: name, to: name})
		}
	}
	for i := range list {
		list[i].folds = n.Folds
	}
	return list
}

func parsePairs(args string) (list []pair) {
	for field := range strings.FieldsSeq(args) {
		own, canonical, _ := strings.Cut(field, "=")
		own, isList := strings.CutSuffix(own, "[]")
		list = append(list, pair{from: own, to: canonical, list: isList})
	}
	return list
}

// canonical returns the input that the agent sent for the tool by its canonical
// arguments: under each stands the value that the tool executes, and nothing else.
func (n *ToolName) canonical(input json.RawMessage) json.RawMessage {
	return n.withFiles(n.canonicalArgs(input), input)
}

// canonicalArgs is canonical for the arguments alone.
func (n *ToolName) canonicalArgs(input json.RawMessage) json.RawMessage {
	if n.Canon != nil && input != nil {
		return n.Canon(renamed(input, parsePairs(n.Args), false))
	}
	return renamed(input, n.pairs(), false)
}

// native returns canonical input by the tool's own arguments.
func (n *ToolName) native(input json.RawMessage) json.RawMessage {
	return renamed(input, reversed(n.pairs()), true)
}

func reversed(pairs []pair) []pair {
	back := make([]pair, len(pairs))
	for i, p := range pairs {
		back[i] = pair{from: p.to, to: p.from, list: p.list}
	}
	return back
}

// renamed returns object with the members that pairs name under their new names. Whatever else has a name by which a
// hook could look for one of them, in any letter case, goes: it would be taken for an executed argument. A canonical
// object has no aliases left: back looks at the tool's own names only. An object without any of the arguments stays
// whole: it is unknown which member would be executed, so nothing is hidden.
func renamed(object json.RawMessage, pairs []pair, back bool) json.RawMessage {
	form := unlisted
	if back {
		form = listed
	}
	moved := map[string]rawjson.Member{} // by the name that it has in object
	taken := map[string]bool{}           // new names
	for _, p := range pairs {
		if p.from == "" || p.to == "" || taken[p.to] {
			continue
		}
		key, v := argument(object, p.from, p.folds)
		if _, placed := moved[key]; v != nil && !placed { // of several names for it the tool takes the first
			moved[key], taken[p.to] = rawjson.Member{Key: p.to, Value: form(p, v)}, true
		}
	}
	if len(moved) == 0 {
		return object
	}
	var members []rawjson.Member
	changed := false
	for key, value := range rawjson.Members(object) {
		m, ok := moved[key]
		switch {
		case ok:
			changed = changed || m.Key != key || string(m.Value) != string(value)
		case standsFor(pairs, taken, key, !back):
			changed = true
			continue
		default:
			m = rawjson.Member{Key: key, Value: value}
		}
		members = append(members, m)
	}
	if !changed {
		return object
	}
	return rawjson.With(nil, members...)
}

// argument finds a tool's argument: the member called name, else a member so called in
// another letter case, as agents written in Go take it; where it folds, the last of all
// these members. A value comes before null.
func argument(object json.RawMessage, name string, folds bool) (key string, value json.RawMessage) {
	exact := rawjson.Get(object, name)
	if known(exact) != nil && !folds {
		return name, exact
	}
	for k, v := range rawjson.Members(object) {
		if strings.EqualFold(k, name) && known(v) != nil {
			key, value = k, v
		}
	}
	if value == nil && exact != nil {
		return name, exact
	}
	return key, value
}

// standsFor reports whether a member called key would be taken for one of the arguments
// that the call has, or for an argument that its tool has not.
func standsFor(pairs []pair, taken map[string]bool, key string, alias bool) bool {
	for _, p := range pairs {
		if !taken[p.to] && p.from != "" {
			continue
		}
		if strings.EqualFold(p.to, key) || strings.EqualFold(p.from, key) || alias && isAlias(p.to, key) {
			return true
		}
	}
	return false
}

// aliases returns the names that tools have for a canonical argument, as folded
// has them: a hook for several agents looks at more than one of them.
func aliases(argument string) string {
	switch argument {
	case "command":
		return "command commands cmd cmds commandline commandlines shellcommand"
	case "file_path":
		return "filepath path file filename absolutepath targetfile"
	case "content":
		return "content contents filetext codecontent"
	case "old_string":
		return "oldstring oldstr oldtext targetcontent"
	case "new_string":
		return "newstring newstr newtext replacementcontent"
	case "pattern":
		return "pattern regex query"
	case "path":
		return "path dirpath directorypath searchpath"
	case "url":
		return "url urls"
	}
	return ""
}

func isAlias(canonical, key string) bool {
	list := aliases(canonical)
	return list != "" && holds(list, folded(key))
}

// folded is a name without its letter case and underscores.
func folded(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// unlisted returns a list of arguments as one argument: the lines of several commands,
// or the one element. Several values of another kind stay a list.
func unlisted(p pair, v json.RawMessage) json.RawMessage {
	if !p.list {
		return v
	}
	var list []json.RawMessage
	if json.Unmarshal(fromText(v), &list) != nil {
		return v
	}
	if len(list) == 1 {
		return list[0]
	}
	if p.to != "command" {
		return v
	}
	var lines []string
	for _, line := range list {
		text := TextOf(line)
		if text == "" && string(line) != `""` {
			return v
		}
		lines = append(lines, text)
	}
	return rawjson.Quote(strings.Join(lines, "\n"))
}

// listed undoes unlisted.
func listed(p pair, v json.RawMessage) json.RawMessage {
	if p.list && kind(v) != '[' && known(v) != nil {
		return append(append(json.RawMessage("["), v...), ']')
	}
	return v
}
