package loopback

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"
)

// FuzzCall: whatever is posted, a caller without the token gets nothing but a refusal. A
// caller with the token gets one JSON object or an error that names the fault. No daemon
// runs, so nothing may be denied.
func FuzzCall(f *testing.F) {
	f.Add("/agents/claude-code", secret, "127.0.0.1:7780", "", []byte(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}`))
	f.Add("/agents/claude-code", secret, "[::1]", "", []byte("{"))
	f.Add("/agents/claude-code/..%2f", secret, "localhost", "", []byte(`[]`))
	f.Add("/agents/codex", secret, "localhost", "", []byte(`{}`))
	f.Add("/agents/claude-code", secret+"x", "localhost", "", []byte(`{}`))
	f.Add("/agents/claude-code", secret, "evil.example", "", []byte(`{}`))
	f.Add("/agents/claude-code", secret, "localhost", "http://localhost", []byte(`{}`))
	f.Add("//agents//claude-code", "", "", "null", []byte("{} {}"))
	dir := f.TempDir()
	d := &Server{opt: Options{TokenFile: tokenFile(f, dir), State: dir, Socket: filepath.Join(dir, "s")}, log: zap.NewNop()}
	handler := d.handler()
	f.Fuzz(func(t *testing.T, path, token, host, origin string, body []byte) {
		u, err := url.ParseRequestURI(path)
		if err != nil || u.Host != "" {
			return
		}
		r := httptest.NewRequest("POST", "/", bytes.NewReader(body))
		r.URL, r.Host, r.RequestURI = u, host, path
		r.Header.Set("Authorization", "Bearer "+token)
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		answer, err := io.ReadAll(w.Result().Body)
		if err != nil {
			t.Fatal(err)
		}
		switch code := w.Code; {
		case code >= 500:
			t.Fatalf("%d %q", code, answer)
		case (origin != "" || strings.TrimSpace(token) != secret) && code != http.StatusForbidden && code != http.StatusUnauthorized:
			t.Fatalf("token %q, origin %q: %d %q", token, origin, code, answer)
		case code == http.StatusOK && (!json.Valid(answer) || bytes.Contains(answer, []byte("deny"))):
			t.Fatalf("%q is answered with %q", body, answer)
		case code == http.StatusOK && !json.Valid(firstValue(body)):
			t.Fatalf("%q is taken: %q", body, answer)
		}
	})
}

// firstValue is the first JSON value of body, {} where it is empty.
func firstValue(body []byte) []byte {
	var value json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&value); err == io.EOF {
		return []byte("{}")
	}
	return value
}
