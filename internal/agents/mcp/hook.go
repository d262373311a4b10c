package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookd/hookd/internal/agents/bridge"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/events"
)

// anyObject is the schema of a tool that takes any arguments that a hook's settings give it.
var anyObject = json.RawMessage(`{"type":"object"}`)

func hookTool() *sdk.Tool {
	return &sdk.Tool{
		Name:        HookTool,
		Title:       "hookd's hooks",
		Description: "Called by this agent's own hooks, not by the model: it runs the user's hooks for an event and answers as a hook does.",
		InputSchema: anyObject,
	}
}

// hook is one call of the bridge. It never ends with an error: an agent takes one as no
// opinion.
func (s *Server) hook(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	give := take(ctx, s.calls)
	if give == nil {
		return nil, ctx.Err() // the agent waits no longer
	}
	defer give()
	payload := payload(events.Dialect(s.opt.Agent), r.Params.Arguments)
	s.sees(payload)
	var out, notes bytes.Buffer
	exit := bridge.Run(ctx, bridge.Options{
		Agent: s.opt.Agent, Stdin: bytes.NewReader(payload), Stdout: &out, Stderr: &notes, Socket: s.opt.Socket,
		State: s.opt.State, FailClosed: !s.opt.FailOpen, Getenv: func(string) string { return "" },
	})
	if notes.Len() > 0 {
		_, _ = s.opt.Err.Write(notes.Bytes()) // there is no other place for it
	}
	if out.Len() == 0 && exit != 0 { // the agent has no words for it but an exit code, or the call was wrong
		why := cmp.Or(strings.TrimSpace(notes.String()), "hookd's bridge ended without an answer")
		return failed(errors.New(why)), nil
	}
	return text(cmp.Or(strings.TrimSpace(out.String()), "{}")), nil
}

// sees notes the session that the agent is in.
func (s *Server) sees(payload json.RawMessage) {
	if id, ok := rawjson.GetString(payload, "session_id"); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.session = id
	}
}

// payload returns the payload that an agent's hook would read on stdin, from the arguments that
// its settings give to the tool. An agent may write every value as text, also numbers and
// objects, and an empty text where there is none. Each becomes a value of the type that the
// event's row gives the field. Arguments that are no object are returned as they are.
func payload(agent events.Dialect, arguments json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(arguments)) == 0 || bytes.TrimSpace(arguments)[0] != '{' {
		return arguments
	}
	name, _ := rawjson.GetString(arguments, "hook_event_name")
	types := map[string]events.Type{}
	for _, f := range events.For(agent, name).Fields {
		types[f.Name] = f.Type
	}
	var members []rawjson.Member
	for key, value := range rawjson.Members(arguments) {
		if typed := typed(value, types[key]); typed != nil {
			members = append(members, rawjson.Member{Key: key, Value: typed})
		}
	}
	return rawjson.With(json.RawMessage("{}"), members...)
}

// typed returns a value as the field's type has it; nil = there is none. A text that is not
// of that type stays a text.
func typed(value json.RawMessage, want events.Type) json.RawMessage {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return value
	}
	if text == "" && want != events.Any { // an agent's word for a field that is not there
		return nil
	}
	inner := json.RawMessage(strings.TrimSpace(text))
	if json.Valid(inner) && fits(inner, want) {
		return inner
	}
	return value
}

// fits reports whether a JSON value is of a type that is no text. Of a value that may be of
// any type, an object or a list was one before it was written as text.
func fits(value json.RawMessage, want events.Type) bool {
	first := value[0]
	switch want {
	case events.Object:
		return first == '{'
	case events.Array:
		return first == '['
	case events.Any:
		return first == '{' || first == '['
	case events.Boolean:
		return first == 't' || first == 'f'
	case events.Integer, events.Number:
		return first == '-' || first >= '0' && first <= '9'
	}
	return false
}

// text is an answer that the agent reads as it reads the output of a hook.
func text(answer string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: answer}}}
}

// failed is an answer that tells an error.
func failed(err error) *sdk.CallToolResult {
	r := text(err.Error())
	r.IsError = true
	return r
}
