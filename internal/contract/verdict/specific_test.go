package verdict_test

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// A field that few agents read is folded by its kind: lists are joined, one true is
// enough, of other values the last counts, and the strictest answer to a question.
func TestSpecificIsFolded(t *testing.T) {
	for _, tt := range []struct {
		name, event string
		hooks       []hooked
		want        string // Specific as JSON
		allowed     bool
		permission  string
	}{
		{"title", "SessionStart", []hooked{specifically("a", `"session_title":"one"`), specifically("b", `"sessionTitle":"two"`)}, `{"session_title":"two"}`, true, ""},
		{"start", "SessionStart", []hooked{specifically("a", `"initialUserMessage":"go","watchPaths":["/a","/b"],"reloadSkills":true`), specifically("b", `"watch_paths":["/b","/c"],"reload_skills":false`)},
			`{"initial_user_message":"go","reload_skills":true,"watch_paths":["/a","/b","/c"]}`, true, ""},
		{"prompt", "UserPromptSubmit", []hooked{says("a", `{"decision":"block","reason":"r","hookSpecificOutput":{"suppressOriginalPrompt":true,"sessionTitle":"t"}}`)},
			`{"session_title":"t","suppress_original_prompt":true}`, false, ""},
		{"nothing to watch", "CwdChanged", []hooked{specifically("a", `"watchPaths":[]`)}, `{"watch_paths":[]}`, true, ""},
		{"retry", "PermissionDenied", []hooked{specifically("a", `"retry":true`), specifically("b", `"retry":false`)}, `{"retry":true}`, true, ""},
		{"no retry", "PermissionDenied", []hooked{specifically("a", `"retry":false`)}, ``, true, ""},
		{"accept", "Elicitation", []hooked{specifically("a", `"action":"accept","content":{"name":"x"}`)}, `{"action":"accept","content":{"name":"x"}}`, true, ""},
		{"the last accept, with its own content", "Elicitation", []hooked{specifically("a", `"action":"accept","content":{"name":"x"}`), specifically("b", `"action":"accept"`)}, `{"action":"accept"}`, true, ""},
		{"cancel", "Elicitation", []hooked{specifically("a", `"action":"cancel"`), specifically("b", `"action":"accept","content":{"name":"x"}`)}, `{"action":"cancel"}`, false, ""},
		{"decline before cancel", "ElicitationResult", []hooked{specifically("a", `"action":"decline"`), specifically("b", `"action":"cancel"`)}, `{"action":"decline"}`, false, ""},
		{"content alone", "Elicitation", []hooked{specifically("a", `"content":{"name":"x"}`)}, ``, true, ""},
		{"defer", "PreToolUse", []hooked{specifically("a", `"permissionDecision":"defer"`)}, `{"defer":true}`, true, "ask"},
		{"defer over ask", "PreToolUse", []hooked{specifically("a", `"permissionDecision":"ask"`), specifically("b", `"permissionDecision":"defer"`)}, `{"defer":true}`, true, "ask"},
		{"deny over defer", "PreToolUse", []hooked{specifically("a", `"permissionDecision":"defer"`), exits("b", 2, "no", "")}, ``, false, "ask"},
		{"another event", "Stop", []hooked{specifically("a", `"sessionTitle":"t"`)}, ``, true, ""},
		{"of no type", "SessionStart", []hooked{specifically("a", `"sessionTitle":7,"watchPaths":[1],"reloadSkills":"yes","additionalContext":"c"`)}, ``, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := decide(events.LookupIn(events.ClaudeCode, tt.event), tt.hooks...)
			got := ""
			if v.Specific != nil {
				text, _ := json.Marshal(v.Specific)
				got = string(text)
			}
			if got != tt.want || v.Allowed != tt.allowed || v.PermissionDecision != tt.permission {
				t.Errorf("got %s, %s; want %s", got, show(v), tt.want)
			}
		})
	}
}

// A defer ends with a stricter word of the other lane, and with a person's answer.
func TestDeferIsAnAskThatNothingHasSettled(t *testing.T) {
	c := events.LookupIn(events.ClaudeCode, "PreToolUse")
	deferred := decide(c, specifically("a", `"permissionDecision":"defer"`))
	denied := decide(c, exits("b", 2, "no", ""))
	for name, v := range map[string]*Verdict{
		"denied by the next lane": Then(deferred, denied), "denied by the first": Then(denied, deferred),
		"approved": Approved(deferred, "yes"), "declined": Declined(deferred, "no"),
	} {
		if v.Specific != nil {
			t.Errorf("%s: still deferred: %s", name, show(v))
		}
	}
	if v := Then(deferred, decide(c)); v.Specific[events.TakesDefer.Name] == nil || deferred.Specific[events.TakesDefer.Name] == nil {
		t.Errorf("a lane without an opinion took the defer away: %s", show(v))
	}
}

// A hook hears of each key that came to nothing, and a hook that may only tighten can
// neither accept a question nor have a call tried again.
func TestIgnoredSpecificWarns(t *testing.T) {
	for _, tt := range []struct{ event, fields, want string }{
		{"Stop", `"sessionTitle":"t"`, "session_title was ignored: Stop takes none"},
		{"Elicitation", `"content":{}`, "content was ignored: it needs the action accept beside it"},
		{"PermissionDenied", `"retry":"yes"`, "retry was ignored: it must be of type boolean"},
		{"CwdChanged", `"watchPaths":["/a"]`, ""},
	} {
		c := events.LookupIn(events.ClaudeCode, tt.event)
		h := specifically("a", tt.fields)
		if got := Read(c, h.policy, h.out).WarnedOfIgnored(c).Warning; got != tt.want {
			t.Errorf("%s of %s: warned %q, want %q", tt.fields, tt.event, got, tt.want)
		}
	}
	for event, fields := range map[string]string{"Elicitation": `"action":"accept","content":{}`, "PermissionDenied": `"retry":true`} {
		c := events.LookupIn(events.ClaudeCode, event)
		h := specifically("a", fields)
		h.policy.TightenOnly = true
		a := Read(c, h.policy, h.out).Tightened()
		if v := Fold(c, nil, []Answer{a}); v.Specific != nil || !strings.Contains(a.Warning, "may only deny, ask or add context") {
			t.Errorf("%s: got %s, warned %q", event, show(v), a.Warning)
		}
	}
}
