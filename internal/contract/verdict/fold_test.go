package verdict_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	_ "github.com/hookd/hookd/internal/contract/dialect" // the contract table
	. "github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

func validJSON(raw []byte) bool { return json.Valid(raw) }

// hooked is a hook and the output of its run.
type hooked struct {
	policy Terms
	out    Output
}

func says(name, stdout string) hooked {
	return hooked{Terms{Name: name, Blocking: true}, exit(0, stdout, "")}
}

func exits(name string, code int, stderr, onError string) hooked {
	return hooked{Terms{Name: name, Blocking: true, OnError: onError}, exit(code, "", stderr)}
}

func permission(name, decision, reason string) hooked {
	return says(name, fmt.Sprintf(`{"hook_specific_output":{"permission_decision":%q,"permission_decision_reason":%q}}`, decision, reason))
}

func specifically(name, fields string) hooked {
	return says(name, `{"hook_specific_output":{`+fields+`}}`)
}

const call = `{"session_id":"s","tool_name":"shell","tool_input":{"cmd":"ls","cwd":".","n":12345678901234567890},"tool_response":"r","tool_output":"o"}`

// decide runs hooks as dispatch does: in sequence where the contract says so.
func decide(c *events.Contract, hooks ...hooked) *Verdict {
	data := json.RawMessage(call)
	var answers []Answer
	for _, h := range hooks {
		a := Read(c, h.policy, h.out)
		answers = append(answers, a)
		if c.Sequence {
			data = a.Rewrite(c, data)
		}
	}
	return Fold(c, json.RawMessage(call), answers)
}

func TestFold(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	preempt := row(t, "pre_tool_use").Preempt()
	for _, tt := range []struct {
		name, event string
		hooks       []hooked
		want        Verdict // Allowed and Continue are as given
	}{
		{"nobody", "pre_tool_use", nil, Verdict{Allowed: true, Continue: true}},
		{"no-opinion", "pre_tool_use", []hooked{says("a", "{}"), says("b", "")}, Verdict{Allowed: true, Continue: true}},

		{"exit2", "pre_tool_use", []hooked{exits("a", 2, "no", "")},
			Verdict{Continue: true, Message: "no", ExitCode: 2, Stderr: "no", DecidedBy: []string{"a"}}},
		{"blocks-add-up", "pre_tool_use", []hooked{exits("a", 2, "one", ""), says("b", `{"decision":"block","reason":"two"}`)},
			Verdict{Continue: true, Message: "one\ntwo", ExitCode: 2, Stderr: "one", DecidedBy: []string{"a", "b"}}},
		{"reasons-in-order", "pre_tool_use", []hooked{says("a", `{"hook_specific_output":{"permission_decision":"deny","permission_decision_reason":"three"},"reason":"two","decision":"block","stop_reason":"one","continue":false}`)},
			Verdict{Message: "one\ntwo\nthree", StopReason: "one", PermissionDecision: "deny", DecisionReason: "three", DecidedBy: []string{"a"}}},
		{"continue-false", "user_prompt_submit", []hooked{says("a", `{"continue":false,"stopReason":"first"}`), says("b", `{"continue":false,"stop_reason":"second"}`)},
			Verdict{Message: "first\nsecond", StopReason: "first", DecidedBy: []string{"a", "b"}}},
		{"exit2-with-continue-false", "worktree_create", []hooked{{Terms{Name: "a", Blocking: true}, exit(2, `{"continue": false, "system_message": "npm install failed"}`, "")}},
			Verdict{SystemMessage: "npm install failed", ExitCode: 2, DecidedBy: []string{"a"}}},
		{"last-exit-code-counts", "pre_tool_use", []hooked{exits("a", 1, "e1", ""), exits("b", 2, "e2", "")},
			Verdict{Continue: true, Message: "pre_tool_use hook failed to execute: hook \"a\": exited with status 1\ne2", ExitCode: 2, Stderr: "e2", DecidedBy: []string{"a", "b"}}},

		{"failure-denies-fail-closed", "pre_tool_use", []hooked{exits("guard", 127, "not found", "ignore")},
			Verdict{Continue: true, Message: `pre_tool_use hook failed to execute: hook "guard": exited with status 127`, ExitCode: -1, Stderr: "not found", DecidedBy: []string{"guard"}}},
		{"failure-warns", "user_prompt_submit", []hooked{exits("a", 4, "", "warn")},
			Verdict{Allowed: true, Continue: true, SystemMessage: `user_prompt_submit hook failed to execute: hook "a": exited with status 4`}},
		{"failure-ignored", "user_prompt_submit", []hooked{exits("a", 4, "", "ignore")}, Verdict{Allowed: true, Continue: true}},
		{"failure-blocks", "user_prompt_submit", []hooked{exits("a", 4, "e", "deny")},
			Verdict{Continue: true, Message: `user_prompt_submit hook failed to execute: hook "a": exited with status 4`, ExitCode: -1, Stderr: "e", DecidedBy: []string{"a"}}},
		{"failure-cannot-block", "session_start", []hooked{exits("a", 4, "", "deny")},
			Verdict{Allowed: true, Continue: true, SystemMessage: `session_start hook failed to execute: hook "a": exited with status 4`}},

		{"exit2-on-observing-event", "session_start", []hooked{exits("a", 2, "x", "ignore")},
			Verdict{Allowed: true, Continue: true, SystemMessage: `session_start hook "a" returned exit 2, but this event cannot block`}},
		{"block-on-observing-event", "session_start", []hooked{says("a", `{"decision":"block","system_message":"mine"}`)},
			Verdict{Allowed: true, Continue: true, SystemMessage: "mine\nsession_start hook \"a\" returned a block, but this event cannot block", DecidedBy: []string{"a"}}},
		{"permission-on-other-event", "session_start", []hooked{permission("a", "allow", "")},
			Verdict{Allowed: true, Continue: true, SystemMessage: `session_start hook "a" returned permission_decision, but this event does not support approval decisions`}},
		{"permission-deny-vetoes-compaction", "before_compaction", []hooked{permission("a", "deny", "keep")},
			Verdict{Continue: true, Message: "keep", DecidedBy: []string{"a"}}},

		{"deny-beats-ask-beats-allow", "pre_tool_use", []hooked{permission("a", "allow", "x"), permission("b", "deny", "y"), permission("c", "ask", "z")},
			Verdict{Continue: true, PermissionDecision: "deny", DecisionReason: "y", Message: "y", DecidedBy: []string{"b"}}},
		{"ask-beats-allow", "tool_guard", []hooked{permission("a", "allow", "x"), permission("b", "ask", "z")},
			Verdict{Allowed: true, Continue: true, PermissionDecision: "ask", DecisionReason: "z", DecidedBy: []string{"b"}}},
		{"ties-keep-the-first-reason", "pre_tool_use", []hooked{permission("a", "ask", "first"), permission("b", "ask", "second")},
			Verdict{Allowed: true, Continue: true, PermissionDecision: "ask", DecisionReason: "first", DecidedBy: []string{"a", "b"}}},
		{"allow-does-not-lift-a-block", "pre_tool_use", []hooked{permission("a", "allow", "fine"), says("b", `{"decision":"block","reason":"no"}`)},
			Verdict{Continue: true, PermissionDecision: "allow", DecisionReason: "fine", Message: "no", DecidedBy: []string{"b"}}},
		{"approve-says-nothing", "pre_tool_use", []hooked{says("a", `{"decision":"approve"}`)}, Verdict{Allowed: true, Continue: true}},
		{"permission-request-allow", "permission_request", []hooked{permission("a", "allow", "safe"), permission("b", "allow", "too")},
			Verdict{Allowed: true, Continue: true, PermissionAllowed: true, DecisionReason: "safe", DecidedBy: []string{"a", "b"}}},
		{"permission-request-ask", "permission_request", []hooked{permission("a", "ask", "hm")}, Verdict{Allowed: true, Continue: true}},
		{"permission-request-both", "permission_request", []hooked{permission("a", "allow", "safe"), permission("b", "deny", "never")},
			Verdict{Continue: true, PermissionAllowed: true, DecisionReason: "safe", Message: "never", DecidedBy: []string{"b"}}},

		{"system-messages", "user_prompt_submit", []hooked{says("a", `{"system_message":"1"}`), says("b", `{"systemMessage":"2"}`)},
			Verdict{Allowed: true, Continue: true, SystemMessage: "1\n2", DecidedBy: []string{"a", "b"}}},
		{"context", "user_prompt_submit", []hooked{says("a", " plain \n"), specifically("b", `"additional_context":" as given "`), says("c", `{"hook_specific_output":{"instruction_context":[{"content":"x"},{"content":"gone","removed":true},{"content":"y"}]}}`)},
			Verdict{Allowed: true, Continue: true, AdditionalContext: "plain\n as given \nx\n\ny", DecidedBy: []string{"a", "b", "c"}}},
		{"context-elsewhere", "pre_tool_use", []hooked{says("a", "plain"), specifically("b", `"additional_context":"c"`)}, Verdict{Allowed: true, Continue: true}},
		{"suppress-any", "user_prompt_submit", []hooked{says("a", `{"suppress_output":true}`), says("b", `{"suppress_output":false}`)},
			Verdict{Allowed: true, Continue: true, SuppressOutput: true}},
		{"summary-first", "before_compaction", []hooked{specifically("a", `"summary":""`), specifically("b", `"summary":"one"`), specifically("c", `"summary":"two"`)},
			Verdict{Allowed: true, Continue: true, Summary: "one", DecidedBy: []string{"b"}}},
		{"summary-elsewhere", "pre_compact", []hooked{specifically("a", `"summary":"x"`)}, Verdict{Allowed: true, Continue: true}},
		{"metadata-last-wins", "tool_guard", []hooked{specifically("a", `"metadata":{"x":"1","y":"1"}`), specifically("b", `"metadata":{"y":"2"}`)},
			Verdict{Allowed: true, Continue: true, Metadata: map[string]string{"x": "1", "y": "2"}, DecidedBy: []string{"a", "b"}}},
		{"metadata-elsewhere", "pre_tool_use", []hooked{specifically("a", `"metadata":{"x":"1"}`)}, Verdict{Allowed: true, Continue: true}},

		{"patch", "pre_tool_use", []hooked{specifically("a", `"updated_input":{"cmd":"ls -h"}`)},
			Verdict{Allowed: true, Continue: true, UpdatedInput: raw(`{"cmd":"ls -h","cwd":".","n":12345678901234567890}`), DecidedBy: []string{"a"}}},
		{"patches-compose", "tool_input_transform", []hooked{specifically("a", `"updated_input":{"cmd":"x","new":{"k":1}}`), specifically("b", `"updatedInput":{"cwd":null,"new":{}}`)},
			Verdict{Allowed: true, Continue: true, UpdatedInput: raw(`{"cmd":"x","cwd":null,"n":12345678901234567890,"new":{}}`), DecidedBy: []string{"a", "b"}}},
		{"empty-patch", "pre_tool_use", []hooked{specifically("a", `"updated_input":{}`)},
			Verdict{Allowed: true, Continue: true, UpdatedInput: raw(`{"cmd":"ls","cwd":".","n":12345678901234567890}`), DecidedBy: []string{"a"}}},
		{"null-patch", "pre_tool_use", []hooked{specifically("a", `"updated_input":null`)}, Verdict{Allowed: true, Continue: true}},
		{"patch-on-permission-request", "permission_request", []hooked{specifically("a", `"permission_decision":"allow","updated_input":{"cmd":"pwd"}`)},
			Verdict{Allowed: true, Continue: true, PermissionAllowed: true, UpdatedInput: raw(`{"cmd":"pwd","cwd":".","n":12345678901234567890}`), DecidedBy: []string{"a"}}},
		{"patch-survives-a-denial", "pre_tool_use", []hooked{specifically("a", `"updated_input":{"cmd":"x"}`), exits("b", 2, "no", "")},
			Verdict{Continue: true, Message: "no", ExitCode: 2, Stderr: "no", UpdatedInput: raw(`{"cmd":"x","cwd":".","n":12345678901234567890}`), DecidedBy: []string{"b"}}},
		{"patch-of-a-failure", "tool_input_transform", []hooked{{Terms{Name: "a", Blocking: true, OnError: "ignore"}, exit(1, `{"hook_specific_output":{"updated_input":{"cmd":"x"}}}`, "")}},
			Verdict{Allowed: true, Continue: true}},
		{"patch-elsewhere", "tool_guard", []hooked{specifically("a", `"updated_input":{"cmd":"x"}`)}, Verdict{Allowed: true, Continue: true}},
		{"last-messages", "before_llm_call", []hooked{specifically("a", `"updated_messages":[{"role":"a"}]`), specifically("b", `"updated_messages":[{"role":"b"}]`), specifically("c", `"updated_messages":[]`)},
			Verdict{Allowed: true, Continue: true, UpdatedMessages: raw(`[{"role":"b"}]`), DecidedBy: []string{"a", "b"}}},
		{"last-response", "tool_response_transform", []hooked{specifically("a", `"updated_tool_response":"one"`), specifically("b", `"updated_tool_response":""`), specifically("c", `"updated_tool_response":null`)},
			Verdict{Allowed: true, Continue: true, UpdatedToolResponse: raw(`""`), DecidedBy: []string{"a", "b"}}},

		{"transform-first-wins", "transform_tool_result", []hooked{says("a", ""), says("b", "one"), says("c", "two")},
			Verdict{Allowed: true, Continue: true, UpdatedToolResponse: raw(`"one"`), DecidedBy: []string{"b"}}},
		{"transform-skips-a-failure", "transform_tool_result", []hooked{exits("a", 2, "x", "ignore"), says("b", "one")},
			Verdict{Allowed: true, Continue: true, UpdatedToolResponse: raw(`"one"`), DecidedBy: []string{"b"}}},
		{"transform-clears", "transform_tool_result", []hooked{says("a", `{"tool_output":""}`), says("b", "two")},
			Verdict{Allowed: true, Continue: true, UpdatedToolResponse: raw(`""`), DecidedBy: []string{"a"}}},

		{"guard-withholds-reasons", "skill_content_guard", []hooked{says("a", `{"continue":false,"stop_reason":"secret"}`), exits("b", 2, "secret", "")},
			Verdict{ExitCode: 2, DecidedBy: []string{"a", "b"}}},
		{"guard-withholds-causes", "prompt_file_guard", []hooked{{Terms{Name: "a", Blocking: true, OnError: "ignore"}, exit(0, `{"secret":1}`, "secret")}},
			Verdict{Continue: true, Message: `prompt_file_guard hook failed to execute: hook "a": content check failed`, ExitCode: -1, DecidedBy: []string{"a"}}},
		{"guard-allows", "skill_content_guard", []hooked{says("a", `{"continue":true}`)}, Verdict{Allowed: true, Continue: true}},

		{"librefang-observes", "agent:end", []hooked{exits("a", 2, "x", "deny"), says("b", `{"decision":"block","system_message":"x"}`)}, Verdict{Allowed: true, Continue: true}},
		{"preempt-lane", "", []hooked{specifically("a", `"permission_decision":"ask","updated_input":{"cmd":"x"},"metadata":{"blast_radius":"high"}`)},
			Verdict{Allowed: true, Continue: true, PermissionDecision: "ask", Metadata: map[string]string{"blast_radius": "high"}, DecidedBy: []string{"a"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &preempt
			if tt.event != "" {
				c = row(t, tt.event)
			}
			if got := decide(c, tt.hooks...); !reflect.DeepEqual(*got, tt.want) {
				t.Errorf("verdict\n got %s\nwant %s", show(got), show(&tt.want))
			}
		})
	}
}

func show(v *Verdict) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// A hook that does not block never delays, denies or adds to a verdict.
func TestFoldLeavesObserversOut(t *testing.T) {
	for _, c := range events.All() {
		for _, out := range []Output{exit(1, "", "x"), exit(2, "", "x"), exit(0, "text", ""), exit(0, "{", ""),
			exit(0, `{"continue":false,"suppress_output":true,"system_message":"m","hook_specific_output":{"permission_decision":"deny","updated_input":{"a":1},"updated_tool_response":"x","updated_messages":[{}],"additional_context":"c","summary":"s","metadata":{"k":"v"}}}`, "")} {
			policy := Terms{Name: "log", OnError: "deny"}
			a := Read(c, policy, out)
			want := Verdict{Allowed: true, Continue: true}
			if got := Fold(c, json.RawMessage(call), []Answer{a}); !reflect.DeepEqual(*got, want) {
				t.Errorf("%s: an observer made the verdict %s", c.Name, show(got))
			}
			if got := a.Rewrite(c, json.RawMessage(call)); string(got) != call {
				t.Errorf("%s: an observer rewrote the payload: %s", c.Name, got)
			}
		}
	}
}

func TestRewrite(t *testing.T) {
	for _, tt := range []struct{ name, event, stdout, data, want string }{
		{"input", "pre_tool_use", `{"hook_specific_output":{"updated_input":{"b":3,"c":4}}}`,
			`{"x": 1.50, "tool_input": {"a":1,"b":2}, "y":"<&>"}`, `{"x":1.50,"tool_input":{"a":1,"b":3,"c":4},"y":"<&>"}`},
		{"no-input-yet", "pre_tool_use", `{"hook_specific_output":{"updated_input":{"a":1}}}`, `{"x":1}`, `{"x":1,"tool_input":{"a":1}}`},
		{"input-was-null", "pre_tool_use", `{"hook_specific_output":{"updated_input":{"a":1}}}`, `{"tool_input":null}`, `{"tool_input":{"a":1}}`},
		{"no-data", "pre_tool_use", `{"hook_specific_output":{"updated_input":{"a":1}}}`, ``, `{"tool_input":{"a":1}}`},
		{"response", "tool_response_transform", `{"hook_specific_output":{"updated_tool_response":{"k":[1]}}}`, `{"tool_response":"r"}`, `{"tool_response":{"k":[1]}}`},
		{"result", "transform_tool_result", "new", `{"tool_output":"o"}`, `{"tool_output":"new"}`},
		{"messages", "before_llm_call", `{"hook_specific_output":{"updated_messages":[{}]}}`, `{"messages":[1],"iteration":1}`, `{"messages":[{}],"iteration":1}`},
		{"nothing-to-do", "pre_tool_use", `{}`, `{ "tool_input" : {} }`, `{ "tool_input" : {} }`},
		{"elsewhere", "tool_guard", `{"hook_specific_output":{"updated_input":{"a":1}}}`, `{"tool_input":{}}`, `{"tool_input":{}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := row(t, tt.event)
			a := Read(c, blocking, exit(0, tt.stdout, ""))
			if got := string(a.Rewrite(c, json.RawMessage(tt.data))); got != tt.want {
				t.Errorf("payload = %s, want %s", got, tt.want)
			}
		})
	}
}

// A hook may be given the name of another dialect than the emitted name: how its answer
// is read goes by the first, its power by the second.
func TestGivenAnotherName(t *testing.T) {
	emitted, given := row(t, "tool_response_transform"), row(t, "transform_tool_result")
	a := Read(given, blocking, exit(0, "redacted\n", ""))
	v := Fold(emitted, json.RawMessage(call), []Answer{a})
	if got, want := string(v.UpdatedToolResponse), `"redacted\n"`; got != want {
		t.Errorf("updated_tool_response = %s, want %s", got, want)
	}
	if got, want := string(a.Rewrite(emitted, json.RawMessage(`{"tool_response":"r"}`))), `{"tool_response":"redacted\n"}`; got != want {
		t.Errorf("payload = %s, want %s", got, want)
	}
}

func TestThen(t *testing.T) {
	ask := &Verdict{Allowed: true, Continue: true, PermissionDecision: "ask", DecisionReason: "a", SystemMessage: "1", Metadata: map[string]string{"k": "1", "l": "1"}, DecidedBy: []string{"p"}}
	quiet := &Verdict{Allowed: true, Continue: true}
	allow := &Verdict{Allowed: true, Continue: true, PermissionDecision: "allow", DecisionReason: "b", SystemMessage: "2", UpdatedInput: json.RawMessage(`{}`), Metadata: map[string]string{"k": "2"}, DecidedBy: []string{"d"}}
	denied := &Verdict{Continue: false, StopReason: "s", Message: "no", ExitCode: 2, Stderr: "e", DecidedBy: []string{"x"}}
	for _, tt := range []struct {
		name        string
		first, next *Verdict
		want        Verdict
	}{
		{"nothing", quiet, quiet, Verdict{Allowed: true, Continue: true}},
		{"stricter-wins", ask, allow, Verdict{Allowed: true, Continue: true, PermissionDecision: "ask", DecisionReason: "a", SystemMessage: "1\n2", UpdatedInput: json.RawMessage(`{}`), Metadata: map[string]string{"k": "2", "l": "1"}, DecidedBy: []string{"p", "d"}}},
		{"later-is-stricter", allow, ask, Verdict{Allowed: true, Continue: true, PermissionDecision: "ask", DecisionReason: "a", SystemMessage: "2\n1", UpdatedInput: json.RawMessage(`{}`), Metadata: map[string]string{"k": "1", "l": "1"}, DecidedBy: []string{"d", "p"}}},
		{"denied-later", quiet, denied, *denied},
		{"denied-first", denied, allow, Verdict{PermissionDecision: "allow", DecisionReason: "b", StopReason: "s", Message: "no", ExitCode: 2, Stderr: "e", SystemMessage: "2", UpdatedInput: json.RawMessage(`{}`), Metadata: map[string]string{"k": "2"}, DecidedBy: []string{"x"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Then(tt.first, tt.next); !reflect.DeepEqual(*got, tt.want) {
				t.Errorf("verdict\n got %s\nwant %s", show(got), show(&tt.want))
			}
		})
	}
	if quiet.Skips() || allow.Skips() || !ask.Skips() || !denied.Skips() {
		t.Error("only a denial and an ask skip the next lane")
	}
}

func BenchmarkFold(b *testing.B) {
	c := row(b, "pre_tool_use")
	var answers []Answer
	for i := range 10 {
		h := specifically(fmt.Sprintf("h%d", i), `"permission_decision":"ask","permission_decision_reason":"r","updated_input":{"cmd":"x"}`)
		answers = append(answers, Read(c, h.policy, h.out))
	}
	b.ReportAllocs()
	for b.Loop() {
		Fold(c, json.RawMessage(call), answers)
	}
}

// A part of an answer that the event cannot take yields one warning, and does no harm.
func TestPartsThatAnEventDoesNotTakeWarn(t *testing.T) {
	parts := map[string]string{
		"updated_input": `{"a":1}`, "updated_messages": `[{"role":"user"}]`, "updated_tool_response": `"x"`,
		"additional_context": `"x"`, "summary": `"x"`, "metadata": `{"k":"v"}`,
	}
	warned := map[string]bool{}
	for _, c := range events.All() {
		for key, value := range parts {
			a := Read(c, blocking, exit(0, `{"hook_specific_output":{"`+key+`":`+value+`}}`, ""))
			if !c.Decidable || c.Explicit || a.Failure != "" {
				continue
			}
			a = a.WarnedOfIgnored(c)
			v := Fold(c, json.RawMessage(`{}`), []Answer{a})
			carries := v.UpdatedInput != nil || v.UpdatedMessages != nil || v.UpdatedToolResponse != nil || v.AdditionalContext != "" ||
				v.Summary != "" || v.Metadata != nil
			if says := strings.Count(a.Warning, key+" was ignored"); says > 1 || (says == 1) == carries {
				t.Errorf("%s %s: %s: warning %q, verdict %+v", c.Dialect, c.Name, key, a.Warning, v)
			}
			warned[key] = warned[key] || !carries
		}
	}
	for key := range parts {
		if !warned[key] {
			t.Errorf("no event was found that cannot take %s", key)
		}
	}
}

// A message names a hook as its policy calls it; the record has its name.
func TestMessagesCallAHookByItsCommand(t *testing.T) {
	a := Read(events.LookupIn(events.DockerAgent, "pre_tool_use"), Terms{Name: "root/pre_tool_use[0]", Called: "exit 1", Blocking: true}, exit(1, "", ""))
	v := Fold(events.LookupIn(events.DockerAgent, "pre_tool_use"), nil, []Answer{a})
	if text := fmt.Sprintf("%+v", v); !strings.Contains(text, `hook "exit 1"`) || strings.Contains(text, `hook "root/`) || !strings.Contains(text, "root/pre_tool_use[0]") {
		t.Errorf("verdict = %s", text)
	}
}

// Of two answers the stricter holds, in either order: answers of hooks are ordered as the records of decisions are.
func TestRankIsTheOrderOfOutcomes(t *testing.T) {
	var words []string // that a hook can answer, the strictest first
	for _, o := range wire.Outcomes() {
		if _, known := ranks[string(o)]; known {
			words = append(words, string(o))
		}
	}
	if len(words) != len(ranks) {
		t.Fatalf("wire.Outcomes has only %q of deny, ask, contain and allow", words)
	}
	seen := 0
	for _, c := range events.All() {
		takes := func(word string) bool { return decide(c, permission("a", word, "")).PermissionDecision == word }
		if !c.Decidable || slices.ContainsFunc(words, func(w string) bool { return !takes(w) }) {
			continue
		}
		seen++
		for i, strict := range words {
			for _, loose := range words[i:] {
				one, other := permission("a", strict, ""), permission("b", loose, "")
				for _, v := range []*Verdict{decide(c, one, other), decide(c, other, one)} {
					if v.PermissionDecision != strict {
						t.Errorf("%s %s: %s and %s make %q", c.Dialect, c.Name, strict, loose, v.PermissionDecision)
					}
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no event takes all four words")
	}
}

// ranks orders the words of a permission decision; no word has 0.
var ranks = map[string]int{"allow": 1, "contain": 2, "ask": 3, "deny": 4}
