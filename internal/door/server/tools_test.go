package server

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// run gives a shell command, which knows the socket as $SOCK, a minute.
func (f *fixture) run(tool, script string) string {
	f.t.Helper()
	hooktest.NeedTool(f.t, tool)
	ctx, cancel := context.WithTimeout(f.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Env = append(cmd.Environ(), "SOCK="+f.socket)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

// The commands that the README tells people to type.
func TestToolsOfTheShell(t *testing.T) {
	tests := []struct{ name, tool, script, want string }{
		{"nc", "nc", `printf '{"event":"agent:end","data":{}}\n' | nc -N -U "$SOCK"`, "ok"},
		{"nc_no_newline", "nc", `printf '{"event":"agent:end","data":{}}' | nc -N -U "$SOCK"`, "ok"},
		{"socat", "socat", `printf '{"event":"agent:end","data":{}}\n{"event":"a b"}\n' | socat - UNIX-CONNECT:"$SOCK"`, "ok bad_event_name"},
		{"curl", "curl", `curl -sS --unix-socket "$SOCK" -d '{"event":"agent:end"}' http://localhost/v1/events`, "accepted"},
		{"curl_hookd", "curl", `curl -sS --unix-socket "$SOCK" -d '{"event":"agent:end","wait":true}' http://hookd/v1/events`, "waited"},
		{"curl_ndjson", "curl", `printf '{"event":"agent:end"}\n{"event":"a b"}\n' | curl -sS --unix-socket "$SOCK" -H 'Content-Type: application/x-ndjson' --data-binary @- http://localhost/v1/events`, "ok bad_event_name"},
		{"curl_stream", "curl", `curl -sS --unix-socket "$SOCK" 'http://localhost/v1/events?since=0' | head -n 1`, "epoch"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := start(t, nil)
			out := f.run(tt.tool, tt.script)
			var got []string
			for text := range strings.Lines(out) {
				r := parseReply(t, text)
				switch {
				case r.OK != nil:
					got = append(got, code(t, text))
				case r.Type != "":
					got = append(got, r.Type)
				case r.Verdict != nil:
					got = append(got, "waited")
				case r.EventID != "":
					got = append(got, "accepted")
				}
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("got %s, want %s:\n%s", got, tt.want, out)
			}
		})
	}
}

// nc without -N does not say that it has sent all: it hangs until it is told
// to stop, but the answer is there.
func TestNetcatThatStaysOpenIsAnswered(t *testing.T) {
	f := start(t, nil)
	out := f.run("nc", `printf '{"event":"agent:end","data":{}}\n' | nc -U "$SOCK" | head -n 1`)
	if got := code(t, out); got != "ok" {
		t.Errorf("got %s", got)
	}
}
