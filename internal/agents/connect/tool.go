package connect

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Tool is a tool of hookd's MCP server, which an agent calls as a hook.
type Tool struct {
	Server, Name string   // of the server in the agent's settings, and of the tool
	Command      []string // that the agent is to start the server with
}

// toolCall is a hook that calls a tool.
type toolCall struct {
	server, name string
	input        map[string]string // arguments; in each the agent puts a field of the payload
}

// handler has the members that stand in the place of a command.
func (c *toolCall) handler() []member {
	var input []member
	for _, key := range slices.Sorted(maps.Keys(c.input)) {
		input = append(input, member{key, c.input[key]})
	}
	return []member{{"type", mcpType}, {"server", c.server}, {"tool", c.name}, {"input", input}}
}

// mcpType is the type of hooks that call an MCP tool, in every agent that has them.
const mcpType = "mcp_tool"

// toolOf reads a hook that calls hookd's own tool.
func toolOf(kind, server, name string, input map[string]any, agent string) (call, bool) {
	if kind != mcpType || server != neutral.HookServer || name != neutral.HookTool {
		return call{}, false
	}
	c := toolCall{server: server, name: name, input: map[string]string{}}
	for key, value := range input {
		c.input[key] = fmt.Sprint(value)
	}
	return call{agent: agent, tool: &c}, true
}

// toolFor returns the call of the tool for an event; nil = it is registered in another way.
func (t *target) toolFor(event string) *toolCall {
	row := events.LookupIn(t.agent.name, event)
	if t.Tool == nil || t.agent.Tools == nil || row == nil || !t.agent.Tools.Events(row) {
		return nil
	}
	c := &toolCall{server: t.Tool.Server, name: t.Tool.Name, input: map[string]string{}}
	for _, f := range row.Fields {
		if !t.agent.Tools.Strict || !f.Nullable {
			c.input[f.Name] = "${" + f.Name + "}"
		}
	}
	return c
}

func (c *toolCall) equal(other *toolCall) bool {
	return c != nil && other != nil &&
		c.server == other.server && c.name == other.name && maps.Equal(c.input, other.input)
}

// checkTool refuses a tool where the agent cannot call one.
func (t *target) checkTool() error {
	switch {
	case t.Tool == nil:
		return nil
	case t.agent.Tools == nil:
		return fmt.Errorf("%s cannot call MCP tools as hooks: leave out --mcp", t.Agent)
	case t.Post != nil:
		return fmt.Errorf("an event is sent over HTTP or by an MCP tool: leave out --http or --mcp")
	case t.Project != "" || t.Managed:
		return fmt.Errorf("the server is registered in your own settings alone: leave out --project and --managed")
	}
	return nil
}

// server names the step by which a person makes the agent start the server that its hooks
// call, if they do; "" = nothing.
func (t *target) server(called bool) string {
	if t.agent.Tools == nil || !called {
		return ""
	}
	s := t.agent.Tools.Servers
	path := filepath.Join(t.agent.folder(t.Options), s.File)
	if s.InHome && (t.agent.DirEnv == "" || t.Getenv(t.agent.DirEnv) == "") {
		path = filepath.Join(t.Home, s.File)
	}
	f, err := readFile(path)
	if err != nil {
		return err.Error()
	}
	tree, err := formatOf(s.Format).parse(f.text)
	if err != nil {
		return fmt.Sprintf("%s: %v", path, err)
	}
	if holds(tree, append(slices.Clone(s.At), neutral.HookServer)) {
		return ""
	}
	command := []string{"hookd", "mcp", t.Agent}
	if t.Tool != nil {
		command = t.Tool.Command
	}
	line := s.Register
	for _, word := range command {
		line += " " + quote(word)
	}
	return fmt.Sprintf("%s has no server %s, so these hooks do nothing and calls pass: type `%s`",
		path, neutral.HookServer, line)
}
