package builtin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/facts/facttest"
	"github.com/hookd/hookd/internal/hooks/rules"
)

// bench runs one built-in and reads its answer.
type bench struct {
	*testing.T
	call   Invocation
	name   string
	logged []string // what was only logged
}

func newBench(t *testing.T, name, event, payload string, args ...string) *bench {
	return &bench{T: t, name: name, call: callOf(events.For("", event), payload, args...)}
}

// callOf is the call of a built-in on an event as its agent emits it.
func callOf(row *events.Contract, payload string, args ...string) Invocation {
	e := &events.Event{Contract: row}
	e.Envelope.Event, e.Dialect, e.Data = row.Name, row.Dialect, json.RawMessage(payload)
	return Invocation{Event: row.Name, Payload: e.Data, Row: row, Data: e.Data, Canonical: dialect.Canonical(e), Tool: dialect.Call(e),
		Subject: func() *rules.Subject { return subjectOf(e) }, Args: args, Env: func(string) string { return "" }}
}

// subjectOf is an event as rules see it, in the folder of its payload; without one in a home.
func subjectOf(e *events.Event) *rules.Subject {
	cwd := rawjson.StringIn(e.Data, "cwd")
	cwd = cmp.Or(cwd, facttest.Home)
	return &rules.Subject{
		Facts: facts.Read(dialect.Call(e), facts.Env{Cwd: cwd, Home: facttest.Home}), Tools: dialect.ToolNames(e),
		Data: e.Data, Cwd: cwd, Project: cwd, Home: facttest.Home,
	}
}

// answer runs the built-in; a failure ends the test.
func (b *bench) answer() answer {
	b.Helper()
	a, err := b.try()
	if err != nil {
		b.Fatalf("%s: %v", b.name, err)
	}
	return a
}

func (b *bench) try() (a answer, err error) {
	b.Helper()
	builtin, ok := Lookup(b.name)
	if !ok {
		b.Fatalf("no built-in is called %s", b.name)
	}
	b.call.Log = func(msg string, err error) { b.logged = append(b.logged, msg+": "+err.Error()) }
	out, err := builtin.Run(b.Context(), &b.call)
	if len(out) > 0 {
		if err := json.Unmarshal(out, &a); err != nil {
			b.Fatalf("%s: answer %q: %v", b.name, out, err)
		}
	}
	if a.Specific == nil {
		a.Specific = &specific{}
	}
	return a, err
}

func TestNamesAreTheDocumentedOnes(t *testing.T) {
	want := strings.Fields(`add_date add_environment_info add_prompt_files add_git_status add_git_diff add_directory_listing add_user_info
		add_recent_commits max_iterations snapshot redact_secrets limit_large_tool_results safer_shell unload add_context transform_json http_post notify`)
	if got := Names(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, name := range want {
		if b, ok := Lookup(name); !ok || b.Doc == "" || b.Run == nil {
			t.Errorf("%s: got %+v, want a description and a function", name, b)
		}
	}
	if _, ok := Lookup("no_such"); ok {
		t.Error("no_such was found")
	}
}

func TestAPanicIsAFailure(t *testing.T) {
	run := contained(Builtin{Name: "x", Run: func(context.Context, *Invocation) ([]byte, error) { panic("oh") }})
	if out, err := run(t.Context(), &Invocation{}); out != nil || err == nil || !strings.Contains(err.Error(), "x: panic: oh") {
		t.Errorf("got %q, %v, want the panic as an error", out, err)
	}
}

// Whatever a payload is, a built-in answers or fails; it never panics.
func TestOddPayloads(t *testing.T) {
	for _, name := range Names() {
		b, _ := Lookup(name)
		for _, payload := range []string{``, `{}`, `null`, `{"tool_input":5,"tool_response":[1],"messages":"x","iteration":"y","command":{}}`} {
			for _, event := range append(b.Events, "no_such_event") {
				c := callOf(events.For("", event), payload)
				c.DataDir = t.TempDir()
				_, err := b.Run(t.Context(), &c)
				if err != nil && strings.Contains(err.Error(), "panic") {
					t.Errorf("%s on %s with %s: %v", name, event, payload, err)
				}
			}
		}
	}
}

func TestAddDate(t *testing.T) {
	before := time.Now().Format(time.DateOnly)
	got := newBench(t, "add_date", "turn_start", `{}`).answer().Specific.AdditionalContext
	after := time.Now().Format(time.DateOnly)
	if got != "Today's date: "+before && got != "Today's date: "+after {
		t.Errorf("got %q, want today's date", got)
	}
}

func TestMaxIterations(t *testing.T) {
	for _, tt := range []struct {
		payload string
		args    []string
		blocked bool
	}{
		{`{"iteration":2}`, []string{"2"}, false},
		{`{"iteration":3}`, []string{"2"}, true},
		{`{}`, []string{"2"}, false},
		{`{"iteration":99}`, nil, false},
		{`{"iteration":99}`, []string{"x"}, false},
		{`{"iteration":99}`, []string{"-1"}, false},
	} {
		a := newBench(t, "max_iterations", "before_llm_call", tt.payload, tt.args...).answer()
		if got := a.Decision == "block"; got != tt.blocked {
			t.Errorf("%s %q: blocked %v, want %v", tt.payload, tt.args, got, tt.blocked)
		}
	}
}

func TestAddPromptFiles(t *testing.T) {
	root := t.TempDir()
	home, work := filepath.Join(root, "home"), filepath.Join(root, "w", "a", "b")
	for name, text := range map[string]string{
		"home/R.md": "from home", "w/R.md": "far", "w/a/R.md": "near\n", "w/a/b/sub/R.md": "below", "w/a/b/.git/R.md": "hidden",
	} {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	b := newBench(t, "add_prompt_files", "turn_start", `{}`, "--depth=2", "R.md", "none.md")
	b.call.Cwd, b.call.Env = work, func(name string) string { return map[string]string{"HOME": home}[name] }
	got := b.answer().Specific.AdditionalContext
	want := "Instructions from: " + filepath.Join(root, "w/a/R.md") + "\nnear\n\nInstructions from: " + filepath.Join(home, "R.md") + "\nfrom home\n\n" +
		"More instructions below the working directory; read the ones for the directory you work in:\n- " + filepath.Join(work, "sub/R.md")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := os.WriteFile(filepath.Join(work, "R.md"), []byte(strings.Repeat("é", maxPromptFile)), 0o644); err != nil {
		t.Fatal(err)
	}
	got = b.answer().Specific.AdditionalContext
	if len(got) > maxPromptFile+1000 || !strings.Contains(got, truncated) {
		t.Errorf("got %d bytes of a large file, want at most %d and a note", len(got), maxPromptFile+1000)
	}
}

func TestAddDirectoryListingCaps(t *testing.T) {
	dir := t.TempDir()
	for i := range 105 {
		if err := os.WriteFile(filepath.Join(dir, "f"+string(rune('a'+i/26))+string(rune('a'+i%26))), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b := newBench(t, "add_directory_listing", "session_start", `{}`)
	b.call.Cwd = dir
	got := b.answer().Specific.AdditionalContext
	if !strings.HasSuffix(got, "\n... and 5 more") || strings.Count(got, "\n- ") != 100 {
		t.Errorf("got %q, want 100 entries and 5 more", got)
	}
	b.call.Cwd = filepath.Join(dir, "gone")
	if got := b.answer().Specific.AdditionalContext; got != "" {
		t.Errorf("got %q of a directory that is not there, want nothing", got)
	}
}

// gitRepo makes a repository with one commit and one change.
func gitRepo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	script := `git init -q -b main . && git config user.email a@b.c && git config user.name n && echo a > f && git add f && git commit -qm first && echo b > f`
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make a repository: %v: %s", err, out)
	}
	return dir
}

func TestGitBuiltins(t *testing.T) {
	dir := gitRepo(t)
	for _, tt := range []struct {
		name, event string
		args        []string
		want        string
	}{
		{"add_git_status", "turn_start", nil, "Current git status:\n\n## main\n M f"},
		{"add_git_diff", "turn_start", nil, "Current working-tree diff (stat):\n\nf | 2 +-"},
		{"add_git_diff", "turn_start", []string{"full"}, "Current working-tree diff:\n\ndiff --git a/f b/f"},
		{"add_recent_commits", "session_start", []string{"x"}, "Recent commits:\n\n"},
	} {
		b := newBench(t, tt.name, tt.event, `{}`, tt.args...)
		b.call.Cwd = dir
		if got := b.answer().Specific.AdditionalContext; !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s %q: got %q, want it to begin with %q", tt.name, tt.args, got, tt.want)
		}
		b.call.Cwd = t.TempDir()
		if got := b.answer().Specific.AdditionalContext; got != "" || len(b.logged) > 0 {
			t.Errorf("%s outside a repository: got %q, logged %q, want silence", tt.name, got, b.logged)
		}
	}
}

// git status refreshes the index by the way; here it must not.
func TestGitBuiltinsWriteNothing(t *testing.T) {
	dir := gitRepo(t)
	index := filepath.Join(dir, ".git", "index")
	before, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "f"), later, later); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, "add_git_status", "turn_start", `{}`)
	b.call.Cwd = dir
	b.answer()
	if after, err := os.ReadFile(index); err != nil || string(after) != string(before) {
		t.Errorf("the index was changed: %v", err)
	}
}

func TestAddContext(t *testing.T) {
	payload := `{"tool_name":"shell","tool_input":{"a":1},"agent_name":"root","iteration":"not a number","own":"x"}`
	for _, tt := range []struct {
		args []string
		want string
		fail string
	}{
		{[]string{"{{.ToolName}} by {{.AgentName}}", " ", "{{.ToolInput.a}}"}, "shell by root\n1", ""},
		{[]string{"{{.Payload.own}} in {{.Cwd}} on {{.HookEventName}}"}, "x in /w on turn_start", ""},
		{[]string{"ok", "{{.Nope}}"}, "", "add_context: render arg 2:"},
		{[]string{"{{.ToolInput.b}}"}, "", "add_context: render arg 1:"},
		{[]string{"{{"}, "", "add_context: parse arg 1:"},
		{nil, "", ""},
	} {
		b := newBench(t, "add_context", "turn_start", payload, tt.args...)
		b.call.Cwd = "/w"
		a, err := b.try()
		if a.Specific.AdditionalContext != tt.want {
			t.Errorf("%q: got %q, want %q", tt.args, a.Specific.AdditionalContext, tt.want)
		}
		if (err != nil) != (tt.fail != "") || err != nil && !strings.HasPrefix(err.Error(), tt.fail) {
			t.Errorf("%q: got error %v, want %q", tt.args, err, tt.fail)
		}
	}
}

func TestTransformJSON(t *testing.T) {
	for _, tt := range []struct {
		name, payload string
		args          []string
		want          string
		fails         bool
	}{
		{"text", `{"tool_response":"{\"b\":1.0,\"a\":[1],\"c\":2}"}`, []string{"a", "b"}, `"{\"b\":1.0,\"a\":[1]}"`, false},
		{"object", `{"tool_response":{"b":1,"a":2}}`, []string{"a"}, `{"a":2}`, false},
		{"none-kept", `{"tool_response":"{\"b\":1}"}`, []string{"a"}, `"{}"`, false},
		{"no-args", `{"tool_response":"plain"}`, nil, "", false},
		{"tool-error", `{"tool_response":"plain","tool_error":true}`, []string{"a"}, "", false},
		{"no-response", `{}`, []string{"a"}, "", false},
		{"not-json", `{"tool_response":"plain"}`, []string{"a"}, "", true},
		{"list", `{"tool_response":"[1]"}`, []string{"a"}, "", true},
		{"cut-off", `{"tool_response":"{\"a\":"}`, []string{"a"}, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := newBench(t, "transform_json", "tool_response_transform", tt.payload, tt.args...).try()
			if got := string(a.Specific.UpdatedResponse); got != tt.want || (err != nil) != tt.fails {
				t.Errorf("got %s, %v, want %s, failure %v", got, err, tt.want, tt.fails)
			}
		})
	}
}
