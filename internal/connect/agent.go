package connect

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/dialect"
	"github.com/hookd/hookd/internal/events"
)

func named(names string) func(*events.Contract) bool {
	return func(c *events.Contract) bool { return slices.Contains(strings.Fields(names), c.Name) }
}

// notForShell tells Hermes's events that its shell hooks do not get, or whose
// answers only its Python plugins can give.
func notForShell(c *events.Contract) bool {
	return strings.Contains(c.Name, ":") || strings.HasPrefix(c.Name, "transform_")
}

// path is the settings file, or the folder of files.
func (a *agent) path(o Options) (string, error) {
	switch {
	case a.given && o.File == "":
		return "", fmt.Errorf("connect %s: name its file", a.name)
	case a.given:
		return filepath.Abs(o.File)
	case o.Project != "" && a.project == "":
		return "", fmt.Errorf("%s reads the hooks of no project, only the user's own", a.name)
	case o.Project != "":
		return filepath.Abs(filepath.Join(o.Project, a.project))
	}
	dir := filepath.Join(o.Home, a.dir)
	if home := o.Getenv(a.homeEnv); a.homeEnv != "" && home != "" {
		dir = filepath.Join(home, a.dir)
	}
	if own := o.Getenv(a.dirEnv); a.dirEnv != "" && own != "" {
		dir = own
	}
	return filepath.Abs(filepath.Join(dir, a.file))
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
	return c.Streaming || slices.Contains(strings.Fields(a.newer), c.Name)
}

func (a *agent) rows() (rows []*events.Contract) {
	for _, c := range events.All() {
		if c.Dialect == a.name && (a.skip == nil || !a.skip(c)) {
			rows = append(rows, c)
		}
	}
	return rows
}

// leaf is what registers a call for an event.
func (a *agent) leaf(path []string, event string, c call) leaf {
	row := events.LookupIn(a.name, event)
	handler := slices.Concat(a.lead, []member{{a.keys.command, c.String()}})
	if c.post != nil {
		handler = c.post.handler()
	}
	if a.once > 0 {
		deadline := dialect.Agent(a.name).Timeout(event)
		handler = append(handler, member{a.keys.timeout, int((deadline + a.once - 1) / a.once)})
	}
	tool := row != nil && row.ToolMatched
	switch {
	case a.shape == listed:
		return leaf{path: path[:len(path)-1], key: path[len(path)-1], value: slices.Concat([]member{{"event", event}}, handler), list: true}
	case a.shape == flat, a.shape == byTool && !tool:
		return leaf{path, event, handler, true}
	}
	group := []member{{"hooks", [][]member{handler}}}
	if tool && a.name != events.Codex { // there a matcher is a regex, and * is none
		group = slices.Insert(group, 0, member{"matcher", "*"})
	}
	return leaf{path, event, group, true}
}

// notes tells of settings with which the agent runs no hooks.
func (t *target) notes() (notes []string) {
	if t.agent.whole != nil {
		return nil
	}
	if tree, err := t.agent.parse(t.path, t.file.text); err == nil {
		for _, s := range t.agent.switches {
			if v, ok := value(tree, s.path).(bool); ok && v == s.off {
				notes = append(notes, t.path+": "+s.say)
			}
		}
	}
	if t.agent.name == events.Codex {
		notes = append(notes, codexNotes(filepath.Join(filepath.Dir(t.path), "config.toml"))...)
	}
	return notes
}

// codexNotes reads the settings beside Codex's hooks: it can be told there to
// run none, and warns when hooks stand in both files.
func codexNotes(path string) (notes []string) {
	f, err := readFile(path)
	if err != nil {
		return nil
	}
	tree, err := tomlFormat{}.parse(f.text)
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", path, err)}
	}
	for _, key := range []string{"hooks", "codex_hooks"} {
		if v, ok := value(tree, []string{"features", key}).(bool); ok && !v {
			notes = append(notes, fmt.Sprintf("%s: `features.%s` is false there: Codex runs no hooks until it is removed", path, key))
		}
	}
	hooks, _ := value(tree, []string{"hooks"}).(map[string]any)
	for key, v := range hooks {
		if _, list := v.([]any); list && key != "state" {
			return append(notes, path+" has hooks too: Codex runs both files and warns about it")
		}
	}
	return notes
}
