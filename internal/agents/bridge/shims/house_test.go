package shims

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// hooks of the tests: folder name to HOOK.yaml and run.sh. They are written in
// Claude Code's words, and one in LibreFang's.
var hooks = map[string][2]string{
	"guard":    {"events: [PreToolUse]\nmatcher: Bash\n", "grep -q '\"command\":\"rm -rf' && { echo 'no rm -rf' >&2; exit 2; }\nexit 0\n"},
	"rewriter": {"events: [PreToolUse]\nmatcher: Bash\n", `sed -n 's/.*"command":"echo hello".*/{"hookSpecificOutput":{"updatedInput":{"command":"echo -n hello"}}}/p'` + "\n"},
	"censor":   {"events: [message_sending]\n", "grep -q s3cret && { echo 'no secrets out' >&2; exit 2; }\nexit 0\n"},
	"asker":    {"events: [PreToolUse]\nmatcher: Bash\n", `sed -n 's/.*"command":"sudo.*/{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"as root?"}}/p'` + "\n"},
	"start":    {"events: [SessionStart]\n", "echo 'the start'\n"},
	"prompt":   {"events: [UserPromptSubmit]\n", "grep -q 's3cret' && { echo 'a secret' >&2; exit 2; }\necho 'the date'\n"},
	"redact":   {"events: [transform_tool_result]\n", `printf '%s' "$HOOK_EVENT_DATA" | sed -n 's/.*"tool_output":"\([^"]*\)s3cret\([^"]*\)".*/\1[redacted]\2/p'` + "\n"},
	"after":    {"events: [PostToolUse]\nmatcher: Bash\n", `sed -n 's/.*"command":"lint.*/{"hookSpecificOutput":{"additionalContext":"2 warnings"}}/p'` + "\n"},
	"stop":     {"events: [Stop]\n", "grep -q unfinished && { echo 'go on' >&2; exit 2; }\nexit 0\n"},
	"log":      {"events: [agent:end, SubagentStop]\n", `printf '%s %s' "$HOOK_EVENT" "$HOOK_EVENT_DATA" > "$OUT/$$" && mv "$OUT/$$" "$OUT/$$.done"` + "\n"},
}

func TestMain(m *testing.M) {
	code := m.Run()
	hooktest.RemovePrograms()
	os.Exit(code)
}

// house is a home with hooks, and a daemon that can be ended and started again.
type house struct {
	t      *testing.T
	home   string
	socket string
	out    string
	stop   func()
}

func newHouse(t *testing.T) *house {
	t.Helper()
	home := hooktest.ShortDir(t)
	h := &house{t: t, home: home, socket: filepath.Join(home, "hookd.sock"), out: hooktest.ShortDir(t)}
	for name, files := range hooks {
		dir := filepath.Join(home, "hooks", name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		yaml := "name: " + name + "\ncommand: ./run.sh\nenv: {OUT: " + h.out + "}\n" + files[0]
		for file, text := range map[string]string{"HOOK.yaml": yaml, "run.sh": "#!/bin/sh\n" + files[1]} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	h.start()
	return h
}

func (h *house) start() {
	h.t.Helper()
	h.stop = hooktest.Serve(h.t, h.home, "HOOKD_FIRE_STARTUP=false")
	cl := client.New(client.Options{Socket: h.socket})
	hooktest.Until(h.t, "the daemon is ready", func() bool { return cl.Ready(h.t.Context()) == nil })
}

// logged waits for the input that the log hook got.
func (h *house) logged() (text string) {
	h.t.Helper()
	hooktest.Until(h.t, "the log hook has run", func() bool {
		files, _ := filepath.Glob(filepath.Join(h.out, "*.done"))
		if len(files) == 0 {
			return false
		}
		read, _ := os.ReadFile(files[0])
		os.Remove(files[0])
		text = string(read)
		return true
	})
	return text
}

// gate stands before a socket and counts the connections.
type gate struct {
	socket string
	opened atomic.Int32
	shut   func() // closes the connections, too
}

// newGate passes connections on to target; "" takes them and says nothing.
func newGate(t *testing.T, target string) *gate {
	t.Helper()
	g := &gate{socket: filepath.Join(hooktest.ShortDir(t), "s")}
	l, err := net.Listen("unix", g.socket)
	if err != nil {
		t.Fatal(err)
	}
	var passing sync.WaitGroup
	passing.Go(func() {
		var conns []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				break
			}
			g.opened.Add(1)
			conns = append(conns, c)
			passing.Go(func() { pass(c, target) })
		}
		for _, c := range conns {
			c.Close()
		}
	})
	g.shut = func() { l.Close(); passing.Wait() }
	t.Cleanup(g.shut)
	return g
}

func pass(c net.Conn, target string) {
	defer c.Close()
	if target == "" {
		io.Copy(io.Discard, c)
		return
	}
	d, err := net.Dial("unix", target)
	if err != nil {
		return
	}
	defer d.Close()
	back := make(chan struct{})
	go func() { defer close(back); io.Copy(c, d); c.Close() }()
	io.Copy(d, c)
	d.Close()
	<-back
}
