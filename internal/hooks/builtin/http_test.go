package builtin

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// recorder is a server that writes down the requests.
type recorder struct {
	*httptest.Server
	mu     sync.Mutex // guards got
	got    []string
	status int
}

func newRecorder(t *testing.T, status int) *recorder {
	r := &recorder{status: status}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, req.Method+" "+req.URL.Path+" "+req.Header.Get("Content-Type")+" "+string(body))
		w.WriteHeader(r.status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *recorder) requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

func TestHTTPPostStaysOutside(t *testing.T) {
	server := newRecorder(t, http.StatusOK)
	b := newBench(t, "http_post", "stop", `{"a":1}`, server.URL+"/x", "{}")
	b.answer()
	if got := server.requests(); len(got) > 0 {
		t.Errorf("got %q, want nothing sent to loopback", got)
	}
	if len(b.logged) != 1 || !strings.Contains(b.logged[0], "not public") {
		t.Errorf("logged %q, want why", b.logged)
	}
}

func TestHTTPPost(t *testing.T) {
	server := newRecorder(t, http.StatusOK)
	newBench(t, "http_post", "stop", `{"a":1}`, server.URL+"/given", `{"text":"hi"}`, allowPrivate).answer()
	b := newBench(t, "http_post", "stop", `{"a":1}`)
	b.answer() // no URL
	if got, want := server.requests(), []string{`POST /given application/json {"text":"hi"}`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, bad := range []string{"ftp://example.org/", "file:///etc/passwd", "example.org", "http://", "http://a b"} {
		if _, err := newBench(t, "http_post", "stop", `{}`, bad).try(); err == nil {
			t.Errorf("%s: got no error", bad)
		}
	}
}

func TestHTTPPostErrorsAreOnlyLogged(t *testing.T) {
	failing := newRecorder(t, http.StatusInternalServerError)
	gone := newRecorder(t, http.StatusOK)
	gone.Close()
	for _, url := range []string{failing.URL, gone.URL} {
		b := newBench(t, "http_post", "stop", `{}`, url, "{}", allowPrivate)
		b.answer()
		if len(b.logged) != 1 {
			t.Errorf("%s: logged %q, want one entry", url, b.logged)
		}
	}
}

// A redirect is a new connection, and is looked at too.
func TestCheckPublic(t *testing.T) {
	for address, public := range map[string]bool{
		"93.184.216.34:80": true, "[2606:2800:220:1::1]:443": true,
		"127.0.0.1:80": false, "10.1.2.3:80": false, "172.16.0.1:80": false, "192.168.1.1:80": false, "169.254.169.254:80": false,
		"100.64.0.1:80": false, "0.0.0.0:80": false, "224.0.0.1:80": false, "255.255.255.255:80": false, "198.18.0.1:80": false,
		"[::1]:80": false, "[::]:80": false, "[fe80::1%eth0]:80": false, "[fc00::1]:80": false, "[::ffff:127.0.0.1]:80": false,
		"[64:ff9b::7f00:1]:80": false, "[2002:7f00:1::]:80": false, "nonsense": false,
	} {
		if err := checkPublic(address); (err == nil) != public {
			t.Errorf("%s: got %v, want public %v", address, err, public)
		}
	}
}

func TestUnload(t *testing.T) {
	server := newRecorder(t, http.StatusOK)
	payload := func(from, to string) string {
		return fmt.Sprintf(`{"from_agent":%q,"to_agent":%q,"from_agent_models":[
			{"provider":"dmr","model":"ai/a","base_url":"%[3]s/engines/v1"},
			{"provider":"dmr","model":"ai/b","base_url":"%[3]s/engines/v1/","unload_api":"/free"},
			{"provider":"dmr","model":"ai/c","base_url":"http://127.0.0.1:1/v1","unload_api":"%[3]s/abs"},
			{"provider":"openai","model":"gpt","base_url":"%[3]s/v1"},
			{"provider":"dmr","model":"ai/d","base_url":"nonsense"}]}`, from, to, server.URL)
	}
	newBench(t, "unload", "on_agent_switch", payload("a", "a")).answer()
	newBench(t, "unload", "on_agent_switch", payload("", "b")).answer()
	if got := server.requests(); len(got) > 0 {
		t.Fatalf("got %q, want nothing without a switch", got)
	}
	b := newBench(t, "unload", "on_agent_switch", payload("a", "b"))
	b.answer()
	want := []string{
		`POST /engines/_unload application/json {"model":"ai/a"}`,
		`POST /free application/json {"model":"ai/b"}`,
		`POST /abs application/json {"model":"ai/c"}`,
	}
	if got := server.requests(); !slices.Equal(got, want) || len(b.logged) > 0 {
		t.Errorf("got %q, logged %q, want %q", got, b.logged, want)
	}
	failing := newRecorder(t, http.StatusServiceUnavailable)
	b = newBench(t, "unload", "on_agent_switch", strings.ReplaceAll(payload("a", "b"), server.URL, failing.URL))
	if b.answer(); len(b.logged) != 3 {
		t.Errorf("logged %q, want an entry for each that refused", b.logged)
	}
}

func TestRedactArguments(t *testing.T) {
	token := "ghp_" + strings.Repeat("aB3dE5", 6)
	payload := fmt.Sprintf(`{"tool_name":"write","tool_input":{"path":"x","n":1.50,"list":["a",{"deep":"<t> %s & more"}],"env":{"AWS_SECRET_ACCESS_KEY":"%s"}}}`, token, strings.Repeat("aB3dE", 8))
	for _, event := range []string{"tool_input_transform", "pre_tool_use", "PreToolUse", "BeforeTool"} {
		a := newBench(t, "redact_secrets", event, payload).answer()
		want := `{"list":["a",{"deep":"<t> [REDACTED] & more"}],"env":{"AWS_SECRET_ACCESS_KEY":"[REDACTED]"}}`
		if got := string(a.Specific.UpdatedInput); got != want {
			t.Errorf("%s: got %s, want the changed keys only: %s", event, got, want)
		}
		if want := `redact_secrets: redacted secret material from arguments of tool "write"`; a.SystemMessage != want {
			t.Errorf("%s: got message %q, want %q", event, a.SystemMessage, want)
		}
	}
}

// The escapes of JSON hide nothing, and text that is no part of a secret stays as it is.
func TestRedactEscapedArguments(t *testing.T) {
	rest := strings.Repeat("aB3dE5", 6)
	payload := `{"tool_name":"write","tool_input":{"a\/b":"x\/y","command":"echo \/ \u0067hp_` + rest + `","body":"{\"p\\u0061ssword\":\"hunter2\",\"n\":1.50}","argv":["--token","` + rest + `"]}}`
	a := newBench(t, "redact_secrets", "PreToolUse", payload).answer()
	want := `{"command":"echo \/ [REDACTED]","body":"{\"p\\u0061ssword\":\"[REDACTED]\",\"n\":1.50}","argv":["--token","[REDACTED]"]}`
	if got := string(a.Specific.UpdatedInput); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestRedactMessages(t *testing.T) {
	token := "ghp_" + strings.Repeat("aB3dE5", 6)
	message := `{"role":"assistant","content":"%[1]s","reasoning_content":"%[1]s","multi_content":[{"type":"text","text":"%[1]s"},{"type":"image","url":"%[1]s"},"%[1]s"],` +
		`"function_call":{"name":"f","arguments":"{\"a\":\"%[1]s\"}"},"tool_calls":[{"id":"1","function":{"arguments":"{\"b\":\"x\\n%[1]s\"}"}}],"thinking_signature":"%[1]s",` +
		`"parts":[{"type":"tool_use","input":{"url":"%[1]s"}}]}`
	clean := `{"role":"user","content":"hello"}`
	a := newBench(t, "redact_secrets", "before_llm_call", fmt.Sprintf(`{"messages":[`+clean+`,`+message+`]}`, token)).answer()
	got := string(a.Specific.UpdatedMessages)
	want := "[" + clean + "," + fmt.Sprintf(message, "[REDACTED]") + "]"
	for _, kept := range []string{`"url":"[REDACTED]"},"`, `"thinking_signature":"[REDACTED]"`} {
		want = strings.Replace(want, kept, strings.Replace(kept, "[REDACTED]", token, 1), 1)
	}
	if got != want || !json.Valid([]byte(got)) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if a := newBench(t, "redact_secrets", "before_llm_call", `{"messages":[`+clean+`]}`).answer(); a.Specific.UpdatedMessages != nil {
		t.Errorf("got %s for clean messages, want no rewrite", a.Specific.UpdatedMessages)
	}
}

func TestRedactResults(t *testing.T) {
	token := "ghp_" + strings.Repeat("aB3dE5", 6)
	for _, tt := range []struct{ event, field, value, want string }{
		{"tool_response_transform", "tool_response", `"a ` + token + `"`, `"a [REDACTED]"`},
		{"tool_response_transform", "tool_response", `{"a":"` + token + `"}`, ``},
		{"transform_tool_result", "tool_output", `"` + token + `"`, `"[REDACTED]"`},
		{"PostToolUse", "tool_response", `{"stdout":"` + token + `","code":0}`, `{"stdout":"[REDACTED]","code":0}`},
	} {
		a := newBench(t, "redact_secrets", tt.event, `{"`+tt.field+`":`+tt.value+`}`).answer()
		if got := string(a.Specific.UpdatedResponse); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.event, got, tt.want)
		}
	}
	b := newBench(t, "redact_secrets", "stop", `{"stop_response":"`+token+`"}`)
	if b.answer(); len(b.logged) != 1 {
		t.Errorf("logged %q on an event without a rewrite, want one entry", b.logged)
	}
}
