package verdict_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

func row(t testing.TB, name string) *events.Contract {
	t.Helper()
	for _, d := range []events.Dialect{events.DockerAgent, events.LibreFang} {
		if c := events.LookupIn(d, name); c != nil {
			return c
		}
	}
	t.Fatalf("no contract for %s", name)
	return nil
}

var blocking = Terms{Name: "h", Blocking: true}

func exit(code int, stdout, stderr string) Output {
	return Output{ExitCode: code, Stdout: []byte(stdout), Stderr: []byte(stderr)}
}

// Each rule of docs/reference/running-hooks.md, "Answers".
func TestRead(t *testing.T) {
	specific := func(s string) string { return `{"hook_specific_output":{` + s + `}}` }
	for _, tt := range []struct {
		name, event string
		out         Output
		want        string // of Answer.String
		warning     string // part of it
	}{
		{"empty", "pre_tool_use", exit(0, "", ""), "no opinion", ""},
		{"blank", "session_start", exit(0, " \n", ""), "no opinion", ""},
		{"empty-object", "pre_tool_use", exit(0, " {} \n", ""), "no opinion", ""},
		{"stderr-of-a-success", "pre_tool_use", exit(0, "", "debug"), "no opinion", ""},

		{"block", "pre_tool_use", exit(0, `{"decision":"block","reason":"no"}`, ""), "block: no", ""},
		{"deny-is-block", "pre_tool_use", exit(0, `{"decision":"deny","reason":"no"}`, ""), "block: no", ""},
		{"approve-is-no-opinion", "pre_tool_use", exit(0, `{"decision":"approve","reason":"fine"}`, ""), "no opinion", ""},
		{"allow-is-no-opinion", "pre_tool_use", exit(0, `{"decision":"allow"}`, ""), "no opinion", ""},
		{"null-is-absent", "pre_tool_use", exit(0, `{"decision":null,"continue":null,"hook_specific_output":null}`, ""), "no opinion", ""},
		{"blanks-before", "pre_tool_use", exit(0, "\n\t {\"decision\":\"block\"}", ""), "block", ""},
		{"stop", "pre_tool_use", exit(0, `{"continue":false,"stop_reason":"enough"}`, ""), "block: enough", ""},
		{"permission-deny", "pre_tool_use", exit(0, specific(`"permission_decision":"deny","permission_decision_reason":"no rm"`), ""), "block: no rm", ""},
		{"permission-ask", "pre_tool_use", exit(0, specific(`"permission_decision":"ask","permission_decision_reason":"sure?"`), ""), "ask: sure?", ""},
		{"permission-allow", "pre_tool_use", exit(0, specific(`"permission_decision":"allow"`), ""), "allow", ""},

		{"byte-order-mark", "pre_tool_use", exit(0, "\ufeff{\"decision\":\"block\"}", ""), "block", ""},
		{"byte-order-mark-behind-a-blank", "pre_tool_use", exit(0, " \ufeff {\"decision\":\"block\"}", ""), "block", ""},
		{"array", "pre_tool_use", exit(0, `[{"decision":"block"}]`, ""), "failure: its answer is JSON but no object…", ""},
		{"string", "pre_tool_use", exit(0, `"deny"`, ""), "failure: its answer is JSON but no object…", ""},
		{"false", "pre_tool_use", exit(0, "false\n", ""), "failure: its answer is JSON but no object…", ""},
		{"a-line-of-log", "pre_tool_use", exit(0, "[info] looked at it", ""), "plain text", ""},
		{"twice", "pre_tool_use", exit(0, `{"decision":"block","decision":"allow"}`, ""), "failure: its answer gives key…", ""},
		{"twice-in-capitals", "pre_tool_use", exit(0, `{"decision":"block","DECISION":null}`, ""), "failure: its answer gives key…", ""},
		{"twice-inside", "pre_tool_use", exit(0, specific(`"permission_decision":"deny","permission_decision":"allow"`), ""), "failure: its answer gives key…", ""},
		{"twice-the-same", "pre_tool_use", exit(0, `{"decision":"block","decision":"block"}`, ""), "block", "decision is given more than once"},

		{"camel-case", "pre_tool_use", exit(0, `{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"x"}}`, ""), "block: x", ""},
		{"camel-stop-reason", "pre_tool_use", exit(0, `{"continue":false,"stopReason":"why"}`, ""), "block: why", ""},
		{"any-letter-case", "pre_tool_use", exit(0, `{"DECISION":"block"}`, ""), "block", ""},
		{"snake-wins", "pre_tool_use", exit(0, `{"hook_specific_output":{"permission_decision":"deny"},"hookSpecificOutput":{}}`, ""), "block", "hook_specific_output is given more than once"},
		{"snake-wins-after-camel", "pre_tool_use", exit(0, `{"continue":false,"stopReason":"camel","stop_reason":"snake"}`, ""), "block: snake", "stop_reason is given more than once"},
		{"unknown-keys", "post_tool_use", exit(0, `{"future":1,"hook_specific_output":{"later":true}}`, ""), "no opinion", ""},
		{"unknown-keys-of-a-guard", "pre_tool_use", exit(0, `{"future":1,"hook_specific_output":{"later":true}}`, ""), "failure: its answer says nothing…", ""},
		{"unknown-keys-beside-a-reason", "pre_tool_use", exit(0, `{"desicion":"block","reason":"no"}`, ""), "failure: its answer says nothing…", ""},
		{"unknown-keys-inside", "pre_tool_use", exit(0, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permisionDecision":"deny"}}`, ""), "failure: its answer says nothing…", ""},
		{"known-and-unknown-keys", "pre_tool_use", exit(0, `{"future":1,"system_message":"hi"}`, ""), "allowed, with something to say", ""},
		{"another-agents-denial", "pre_tool_use", exit(0, `{"permission":"deny","system_message":"no"}`, ""), "failure: its answer says nothing…", ""},
		{"another-agents-denial-after-text", "pre_tool_use", exit(0, "a log line\n{\"cancel\":true}", ""), "failure: its answer says nothing…", ""},
		{"empty-inside", "pre_tool_use", exit(0, `{"hookSpecificOutput":{"hookEventName":"PreToolUse"}}`, ""), "no opinion", ""},
		{"behavior-deny", "permission_request", exit(0, specific(`"decision":{"behavior":"deny","message":"no","interrupt":true}`), ""), "block: no", ""},
		{"behavior-allow", "permission_request", exit(0, specific(`"decision":{"behavior":"allow"}`), ""), "allow", ""},
		{"behavior-misspelled", "permission_request", exit(0, specific(`"decision":{"behavior":"denied"}`), ""), "failure: invalid…", ""},
		{"behavior-before-a-tool", "pre_tool_use", exit(0, specific(`"decision":{"behavior":"deny","message":"no"}`), ""), "block: no", ""},
		{"updated-tool-output", "tool_response_transform", exit(0, specific(`"updatedToolOutput":{"stdout":"x"}`), ""), "rewrite", ""},
		{"updated-mcp-tool-output", "tool_response_transform", exit(0, specific(`"updatedMCPToolOutput":"x"`), ""), "rewrite", ""},
		{"defer", "pre_tool_use", exit(0, specific(`"permissionDecision":"defer"`), ""), "ask", ""},
		{"misplaced-allow", "pre_tool_use", exit(0, `{"permission_decision":"allow"}`, ""), "no opinion", "permission_decision belongs inside hook_specific_output"},
		{"misplaced-deny", "pre_tool_use", exit(0, `{"permissionDecision":"deny","permissionDecisionReason":"no"}`, ""), "block: no", "permission_decision belongs inside hook_specific_output"},
		{"misplaced-ask", "pre_tool_use", exit(0, `{"permission_decision":"ask"}`, ""), "ask", "permission_decision belongs inside hook_specific_output"},
		{"misplaced-inside", "pre_tool_use", exit(0, specific(`"decision":"block"`), ""), "block", ""},
		{"misplaced-text", "pre_tool_use", exit(0, specific(`"systemMessage":"x","additionalContext":"y"`), ""), "allowed, with something to say", "system_message does not belong inside"},

		{"two-objects", "pre_tool_use", exit(0, "{}\n{}", ""), "failure: invalid hook output: expected a single JSON object, found more after it", ""},
		{"text-after", "pre_tool_use", exit(0, `{"decision":"block"} done`, ""), "failure: invalid hook output: expected a single JSON object, found more after it", ""},
		{"cut-short", "pre_tool_use", exit(0, `{"decision":`, ""), "failure: invalid hook output: unexpected end of JSON", ""},
		{"bad-json", "pre_tool_use", exit(0, `{decision:1}`, ""), "failure: invalid hook output: invalid character 'd' looking for beginning of object key string", ""},
		{"wrong-type-bool", "pre_tool_use", exit(0, `{"continue":"false"}`, ""), "failure: invalid hook output: continue must be true or false", ""},
		{"wrong-type-text", "pre_tool_use", exit(0, `{"reason":1}`, ""), "failure: invalid hook output: reason must be a string", ""},
		{"wrong-type-decision", "pre_tool_use", exit(0, `{"decision":true}`, ""), "failure: invalid hook output: decision must be a string", ""},
		{"wrong-type-specific", "pre_tool_use", exit(0, `{"hook_specific_output":[]}`, ""), "failure: invalid hook output: hook_specific_output must be an object", ""},
		{"wrong-type-input", "pre_tool_use", exit(0, specific(`"updated_input":"ls"`), ""), "failure: invalid hook output: updated_input must be an object", ""},
		{"wrong-type-messages", "before_llm_call", exit(0, specific(`"updated_messages":{}`), ""), "failure: invalid hook output: updated_messages must be a list of objects", ""},
		{"wrong-type-message", "before_llm_call", exit(0, specific(`"updated_messages":["hi"]`), ""), "failure: invalid hook output: updated_messages must be a list of objects", ""},
		{"wrong-type-metadata", "tool_guard", exit(0, specific(`"metadata":{"n":1}`), ""), "failure: invalid hook output: metadata must be an object of strings", ""},
		{"null-in-metadata", "tool_guard", exit(0, specific(`"metadata":{"n":null}`), ""), "failure: invalid hook output: metadata must be an object of strings", ""},
		{"wrong-types-of-both", "pre_tool_use", exit(0, `{"reason":1,"hook_specific_output":{"summary":2}}`, ""), "failure: invalid hook output: reason must be a string, summary must be a string", ""},
		{"unknown-decision", "pre_tool_use", exit(0, `{"decision":"Block"}`, ""), `failure: invalid decision "Block"`, ""},
		{"unknown-permission", "pre_tool_use", exit(0, specific(`"permission_decision":"maybe"`), ""), `failure: invalid permission_decision "maybe"`, ""},

		{"plain", "session_start", exit(0, " hello \n", ""), "plain text", ""},
		{"array-is-plain", "session_start", exit(0, "[1]", ""), "plain text", ""},
		{"log-then-verdict", "pre_tool_use", exit(0, "starting\n{\"decision\":\"block\",\"reason\":\"x\"}\n", ""), "block: x", "text before the JSON answer was skipped"},
		{"log-then-camel", "pre_tool_use", exit(0, "a\nb\n  {\"hookSpecificOutput\":{\"permissionDecision\":\"deny\"}}", ""), "block", "text before"},
		{"log-then-bad-word", "pre_tool_use", exit(0, "a\n{\"decision\":\"blok\"}", ""), `failure: invalid decision "blok"`, ""},
		{"log-then-other-object", "session_start", exit(0, "a\n{\"x\":1}", ""), "plain text", ""},
		{"log-then-broken-object", "session_start", exit(0, "a\n{\"decision\":", ""), "plain text", "an answer among text"},
		{"verdict-then-log", "session_start", exit(0, "a\n{\"decision\":\"block\"}\nb", ""), "plain text", "an answer among text"},
		{"verdict-on-a-line-with-text", "pre_tool_use", exit(0, `checking... {"decision":"block"}`, ""), "failure: its answer shares stdout with text…", ""},
		{"verdict-before-text", "pre_tool_use", exit(0, "ok\n{\"decision\":\"block\"} done", ""), "failure: its answer shares stdout with text…", ""},
		{"verdict-before-lines", "pre_tool_use", exit(0, "a\n{\"decision\":\"block\"}\nb", ""), "failure: its answer shares stdout with text…", ""},
		{"verdict-over-lines", "pre_tool_use", exit(0, "a\n{\n \"hookSpecificOutput\": {\"permissionDecision\" : \"deny\"}\n}", ""), "failure: its answer shares stdout with text…", ""},
		{"verdict-cut-off", "pre_tool_use", exit(0, `a {"decision":"blo`, ""), "failure: its answer shares stdout with text…", ""},
		{"verdict-of-python", "pre_tool_use", exit(0, `{'decision': 'block'}`, ""), "failure: invalid hook output…", ""},
		{"verdict-of-python-after-text", "pre_tool_use", exit(0, `a {'decision': 'block'}`, ""), "failure: its answer shares stdout with text…", ""},
		{"text-that-speaks-of-it", "pre_tool_use", exit(0, "no decision was needed: continue", ""), "plain text", ""},

		{"exit2", "pre_tool_use", exit(2, "", " no \n"), "block: no", ""},
		{"exit2-silent", "pre_tool_use", exit(2, "", ""), "block", ""},
		{"exit2-reason-of-json", "pre_tool_use", exit(2, `{"decision":"block","reason":"by policy"}`, ""), "block: by policy", ""},
		{"exit2-stderr-first", "pre_tool_use", exit(2, `{"reason":"json"}`, "stderr"), "block: stderr", ""},
		{"exit2-permission-reason", "pre_tool_use", exit(2, specific(`"permission_decision":"deny","permission_decision_reason":"why"`), ""), "block: why", ""},
		{"exit2-never-allows", "pre_tool_use", exit(2, specific(`"permission_decision":"allow"`), ""), "block", ""},
		{"exit2-broken-json", "pre_tool_use", exit(2, `{"reason":`, ""), "block", ""},
		{"exit2-log-then-json", "pre_tool_use", exit(2, "log\n{\"reason\":\"r\"}", ""), "block: r", ""},

		{"exit1", "pre_tool_use", exit(1, specific(`"permission_decision":"allow"`), "x"), "failure: exited with status 1", ""},
		{"exit127", "pre_tool_use", exit(127, "", ""), "failure: exited with status 127", ""},
		{"no-exit", "pre_tool_use", exit(-1, "", ""), "failure: exited with status -1", ""},
		{"failed-before", "pre_tool_use", Output{ExitCode: 0, Stdout: []byte(specific(`"permission_decision":"allow"`)), Failure: "timed out after 1s"}, "failure: timed out after 1s", ""},
		{"failed-with-exit2", "pre_tool_use", Output{ExitCode: 2, Failure: "timed out after 1s"}, "failure: timed out after 1s", ""},
		{"invalid-utf8", "pre_tool_use", exit(0, "{\"decision\":\"block\",\"reason\":\"a\xffb\"}", ""), "block: a\uFFFDb", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := Read(row(t, tt.event), blocking, tt.out)
			if got := a.String(); got != tt.want && !(strings.HasSuffix(tt.want, "…") && strings.HasPrefix(got, strings.TrimSuffix(tt.want, "…"))) {
				t.Errorf("answer = %q, want %q", got, tt.want)
			}
			if !strings.Contains(a.Warning, tt.warning) || tt.warning == "" && a.Warning != "" {
				t.Errorf("warning = %q, want %q", a.Warning, tt.warning)
			}
		})
	}
}

func TestReadStrict(t *testing.T) {
	strict := Terms{Name: "h", Blocking: true, StrictOutput: true}
	specific := func(s string) string { return `{"hook_specific_output":{` + s + `}}` }
	for _, tt := range []struct{ name, event, stdout, want string }{
		{"empty", "pre_tool_use", "", ""},
		{"object", "pre_tool_use", `{"continue":true}`, ""},
		{"full", "pre_tool_use", specific(`"hook_event_name":"pre_tool_use","permission_decision":"ask","permission_decision_reason":"r","updated_input":{}`), ""},
		{"camel", "pre_tool_use", `{"hookSpecificOutput":{"hookEventName":"pre_tool_use","updatedInput":{}}}`, ""},
		{"null-field", "tool_guard", specific(`"updated_input":null`), ""},
		{"context", "session_start", specific(`"additional_context":"c"`), ""},
		{"veto-by-permission", "before_compaction", specific(`"permission_decision":"deny","permission_decision_reason":"r"`), ""},
		{"plain", "session_start", "hello", "strict_output requires a JSON object or empty stdout"},
		{"log-then-verdict", "pre_tool_use", "log\n{\"decision\":\"block\"}", "strict_output requires a JSON object or empty stdout"},
		{"unknown", "pre_tool_use", `{"extra":1}`, `invalid hook output: unknown field "extra"`},
		{"unknown-inside", "pre_tool_use", specific(`"updated_inpu":{}`), `invalid hook output: unknown field "updated_inpu"`},
		{"letter-case", "pre_tool_use", `{"DECISION":"block"}`, `invalid hook output: unknown field "DECISION"`},
		{"suppress", "pre_tool_use", `{"suppress_output":true}`, "invalid hook output: suppress_output is not supported"},
		{"no-suppress", "pre_tool_use", `{"suppress_output":false}`, ""},
		{"event-name", "pre_tool_use", specific(`"hook_event_name":"stop"`), `invalid hook output: hook_event_name "stop" does not match pre_tool_use`},
		{"block", "stop", `{"continue":false}`, "stop does not support blocking output"},
		{"input", "tool_guard", specific(`"updated_input":{}`), "tool_guard does not support updated_input"},
		{"messages", "pre_tool_use", specific(`"updated_messages":[]`), "pre_tool_use does not support updated_messages"},
		{"response", "pre_tool_use", specific(`"updated_tool_response":""`), "pre_tool_use does not support updated_tool_response"},
		{"no-context", "pre_tool_use", specific(`"additional_context":"c"`), "pre_tool_use does not support additional_context"},
		{"summary", "pre_compact", specific(`"summary":"s"`), "pre_compact does not support summary"},
		{"metadata", "pre_tool_use", specific(`"metadata":{}`), "pre_tool_use does not support metadata"},
		{"permission", "stop", specific(`"permission_decision":"allow"`), "stop does not support permission_decision"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Read(row(t, tt.event), strict, exit(0, tt.stdout, "")).Failure; got != tt.want {
				t.Errorf("failure = %q, want %q", got, tt.want)
			}
		})
	}
}

// Content guards must say yes or no, and nothing else (reference 3.9).
func TestReadExplicit(t *testing.T) {
	c := row(t, "skill_content_guard")
	for _, tt := range []struct {
		out  Output
		want string // yes, no, or failure
	}{
		{exit(0, `{"continue":true}`, ""), "yes"},
		{exit(0, ` {"continue": true} `+"\n", ""), "yes"},
		{exit(0, `{"continue":false}`, ""), "no"},
		{exit(0, `{"decision":"block","reason":"r"}`, ""), "no"},
		{exit(0, `{"continue":false,"stopReason":"r"}`, ""), "no"},
		{exit(2, "", "secret"), "no"},
		{exit(0, "", ""), "failure"},
		{exit(0, "{}", ""), "failure"},
		{exit(0, "yes", ""), "failure"},
		{exit(0, "log\n{\"continue\":true}", ""), "failure"},
		{exit(0, `{"continue":true}{}`, ""), "failure"},
		{exit(0, `{"continue":null}`, ""), "failure"},
		{exit(0, `{"decision":"allow"}`, ""), "failure"},
		{exit(0, `{"decision":"nonsense"}`, ""), "failure"},
		{exit(0, `{"continue":true,"continue":true}`, ""), "failure"},
		{exit(0, `{"continue":true,"reason":"fine"}`, ""), "failure"},
		{exit(0, `{"continue":true,"x":1}`, ""), "failure"},
		{exit(0, `{"continue":true,"system_message":"hi"}`, ""), "failure"},
		{exit(0, `{"decision":"block","hook_specific_output":{}}`, ""), "failure"},
		{exit(1, `{"continue":true}`, ""), "failure"},
	} {
		a := Read(c, blocking, tt.out)
		got := "yes"
		if a.Failure != "" {
			got = "failure"
		} else if a.Blocked {
			got = "no"
		}
		if got != tt.want {
			t.Errorf("exit %d %s: %s (%s), want %s", tt.out.ExitCode, tt.out.Stdout, got, a, tt.want)
		}
	}
}

// An answer to transform_tool_result is protocol, the new result, or silence.
func TestReadTransform(t *testing.T) {
	c := row(t, "transform_tool_result")
	for _, tt := range []struct {
		name string
		out  Output
		want string // the replacement as JSON, "" = abstains, or "failure: …"
		say  string
	}{
		{"empty", exit(0, "", ""), "", ""},
		{"empty-object", exit(0, "{}", ""), "", ""},
		{"filter", exit(0, "line 1\nline 2\n", ""), `"line 1\nline 2\n"`, ""},
		{"filter-keeps-blanks", exit(0, "\n", ""), `"\n"`, ""},
		{"filter-html", exit(0, "<a>&", ""), `"<a>&"`, ""},
		{"filter-of-json", exit(0, `{"rows":[1,2]}`, ""), `"{\"rows\":[1,2]}"`, ""},
		{"filter-of-json-with-our-key", exit(0, `{"tool_output":"x","rows":1}`, ""), `"{\"tool_output\":\"x\",\"rows\":1}"`, ""},
		{"filter-of-verdict-like-json", exit(0, `{"decision":"block"}`, ""), `"{\"decision\":\"block\"}"`, ""},
		{"filter-of-array", exit(0, `["a"]`, ""), `"[\"a\"]"`, ""},
		{"filter-of-json-lines", exit(0, "{}\n{}\n", ""), `"{}\n{}\n"`, ""},
		{"filter-of-broken-json", exit(0, `{"tool_output":`, ""), `"{\"tool_output\":"`, ""},
		{"filter-with-last-line-of-verdict", exit(0, "a\n{\"decision\":\"block\"}", ""), `"a\n{\"decision\":\"block\"}"`, ""},
		{"invalid-utf8", exit(0, "a\xff\xfeb", ""), "\"a\uFFFD\uFFFDb\"", ""},
		{"tool-output", exit(0, `{"tool_output":"new"}`, ""), `"new"`, ""},
		{"camel", exit(0, `{"toolOutput":"new"}`, ""), `"new"`, ""},
		{"updated", exit(0, ` {"updated_tool_response":"new"} `, ""), `"new"`, ""},
		{"updated-camel", exit(0, `{"updatedToolResponse":"new"}`, ""), `"new"`, ""},
		{"specific", exit(0, `{"hook_specific_output":{"updated_tool_response":"new"}}`, ""), `"new"`, ""},
		{"specific-camel", exit(0, `{"hookSpecificOutput":{"updatedToolResponse":"new"}}`, ""), `"new"`, ""},
		{"clear", exit(0, `{"tool_output":""}`, ""), `""`, ""},
		{"null", exit(0, `{"tool_output":null}`, ""), "", ""},
		{"message", exit(0, `{"system_message":"cut"}`, ""), "", "cut"},
		{"message-and-output", exit(0, `{"systemMessage":"cut","tool_output":"x"}`, ""), `"x"`, "cut"},
		{"explicit-wins", exit(0, `{"tool_output":"a","updated_tool_response":"b"}`, ""), `"b"`, ""},
		{"wrong-type", exit(0, `{"tool_output":{"a":1}}`, ""), "failure: invalid hook output: tool_output must be a string", ""},
		{"wrong-type-specific", exit(0, `{"hook_specific_output":1}`, ""), "failure: invalid hook output: hook_specific_output must be an object", ""},
		{"exit1", exit(1, "half", ""), "failure: exited with status 1", ""},
		{"exit2-is-a-failure-too", exit(2, "half", "no"), "failure: exited with status 2", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := Read(c, blocking, tt.out)
			got := string(a.UpdatedResponse)
			if a.Failure != "" {
				got = a.String()
			}
			if got != tt.want || a.SystemMessage != tt.say || a.Blocked {
				t.Errorf("replacement %s, message %q, blocked %v; want %s, %q", got, a.SystemMessage, a.Blocked, tt.want, tt.say)
			}
		})
	}
	strict := Terms{Name: "h", Blocking: true, StrictOutput: true}
	if a := Read(c, strict, exit(0, "text", "")); a.Failure == "" {
		t.Errorf("strict_output takes plain text as a replacement: %s", a)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"", "{}", "text", "a\n{\"decision\":\"block\"}", `{"decision":"block","reason":"x"}`, `{"continue":false,"stopReason":"y"}`,
		`{"hook_specific_output":{"permission_decision":"deny","updated_input":{"a":1},"metadata":{"k":"v"}}}`, `{"tool_output":""}`, "{}{}", "\xff{",
		`{"hookSpecificOutput":{"updatedMessages":[{}],"instruction_context":[{"content":"c"}]}}`} {
		for at := range 3 * 41 {
			f.Add(at, at%3, s, "err", false)
			f.Add(at, at%3, s, "", true)
		}
	}
	contracts := events.All()
	f.Fuzz(func(t *testing.T, at, code int, stdout, stderr string, strict bool) {
		policy := Terms{Name: "h", Blocking: true, StrictOutput: strict}
		data := []byte(`{"tool_input":{"a":0,"b":1},"tool_response":"r","tool_output":"o","messages":[]}`)
		c := contracts[int(uint(at)%uint(len(contracts)))]
		a := Read(c, policy, exit(code, stdout, stderr))
		if again := Read(c, policy, exit(code, stdout, stderr)); fmt.Sprint(a) != fmt.Sprint(again) {
			t.Fatalf("%s: %v, and then %v", c.Name, a, again)
		}
		if a.Failure != "" && (a.Blocked || a.UpdatedInput != nil || a.UpdatedResponse != nil || a.PermissionDecision != "" || a.SystemMessage != "") {
			t.Fatalf("%s: a failure with an opinion: %+v", c.Name, a)
		}
		if a.Failure == "" && code != 0 && code != 2 {
			t.Fatalf("%s: exit %d is an answer: %s", c.Name, code, a)
		}
		checkFold(t, c, data, a)
	})
}

// checkFold folds one answer and fails on a verdict that can never happen.
func checkFold(t *testing.T, c *events.Contract, data []byte, a Answer) {
	v := Fold(c, data, []Answer{a})
	switch {
	case a.Failure != "" && c.FailClosed && v.Allowed:
		t.Fatalf("%s: a failure is allowed: %s", c.Name, a)
	case a.Blocked && c.CanBlock && v.Allowed:
		t.Fatalf("%s: a block is allowed: %s", c.Name, a)
	case !v.Allowed && !c.CanBlock && c.Decision == events.DecisionNone:
		t.Fatalf("%s cannot block and is denied: %s", c.Name, a)
	}
	for _, raw := range [][]byte{v.UpdatedInput, v.UpdatedToolResponse, v.UpdatedMessages, a.Rewrite(c, data)} {
		if raw != nil && !validJSON(raw) {
			t.Fatalf("%s: not JSON: %q", c.Name, raw)
		}
	}
	a.Terms.Blocking = false
	if v := Fold(c, data, []Answer{a}); !v.Allowed || !v.Continue || v.SystemMessage != "" || v.DecidedBy != nil {
		t.Fatalf("%s: a hook that does not block made a verdict: %+v", c.Name, v)
	}
}

func BenchmarkRead(b *testing.B) {
	c := row(b, "pre_tool_use")
	for _, bb := range []struct{ name, stdout string }{
		{"silent", ""},
		{"deny", `{"hook_specific_output":{"permission_decision":"deny","permission_decision_reason":"no rm"}}`},
		{"rewrite", `{"hook_specific_output":{"updated_input":{"cmd":"ls -h"}},"system_message":"added -h"}`},
		{"1KiB", rewriteOf(1 << 10)},
		{"8MiB", rewriteOf(8 << 20)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Read(c, blocking, exit(0, bb.stdout, ""))
			}
		})
	}
}

// rewriteOf is an answer with a new input of so many bytes.
func rewriteOf(size int) string {
	line := strings.Repeat(`a line of a \"file\" that a hook wrote again\n`, size/44+1)
	return `{"hook_specific_output":{"permission_decision":"allow","updated_input":{"file_path":"/tmp/a","content":"` + line[:size/44*44] + `"}}}`
}
