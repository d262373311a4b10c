package transcripts

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// qwenCode keeps a file for each session and for each subagent. Who decided stands in a line of
// telemetry beside the call: of its words only auto_accept was seen in a real run.
var qwenCode = agent{
	name: "qwen-code", title: "Qwen Code", prompts: Counted, depth: 4,
	roots: func(p places) []string {
		return []string{p.own("qwen-code", "projects"), p.in("QWEN_RUNTIME_DIR", ".qwen", "projects")}
	},
	is:   func(file string) bool { return strings.HasSuffix(file, ".jsonl") },
	read: readQwen,
}

func readQwen(ctx context.Context, f *File, c *collector) error {
	return lines(ctx, f, c, func(line []byte) {
		if !json.Valid(line) {
			c.skipped++
			return
		}
		switch rawjson.StringIn(line, "type") {
		case "assistant":
			qwenCalls(line, c)
		case "system":
			event := rawjson.Get(rawjson.Get(line, "systemPayload"), "uiEvent")
			id := rawjson.StringIn(event, "call_id")
			decision := rawjson.StringIn(event, "decision")
			c.about(id, func(call *Call) { qwenDecision(call, decision) })
		case "tool_result":
			result := rawjson.Get(line, "toolCallResult")
			c.result(rawjson.StringIn(result, "callId"), func(call *Call) { qwenResult(call, line, result) })
		}
	}, `"functionCall"`, `"toolCallResult"`, `qwen-code.tool_call"`)
}

func qwenCalls(line []byte, c *collector) {
	var l struct {
		SessionID, Timestamp, Cwd string
		IsSidechain               bool
		Message                   struct {
			Parts []struct {
				FunctionCall *struct {
					ID, Name string
					Args     json.RawMessage
				}
			}
		}
	}
	if json.Unmarshal(line, &l) != nil {
		c.skipped++
		return
	}
	for _, part := range l.Message.Parts {
		if f := part.FunctionCall; f != nil {
			c.call(Call{ID: f.ID, Session: l.SessionID, Time: timeOf(l.Timestamp), Cwd: l.Cwd, Tool: f.Name,
				Input: f.Args, Subagent: l.IsSidechain})
		}
	}
}

func qwenDecision(call *Call, decision string) {
	switch decision {
	case "auto_accept":
		call.By = ByRule
	case "accept", "modify":
		call.By, call.Prompt = ByPerson, Prompt{Asked: true, Yes: true}
	case "reject":
		call.By, call.Prompt = ByPerson, Prompt{Asked: true}
	}
}

func qwenResult(call *Call, line, result json.RawMessage) {
	status := rawjson.StringIn(result, "status")
	why := rawjson.StringIn(result, "errorType")
	started := rawjson.StringIn(result, "executionStatus")
	switch {
	case why == "execution_denied":
		if call.Outcome = Denied; call.By == "" || call.By == ByRule {
			call.By = ByHook
		}
	case status == "cancelled": // by a person, or because the run was ended
		if call.Outcome = Failed; started == "not_started" {
			call.Outcome, call.By = Denied, ""
		}
	case status == "error" && started == "not_started":
		call.Outcome = Denied
	case status == "error", strings.Contains(qwenOutput(line), "\nExit Code: ") &&
		!strings.Contains(qwenOutput(line), "\nExit Code: 0"):
		call.Outcome = Failed
	default:
		call.Outcome = Ran
	}
}

// qwenOutput is the output that the model was told.
func qwenOutput(line json.RawMessage) string {
	for _, part := range elements(rawjson.Get(rawjson.Get(line, "message"), "parts")) {
		text, ok := rawjson.GetString(rawjson.Get(rawjson.Get(part, "functionResponse"), "response"), "output")
		if ok {
			return text
		}
	}
	return ""
}
