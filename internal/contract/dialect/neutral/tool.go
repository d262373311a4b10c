package neutral

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// mcpPrefix begins the canonical names of MCP tools: mcp__server__tool.
const mcpPrefix = "mcp__"

// canonize gives the tool and its arguments their canonical names.
func (t *Table) canonize(f Facts) {
	own := f.String(Tool)
	f[Input] = fromText(f[Input])
	if name := t.mcpName(own, f.String(MCPServer), f.String(MCPTool)); name != "" {
		f.Set(Tool, name)
	} else if row := t.tool(own); row != nil {
		f.Set(Tool, row.Canonical)
		f[Input] = row.canonical(f[Input])
	}
	if f[Input] == nil {
		delete(f, Input)
	}
}

// fromText returns the value that a text holds, where arguments came as text.
func fromText(v json.RawMessage) json.RawMessage {
	if text := []byte(TextOf(v)); len(text) > 0 && (text[0] == '{' || text[0] == '[') && json.Valid(text) {
		return text
	}
	return v
}

// mcpName is the canonical name of an MCP tool; "" if the tool is none, or its
// server is not known.
func (t *Table) mcpName(own, server, tool string) string {
	if t.MCPJoin != "" && server == "" {
		server, tool, _ = strings.Cut(own, t.MCPJoin)
		if server != "" && tool != "" {
			return mcpPrefix + server + "__" + tool
		}
		return ""
	}
	if t.MCPCallers != "" && !holds(t.MCPCallers, own) {
		return "" // any tool can be given an argument of that name
	}
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

// OwnCall returns a call of a canonical tool as t's dialect has it. A tool that is not
// canonical stays as it is, with its arguments.
func (t *Table) OwnCall(tool string, input json.RawMessage) (own string, _ json.RawMessage) {
	f := Facts{}
	f.Set(Tool, tool)
	if input != nil {
		f[Input] = input
	}
	f = t.own(f)
	return f.String(Tool), f[Input]
}

// own returns the facts with the tool called as t's dialect calls it.
func (t *Table) own(f Facts) Facts {
	row := t.named(f.String(Tool))
	if row == nil {
		return f
	}
	f = maps.Clone(f)
	f.Set(Tool, row.Own)
	if f[Input] = row.native(f[Input]); f[Input] == nil {
		delete(f, Input)
	}
	return f
}

// named returns the row by which t's dialect calls the canonical tool name; nil
// = it has no such tool.
func (t *Table) named(name string) *ToolName {
	for i := range t.Tools {
		if row := &t.Tools[i]; row.Canonical == name && !row.OneWay {
			return row
		}
	}
	return canonicalTool(name)
}

// tool returns the first row of t's own name, which an agent may take in any
// letter case, or that of a tool with a canonical name; nil = it is not known.
func (t *Table) tool(own string) *ToolName {
	for _, same := range []func(string) bool{
		func(name string) bool { return name == own },
		func(name string) bool { return strings.EqualFold(name, own) },
	} {
		for i := range t.Tools {
			if same(t.Tools[i].Own) {
				return &t.Tools[i]
			}
		}
	}
	return canonicalTool(own)
}

// Names returns the names that a tool goes by: the dialect's own, then the
// canonical ones.
func (t *Table) Names(name string, data json.RawMessage) []string {
	var few [fewMembers]rawjson.Field
	p := newPayload(few[:0], data)
	mcpTool := t.field(MCPTool, name, &p)
	own := cmp.Or(t.field(Tool, name, &p), t.fixed(Tool, name), mcpTool)
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	add(own)
	add(t.mcpName(own, t.field(MCPServer, name, &p), mcpTool))
	if row := t.tool(own); row != nil {
		own = row.Own // in the table's letter case
	}
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

// fixed returns the text of a fact that follows from the event's name.
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
		input = row.canonicalArgs(input)
	}
	if row := to.tool(toOwn); row != nil {
		input = row.native(input)
	}
	return input
}
