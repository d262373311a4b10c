package connect

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/agents/bridge/shims"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// settled are options with a socket, and with failClosed where that is said.
func settled(o Options, socket string, failClosed ...bool) Options {
	o.Socket = socket
	if len(failClosed) > 0 {
		o.FailClosed = &failClosed[0]
	}
	return o
}

// Every agent's calls name the socket and deny as asked. Without being asked
// they stay as they are, and disconnect leaves the text that was there before.
func TestSocketAndFailClosed(t *testing.T) {
	for _, name := range Names() {
		a := find(name)
		if a.Manual != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var before []byte
			if a.Given {
				before = givenFile(a)
			}
			o, path := options(t, name, before)
			bin := t.TempDir()
			for _, file := range []string{"hookd-bridge", "new/hookd-bridge"} {
				write(t, filepath.Join(bin, file), nil)
				if err := os.Chmod(filepath.Join(bin, file), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			o.Bridge = filepath.Join(bin, "hookd-bridge")
			wants := func(step string, o Options, socket string, failClosed bool) {
				t.Helper()
				apply(t, Connect, o)
				s := Inspect(o)
				if s.State != Connected || s.Socket != socket || s.FailClosed != failClosed {
					t.Errorf("%s: got %s, %q, %t, want %q, %t: %s", step, s.State, s.Socket, s.FailClosed, socket, failClosed, s.Note)
				}
				if p, err := Connect(o); err != nil || len(p.Changes) > 0 {
					t.Errorf("%s, again: %v\n%s", step, err, p.Diff())
				}
			}
			wants("plain", o, "", false)
			every := o
			every.AllEvents = true
			apply(t, Connect, every)
			wants("pinned", settled(o, "/run/my home/a.sock"), "/run/my home/a.sock", false)
			wants("moved", settled(o, "/run/b.sock", true), "/run/b.sock", true)
			wants("stays", o, "/run/b.sock", true)
			moved := settled(o, "/run/c.sock")
			moved.Bridge = filepath.Join(bin, "new", "hookd-bridge")
			wants("a new bridge stays closed", moved, "/run/c.sock", true)
			wants("loosened", settled(moved, "/run/c.sock", false), "/run/c.sock", false)
			if s := Inspect(settled(o, "/run/other.sock")); s.State != Partly {
				t.Errorf("with another socket: got %s, want partly", s.State)
			}
			if got, want := Inspect(every), len(a.events(true)); len(got.Events) != want {
				t.Errorf("of all events %d are left, want %d", len(got.Events), want)
			}
			apply(t, Disconnect, o)
			if left, err := os.ReadDir(path); err == nil {
				if len(left) > 0 {
					t.Errorf("after disconnect: %v is left", left)
				}
			} else if got := readOrNil(t, path); !bytes.Equal(got, before) {
				t.Errorf("after disconnect: got\n%s\nwant\n%s", got, before)
			}
		})
	}
}

// Flags of the user's own stay, in whatever form ours are written.
func TestFlagsOfACall(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		args       string
		failClosed *bool
		want       string
	}{
		{"PreToolUse", nil, "PreToolUse --socket=/s"},
		{"PreToolUse --ask=none", &yes, "PreToolUse --ask=none --socket=/s --fail-closed"},
		{"-socket /old PreToolUse", nil, "--socket=/s PreToolUse"},
		{"--socket /old --timeout=9s", nil, "--socket=/s --timeout=9s"},
		{"--socket=/old --socket /older X", nil, "--socket=/s X"},
		{"--fail-closed=false X", &yes, "--fail-closed X --socket=/s"},
		{"-fail-closed X --fail-closed", &no, "X --socket=/s"},
	} {
		o := &target{Options: Options{Socket: "/s", FailClosed: c.failClosed}}
		if got := strings.Join(o.flags(strings.Fields(c.args)), " "); got != c.want {
			t.Errorf("%s: got %s, want %s", c.args, got, c.want)
		}
	}
	for args, want := range map[string]bool{"": false, "X --fail-closed": true, "-fail-closed=true": true, "--fail-closed=0 X": false} {
		if got := (call{args: strings.Fields(args)}).failClosed(); got != want {
			t.Errorf("%q: got %t", args, got)
		}
	}
}

// A call over HTTP cannot deny where hookd does not answer: a call that denied so far is
// not loosened in silence.
func TestHTTPDoesNotLoosen(t *testing.T) {
	o, path := options(t, "claude-code", nil)
	apply(t, Connect, settled(o, "/s", true))
	closed := readOrNil(t, path)
	o.Post = &post
	if _, err := Connect(o); err == nil || !strings.Contains(err.Error(), "--fail-closed=false") {
		t.Errorf("got %v", err)
	}
	if _, err := Connect(settled(o, "/s", true)); err == nil {
		t.Error("--http --fail-closed was taken")
	}
	if !bytes.Equal(readOrNil(t, path), closed) {
		t.Error("the settings were changed")
	}
	apply(t, Connect, settled(o, "/s", false))
}

// The settings of a plugin are JSON in its text.
func TestPluginSettings(t *testing.T) {
	for _, name := range Names() {
		p, ok := shims.For(name)
		if !ok {
			continue
		}
		text := p.Files[0].Text
		want := shims.Settings{Socket: "/a \"b\" $1 \\ </script>\n.sock", FailClosed: true}
		if got, ok := shims.SettingsOf(text); !ok || got != (shims.Settings{}) {
			t.Errorf("%s as it is: got %+v, %t", name, got, ok)
		}
		if got, ok := shims.SettingsOf(want.In(text)); !ok || got != want {
			t.Errorf("%s: got %+v, %t", name, got, ok)
		}
	}
}

// Agents are found by a program on PATH or by their folder, and by nothing else.
func TestFindAgents(t *testing.T) {
	home, bin := t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin)
	o := Options{Home: home, Getenv: func(string) string { return "" }}
	if got := FindAgents(o); len(got) > 0 {
		t.Errorf("on an empty machine: got %v", got)
	}
	if err := os.MkdirAll(filepath.Join(home, ".config", "other"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{".claude", ".config/opencode", "Documents/Cline"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range map[string]os.FileMode{"codex": 0o755, "gemini": 0o644, "claude": 0o755} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	want := []Found{
		{"claude-code", filepath.Join(bin, "claude")}, {"cline", filepath.Join(home, "Documents/Cline")},
		{"codex", filepath.Join(bin, "codex")}, {"opencode", filepath.Join(home, ".config/opencode")},
	}
	if got := FindAgents(o); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	o.Getenv = func(name string) string { return map[string]string{"CODEX_HOME": home}[name] }
	if got := FindAgents(o); !slices.Contains(got, want[2]) {
		t.Errorf("got %v", got)
	}
}

// Where an agent's deadline can be set, connect makes it long enough for a person to
// answer, the bridge's budget agrees with it, and a longer one stays.
func TestDeadlineForAsks(t *testing.T) {
	for _, name := range Names() {
		if find(name).Manual == "" {
			t.Run(name, func(t *testing.T) { deadlineForAsks(t, find(name)) })
		}
	}
}

func deadlineForAsks(t *testing.T, a *agent) {
	var before []byte
	if a.Given {
		before = givenFile(a)
	}
	o, path := options(t, string(a.name), before)
	o.Bridge = filepath.Join(t.TempDir(), "hookd-bridge")
	write(t, o.Bridge, nil)
	if err := os.Chmod(o.Bridge, 0o755); err != nil {
		t.Fatal(err)
	}
	apply(t, Connect, o)
	plain, had := written(t, path), 0
	for _, step := range []struct{ asks, seconds int }{{120, 145}, {300, 345}, {60, 345}, {600, 600}} {
		want := min(step.seconds, int(a.Longest.Seconds()))
		o.AskTimeout = time.Duration(step.asks) * time.Second
		if s := Inspect(o); a.files == nil && s.Hurries != (want > had) {
			t.Errorf("%d s: hurries is %t", step.asks, s.Hurries)
		}
		had = want
		apply(t, Connect, o)
		text := written(t, path)
		if a.Longest == 0 && text != plain {
			t.Errorf("%d s: the settings changed, where no deadline can be written: %s", step.asks, text)
		}
		calls, deadlines := fmt.Sprintf(`--timeout=%ds`, want), fmt.Sprintf(`timeout(Sec|_ms)?"?( =|:) %d(000)?\b`, want)
		if a.files != nil {
			calls, deadlines = `const connected`, fmt.Sprintf(`"deadlineMS":%d000}`, want)
		}
		n := len(regexp.MustCompile(calls).FindAllString(text, -1))
		if m := len(regexp.MustCompile(deadlines).FindAllString(text, -1)); a.Longest > 0 && (n == 0 || n != m) {
			t.Errorf("%d s: %d calls and %d deadlines of %d s in\n%s", step.asks, n, m, want, text)
		}
		if s := Inspect(o); s.State != Connected || s.Hurries {
			t.Errorf("%d s: %s, %t, %s", step.asks, s.State, s.Hurries, s.Note)
		}
		if p, err := Connect(o); err != nil || len(p.Changes) > 0 {
			t.Errorf("%d s, again: %v\n%s", step.asks, err, p.Diff())
		}
	}
	apply(t, Disconnect, o)
	if got := written(t, path); got != string(before) {
		t.Errorf("after disconnect: got\n%s\nwant\n%s", got, before)
	}
}

// written is the text of a settings file, or of the files of a folder.
func written(t *testing.T, path string) (text string) {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		return string(readOrNil(t, path))
	}
	for _, e := range entries {
		text += string(readOrNil(t, filepath.Join(path, e.Name())))
	}
	return text
}

// No two agents have a settings file in common, so that each is called by its own entry:
// Kilo and OpenCode, which began as one program, too.
func TestAgentsHaveFilesOfTheirOwn(t *testing.T) {
	o := Options{Home: t.TempDir(), Bridge: bridge, Getenv: func(string) string { return "" }}
	of := map[string]string{}
	for _, a := range agents() {
		o.Agent = string(a.name)
		plan, err := Connect(o)
		if manual := (*ManualError)(nil); a.Given || errors.As(err, &manual) {
			continue // a person names its file, or it has none
		}
		hooktest.Must(t, err)
		hooktest.Must(t, plan.Apply())
		for _, change := range plan.Changes {
			if other := of[change.Path]; other != "" {
				t.Errorf("%s and %s have %s in common", other, o.Agent, change.Path)
			}
			of[change.Path] = o.Agent
		}
	}
	if len(of) < 20 {
		t.Errorf("only %d files were looked at", len(of))
	}
}
