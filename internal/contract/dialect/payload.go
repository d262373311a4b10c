package dialect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Since returns how long ago the last prompt.submit of a session was.
type Since = neutral.Since

// Payload returns the payload that a hook is given which was matched by the name given.
// Under the emitted name that is e.Data itself, except for a tool's arguments: see
// neutral.Table.Given. Under another one it is all fields of e.Data and the fields that
// the other dialect documents, as far as e tells them; where both have a field, the
// documented one wins, and all of e.Data is under `emitted`. A field that LibreFang
// documents and e does not tell is null. since may be nil; e is not changed. Where
// hooks run in sequence, pass a copy of the event with the Data that they have made so
// far.
func Payload(e *events.Event, given string, since Since) json.RawMessage {
	return as(e, rowOf(e.Contract, given), since)
}

// Canonical returns the payload of e in docker-agent's words, which built-ins
// read; e.Data where that has no such event.
func Canonical(e *events.Event) json.RawMessage { return in(e, events.DockerAgent) }

// Written returns the payload of e in Claude Code's words, which rules are written in; e.Data where
// that has no such event.
func Written(e *events.Event) json.RawMessage { return in(e, events.ClaudeCode) }

func in(e *events.Event, d events.Dialect) json.RawMessage {
	for _, row := range e.Contract.Aliases() {
		if row.Dialect == d {
			return as(e, row, nil)
		}
	}
	return e.Data
}

// as returns the payload of e as row documents it.
func as(e *events.Event, row *events.Contract, since Since) json.RawMessage {
	if row.Dialect == e.Contract.Dialect && row.Name == e.Contract.Name {
		return reader(e).Given(row, e.Data)
	}
	members, has := table(row.Dialect).Write(row, facts(e, row, since)), fields(e.Data)
	if a := Agent(row.Dialect); a != nil && a.Nulls {
		members = withNulls(row, members, has)
	}
	if collide(has, members) {
		members = append(members, rawjson.Member{Key: neutral.Emitted, Value: e.Data})
	}
	return rawjson.With(e.Data, members...)
}

// Fill adds to data the fields that row documents and data has not, mapped
// from the payload of e. Nothing that data has is changed.
func Fill(e *events.Event, row *events.Contract) json.RawMessage {
	var missing []rawjson.Member
	has := fields(e.Data)
	for _, m := range table(row.Dialect).Write(row, facts(e, row, nil)) {
		if has[m.Key] == nil {
			missing = append(missing, m)
		}
	}
	return rawjson.With(e.Data, missing...)
}

// rowOf returns the row of the name that a hook is given: c itself for the
// emitted one, LibreFang's where it has the name, else that of the first
// dialect of the kind.
func rowOf(c *events.Contract, given string) *events.Contract {
	if given == c.Name || given == "" {
		return c
	}
	var found *events.Contract
	for _, row := range c.Aliases() {
		switch {
		case row.Name != given:
		case row.Dialect == events.LibreFang:
			return row
		case found == nil:
			found = row
		}
	}
	return cmp.Or(found, c)
}

// Facts returns the facts in the payload of e.
func Facts(e *events.Event) neutral.Facts { return reader(e).Read(e.Contract.Name, e.Data) }

// Fact returns one of the Facts, which is no part of a tool call; nil = the event has none.
func Fact(e *events.Event, fact neutral.Fact) json.RawMessage {
	return reader(e).Fact(e.Contract.Name, e.Data, fact)
}

// ByAgent reports whether e is of a subagent, or a prompt that no person has typed, as far as e tells.
func ByAgent(e *events.Event) bool {
	told := func(fact neutral.Fact) bool { return neutral.TextOf(Fact(e, fact)) != "" }
	if told(neutral.ParentSession) || told(neutral.ParentAgent) || told(neutral.AgentID) && told(neutral.AgentType) {
		return true
	}
	agent := Agent(e.Dialect)
	if agent == nil {
		return false
	}
	return agent.OfSubagent != nil && agent.OfSubagent(e.Data) ||
		e.Contract.Kind == events.KindPromptSubmit && agent.OwnPrompt != nil && agent.OwnPrompt(e.Data)
}

// reader returns the table by which e's payload is read: that of the dialect
// whose row rules it. A tool.transform that the bridge makes of another
// agent's tool.after is read as that agent's.
func reader(e *events.Event) *neutral.Table {
	if e.Contract.Kind == events.KindToolTransform && Agent(e.Dialect) != nil {
		return table(e.Dialect)
	}
	return table(e.Contract.Dialect)
}

// Transform returns the tool.transform event that an agent's tool.after stands for: its
// own fields, the fields of tool_response_transform that it has not, and the result,
// which is the value given, as the text that the model sees.
func Transform(e *events.Event, result json.RawMessage) events.Envelope {
	f, has := Facts(e), fields(e.Data)
	var members []rawjson.Member
	add := func(key string, value json.RawMessage) {
		if has[key] == nil && value != nil {
			members = append(members, rawjson.Member{Key: key, Value: value})
		}
	}
	if own := first(ToolNames(e)); own != "" {
		add("tool_name", rawjson.Quote(own))
	}
	add("tool_input", f[neutral.Input])
	add("tool_use_id", f[neutral.Call])
	members = append(members, rawjson.StringMember("tool_response", neutral.ResultText(result)))
	env := e.Envelope
	env.Event, env.ID, env.Data = "tool_response_transform", "", rawjson.With(e.Data, members...)
	if env.AgentID == "" && env.SessionID != "" {
		env.AgentID = neutral.AgentUUID(e.Dialect, env.SessionID) // as on the agent's other events
	}
	return env
}

// facts are the facts of e, for a payload in the words of row.
func facts(e *events.Event, row *events.Contract, since Since) neutral.Facts {
	f := Facts(e)
	f.Set(neutral.Session, e.SessionID)
	f.Set(neutral.Cwd, e.Cwd)
	f.Set(neutral.AgentID, e.AgentID)
	f.Set(neutral.AgentName, e.AgentName)
	f.Set(neutral.Event, row.Name)
	if e.Contract.Kind == events.KindToolAfter {
		outcome(f)
	}
	if a := Agent(row.Dialect); a != nil && a.Fill != nil {
		a.Fill(f, e, row, since)
	}
	return f
}

// outcome tells success from failure by the facts that there are, and takes the error
// for the result where a failed call has no other.
func outcome(f neutral.Facts) {
	if f[neutral.Failed] == nil {
		f[neutral.Failed] = json.RawMessage(strconv.FormatBool(f[neutral.ErrorText] != nil))
	}
	if f[neutral.Result] == nil && f[neutral.ErrorText] != nil {
		f[neutral.Result] = f[neutral.ErrorText]
	}
}

// fields returns the top-level members of data.
func fields(data json.RawMessage) map[string]json.RawMessage {
	return maps.Collect(rawjson.Members(data))
}

// withNulls adds the documented fields whose values are unknown.
func withNulls(row *events.Contract, members []rawjson.Member, has map[string]json.RawMessage) []rawjson.Member {
	for _, field := range row.Fields {
		known := slices.ContainsFunc(members, func(m rawjson.Member) bool { return m.Key == field.Name })
		if !known && has[field.Name] == nil {
			members = append(members, rawjson.Member{Key: field.Name})
		}
	}
	return members
}

// collide reports whether a member takes the place of another value.
func collide(has map[string]json.RawMessage, members []rawjson.Member) bool {
	return slices.ContainsFunc(members, func(m rawjson.Member) bool {
		was := has[m.Key]
		return was != nil && !bytes.Equal(was, m.Value)
	})
}

// ToolResult is the result of a tool call, as its agent reports it.
type ToolResult struct {
	Text   string        // as the model sees it
	Failed bool          // the call failed, or did not run
	Took   time.Duration // as the agent says; 0 = it does not
}

// ResultOf returns the result that e reports; the zero Result of an event that reports none.
func ResultOf(e *events.Event) (r ToolResult) {
	f := Facts(e)
	outcome(f)
	r.Text, r.Failed = neutral.ResultText(f[neutral.Result]), string(f[neutral.Failed]) == "true" || failed(e)
	if ms, err := strconv.ParseFloat(string(f[neutral.Took]), 64); err == nil {
		r.Took = time.Duration(ms * float64(time.Millisecond))
	}
	return r
}
