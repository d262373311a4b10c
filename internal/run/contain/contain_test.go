package contain

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/run/box"
	"github.com/hookd/hookd/wire"
)

// world is a Boxer with a home and a project.
type world struct {
	*Boxer
	home, project string
	broken        error // why the machine makes no box
	void          bool  // no answer of a person is in force
}

func newWorld(t *testing.T) *world { return newWorldIn(t, t.TempDir()) }

func newWorldIn(t *testing.T, home string) *world {
	t.Helper()
	home, err := filepath.EvalSymlinks(home)
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
	w.Boxer = New(Options{
		Bridge: bridge, Home: home, State: home, Facts: &facts.Reader{Home: home},
		Profiles: []string{filepath.Join(home, "system"), filepath.Join(home, "own")},
		Probe:    func(string) error { return w.broken },
		Granted:  func(string) bool { return !w.void },
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
	v := w.Box(e, contained(box.Project), false)
	l := boxedLine(t, v)
	if v.PermissionDecision != "allow" || l.Plain != line || l.Profile != box.Project {
		t.Errorf("the verdict is %+v with %+v", v, l)
	}
	if text, _ := rawjson.GetString(v.UpdatedInput, "description"); text != "d" {
		t.Errorf("the rest of the input is lost: %s", v.UpdatedInput)
	}
	for _, bad := range []struct{ id, line, cwd, profile string }{
		{"other", line, w.project, box.Project}, {l.Ticket, "rm x", w.project, box.Project},
		{l.Ticket, line, w.home, box.Project}, {l.Ticket, line, w.project, box.ProjectNet},
	} {
		if _, ok := w.Begin(bad.id, bad.line, bad.cwd, bad.profile); ok {
			t.Errorf("%+v is approved", bad)
		}
	}
	if p, ok := w.Begin(l.Ticket, line, w.project, box.Project); !ok || p.Base != box.Project {
		t.Errorf("it is not approved: %+v", p)
	}
	if _, ok := w.Begin(l.Ticket, line, w.project, box.Project); ok {
		t.Error("it is approved twice")
	}
	after := w.call(agent, "PostToolUse", l.String())
	plain := w.Plain(after)
	if after.Data = plain; string(plain) != string(w.call(agent, "PostToolUse", line).Data) {
		t.Errorf("the event after it is %s", plain)
	}
	tell := w.End(l.Ticket, wire.BoxEnd{Level: string(box.Namespaces), Exit: 1})
	if !strings.Contains(tell, `"project"`) || !strings.Contains(tell, "a person will be asked") {
		t.Errorf("the model is told %q", tell)
	}
	for before, of := range map[string]bool{"": true, e.EventID: true, "e2": false} { // of e2 the same line ran without a box
		if end, bare := w.Ran(after, before, true); (end != nil && end.Exit == 1) != of || bare {
			t.Errorf("the call of %q ended with %+v, %v", before, end, bare)
		}
	}
	if why := w.Cannot(w.call(agent, "PreToolUse", line), contained(box.Project)); !strings.Contains(why, "just failed") {
		t.Errorf("the same line again: %q", why)
	}
}

// An agent whose call came back without its box is given none any more.
func TestAgentThatDropsTheRewrite(t *testing.T) {
	w := newWorld(t)
	e := w.call(agent, "PreToolUse", "make")
	w.Box(e, contained(box.Project), false)
	after := w.call(agent, "PostToolUse", "make")
	if _, bare := w.Ran(after, "", true); bare {
		t.Error("a call that failed need not have run")
	}
	if _, bare := w.Ran(after, "", false); !bare {
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
		{name: "a database", line: "psql shop < <(echo 'drop table users;')", want: "psql"},
		{name: "a cluster", line: "kubectl exec -i redis-0 -- sh", want: "kubectl"},
		{name: "power", line: "x; shutdown -h now", want: "shutdown"},
		{name: "an editor on secrets", line: "vim -es '+%p' '+q!' .env", want: ".env"},
		{name: "secrets in code", line: `python3 -c "print(open('.env.local').read())"`, want: ".env"},
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
		{name: "own rule of Codex", agent: events.Codex, line: "git stash drop", want: `"stash"`, setup: func(t *testing.T, w *world) {
			w.write(t, ".codex/rules/default.rules", `prefix_rule(pattern=["ls"], decision="allow")
prefix_rule(
    pattern = ["git", ["stash", "bisect"]],
    decision = "forbidden", match = ["git stash"],
)`)
		}},
		{name: "another rule of Codex", agent: events.Codex, line: "git commit -m x", setup: func(t *testing.T, w *world) {
			w.write(t, "project/.codex/rules/own.rules", `prefix_rule(pattern = ["git", ["stash", "bisect"]], decision = "prompt")`)
			w.write(t, ".codex/rules/default.rules", `prefix_rule(pattern = ["git"], decision = "allow")`)
		}},
		{name: "own rule of Gemini CLI", agent: events.GeminiCLI, event: "BeforeTool", line: "make all", want: "commandPrefix", setup: func(t *testing.T, w *world) {
			w.write(t, ".gemini/policies/a.toml", "[[rule]]\ntoolName = 'run_shell_command'\ncommandPrefix = [\"ls\", \"make\"]\ndecision = \"deny\"\n")
		}},
		{name: "own pattern of Gemini CLI", agent: events.GeminiCLI, event: "BeforeTool", line: "make all", want: "commandRegex", setup: func(t *testing.T, w *world) {
			w.write(t, "project/.gemini/policies/a.toml", "[[rule]]\ncommandRegex = \"ma\\\\w+ all\"\ndecision = \"ask_user\"\n")
		}},
		{name: "other rules of Gemini CLI", agent: events.GeminiCLI, event: "BeforeTool", line: "make all", setup: func(t *testing.T, w *world) {
			w.write(t, ".gemini/policies/a.toml", "[[rule]]\ncommandPrefix = \"make\"\ndecision = \"allow\"\n[[rule]]\ncommandPrefix = \"rm\"\ndecision = \"deny\"\n")
		}},
		{name: "own rule of OpenCode", agent: events.OpenCode, event: "tool.execute.before", line: "make all", want: "make *", setup: func(t *testing.T, w *world) {
			w.write(t, ".config/opencode/opencode.jsonc", `{"permission": {"bash": {"*": "ask", "make *": "deny"}}} // mine`)
		}},
		{name: "other rules of OpenCode", agent: events.OpenCode, event: "tool.execute.before", line: "make all", setup: func(t *testing.T, w *world) {
			w.write(t, "project/opencode.json", `{"permission": {"edit": "deny", "bash": {"rm *": "deny", "make *": "allow"}}}`)
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
			if why := w.Cannot(e, v); !strings.Contains(why, c.want) || c.want == "" && why != "" {
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
	v := w.Box(w.call(agent, "PreToolUse", "cd sub && make"), contained(box.Project), false)
	l := boxedLine(t, v)
	if l.Enter != "cd sub && " || l.Plain != "make" {
		t.Errorf("the line is %+v", l)
	}
	if _, ok := w.Begin(l.Ticket, "make", filepath.Join(w.project, "sub"), box.Project); !ok {
		t.Error("its box is not approved in the folder that the shell entered")
	}
}

// A box is for the folder that its call was looked at in, and not for another one to which a link leads by now.
func TestABoxOfAnotherFolder(t *testing.T) {
	w := newWorld(t)
	w.write(t, "project/sub/x", "")
	w.write(t, "other/x", "")
	sub := filepath.Join(w.project, "sub")
	v := w.Box(w.call(agent, "PreToolUse", "cd sub && make"), contained(box.Project), false)
	p, ok := w.Begin(boxedLine(t, v).Ticket, "make", sub, box.Project)
	if !ok {
		t.Fatal("it is not approved")
	}
	if _, err := box.Resolve(p, w.place(sub)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(sub, sub+".was"), os.Symlink(filepath.Join(w.home, "other"), sub)); err != nil {
		t.Fatal(err)
	}
	if s, err := box.Resolve(p, w.place(sub)); err == nil {
		t.Errorf("its box may write %q", s.Write)
	}
}

// again is the Boxer of a daemon that has started again.
func (w *world) again() *Boxer { return New(w.opts) }

// A call that was rewritten before a restart gets its box after it, once; its line and folder count as before.
func TestTicketsOutlastADaemon(t *testing.T) {
	w := newWorld(t)
	w.write(t, "own/tests.yaml", "like: project\nhide: [~/private]\n")
	l := boxedLine(t, w.Box(w.call(agent, "PreToolUse", "make"), contained("tests"), false))
	second := boxedLine(t, w.Box(w.call(agent, "PreToolUse", "make x"), contained("tests"), false))
	w.Boxer = w.again()
	if _, ok := w.Begin(l.Ticket, "make y", w.project, "tests"); ok {
		t.Error("another line is approved")
	}
	p, ok := w.Begin(l.Ticket, "make", w.project, "tests")
	if !ok || len(p.Hide) != 1 {
		t.Errorf("it is not approved, or with another profile: %+v", p)
	}
	w.Boxer = w.again()
	if _, ok := w.Begin(l.Ticket, "make", w.project, "tests"); ok {
		t.Error("it is approved twice")
	}
	if tell := w.End(l.Ticket, wire.BoxEnd{Exit: 1}); !strings.Contains(tell, `"tests"`) {
		t.Errorf("the model is told %q", tell)
	}
	w.Boxer = w.again()
	if why := w.Cannot(w.call(agent, "PreToolUse", "make"), contained("tests")); !strings.Contains(why, "just failed") {
		t.Errorf("the same line again: %q", why)
	}
	if _, bare := w.Ran(w.call(agent, "PostToolUse", second.Plain), "", false); !bare {
		t.Error("an agent that dropped the rewrite is not seen after a restart")
	}
}

// A ticket of a later time approves no box: the clock was set back since, and it would count for as much longer.
func TestATicketOfALaterTime(t *testing.T) {
	w := newWorld(t)
	l := boxedLine(t, w.Box(w.call(agent, "PreToolUse", "make"), contained(box.Project), false))
	one := w.tickets.find(func(one *ticket) bool { return one.ID == l.Ticket })
	one.Made = one.Made.Add(5 * time.Hour)
	w.tickets.out.await(w.tickets.save(one))
	w.Boxer = w.again()
	if _, ok := w.Begin(l.Ticket, "make", w.project, box.Project); ok {
		t.Error("its box is approved")
	}
}

// A file of tickets that is torn, foreign or cannot be written stops nothing, and approves nothing.
func TestTicketsWithoutAFile(t *testing.T) {
	w := newWorld(t)
	l := boxedLine(t, w.Box(w.call(agent, "PreToolUse", "make"), contained(box.Project), false))
	path := filepath.Join(w.home, "boxes.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{string(text[:len(text)/2]), "null\n{}\n[]\n", strings.Repeat("x", 100)} {
		w.write(t, "boxes.jsonl", content)
		if _, ok := w.again().Begin(l.Ticket, "make", w.project, box.Project); ok {
			t.Errorf("approved from %q", content)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	k := w.again()
	l = boxedLine(t, k.Box(w.call(agent, "PreToolUse", "make"), contained(box.Project), false))
	if _, ok := k.Begin(l.Ticket, "make", w.project, box.Project); !ok {
		t.Error("without a file no box is made")
	}
}

// A way that a box kept is asked about when the line comes again. It opens for that call, and for the
// session where the answer says so; the rest of the box stays.
func TestWaysOut(t *testing.T) {
	w := newWorldIn(t, hooktest.HomeDir(t))
	w.write(t, "other/file", "")
	w.write(t, "own/net.yaml", "like: project-net\nhosts: [good.test]\n")
	const line = "echo x > ../other/file && ./run"
	e := w.call(agent, "PreToolUse", line)
	fails := func(end wire.BoxEnd, output string) string {
		t.Helper()
		l := boxedLine(t, w.Box(e, contained("net"), false))
		if _, ok := w.Begin(l.Ticket, line, w.project, "net"); !ok {
			t.Fatal("it is not approved")
		}
		tell := w.End(l.Ticket, end)
		after := w.call(agent, "PostToolUse", l.String())
		after.Data = rawjson.With(w.Plain(after), rawjson.StringMember("tool_response", output))
		w.Ran(after, "", true)
		return tell
	}
	other := filepath.Join(w.home, "other")
	tell := fails(wire.BoxEnd{Exit: 1, Refused: []string{"reg.test:443"}}, "")
	if !strings.Contains(tell, "from reg.test:443, "+other+"/file.") {
		t.Errorf("the model is told %q", tell)
	}
	tell = fails(wire.BoxEnd{Exit: 1, Level: string(box.Landlock), Refused: []string{"other.test:443"}}, "")
	if !strings.Contains(tell, "; it makes no sockets, and its /tmp is $TMPDIR; it kept") {
		t.Errorf("of a weaker box the model is told %q", tell)
	}
	fails(wire.BoxEnd{Exit: 1, Refused: []string{"reg.test:443"}}, "")
	v := contained("net")
	if why := w.Cannot(e, v); why != "" {
		t.Errorf("it cannot be contained: %s", why)
	}
	v.Opens = w.Opens(e, v)
	if want := []string{"reg.test:443", other + "/file"}; !slices.Equal(v.Opens, want) {
		t.Fatalf("it opens %q, want %q", v.Opens, want)
	}
	profileOf := func(lasts bool) box.Profile {
		t.Helper()
		is := w.Box(e, v, lasts)
		p, ok := w.Begin(boxedLine(t, is).Ticket, line, w.project, "net")
		if !ok {
			t.Fatal("it is not approved")
		}
		if open := append(slices.Clone(p.Hosts[1:]), p.Write...); !slices.Equal(is.Opens, open) {
			t.Errorf("on record %q are open, in the box %q", is.Opens, open)
		}
		return p
	}
	if p := profileOf(false); !slices.Equal(p.Hosts, []string{"good.test", "reg.test:443"}) || !slices.Equal(p.Write, v.Opens[1:]) {
		t.Errorf("once: %+v", p)
	}
	v.Opens = nil
	if p := profileOf(false); len(p.Hosts) != 1 || p.Write != nil {
		t.Errorf("the call after it: %+v", p)
	}
	v.Opens = []string{"reg.test:443"}
	profileOf(true)
	w.Boxer = w.again()
	v.Opens = nil
	if p := profileOf(false); len(p.Hosts) != 2 {
		t.Errorf("in the session, after a restart: %+v", p)
	}
	first := e.SessionID
	e.SessionID = "s2"
	if p := profileOf(false); len(p.Hosts) != 1 {
		t.Errorf("in another session: %+v", p)
	}
	e.SessionID = first
	w.void = true
	if p := profileOf(false); len(p.Hosts) != 1 {
		t.Errorf("after its grant has ended: %+v", p)
	}
}

// A way is what the line or its output names; a secret, a home and a folder of the system are none.
func TestWhichWaysAreOffered(t *testing.T) {
	w := newWorldIn(t, hooktest.HomeDir(t))
	for _, name := range []string{"other/file", ".ssh/id", ".config/tool/rc"} {
		w.write(t, name, "")
	}
	n := 0
	for _, c := range []struct{ line, output, want string }{
		{"./run", "", ""},
		{"cp a ../other/new", "", "~/other"},
		{"./run", "bash: line 1: ../other/file: Read-only file system\n", "~/other/file"},
		{"./run", "mkdir: cannot create directory ‘HOME/other/a/b’: Read-only file system\n", "~/other"},
		{"./run", "OSError: [Errno 30] Read-only file system: 'HOME/.config/tool/rc'\n", "~/.config/tool/rc"},
		{"./run", "Error: EROFS: read-only file system, open 'HOME/other/file'\n", "~/other/file"},
		{"./run", "open HOME/other/file: read-only file system\n", "~/other/file"},
		{"./run", "open HOME/.ssh/id: permission denied\n", ""},
		{"./run", "open HOME/.ssh/new: permission denied\n", ""},
		{"./run", "touch: cannot touch 'HOME/new': Read-only file system\n", ""},
		{"./run", "open /etc/passwd: read-only file system\n", ""},
		{"./run", "open /new: read-only file system\n", ""},
		{"./run", "open HOME/project/x: permission denied\n", ""},
		{"rm -rf ~/.ssh ; false", "", ""},
		{"echo x > /etc/hosts", "", ""},
	} {
		n++
		e := w.call(agent, "PreToolUse", c.line)
		e.SessionID = fmt.Sprint("w", n)
		l := boxedLine(t, w.Box(e, contained(box.Project), false))
		w.Begin(l.Ticket, c.line, w.project, box.Project)
		w.End(l.Ticket, wire.BoxEnd{Exit: 1})
		after := w.call(agent, "PostToolUse", c.line)
		after.SessionID = e.SessionID
		after.Data = rawjson.With(after.Data, rawjson.StringMember("tool_response", strings.ReplaceAll(c.output, "HOME", w.home)))
		w.Ran(after, "", true)
		got := strings.ReplaceAll(strings.Join(w.Opens(e, contained(box.Project)), " "), w.home, "~")
		if got != c.want {
			t.Errorf("%s with %q: %q, want %q", c.line, c.output, got, c.want)
		}
	}
}
