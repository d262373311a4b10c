package judge

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// said is a reply as package verdict understands it.
func said(t *testing.T, event, schema, reply string) verdict.Answer {
	t.Helper()
	s, err := schemaNamed(schema)
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := s.read(reply)
	out := verdict.Output{Stdout: stdout}
	if err != nil {
		out.Failure = err.Error()
	}
	return verdict.Read(events.LookupIn(events.DockerAgent, event), verdict.Terms{Name: "judge", Blocking: true, StrictOutput: true}, out)
}

func TestReadTolerantly(t *testing.T) {
	for _, tt := range []struct{ name, reply, want string }{
		{"plain", `{"decision":"allow","reason":"ok"}`, "allow: ok"},
		{"normalised", `{"Decision":" DENY\n","reason":" x "}`, "deny: x"},
		{"no-reason", `{"decision":"ask"}`, "ask: no reason provided"},
		{"empty-reason", `{"decision":"ask","reason":" "}`, "ask: no reason provided"},
		{"null-reason", `{"decision":"ask","reason":null}`, "ask: no reason provided"},
		{"more-members", `{"decision":"allow","reason":"ok","score":{"n":1}}`, "allow: ok"},
		{"fence", "```json\n{\"decision\":\"deny\",\"reason\":\"r\"}\n```", "deny: r"},
		{"fence-on-one-line", "```{\"decision\":\"deny\",\"reason\":\"r\"}```", "deny: r"},
		{"braces-in-reason", `{"decision":"deny","reason":"awk '{print}'"}`, "deny: awk '{print}'"},
		{"prose", `I say {"decision":"deny","reason":"r"} and that is it`, "deny: r"},

		{"empty", "  ", "failure: empty model reply"},
		{"words", "allow", "failure: no JSON object in reply"},
		{"backwards", "} allow {", "failure: no JSON object in reply"},
		{"list", `["allow"]`, "failure: no JSON object in reply"},
		{"two-objects", `{"decision":"deny","reason":"r"} {"decision":"allow","reason":"r"}`, "failure: the JSON in the reply is broken"},
		{"brace-in-prose", `the {cmd} is fine: {"decision":"allow","reason":"r"}`, "failure: the JSON in the reply is broken"},
		{"cut-off", `{"decision":"allow","reason":"{}`, "failure: the JSON in the reply is broken"},
		{"twice", `{"decision":"deny","decision":"allow","reason":"r"}`, "failure: the reply has a member twice"},
		{"twice-in-another-case", `{"decision":"deny","DECISION":"allow","reason":"r"}`, "failure: the reply has a member twice"},
		{"unknown-word", `{"decision":"approve","reason":"r"}`, "failure: the reply's decision is none of allow, ask, deny"},
		{"no-decision", `{"reason":"allow"}`, "failure: the reply's decision is none of allow, ask, deny"},
		{"number", `{"decision":1,"reason":"r"}`, "failure: decision and reason must be strings"},
		{"reason-is-list", `{"decision":"allow","reason":["r"]}`, "failure: decision and reason must be strings"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := said(t, "pre_tool_use", SchemaPreToolUse, tt.reply)
			if got := a.String(); got != tt.want && got != "block: "+strings.TrimPrefix(tt.want, "deny: ") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if a.Failure == "" && a.SystemMessage != "🤖 model judge: "+a.PermissionDecision+" — "+a.PermissionReason {
				t.Errorf("system message = %q", a.SystemMessage)
			}
		})
	}
}

func TestReadStrictly(t *testing.T) {
	const exactly = `failure: the reply must be exactly {"decision": "allow" or "deny", "reason": "..."}`
	for _, tt := range []struct{ name, reply, want string }{
		{"allow", `{"decision":"allow","reason":"fine"}`, "no opinion"},
		{"deny", "\n{\"reason\":\"bad\",\"decision\":\"deny\"} ", "block: bad"},
		{"empty-reason", `{"decision":"deny","reason":""}`, "block"},

		{"empty", "\n", "failure: empty model reply"},
		{"ask", `{"decision":"ask","reason":"r"}`, exactly},
		{"letter-case", `{"decision":"Allow","reason":"r"}`, exactly},
		{"key-case", `{"Decision":"allow","reason":"r"}`, exactly},
		{"blanks", `{"decision":" allow","reason":"r"}`, exactly},
		{"no-reason", `{"decision":"allow"}`, exactly},
		{"null-reason", `{"decision":"allow","reason":null}`, exactly},
		{"extra", `{"decision":"allow","reason":"r","score":"1"}`, exactly},
		{"twice", `{"decision":"deny","decision":"allow","reason":"r"}`, "failure: the reply has a member twice"},
		{"twice-escaped", `{"decision":"deny","decisi\u006fn":"allow","reason":"r"}`, "failure: the reply has a member twice"},
		{"fence", "```json\n{\"decision\":\"allow\",\"reason\":\"r\"}\n```", "failure: the JSON in the reply is broken"},
		{"two", `{"decision":"allow","reason":"r"}{}`, "failure: the JSON in the reply is broken"},
		{"list", `[{"decision":"allow","reason":"r"}]`, "failure: no JSON object in reply"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, event := range []string{"skill_content_guard", "prompt_file_guard", "user_prompt_submit"} {
				if got := said(t, event, SchemaContentRule, tt.reply).String(); got != tt.want {
					t.Errorf("%s: got %q, want %q", event, got, tt.want)
				}
			}
		})
	}
}

// A judge's context on an event whose plain text is the new tool result must
// not become that result.
func TestContextIsNeverAResult(t *testing.T) {
	stdout, err := readContext("careful")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range events.All() {
		a := verdict.Read(c, verdict.Terms{Name: "judge", Blocking: true}, verdict.Output{Stdout: stdout})
		if a.UpdatedResponse != nil || a.PlainText != "" {
			t.Errorf("%s %s: %+v", c.Dialect, c.Name, a)
		}
	}
}

func FuzzReadPreToolUse(f *testing.F) {
	for _, seed := range []string{`{"decision":"allow","reason":"r"}`, "```json\n{\"decision\":\"ASK\"}\n```", `x {"decision":"deny","decision":"allow"} y`, `{"decision":"allow","reason":"\ud800"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		a := said(t, "pre_tool_use", SchemaPreToolUse, reply)
		if a.Failure != "" {
			return
		}
		if a.PermissionDecision == "" || a.PermissionReason == "" {
			t.Errorf("no verdict from %q: %+v", reply, a)
		}
		from, to := strings.IndexByte(reply, '{'), strings.LastIndexByte(reply, '}')
		if from < 0 || to < from || !json.Valid([]byte(reply[from:to+1])) {
			t.Errorf("%s from %q", a.PermissionDecision, reply)
		}
	})
}

func FuzzReadGuard(f *testing.F) {
	for _, seed := range []string{`{"decision":"allow","reason":"r"}`, `{"decision":"deny","reason":""}`, `{"decision":"allow","reason":"r"} x`, `{"Decision":"allow","reason":"r"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		a := said(t, "skill_content_guard", SchemaContentRule, reply)
		if a.Failure != "" || a.Blocked {
			return
		}
		var exact map[string]string
		if err := json.Unmarshal([]byte(reply), &exact); err != nil || len(exact) != 2 || exact["decision"] != "allow" {
			t.Errorf("%q let it pass", reply)
		}
	})
}
