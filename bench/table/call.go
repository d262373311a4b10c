package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hookd/hookd/docs/gallery"
)

// toolCall is the payload that Claude Code writes to a hook of PreToolUse before it runs a
// shell line.
func toolCall(line string) string {
	return fmt.Sprintf(`{"session_id":"s1","transcript_path":"/tmp/t.jsonl","cwd":"/tmp","permission_mode":"default",`+
		`"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":%q,"description":"work"},"tool_use_id":"t1"}`, line)
}

// startGallery starts a daemon with hooks of the gallery.
func (b *bench) startGallery(names ...string) (*daemon, error) {
	d, err := b.home(nil)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		dir := filepath.Join(d.home, "hooks", name)
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			return nil, err
		}
		if err := gallery.Copy(name, dir); err != nil {
			return nil, err
		}
	}
	return d, b.serve(d, nil)
}

// realCall is the whole way of one tool call of Claude Code past the guards that init adds: the bridge, the
// daemon, which judges their rules itself, and back.
func realCall(b *bench) ([]row, error) {
	d, err := b.startGallery(firstGuards...)
	if err != nil {
		return nil, err
	}
	defer d.stop()
	stdin := filepath.Join(b.dir, "call.json")
	if err := os.WriteFile(stdin, []byte(toolCall("go test ./... 2>&1 | tail -20")), 0o600); err != nil {
		return nil, err
	}
	if err := denies(d, []string{b.bridge, "claude-code"}); err != nil {
		return nil, err
	}
	bridge := process("bridge", d, stdin, b.bridge, "claude-code")
	s, err := contest(max(minimum, b.starts()), []contender{process("true", d, stdin, "/bin/true"), bridge})
	if err != nil {
		return nil, err
	}
	r := row{
		what: "one PreToolUse of Claude Code, bridge, the three guards of init and back, start to end of the process",
		checks: []check{
			atMost("p50 ≤ 1.5 × starting /bin/true", 1.5, s.ratio("bridge", "true"), "%.2f ×"),
			atMost("p99 ≤ 2 × p50", 2, quantile(s["bridge"], 0.99)/s.median("bridge"), "%.2f ×"),
		},
		beside: fmt.Sprintf("p50 / p99 in ms: bridge %s, /bin/true %s", millis(s["bridge"]), millis(s["true"])),
	}
	const rival = "cc-safety-net"
	if _, err := exec.LookPath(rival); err != nil {
		r.beside += ", " + rival + ": not installed"
		return []row{r}, nil
	}
	slow, err := contest(b.starts(), []contender{bridge, process(rival, d, stdin, rival, "hook", "--claude-code")})
	if err != nil {
		return nil, err
	}
	r.checks = append(r.checks, info("faster than "+rival+", a guard of commands in Node.js",
		fmt.Sprintf("%.1f ×", slow.ratio(rival, "bridge"))))
	r.beside += ", " + rival + " " + millis(slow[rival])
	return []row{r}, nil
}

// denies is an error unless the program denies a line that the guard's rules deny: the
// measure is then of a guard that looked.
func denies(d *daemon, args []string) error {
	out, err := hookCommand(d, toolCall("rm -rf ~"), args...).Output()
	if text := string(out); err != nil || !strings.Contains(text, "deny") && !strings.Contains(text, "block") {
		return fmt.Errorf("%s did not deny rm -rf ~: %w, it said %q", filepath.Base(args[0]), err, text)
	}
	return nil
}

// hookCommand is a program that an agent starts with the payload on its stdin.
func hookCommand(d *daemon, payload string, args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(environment(), "LIBREFANG_HOME="+d.home,
		"AUDIT_LOG="+filepath.Join(d.home, "plain.jsonl"))
	cmd.Stdin = strings.NewReader(payload)
	return cmd
}

func millis(list []float64) string {
	return fmt.Sprintf("%.2f / %.2f", quantile(list, 0.5), quantile(list, 0.99))
}

const sessionCalls = 200

// sessionHooks are five hooks that each look at every call: three guards, a limit and
// a log.
var sessionHooks = []string{"command-guard", "secret-guard", "self-guard", "rate-limit", "audit-log"}

// shellLines are lines that an agent runs, as sessions show them.
var shellLines = []string{
	"ls -la src/part%d", "go test ./pkg/part%d/... 2>&1 | tail -20", "git diff --stat HEAD~%d", "rg -n 'func New%d' --type go",
	"sed -n '%d,80p' README.md", "cd web && npm run build -- --part %d", "git status --short && git log --oneline -%d",
	"python3 -m pytest tests/test_%d.py -q", "cat config/%d.yaml | head -40", "find . -name '*%d.go' -newer go.mod",
}

// session is the time that five hooks add to a session with hookd. Beside it stands the only
// program among them, audit-log, as a plain command hook that Claude Code starts and waits for.
func session(b *bench) ([]row, error) {
	d, err := b.startGallery(sessionHooks...)
	if err != nil {
		return nil, err
	}
	defer d.stop()
	limit := filepath.Join(d.home, "hooks", "rate-limit", "HOOK.yaml")
	if err := raiseLimit(limit); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := d.client.Reload(ctx); err != nil {
		return nil, err
	}
	plain := [][]string{{filepath.Join(d.home, "hooks", "audit-log", "audit.sh")}}
	if err := denies(d, []string{b.bridge, "claude-code"}); err != nil {
		return nil, err
	}
	calls := map[string]int{}
	next := func(side string) string {
		i := calls[side]
		calls[side]++
		return toolCall(fmt.Sprintf(shellLines[i%len(shellLines)], i))
	}
	s, err := contest(sessionCalls, []contender{
		{"hookd", func() (float64, error) { return d.startAll(next("hookd"), [][]string{{b.bridge, "claude-code"}}) }},
		{"plain", func() (float64, error) { return d.startAll(next("plain"), plain) }},
	})
	if err != nil {
		return nil, err
	}
	added := func(side string) float64 {
		sum := 0.0
		for _, ms := range s[side] {
			sum += ms
		}
		return sum / 1000
	}
	return []row{{
		what: fmt.Sprintf("time that five hooks (%s) add to a session of %d tool calls",
			strings.Join(sessionHooks, ", "), sessionCalls),
		checks: []check{
			atMost("≤ 0.5 s", 0.5, added("hookd"), "%.2f s"),
			info("against audit-log alone as a plain command hook", fmt.Sprintf("%.1f ×", added("hookd")/added("plain"))),
		},
		beside: fmt.Sprintf("audit-log as a plain command hook %.2f s; p50 / p99 of a call in ms: %s and %s",
			added("plain"), millis(s["hookd"]), millis(s["plain"])),
	}}, nil
}

// raiseLimit lets a session make all its calls in a minute.
func raiseLimit(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	raised := bytes.Replace(text, []byte("count: 61"), []byte("count: 1001"), 1)
	if bytes.Equal(raised, text) {
		return fmt.Errorf("%s has no count of 61", file)
	}
	return os.WriteFile(file, raised, 0o644)
}

// startAll starts all programs at once with the same payload, and returns the
// milliseconds until the last has ended. None may deny the call.
func (d *daemon) startAll(payload string, programs [][]string) (float64, error) {
	begin := time.Now()
	outs, errs := make([][]byte, len(programs)), make([]error, len(programs))
	var all sync.WaitGroup
	for i, args := range programs {
		all.Go(func() { outs[i], errs[i] = hookCommand(d, payload, args...).Output() })
	}
	all.Wait()
	took := float64(time.Since(begin).Microseconds()) / 1000
	for i, out := range outs {
		if errs[i] != nil || bytes.Contains(out, []byte(`"deny"`)) || bytes.Contains(out, []byte(`"block"`)) {
			return 0, fmt.Errorf("%v on %s: %w, it said %q", programs[i], payload, errs[i], out)
		}
	}
	return took, nil
}
