package builtin

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

const denial = `{"event":"PreToolUse","agent_name":"claude","tool":"Bash","subject":"rm -rf <!channel>","decision":"deny",` +
	`"reason":"outside\nthe project","cwd":"/home/mira/ledger","why":"hookd why 01J"}`

func TestNotify(t *testing.T) {
	server := newRecorder(t, http.StatusOK)
	for way, want := range map[string]string{
		"slack": `hookd denied claude\nBash: rm -rf \u0026lt;!channel\u0026gt; (in ledger)\noutside\nhookd why 01J`,
		"ntfy":  "Bash: rm -rf <!channel> (in ledger)\noutside\nhookd why 01J",
	} {
		b := newBench(t, "notify", "hookd:decided", denial, way)
		b.call.Payload = json.RawMessage(denial)
		b.call.Env = func(name string) string { return map[string]string{"NOTIFY_URL": server.URL + "/secret"}[name] }
		b.answer()
		if got := server.requests(); len(got) == 0 || !strings.Contains(got[len(got)-1], want) {
			t.Errorf("%s: got %q, want %q in it", way, got, want)
		}
	}
}

func TestNotifyErrorsHideTheAddress(t *testing.T) {
	failing := newRecorder(t, http.StatusForbidden)
	gone := newRecorder(t, http.StatusOK)
	gone.Close()
	for _, address := range []string{failing.URL + "/secret", gone.URL + "/secret", "secret", ""} {
		b := newBench(t, "notify", "hookd:decided", denial, "slack")
		b.call.Payload = json.RawMessage(denial)
		b.call.Env = func(string) string { return address }
		if _, err := b.try(); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %v, want an error without the address", address, err)
		}
	}
}

func TestNotifyDesktop(t *testing.T) {
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	for _, program := range []string{"notify-send", "osascript"} {
		hooktest.Must(t, os.WriteFile(filepath.Join(dir, program), []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" >"+seen+"\n"), 0o755))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	b := newBench(t, "notify", "hookd:decided", denial, "desktop")
	b.call.Payload = json.RawMessage(denial)
	b.answer()
	text, err := os.ReadFile(seen)
	if err != nil || !strings.Contains(string(text), "hookd denied claude") {
		t.Errorf("got %q, %v", text, err)
	}
}
