package verdict

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// The keys of an answer, docker-agent's, in snake_case; each counts in camelCase too, and in
// any letter case, as Go's decoder reads them.
const (
	keyContinue      = "continue"
	keyStopReason    = "stop_reason"
	keySuppress      = "suppress_output"
	keySystemMessage = "system_message"
	keyDecision      = "decision"
	keyReason        = "reason"
	keySpecific      = "hook_specific_output"

	keyEventName  = "hook_event_name"
	keyPermission = "permission_decision"
	keyPermReason = "permission_decision_reason"
	keyInput      = "updated_input"
	keyContext    = "additional_context"
	keyEntries    = "instruction_context"
	keySummary    = "summary"
	keyMessages   = "updated_messages"
	keyResponse   = "updated_tool_response"
	keyMetadata   = "metadata"
	keyProfile    = "profile" // of a contain

	keyToolOutput = "tool_output" // transform_tool_result only
)

// vocabulary is a set of keys with the spellings that count. They are made when something
// first looks for one: the bridge, which is started for each event, reads no answers.
type vocabulary struct {
	keys func() []string
	once sync.Once
	made spellings
}

type spellings struct {
	spelled map[string]string // snake_case and camelCase to snake_case
	folded  map[string]string // any letter case, without underscores
}

func (v *vocabulary) make() {
	v.made = spellings{make(map[string]string), make(map[string]string)}
	for _, k := range v.keys() {
		v.made.spelled[k], v.made.spelled[camel(k)], v.made.folded[foldKey(k)] = k, k, k
	}
}

// find returns the key that name stands for, and whether name spells it right.
func (v *vocabulary) find(name string) (key string, known, right bool) {
	v.once.Do(v.make)
	if key, right = v.made.spelled[name]; right {
		return key, true, true
	}
	key, known = v.made.folded[foldKey(name)]
	return key, known, false
}

// everyAgent are the keys of hook_specific_output that hookd says to each agent as well as
// it can be said there.
var everyAgent = []string{
	keyEventName, keyPermission, keyPermReason, keyInput, keyContext, keyEntries, keySummary, keyMessages,
	keyResponse, keyMetadata, keyProfile,
}

var (
	topKeys = &vocabulary{keys: func() []string {
		return []string{
			keyContinue, keyStopReason, keySuppress, keySystemMessage, keyDecision, keyReason, keySpecific, keyProfile,
		}
	}}
	specificKeys = &vocabulary{keys: func() []string { return everyAgent }}
	// insideKeys are also the keys that few agents read.
	insideKeys    = &vocabulary{keys: func() []string { return append(takeable(), everyAgent...) }}
	transformKeys = &vocabulary{keys: func() []string {
		return []string{keyToolOutput, keyResponse, keySpecific, keySystemMessage}
	}}
)

func foldKey(key string) string { return strings.ToLower(strings.ReplaceAll(key, "_", "")) }

// camel writes a snake_case key in camelCase.
func camel(key string) string {
	parts := strings.Split(key, "_")
	for i := 1; i < len(parts); i++ {
		parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
	}
	return strings.Join(parts, "")
}

// fields are the known keys of one object, by their snake_case name.
type fields struct {
	values  map[string]json.RawMessage
	unknown []string // keys that no answer has, or not in that spelling
	twice   []string // known keys given in more than one spelling
	err     error    // of the first value with a wrong type
}

// pick sorts an object's members into known and unknown ones. Where a key is
// given in two spellings, snake_case wins.
func pick(o object, known *vocabulary) *fields {
	f := &fields{values: make(map[string]json.RawMessage, len(o))}
	exact := make(map[string]bool, len(o))
	for _, m := range o {
		key, ok, right := known.find(m.key)
		if !right {
			f.unknown = append(f.unknown, m.key) // it may count, but not where spelling does
		}
		if !ok {
			continue
		}
		if _, again := f.values[key]; again {
			f.twice = append(f.twice, key)
		}
		if m.key == key || !exact[key] {
			f.values[key], exact[key] = m.value, m.key == key
		}
	}
	return f
}

// has reports whether key was given a value other than null.
func (f *fields) has(key string) bool { return !isNull(f.values[key]) }

// into decodes the value of key into target; absent and null leave it alone.
func (f *fields) into(key, want string, target any) {
	if !f.has(key) || f.err != nil {
		return
	}
	if err := json.Unmarshal(f.values[key], target); err != nil {
		f.err = fmt.Errorf("%s must be %s", key, want)
	}
}

func (f *fields) text(key string) (s string) {
	f.into(key, "a string", &s)
	return s
}

// object returns the members of key's value, nil if it was not given.
func (f *fields) object(key string) object {
	if !f.has(key) || f.err != nil {
		return nil
	}
	obj, err := parseObject(f.values[key])
	if err != nil {
		f.err = fmt.Errorf("%s must be an object", key)
	}
	return obj
}

// rewrite returns the value of key untouched, nil if it was not given.
func (f *fields) rewrite(key string) json.RawMessage {
	if !f.has(key) {
		return nil
	}
	return f.values[key]
}

// given lists the keys of hook_specific_output that the answer has, sorted.
func (f *fields) given() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(f.values)), func(k string) bool { return !f.has(k) })
}
