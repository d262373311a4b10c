package rehearse

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts/shelltest"
)

// looker is a guard that denies the things it looks for, one for each member of a
// condition. In a shell line it looks for the name alone, and it reads paths as the system
// does.
const looker = `#!/usr/bin/env python3
import fnmatch, json, os, re, sys

def looks(e, call):
    look, cwd = os.environ["LOOK"], e.get("cwd") or "/"
    if look == "tool":
        return e.get("tool_name") in ("Write", "Edit")
    if look == "command":
        return "m1" in (call.get("command") or "")
    if look == "path":
        path = os.path.realpath(os.path.join(cwd, call["file_path"])) if "file_path" in call else ""
        return path.endswith("/.env") or "/secrets/" in path
    if look == "prompt":
        return re.search(r"deploy|release \d", e.get("prompt") or "")
    return fnmatch.fnmatchcase(call.get("url") or "", "http://*")

for line in sys.stdin:
    e = json.loads(line)
    a = {"event_id": e["event_id"]}
    if looks(e, e.get("tool_input") or {}):
        a["decision"], a["reason"] = "block", e["mark"]
    print(json.dumps(a), flush=True)
`

// A condition that names the things a guard looks for takes no denial from it: among random
// events the guard denies the same events with the condition as without it. A line that no
// shell can read reaches the guard.
func TestConditionsTakeNoDenial(t *testing.T) {
	hooktest.NeedTool(t, "python3")
	home := t.TempDir()
	work := linkedFolder(t)
	random := rand.New(rand.NewPCG(7, 3))
	past, bash := randomPast(random, work), shelltest.New(t, "bash")
	broken := []string{"m1 'x", "echo $(", "if true; then m1", "m1 <<", "cat <(m1", "{ m1", "case x in", "echo \"${x\"", "m1 )"}
	for look, when := range map[string]string{
		"tool":    `{tool: [Write, Edit]}`,
		"command": `{command: m1}`,
		"path":    `{path: [.env, "secrets/**"]}`,
		"prompt":  `{prompt: 'deploy|release \d'}`,
		"data":    `{data.tool_input.url: "http://*"}`,
	} {
		t.Run(look, func(t *testing.T) {
			free, freely := denials(t, home, look, "", past)
			bound, ran := denials(t, home, look, when, past)
			for _, p := range past {
				mark, _ := rawjson.GetString(p.Data, "mark")
				if free[mark] != bound[mark] && (look != "command" || bound[mark] || runsIt(bash, p)) {
					t.Errorf("denied without the condition: %v, with it: %v: %s", free[mark], bound[mark], p.Data)
				}
			}
			if len(free) < 20 || ran >= freely {
				t.Errorf("it denied %d of %d events and ran for %d with the condition: that says little", len(free), freely, ran)
			}
			if look != "command" {
				return
			}
			var lines []Past
			for i, line := range broken {
				lines = append(lines, called(i, work, "Bash", map[string]string{"command": line}))
			}
			if _, ran := denials(t, home, look, when, lines); ran != len(lines) {
				t.Errorf("%d of %d lines that cannot be read reached the guard", ran, len(lines))
			}
		})
	}
}

// runsIt reports whether bash runs m1 for the line of a call. Where it does not, a guard
// that denies has misread the line.
func runsIt(bash *shelltest.Shell, p Past) bool {
	line, _ := rawjson.GetString(rawjson.Get(p.Data, "tool_input"), "command")
	return slices.ContainsFunc(bash.Run(line), func(call []string) bool { return call[0] == "m1" })
}

// denials asks looker about events. It returns the marks of the denied events, and for
// how many it ran.
func denials(t *testing.T, home, look, when string, past []Past) (marks map[string]bool, ran int) {
	t.Helper()
	name := look + map[bool]string{true: "-free", false: "-bound"}[when == ""]
	dir := filepath.Join(home, "hooks", name)
	text := "name: " + name + "\nevents: [PreToolUse, UserPromptSubmit]\nmode: persistent\ncommand: ./guard.py\nargs: []\nenv: {LOOK: " + look + "}\n"
	if when != "" {
		text += "when: [" + when + "]\n"
	}
	hooktest.Write(t, filepath.Join(dir, "HOOK.yaml"), text, 0o600)
	hooktest.Write(t, filepath.Join(dir, "guard.py"), looker, 0o700)
	c := config.Default(home)
	c.HooksDir = filepath.Join(home, "hooks")
	h, err := catalog.Find(c, name)
	hooktest.Must(t, err)
	sum, err := WhatIfLocal(t.Context(), c, h, yields(past), func(*Asking) {})
	if err != nil || sum.Failed > 0 {
		t.Fatalf("%v, %d failed: %s", err, sum.Failed, sum.Error)
	}
	marks = map[string]bool{}
	for _, change := range sum.Changes {
		marks[change.Reason] = true
	}
	return marks, sum.Ran
}

func yields(past []Past) func(func(Past) error) error {
	return func(ask func(Past) error) error {
		for _, p := range past {
			if err := ask(p); err != nil {
				return err
			}
		}
		return nil
	}
}

// randomPast is a few hundred events of each kind that looker looks at.
func randomPast(r *rand.Rand, work string) (past []Past) {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	add := func(tool string, input map[string]string) { past = append(past, called(len(past), work, tool, input)) }
	for _, line := range shelltest.Lines() {
		add("Bash", map[string]string{"command": line})
	}
	parts := []string{"a", "b", "..", ".", "secrets", ".env", "link", "up", "env", "x.env", "SECRETS", "", "~"}
	for range hooktest.Amount(400, 200) {
		path := strings.Repeat("/", r.IntN(2))
		if r.IntN(4) == 0 {
			path = work + "/"
		}
		for range 1 + r.IntN(4) {
			path += pick(parts...) + pick("/", "/", "//")
		}
		add(pick("Read", "Write", "Edit"), map[string]string{"file_path": path + pick(".env", "a", "file"), "content": pick("m1", ".env")})
	}
	for range hooktest.Amount(200, 100) {
		add(pick("WebFetch", "mcp__x__get"), map[string]string{"url": pick("http://", "https://", "HTTP://", "http:/", " http://") + pick("a", "a/b?c=d", "")})
	}
	for range hooktest.Amount(200, 100) {
		prompt := pick("deploy", "de ploy", "release 7", "release x", "please") + pick("", " now", "\nrelease 1") + pick("", "\n", "é")
		data, _ := json.Marshal(map[string]string{"prompt": prompt, "mark": fmt.Sprint(len(past))})
		past = append(past, Past{
			Envelope: events.Envelope{Event: "UserPromptSubmit", Dialect: events.ClaudeCode, SessionID: "s", Cwd: work, Wait: true, Data: data},
			EventID:  fmt.Sprint("e", len(past)), Time: time.Unix(int64(len(past)), 0), Whole: true,
		})
	}
	r.Shuffle(len(past), func(i, j int) { past[i], past[j] = past[j], past[i] })
	return past
}

// called is a call of a tool in the past, with its number as its mark.
func called(i int, cwd, tool string, input map[string]string) Past {
	data, _ := json.Marshal(map[string]any{"tool_name": tool, "tool_input": input, "cwd": cwd, "mark": fmt.Sprint(i)})
	return Past{
		Envelope: events.Envelope{Event: "PreToolUse", Dialect: events.ClaudeCode, SessionID: "s", Cwd: cwd, Wait: true, Data: data},
		EventID:  fmt.Sprint("e", i), Time: time.Unix(int64(i), 0), Whole: true,
	}
}

// linkedFolder is a folder with links into a folder with secrets, and out of the folder itself.
func linkedFolder(t *testing.T) string {
	dir := t.TempDir()
	hooktest.Write(t, filepath.Join(dir, "a", "secrets", "file"), "", 0o600)
	hooktest.Write(t, filepath.Join(dir, "b", ".env"), "", 0o600)
	for link, target := range map[string]string{"link": "a/secrets", "up": "..", "b/a": "../b/.env", "file": "b/.env"} {
		hooktest.Must(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	return dir
}
