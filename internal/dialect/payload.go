package dialect

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/hookd/hookd/internal/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Since returns how long ago the last prompt.submit of a session was, and
// whether there was one.
type Since func(session string) (time.Duration, bool)

// emitted is the field that holds the payload as it came, where a documented
// field took the place of one of its own.
const emitted = "emitted"

// Payload returns what a hook is given that was matched by the name given
// (SPEC section 6). Under the emitted name that is e.Data itself. Under another
// one it is all fields of e.Data and those that the other dialect documents,
// as far as e tells them; where both have a field, the documented one wins,
// and all of e.Data is under `emitted`. What LibreFang documents and e does not
// tell is null. since may be nil; e is not changed. Where hooks run in sequence,
// pass a copy of the event with the Data that they have made so far.
func Payload(e *events.Event, given string, since Since) json.RawMessage {
	row := rowOf(e.Contract, given)
	if row == e.Contract {
		return e.Data
	}
	members, has := table(row.Dialect).Write(row, facts(e, row, since)), fields(e.Data)
	if row.Dialect == events.LibreFang {
		members = withNulls(row, members, has)
	}
	if collide(has, members) {
		members = append(members, events.Member{Key: emitted, Value: e.Data})
	}
	return events.With(e.Data, members...)
}

// Fill adds to data the fields that row documents and data has not, mapped
// from the payload of e. Nothing that data has is changed.
func Fill(e *events.Event, row *events.Contract) json.RawMessage {
	var missing []events.Member
	has := fields(e.Data)
	for _, m := range table(row.Dialect).Write(row, facts(e, row, nil)) {
		if has[m.Key] == nil {
			missing = append(missing, m)
		}
	}
	return events.With(e.Data, missing...)
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

// Facts returns what the payload of e tells.
func Facts(e *events.Event) neutral.Facts { return reader(e).Read(e.Contract.Name, e.Data) }

// reader returns the table by which e's payload is read: that of the dialect
// whose row rules it. A tool.transform that the bridge makes of another
// agent's tool.after is read as that agent's.
func reader(e *events.Event) *neutral.Table {
	if e.Contract.Kind == events.KindToolTransform && Agent(e.Dialect) != nil {
		return table(e.Dialect)
	}
	return table(e.Contract.Dialect)
}

// Transform returns the tool.transform event that an agent's tool.after stands
// for: its own fields, those of tool_response_transform that it has not, and the
// result, which is the value given, as the text that the model sees.
func Transform(e *events.Event, result json.RawMessage) events.Envelope {
	f, has := Facts(e), fields(e.Data)
	var members []events.Member
	add := func(key string, value json.RawMessage) {
		if has[key] == nil && value != nil {
			members = append(members, events.Member{Key: key, Value: value})
		}
	}
	if own := first(ToolNames(e)); own != "" {
		add("tool_name", events.Quote(own))
	}
	add("tool_input", f[neutral.Input])
	add("tool_use_id", f[neutral.Call])
	members = append(members, events.StringMember("tool_response", neutral.ResultText(result)))
	env := e.Envelope
	env.Event, env.ID, env.Data = "tool_response_transform", "", events.With(e.Data, members...)
	if env.AgentID == "" && env.SessionID != "" {
		env.AgentID = AgentUUID(e.Dialect, env.SessionID) // as on the agent's other events
	}
	return env
}

// facts is what e tells, to be said in the words of row.
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
	if row.Dialect == events.LibreFang {
		libreFang(f, e, row, since)
	}
	return f
}

// outcome tells success from failure by what there is, and takes the error for
// the result where a failed call has no other.
func outcome(f neutral.Facts) {
	if f[neutral.Failed] == nil {
		f[neutral.Failed] = json.RawMessage(strconv.FormatBool(f[neutral.ErrorText] != nil))
	}
	if f[neutral.Result] == nil && f[neutral.ErrorText] != nil {
		f[neutral.Result] = f[neutral.ErrorText]
	}
}

// libreFang fills in what LibreFang documents and other agents do not send
// (SPEC section 6).
func libreFang(f neutral.Facts, e *events.Event, row *events.Contract, since Since) {
	session := f.String(neutral.Session)
	if f[neutral.AgentID] == nil && session != "" {
		f.Set(neutral.AgentID, AgentUUID(cmp.Or(e.Dialect, e.Contract.Dialect), session))
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

// fields returns the top-level members of data.
func fields(data json.RawMessage) map[string]json.RawMessage {
	return maps.Collect(events.Members(data))
}

// withNulls adds the documented fields that nobody knows.
func withNulls(row *events.Contract, members []events.Member, has map[string]json.RawMessage) []events.Member {
	for _, field := range row.Fields {
		known := slices.ContainsFunc(members, func(m events.Member) bool { return m.Key == field.Name })
		if !known && has[field.Name] == nil {
			members = append(members, events.Member{Key: field.Name})
		}
	}
	return members
}

// collide reports whether a member takes the place of another value.
func collide(has map[string]json.RawMessage, members []events.Member) bool {
	return slices.ContainsFunc(members, func(m events.Member) bool {
		was := has[m.Key]
		return was != nil && !bytes.Equal(was, m.Value)
	})
}

// urls is RFC 9562's name space of URLs.
var urls = [16]byte{0x6b, 0xa7, 0xb8, 0x11, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8}

// AgentUUID returns the agent_id of an agent that has none of its own: the
// UUIDv5 of "hookd:DIALECT:SESSION" in the name space of URLs.
func AgentUUID(d events.Dialect, session string) string {
	h := sha1.New()
	h.Write(urls[:])
	h.Write([]byte("hookd:" + string(d) + ":" + session))
	id := h.Sum(nil)[:16]
	id[6], id[8] = id[6]&0x0f|0x50, id[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
