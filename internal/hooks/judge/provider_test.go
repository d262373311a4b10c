package judge

import (
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/events"
)

func TestProviders(t *testing.T) {
	for _, tt := range []struct {
		name  string
		given Provider
		want  Provider
	}{
		{"openai", Provider{}, Provider{OpenAI, "https://api.openai.com/v1", "OPENAI_API_KEY"}},
		{"anthropic", Provider{}, Provider{Anthropic, "https://api.anthropic.com", "ANTHROPIC_API_KEY"}},
		{"ollama", Provider{}, Provider{OpenAI, "http://127.0.0.1:11434/v1", ""}},
		{"dmr", Provider{}, Provider{OpenAI, "http://127.0.0.1:12434/engines/v1", ""}},
		{"ollama", Provider{BaseURL: "http://box:1/v1"}, Provider{OpenAI, "http://box:1/v1", ""}},
		{"anthropic", Provider{APIKeyEnv: "OTHER"}, Provider{Anthropic, "https://api.anthropic.com", "OTHER"}},
		{"anthropic", Provider{Type: OpenAI, BaseURL: "http://box/v1"}, Provider{OpenAI, "http://box/v1", ""}}, // the key stays at home
		{"work", Provider{Type: Anthropic}, Provider{Anthropic, "https://api.anthropic.com", "ANTHROPIC_API_KEY"}},
		{"work", Provider{}, Provider{OpenAI, "https://api.openai.com/v1", "OPENAI_API_KEY"}},
		{"work", Provider{BaseURL: "http://box/v1"}, Provider{OpenAI, "http://box/v1", ""}},
		{"work", Provider{BaseURL: "http://box/v1", APIKeyEnv: "K"}, Provider{OpenAI, "http://box/v1", "K"}},
	} {
		j := New(Options{Providers: map[string]Provider{tt.name: tt.given}, Getenv: func(name string) string { return " key of " + name + "\n" }})
		got, err := j.target(tt.name + "/a/b")
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got.Provider != tt.want || got.model != "a/b" {
			t.Errorf("%s %+v: got %+v, want %+v", tt.name, tt.given, got.Provider, tt.want)
		}
		if want := "key of " + tt.want.APIKeyEnv; tt.want.APIKeyEnv != "" && got.key != want || tt.want.APIKeyEnv == "" && got.key != "" {
			t.Errorf("%s: key = %q", tt.name, got.key)
		}
	}
}

func TestNoProvider(t *testing.T) {
	j := New(Options{Providers: map[string]Provider{"odd": {Type: "gemini"}}, Getenv: func(string) string { return "" }})
	for _, tt := range []struct{ model, want string }{
		{"openai/m", "model openai/m: no key: OPENAI_API_KEY is not set in hookd's environment"},
		{"nope/m", `model nope/m: provider "nope" is not known (anthropic, dmr, odd, ollama, openai are): name it under providers in hookd.yaml`},
		{"odd/m", `model odd/m: provider type "gemini" is not known: use openai or anthropic`},
		{"m", "model m: model must be provider/name, such as openai/gpt-4o-mini"},
		{"/m", "model /m: model must be provider/name, such as openai/gpt-4o-mini"},
		{"openai/", "model openai/: model must be provider/name, such as openai/gpt-4o-mini"},
	} {
		c := toolCall
		c.Model = tt.model
		if _, err := j.Ask(t.Context(), c); err == nil || err.Error() != tt.want {
			t.Errorf("%s: error = %v, want %s", tt.model, err, tt.want)
		}
	}
}

// People write an Anthropic address with and without the version.
func TestAnthropicAddress(t *testing.T) {
	for _, base := range []string{"", "/", "/v1", "/v1/", "/proxy/v1"} {
		s := newStub(t, protocols[1], body(200, protocols[1].reply("x")))
		c := toolCall
		c.Schema = ""
		if _, err := newJudge(t, Anthropic, s.URL+base).Ask(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		want := "/v1/messages"
		if strings.HasPrefix(base, "/proxy") {
			want = "/proxy/v1/messages"
		}
		if got := s.requests()[0].path; got != want {
			t.Errorf("%s: path = %s, want %s", base, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct{ name, model, prompt, schema, event, want string }{
		{"fine", "openai/m", "{{.ToolName}}", "", "turn_start", ""},
		{"fine-judge", "dmr/ai/m", "p", SchemaPreToolUse, "tool_guard", ""},
		{"fine-permission", "openai/m", "p", SchemaPreToolUse, "permission_request", ""},
		{"fine-guard", "openai/m", "p", SchemaContentRule, "prompt_file_guard", ""},
		{"fine-guard-elsewhere", "openai/m", "p", SchemaContentRule, "post_tool_use", ""},
		{"fine-anywhere", "openai/m", "p", SchemaPreToolUse, "", ""},
		{"no-model", "", "p", "", "", "model is required for model hooks"},
		{"bare-model", "gpt", "p", "", "", "model must be provider/name, such as openai/gpt-4o-mini"},
		{"no-prompt", "openai/m", " ", "", "", "prompt is required for model hooks"},
		{"broken-prompt", "openai/m", "{{", "", "", "parse prompt: template: prompt:1: unclosed action"},
		{"unknown-schema", "openai/m", "p", "nope", "", `unknown schema "nope"`},
		{"guard-without-verdict", "openai/m", "p", SchemaPreToolUse, "skill_content_guard", "model hooks require schema guard_decision"},
		{"guard-without-schema", "openai/m", "p", "", "skill_content_guard", "model hooks require schema guard_decision"},
		{"cannot-block", "openai/m", "p", SchemaContentRule, "turn_start", "guard_decision requires a blocking event"},
		{"cannot-decide", "openai/m", "p", SchemaPreToolUse, "post_tool_use", "pre_tool_use_decision requires an approval event"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c *events.Contract
			if tt.event != "" {
				c = contract(t, tt.event)
			}
			got := ""
			if err := Check(tt.model, tt.prompt, tt.schema, c); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestQuotes(t *testing.T) {
	for _, tt := range []struct {
		said, secret string
		n            int
		want         bool
	}{
		{"anything", "", 4, false},
		{"the key abc is wrong", "abc", 4, true},
		{"no such key", "abc", 4, false},
		{"key sk-****wxyz is wrong", "sk-0123456789wxyz", 4, true},
		{"key ****xyz is wrong", "sk-0123456789wxyz", 4, false},
		{"", "abcdef", 4, false},
	} {
		if got := quotes(tt.said, tt.secret, tt.n); got != tt.want {
			t.Errorf("quotes(%q, %q) = %t", tt.said, tt.secret, got)
		}
	}
}
