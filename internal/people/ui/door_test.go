package ui_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/people/ui"
)

// visitor asks the page as a browser would, or as an attacker.
type visitor struct {
	t      *testing.T
	origin string // http://127.0.0.1:PORT
	base   string // path of the page
	cookie *http.Cookie
}

// serve runs a page of a daemon, or of none.
func serve(t *testing.T, opt ui.Options) (*ui.Server, string) {
	t.Helper()
	if opt.Client == nil {
		opt.Client = client.New(client.Options{Socket: hooktest.ShortDir(t) + "/none.sock"})
	}
	s, err := ui.Open(opt)
	hooktest.Must(t, err)
	hooktest.Run(t, s.Run)
	link := s.Link()
	return s, link
}

// enter opens a link and returns a visitor who may see the page.
func enter(t *testing.T, link string) *visitor {
	t.Helper()
	v := &visitor{t: t, origin: link[:strings.Index(link, "/open/")]}
	r := v.do("GET", strings.TrimPrefix(link, v.origin), nil)
	if r.StatusCode != http.StatusSeeOther || len(r.Cookies()) != 1 {
		t.Fatalf("the link answers %s with cookies %v", r.Status, r.Cookies())
	}
	v.base, v.cookie = r.Header.Get("Location"), r.Cookies()[0]
	return v
}

// do sends a request with headers and returns the answer; its body is read.
func (v *visitor) do(method, path string, headers map[string]string) *http.Response {
	v.t.Helper()
	return v.send(method, path, "{}", headers)
}

func (v *visitor) send(method, path, body string, headers map[string]string) *http.Response {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.origin+path, strings.NewReader(body))
	hooktest.Must(v.t, err)
	if v.cookie != nil {
		r.AddCookie(v.cookie)
	}
	for key, value := range headers {
		if key == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(key, value)
	}
	noRedirects := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := noRedirects.Do(r)
	hooktest.Must(v.t, err)
	got, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	hooktest.Must(v.t, err)
	answer.Body = io.NopCloser(bytes.NewReader(got))
	return answer
}

func text(r *http.Response) string {
	body, _ := io.ReadAll(r.Body)
	return string(body)
}

// A link works once; the cookie that it becomes is sent to this page alone.
func TestALinkWorksOnce(t *testing.T) {
	server, link := serve(t, ui.Options{})
	v := enter(t, link)
	if c := v.cookie; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != v.base || len(v.base) < 18 || len(c.Value) < 32 {
		t.Errorf("cookie %+v for %s", c, v.base)
	}
	second := &visitor{t: t, origin: v.origin}
	if r := second.do("GET", strings.TrimPrefix(link, v.origin), nil); r.StatusCode != http.StatusForbidden || len(r.Cookies()) != 0 {
		t.Errorf("the link works twice: %s %v", r.Status, r.Cookies())
	}
	if r := v.do("GET", v.base, nil); r.StatusCode != http.StatusOK || !strings.Contains(text(r), "<title>hookd</title>") {
		t.Errorf("with the cookie: %s", r.Status)
	}
	for _, path := range []string{"/", v.base, v.base + "page.js", v.base + "page.css", v.base + "v1/status", v.base + "live", v.base + "about", "/v1/status", "/open/", "/open/x"} {
		for _, cookie := range []*http.Cookie{nil, {Name: v.cookie.Name, Value: "00"}, {Name: "x", Value: v.cookie.Value}} {
			second.cookie = cookie
			if r := second.do("GET", path, nil); r.StatusCode != http.StatusForbidden || strings.Contains(text(r), "hookd.sock") {
				t.Errorf("a browser without the link gets %s: %s", path, r.Status)
			}
		}
	}
	older := server.Link()
	newest := server.Link()
	second.cookie = nil
	if r := second.do("GET", strings.TrimPrefix(older, v.origin), nil); r.StatusCode != http.StatusForbidden {
		t.Errorf("a link that was followed by another works: %s", r.Status)
	}
	for _, method := range []string{"HEAD", "POST"} {
		second.do(method, strings.TrimPrefix(newest, v.origin), map[string]string{"Origin": v.origin})
	}
	second.do("GET", strings.TrimPrefix(newest, v.origin), map[string]string{"Sec-Purpose": "prefetch;prerender"})
	enter(t, newest) // none of these used it up
}

// A request that only another site, a rebound name or a frame would send is refused, whatever
// its cookie.
func TestForeignRequestsAreRefused(t *testing.T) {
	_, link := serve(t, ui.Options{Act: true})
	v := enter(t, link)
	host := strings.TrimPrefix(v.origin, "http://")
	port := host[strings.LastIndex(host, ":"):]
	site := func(site, mode, dest string) map[string]string {
		return map[string]string{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
	}
	for name, headers := range map[string]map[string]string{
		"a rebound name":         {"Host": "evil.example" + port},
		"no port":                {"Host": "127.0.0.1"},
		"another port":           {"Host": "127.0.0.1:1"},
		"a name with a dot":      {"Host": "localhost." + port},
		"another origin":         {"Origin": "http://evil.example"},
		"an origin of null":      {"Origin": "null"},
		"the same host as https": {"Origin": "https://" + host},
		"another port's origin":  {"Origin": "http://127.0.0.1:1"},
		"a script elsewhere":     site("cross-site", "cors", "empty"),
		"a script on this host":  site("same-site", "cors", "empty"),
		"an image":               site("cross-site", "no-cors", "image"),
		"a script tag":           site("cross-site", "no-cors", "script"),
		"a frame":                site("cross-site", "navigate", "iframe"),
		"a frame of this host":   site("same-site", "navigate", "frame"),
		"an object":              site("cross-site", "navigate", "object"),
	} {
		for _, path := range []string{v.base, v.base + "v1/status", v.base + "page.js", v.base + "live"} {
			if r := v.do("GET", path, headers); r.StatusCode != http.StatusForbidden {
				t.Errorf("%s gets %s: %s", name, path, r.Status)
			}
		}
	}
	allowed := []map[string]string{nil, {"Origin": v.origin}, {"Host": "localhost" + port}, site("same-origin", "cors", "empty"), site("none", "navigate", "document"), site("cross-site", "navigate", "document")}
	for _, headers := range allowed {
		if r := v.do("GET", v.base, headers); r.StatusCode != http.StatusOK {
			t.Errorf("with %v: %s", headers, r.Status)
		}
	}
	change := v.base + "v1/events/X/replay"
	for name, headers := range map[string]map[string]string{
		"no origin":     {"Content-Type": "application/json"},
		"a form":        {"Origin": v.origin, "Content-Type": "application/x-www-form-urlencoded"},
		"plain text":    {"Origin": v.origin, "Content-Type": "text/plain"},
		"no type":       {"Origin": v.origin},
		"a navigation":  {"Origin": "null", "Content-Type": "application/json", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
		"another port":  {"Origin": "http://127.0.0.1:1", "Content-Type": "application/json"},
		"this host too": {"Origin": v.origin, "Content-Type": "application/json", "Sec-Fetch-Site": "same-site"},
	} {
		if r := v.do("POST", change, headers); r.StatusCode != http.StatusForbidden && r.StatusCode != http.StatusUnsupportedMediaType {
			t.Errorf("%s may change something: %s", name, r.Status)
		}
	}
	if r := v.do("POST", change, map[string]string{"Origin": v.origin, "Content-Type": "application/json"}); r.StatusCode != http.StatusBadGateway {
		t.Errorf("the page's own request: %s %s", r.Status, text(r))
	}
}

// Each answer forbids all content that is not from this page.
func TestEachAnswerHasThePolicy(t *testing.T) {
	_, link := serve(t, ui.Options{})
	v := enter(t, link)
	const want = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
	for _, path := range []string{v.base, v.base + "page.js", v.base + "none", v.base + "v1/status", "/", "/none", "/open/x"} {
		h := v.do("GET", path, nil).Header
		if h.Get("Content-Security-Policy") != want || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" || h.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s: %v", path, h)
		}
		if path != v.base+"page.js" && h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s may be kept: %s", path, h.Get("Cache-Control"))
		}
	}
}

// Without Act the page changes nothing, and it asks the daemon for nothing that is not
// on its list.
func TestThePageOnlyLooks(t *testing.T) {
	home := newHome(t, nil)
	c, _ := runDaemon(t, home)
	for _, act := range []bool{false, true} {
		_, link := serve(t, ui.Options{Client: c, Act: act})
		v := enter(t, link)
		own := map[string]string{"Origin": v.origin, "Content-Type": "application/json", "Sec-Fetch-Site": "same-origin"}
		for _, path := range []string{"v1/status", "v1/hooks", "v1/hooks/audit-log", "v1/decisions?limit=1", "v1/decisions/counts", "v1/accepted", "v1/sessions", "v1/runs", "v1/running", "v1/stats?by=hour", "v1/dead", "v1/undo", "about", "waiting"} {
			if r := v.do("GET", v.base+path, own); r.StatusCode != http.StatusOK || !json.Valid([]byte(text(r))) {
				t.Errorf("%s: %s", path, r.Status)
			}
		}
		if r := v.do("GET", v.base+"v1/decisions?tol=x", own); r.StatusCode != http.StatusBadRequest || !strings.Contains(text(r), "tool") {
			t.Errorf("a wrong parameter: %s", r.Status)
		}
		for _, path := range []string{"metrics", "v1/events", "v1/reload", "v1/agents/x/last", "healthz", "v1", "v1/hooks/", "v1/hooks/../status", "v1/runs/%2e%2e%2fstatus/kill", "//v1/status", "..", "vendor/VENDOR", "../ui.go"} {
			if r := v.do("GET", v.base+path, own); r.StatusCode == http.StatusOK {
				t.Errorf("the page can ask for %s: %s", path, text(r))
			}
		}
		for _, path := range []string{"v1/reload", "v1/events", "v1/status"} {
			if r := v.do("POST", v.base+path, own); r.StatusCode < 400 {
				t.Errorf("POST %s: %s", path, r.Status)
			}
		}
		for _, path := range []string{"v1/hooks/audit-log/test", "v1/runs/x/kill", "v1/dead/1/retry", "v1/events/x/replay", "v1/undo", "v1/decisions/x/permit", "calls/x/test", "hooks/audit-log/snooze", "hooks/audit-log/disable", "hooks/audit-log/enable", "hooks/audit-log/allow"} {
			r := v.do("POST", v.base+path, own)
			if body := text(r); !act && (r.StatusCode != http.StatusForbidden || !strings.Contains(body, "--act")) || act && strings.Contains(body, "--act") {
				t.Errorf("act %v: %s answers %s %s", act, path, r.Status, body)
			}
		}
		if r := v.do("DELETE", v.base+"v1/dead/1", own); r.StatusCode < 400 {
			t.Errorf("DELETE: %s", r.Status)
		}
	}
}

// Where the daemon is away, the page is there and its questions say so.
func TestWithoutADaemon(t *testing.T) {
	_, link := serve(t, ui.Options{})
	v := enter(t, link)
	if r := v.do("GET", v.base+"v1/status", nil); r.StatusCode != http.StatusBadGateway || !strings.Contains(text(r), `"not_running"`) {
		t.Errorf("got %s", r.Status)
	}
	if r := v.do("GET", v.base, nil); r.StatusCode != http.StatusOK {
		t.Errorf("the page: %s", r.Status)
	}
}

// Other machines never reach it.
func TestOnlyLoopback(t *testing.T) {
	for _, listen := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.com:80", "10.0.0.1:0", "::"} {
		if s, err := ui.Open(ui.Options{Listen: listen}); err == nil {
			t.Errorf("%q is listened on: %s", listen, s.Link())
		}
	}
	s, err := ui.Open(ui.Options{Listen: "localhost:0"})
	if err != nil || !strings.HasPrefix(s.Link(), "http://127.0.0.1:") {
		t.Errorf("localhost: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	hooktest.Must(t, s.Run(ctx))
}

// It ends on its own when no page was open for long.
func TestItEndsWhenItIsIdle(t *testing.T) {
	s, err := ui.Open(ui.Options{Idle: time.Millisecond, Client: client.New(client.Options{})})
	hooktest.Must(t, err)
	if err := s.Run(t.Context()); !errors.Is(err, ui.ErrIdle) {
		t.Errorf("it ended with %v", err)
	}
}

// The stream goes on after the record that a page had last, and tells when the daemon
// is away and there again.
func TestTheStreamResumes(t *testing.T) {
	home := newHome(t, nil)
	c, stop := runDaemon(t, home)
	_, link := serve(t, ui.Options{Client: c})
	v := enter(t, link)
	type message struct {
		Records []struct {
			Type, Event, Kind string
			Seq               uint64
			Data              *json.RawMessage
		}
		Connected *bool
		Epoch     string
		Seq       uint64
	}
	follow := func(query string) (next func() message, end func()) {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "GET", v.origin+v.base+"live"+query, nil)
		hooktest.Must(t, err)
		r.AddCookie(v.cookie)
		answer, err := http.DefaultClient.Do(r)
		hooktest.Must(t, err)
		lines := bufio.NewReader(answer.Body)
		return func() (m message) {
			for {
				line, err := lines.ReadString('\n')
				hooktest.Must(t, err)
				if data, ok := strings.CutPrefix(line, "data: "); ok {
					hooktest.Must(t, json.Unmarshal([]byte(data), &m))
					return m
				}
			}
		}, func() { cancel(); answer.Body.Close() }
	}
	next, end := follow("")
	first := next()
	for first.Connected == nil { // asks have a stream of their own
		first = next()
	}
	if !*first.Connected || first.Epoch == "" {
		t.Fatalf("it begins with %+v", first)
	}
	_, err := c.Emit(t.Context(), client.Event{Event: "agent:end", Dialect: "librefang", Data: json.RawMessage(`{"secret":"payload"}`)})
	hooktest.Must(t, err)
	var seen uint64
	for seen == 0 {
		for _, r := range next().Records {
			if r.Type == "event" && r.Event == "agent:end" {
				if r.Kind == "" || r.Data != nil {
					t.Errorf("the record has kind %q and data %v", r.Kind, r.Data)
				}
				seen = r.Seq
			}
		}
	}
	stop()
	for m := next(); m.Connected == nil || *m.Connected; m = next() {
	}
	_, _ = runDaemon(t, home)
	m := next()
	for ; m.Connected == nil || !*m.Connected; m = next() {
	}
	end()
	next, end = follow("?since=" + jsonNumber(first.Seq) + "&epoch=" + m.Epoch)
	defer end()
	for found := false; !found; {
		for _, r := range next().Records {
			found = found || r.Seq == seen
		}
	}
}

func jsonNumber(n uint64) string { b, _ := json.Marshal(n); return string(b) }
