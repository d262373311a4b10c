//go:build agents

package bridge

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// script has the calls that the model makes in one run of the agent.
type script struct {
	commands []string // shell commands, one after another
	together bool     // all in one answer
	decoys   bool     // calls have arguments that the tool has not
	delegate *delegate
	pause    *pause
	more     object // arguments beside a command
}

// delegate has the model start a subagent, which runs the commands.
type delegate struct {
	tool string
	has  string // part of the tool's name where the agent chooses the whole; "" = tool is it
	// namespace of the tool, where the agent's protocol has such.
	namespace string
	args      func(task string) object
	// wait is the call by which the model waits for the subagent's end. Nil = the tool
	// itself waits. It returns nil when the subagent has ended.
	wait func(history string) *toolUse
}

// pause holds the model's answer after the first result until resume is closed.
type pause struct {
	once            sync.Once
	reached, resume chan struct{}
}

func newPause() *pause { return &pause{reached: make(chan struct{}), resume: make(chan struct{})} }

// theTask is how the model knows its own subagent.
const theTask = "do task 8151"

// model asks for the calls of its script, and then is done. The tools in a request tell it
// from the requests of agents for titles and the like.
type model struct {
	mu       sync.Mutex
	script   script   // guarded by mu
	requests []string // of the agent itself, in this run; guarded by mu
	inside   []string // of its subagent, in this run; guarded by mu
	known    int      // results that the session had before this run; -1 = not known yet; guarded by mu
}

// play has the model ask the next run of the agent for the calls of sc.
func (m *model) play(sc script) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.script, m.requests, m.inside, m.known = sc, nil, nil, -1
}

// asked returns the requests of this run.
func (m *model) asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// askedInside returns the requests of its subagent.
func (m *model) askedInside() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.inside)
}

// question is a request to the model, in any protocol.
type question struct {
	body    []byte
	history string   // the conversation, as JSON
	tools   []string // that it may call
	results int      // of tools, in the conversation
}

// toolUse is a call of a tool that the model asks for.
type toolUse struct {
	id, namespace, tool string
	command             string // of the shell, until args are made of it
	args                object
}

// shells are the arguments of a command, by the names of the tools that run it.
type shells map[string]func(command string) object

// answer returns the calls to ask for; nil = the model is done, or was asked for no work.
func (m *model) answer(q question, known shells) []toolUse {
	i := slices.IndexFunc(q.tools, func(tool string) bool { return known[tool] != nil })
	if i < 0 {
		return nil
	}
	m.names(q.tools)
	next, p := m.next(q, q.tools[i])
	if p != nil {
		p.once.Do(func() { close(p.reached) })
		<-p.resume
	}
	for n := range next {
		c := &next[n]
		c.id = fmt.Sprintf("call_%d", q.results+n)
		if c.command != "" {
			c.args = m.given(known[c.tool](c.command))
		}
	}
	return next
}

// names finds the tool that the script knows a part of.
func (m *model) names(tools []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.script.delegate
	if d == nil || d.has == "" {
		return
	}
	if i := slices.IndexFunc(tools, func(tool string) bool { return strings.Contains(tool, d.has) }); i >= 0 {
		space, tool, ok := strings.Cut(tools[i], "/")
		if d.tool = space; ok {
			d.namespace, d.tool = space, tool
		}
	}
}

// next returns the calls that follow q, and where to pause before them.
func (m *model) next(q question, shell string) ([]toolUse, *pause) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sc, d := m.script, m.script.delegate
	if d != nil && strings.Contains(q.history, theTask) && !strings.Contains(q.history, `"name":"`+d.tool+`"`) {
		m.inside = append(m.inside, string(q.body))
		return sc.step(shell, q.results), nil
	}
	m.requests = append(m.requests, string(q.body))
	if m.known < 0 { // a session may go on
		m.known = q.results
	}
	n := q.results - m.known
	switch {
	case d == nil && sc.pause != nil && n == 1:
		return sc.step(shell, n), sc.pause
	case d == nil:
		return sc.step(shell, n), nil
	case n == 0:
		return []toolUse{{namespace: d.namespace, tool: d.tool, args: d.args(theTask)}}, nil
	case d.wait != nil && n < 9:
		if c := d.wait(q.history); c != nil {
			return []toolUse{*c}, nil
		}
	}
	return nil, nil
}

// step returns the commands to ask for after n results.
func (sc script) step(shell string, n int) (next []toolUse) {
	commands := sc.commands
	switch {
	case n >= len(commands), sc.together && n > 0:
		return nil
	case !sc.together:
		commands = commands[n : n+1]
	}
	for _, command := range commands {
		next = append(next, toolUse{tool: shell, command: command})
	}
	return next
}

// given is the arguments of a call, beside arguments that only look like the tool's
// where there are to be such.
func (m *model) given(args object) object {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.Copy(args, m.script.more)
	if !m.script.decoys {
		return args
	}
	for _, decoy := range []string{"commandLine", "shell_command", "script", "input", "tool_input", "file_path"} {
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
			Messages json.RawMessage
		}
		_ = json.Unmarshal(body, &req)
		if !strings.HasSuffix(r.URL.Path, "/messages") {
			io.WriteString(w, `{"input_tokens":10}`)
			return
		}
		results := 0
		var messages []struct{ Content json.RawMessage }
		_ = json.Unmarshal(req.Messages, &messages)
		for _, msg := range messages {
			var blocks []struct{ Type string }
			_ = json.Unmarshal(msg.Content, &blocks)
			for _, b := range blocks {
				if b.Type == "tool_result" {
					results++
				}
			}
		}
		var tools []string
		for _, t := range req.Tools {
			tools = append(tools, t.Name)
		}
		asked := m.answer(question{body, string(req.Messages), tools, results}, shells{
			"Bash": func(c string) object { return object{"command": c, "description": "do it"} },
		})
		blocks, stop := []any{object{"type": "text", "text": "done"}}, "end_turn"
		events := []object{
			{"type": "content_block_start", "index": 0, "content_block": object{"type": "text", "text": ""}},
			{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": "done"}},
			{"type": "content_block_stop", "index": 0},
		}
		if len(asked) > 0 {
			blocks, events, stop = nil, nil, "tool_use"
		}
		for i, c := range asked {
			block := object{"type": "tool_use", "id": c.id, "name": c.tool, "input": c.args}
			blocks = append(blocks, block)
			begun := maps.Clone(block)
			begun["input"] = object{}
			events = append(events,
				object{"type": "content_block_start", "index": i, "content_block": begun},
				object{"type": "content_block_delta", "index": i, "delta": object{"type": "input_json_delta", "partial_json": raw(c.args)}},
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
			Tools []struct {
				Type, Name string
				Tools      []struct{ Name string }
			}
			Input json.RawMessage
		}
		_ = json.Unmarshal(body, &req)
		if r.Method != http.MethodPost {
			io.WriteString(w, `{"data":[],"models":[]}`)
			return
		}
		results := 0
		var input []struct{ Type string }
		_ = json.Unmarshal(req.Input, &input)
		for _, item := range input {
			if strings.HasSuffix(item.Type, "_call_output") {
				results++
			}
		}
		items := []object{{"type": "message", "role": "assistant", "id": "m", "content": []any{object{"type": "output_text", "text": "done"}}}}
		var tools []string
		for _, t := range req.Tools {
			tools = append(tools, t.Name)
			for _, inner := range t.Tools {
				tools = append(tools, t.Name+"/"+inner.Name)
			}
		}
		asked := m.answer(question{body, string(req.Input), tools, results}, shells{
			"exec_command":  func(c string) object { return object{"cmd": c} },
			"shell_command": func(c string) object { return object{"command": c} },
			"shell":         func(c string) object { return object{"command": []string{"bash", "-lc", c}} },
		})
		if len(asked) > 0 {
			items = nil
		}
		for _, c := range asked {
			item := object{"type": "function_call", "id": "fc_" + c.id, "call_id": c.id, "name": c.tool, "arguments": raw(c.args)}
			if c.namespace != "" {
				item["namespace"] = c.namespace
			}
			items = append(items, item)
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
			Messages json.RawMessage
		}
		_ = json.Unmarshal(body, &req)
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			io.WriteString(w, `{"object":"list","data":[{"id":"gpt-test","object":"model","created":1,"owned_by":"mock"}]}`)
			return
		}
		results := 0
		var messages []struct{ Role string }
		_ = json.Unmarshal(req.Messages, &messages)
		for _, msg := range messages {
			if msg.Role == "tool" {
				results++
			}
		}
		message, why := object{"role": "assistant", "content": "done"}, "stop"
		var tools []string
		for _, t := range req.Tools {
			tools = append(tools, t.Function.Name)
		}
		var calls []any
		for i, c := range m.answer(question{body, string(req.Messages), tools, results}, shells{
			"exec": func(c string) object { return object{"command": c} },
			"bash": func(c string) object { return object{"command": c, "description": "do it"} },
			"Bash": func(c string) object { return object{"command": c} },
			"run_shell_command": func(c string) object {
				return object{"command": c, "description": "do it", "is_background": false}
			},
			"run_commands": func(c string) object { return object{"commands": append(before[c], c)} },
		}) {
			function := object{"name": c.tool, "arguments": raw(c.args)}
			calls = append(calls, object{"index": i, "id": c.id, "type": "function", "function": function})
		}
		if len(calls) > 0 {
			message, why = object{"role": "assistant", "content": nil, "tool_calls": calls}, "tool_calls"
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
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var req struct {
			Tools            []struct{ FunctionDeclarations []struct{ Name string } }
			Contents         json.RawMessage
			GenerationConfig struct{ ResponseMimeType string }
		}
		_ = json.Unmarshal(body, &req)
		if strings.Contains(r.URL.Path, "countTokens") {
			io.WriteString(w, `{"totalTokens":10}`)
			return
		}
		var contents []struct {
			Parts []struct{ FunctionResponse json.RawMessage }
		}
		_ = json.Unmarshal(req.Contents, &contents)
		results := 0
		for _, c := range contents {
			for _, p := range c.Parts {
				if p.FunctionResponse != nil {
					results++
				}
			}
		}
		var tools []string
		for _, t := range req.Tools {
			for _, f := range t.FunctionDeclarations {
				tools = append(tools, f.Name)
			}
		}
		parts := []any{object{"text": "done"}}
		if req.GenerationConfig.ResponseMimeType == "application/json" { // routers and checkers
			parts = []any{object{"text": raw(object{"reasoning": "x", "model_choice": "pro", "next_speaker": "user", "complexity_score": 10, "complexity_reasoning": "x"})}}
		} else if asked := m.answer(question{body, string(req.Contents), tools, results}, shells{
			"run_shell_command": func(c string) object { return object{"command": c, "description": "do it"} },
		}); len(asked) > 0 {
			parts = nil
			for _, c := range asked {
				parts = append(parts, object{"functionCall": object{"name": c.tool, "args": c.args}})
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
