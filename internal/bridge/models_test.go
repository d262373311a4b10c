//go:build agents

package bridge

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// model is a model that asks for the commands, one after another, and then is
// done. It is told apart from what agents ask for titles and the like by the
// tools in the request.
type model struct {
	mu       sync.Mutex
	requests []string // guarded by mu
	one      *int     // the only command to ask for; nil = all; guarded by mu
	pair     []string // to ask for at once; nil = one after another; guarded by mu
	known    int      // results that the session had before, with pair; -1 = not known yet; guarded by mu
	decoys   bool     // calls have arguments that the tool has not; guarded by mu
}

// only has the next run of the agent ask for command i alone.
func (m *model) only(i int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.one = &i
}

func (m *model) asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// atOnce has the next run of the agent ask for calls in one answer.
func (m *model) atOnce(decoys bool, calls ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.decoys, m.pair, m.requests, m.known = decoys, calls, nil, -1
}

// next returns the commands to ask for at once after results of tools.
func (m *model) next(request []byte, results int) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, string(request))
	if m.known < 0 { // a session may go on
		m.known = results
	}
	switch {
	case m.pair != nil && results == m.known:
		return m.pair
	case m.pair != nil, m.one != nil && results > 0:
		return nil
	case m.one != nil:
		return commands[*m.one : *m.one+1]
	case results < len(commands):
		return commands[results : results+1]
	}
	return nil
}

// given is the arguments of a call, beside arguments that only look like the tool's
// where there are to be such.
func (m *model) given(args object) object {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.decoys {
		return args
	}
	for _, decoy := range []string{"Command", "commandLine", "shell_command", "script", "input", "tool_input", "file_path"} {
		if args[decoy] == nil {
			args[decoy] = "true"
		}
	}
	return args
}

type object = map[string]any

func raw(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// sse writes server-sent events; each has its type as its name.
func sse(w http.ResponseWriter, list ...object) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range list {
		if name, ok := e["type"].(string); ok {
			fmt.Fprintf(w, "event: %s\n", name)
		}
		fmt.Fprintf(w, "data: %s\n\n", raw(e))
	}
}

// anthropic is the Messages API.
func anthropic(m *model) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var req struct {
			Stream   bool
			Tools    []struct{ Name string }
			Messages []struct{ Content json.RawMessage }
		}
		_ = json.Unmarshal(body, &req)
		if !strings.HasSuffix(r.URL.Path, "/messages") {
			io.WriteString(w, `{"input_tokens":10}`)
			return
		}
		results := 0
		for _, msg := range req.Messages {
			var blocks []struct{ Type string }
			_ = json.Unmarshal(msg.Content, &blocks)
			for _, b := range blocks {
				if b.Type == "tool_result" {
					results++
				}
			}
		}
		var asked []string
		if slices.ContainsFunc(req.Tools, func(t struct{ Name string }) bool { return t.Name == "Bash" }) {
			asked = m.next(body, results)
		}
		blocks, stop := []any{object{"type": "text", "text": "done"}}, "end_turn"
		events := []object{
			{"type": "content_block_start", "index": 0, "content_block": object{"type": "text", "text": ""}},
			{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": "done"}},
			{"type": "content_block_stop", "index": 0},
		}
		if len(asked) > 0 {
			blocks, events, stop = nil, nil, "tool_use"
		}
		for i, command := range asked {
			input := m.given(object{"command": command, "description": "do it"})
			id := fmt.Sprintf("toolu_%d", results+i)
			blocks = append(blocks, object{"type": "tool_use", "id": id, "name": "Bash", "input": input})
			events = append(events,
				object{"type": "content_block_start", "index": i, "content_block": object{"type": "tool_use", "id": id, "name": "Bash", "input": object{}}},
				object{"type": "content_block_delta", "index": i, "delta": object{"type": "input_json_delta", "partial_json": raw(input)}},
				object{"type": "content_block_stop", "index": i},
			)
		}
		message := object{"id": "msg", "type": "message", "role": "assistant", "model": "mock", "content": blocks, "stop_reason": stop, "stop_sequence": nil, "usage": object{"input_tokens": 1, "output_tokens": 1}}
		if !req.Stream {
			io.WriteString(w, raw(message))
			return
		}
		message["content"], message["stop_reason"] = []any{}, nil
		sse(w, slices.Concat([]object{{"type": "message_start", "message": message}}, events, []object{
			{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 1}},
			{"type": "message_stop"},
		})...)
	}
}

// openAI is the Responses API.
func openAI(m *model) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var req struct {
			Tools []struct{ Type, Name string }
			Input []struct{ Type string }
		}
		_ = json.Unmarshal(body, &req)
		if r.Method != http.MethodPost {
			io.WriteString(w, `{"data":[],"models":[]}`)
			return
		}
		results := 0
		for _, item := range req.Input {
			if strings.HasSuffix(item.Type, "_call_output") {
				results++
			}
		}
		items := []object{{"type": "message", "role": "assistant", "id": "m", "content": []any{object{"type": "output_text", "text": "done"}}}}
		for _, tool := range req.Tools {
			args, ok := map[string]func(string) object{
				"exec_command":  func(c string) object { return object{"cmd": c} },
				"shell_command": func(c string) object { return object{"command": c} },
				"shell":         func(c string) object { return object{"command": []string{"bash", "-lc", c}} },
			}[tool.Name]
			if !ok {
				continue
			}
			asked := m.next(body, results)
			if len(asked) > 0 {
				items = nil
			}
			for i, command := range asked {
				id := fmt.Sprintf("call_%d", results+i)
				items = append(items, object{"type": "function_call", "id": "fc_" + id, "call_id": id, "name": tool.Name, "arguments": raw(m.given(args(command)))})
			}
			break
		}
		usage := object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0}}
		list := []object{{"type": "response.created", "response": object{"id": "r"}}}
		for i, item := range items {
			list = append(list, object{"type": "response.output_item.done", "output_index": i, "item": item})
		}
		sse(w, append(list, object{"type": "response.completed", "response": object{"id": "r", "usage": usage}})...)
	}
}

// before are the commands that a list has before the one asked for: a guard
// must see that one all the same.
var before = map[string][]string{"rm -rf victim": {"true", "echo 'open", "cat <<END"}}

// chat is the Chat Completions API.
func chat(m *model) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var req struct {
			Stream   bool
			Tools    []struct{ Function struct{ Name string } }
			Messages []struct{ Role string }
		}
		_ = json.Unmarshal(body, &req)
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			io.WriteString(w, `{"object":"list","data":[{"id":"gpt-test","object":"model","created":1,"owned_by":"mock"}]}`)
			return
		}
		results := 0
		for _, msg := range req.Messages {
			if msg.Role == "tool" {
				results++
			}
		}
		message, why := object{"role": "assistant", "content": "done"}, "stop"
		for _, tool := range req.Tools {
			args, ok := map[string]func(string) object{
				"exec": func(c string) object { return object{"command": c} },
				"bash": func(c string) object { return object{"command": c, "description": "do it"} },
				"run_shell_command": func(c string) object {
					return object{"command": c, "description": "do it", "is_background": false}
				},
				"run_commands": func(c string) object { return object{"commands": append(before[c], c)} },
			}[tool.Function.Name]
			if !ok {
				continue
			}
			var calls []any
			for i, command := range m.next(body, results) {
				call := object{"name": tool.Function.Name, "arguments": raw(m.given(args(command)))}
				calls = append(calls, object{"index": i, "id": fmt.Sprintf("call_%d", results+i), "type": "function", "function": call})
			}
			if len(calls) > 0 {
				message, why = object{"role": "assistant", "content": nil, "tool_calls": calls}, "tool_calls"
			}
			break
		}
		usage := object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
		part := func(kind string, choice object) object {
			return object{"id": "c", "created": 1, "model": "gpt-test", "object": kind, "choices": []any{choice}, "usage": usage}
		}
		if !req.Stream {
			io.WriteString(w, raw(part("chat.completion", object{"index": 0, "message": message, "finish_reason": why})))
			return
		}
		sse(w, part("chat.completion.chunk", object{"index": 0, "delta": message, "finish_reason": nil}),
			part("chat.completion.chunk", object{"index": 0, "delta": object{}, "finish_reason": why}))
		io.WriteString(w, "data: [DONE]\n\n")
	}
}

// generateContent is the Gemini API.
func generateContent(m *model) http.HandlerFunc {
	const tool = "run_shell_command"
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var req struct {
			Tools    []struct{ FunctionDeclarations []struct{ Name string } }
			Contents []struct {
				Parts []struct{ FunctionResponse json.RawMessage }
			}
			GenerationConfig struct{ ResponseMimeType string }
		}
		_ = json.Unmarshal(body, &req)
		if strings.Contains(r.URL.Path, "countTokens") {
			io.WriteString(w, `{"totalTokens":10}`)
			return
		}
		results, has := 0, false
		for _, c := range req.Contents {
			for _, p := range c.Parts {
				if p.FunctionResponse != nil {
					results++
				}
			}
		}
		for _, t := range req.Tools {
			has = has || slices.ContainsFunc(t.FunctionDeclarations, func(f struct{ Name string }) bool { return f.Name == tool })
		}
		parts := []any{object{"text": "done"}}
		if req.GenerationConfig.ResponseMimeType == "application/json" { // routers and checkers
			parts = []any{object{"text": raw(object{"reasoning": "x", "model_choice": "pro", "next_speaker": "user", "complexity_score": 10, "complexity_reasoning": "x"})}}
		} else if has {
			if asked := m.next(body, results); len(asked) > 0 {
				parts = nil
				for _, command := range asked {
					args := m.given(object{"command": command, "description": "do it"})
					parts = append(parts, object{"functionCall": object{"name": tool, "args": args}})
				}
			}
		}
		answer := object{
			"candidates":    []any{object{"content": object{"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}},
			"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": "mock",
		}
		if strings.Contains(r.URL.Path, "stream") {
			sse(w, answer)
			return
		}
		io.WriteString(w, raw(answer))
	}
}
