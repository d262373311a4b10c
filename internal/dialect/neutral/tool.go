package neutral

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/events"
)

// mcpPrefix begins the canonical names of MCP tools: mcp__server__tool.
const mcpPrefix = "mcp__"

// canonize gives the tool and its arguments their canonical names.
func (t *Table) canonize(f Facts) {
	own := f.String(Tool)
	if name := t.mcpName(own, f.String(MCPServer), f.String(MCPTool)); name != "" {
		f.Set(Tool, name)
	} else if row := t.tool(own); row != nil {
		f.Set(Tool, row.Canonical)
		f[Input] = renamed(f[Input], row.Args, false)
	}
	if f[Input] == nil {
		delete(f, Input)
	}
}

// mcpName is the canonical name of an MCP tool; "" if the tool is none, or its
// server is not known.
func (t *Table) mcpName(own, server, tool string) string {
	if tool == "" {
		tool = strings.TrimPrefix(own, t.MCPPrefix)
	}
	if server == "" || tool == "" {
		return ""
	}
	return mcpPrefix + server + "__" + tool
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
	p := newPayload(data)
	mcpTool := t.field(MCPTool, name, p)
	own := cmp.Or(t.field(Tool, name, p), t.fixed(Tool, name), mcpTool)
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	add(own)
	add(t.mcpName(own, t.field(MCPServer, name, p), mcpTool))
	for _, row := range t.Tools {
		if row.Own == own {
			add(row.Canonical)
		}
	}
	return names
}

// field returns the text of a fact as the payload spells it.
func (t *Table) field(fact Fact, event string, p *payload) string {
	for _, r := range t.Rows {
		if r.Fact != fact || !holds(r.Events, event) {
			continue
		}
		if text := TextOf(p.find(r.Field)); text != "" {
			return text
		}
	}
	return ""
}

// fixed returns the text of a fact that the event's name tells.
func (t *Table) fixed(fact Fact, event string) string {
	for _, x := range t.Fixed {
		if x.Fact == fact && holds(x.Events, event) {
			return TextOf(json.RawMessage(x.Value))
		}
	}
	return ""
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
