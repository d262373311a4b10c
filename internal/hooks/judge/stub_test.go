package judge

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
)

const testKey = "sk-test-0123456789abcdef"

// protocol has the differences between the two protocols for a test.
type protocol struct {
	kind, base, path string
	keyHeader        string
	key              string // as the header has it
	reply            func(text string) string
	refusal, cut     string // response bodies
	problem          func(message string) string
	read             func(r *request)
}

var protocols = []protocol{
	{
		kind: OpenAI, base: "/v1", path: "/v1/chat/completions", keyHeader: "Authorization", key: "Bearer " + testKey,
		reply: func(text string) string {
			return `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":` + quoted(text) + `,"refusal":null}}]}`
		},
		refusal: `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":null,"refusal":"I will not."}}]}`,
		cut:     `{"choices":[{"index":0,"finish_reason":"length","message":{"role":"assistant","content":"{\"decision\":\"allow\",\"reason\":\"{}"}}]}`,
		problem: func(message string) string {
			return `{"error":{"message":` + quoted(message) + `,"type":"invalid_request_error","param":null,"code":"some_code"}}`
		},
		read: func(r *request) {
			messages := r.body["messages"].([]any)
			for _, m := range messages {
				m := m.(map[string]any)
				switch m["role"] {
				case "system":
					r.system = m["content"].(string)
				case "user":
					r.user = m["content"].(string)
				}
			}
			if format, ok := r.body["response_format"].(map[string]any); ok {
				r.schema = format
			}
		},
	},
	{
		kind: Anthropic, base: "", path: "/v1/messages", keyHeader: "X-Api-Key", key: testKey,
		reply: func(text string) string {
			return `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"{hm}","signature":"s"},{"type":"text","text":` + quoted(text) + `}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`
		},
		refusal: `{"type":"message","role":"assistant","content":[{"type":"text","text":"{\"decision\":\"allow\"}"}],"stop_reason":"refusal"}`,
		cut:     `{"type":"message","role":"assistant","content":[{"type":"text","text":"{\"decision\":\"allow\",\"reason\":\"{}"}],"stop_reason":"max_tokens"}`,
		problem: func(message string) string {
			return `{"type":"error","error":{"type":"invalid_request_error","message":` + quoted(message) + `},"request_id":"r"}`
		},
		read: func(r *request) {
			r.system = r.body["system"].([]any)[0].(map[string]any)["text"].(string)
			m := r.body["messages"].([]any)[0].(map[string]any)
			r.user = m["content"].([]any)[0].(map[string]any)["text"].(string)
			if config, ok := r.body["output_config"].(map[string]any); ok {
				r.schema = config["format"].(map[string]any)
			}
		},
	},
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// request is one request that the stub got.
type request struct {
	at           time.Time
	path         string
	header       http.Header
	body         map[string]any
	system, user string
	schema       map[string]any // nil = none asked for
}

// stub is a provider on loopback. Its nth request is served by the nth step,
// later ones by the last.
type stub struct {
	*httptest.Server
	protocol
	mu   sync.Mutex
	seen []request // guarded by mu
}

func newStub(t *testing.T, p protocol, steps ...http.HandlerFunc) *stub {
	s := &stub{protocol: p}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := request{at: time.Now(), path: r.URL.Path, header: r.Header}
		if err := json.NewDecoder(r.Body).Decode(&got.body); err != nil {
			t.Errorf("request body: %v", err)
		} else {
			p.read(&got)
		}
		s.mu.Lock()
		n := len(s.seen)
		s.seen = append(s.seen, got)
		s.mu.Unlock()
		steps[min(n, len(steps)-1)](w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *stub) requests() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]request(nil), s.seen...)
}

// judge asks the stub as provider "test".
func (s *stub) judge(t *testing.T) *Judge { return newJudge(t, s.kind, s.URL+s.base) }

func newJudge(t *testing.T, kind, base string) *Judge {
	j := New(Options{
		Providers: map[string]Provider{"test": {Type: kind, BaseURL: base, APIKeyEnv: "TEST_KEY"}},
		Getenv: func(name string) string {
			if name == "TEST_KEY" {
				return testKey
			}
			return ""
		},
	})
	t.Cleanup(j.Close)
	return j
}

// Steps.

func body(status int, text string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		w.Write([]byte(text))
	}
}

func drop(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	conn.Close()
}

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

var toolCall = Question{
	Event:   "pre_tool_use",
	Payload: json.RawMessage(`{"session_id":"s-1","cwd":"/w","tool_name":"shell","tool_input":{"cmd":"cat secret-plans.txt <&>"}}`),
	Model:   "test/small/model",
	Prompt:  "Judge {{.ToolName}} with {{.ToolInput | toJSON}}",
	Schema:  SchemaPreToolUse,
}

func deadline(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func contract(t *testing.T, event string) *events.Contract {
	t.Helper()
	c := events.LookupIn(events.DockerAgent, event)
	if c == nil {
		t.Fatalf("no event %s", event)
	}
	return c
}
