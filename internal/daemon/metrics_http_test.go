package daemon

import (
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/door/loopback"
)

// Metrics are read over HTTP with a token of their own, which opens nothing else; the token
// of agents does not open them.
func TestMetricsOverHTTP(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listen := free.Addr().String()
	free.Close()
	h := startWith(t, newHome(t), func(o *Options) { o.Config.MetricsListen = listen })
	h.until("it listens", func() bool {
		st, err := h.client.Status(t.Context())
		return err == nil && len(st.Problems) == 0
	})
	file := h.config.MetricsTokenFile()
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token's file: %v, %v", info, err)
	}
	token, err := loopback.Token(file)
	agents, err2 := loopback.Token(h.config.TokenFile())
	if err != nil || err2 != nil || token == agents {
		t.Fatalf("the tokens: %v, %v", err, err2)
	}
	for name, tt := range map[string]struct {
		method, path, token, host string
		status                    int
	}{
		"metrics":      {"GET", "/metrics", token, "", 200},
		"localhost":    {"GET", "/metrics", token, "localhost:1", 200},
		"no_token":     {"GET", "/metrics", "", "", 401},
		"agents_token": {"GET", "/metrics", agents, "", 401},
		"foreign_host": {"GET", "/metrics", token, "evil.example", 403},
		"post":         {"POST", "/metrics", token, "", 405},
		"agents":       {"POST", "/agents/claude-code", token, "", 404},
		"socket_route": {"GET", "/v1/status", token, "", 404},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tt.method, "http://"+listen+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+tt.token)
		r.Host = tt.host
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != tt.status {
			t.Errorf("%s: got %d %.200s, %v", name, resp.StatusCode, text, err)
		}
		if shown := strings.Contains(string(text), "hookd_events_total"); shown != (tt.status == 200) {
			t.Errorf("%s: metrics are shown: %v", name, shown)
		}
	}
}
