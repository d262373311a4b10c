package judge

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// The model's text to stdout of the hook, over each provider's protocol.
func TestAnswers(t *testing.T) {
	verdict := func(decision, reason string) string {
		return `{"system_message":"🤖 model judge: ` + decision + ` — ` + reason + `","hook_specific_output":{"permission_decision":"` + decision + `","permission_decision_reason":"` + reason + `"}}`
	}
	for _, tt := range []struct{ name, schema, reply, want, fails string }{
		{"allow", SchemaPreToolUse, `{"decision":"allow","reason":"a read"}`, verdict("allow", "a read"), ""},
		{"ask", SchemaPreToolUse, `{"decision":"ask","reason":"who knows"}`, verdict("ask", "who knows"), ""},
		{"deny", SchemaPreToolUse, `{"decision":"deny","reason":"<&> \"no\""}`, verdict("deny", `<&> \"no\"`), ""},
		{"fenced", SchemaPreToolUse, "```json\n{\"decision\":\"ask\",\"reason\":\"hm\"}\n```\n", verdict("ask", "hm"), ""},
		{"prose", SchemaPreToolUse, `Well: {"decision":"deny","reason":"rm"} hope that helps`, verdict("deny", "rm"), ""},
		{"no-verdict", SchemaPreToolUse, "looks fine to me", "", "no JSON object in reply"},
		{"empty", SchemaPreToolUse, " \n", "", "empty model reply"},
		{"guard-allow", SchemaContentRule, `{"decision":"allow","reason":"fine"}`, `{"continue":true}`, ""},
		{"guard-deny", SchemaContentRule, ` {"decision":"deny","reason":"bad"} `, `{"decision":"block","reason":"bad"}`, ""},
		{"guard-fenced", SchemaContentRule, "```\n{\"decision\":\"allow\",\"reason\":\"fine\"}\n```", "", "the JSON in the reply is broken"},
		{"context", SchemaNone, "  be brief <&>\n", `{"hook_specific_output":{"additional_context":"be brief <&>"}}`, ""},
		{"context-empty", SchemaNone, "   ", "", ""},
	} {
		for _, p := range protocols {
			t.Run(p.kind+"/"+tt.name, func(t *testing.T) {
				s := newStub(t, p, body(200, p.reply(tt.reply)))
				c := toolCall
				c.Schema = tt.schema
				got, err := s.judge(t).Ask(t.Context(), c)
				if string(got) != tt.want || (err == nil) != (tt.fails == "") {
					t.Errorf("got %s, %v\nwant %s, %s", got, err, tt.want, tt.fails)
				}
				if tt.fails != "" && err.Error() != "model test/small/model: "+tt.fails {
					t.Errorf("error = %q, want %q", err, tt.fails)
				}
			})
		}
	}
}

func TestRequest(t *testing.T) {
	decisions := func(words ...any) map[string]any {
		return map[string]any{
			"type": "object", "additionalProperties": false, "required": []any{"decision", "reason"},
			"properties": map[string]any{
				"decision": map[string]any{"type": "string", "enum": words},
				"reason": map[string]any{"type": "string",
					"description": "one short sentence that quotes the part of the input that decided it"},
			},
		}
	}
	format := map[string]func(name string, schema map[string]any) map[string]any{
		OpenAI: func(name string, schema map[string]any) map[string]any {
			return map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": name, "strict": true, "schema": schema}}
		},
		Anthropic: func(_ string, schema map[string]any) map[string]any {
			return map[string]any{"type": "json_schema", "schema": schema}
		},
	}
	for _, p := range protocols {
		for _, tt := range []struct {
			name, schema, system string
			wantSystem           string // a part
			wantSchema           map[string]any
		}{
			{"decision", SchemaPreToolUse, "", `"decision", one of "allow"`, format[p.kind](SchemaPreToolUse, decisions("allow", "ask", "deny"))},
			{"guard", SchemaContentRule, "", `either "allow" or "deny"`, format[p.kind](SchemaContentRule, decisions("allow", "deny"))},
			{"text", SchemaNone, "", "short plain text", nil},
			{"own-system", SchemaPreToolUse, "You are {{.ToolName}}.", "You are {{.ToolName}}.", format[p.kind](SchemaPreToolUse, decisions("allow", "ask", "deny"))},
		} {
			t.Run(p.kind+"/"+tt.name, func(t *testing.T) {
				s := newStub(t, p, body(200, p.reply(`{"decision":"deny","reason":"x"}`)))
				c := toolCall
				c.Schema, c.SystemPrompt = tt.schema, tt.system
				if _, err := s.judge(t).Ask(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				r := s.requests()[0]
				if r.path != p.path || r.body["model"] != "small/model" || r.header.Get(p.keyHeader) != p.key {
					t.Errorf("path %s, model %s, %s %q", r.path, r.body["model"], p.keyHeader, r.header.Get(p.keyHeader))
				}
				if want := `Judge shell with {"cmd":"cat secret-plans.txt <&>"}`; r.user != want {
					t.Errorf("user prompt = %s, want %s", r.user, want)
				}
				if !strings.Contains(r.system, tt.wantSystem) || tt.system != "" && r.system != tt.system {
					t.Errorf("system prompt = %s, want %s", r.system, tt.wantSystem)
				}
				if !reflect.DeepEqual(r.schema, tt.wantSchema) {
					t.Errorf("schema = %v, want %v", r.schema, tt.wantSchema)
				}
				if n, given := r.body["max_tokens"]; given != (p.kind == Anthropic) {
					t.Errorf("max_tokens = %v", n)
				}
			})
		}
	}
}

// Everything that is no answer is an error, says which model and why, and
// holds neither the key nor the event.
func TestFailures(t *testing.T) {
	const once = "X-Should-Retry" // "false": a test that need not see the retries
	for _, p := range protocols {
		for _, tt := range []struct {
			name  string
			step  http.HandlerFunc
			tries int
			want  string
		}{
			{"refusal", body(200, p.refusal), 1, "the model refused to answer"},
			{"cut-off", body(200, p.cut), 1, "the reply was cut off at the token limit"},
			{"server-error", body(500, p.problem("overloaded, try again"), "Retry-After-Ms", "1"), 3, "500 Internal Server Error (overloaded, try again)"},
			{"server-error-bare", body(503, "down", "Retry-After-Ms", "1"), 3, "503 Service Unavailable"},
			{"rate-limit-long", body(429, p.problem("slow down"), "Retry-After", "3600"), 1, "429 Too Many Requests (slow down): asks to wait 3600 s, which is too long"},
			{"rate-limit-date", body(429, "{}", "Retry-After", "Fri, 01 Jan 2100 00:00:00 GMT"), 1, "which is too long"},
			{"rate-limit-past", body(429, "{}", "Retry-After", "Sat, 01 Jan 2000 00:00:00 GMT", once, "false"), 1, "429 Too Many Requests"},
			{"invalid-key", body(401, p.problem("Incorrect API key provided: sk-te***cdef")), 1, "401 Unauthorized (its words are withheld, they quote the request): check the key in TEST_KEY"},
			{"forbidden", body(403, p.problem("no access")), 1, "403 Forbidden (no access): check the key in TEST_KEY"},
			{"unknown-model", body(404, p.problem("model not found")), 1, "404 Not Found (model not found)"},
			{"wrong-request", body(400, p.problem("credit balance is too low")), 2, "400 Bad Request (credit balance is too low)"},
			{"quotes-the-prompt", body(400, p.problem("cannot parse 'cat secret-plans.txt' in the prompt")), 2, "400 Bad Request (its words are withheld, they quote the request)"},
			{"long-words", body(404, p.problem(strings.Repeat("é", 500))), 1, "404 Not Found (" + strings.Repeat("é", 100) + "…)"},
			{"error-is-text", body(404, `{"error":"pull it  first\nplease"}`), 1, "404 Not Found (pull it first please)"},
			{"error-at-the-top", body(404, `{"detail":"nothing here"}`), 1, "404 Not Found (nothing here)"},
			{"redirect", body(307, "{}", "Location", "http://127.0.0.1:1/elsewhere"), 1, "307 Temporary Redirect: redirects are not followed, correct base_url"},
			{"web-page", body(200, "<html>", "Content-Type", "text/html"), 1, "the response is not what the protocol has: check type and base_url"},
			{"not-json", body(200, "{"), 1, "the response is not what the protocol has: check type and base_url"},
			{"no-answer", body(200, "{}"), 1, "the provider's response holds no answer"},
			{"endless", body(200, p.reply(strings.Repeat("x", maxBody))), 1, "the response is over 1048576 bytes"},
			{"dropped", drop, 3, "connect to the provider: EOF"},
		} {
			t.Run(p.kind+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				s := newStub(t, p, tt.step)
				out, err := s.judge(t).Ask(t.Context(), toolCall)
				if out != nil || err == nil {
					t.Fatalf("got %s, %v, want an error", out, err)
				}
				if got := err.Error(); !strings.HasPrefix(got, "model test/small/model: ") || !strings.HasSuffix(got, tt.want) {
					t.Errorf("error = %q, want %q", got, tt.want)
				}
				if n := len(s.requests()); n != tt.tries {
					t.Errorf("%d requests, want %d", n, tt.tries)
				}
				for _, secret := range []string{testKey, "cdef", "secret-plans"} {
					if strings.Contains(err.Error(), secret) {
						t.Errorf("error %q has %q", err, secret)
					}
				}
			})
		}
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	for _, p := range protocols {
		t.Run(p.kind, func(t *testing.T) {
			t.Parallel()
			s := newStub(t, p, body(429, p.problem("slow down"), "Retry-After", "1"), body(200, p.reply(`{"decision":"allow","reason":"x"}`)))
			if _, err := s.judge(t).Ask(t.Context(), toolCall); err != nil {
				t.Fatal(err)
			}
			seen := s.requests()
			if len(seen) != 2 || seen[1].at.Sub(seen[0].at) < time.Second {
				t.Errorf("%d requests, want 2, a second apart", len(seen))
			}
		})
	}
}

// Within the deadline means: a longer pause is not begun.
func TestRetryAfterBeyondTheDeadline(t *testing.T) {
	for _, p := range protocols {
		s := newStub(t, p, body(429, p.problem("slow down"), "Retry-After", "45"))
		ctx := deadline(t, 30*time.Second)
		_, err := s.judge(t).Ask(ctx, toolCall)
		if err == nil || !strings.Contains(err.Error(), "asks to wait 45 s") || ctx.Err() != nil {
			t.Errorf("%s: error = %v, context %v", p.kind, err, ctx.Err())
		}
	}
}

func TestSlowProvider(t *testing.T) {
	for _, p := range protocols {
		s := newStub(t, p, hang)
		_, err := s.judge(t).Ask(deadline(t, 100*time.Millisecond), toolCall)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no answer in time") {
			t.Errorf("%s: error = %v", p.kind, err)
		}
	}
}

// The end of a call that had failed attempts before says so.
func TestEndAfterAFailedAttempt(t *testing.T) {
	for _, p := range protocols {
		ctx, cancel := context.WithCancel(t.Context())
		s := newStub(t, p, body(500, "{}", "Retry-After-Ms", "1"), func(w http.ResponseWriter, r *http.Request) { cancel(); hang(w, r) })
		_, err := s.judge(t).Ask(ctx, toolCall)
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "given up, after 500 Internal Server Error") {
			t.Errorf("%s: error = %v", p.kind, err)
		}
	}
}

func TestCancel(t *testing.T) {
	for _, p := range protocols {
		ctx, cancel := context.WithCancel(t.Context())
		s := newStub(t, p, func(w http.ResponseWriter, r *http.Request) { cancel(); hang(w, r) })
		_, err := s.judge(t).Ask(ctx, toolCall)
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "given up") {
			t.Errorf("%s: error = %v", p.kind, err)
		}
	}
}

// A server that does not know the schema is asked without, and from then on.
func TestSchemaRejected(t *testing.T) {
	for _, p := range protocols {
		for _, status := range []int{400, 422} {
			s := newStub(t, p, body(status, p.problem("unknown field")), body(200, p.reply(`{"decision":"allow","reason":"x"}`)))
			j := s.judge(t)
			for range 2 {
				if _, err := j.Ask(t.Context(), toolCall); err != nil {
					t.Fatal(err)
				}
			}
			var asked []bool
			for _, r := range s.requests() {
				asked = append(asked, r.schema != nil)
			}
			if want := []bool{true, false, false}; !slices.Equal(asked, want) {
				t.Errorf("%s %d: asked for the schema %v, want %v", p.kind, status, asked, want)
			}
		}
	}
}

// A redirect would send the key and the event to another server.
func TestRedirectIsNotFollowed(t *testing.T) {
	reached := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer other.Close()
	for _, p := range protocols {
		s := newStub(t, p, body(308, "{}", "Location", other.URL))
		if _, err := s.judge(t).Ask(t.Context(), toolCall); err == nil {
			t.Errorf("%s: no error", p.kind)
		}
	}
	if reached {
		t.Error("the redirect was followed")
	}
}

func TestUnreachable(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	host := strings.TrimPrefix(gone.URL, "http://")
	for _, p := range protocols {
		t.Run(p.kind, func(t *testing.T) {
			t.Parallel()
			j := newJudge(t, p.kind, "http://user:hunter2@"+host+"/?token=hunter2")
			_, err := j.Ask(t.Context(), toolCall)
			if err == nil || !strings.Contains(err.Error(), "connection refused") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error = %v", err)
			}
		})
	}
}

// The variables that the providers' SDKs read do not reach the provider.
func TestEnvironmentIsNotRead(t *testing.T) {
	for name, value := range map[string]string{
		"OPENAI_BASE_URL": "http://127.0.0.1:1", "OPENAI_API_KEY": "leak", "OPENAI_ORG_ID": "leak", "OPENAI_PROJECT_ID": "leak",
		"ANTHROPIC_BASE_URL": "http://127.0.0.1:1", "ANTHROPIC_API_KEY": "leak", "ANTHROPIC_AUTH_TOKEN": "leak",
	} {
		t.Setenv(name, value)
	}
	for _, p := range protocols {
		s := newStub(t, p, body(200, p.reply("hello")))
		j := New(Options{Providers: map[string]Provider{"local": {Type: p.kind, BaseURL: s.URL + p.base}}})
		defer j.Close()
		c := toolCall
		c.Model, c.Schema = "local/m", ""
		if _, err := j.Ask(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		header := s.requests()[0].header
		if header.Get("Authorization") != "" || header.Get("X-Api-Key") != "" {
			t.Errorf("%s: a key was sent: %v", p.kind, header)
		}
		for name, values := range header {
			if strings.Contains(strings.Join(values, " "), "leak") {
				t.Errorf("%s: header %s leaks", p.kind, name)
			}
		}
	}
}

// Calls side by side, as decidable events come.
func TestManyAtOnce(t *testing.T) {
	for _, p := range protocols {
		s := newStub(t, p, body(200, p.reply(`{"decision":"deny","reason":"x"}`)))
		j := s.judge(t)
		errs := make(chan error)
		const n = 32
		for range n {
			go func() {
				_, err := j.Ask(t.Context(), toolCall)
				errs <- err
			}()
		}
		for range n {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	}
}
