package connect

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// format reads and edits one file format. Texts have no byte order mark.
type format interface {
	// parse returns the text as map[string]any, []any, string, bool and
	// numbers; an empty text is an empty map.
	parse(text []byte) (map[string]any, error)
	// add inserts leaves and touches nothing else.
	add(text []byte, leaves []leaf) ([]byte, error)
	// remove cuts out the agent's calls that ours picks, and the containers
	// that hold nothing afterwards unless keep names them.
	remove(text []byte, a *agent, ours func(call) bool, keep func(path []string) bool) ([]byte, error)
}

type (
	// leaf is something to insert. Objects and lists on the way are made. Its value is a string, int, bool,
	// []member, or a list of []member.
	leaf = neutral.Leaf
	// member is one member of an object that is to be written.
	member = neutral.Setting
)

// registration is one call of the bridge in a settings file.
type registration struct {
	path  []string // the object of the hooks by event
	event string
	call  call
	only  string // tools that the event is registered for, as the agent writes it; "" = all
	loose string // why the agent does not wait for each answer; "" = it does
}

// FileError is a file that cannot be edited. Line and Column are 1-based; 0 is
// unknown.
type FileError struct {
	Path         string
	Line, Column int
	Err          error
}

func (e *FileError) Error() string {
	where := e.Path
	if e.Line > 0 {
		where += fmt.Sprintf(":%d:%d", e.Line, e.Column)
	}
	return where + ": " + e.Err.Error()
}

func (e *FileError) Unwrap() error { return e.Err }

// whereError is an error of a format, at a place of the text.
type whereError struct {
	line, column int
	err          error
}

func (e *whereError) Error() string { return fmt.Sprintf("%d:%d: %v", e.line, e.column, e.err) }

// at returns an error at an offset of text.
func at(text []byte, offset int, format string, args ...any) error {
	before := text[:min(max(offset, 0), len(text))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(bytes.Runes(before[bytes.LastIndexByte(before, '\n')+1:])) + 1
	return &whereError{line, column, fmt.Errorf(format, args...)}
}

func (a *agent) parse(path string, text []byte) (map[string]any, error) {
	tree, err := a.format.parse(text)
	if err != nil {
		return nil, (&target{path: path}).at(err)
	}
	return tree, nil
}

// registered lists our calls in a text.
func (a *agent) registered(path string, text []byte) ([]registration, error) {
	tree, err := a.parse(path, text)
	if err != nil {
		return nil, err
	}
	return a.hooksIn(tree), nil
}

// containers are the paths of the objects of hooks by event, in order.
func (a *agent) containers(tree map[string]any) [][]string {
	i := slices.Index(a.At, "*")
	if i < 0 {
		return [][]string{a.At}
	}
	var paths [][]string
	some, _ := neutral.Value(tree, a.At[:i]...).(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(some)) {
		paths = append(paths, slices.Concat(a.At[:i], []string{key}, a.At[i+1:]))
	}
	return paths
}

// hooksIn lists our calls in a tree.
func (a *agent) hooksIn(tree map[string]any) (all []registration) {
	for _, path := range a.containers(tree) {
		switch c := neutral.Value(tree, path...).(type) {
		case []any: // of a byEvent list
			for _, item := range c {
				event, _ := neutral.Value(item, "event").(string)
				all = append(all, a.callsIn(path, event, item)...)
			}
		case map[string]any:
			for _, event := range slices.Sorted(maps.Keys(c)) {
				list, _ := c[event].([]any)
				for _, item := range list {
					all = append(all, a.callsIn(path, event, item)...)
				}
			}
		}
	}
	return all
}

// callsIn lists our calls in one item: a handler, or a group of them.
func (a *agent) callsIn(path []string, event string, item any) (all []registration) {
	m, _ := item.(map[string]any)
	if c, ok := a.callIn(m); ok {
		return []registration{{path, event, c, onlyFor(m), a.loose(m, m)}}
	}
	handlers, _ := m["hooks"].([]any)
	for _, h := range handlers {
		inner, _ := h.(map[string]any)
		if c, ok := a.callIn(inner); ok {
			all = append(all, registration{path, event, c, onlyFor(m), a.loose(m, inner)})
		}
	}
	return all
}

// onlyFor returns the matcher of a group or handler; "" where it takes each tool.
func onlyFor(group map[string]any) string {
	matcher, _ := group["matcher"].(string)
	if matcher == "*" || matcher == ".*" {
		return ""
	}
	return matcher
}

// looseKeys are members of a group or handler with which an agent leaves it out, or goes on without its answer, and
// the values that do so.
var looseKeys = []struct {
	key  string
	does func(v any) bool
}{
	{"if", func(v any) bool { return v != nil && v != "" }},
	{"async", isTrue}, {"asyncRewake", isTrue}, {"once", isTrue}, {"disabled", isTrue},
	{"enabled", func(v any) bool { return v == false }},
}

func isTrue(v any) bool { return v == true }

// loose says why an agent does not wait for each answer of a handler in a group; "" = it does.
func (a *agent) loose(group, handler map[string]any) string {
	for _, m := range []map[string]any{group, handler} {
		for _, k := range looseKeys {
			if v := m[k.key]; k.does(v) {
				return fmt.Sprintf("with `%s: %s`", k.key, oneLine(v))
			}
		}
	}
	for _, m := range a.Lead {
		_, posts := handler["url"]
		if v, is := handler[m.Key]; is && v != m.Value && !posts {
			return fmt.Sprintf("with `%s: %s`", m.Key, oneLine(v))
		}
	}
	if only := onlyFor(group); only != "" {
		return "for " + oneLine(only) + " alone"
	}
	return ""
}

func (a *agent) callIn(handler map[string]any) (call, bool) {
	if url, ok := handler["url"].(string); ok && a.Posts != nil {
		token, _ := neutral.Value(handler, "headers", "Authorization").(string)
		return postOf(url, strings.TrimPrefix(token, "Bearer "), string(a.name))
	}
	line, _ := handler[a.Keys.Command].(string)
	c, ours := callOf(line, string(a.name))
	if units, err := strconv.ParseFloat(fmt.Sprint(handler[a.Keys.Timeout]), 64); err == nil {
		c.deadline = time.Duration(units * float64(a.Unit))
	}
	return c, ours
}

// holds reports whether a tree has something at path.
func holds(tree map[string]any, path []string) bool {
	parent, _ := neutral.Value(tree, path[:len(path)-1]...).(map[string]any)
	_, ok := parent[path[len(path)-1]]
	return ok
}

// without returns a copy of a tree without our calls and without the objects and lists that
// are empty then. It serves to compare the rest, which is not ours.
func (a *agent) without(tree map[string]any) map[string]any {
	clean, _ := a.pruned(tree).(map[string]any)
	for _, l := range a.Beside {
		parent, _ := neutral.Value(clean, l.Path...).(map[string]any)
		if fmt.Sprint(parent[l.Key]) == fmt.Sprint(l.Value) {
			delete(parent, l.Key)
		}
	}
	clean, _ = a.pruned(clean).(map[string]any)
	return clean
}

// hasBeside reports whether connect puts a member of that key beside the hooks,
// at the top of a file.
func (a *agent) hasBeside(key string) bool {
	return slices.ContainsFunc(a.Beside, func(l leaf) bool { return len(l.Path) == 0 && l.Key == key })
}

// pruned drops calls of the bridge and empty objects and lists, everywhere.
func (a *agent) pruned(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if _, ours := a.callIn(v); ours {
			return nil
		}
		m := map[string]any{}
		for key, inner := range v {
			if kept := a.pruned(inner); kept != nil {
				m[key] = kept
			}
		}
		if len(m) == 0 {
			return nil
		}
		return m
	case []any:
		var list []any
		for _, inner := range v {
			if kept := a.pruned(inner); kept != nil && !a.hasOnlyMatcher(inner) {
				list = append(list, kept)
			}
		}
		if len(list) == 0 {
			return nil
		}
		return list
	}
	return v
}

// hasOnlyMatcher reports whether nothing but its matcher remains of a group.
func (a *agent) hasOnlyMatcher(item any) bool {
	group, _ := item.(map[string]any)
	hooks, ok := group["hooks"].([]any)
	return ok && len(hooks) > 0 && a.pruned(hooks) == nil
}

// errUnsure is an edit that would have changed more than our hooks.
var errUnsure = errors.New("it cannot be edited without touching what is not hookd's; edit it by hand")

// check compares the tree of a text with its edited version: it calls the
// bridge for every event, once, and differs in nothing else.
func (t *target) check(before map[string]any, edited []byte, all bool) error {
	after, err := t.agent.format.parse(edited)
	if err != nil || !reflect.DeepEqual(t.agent.without(before), t.agent.without(after)) {
		return t.at(errUnsure)
	}
	have := t.agent.hooksIn(after)
	for _, path := range t.agent.containers(after) {
		for _, event := range t.agent.events(all) {
			if _, missing := t.call(have, path, event); missing {
				return t.at(errUnsure)
			}
		}
	}
	return nil
}

// checkWithout is check for a text that our hooks were taken out of.
func (t *target) checkWithout(before map[string]any, edited []byte) error {
	after, err := t.agent.format.parse(edited)
	if err != nil || len(t.agent.hooksIn(after)) > 0 ||
		!reflect.DeepEqual(t.agent.without(before), t.agent.without(after)) {
		return t.at(errUnsure)
	}
	return nil
}

// bare reports whether a text holds nothing but the members that connect puts beside hooks.
func (a *agent) bare(text []byte) bool {
	tree, err := a.format.parse(text)
	return err == nil && len(a.without(tree)) == 0
}
