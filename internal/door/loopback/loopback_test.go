package loopback

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/agents/bridge"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
)

const secret = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// hookd stands in for a daemon: it denies each event that waits, and notes all.
type hookd struct {
	mu   sync.Mutex
	seen []events.Envelope // guarded by mu
}

func (h *hookd) serve(c net.Conn) {
	defer c.Close()
	for lines := bufio.NewScanner(c); lines.Scan(); {
		var env events.Envelope
		if strings.HasPrefix(lines.Text(), `{"told":`) {
			continue // it has no answer
		}
		if json.Unmarshal(lines.Bytes(), &env) != nil {
			return
		}
		h.mu.Lock()
		h.seen = append(h.seen, env)
		h.mu.Unlock()
		answer := `{"ok":true,"event_id":"e","matched":[]}`
		if env.Wait {
			answer = `{"ok":true,"event_id":"e","matched":["guard"],"verdict":{"allowed":false,"continue":true,"message":"no rm -rf"}}`
		}
		io.WriteString(c, answer+"\n")
	}
}

func (h *hookd) events() []events.Envelope {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.seen)
}

// open runs a Server before h; without h, before a socket that is not there.
func open(t *testing.T, h *hookd, o Options) *Server {
	t.Helper()
	dir := hooktest.ShortDir(t)
	o.Listen, o.TokenFile, o.State, o.Socket = "127.0.0.1:0", tokenFile(t, dir), dir, filepath.Join(dir, "s")
	if h != nil {
		l, err := net.Listen("unix", o.Socket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go h.serve(c)
			}
		}()
	}
	d, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- d.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return d
}

// tokenFile makes a file that holds the secret.
func tokenFile(t testing.TB, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "http.token")
	if err := os.WriteFile(path, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// post posts a body and returns the status and the answer.
func post(t *testing.T, d *Server, path, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+d.Addr()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := (&http.Client{Transport: transport, Timeout: time.Minute}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

const (
	path = "/agents/claude-code"
	call = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}`
)

// The answer is the text that the bridge would have printed.
func TestCall(t *testing.T) {
	h := &hookd{}
	d := open(t, h, Options{})
	const deny = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no rm -rf"}}` + "\n"
	if status, text := post(t, d, path, call); status != 200 || text != deny {
		t.Errorf("got %d %s, want %s", status, text, deny)
	}
	if status, text := post(t, d, path, `{"session_id":"s","hook_event_name":"SessionEnd"}`); status != 200 || text != "{}\n" {
		t.Errorf("an event without a decision: got %d %q", status, text)
	}
	seen := h.events()
	if len(seen) != 2 || seen[0].Dialect != events.ClaudeCode || seen[0].SessionID != "s" || !seen[0].Wait || seen[0].TimeoutMS == 0 {
		t.Errorf("hookd got %+v", seen)
	}
}

// Claude Code takes a refusal for no opinion: a call that no guard can see is answered with a denial instead.
func TestACallThatNoGuardSees(t *testing.T) {
	d := open(t, &hookd{}, Options{})
	for because, value := range map[string]string{
		"larger than":       `"` + strings.Repeat("x", bridge.MaxPayload) + `"`,
		"nested too deeply": strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
	} {
		status, text := post(t, d, path, strings.Replace(call, "{", `{"more":`+value+`,`, 1))
		if status != 200 || !strings.Contains(text, `"permissionDecision":"deny"`) || !strings.Contains(text, because) {
			t.Errorf("got %d %s, want a denial: it is %s", status, text, because)
		}
	}
}

// A large call of a busy agent arrives slowly.
func TestACallThatDoesNotArriveWhole(t *testing.T) {
	d := open(t, &hookd{}, Options{})
	for name, tt := range map[string]struct {
		body   string
		end    error
		status int
		text   string
	}{
		"too slow":        {call[:20], fmt.Errorf("read: %w", os.ErrDeadlineExceeded), 200, `"permissionDecision":"deny"`},
		"nothing in time": {"", os.ErrDeadlineExceeded, 400, "not read"},
		"broken off":      {call[:20], io.ErrUnexpectedEOF, 400, "not read"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", path, io.MultiReader(strings.NewReader(tt.body), failing{tt.end}))
		r.SetPathValue("agent", "claude-code")
		w := httptest.NewRecorder()
		d.call(w, r)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.text) {
			t.Errorf("%s: got %d %s, want %d with %s", name, w.Code, w.Body, tt.status, tt.text)
		}
	}
}

func TestRefusals(t *testing.T) {
	h := &hookd{}
	d := open(t, h, Options{})
	for _, tt := range []struct {
		name, path, body string
		header           []string
		status           int
		text             string
	}{
		{"no_token", path, call, []string{"Authorization", ""}, 401, "bearer token"},
		{"wrong_token", path, call, []string{"Authorization", "Bearer " + strings.Repeat("0", 64)}, 401, "bearer token"},
		{"token_begins_well", path, call, []string{"Authorization", "Bearer " + secret[:10]}, 401, "bearer token"},
		{"basic", path, call, []string{"Authorization", "Basic " + secret}, 401, "bearer token"},
		{"origin", path, call, []string{"Origin", "http://localhost"}, 403, "web pages"},
		{"origin_null", path, call, []string{"Origin", "null"}, 403, "web pages"},
		{"origin_without_token", path, call, []string{"Origin", "https://evil.example", "Authorization", ""}, 403, "web pages"},
		{"foreign_host", path, call, []string{"Host", "evil.example"}, 403, "another host"},
		{"host_like_loopback", path, call, []string{"Host", "127.0.0.1.evil.example"}, 403, "another host"},
		{"other_address", path, call, []string{"Host", "192.0.2.1:80"}, 403, "another host"},
		{"agent_without_http", "/agents/codex", call, nil, 404, "cannot call hooks over HTTP"},
		{"path", "/v1/events", call, nil, 404, ""},
		{"no_json", path, "hello", nil, 400, "payload"},
		{"no_event", path, "{}", nil, 400, "which event"},
		{"reserved", path, `{"hook_event_name":"hookd:stop"}`, nil, 400, "hookd:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if status, text := post(t, d, tt.path, tt.body, tt.header...); status != tt.status || !strings.Contains(text, tt.text) {
				t.Errorf("got %d %s, want %d with %q", status, text, tt.status, tt.text)
			}
		})
	}
	if seen := h.events(); len(seen) != 0 {
		t.Errorf("hookd got %+v", seen)
	}
}

func TestHosts(t *testing.T) {
	h := &hookd{}
	d := open(t, h, Options{})
	for _, host := range []string{"localhost", "LocalHost:7780", "127.0.0.1:1", "[::1]:7780", "127.8.8.8"} {
		if status, text := post(t, d, path, call, "Host", host); status != 200 {
			t.Errorf("%s: got %d %s", host, status, text)
		}
	}
}

// Without hookd there is no opinion.
func TestNoVerdict(t *testing.T) {
	d := open(t, nil, Options{})
	if status, text := post(t, d, path, call); status != 200 || text != "{}\n" {
		t.Errorf("got %d %q", status, text)
	}
}

func TestOnlyLoopback(t *testing.T) {
	token := tokenFile(t, t.TempDir())
	d, err := Open(Options{Listen: "0.0.0.0:0", TokenFile: token, Socket: "s"})
	if !errors.Is(err, ErrNotLoopback) {
		t.Errorf("got %v, %v", d, err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if _, err := Open(Options{Listen: taken.Addr().String(), TokenFile: token, Socket: "s"}); !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), "http.listen") {
		t.Errorf("a port that is taken: got %v", err)
	}
}

func TestToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hookd", "http.token")
	var tokens [8]string
	var wg sync.WaitGroup
	for i := range tokens {
		wg.Go(func() {
			token, err := Token(file)
			if err != nil {
				t.Error(err)
			}
			tokens[i] = token
		})
	}
	wg.Wait()
	for _, token := range tokens {
		if len(token) != 64 || token != tokens[0] {
			t.Fatalf("got %q", tokens)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".token*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	os.Chmod(file, 0o644)
	if _, err := Token(file); err == nil || !strings.Contains(err.Error(), "read by others") {
		t.Errorf("readable by others: got %v", err)
	}
	os.Chmod(file, 0o600)
	os.WriteFile(file, []byte("hello"), 0o600)
	if _, err := Token(file); err == nil || !strings.Contains(err.Error(), "no token") {
		t.Errorf("no token: got %v", err)
	}
	os.WriteFile(file, []byte(tokens[0]), 0o644) // one that others could read is replaced as well
	rotated, old, err := Rotate(file)
	if err != nil || len(rotated) != 64 || rotated == tokens[0] || old != tokens[0] {
		t.Errorf("rotated: got %q after %q, %v", rotated, old, err)
	}
	if token, err := Token(file); err != nil || token != rotated {
		t.Errorf("after the rotation: got %q, %v", token, err)
	}
	if err := errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := Token(file); err == nil {
		t.Error("a FIFO was taken for a token")
	}
}

// A changed token counts for the next request, and a token that others can read
// counts no more.
func TestRotatedTokenCountsAtOnce(t *testing.T) {
	d := open(t, nil, Options{})
	if status, text := post(t, d, path, call); status != 200 {
		t.Fatalf("got %d %s", status, text)
	}
	token, _, err := Rotate(d.opt.TokenFile)
	if err != nil {
		t.Fatal(err)
	}
	if status, text := post(t, d, path, call); status != 401 || !strings.Contains(text, "hookd token rotate") {
		t.Errorf("the old token: got %d %s", status, text)
	}
	if status, text := post(t, d, path, call, "Authorization", "Bearer "+token); status != 200 {
		t.Errorf("the new token: got %d %s", status, text)
	}
	if err := os.Chmod(d.opt.TokenFile, 0o640); err != nil {
		t.Fatal(err)
	}
	if status, text := post(t, d, path, call, "Authorization", "Bearer "+token); status != 503 || !strings.Contains(text, "hookd token rotate") {
		t.Errorf("a token that others can read: got %d %s", status, text)
	}
}
