package contain

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/run/box"
)

// world is a Keeper with a home and a project.
type world struct {
	*Keeper
	home, project string
	broken        error // why the machine makes no box
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{home: home, project: filepath.Join(home, "project")}
	for _, dir := range []string{"project/.git", "bin", "system", "own"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	bridge := filepath.Join(home, "bin/hookd-bridge")
	w.write(t, "bin/hookd-bridge", "")
	w.Keeper = New(Options{
		Bridge: bridge, Home: home, Facts: &facts.Reader{Home: home},
		Profiles: []string{filepath.Join(home, "system"), filepath.Join(home, "own")},
		Probe:    func(string) error { return w.broken },
	})
	return w
}

func (w *world) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(w.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// call is an event of an agent about a shell line.
func (w *world) call(d events.Dialect, name, line string) *events.Event {
	e := &events.Event{Contract: events.LookupIn(d, name)}
	e.Dialect, e.Cwd, e.SessionID, e.EventID = d, w.project, "s1", "e1"
	input := rawjson.With(json.RawMessage(`{}`), rawjson.StringMember("command", line), rawjson.StringMember("description", "d"))
	e.Data = rawjson.With(json.RawMessage(`{"tool_name":"Bash"}`), rawjson.Member{Key: "tool_input", Value: input})
	return e
}

func contained(profiles ...string) *verdict.Verdict {
	return &verdict.Verdict{Allowed: true, Continue: true, PermissionDecision: "contain", Contain: profiles}
}

// lineOf is the line that a verdict puts in place of a call's.
func boxedLine(t *testing.T, v *verdict.Verdict) box.Line {
	t.Helper()
	text, _ := rawjson.GetString(v.UpdatedInput, "command")
	l, ok := box.ReadLine(text)
	if !ok {
		t.Fatalf("the verdict has no box: %+v", v)
	}
	return l
}

const agent = events.ClaudeCode

// A call is rewritten once, its ticket counts once and for its line alone, and the event after it is
// about the plain line.
func TestTicket(t *testing.T) {
	w := newWorld(t)
	const line = "make 'it' && ./run"
	e := w.call(agent, "PreToolUse", line)
	if why := w.Cannot(e, contained(box.Project)); why != "" {
		t.Fatal(why)
	}
	v := w.Box(e, contained(box.Project))
	l := boxedLine(t, v)
	if v.PermissionDecision != "allow" || l.Plain != line || l.Profile != box.Project {
		t.Errorf("the verdict is %+v with %+v", v, l)
	}
	if text, _ := rawjson.GetString(v.UpdatedInput, "description"); text != "d" {
		t.Errorf("the rest of the input is lost: %s", v.UpdatedInput)
	}
	for _, bad := range []struct{ id, line, cwd, profile string }{
		{"other", line, w.project, box.Project}, {l.Call, "rm x", w.project, box.Project},
		{l.Call, line, w.home, box.Project}, {l.Call, line, w.project, box.ProjectNet},
	} {
		if _, ok := w.Begin(bad.id, bad.line, bad.cwd, bad.profile); ok {
			t.Errorf("%+v is approved", bad)
		}
	}
	if p, ok := w.Begin(l.Call, line, w.project, box.Project); !ok || p.Base != box.Project {
		t.Errorf("it is not approved: %+v", p)
	}
	if _, ok := w.Begin(l.Call, line, w.project, box.Project); ok {
		t.Error("it is approved twice")
	}
	after := w.call(agent, "PostToolUse", l.String())
	plain := w.Plain(after)
	if after.Data = plain; string(plain) != string(w.call(agent, "PostToolUse", line).Data) {
		t.Errorf("the event after it is %s", plain)
	}
	tell := w.End(l.Call, box.Ended{Level: box.Namespaces, Exit: 1})
	if !strings.Contains(tell, `"project"`) || !strings.Contains(tell, "a person will be asked") {
		t.Errorf("the model is told %q", tell)
	}
	if end, bare := w.Ran(after, true); end == nil || end.Exit != 1 || bare {
		t.Errorf("it ended with %+v, %v", end, bare)
	}
	if why := w.Cannot(w.call(agent, "PreToolUse", line), contained(box.Project)); !strings.Contains(why, "just failed") {
		t.Errorf("the same line again: %q", why)
	}
}

// An agent whose call came back without its box is given none any more.
func TestAgentThatDropsTheRewrite(t *testing.T) {
	w := newWorld(t)
	e := w.call(agent, "PreToolUse", "make")
	w.Box(e, contained(box.Project))
	after := w.call(agent, "PostToolUse", "make")
	if _, bare := w.Ran(after, true); bare {
		t.Error("a call that failed need not have run")
	}
	if _, bare := w.Ran(after, false); !bare {
		t.Fatal("it is not seen")
	}
	if why := w.Cannot(e, contained(box.Project)); !strings.Contains(why, "without its box") {
		t.Errorf("the next call: %q", why)
	}
}

func TestCannot(t *testing.T) {
	for _, c := range []struct {
		name, line, want string
		agent            events.Dialect
		event            string
		profiles         []string
		setup            func(t *testing.T, w *world)
	}{
		{name: "another agent", line: "make", agent: events.Qwen, want: "takes no other input"},
		{name: "another event", line: "make", event: "PostToolUse", want: "only a tool call"},
		{name: "no profile", line: "make", profiles: []string{"projekt"}, want: "did you mean project?"},
		{name: "sudo", line: "make && sudo make install", want: "sudo"},
		{name: "docker", line: "docker run x", want: "docker"},
		{name: "push", line: "git -C x push", want: "git push"},
		{name: "network", line: "npm install", want: "needs the network"},
		{name: "background", line: "make &", want: "leaves running"},
		{name: "home", line: "cd ~ && make", want: "home folder"},
		{name: "too long", line: "echo " + strings.Repeat("x", box.MaxLine), want: "too long"},
		{name: "machine", line: "make", want: "no kernel", setup: func(_ *testing.T, w *world) { w.broken = errors.New("no kernel") }},
		{name: "own rule", line: "make all", want: "Bash(make:*)", setup: func(t *testing.T, w *world) {
			w.write(t, ".claude/settings.json", `{"permissions":{"deny":["Bash(make:*)"]}}`)
		}},
		{name: "own rule that asks", line: "x; make all", want: "Bash(make *)", setup: func(t *testing.T, w *world) {
			w.write(t, "project/.claude/settings.local.json", `{"permissions":{"ask":["Bash(make *)"]}}`)
		}},
		{name: "looser profile", line: "make", profiles: []string{"tests"}, want: "less strict", setup: func(t *testing.T, w *world) {
			w.write(t, "system/tests.yaml", "like: read\n")
			w.write(t, "own/tests.yaml", "like: project\n")
		}},
		{name: "bridge", line: "make", want: "hookd-bridge", setup: func(t *testing.T, w *world) { os.Remove(w.opts.Bridge) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			if c.setup != nil {
				c.setup(t, w)
			}
			of, event, profiles := agent, "PreToolUse", []string{box.Project}
			if c.agent != "" {
				of = c.agent
			}
			if c.event != "" {
				event = c.event
			}
			if c.profiles != nil {
				profiles = c.profiles
			}
			e := w.call(of, event, c.line)
			v := contained(profiles...)
			if why := w.Cannot(e, v); !strings.Contains(why, c.want) {
				t.Errorf("it says %q, want %q", why, c.want)
			}
		})
	}
}

func TestStrictestProfile(t *testing.T) {
	w := newWorld(t)
	w.write(t, "own/tests.yaml", "like: project\ncaches: false\nhide: [~/private]\n")
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"project", "read"}, "read"}, {[]string{"project-net", "project"}, "project"},
		{[]string{"project", "tests"}, "tests"}, {[]string{"tests", "project"}, "tests"},
	} {
		if p, err := w.profile(c.names); err != nil || p.Name != c.want {
			t.Errorf("%q: %s, %v, want %s", c.names, p.Name, err, c.want)
		}
	}
}

func TestLineOfACdStaysOutside(t *testing.T) {
	w := newWorld(t)
	w.write(t, "project/sub/x", "")
	v := w.Box(w.call(agent, "PreToolUse", "cd sub && make"), contained(box.Project))
	l := boxedLine(t, v)
	if l.Enter != "cd sub && " || l.Plain != "make" {
		t.Errorf("the line is %+v", l)
	}
	if _, ok := w.Begin(l.Call, "make", filepath.Join(w.project, "sub"), box.Project); !ok {
		t.Error("its box is not approved in the folder that the shell entered")
	}
}
