package connect

import (
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
	beside []leaf
	lead   []member  // what a handler begins with
	whole  hookFiles // for agents whose hooks are files
	entry  *entry    // what they need in their settings beside them; nil = nothing
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
	a := &agent{Settings: *s, name: events.Dialect(name), format: formatOf(s.Format), beside: leavesOf(s.Beside)}
	for _, m := range s.Lead {
		a.lead = append(a.lead, member{m.Key, m.Value})
	}
	switch s.Files {
	case neutral.Scripts:
		a.whole = scripts{}
	case neutral.Plugin:
		a.whole = plugin{}
	}
	if e := s.Entry; e != nil {
		leaves := func(tree map[string]any) []leaf { return leavesOf(e.Leaves(tree)) }
		a.entry = &entry{env: e.Env, file: e.File, at: e.At, leaves: leaves, switches: e.Switches}
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

func leavesOf(list []neutral.Leaf) (leaves []leaf) {
	for _, l := range list {
		leaves = append(leaves, leaf{l.Path, l.Key, l.Value, l.List})
	}
	return leaves
}
