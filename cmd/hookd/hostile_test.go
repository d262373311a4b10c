package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// hostile is text that wants to be obeyed by a terminal, to hide, to turn
// other text round, and to look like a line of its own.
const hostile = "\x1b]0;title\a\x1b[31m\u009b31m\x7f\u202eturned\u2066\u200bhidden\U000e0061\u2028\r\nFORGED line\n\x1b[2J\x00"

// TestHostileText sends such text, and a mebibyte of such text, in every field that
// agents and hooks can fill. It looks at everything that hookd writes.
func TestHostileText(t *testing.T) {
	for _, format := range []string{"json", "console"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			h := newHostile(t, format)
			h.send()
			if format == "json" || hooktest.All() { // what the commands say is the same with either log
				h.look()
			}
			h.stop()
			h.sane("the daemon's log", h.log.Bytes())
			if format == "json" {
				for line := range bytes.Lines(h.log.Bytes()) {
					if !json.Valid(line) {
						t.Errorf("line of the log is no JSON: %.300q", line)
					}
				}
			}
			if h.log.Len() > 1<<20 {
				t.Errorf("the log has %d bytes", h.log.Len())
			}
		})
	}
}

type hostileWorld struct {
	*testing.T
	home   string
	env    []string
	daemon *exec.Cmd
	log    bytes.Buffer
}

func newHostile(t *testing.T, format string) *hostileWorld {
	home := hooktest.ShortDir(t)
	h := &hostileWorld{T: t, home: home, env: append(os.Environ(), "LIBREFANG_HOME="+home, "HOOKD_LOG_FORMAT="+format, "HOOKD_LOG_LEVEL=debug", "HOOKD_FIRE_STARTUP=false")}
	var quoted strings.Builder // as YAML takes any character
	for _, r := range hostile {
		fmt.Fprintf(&quoted, `\U%08x`, r)
	}
	h.hook("talks", "name: talks\nevents: ['*']\ndescription: \""+quoted.String()+"\"\n", "cat words; cat words >&2; exit 3")
	h.hook("guard", "name: \"gu\u202eard\"\nevents: [pre_tool_use]\n", "cat words >&2; exit 2")
	h.hook("says", "name: says\nevents: [pre_tool_use, user_prompt_submit]\n", "cat answer")
	h.hook("odd\x1b[31m\n\u202eFORGED", "name: odd\nevents: [x]\n"+`"\e[31m\u202e\nFORGED": 1`+"\n", "exit 0")
	h.hook("broken\x1b[31m\nFORGED", "name: broken\nevents: {"+hostile+"\n", "exit 0")
	h.daemon = exec.Command("hookd", "serve")
	h.daemon.Env, h.daemon.Stderr = h.env, &h.log
	if err := h.daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.daemon.Process.Kill(); h.daemon.Wait() })
	h.until("the daemon is ready", "ready", "status")
	return h
}

func (h *hostileWorld) hook(folder, yaml, script string) {
	dir := filepath.Join(h.home, "hooks", folder)
	long := strings.Repeat("A", 1<<20)
	answer, _ := json.Marshal(map[string]string{"decision": "block", "reason": hostile + long, "system_message": hostile})
	for name, text := range map[string]string{"HOOK.yaml": "command: ./run.sh\n" + yaml, "run.sh": "#!/bin/sh\n" + script + "\n", "words": hostile + long, "answer": string(answer)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			h.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			h.Fatal(err)
		}
	}
}

// run runs a command, whatever its exit code.
func (h *hostileWorld) run(args ...string) (stdout, stderr []byte) {
	h.Helper()
	var out, errOut bytes.Buffer
	cmd := exec.Command("hookd", args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = h.env, &out, &errOut
	cmd.Run()
	return out.Bytes(), errOut.Bytes()
}

func (h *hostileWorld) until(what, want string, args ...string) {
	h.Helper()
	var out []byte
	if !hooktest.Poll(patience, func() bool { out, _ = h.run(args...); return bytes.Contains(out, []byte(want)) }) {
		h.Fatalf("%s did not come; last: %.500s", what, out)
	}
}

// send emits an event with hostile text in every field, short and long.
func (h *hostileWorld) send() {
	for _, text := range []string{hostile, hostile + strings.Repeat("A", 1<<20)} {
		for _, event := range []string{"agent:end", "pre_tool_use", "user_prompt_submit"} {
			if len(text) > 1<<20 && event != "pre_tool_use" {
				continue
			}
			data, _ := json.Marshal(map[string]any{
				"session_id": text, "agent_id": hostile, "agent_name": text, "cwd": hostile, "tool_name": hostile, "tool_use_id": hostile,
				"tool_input": map[string]string{hostile: text}, "prompt": hostile, hostile: 1,
			})
			file := filepath.Join(h.home, "data.json")
			if err := os.WriteFile(file, data, 0o600); err != nil {
				h.Fatal(err)
			}
			out, errOut := h.run("emit", event, "--data", "@"+file, "--wait")
			h.sane("emit "+event, out)
			h.sane("emit "+event+", errors", errOut)
			if out, _ = h.run("emit", event, "--data", "@"+file, "--wait", "-o", "json"); !json.Valid(out) {
				h.Errorf("emit %s: no JSON: %.300q", event, out)
			}
			h.sane("emit "+event+" as JSON", out)
		}
	}
	out, errOut := h.run("emit", "bad\x1b[31mname\nFORGED")
	h.sane("emit of a bad name", append(out, errOut...))
	h.until("the runs are recorded", `"talks"`, "history", "--hook", "talks", "-o", "json")
}

// look asks for everything that the events left behind.
func (h *hostileWorld) look() {
	out, _ := h.run("history", "-o", "json", "--limit", "1000")
	var runs struct {
		Runs []struct {
			ID   string `json:"run_id"`
			Hook string `json:"hook"`
		} `json:"runs"`
	}
	if err := json.Unmarshal(out, &runs); err != nil || len(runs.Runs) < 8 {
		h.Fatalf("history: %d runs, %v", len(runs.Runs), err)
	}
	commands := [][]string{
		{"list"}, {"list", "-o", "wide"}, {"show", "talks"}, {"show", "gu\u202eard"}, {"show", "no\x1b[31m\nFORGED"}, {"status"},
		{"history"}, {"history", "-o", "wide"}, {"history", "--hook", "gu\u202eard"}, {"tail", "--since", "0", "--once"},
		{"match", "pre_tool_use", "--tool", hostile}, {"match", "agent:end", "--data", "@" + filepath.Join(h.home, "data.json")},
		{"test", "talks"}, {"test", "--local", "says"}, {"validate"}, {"reload"}, {"allow"}, {"allow", "talks"},
		{"no\x1b[31m\nFORGED"}, {"list", "--\x1b[31m"},
	}
	seen := map[string]bool{}
	for _, r := range runs.Runs {
		if !seen[r.Hook] {
			seen[r.Hook] = true
			commands = append(commands, []string{"logs", r.ID})
		}
	}
	for _, args := range commands {
		if strings.ContainsRune(strings.Join(args, ""), 0) {
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "\x00", "") // no argument can have one
			}
		}
		what := fmt.Sprintf("%q", args)
		out, errOut := h.run(args...)
		h.sane(what, out)
		h.sane(what+", errors", errOut)
		if len(out)+len(errOut) > 300<<10 {
			h.Errorf("%s writes %d bytes for people", what, len(out)+len(errOut))
		}
		out, errOut = h.run(append(args, "-o", "json")...)
		h.sane(what+" as JSON", out)
		h.sane(what+" as JSON, errors", errOut)
		for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
			var v any
			if err := dec.Decode(&v); err != nil {
				h.Errorf("%s: no JSON: %v", what, err)
				break
			}
		}
	}
}

// sane fails for anything a terminal would obey or hide, and for a line that
// pretends to be one of hookd's own.
func (h *hostileWorld) sane(what string, text []byte) {
	h.Helper()
	if !utf8.Valid(text) {
		h.Errorf("%s is not UTF-8", what)
	}
	for i, r := range string(text) {
		if one := string(r); r != utf8.RuneError && escape(one, keepNewlines) != one {
			h.Errorf("%s has %U after %.80q", what, r, text[max(0, i-80):i])
			break
		}
	}
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("FORGED")) {
			h.Errorf("%s has a forged line: %.80q", what, line)
		}
	}
}

func (h *hostileWorld) stop() {
	if err := h.daemon.Process.Signal(syscall.SIGTERM); err != nil {
		h.Fatal(err)
	}
	if err := h.daemon.Wait(); err != nil {
		h.Errorf("the daemon ended with %v", err)
	}
}
