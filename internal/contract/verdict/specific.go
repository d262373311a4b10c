package verdict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/hookd/hookd/internal/events"
)

// The keys of hook_specific_output that few agents read and that mean more than their
// value.
var (
	keyAction  = events.TakesAction.Name
	keyContent = events.TakesContent.Name
	keyDefer   = events.TakesDefer.Name
)

// takeable are the keys of events.Takeable that a hook writes; defer is a word of
// permission_decision instead.
func takeable() (keys []string) {
	for _, f := range events.Takeable() {
		if f.Name != keyDefer {
			keys = append(keys, f.Name)
		}
	}
	return keys
}

// decodeTaken reads the keys that few agents read. They guard nothing, so a value of
// another type is left out, with a warning.
func (a *Answer) decodeTaken(f *fields, defers bool) {
	for _, field := range events.Takeable() {
		switch {
		case !f.has(field.Name):
		case !isOf(field.Type, f.values[field.Name]):
			a.warn(fmt.Sprintf("%s was ignored: it must be of type %s", field.Name, field.Type))
		default:
			a.specify(field.Name, f.values[field.Name])
		}
	}
	if defers && a.PermissionDecision == "ask" {
		a.specify(keyDefer, json.RawMessage("true"))
	}
}

func (a *Answer) specify(key string, value json.RawMessage) {
	if a.Specific == nil {
		a.Specific = map[string]json.RawMessage{}
	}
	a.Specific[key] = value
}

// isOf reports whether value has the JSON type t; a list must be one of strings.
func isOf(t events.Type, value json.RawMessage) bool {
	switch t {
	case events.String:
		return value[0] == '"'
	case events.Boolean:
		return value[0] == 't' || value[0] == 'f'
	case events.Object:
		return value[0] == '{'
	case events.Array:
		var list []string
		return json.Unmarshal(value, &list) == nil
	}
	return true
}

// warnSpecific warns of keys that the event does not take. A defer needs no warning: it
// asks where it is not taken.
func (a *Answer) warnSpecific(c *events.Contract) {
	for _, key := range slices.Sorted(maps.Keys(a.Specific)) {
		if key != keyDefer && !c.TakesKey(key) && (key != keyAction || !a.Blocked) {
			a.warn(fmt.Sprintf("%s was ignored: %s takes none", key, c.Name))
		}
	}
	if a.Specific[keyContent] != nil && a.Specific[keyAction] == nil && c.TakesKey(keyContent) {
		a.warn("content was ignored: it needs the action accept beside it")
	}
}

// specific folds the keys that the event takes, and reports whether the answer has one
// of them.
func (f *folding) specific(a *Answer) (gave bool) {
	for _, field := range f.c.Takes {
		value := a.Specific[field.Name]
		switch {
		case field.Name == keyAction:
			gave = f.elicited(a) || gave
			continue
		case value == nil, field.Name == keyContent:
			continue
		case field.Type == events.Array:
			value = union(f.v.Specific[field.Name], value)
		case field.Type == events.Boolean && value[0] == 'f':
			continue
		}
		f.specify(field.Name, value)
		gave = true
	}
	return gave
}

func (f *folding) specify(key string, value json.RawMessage) {
	if f.v.Specific == nil {
		f.v.Specific = map[string]json.RawMessage{}
	}
	f.v.Specific[key] = value
}

// actions orders the answers to an MCP server's question: the strictest wins.
func actions(answer json.RawMessage) int {
	switch string(answer) {
	case `"accept"`:
		return 1
	case `"cancel"`:
		return 2
	case `"decline"`:
		return 3
	}
	return 0
}

// elicited folds the answer to an MCP server's question. Of several the strictest wins,
// of equal ones the last, and only its own content goes with it.
func (f *folding) elicited(a *Answer) bool {
	action := a.Specific[keyAction]
	if actions(action) < max(1, actions(f.v.Specific[keyAction])) {
		return false
	}
	f.specify(keyAction, action)
	delete(f.v.Specific, keyContent)
	if content := a.Specific[keyContent]; content != nil && string(action) == `"accept"` {
		f.specify(keyContent, content)
	}
	return true
}

// dropDefer takes a defer out of a verdict that does not ask: the stricter or the
// looser word of another hook counts.
func dropDefer(v *Verdict) {
	if v.Specific[keyDefer] == nil || v.Asks() {
		return
	}
	if v.Specific = maps.Clone(v.Specific); len(v.Specific) == 1 {
		v.Specific = nil
	}
	delete(v.Specific, keyDefer)
}

// union returns the strings of two lists, each once, in their order.
func union(first, next json.RawMessage) json.RawMessage {
	var one, two []string
	_ = json.Unmarshal(first, &one) // both were checked when they were read
	_ = json.Unmarshal(next, &two)  // as well
	text, _ := json.Marshal(Unique(slices.Concat(one, two)))
	if bytes.Equal(text, []byte("null")) {
		return json.RawMessage("[]")
	}
	return text
}

// specificOfBoth returns the keys of both lanes; of a key that both set the later
// counts.
func specificOfBoth(first, next map[string]json.RawMessage) map[string]json.RawMessage {
	if len(first) == 0 {
		return next
	}
	both := maps.Clone(first)
	maps.Copy(both, next)
	return both
}
