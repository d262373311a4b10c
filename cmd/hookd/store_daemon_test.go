package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// home is the home of a daemon under test, and the events that it was sent.
type home struct {
	*testing.T
	dir    string
	client *client.Client
	http   *http.Client
	daemon *running // nil = none was started yet
	acked  []string // numbers of the events that were accepted, see send
	sent   int
}

// running is a daemon.
type running struct {
	cmd   *exec.Cmd
	ended chan struct{}

	mu  sync.Mutex // guards log
	log bytes.Buffer
}

func (r *running) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(p)
}

// logged returns the log that the daemon wrote.
func (r *running) logged() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}

// newHome makes a home with two hooks: note writes down the number of its
// event, see send, and guard denies.
func newHome(t *testing.T) *home {
	t.Helper()
	dir := hooktest.ShortDir(t)
	h := &home{T: t, dir: dir}
	socket := h.path("hookd.sock")
	h.client = client.New(client.Options{Socket: socket})
	h.http = &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	h.script("note", "events: [agent:step]", `set -- $HOOK_EVENT_DATA; echo "${1#*:}" | cut -d, -f1 >> `+h.path("ran"))
	h.script("guard", "events: [pre_tool_use]", "echo no >&2; exit 2")
	return h
}

func (h *home) path(name string) string { return filepath.Join(h.dir, name) }

// script writes a hook that runs lines of shell.
func (h *home) script(name, fields, lines string) {
	h.Helper()
	h.write(filepath.Join("hooks", name, "HOOK.yaml"), "name: "+name+"\n"+fields+"\ntype: script\nscript: |\n  "+strings.ReplaceAll(lines, "\n", "\n  ")+"\n")
}

func (h *home) write(name, text string) {
	h.Helper()
	if err := os.MkdirAll(filepath.Dir(h.path(name)), 0o700); err != nil {
		h.Fatal(err)
	}
	if err := os.WriteFile(h.path(name), []byte(text), 0o600); err != nil {
		h.Fatal(err)
	}
}

// hookdBinary returns the path of the test's own program under the name that
// makes it hookd, see main_test.go.
func hookdBinary(t *testing.T, home string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	hookd := filepath.Join(home, "bin", "hookd")
	if err := os.MkdirAll(filepath.Dir(hookd), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, hookd); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	return hookd
}

func (h *home) command(args ...string) *exec.Cmd {
	cmd := exec.Command(hookdBinary(h.T, h.dir), args...)
	cmd.Env = append(os.Environ(), "LIBREFANG_HOME="+h.dir)
	return cmd
}

// serve starts the daemon and returns when it answers, ready or not.
func (h *home) serve(settings ...string) {
	h.Helper()
	r := &running{ended: make(chan struct{}), cmd: h.command("serve", "--fire-startup=false")}
	r.cmd.Env, r.cmd.Stderr = append(r.cmd.Env, settings...), r
	if err := r.cmd.Start(); err != nil {
		h.Fatal(err)
	}
	go func() { r.cmd.Wait(); close(r.ended) }()
	h.daemon = r
	h.Cleanup(func() { r.cmd.Process.Kill(); <-r.ended })
	hooktest.Until(h.T, "hookd answers", func() bool {
		select {
		case <-r.ended:
			h.Fatalf("hookd ended: %s", r.logged())
		default:
		}
		st, err := h.client.Status(h.Context())
		return err == nil && st.PID == r.cmd.Process.Pid
	})
}

func (h *home) end(s syscall.Signal) {
	h.Helper()
	if err := h.daemon.cmd.Process.Signal(s); err != nil {
		h.Fatal(err)
	}
	<-h.daemon.ended
}

// hookd runs another command and returns its output and its exit code.
func (h *home) hookd(args ...string) (out string, code int) {
	h.Helper()
	text, err := h.command(args...).CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		h.Fatal(err)
	}
	if err != nil {
		code = err.(*exec.ExitError).ExitCode()
	}
	return string(text), code
}

// reply is an answer over HTTP.
type reply struct {
	status     int
	retryAfter string
	body       string
	Error      struct{ Code, Message, Hint string }
	Verdict    *struct{ Allowed bool }
}

func (h *home) request(method, path, body string) (r reply) {
	h.Helper()
	req, err := http.NewRequestWithContext(h.Context(), method, "http://localhost"+path, strings.NewReader(body))
	if err != nil {
		h.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := h.http.Do(req)
	if err != nil {
		h.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		h.Fatal(err)
	}
	json.Unmarshal(text, &r) // bodies that are no object have none of the members
	r.status, r.retryAfter, r.body = resp.StatusCode, resp.Header.Get("Retry-After"), string(text)
	return r
}

// send sends the next numbered event, with so many bytes of padding.
func (h *home) send(pad int) reply {
	h.Helper()
	h.sent++
	number := fmt.Sprint(h.sent)
	r := h.request("POST", "/v1/events", `{"event":"agent:step","session_id":"s","data":{"n":`+number+`,"pad":"`+strings.Repeat("x", pad)+`"}}`)
	if r.status == 202 {
		h.acked = append(h.acked, number)
	}
	return r
}

// decides checks that the guard answers as ever.
func (h *home) decides() {
	h.Helper()
	if r := h.request("POST", "/v1/events?wait=1", `{"event":"pre_tool_use","data":{"tool_name":"shell"}}`); r.status != 200 || r.Verdict == nil || r.Verdict.Allowed {
		h.Errorf("the guard's verdict is %d %s, want a denial", r.status, r.body)
	}
}

func (h *home) ready() bool { return h.request("GET", "/readyz", "").status == 200 }

// ranAll waits until each event that was accepted has run, and checks that no
// other has.
func (h *home) ranAll() {
	h.Helper()
	ran := map[string]bool{}
	hooktest.Until(h.T, "everything that was accepted has run", func() bool {
		text, _ := os.ReadFile(h.path("ran"))
		for _, n := range strings.Fields(string(text)) {
			ran[n] = true
		}
		for _, n := range h.acked {
			if !ran[n] {
				return false
			}
		}
		return true
	})
	if len(ran) != len(h.acked) {
		h.Errorf("%d events ran, %d of %d were accepted", len(ran), len(h.acked), h.sent)
	}
}

// waitLogged waits for a line of the log that has all the parts, and returns it.
func (h *home) waitLogged(parts ...string) (line string) {
	h.Helper()
	hooktest.Until(h.T, fmt.Sprintf("the log says %q", parts), func() bool {
	lines:
		for l := range strings.Lines(h.daemon.logged()) {
			for _, part := range parts {
				if !strings.Contains(l, part) {
					continue lines
				}
			}
			line = l
			return true
		}
		return false
	})
	return line
}
