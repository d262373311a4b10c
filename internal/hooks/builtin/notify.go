package builtin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// notifyTime bounds one notification.
const notifyTime = 10 * time.Second

var notify = Builtin{
	Name: "notify",
	Args: "slack, ntfy or desktop; the address is NOTIFY_URL of the hook's env, a token of ntfy NOTIFY_TOKEN",
	Doc:  "tells a person in a line what was decided, and the command that says why",
	Run:  tellPerson,
}

// told is the content of a notification.
type told struct {
	Event    string   `json:"event"`
	Agent    string   `json:"agent_name"`
	Dialect  string   `json:"dialect"`
	Tool     string   `json:"tool"`
	Subject  string   `json:"subject"`
	Decision string   `json:"decision"`
	Reason   string   `json:"reason"`
	By       []string `json:"decided_by"`
	Cwd      string   `json:"cwd"`
	Why      string   `json:"why"`
	Tried    bool     `json:"tried"`
}

func tellPerson(ctx context.Context, c *Invocation) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, notifyTime)
	defer cancel()
	var t told
	if err := json.Unmarshal(c.Payload, &t); err != nil {
		return nil, fmt.Errorf("read the decision: %w", err)
	}
	way := ""
	if len(c.Args) > 0 {
		way = c.Args[0]
	}
	switch way {
	case "slack":
		body, err := json.Marshal(map[string]string{"text": slackText(t.title() + "\n" + t.body())})
		if err != nil {
			return nil, err
		}
		return nil, c.tell(ctx, body, nil)
	case "ntfy":
		return nil, c.tell(ctx, []byte(t.body()), map[string]string{"Title": t.title(), "Tags": "no_entry"})
	case "desktop":
		return nil, showOnDesktop(ctx, c, t.title(), t.body())
	}
	return nil, fmt.Errorf("notify %q: the first argument is slack, ntfy or desktop", way)
}

// title names the event and the agent.
func (t told) title() string {
	who := cmp.Or(t.Agent, t.Dialect, "an agent")
	if t.Tried {
		who = "a try"
	}
	word := map[string]string{"deny": "denied", "ask": "asks about", "allow": "allowed"}[t.Decision]
	return plainLine(fmt.Sprintf("hookd %s %s", cmp.Or(word, "looked at"), who), 80)
}

// body is the call, why, and the command that tells more.
func (t told) body() string {
	lines := []string{plainLine(strings.Trim(t.Tool+": "+t.Subject, ": "), 300)}
	if t.Cwd != "" {
		lines[0] += " (in " + plainLine(filepath.Base(t.Cwd), 60) + ")"
	}
	if t.Reason != "" {
		lines = append(lines, plainLine(t.Reason, 300))
	}
	return strings.Join(append(lines, plainLine(t.Why, 80)), "\n")
}

// plainLine is the first line of a text without control characters, so many runes at most.
func plainLine(text string, most int) string {
	text, _, _ = strings.Cut(text, "\n")
	runes := []rune(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, text))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}

// slackText takes Slack's own three characters out: with them a text could mention a channel.
func slackText(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// tell posts to the hook's address, which is a secret: no error names it.
func (c *Invocation) tell(ctx context.Context, body []byte, headers map[string]string) error {
	target, err := url.Parse(c.getenv("NOTIFY_URL"))
	if err != nil || target.Host == "" || target.Scheme != "https" && target.Scheme != "http" {
		return errors.New("notify: NOTIFY_URL of the hook's env is no http or https address")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(body))
	if err != nil {
		return errors.New("notify: NOTIFY_URL cannot be asked")
	}
	req.Header.Set("User-Agent", "hookd")
	if headers == nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	if token := c.getenv("NOTIFY_TOKEN"); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := newHTTPClient(notifyTime, true)
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	var failed *url.Error
	if errors.As(err, &failed) {
		return fmt.Errorf("notify: %s does not answer: %w", target.Host, failed.Err)
	} else if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 200)) // it only helps to understand the status
	if resp.StatusCode >= 300 {
		return fmt.Errorf("notify: %s answered %s: %s", target.Host, resp.Status, plainLine(string(text), 200))
	}
	return nil
}

// showOnDesktop shows a notification by notify-send or macOS's own means.
func showOnDesktop(ctx context.Context, c *Invocation, title, body string) error {
	program, args := "notify-send", []string{"--app-name=hookd", "--", title, strings.NewReplacer(
		"&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(body)}
	if runtime.GOOS == "darwin" {
		program, args = "osascript", []string{"-e", "on run argv", "-e",
			"display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", title, body}
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return fmt.Errorf("notify: there is no %s: install it (libnotify-bin or libnotify)", program)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = c.Environ
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	if bus := fmt.Sprintf("/run/user/%d/bus", os.Getuid()); os.Getenv("DBUS_SESSION_BUS_ADDRESS") == "" {
		cmd.Env = append(cmd.Env, "DBUS_SESSION_BUS_ADDRESS=unix:path="+bus) // a service may not have been told
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("notify: %s: %w: %s", program, err, plainLine(string(out), 200))
	}
	return nil
}
