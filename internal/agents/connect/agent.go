package connect

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// agent is one agent that connect knows: its settings as its dialect says, and
// the parts that edit them.
type agent struct {
	neutral.Settings
	name events.Dialect

	format format
	files  hookFiles // for agents whose hooks are files
}

// agents are all agents that have settings, sorted by name.
func agents() (list []*agent) {
	for _, d := range events.Dialects() {
		if a := find(string(d)); a != nil {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b *agent) int { return strings.Compare(string(a.name), string(b.name)) })
	return list
}

// find returns the agent called name, or nil.
func find(name string) *agent {
	s := dialect.Settings(events.Dialect(name))
	if s == nil {
		return nil
	}
	a := &agent{Settings: *s, name: events.Dialect(name), format: formatOf(s.Format)}
	switch s.Files {
	case neutral.Scripts:
		a.files = scripts{}
	case neutral.Plugin:
		a.files = plugin{}
	}
	return a
}

func formatOf(f neutral.Format) format {
	switch f {
	case neutral.FormatTOML:
		return tomlFormat{}
	case neutral.FormatYAML:
		return yamlFormat{}
	}
	return jsonFormat{}
}

// path is the settings file, or the folder of files.
func (a *agent) path(o Options) (string, error) {
	switch {
	case o.Managed:
		return a.managed(o.root)
	case a.Given && o.File == "":
		return "", fmt.Errorf("connect %[1]s: name its file: hookd connect %[1]s --file FILE", a.name)
	case a.Given:
		return filepath.Abs(o.File)
	case o.Project != "" && a.Project == "":
		return "", fmt.Errorf("%s reads the hooks of no project, only the user's own", a.name)
	case o.Project != "":
		return filepath.Abs(filepath.Join(o.Project, a.Project))
	}
	return filepath.Abs(filepath.Join(a.folder(o), a.File))
}

// folder is where the user's own settings are.
func (a *agent) folder(o Options) string {
	return a.Folder(o.Home, o.Getenv)
}

// events are the names to register.
func (a *agent) events(all bool) (names []string) {
	for _, c := range a.rows() {
		if all || !a.seldom(c) {
			names = append(names, c.Name)
		}
	}
	return names
}

// left are the names that only all adds.
func (a *agent) left() (names []string) {
	for _, c := range a.rows() {
		if a.seldom(c) {
			names = append(names, c.Name)
		}
	}
	return names
}

func (a *agent) seldom(c *events.Contract) bool {
	return c.Streaming || slices.Contains(strings.Fields(a.Newer), c.Name)
}

func (a *agent) rows() (rows []*events.Contract) {
	for _, c := range events.All() {
		if c.Dialect == a.name && (a.Skip == nil || !a.Skip(c)) {
			rows = append(rows, c)
		}
	}
	return rows
}

// leaf is the entry that registers a call for an event.
func (a *agent) leaf(path []string, event string, c call) leaf {
	row := events.LookupIn(a.name, event)
	handler := slices.Concat(a.Lead, []member{{Key: a.Keys.Command, Value: c.String()}})
	if c.post != nil {
		handler = c.post.handler()
	}
	if a.Unit > 0 {
		deadline := max(dialect.Agent(a.name).Timeout(event), deadlineIn(c.args))
		handler = append(handler, member{Key: a.Keys.Timeout, Value: int((deadline + a.Unit - 1) / a.Unit)})
	}
	tool := row != nil && row.ToolMatched && !slices.Contains(strings.Fields(a.Plain), event)
	switch {
	case a.Shape == neutral.Listed:
		item := slices.Concat([]member{{Key: "event", Value: event}}, handler)
		return leaf{Path: path[:len(path)-1], Key: path[len(path)-1], Value: item, List: true}
	case a.Shape == neutral.Handlers, a.Shape == neutral.ByTool && !tool:
		return leaf{Path: path, Key: event, Value: handler, List: true}
	}
	group := []member{{Key: "hooks", Value: [][]member{handler}}}
	if tool && !a.NoMatcher {
		group = slices.Insert(group, 0, member{Key: "matcher", Value: "*"})
	}
	return leaf{Path: path, Key: event, Value: group, List: true}
}

// notes names settings with which the agent runs no hooks.
func (t *target) notes() (notes []string) {
	if t.agent.files != nil {
		return nil
	}
	if tree, err := t.agent.parse(t.path, t.file.text); err == nil {
		notes = switchedOff(t.path, tree, t.agent.Switches)
	}
	if other := t.agent.Other; other != nil {
		notes = append(notes, otherNotes(filepath.Join(filepath.Dir(t.path), other.Name), other)...)
	}
	return notes
}

// switchedOff names the switches that are off in a tree.
func switchedOff(path string, tree map[string]any, switches []neutral.Toggle) (notes []string) {
	for _, s := range switches {
		if v, ok := neutral.Value(tree, s.Path...).(bool); ok && v == s.Off {
			notes = append(notes, path+": "+s.Say)
		}
	}
	return notes
}

// otherNotes reads the file beside an agent's settings: there it can be set to
// run no hooks, and it can have hooks there too.
func otherNotes(path string, other *neutral.OtherFile) (notes []string) {
	f, err := readFile(path)
	if err != nil {
		return nil
	}
	tree, err := formatOf(other.Format).parse(f.text)
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", path, err)}
	}
	notes = switchedOff(path, tree, other.Switches)
	hooks, _ := neutral.Value(tree, other.Hooks).(map[string]any)
	for key, v := range hooks {
		if _, list := v.([]any); list && key != other.Except {
			return append(notes, path+other.Say)
		}
	}
	return notes
}
