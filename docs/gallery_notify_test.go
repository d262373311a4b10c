package docs

import (
	"encoding/json"
	"io"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

func TestSlackNotify(t *testing.T) {
	hooktest.NeedTool(t, "python3")
	type post struct{ kind, body string }
	posts, status := make(chan post, 10), http.StatusOK
	slack := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		posts <- post{r.Method + " " + r.URL.Path + " " + r.Header.Get("Content-Type"), string(body)}
		w.WriteHeader(status)
	}))
	defer slack.Close()
	home := newHome(t)
	install(t, home, "slack-notify", map[string]string{"SLACK_WEBHOOK_URL": slack.URL + "/services/T0/B0/secret", "MIN_SECONDS": "5"})
	h := start(t, home)
	for _, d := range []client.Dialect{claude, docker, libreFang} {
		h.ok(ended(d, "s-"+string(d), h.project(), "<!channel> & "+h.hostile()))
		got := <-posts
		if got.kind != "POST /services/T0/B0/secret application/json" {
			t.Errorf("%s: %s", d, got.kind)
		}
		var message map[string]string
		if err := json.Unmarshal([]byte(got.body), &message); err != nil {
			t.Fatalf("%s: %v in %s", d, err, got.body)
		}
		text := message["text"]
		for _, want := range []string{"finished: ok", `in my "project"`, "it's \"quoted\" $(touch", "&lt;!channel&gt; &amp; "} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q has no %q", d, text, want)
			}
		}
		if strings.ContainsAny(text, "<") || strings.Count(text, "\n") != 1 {
			t.Errorf("%s: %q can mention people or has lines of its own", d, text)
		}
		if d == libreFang && !strings.HasPrefix(text, "*agent a1* finished: ok, 61.5 s, 42 tokens,") {
			t.Errorf("%q", text)
		}
	}
	short := ended(libreFang, "s", "", "done")
	short.data["duration_ms"] = 4999
	h.ok(short)
	if len(posts) != 0 {
		t.Errorf("a short run was told: %v", <-posts)
	}
	status = http.StatusForbidden
	if run := h.ran(ended(claude, "s9", "", "x")); run.Result != "failed" || !strings.Contains(run.Stderr.Head, "403") || strings.Contains(run.Stderr.Head, "secret") {
		t.Errorf("Slack refused: %s, %s", run.Result, run.Stderr.Head)
	}
	h.unharmed()
}

func TestDesktopNotify(t *testing.T) {
	hooktest.NeedTool(t, "python3")
	home := newHome(t)
	shown := filepath.Join(home, "shown")
	for _, name := range []string{"notify-send", "osascript"} {
		hooktest.Write(t, filepath.Join(home, "bin", name), "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$@\" >> '"+shown+"'\n", 0o755)
	}
	t.Setenv("PATH", filepath.Join(home, "bin")+":"+os.Getenv("PATH"))
	install(t, home, "desktop-notify", map[string]string{"MIN_SECONDS": "5"})
	h := start(t, home)
	for _, d := range []client.Dialect{claude, docker, libreFang} {
		e := ended(d, "s-"+string(d), h.project(), h.hostile())
		e.data["agent_name"] = "<b>" + h.hostile()
		h.ok(e)
		text := read(t, shown)
		if !strings.Contains(text, "finished\n") || !strings.Contains(text, `in my "project"`) {
			t.Errorf("%s: %s", d, text)
		}
		if strings.ContainsAny(text, "\x1b\r") || strings.Contains(text, "Bcc") && strings.Contains(text, "\nBcc") {
			t.Errorf("%s: control characters in %q", d, text)
		}
		os.Remove(shown)
	}
	h.ok(event{claude, "Notification", map[string]any{"session_id": "s", "cwd": "/tmp/p", "message": "my key is hunter2"}})
	if text := read(t, shown); !strings.Contains(text, "Agent wants you\nin p\n") || strings.Contains(text, "hunter2") {
		t.Errorf("a notification: %q", text)
	}
	h.unharmed()
}

// letters is a small SMTP server that keeps the mails it is sent.
func letters(t *testing.T) (port string, got <-chan *mail.Message) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	out := make(chan *mail.Message, 10)
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			serveSMTP(textproto.NewConn(nc), out)
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port, out
}

func serveSMTP(c *textproto.Conn, out chan<- *mail.Message) {
	defer c.Close()
	c.PrintfLine("220 stand-in")
	for {
		line, err := c.ReadLine()
		if err != nil {
			return
		}
		switch verb, _, _ := strings.Cut(strings.ToUpper(line), " "); verb {
		case "DATA":
			c.PrintfLine("354 go on")
			if m, err := mail.ReadMessage(c.DotReader()); err == nil {
				body, _ := io.ReadAll(m.Body)
				m.Body = strings.NewReader(string(body))
				out <- m
			}
			c.PrintfLine("250 taken")
		case "QUIT":
			c.PrintfLine("221 bye")
			return
		default:
			c.PrintfLine("250 fine")
		}
	}
}

func TestMailOnFailure(t *testing.T) {
	hooktest.NeedTool(t, "python3")
	port, got := letters(t)
	home := newHome(t)
	dir := install(t, home, "mail-on-failure", map[string]string{"SMTP_HOST": "127.0.0.1", "SMTP_PORT": port, "MAIL_TO": "me@example.org", "MAIL_EVERY": "3600"})
	h := start(t, home)
	failures := []event{
		{claude, "StopFailure", map[string]any{"session_id": "c", "cwd": h.project(), "error": "rate_limit", "error_details": h.hostile()}},
		{docker, "on_error", map[string]any{"session_id": "d", "cwd": h.project(), "notification_level": "error", "notification_message": h.hostile()}},
		{libreFang, "agent:end", map[string]any{"agent_id": "a1" + h.hostile(), "session_id": "l", "status": "error", "response_preview": h.hostile()}},
	}
	for _, e := range failures {
		os.Remove(filepath.Join(dir, "state"))
		h.ok(e)
		m := <-got
		subject := m.Header.Get("Subject")
		for name := range m.Header {
			if name == "Bcc" {
				t.Errorf("%s: text became a header", e.dialect)
			}
		}
		body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
		if m.Header.Get("To") != "me@example.org" || subject == "" || err != nil || !strings.Contains(string(body), "session_id: ") {
			t.Errorf("%s: %q, %v, %s", e.dialect, m.Header, err, body)
		}
		if e.dialect == libreFang && !strings.Contains(string(body), "the run ended with status error") {
			t.Errorf("%s", body)
		}
		if e.dialect == docker && !strings.Contains(string(body), `it's "quoted" $(touch`) {
			t.Errorf("%s", body)
		}
	}
	for _, d := range []client.Dialect{claude, docker, libreFang} {
		h.ok(ended(d, "fine", "", "all is well"))
	}
	h.ok(failures[1]) // too soon after the last
	if len(got) != 0 {
		t.Errorf("a run that ended well, or a second failure at once, was mailed: %v", (<-got).Header)
	}
	hooktest.Write(t, filepath.Join(dir, "state"), "1 3.0", 0o600)
	h.ok(failures[1])
	if body, _ := io.ReadAll((<-got).Body); !strings.Contains(string(body), "3 more since the last mail") {
		t.Errorf("%s", body)
	}
	h.unharmed()
}
