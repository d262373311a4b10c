package neutral

import (
	"cmp"
	"encoding/json"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/verdict"
)

// Asked is a verdict that an agent waits for.
type Asked struct {
	Event   string          // as the agent calls it
	Payload json.RawMessage // what the agent sent
	Verdict *verdict.Verdict
	// Headless: the agent runs without a person; false = with one, or that is not known.
	Headless bool
}

// Reply is the answer that the agent reads: exactly these bytes, and the exit code.
type Reply struct {
	Stdout, Stderr string
	Exit           int
}

// Denies reports whether the verdict says no.
func (a Asked) Denies() bool { return !a.Verdict.Allowed }

// Asks reports whether a person is to decide.
func (a Asked) Asks() bool { return a.Verdict.Allowed && a.Verdict.PermissionDecision == "ask" }

// Allows reports whether a hook said that no person need be asked. No opinion does
// not count as that.
func (a Asked) Allows() bool {
	return a.Verdict.Allowed && (a.Verdict.PermissionDecision == "allow" || a.Verdict.PermissionAllowed)
}

// Rewrites reports whether the call is allowed with another input.
func (a Asked) Rewrites() bool { return a.Verdict.Allowed && a.Verdict.UpdatedInput != nil }

// RewritesOnly reports whether a hook changed the input and none said whether the
// call may run. An agent that takes a new input only with an approval does not get
// the new input then.
func (a Asked) RewritesOnly() bool { return a.Rewrites() && !a.Allows() && !a.Asks() }

// InputStays is the text for a user whose agent was not given the new input.
func InputStays(agent string) string {
	return "hookd: a hook changed the input of this call, and " + agent +
		" takes another input only from a hook that approves the call: the call has the input that it had"
}

// Reason returns why, in the hooks' words; never blank.
func (a Asked) Reason() string {
	v := a.Verdict
	if a.Denies() {
		return verdict.WhyDenied(v)
	}
	if a.Rewrites() {
		return verdict.Worded(v.DecisionReason, v.Message, "a hook changed the input of this call")
	}
	return verdict.Worded(v.DecisionReason, v.Message, "a hook asks for a person's decision")
}

// StopReason returns why the agent is to stop; never blank.
func (a Asked) StopReason() string { return verdict.Worded(a.Verdict.StopReason, a.Reason()) }

// NewResult is the text that replaces a result, for an agent that takes it as a reason; never blank.
func (a Asked) NewResult() string {
	return verdict.Worded(ResultText(a.Verdict.UpdatedToolResponse), "(a hook removed the tool's result)")
}

// Is reports whether the event is one of names, which are separated by blanks.
func (a Asked) Is(names string) bool { return names != "" && holds(names, a.Event) }

// Taken are the members of hookSpecificOutput for fields that few agents read, in Claude
// Code's spelling. The verdict has only fields that the event's row takes. A defer is
// said as a permissionDecision, an action beside its content and as a denial: see
// Elicited.
func (a Asked) Taken() (inner []rawjson.Member) {
	for _, k := range []struct{ key, says string }{
		{"session_title", "sessionTitle"}, {"initial_user_message", "initialUserMessage"},
		{"watch_paths", "watchPaths"}, {"reload_skills", "reloadSkills"},
		{"suppress_original_prompt", "suppressOriginalPrompt"}, {"retry", "retry"},
		{"classifier_context", "classifierContext"},
	} {
		if value := a.Verdict.Specific[k.key]; value != nil {
			inner = append(inner, Raw(k.says, value))
		}
	}
	return inner
}

// Elicited are the members that answer an MCP server's question; nil = no hook answered
// it, and the person is asked.
func (a Asked) Elicited() []rawjson.Member {
	action := a.Verdict.Specific["action"]
	switch {
	case a.Denies() && string(action) != `"cancel"`:
		return []rawjson.Member{Str("action", "decline")}
	case action == nil:
		return nil
	}
	inner := []rawjson.Member{Raw("action", action)}
	if content := a.Verdict.Specific["content"]; content != nil {
		inner = append(inner, Raw("content", content))
	}
	return inner
}

// Object writes members as a JSON object, in order; "" for none.
func Object(members ...rawjson.Member) string {
	if len(members) == 0 {
		return ""
	}
	return string(rawjson.With(nil, members...))
}

// Say makes the reply that is one JSON object on stdout; empty stands for none
// where members are missing.
func Say(empty string, members ...rawjson.Member) Reply {
	return Reply{Stdout: cmp.Or(Object(members...), empty)}
}

// Member makes a member whose value is an object.
func Member(key string, members ...rawjson.Member) rawjson.Member {
	return rawjson.Member{Key: key, Value: rawjson.With(nil, members...)}
}

// Str makes a member whose value is a string.
func Str(key, value string) rawjson.Member { return rawjson.StringMember(key, value) }

// Bool makes a member whose value is true or false.
func Bool(key string, value bool) rawjson.Member {
	if value {
		return rawjson.Member{Key: key, Value: json.RawMessage("true")}
	}
	return rawjson.Member{Key: key, Value: json.RawMessage("false")}
}

// Raw makes a member of any value.
func Raw(key string, value json.RawMessage) rawjson.Member {
	return rawjson.Member{Key: key, Value: value}
}
