package mcp

import (
	"context"
	"encoding/json"
	"errors"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Call is a tool call that a model asks about.
type Call struct {
	Tool    string          // the agent's own name of it, or the canonical one
	Input   json.RawMessage // its arguments, an object
	Session string          // of the agent; "" = not known
	Cwd     string          // the folder that the agent works in
}

// Would is the decision that hooks would make about a call.
type Would struct {
	Decision string   `json:"decision"`          // deny, ask, allow, rewrite, or none: no hook objects
	Reason   string   `json:"reason,omitempty"`  // of a denial, or of an ask
	Hooks    []string `json:"hooks,omitempty"`   // that decide so
	Rewrote  []string `json:"rewrote,omitempty"` // of input, result, messages, context
	Failed   []string `json:"failed,omitempty"`  // hooks that could not be asked
}

// wouldInput is the schema of the arguments of would_deny. There is no session and no folder in it:
// those are the agent's own.
var wouldInput = json.RawMessage(`{
	"type": "object",
	"properties": {
		"tool": {"type": "string", "description": "Name of the tool, such as Bash"},
		"input": {"type": "object", "description": "The arguments of the call, such as {\"command\": \"git push\"}"}
	},
	"required": ["tool", "input"],
	"additionalProperties": false
}`)

func wouldTool() *sdk.Tool {
	return &sdk.Tool{
		Name:  WouldTool,
		Title: "What hooks would say",
		Description: "Says what the user's hooks would decide about a tool call of this session, without making it: " +
			"deny, ask, allow, rewrite or none, with the reason and the hooks. Nothing is recorded.",
		InputSchema: wouldInput,
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true},
	}
}

// wouldDeny asks hooks about one call.
func (s *Server) wouldDeny(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var asked struct {
		Tool  string          `json:"tool"`
		Input json.RawMessage `json:"input"`
	}
	err := json.Unmarshal(r.Params.Arguments, &asked)
	if err != nil || asked.Tool == "" || len(asked.Input) == 0 || asked.Input[0] != '{' {
		return failed(errors.New(`would_deny wants {"tool": NAME, "input": {…}}, as the tool itself is called`)), nil
	}
	give := take(ctx, s.would)
	if give == nil {
		return nil, ctx.Err()
	}
	defer give()
	s.mu.Lock()
	session := s.session
	s.mu.Unlock()
	would, err := s.opt.Would(ctx, Call{Tool: asked.Tool, Input: asked.Input, Session: session, Cwd: s.opt.Cwd})
	if err != nil {
		return failed(err), nil
	}
	answer, err := json.Marshal(would)
	if err != nil {
		return failed(err), nil
	}
	result := text(string(answer))
	result.StructuredContent = json.RawMessage(answer)
	return result, nil
}
