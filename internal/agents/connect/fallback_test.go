package connect

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// Where the bridge is gone, cannot be executed or crashes, a shell gives the agent a denial of guarded
// events, and of nothing else; a bridge that answers has the last word.
func TestGuardDeniesWithoutABridge(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"closed": "#!/bin/sh\n", "crashes": "#!/bin/sh\nkill -SEGV $$\n", "answers": "#!/bin/sh\necho yes\n", "denies": "#!/bin/sh\nexit 2\n",
	} {
		write(t, dir+"/"+name, []byte(text))
		mode := "0755"
		if name == "closed" {
			mode = "0644"
		}
		if out, err := exec.Command("chmod", mode, dir+"/"+name).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	guards := 0
	for _, a := range agents() {
		for _, row := range events.All() {
			if row.Dialect != a.name {
				continue
			}
			guard := a.fallback(row.Name)
			if guard == "" {
				continue
			}
			if guards++; !row.FailClosed {
				t.Errorf("%s: %s guards nothing, and has %q", a.name, row.Name, guard)
			}
			for name, denies := range map[string]bool{"gone": true, "closed": true, "crashes": true, "answers": false, "denies": true} {
				line := dir + "/" + name + guard
				if c, ok := callOf("hookd-bridge "+string(a.name)+guard, string(a.name)); !ok || c.fallback != guard {
					t.Errorf("%s: the guard is not read back: %q", a.name, guard)
				}
				cmd := exec.Command("/bin/sh", "-c", line)
				var said strings.Builder
				cmd.Stdout, cmd.Stderr = &said, &said
				err := cmd.Run()
				denied := strings.Contains(said.String(), missing) && (strings.Contains(said.String(), "{") || cmd.ProcessState.ExitCode() == 2)
				if denied != denies || !denies && err != nil {
					t.Errorf("%s, %s, %s: %v, exit %d: %s", a.name, row.Name, name, err, cmd.ProcessState.ExitCode(), &said)
				}
			}
		}
	}
	if guards < 8 {
		t.Errorf("only %d events have a guard", guards)
	}
}

// The payload of a call whose bridge is gone, cannot be executed or crashed is kept for hookd, and the call goes
// on. An agent that takes each failure for a denial keeps none.
func TestCallsWithoutABridgeAreKept(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "it's a home", "hookd.sock")
	if err := os.MkdirAll(socket+MissedSuffix, 0o700); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, a := range agents() {
		for _, row := range a.rows() {
			guard := a.keeps(row.Name, socket)
			if guard == "" {
				if speaker := dialect.Agent(a.name); a.Shell && row.Kind == events.KindToolBefore && !speaker.Breaks {
					t.Errorf("%s: of %s nothing is kept", a.name, row.Name)
				}
				continue
			}
			asked++
			if c, ok := callOf("hookd-bridge "+string(a.name)+guard, string(a.name)); !ok || c.fallback != guard {
				t.Errorf("%s: the guard is not read back: %q", a.name, guard)
			}
			reply := dialect.Agent(a.name).Answer(neutral.Asked{
				Event: row.Name, Payload: json.RawMessage("{}"), Verdict: &verdict.Verdict{Continue: true, Message: "no"},
			})
			if reply.Exit != 0 {
				t.Errorf("%s: a denial of %s ends with %d, as a bridge that failed", a.name, row.Name, reply.Exit)
			}
			for _, bridge := range []string{"/nowhere/hookd-bridge", "sh -c 'kill -9 $$'", "exec 2>&1; ulimit -f 0; false", "cat; true"} {
				cmd := exec.Command("/bin/sh", "-c", "("+bridge+")"+guard)
				in, err := cmd.StdinPipe() // which stays open, as some agents leave it
				if err != nil {
					t.Fatal(err)
				}
				fails := !strings.HasPrefix(bridge, "cat")
				if _, err := in.Write([]byte(`{"tool_name":"Bash"}`)); err != nil {
					t.Fatal(err)
				}
				if !fails {
					in.Close()
				}
				_, _ = cmd.Output()
				kept, err := filepath.Glob(filepath.Join(filepath.Dir(socket), "*", string(a.name)+"."+row.Name+".*"))
				if err != nil || len(kept) != 1 && fails || len(kept) != 0 && !fails {
					t.Fatalf("%s, %s: %v, %v", a.name, bridge, kept, err)
				}
				if code := cmd.ProcessState.ExitCode(); fails && code != 1 || !fails && code != 0 {
					t.Errorf("%s, %s: exit code %d", a.name, bridge, code)
				}
				for _, file := range kept {
					text, _ := os.ReadFile(file)
					if string(text) != `{"tool_name":"Bash"}` && !strings.Contains(bridge, "ulimit") {
						t.Errorf("%s, %s: kept %q", a.name, bridge, text)
					}
					os.Remove(file)
				}
			}
		}
	}
	if asked < 8 {
		t.Errorf("only %d events are kept", asked)
	}
}

// A registration with a deadline that ends the bridge too early, or without the guard that this version writes, is
// seen, and connect writes it again. What a person made shorter, together with the bridge's own deadline, stays.
func TestOldRegistrations(t *testing.T) {
	deadline := regexp.MustCompile(`(timeout(?:Sec|_ms)?"?(?: =|:) )\d+`)
	kept := regexp.MustCompile(` \|\| \{ dd [^\n"]*?2>/dev/null`)
	for _, a := range agents() {
		if a.Manual != "" || a.files != nil && a.Files == neutral.Plugin {
			continue
		}
		t.Run(string(a.name), func(t *testing.T) {
			var before []byte
			if a.Given {
				before = givenFile(a)
			}
			o, path := options(t, string(a.name), before)
			o.Bridge, o.Socket = filepath.Join(t.TempDir(), "hookd-bridge"), "/s/hookd.sock"
			write(t, o.Bridge, nil)
			if err := os.Chmod(o.Bridge, 0o755); err != nil {
				t.Fatal(err)
			}
			apply(t, Connect, o)
			if s := Inspect(o); s.State != Connected || s.Note != "" {
				t.Errorf("new: %s, %s", s.State, s.Note)
			}
			fresh := written(t, path)
			change := func(with func(text string) string) (changed bool) {
				files := []string{path}
				if a.files != nil {
					files, _ = filepath.Glob(path + "/*")
				}
				for _, file := range files {
					text := string(readOrNil(t, file))
					if now := with(text); now != text {
						changed = true
						info, _ := os.Stat(file)
						write(t, file, []byte(now))
						os.Chmod(file, info.Mode())
					}
				}
				return changed
			}
			for name, old := range map[string]func(string) string{
				"deadline": func(text string) string { return deadline.ReplaceAllString(text, "${1}1") },
				"guard":    func(text string) string { return kept.ReplaceAllString(text, "") },
			} {
				if !change(old) {
					if name == "deadline" && a.Unit > 0 || name == "guard" && a.Shell && !dialect.Agent(a.name).Breaks {
						t.Errorf("%s: nothing of it stands in\n%s", name, fresh)
					}
					continue
				}
				s := Inspect(o)
				switch guards := slices.ContainsFunc(s.Events, func(event string) bool { return IsGuarded(o.Agent, event) }); {
				case name == "deadline" && guards && (s.State != Partly || !strings.Contains(s.Note, "ends the bridge")),
					name == "guard" && (s.State != Connected || !strings.Contains(s.Note, "another version")):
					t.Errorf("%s: %s, %q", name, s.State, s.Note)
				}
				apply(t, Connect, o)
				if s := Inspect(o); s.State != Connected || s.Note != "" {
					t.Errorf("%s, connected again: %s, %s", name, s.State, s.Note)
				}
				blank := regexp.MustCompile(`\s+`)
				if now := written(t, path); blank.ReplaceAllString(now, "") != blank.ReplaceAllString(fresh, "") {
					t.Errorf("%s, connected again: got\n%s\nwant\n%s", name, now, fresh)
				}
			}
			own := func(text string) string {
				text = strings.ReplaceAll(text, "--socket=/s/hookd.sock", "--socket=/s/hookd.sock --timeout=20s")
				return deadline.ReplaceAllString(text, fmt.Sprintf("${1}%d", 20*time.Second/max(a.Unit, 1)))
			}
			if change(own); a.Unit > 0 {
				if p, err := Connect(o); err != nil || len(p.Changes) > 0 {
					t.Errorf("a deadline of one's own: %v\n%s", err, p.Diff())
				}
			}
		})
	}
}

// TestLooseRegistrations are calls of guards that the agent leaves out for some tools, or whose answer it does not wait
// for: they are seen, and Connect writes them again.
func TestLooseRegistrations(t *testing.T) {
	type object = map[string]any
	first := func(list any) object { return list.([]any)[0].(object) }
	for name, change := range map[string]func(group, handler object){
		`for "Read" alone`:         func(group, _ object) { group["matcher"] = "Read" },
		"with `async: true`":       func(_, handler object) { handler["async"] = true },
		"with `if: \"Bash(ls)\"`":  func(_, handler object) { handler["if"] = "Bash(ls)" },
		"with `type: \"prompt\"`":  func(_, handler object) { handler["type"] = "prompt" },
		"with `disabled: true`":    func(group, _ object) { group["disabled"] = true },
		"with `enabled: false`":    func(_, handler object) { handler["enabled"] = false },
		"it calls /other/h.sock":   func(_, handler object) { replaceIn(handler, "/s/hookd.sock", "/other/h.sock") },
		"/other/hookd-bridge is m": func(_, handler object) { handler["command"] = "/other/hookd-bridge claude-code" },
	} {
		o, path := options(t, "claude-code", nil)
		o.Bridge, o.Socket = filepath.Join(t.TempDir(), "hookd-bridge"), "/s/hookd.sock"
		write(t, o.Bridge, nil)
		if err := os.Chmod(o.Bridge, 0o755); err != nil {
			t.Fatal(err)
		}
		apply(t, Connect, o)
		if s := Inspect(o); s.Unasked() != "" {
			t.Errorf("new: %s", s.Unasked())
		}
		var tree object
		if err := json.Unmarshal([]byte(written(t, path)), &tree); err != nil {
			t.Fatal(err)
		}
		group := first(tree["hooks"].(object)["PreToolUse"])
		change(group, first(group["hooks"]))
		text, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, text)
		if s := Inspect(o); s.State != Partly || !strings.Contains(s.Unasked(), name) {
			t.Errorf("%s: %s, %q", name, s.State, s.Unasked())
		}
		p, err := Connect(o)
		if said := strings.Contains(strings.Join(p.Notes, "\n"), "PreToolUse was registered "+name+", now"); err != nil ||
			said != (strings.HasPrefix(name, "with") || strings.HasPrefix(name, "for")) {
			t.Errorf("%s, connected again: %v, it says %q", name, err, p.Notes)
		}
		apply(t, Connect, o)
		if s := Inspect(o); s.State != Connected || s.Unasked() != "" {
			t.Errorf("%s, connected again: %s, %q", name, s.State, s.Unasked())
		}
		// The same beside a call that is right does no harm.
		hooks := tree["hooks"].(object)
		right := object{"matcher": "*", "hooks": []any{object{"type": "command", "command": o.Bridge + " claude-code"}}}
		if change(group, first(group["hooks"])); strings.HasPrefix(name, "with `async") {
			hooks["PreToolUse"] = append(hooks["PreToolUse"].([]any), right)
			if text, err = json.Marshal(tree); err != nil {
				t.Fatal(err)
			}
			write(t, path, text)
			if s := Inspect(o); strings.Contains(s.Note, "async") {
				t.Errorf("%s beside another: %q", name, s.Note)
			}
		}
	}
}

func replaceIn(handler map[string]any, old, with string) {
	handler["command"] = strings.ReplaceAll(handler["command"].(string), old, with)
}

// TestSwitchedOff are settings with which the agent runs no hooks: guards are not asked.
func TestSwitchedOff(t *testing.T) {
	o, path := options(t, "claude-code", []byte(`{"disableAllHooks": true}`))
	o.Bridge = filepath.Join(t.TempDir(), "hookd-bridge")
	write(t, o.Bridge, nil)
	apply(t, Connect, o)
	if s := Inspect(o); !strings.Contains(s.Unasked(), "disableAllHooks") {
		t.Errorf("%s: %q", path, s.Unasked())
	}
}
