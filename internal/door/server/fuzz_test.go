package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/wire"
)

// FuzzHTTP sends whatever there is to a real socket: each request is answered,
// JSON is JSON, nothing is an internal error, and the server lives on.
func FuzzHTTP(f *testing.F) {
	d := newDaemon()
	for _, r := range (&Server{opt: Options{Runs: d, History: d}}).routes() {
		f.Add(r.method, strings.NewReplacer("{id}", "7", "{name}", "guard").Replace(r.path), wire.JSON, "{}")
	}
	f.Add("POST", "/v1/events?wait=1", wire.JSON, `{"event":"pre_tool_use"}`)
	f.Add("POST", "/v1/events?wait", wire.NDJSON, "{\"event\":\"agent:end\"}\n\n{\n{\"subscribe\":[\"*\"]}\n")
	f.Add("GET", "/v1/events?match=a*&match=%ff&since=1&epoch=e&follow=0", "", "")
	f.Add("GET", "/v1/events?since=99999999999999999999&follow=x", "", "")
	f.Add("GET", "/v1/runs?hook=a&since=1h&limit=5&before=3", "", "")
	f.Add("GET", "/v1/dead?before=-1&limit=9999", "", "")
	f.Add("DELETE", "/v1/dead/9223372036854775807", "", "")
	f.Add("POST", "/v1/hooks/%2e%2e%2f/test", wire.JSON, `{"event":"x:y","data":[]}`)
	f.Add("HEAD", "//v1/./status?;", "text/html", "")
	f.Add("OPTIONS", "*", "", "")
	f.Add("CONNECT", "a:1", "", "")
	f.Add("PRI", "* HTTP/2.0\r\n\r\nSM", "", "\r\n\r\n")
	f.Add("{", "}", "\r\n\r\n{}", "\n{\"event\":\"agent:end\"}\n")
	fx := start(f, nil)
	f.Fuzz(func(t *testing.T, method, target, media, body string) {
		raw := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: hookd\r\nConnection: close\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", method, target, media, len(body), body)
		if strings.Contains(raw, "test:") || strings.Contains(raw, "panic") {
			return // the daemon of these tests would do as it is told
		}
		got := exchange(t, fx.socket, raw)
		if bytes.HasPrefix(got, []byte("HTTP/1.1 ")) {
			checkResponse(t, method, got)
		}
		for _, e := range fx.logs.TakeAll() {
			if e.Message == "request panicked" {
				t.Fatalf("%q: %v", raw, e.ContextMap())
			}
		}
		if got := exchange(t, fx.socket, "GET /healthz HTTP/1.0\r\n\r\n"); !bytes.HasPrefix(got, []byte("HTTP/1.0 200 OK\r\n")) {
			t.Fatalf("after %q: %q", raw, got)
		}
	})
}

// exchange sends text, ends its side and reads all that comes.
func exchange(t *testing.T, socket, text string) []byte {
	t.Helper()
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	io.WriteString(c, text) // the server may have closed already
	c.(*net.UnixConn).CloseWrite()
	got, err := io.ReadAll(c)
	if e, ok := err.(net.Error); ok && e.Timeout() {
		t.Fatalf("%q is never answered, except for %q", text, got)
	}
	return got
}

func checkResponse(t *testing.T, method string, got []byte) {
	t.Helper()
	in := bufio.NewReader(bytes.NewReader(got))
	resp, err := http.ReadResponse(in, &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%q: %v", got, err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil && resp.StatusCode < 500 {
		t.Fatalf("%q: %v", got, err)
	}
	if resp.StatusCode == http.StatusInternalServerError {
		t.Fatalf("%q", got)
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), wire.JSON) && method != "HEAD" && !json.Valid(body) {
		t.Fatalf("%q is no JSON", body)
	}
}
