package docs

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

const pushAsks = "name: push\nevents: PreToolUse\ntype: script\nscript: |\n" +
	"  echo '{\"hookSpecificOutput\":{\"permissionDecision\":\"ask\",\"permissionDecisionReason\":\"<a> push\"}}'\n"

// asker is a user whose agent Codex is asked about each call. The user has a hook of the
// gallery that tells about each ask.
type asker struct {
	*user
	dir string // of the hook
}

func newAsker(t *testing.T, hook string, env map[string]string) *asker {
	t.Helper()
	hooktest.NeedTool(t, "python3")
	u := newUser(t)
	hooktest.Write(t, filepath.Join(u.home, "hooks", "push", "HOOK.yaml"), pushAsks, 0o644)
	a := &asker{u, install(t, u.home, hook, env)}
	a.types("hookd reload")
	return a
}

// next is the message that a hook has told.
func next[T any](a *asker, told <-chan T) (one T) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), hooktest.Patience)
	defer cancel()
	select {
	case one = <-told:
	case <-ctx.Done():
		a.t.Fatalf("nothing was told: %s", a.types("hookd log output "+filepath.Base(a.dir)+" --last"))
	}
	return one
}

func (a *asker) types(text string) string {
	a.t.Helper()
	return a.run(a.home, "sh", "-c", text)
}

// calls sends a call of the agent, and returns the ask about it when it is held.
func (a *asker) calls(command string) (*hooktest.Sender, client.Ask) {
	a.t.Helper()
	s := hooktest.Send(a.t, a.client.Socket(), fmt.Sprintf(`{"event":"PreToolUse","dialect":"codex","session_id":"s",`+
		`"cwd":"/p","wait":true,"data":{"tool_name":"Bash","tool_input":{"command":%q}}}`, command))
	var ask client.Ask
	hooktest.Until(a.t, "the call is held", func() bool {
		list, err := a.client.Asks(a.t.Context())
		if err != nil || len(list.Asks) != 1 {
			return false
		}
		ask = list.Asks[0]
		return true
	})
	return s, ask
}

// answered checks how the call of a sender has ended, and through which door.
func (a *asker) answered(s *hooktest.Sender, ask client.Ask, want client.Outcome, door string) {
	a.t.Helper()
	if got, err := s.Answer(); err != nil || strings.Contains(got, `"allowed":true`) != (want == client.OutcomeAllow) {
		a.t.Errorf("the agent was told %s, %v", got, err)
	}
	hooktest.Until(a.t, "the answer is on record", func() bool {
		list, err := a.client.Decisions(a.t.Context(), client.DecisionQuery{EventID: ask.EventID})
		return err == nil && len(list) == 1 && list[0].Decision == want && list[0].Answered.From != nil &&
			list[0].Answered.From.Door == door
	})
}

// serves starts the program that answers, which the test ends.
func (a *asker) serves(env ...string) {
	a.t.Helper()
	cmd := a.command(a.home, filepath.Join(a.dir, "ask.py"), "serve")
	cmd.Env = append(cmd.Env, env...)
	a.starts(cmd)
}

// starts starts a program, which the test ends.
func (a *asker) starts(cmd *exec.Cmd) {
	a.t.Helper()
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = a.t.Output(), a.t.Output(), time.Second
	hooktest.Must(a.t, cmd.Start())
	a.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
}

// bus is a session's bus with a notification server on it.
type bus struct {
	t       *testing.T
	address string
	in      io.Writer
	shown   chan notification
}

type notification struct {
	Notify, Replaces, Closed int
	Title, Body              string
	Actions                  []string
}

func newBus(t *testing.T) *bus {
	t.Helper()
	hooktest.NeedTool(t, "dbus-daemon", "notify-send")
	if exec.Command("/usr/bin/python3", "-c", "import dbus, gi").Run() != nil {
		t.Skip("SKIP-TOOL python3-dbus and python3-gi of the system")
	}
	b := &bus{t: t, shown: make(chan notification, 100)}
	daemon := exec.Command("dbus-daemon", "--session", "--nofork", "--print-address=1", "--nopidfile")
	b.address = strings.TrimSpace(<-b.lines(daemon))
	server := exec.Command("/usr/bin/python3", "testdata/notifications.py")
	server.Env = append(os.Environ(), "DBUS_SESSION_BUS_ADDRESS="+b.address)
	in, err := server.StdinPipe()
	hooktest.Must(t, err)
	b.in = in
	lines := b.lines(server)
	if ready := <-lines; !strings.Contains(ready, "ready") {
		t.Fatalf("the notification server said %q", ready)
	}
	go func() {
		defer close(b.shown)
		for text := range lines {
			var n notification
			if json.Unmarshal([]byte(text), &n) == nil && n.Notify > 0 {
				b.shown <- n
			}
		}
	}()
	return b
}

// lines starts a program, which ends with the test, and returns its output.
func (b *bus) lines(cmd *exec.Cmd) <-chan string {
	b.t.Helper()
	out, err := cmd.StdoutPipe()
	hooktest.Must(b.t, err)
	hooktest.Must(b.t, cmd.Start())
	lines := make(chan string, 100)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	b.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		_ = cmd.Wait()
	})
	return lines
}

func (b *bus) press(n notification, button string) {
	b.t.Helper()
	_, err := fmt.Fprintf(b.in, "press %d %s\n", n.Notify, button)
	hooktest.Must(b.t, err)
}

// ask-desktop shows the ask by the real notify-send on a real bus, with buttons
// while its program serves. It says in the same place how the ask has ended.
func TestAskDesktop(t *testing.T) {
	b := newBus(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", b.address)
	a := newAsker(t, "ask-desktop", nil)
	s, ask := a.calls("git push 1")
	plain := next(a, b.shown)
	if plain.Title != "codex: push asks" || len(plain.Actions) > 0 ||
		!strings.HasPrefix(plain.Body, "git push 1\nasks: push: &lt;a&gt; push\nwhere: /p, in no repository\n") ||
		!strings.Contains(plain.Body, "\nhookd ask allow "+ask.ID+" --digest "+ask.Card.Digest+"\n") {
		t.Errorf("without a program that serves: %+v", plain)
	}
	hooktest.Until(t, "the number of the notification is known", func() bool {
		_, err := os.Stat(filepath.Join(a.home, "ask-desktop", ask.ID))
		return err == nil
	})
	a.types("hookd ask deny " + ask.ID)
	if end := next(a, b.shown); end.Replaces != plain.Notify || !strings.HasPrefix(end.Title, "deny by ") {
		t.Errorf("its end: %+v", end)
	}
	a.answered(s, ask, client.OutcomeDeny, "command")

	a.serves("DBUS_SESSION_BUS_ADDRESS=" + b.address)
	hooktest.Until(t, "the program is an approver", func() bool {
		list, err := a.client.Asks(t.Context())
		return err == nil && list.Approvers == 1
	})
	for _, button := range []string{"deny", "allow"} {
		s, ask = a.calls("git push 2")
		n := next(a, b.shown)
		if strings.Join(n.Actions, ",") != "allow,Allow once,deny,Deny" {
			t.Errorf("its buttons: %+v", n)
		}
		b.press(n, button)
		want := client.OutcomeAllow
		if button == "deny" {
			want = client.OutcomeDeny
		}
		a.answered(s, ask, want, "desktop")
	}
	s, ask = a.calls("git push 3")
	n := next(a, b.shown)
	a.types("hookd ask allow " + ask.ID + " --digest " + ask.Card.Digest)
	if end := next(a, b.shown); end.Replaces != n.Notify || !strings.HasPrefix(end.Title, "allow by ") || len(end.Actions) > 0 {
		t.Errorf("answered elsewhere: %+v", end)
	}
	a.answered(s, ask, client.OutcomeAllow, "command")
}

// On macOS it is osascript that shows a dialog, which is withdrawn with its ask.
func TestAskDesktopByOsascript(t *testing.T) {
	folder := newHome(t)
	hooktest.Write(t, filepath.Join(folder, "osascript"), "#!/bin/sh\n# -e SCRIPT TITLE BODY\n"+
		"printf '%s|%s|%s\\n' \"$2\" \"$3\" \"$4\" | tr '\\n' ' ' >> '"+folder+"/said'\necho >> '"+folder+"/said'\n"+
		"case \"$2\" in *dialog*) until [ -e '"+folder+"/pressed' ]; do sleep 0.05; done; cat '"+folder+"/pressed';; esac\n", 0o755)
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	a := newAsker(t, "ask-desktop", nil)
	a.serves("PATH=" + folder + ":" + a.path())
	hooktest.Until(t, "the program is an approver", func() bool {
		list, err := a.client.Asks(t.Context())
		return err == nil && list.Approvers == 1
	})
	s, ask := a.calls("git push")
	hooktest.Until(t, "the dialog is shown", func() bool {
		said, err := os.ReadFile(filepath.Join(folder, "said"))
		return err == nil && strings.Contains(string(said), "display dialog") &&
			strings.Contains(string(said), "|codex: push asks|git push asks: push: <a> push where: /p")
	})
	hooktest.Write(t, filepath.Join(folder, "pressed"), "Allow once\n", 0o644)
	a.answered(s, ask, client.OutcomeAllow, "desktop")
}

// path is the PATH of the user.
func (u *user) path() (path string) {
	for _, e := range u.env {
		if value, ok := strings.CutPrefix(e, "PATH="); ok {
			path = value
		}
	}
	return path
}

// ntfy is a server that speaks the protocol of ntfy: publishing as JSON and as text,
// and a stream of lines for subscribers.
type ntfy struct {
	*httptest.Server
	t         *testing.T
	token     string
	published chan ntfyMessage // as JSON

	mu     sync.Mutex
	topics map[string][]chan ntfyMessage
}

type ntfyMessage struct {
	ID       string `json:"id"`
	Event    string `json:"event"`
	Topic    string `json:"topic"`
	Sequence string `json:"sequence_id"`
	Title    string `json:"title"`
	Message  string `json:"message"`
	Priority int    `json:"priority"`
	Actions  []struct {
		Action, Label, URL, Method, Body string
		Headers                          map[string]string
	} `json:"actions"`
}

func newNtfy(t *testing.T, token string) *ntfy {
	n := &ntfy{t: t, token: token, published: make(chan ntfyMessage, 100), topics: map[string][]chan ntfyMessage{}}
	n.Server = httptest.NewServer(n)
	t.Cleanup(func() {
		n.CloseClientConnections()
		n.Close()
	})
	return n
}

func (n *ntfy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if n.token != "" && r.Header.Get("Authorization") != "Bearer "+n.token {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	topic, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case r.Method == http.MethodGet && rest == "json":
		n.subscribe(w, r, topic)
	case r.Method == http.MethodPost && topic == "":
		var m ntfyMessage
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			n.t.Error(err)
		}
		n.published <- m
		fmt.Fprint(w, `{"id":"x","event":"message"}`)
	case r.Method == http.MethodPost && rest == "":
		text, _ := io.ReadAll(r.Body)
		n.mu.Lock()
		defer n.mu.Unlock()
		for _, to := range n.topics[topic] {
			to <- ntfyMessage{ID: "y", Event: "message", Topic: topic, Message: string(text)}
		}
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (n *ntfy) subscribe(w http.ResponseWriter, r *http.Request, topic string) {
	to := make(chan ntfyMessage, 100)
	to <- ntfyMessage{ID: "o", Event: "open", Topic: topic}
	n.mu.Lock()
	n.topics[topic] = append(n.topics[topic], to)
	n.mu.Unlock()
	for {
		select {
		case m := <-to:
			_ = json.NewEncoder(w).Encode(m)
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

func (n *ntfy) subscribed(topic string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.topics[topic]) > 0
}

// press acts as the phone does for a button, and returns the status it gets.
func (n *ntfy) press(m ntfyMessage, label string) int {
	n.t.Helper()
	for _, action := range m.Actions {
		if action.Label != label {
			continue
		}
		return n.post(action.Method, action.URL, action.Body, action.Headers)
	}
	n.t.Fatalf("%+v has no button %s", m, label)
	return 0
}

func (n *ntfy) post(method, url, body string, headers map[string]string) int {
	n.t.Helper()
	r, err := http.NewRequestWithContext(n.t.Context(), method, url, strings.NewReader(body))
	hooktest.Must(n.t, err)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	hooktest.Must(n.t, err)
	hooktest.Must(n.t, answer.Body.Close())
	return answer.StatusCode
}

// ask-ntfy pushes the ask, with buttons while its receiver runs, and puts the end
// in the place of the message. Buttons answer through the server.
func TestAskNtfy(t *testing.T) {
	n := newNtfy(t, "tk_1")
	a := newAsker(t, "ask-ntfy", map[string]string{"NTFY_URL": n.URL, "NTFY_TOPIC": "mine", "NTFY_TOKEN": "tk_1"})
	s, ask := a.calls("git push 1")
	plain := next(a, n.published)
	if plain.Topic != "mine" || plain.Sequence != ask.ID || plain.Title != "codex: push asks" || len(plain.Actions) > 0 ||
		!strings.HasPrefix(plain.Message, "git push 1\nasks: push: <a> push\nwhere: /p, in no repository\n") ||
		!strings.HasSuffix(plain.Message, "\nhookd ask allow "+ask.ID+" --digest "+ask.Card.Digest+"\nhookd ask deny "+ask.ID) {
		t.Errorf("without a receiver: %+v", plain)
	}
	a.types("hookd ask deny " + ask.ID)
	if end := next(a, n.published); end.Sequence != ask.ID || !strings.HasPrefix(end.Title, "deny by ") {
		t.Errorf("its end: %+v", end)
	}
	a.answered(s, ask, client.OutcomeDeny, "command")

	a.serves()
	hooktest.Until(t, "the receiver waits for answers", func() bool { return n.subscribed("mine-answers") })
	for label, want := range map[string]client.Outcome{"Deny": client.OutcomeDeny, "Allow once": client.OutcomeAllow} {
		s, ask = a.calls("git push 2")
		m := next(a, n.published)
		if m.Sequence != ask.ID || m.Priority != 5 || len(m.Actions) != 2 || strings.Contains(m.Message, "allow-ask") {
			t.Errorf("with a receiver: %+v", m)
		}
		n.post("POST", n.URL+"/mine-answers", m.Actions[0].Body+"0", m.Actions[0].Headers) // what is forged does nothing
		n.press(m, label)
		a.answered(s, ask, want, "ntfy")
		if end := next(a, n.published); end.Sequence != ask.ID || !strings.HasPrefix(end.Title, string(want)+" by ") || len(end.Actions) > 0 {
			t.Errorf("its end: %+v", end)
		}
		n.press(m, "Allow once")
		if late := next(a, n.published); late.Sequence != ask.ID+"-allow" || late.Title != "The answer does not count" ||
			!strings.Contains(late.Message, "it was answered before: "+string(want)) || len(late.Actions) > 0 {
			t.Errorf("pressed too late: %+v", late)
		}
	}
	if grants, err := a.client.Grants(t.Context()); err != nil || len(grants) > 0 {
		t.Errorf("%+v, %v", grants, err)
	}
}

// With an address of its own the receiver is called by the phone itself.
func TestAskNtfyReceiver(t *testing.T) {
	n := newNtfy(t, "")
	listen := fmt.Sprint("127.0.0.1:", hooktest.FreePort(t))
	a := newAsker(t, "ask-ntfy", map[string]string{"NTFY_URL": n.URL, "NTFY_TOPIC": "mine",
		"RECEIVER_URL": "http://" + listen, "RECEIVER_LISTEN": listen})
	a.serves()
	hooktest.Until(t, "the receiver listens", func() bool {
		conn, err := net.Dial("tcp", listen)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	s, ask := a.calls("git push")
	m := next(a, n.published)
	forged := strings.Replace(m.Actions[1].Body, ".deny.", ".allow.", 1)
	for body, want := range map[string]int{"": 403, "x": 403, forged: 403, strings.Repeat("x", 1000): 400} {
		if got := n.post("POST", "http://"+listen, body, nil); got != want {
			t.Errorf("%.40q: status %d, want %d", body, got, want)
		}
	}
	if got := n.press(m, "Allow once"); got != 200 {
		t.Errorf("the button: status %d", got)
	}
	a.answered(s, ask, client.OutcomeAllow, "ntfy")
	if got := n.press(m, "Deny"); got != 409 {
		t.Errorf("a late button: status %d", got)
	}
	told := []string{next(a, n.published).Title, next(a, n.published).Title} // of a run, and of the receiver
	if slices.Sort(told); told[0] != "The answer does not count" || !strings.HasPrefix(told[1], "allow by ") {
		t.Errorf("the phone is told %q", told)
	}
	if grants, err := a.client.Grants(t.Context()); err != nil || len(grants) > 0 {
		t.Errorf("%+v, %v", grants, err)
	}
	info, err := os.Stat(filepath.Join(a.home, "ask-ntfy.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v, %v", info, err)
	}
}

// The way in asks.md to a phone that answers is typed as it stands, to a server of the
// test's.
func TestAPhoneThatAnswers(t *testing.T) {
	hooktest.NeedTool(t, "python3", "od", "sed")
	n := newNtfy(t, "")
	u := newUser(t)
	a := &asker{u, filepath.Join(u.home, "packs", "gallery", "ask-ntfy")}
	tree, err := filepath.Abs("..")
	hooktest.Must(t, err)
	var steps []string
	for _, b := range snippets(t, "asks.md") {
		if b.lang == "sh" {
			steps = append(steps, b.text)
		}
	}
	if len(steps) != 4 {
		t.Fatalf("%d blocks, want 4", len(steps))
	}
	said := u.run(tree, "sh", "-ec", steps[0])
	_, topic, _ := strings.Cut(strings.TrimSpace(said), "subscribe to ")
	file := filepath.Join(a.dir, "HOOK.yaml")
	text := strings.Replace(read(t, file), "https://ntfy.sh", n.URL, 1)
	hooktest.Write(t, file, text, 0o600)
	a.types("hookd reload")
	a.starts(u.command(tree, "sh", "-ec", "exec "+steps[1]))
	hooktest.Until(t, "the receiver waits for answers", func() bool { return n.subscribed(topic + "-answers") })
	agent := u.command(tree, "sh", "-ec", steps[2])
	var out strings.Builder
	agent.Stdout, agent.Stderr = &out, &out
	hooktest.Terminal(t, agent)
	hooktest.Must(t, agent.Start())
	n.press(next(a, n.published), "Allow once")
	if err := agent.Wait(); err != nil || !strings.Contains(out.String(), "allowed by ") {
		t.Errorf("the agent was told %v, %s", err, out.String())
	}
	if end := next(a, n.published); !strings.HasPrefix(end.Title, "allow by ") {
		t.Errorf("the phone shows %+v", end)
	}
	if said := u.run(tree, "sh", "-ec", steps[3]); !strings.Contains(said, "git push --force") || !strings.Contains(said, "(ntfy)") {
		t.Errorf("the record says %s", said)
	}
}
