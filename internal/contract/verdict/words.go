package verdict

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// Word is a dialect's word in a hook's answer for a meaning that the common words spell
// otherwise. Spelling is as free as that of the common keys: snake_case, camelCase, any
// letter case.
type Word struct {
	Key    string // in snake_case; a dot leads into an object: "hook_specific_output.tool_input"
	Means  string // the common key that it stands for; "" = it is known and says nothing to hookd
	Says   string // "own=common" of its values, separated by blanks; "*" is any value. "" = the value as it is
	Events string // the events that it counts for, separated by blanks; "" = all
	Texts  string // the value is a list of objects, whose texts under these keys, separated by blanks, count
}

// commonWords are Claude Code's and Codex's beyond docker-agent's: these three
// speak one language, which every hook may use. Denials on the wrong level are
// among them: its author wants the call stopped, and a guard must not fail
// for a matter of nesting.
var commonWords = []Word{
	{Key: "hook_specific_output.decision.behavior", Means: keyPermission, Says: "allow=allow deny=deny"},
	{Key: "hook_specific_output.decision.message", Means: keyPermReason},
	{Key: "hook_specific_output.decision.updated_input", Means: keyInput},
	{Key: "hook_specific_output.decision.interrupt", Means: keyContinue, Says: "true=false false="},
	{Key: "hook_specific_output.permission_decision", Means: keyPermission, Says: "defer=ask"},
	{Key: "hook_specific_output.updated_tool_output", Means: keyResponse},
	{Key: "hook_specific_output.updated_mcp_tool_output", Means: keyResponse},
	{Key: "hook_specific_output.decision", Means: keyDecision, Says: "block=block deny=block allow= approve="},
	{Key: "hook_specific_output.continue", Means: keyContinue, Says: "false=false true="},
	{Key: keyPermission, Means: keyPermission, Says: "deny=deny ask=ask defer=ask contain=contain allow="}, // no allow
	{Key: keyPermReason, Means: keyPermReason},
	{Key: "terminal_sequence"}, {Key: "async"}, {Key: "async_timeout"}, // what agents read and hooks may print
	{Key: "hook_specific_output.classifier_context"}, {Key: "hook_specific_output.display_content"},
	{Key: "hook_specific_output.worktree_path"},
	{Key: "hook_specific_output.action", Means: keyDecision, Says: "decline=block cancel=block accept="},
}

// denials are the words by which agents say no or ask. In an answer whose
// dialect does not have them they were meant for another agent.
var denials = &vocabulary{keys: func() []string {
	return []string{"permission", "cancel", "action", "block", "behavior", "require_approval"}
}}

// heard holds the understood parts of an answer's object.
type heard struct {
	top, inner *fields
	own        map[string]bool // paths in the object that a dialect's word explains, folded
	values     map[string]bool // those of them that said something
	unread     map[string]string
	objects    map[string]map[string]json.RawMessage // the answer's, by path and folded key
}

// hear reads the words of a dialect, then the common ones, out of o. A key that both
// give is settled by the stricter.
func hear(o object, dialect []Word, top, inner *fields) (*heard, error) {
	h := &heard{top: top, inner: inner, own: map[string]bool{}, values: map[string]bool{}, unread: map[string]string{},
		objects: map[string]map[string]json.RawMessage{"": byFolded(o)}}
	for _, w := range slices.Concat(dialect, commonWords) {
		path := foldKey(w.Key)
		value := h.at(path)
		if value == nil {
			continue
		}
		for i, c := range path { // what leads to a known value is known
			if c == '.' {
				h.own[path[:i]] = true
			}
		}
		h.own[path] = true
		if err := h.word(w, path, value); err != nil {
			return h, err
		}
	}
	for path, why := range h.unread {
		if !h.values[path] {
			return h, fmt.Errorf("invalid %s", why)
		}
	}
	return h, nil
}

// at returns the value at a path of folded keys, nil where there is none or
// null.
func (h *heard) at(path string) json.RawMessage {
	outer, key := "", path
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		outer, key = path[:i], path[i+1:]
	}
	if h.objects[outer] == nil {
		h.objects[outer] = byFolded(objectIn(h.at(outer)))
	}
	return h.objects[outer][key]
}

// byFolded returns the values of an object, but null, by their folded keys.
func byFolded(o object) map[string]json.RawMessage {
	values := make(map[string]json.RawMessage, len(o))
	for _, m := range o {
		if !isNull(m.value) {
			values[foldKey(m.key)] = m.value
		}
	}
	return values
}

// word takes the value of one word.
func (h *heard) word(w Word, path string, value json.RawMessage) error {
	switch {
	case w.Means == "" && w.Says == "":
		h.values[path] = true
		return nil
	case w.Texts != "":
		value = rawjson.Quote(texts(value, strings.Fields(w.Texts)))
	case w.Says != "":
		said, ok := translated(value, w.Says)
		if !ok {
			if !readElsewhere(w.Key, value) { // another word may still know the value
				h.unread[path] = fmt.Sprintf("%s %s", w.Key, value)
			}
			return nil
		}
		h.values[path] = true
		h.forget(w, path)
		if said == "" {
			return nil
		}
		if value = rawjson.Quote(said); w.Means == keyContinue {
			value = json.RawMessage(said)
		}
	}
	h.values[path] = true
	target := h.inner
	if _, _, is := topKeys.find(w.Means); is {
		target = h.top
	}
	target.values[w.Means] = stricter(w.Means, target.values[w.Means], value)
	return nil
}

// readElsewhere reports whether the common language reads the value of a key, and
// finds fault with it.
func readElsewhere(key string, value json.RawMessage) bool {
	inside, nested := strings.CutPrefix(key, keySpecific+".")
	if !nested {
		_, common, _ := topKeys.find(key)
		return common
	}
	_, common, _ := specificKeys.find(inside)
	return common || inside == keyDecision && value[0] == '{'
}

// forget drops the meaning that the common language would read out of a key that a
// dialect uses for something else.
func (h *heard) forget(w Word, path string) {
	key, isTop, _ := topKeys.find(path)
	if isTop && key != w.Means {
		delete(h.top.values, key)
	}
	if strings.HasSuffix(path, "."+foldKey(keyPermission)) {
		delete(h.inner.values, keyPermission)
	}
}

// strictness orders the values that decide, as JSON.
func strictness(value json.RawMessage) int {
	switch text := string(value); text {
	case `"block"`, "false":
		return rank("deny")
	default:
		return rank(strings.Trim(text, `"`))
	}
}

// stricter returns the value of a key that was given twice: the stricter decision, both
// of two reasons, else the value of the dialect's words.
func stricter(key string, was, is json.RawMessage) json.RawMessage {
	switch {
	case isNull(was):
	case key == keyPermission, key == keyDecision, key == keyContinue:
		if strictness(was) > strictness(is) {
			return was
		}
	case key == keyReason, key == keyPermReason, key == keyContext:
		var one, two string
		if json.Unmarshal(was, &one) == nil && json.Unmarshal(is, &two) == nil && one != two {
			return rawjson.Quote(join(one, two))
		}
	}
	return is
}

// translated returns the meaning of a value, "" for none; ok reports whether it is one
// of the words.
func translated(value json.RawMessage, says string) (said string, ok bool) {
	text := string(value)
	if value[0] == '"' {
		if json.Unmarshal(value, &text) != nil {
			return "", false
		}
	}
	for _, pair := range strings.Fields(says) {
		if own, common, _ := strings.Cut(pair, "="); own == text || own == "*" && text != "" && text != "false" {
			return common, true
		}
	}
	return "", false
}

// texts joins the texts that stand under keys in a list of objects.
func texts(list json.RawMessage, keys []string) string {
	var items []map[string]json.RawMessage
	_ = json.Unmarshal(list, &items) // anything else has no texts
	var found []string
	for _, item := range items {
		for _, key := range keys {
			var text string
			if json.Unmarshal(item[key], &text) == nil {
				found = append(found, text)
			}
		}
	}
	return join(found...)
}

// explains reports whether a key says why, and nothing else.
func explains(key string) bool {
	switch key {
	case keyReason, keyStopReason, keyPermReason, keyEventName, keySpecific:
		return true
	}
	return false
}

// silent returns the first unknown key, of an answer without a key
// that says something; "" = it says something, or has nothing to say.
func (h *heard) silent(o object) (unknown string) {
	said := false
	look := func(o object, path string, keys, others *vocabulary) {
		for _, m := range o {
			folded := foldKey(m.key)
			key, known, _ := keys.find(m.key)
			_, misplaced, _ := others.find(m.key)
			switch _, denial, _ := denials.find(m.key); {
			case known && !explains(key), h.values[path+folded], misplaced:
				said = true
			case known, h.own[path+folded]:
			case denial && path == "":
				unknown, said = m.key, false
				return
			case unknown == "":
				unknown = m.key
			}
		}
	}
	for _, m := range o {
		if key, _, _ := topKeys.find(m.key); key == keySpecific {
			look(objectIn(m.value), foldKey(keySpecific)+".", insideKeys, topKeys)
		}
	}
	if look(o, "", topKeys, specificKeys); said {
		return ""
	}
	return unknown
}
