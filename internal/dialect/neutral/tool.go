package neutral

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/hookd/hookd/internal/events"
)

// mcpPrefix begins the canonical names of MCP tools: mcp__server__tool.
const mcpPrefix = "mcp__"

// canonize gives the tool and its arguments their canonical names.
func (t *Table) canonize(f Facts) {
	own := f.String(Tool)
	tool := strings.TrimPrefix(own, t.MCPPrefix)
	if name := f.String(MCPTool); name != "" {
		tool = name
	}
	if server := f.String(MCPServer); server != "" && tool != "" {
		f.Set(Tool, mcpPrefix+server+"__"+tool)
		return
	}
	if row := t.tool(own); row != nil {
		f.Set(Tool, row.Canonical)
		f[Input] = renamed(f[Input], row.Args, false)
	}
	if f[Input] == nil {
		delete(f, Input)
	}
}

// Own returns the name by which t's dialect calls the tool of facts.
func (t *Table) Own(f Facts) string { return t.own(f).String(Tool) }

// own returns the facts with the tool called as t's dialect calls it.
func (t *Table) own(f Facts) Facts {
	name := f.String(Tool)
	for i := range t.Tools {
		if row := &t.Tools[i]; row.Canonical == name && !row.OneWay {
			f = maps.Clone(f)
			f.Set(Tool, row.Own)
			if f[Input] = renamed(f[Input], row.Args, true); f[Input] == nil {
				delete(f, Input)
			}
			return f
		}
	}
	return f
}

// tool returns the first row of t's own name.
func (t *Table) tool(own string) *ToolName {
	for i := range t.Tools {
		if t.Tools[i].Own == own {
			return &t.Tools[i]
		}
	}
	return nil
}

// Names returns the names that a tool goes by: the dialect's own, then the
// canonical ones.
func (t *Table) Names(name string, data json.RawMessage) []string {
	f := t.Read(name, data)
	own := ""
	for _, r := range t.Rows {
		if own == "" && (r.Fact == Tool || r.Fact == MCPTool) && holds(r.Events, name) {
			own = TextOf(newPayload(data).find(r.Field))
		}
	}
	for _, x := range t.Fixed {
		if own == "" && x.Fact == Tool && holds(x.Events, name) {
			own = TextOf(json.RawMessage(x.Value))
		}
	}
	var names []string
	add := func(name string) {
		for _, n := range names {
			if n == name {
				return
			}
		}
		if name != "" {
			names = append(names, name)
		}
	}
	add(own)
	add(f.String(Tool))
	for _, row := range t.Tools {
		if row.Own == own {
			add(row.Canonical)
		}
	}
	return names
}

// Args gives the members of a tool's arguments the names that to has for
// them: input is for the tool that t's dialect calls own. Names without an
// equal stay. It returns nil for nil.
func (t *Table) Args(own string, input json.RawMessage, to *Table, toOwn string) json.RawMessage {
	if row := t.tool(own); row != nil {
		input = renamed(input, row.Args, false)
	}
	if row := to.tool(toOwn); row != nil {
		input = renamed(input, row.Args, true)
	}
	return input
}

// renamed renames members by args, pairs of own=canonical; reverse gives them
// their own names. A member whose new name is taken keeps its old one.
func renamed(object json.RawMessage, args string, reverse bool) json.RawMessage {
	if args == "" || object == nil {
		return object
	}
	names := map[string]string{}
	for _, pair := range strings.Fields(args) {
		from, to, _ := strings.Cut(pair, "=")
		if reverse {
			from, to = to, from
		}
		if _, given := names[from]; !given {
			names[from] = to
		}
	}
	var members []events.Member
	changed := false
	for key, value := range events.Members(object) {
		if to, ok := names[key]; ok && events.Get(object, to) == nil {
			key, changed = to, true
		}
		members = append(members, events.Member{Key: key, Value: value})
	}
	if !changed {
		return object
	}
	return events.With(nil, members...)
}
