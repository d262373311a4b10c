// Package when holds the conditions of a hook's `when` against an event. It is pure but
// for Links, which it is given, and never fails: in doubt a condition fits, because a
// hook that runs once too often costs a moment, and a guard that does not run lets a
// call pass.
//
// It does not know the calls that the hook looks for: a condition that leaves out calls that the
// hook would have denied is a mistake of its author.
package when

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// Links finds where a path leads. It must return soon, whatever the file system does.
type Links interface {
	// Real returns an absolute path without links, of a file that need not exist; ok is
	// false where that is not known.
	Real(path string) (real string, ok bool)
}

// Facts are the parts of one event that conditions look at. They are found when a condition
// first asks for them, and shared by all hooks of the event. Not safe for concurrent
// use.
type Facts struct {
	event *events.Event
	links Links

	call  *neutral.ToolCall
	read  *facts.Facts // of the call; nil = not read yet
	files *[]string    // see paths
}

// New returns the facts of e. Without links, any path may be a link.
func New(e *events.Event, links Links) *Facts { return &Facts{event: e, links: links} }

// Unfit says in words why none of a hook's conditions fits the event, which it is given
// under the name given; "" = one fits, or there is none.
func (f *Facts) Unfit(conditions []hook.Condition, given string) string {
	if len(conditions) == 0 || rawjson.Ambiguous(f.event.Data) || rawjson.Ambiguous(f.callOf().Given) {
		return ""
	}
	var why []string
	for i := range conditions {
		unfit := f.unfit(&conditions[i], given)
		if unfit == "" {
			return ""
		}
		at := "when"
		if len(conditions) > 1 {
			at += "[" + strconv.Itoa(i) + "]"
		}
		why = append(why, at+": "+unfit)
	}
	return strings.Join(why, "; ")
}

// Fitted names the event's parts that a hook's first fitting condition is about, or says why
// it may fit; "" = none fits, or there is none.
func (f *Facts) Fitted(conditions []hook.Condition, given string) string {
	if len(conditions) == 0 {
		return ""
	}
	if rawjson.Ambiguous(f.event.Data) || rawjson.Ambiguous(f.callOf().Given) {
		return "in doubt: the event has a member twice"
	}
	for i := range conditions {
		if c := &conditions[i]; f.unfit(c, given) == "" {
			return strings.Join(f.fitted(c), ", ")
		}
	}
	return ""
}

// fitted names, for each member of a condition that fits, the part that the member has found.
func (f *Facts) fitted(c *hook.Condition) (found []string) {
	if len(c.Tools) > 0 {
		found = append(found, "tool "+cmp.Or(f.callOf().Own, f.callOf().Tool, "unknown"))
	}
	if len(c.Prompts) > 0 {
		found = append(found, "prompt")
	}
	for _, p := range c.Data {
		found = append(found, "data."+strings.Join(p.Path, "."))
	}
	if len(c.Commands) > 0 {
		found = append(found, f.fittedCommand(c.Commands))
	}
	if len(c.Paths) > 0 {
		found = append(found, f.fittedPath(c.Paths))
	}
	return found
}

// unfit says which member of a condition does not fit, the cheapest first; "" = all do.
func (f *Facts) unfit(c *hook.Condition, given string) string {
	switch {
	case len(c.Tools) > 0 && !f.fitsTool(c.Tools):
		return f.about("tool", pattern.Texts(c.Tools), "is not tool "+strconv.Quote(f.callOf().Own))
	case len(c.Prompts) > 0 && !f.fitsPrompt(c):
		return "prompt is not in what was typed"
	case len(c.Data) > 0:
		for _, p := range c.Data {
			if !f.fitsData(p, given) {
				return "data." + strings.Join(p.Path, ".") + " " + list(pattern.Texts(p.Patterns)) + " does not match"
			}
		}
	}
	if len(c.Commands) > 0 && !f.fitsCommand(c.Commands) {
		var names []string
		for _, p := range c.Commands {
			names = append(names, p.Text)
		}
		return f.about("command", names, "is not in the line")
	}
	if len(c.Paths) > 0 && !f.fitsPath(c.Paths) {
		return f.about("path", pattern.Texts(c.Paths), "does not match the file")
	}
	return ""
}

// about says which part of a tool call does not fit.
func (f *Facts) about(member string, wanted []string, why string) string {
	switch call := f.callOf(); {
	case call.Own == "" && call.Tool == "":
		why = "does not fit: the event has no tool"
	case member == "command" && (f.read == nil || len(f.read.Commands) == 0):
		why = fmt.Sprintf("does not fit: tool %q runs no command", call.Own)
	case member == "path" && f.files != nil && len(*f.files) > 0:
		why = fmt.Sprintf("does not match %q", (*f.files)[0])
	}
	return member + " " + list(wanted) + " " + why
}

func list(texts []string) string {
	if len(texts) > 3 {
		texts = append(slices.Clone(texts[:3]), fmt.Sprintf("%d more", len(texts)-3))
	}
	return strings.Join(texts, ", ")
}

func (f *Facts) callOf() *neutral.ToolCall {
	if f.call == nil {
		call := dialect.Call(f.event)
		f.call = &call
	}
	return f.call
}

// hasTool reports whether the event is about a tool call. An event that must be and names
// none may be about any.
func (f *Facts) hasTool() (has, unsure bool) {
	call := f.callOf()
	if call.Own != "" || call.Tool != "" {
		return true, false
	}
	switch f.event.Contract.Kind {
	case events.KindToolBefore, events.KindToolAfter, events.KindToolTransform, events.KindPermissionRequest:
		return false, true
	}
	return false, f.event.Contract.ToolMatched
}

func (f *Facts) fitsTool(patterns []pattern.Fold) bool {
	has, unsure := f.hasTool()
	if !has {
		return unsure
	}
	call := f.callOf()
	return pattern.MatchAny(patterns, call.Own, call.Tool) || pattern.MatchAny(patterns, dialect.ToolNames(f.event)...)
}

// most is how much of a text is held against a pattern: a longer text fits.
const (
	mostPrompt = 1 << 20
	mostValue  = 64 << 10
)

func (f *Facts) fitsPrompt(c *hook.Condition) bool {
	raw, known := dialect.Facts(f.event)[neutral.Prompt]
	if !known {
		raw = rawjson.Get(f.event.Data, "prompt")
	}
	if raw == nil {
		return f.event.Contract.Kind == events.KindPromptSubmit
	}
	text, isText := rawjson.Text(raw)
	if !isText || len(text) > mostPrompt {
		return true
	}
	return slices.ContainsFunc(c.Prompts, func(re *regexp.Regexp) bool { return re.MatchString(text) })
}

// fitsData looks into the data as it was emitted, and as the hook is given it.
func (f *Facts) fitsData(p hook.DataPattern, given string) bool {
	if fitsValue(f.event.Data, p.Path, p.Patterns) {
		return true
	}
	payload := dialect.Payload(f.event, given, nil)
	return fitsValue(payload, p.Path, p.Patterns)
}

// fitsValue reports whether a pattern matches the value under path in v: a text, the
// JSON of another value, or any element of a list.
func fitsValue(v json.RawMessage, path []string, patterns []pattern.Fold) bool {
	if len(v) > 0 && v[0] == '[' {
		var elements []json.RawMessage
		if json.Unmarshal(v, &elements) != nil {
			return true
		}
		for i, element := range elements {
			rest := path
			if len(path) > 0 && path[0] == strconv.Itoa(i) {
				rest = path[1:]
			}
			if fitsValue(element, rest, patterns) {
				return true
			}
		}
		return false
	}
	if len(path) > 0 {
		for key, value := range rawjson.Members(v) {
			if key == path[0] && fitsValue(value, path[1:], patterns) {
				return true
			}
		}
		return false
	}
	text, isText := rawjson.Text(v)
	if !isText {
		text = string(v)
	}
	return len(v) > 0 && string(v) != "null" && (len(text) > mostValue || pattern.MatchAny(patterns, text))
}
