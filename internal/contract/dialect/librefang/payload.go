package librefang

import (
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Table says which fields of LibreFang's payloads hold which facts.
func Table() neutral.Table {
	return neutral.Table{
		Rows: []neutral.FieldFact{
			{Field: "agent_id", Fact: neutral.AgentID},
			{Field: "agent_name", Fact: neutral.AgentName},
			{Field: "session_id", Fact: neutral.Session},
			{Field: "sender", Fact: neutral.Sender},
			{Field: "message_preview", Fact: neutral.Prompt, Form: neutral.Preview},
			{Field: "status", Fact: neutral.Status, Words: "ok=ok error=error max_steps=max_steps error=aborted"},
			{Field: "tokens_used", Fact: neutral.Tokens},
			{Field: "steps", Fact: neutral.Steps},
			{Field: "duration_ms", Fact: neutral.Took},
			{Field: "response_preview", Fact: neutral.Answer, Form: neutral.Preview},
			{Field: "step_index", Fact: neutral.Step},
			{Field: "tool_call", Fact: neutral.Tool},
			{Field: "tool_name", Fact: neutral.Tool},
			{Field: "tool_input", Fact: neutral.Input},
			{Field: "tool_output", Fact: neutral.Result, Form: neutral.Flat},
			{Field: "reset_reason", Fact: neutral.Reason, Words: "idle=idle daily=daily suspended=suspended manual=manual"},
		},
		Tools: tools,
	}
}

// fill adds the facts that LibreFang documents and other agents do not send: an agent
// and a sender, and how a turn ended.
func fill(f neutral.Facts, e *events.Event, row *events.Contract, since neutral.Since) {
	session := f.String(neutral.Session)
	if f[neutral.AgentID] == nil && session != "" {
		f.Set(neutral.AgentID, neutral.AgentUUID(cmp.Or(e.Dialect, e.Contract.Dialect), session))
	}
	if f[neutral.Sender] == nil {
		f.Set(neutral.Sender, "user")
	}
	if row.Kind != events.KindTurnStop {
		return
	}
	switch {
	case e.Contract.Kind == events.KindError:
		f.Set(neutral.Status, "error")
	case f[neutral.Status] == nil:
		f.Set(neutral.Status, "ok")
	}
	if since != nil {
		if d, ok := since(session); ok {
			f[neutral.Took] = json.RawMessage(strconv.FormatInt(d.Milliseconds(), 10))
		}
	}
}
