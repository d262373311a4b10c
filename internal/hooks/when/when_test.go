package when

import (
	"encoding/json"
	"errors"
	"github.com/hookd/hookd/internal/facts"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
)

func fold(t testing.TB, text string, separators ...rune) pattern.Fold {
	t.Helper()
	f, err := pattern.CompileFold(text, separators...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func event(dialect, name, cwd, data string) *events.Event {
	e := &events.Event{Envelope: events.Envelope{
		Event: name, Dialect: events.Dialect(dialect), Cwd: cwd, Data: json.RawMessage(data),
	}}
	e.Contract = events.For(e.Dialect, name)
	e.Dialect = e.Contract.Dialect
	return e
}

// Members fit the events that they describe, and in doubt they fit.
func TestMembers(t *testing.T) {
	tool := func(names ...string) (c hook.Condition) {
		for _, n := range names {
			c.Tools = append(c.Tools, fold(t, n))
		}
		return c
	}
	command := func(text string) hook.Condition {
		return hook.Condition{Commands: []facts.CommandPattern{compiled(t, text)}}
	}
	path := func(text string) hook.Condition { return hook.Condition{Paths: []pattern.Fold{fold(t, text, '/')}} }
	prompt := func(text string) hook.Condition {
		return hook.Condition{Prompts: []*regexp.Regexp{regexp.MustCompile(text)}}
	}
	data := func(path, text string) hook.Condition {
		return hook.Condition{Data: []hook.DataPattern{{Path: strings.Split(path, "."), Patterns: []pattern.Fold{fold(t, text)}}}}
	}
	const pre, cc = "PreToolUse", "claude-code"
	for _, tt := range []struct {
		name           string
		c              hook.Condition
		dialect, event string
		data           string
		unfit          string // what it says; "" = it fits
	}{
		{"own_name", tool("run_shell_*"), "gemini-cli", "BeforeTool", `{"tool_name":"run_shell_command","tool_input":{}}`, ""},
		{"canonical_name", tool("Bash"), "gemini-cli", "BeforeTool", `{"tool_name":"run_shell_command","tool_input":{}}`, ""},
		{"case_of_tool", tool("bash"), cc, pre, `{"tool_name":"Bash","tool_input":{}}`, ""},
		{"other_tool", tool("Bash"), cc, pre, `{"tool_name":"Read","tool_input":{}}`, `when: tool Bash is not tool "Read"`},
		{"no_tool_named", tool("Bash"), cc, pre, `{}`, ""},
		{"no_tool", tool("Bash"), cc, "Stop", `{}`, `when: tool Bash does not fit: the event has no tool`},
		{"command", command("git push"), cc, pre, `{"tool_name":"Bash","tool_input":{"command":"sudo git push"}}`, ""},
		{"other_command", command("git push"), cc, pre, `{"tool_name":"Bash","tool_input":{"command":"ls"}}`, `when: command git push is not in the line`},
		{"command_as_words", command("git push"), "codex", pre, `{"tool_name":"shell","tool_input":{"command":["bash","-lc","git push"]}}`, ""},
		{"command_of_another_tool", command("git push"), cc, pre, `{"tool_name":"Read","tool_input":{"file_path":"git push"}}`, `when: command git push does not fit: tool "Read" runs no command`},
		{"command_unknown_tool", command("git push"), cc, pre, `{"tool_name":"mcp__ssh__exec","tool_input":{"what":{"line":"git push"}}}`, ""},
		{"command_words_unknown_tool", command("git push"), cc, pre, `{"tool_name":"mcp__ssh__exec","tool_input":{"argv":["git","push"]}}`, ""},
		{"command_text_unknown_tool", command("git push"), cc, pre, `{"tool_name":"mcp__note__add","tool_input":{"title":"hello"}}`, `when: command git push does not fit: tool "mcp__note__add" runs no command`},
		{"command_missing", command("git push"), cc, pre, `{"tool_name":"Bash","tool_input":{}}`, ""},
		{"command_no_text", command("git push"), cc, pre, `{"tool_name":"Bash","tool_input":{"command":5}}`, ""},
		{"command_twice", command("git push"), cc, pre, `{"tool_name":"Bash","tool_input":{"command":"git push","command":"ls"}}`, ""},
		{"command_in_two_cases", command("git push"), cc, pre, `{"tool_name":"Bash","tool_input":{"Command":"git push","command":"ls"}}`, ""},
		{"input_twice", command("git push"), cc, pre, `{"tool_name":"Bash","tool_input":{"command":"git push"},"tool_input":{"command":"ls"}}`, ""},
		{"command_without_tool", command("git push"), cc, "Stop", `{}`, `when: command git push does not fit: the event has no tool`},
		{"cursor", command("git push"), "cursor", "beforeShellExecution", `{"command":"git push"}`, ""},
		{"cursor_other", command("git push"), "cursor", "beforeShellExecution", `{"command":"ls"}`, `when: command git push is not in the line`},
		{"after", command("git push"), cc, "PostToolUse", `{"tool_name":"Bash","tool_input":{"command":"git push"},"tool_response":{}}`, ""},
		{"path", path("{/,/**/}.env"), cc, pre, `{"tool_name":"Write","tool_input":{"file_path":"/no/such/.env","content":""}}`, ""},
		{"path_case", path("{/,/**/}.env"), cc, pre, `{"tool_name":"Write","tool_input":{"file_path":"/no/such/.ENV","content":""}}`, ""},
		{"path_relative", path("/no/such/.env"), cc, pre, `{"tool_name":"Write","tool_input":{"file_path":"x/../.env","content":""}}`, ""},
		{"path_other", path("{/,/**/}.env"), cc, pre, `{"tool_name":"Read","tool_input":{"file_path":"/no/such/env"}}`, `when: path {/,/**/}.env does not match "/no/such/env"`},
		{"path_uri", path("/no/such/a b"), cc, pre, `{"tool_name":"Read","tool_input":{"file_path":"file:///no/such/a%20b"}}`, ""},
		{"path_of_a_command", path("{/,/**/}.env"), cc, pre, `{"tool_name":"Bash","tool_input":{"command":"ls"}}`, ""},
		{"path_of_a_search", path("{/,/**/}.env"), cc, pre, `{"tool_name":"Grep","tool_input":{"pattern":"x","path":"/no"}}`, ""},
		{"path_of_an_unknown_tool", path("{/,/**/}.env"), cc, pre, `{"tool_name":"mcp__fs__put","tool_input":{"name":"x"}}`, ""},
		{"path_missing", path("{/,/**/}.env"), cc, pre, `{"tool_name":"Write","tool_input":{}}`, ""},
		{"path_of_a_variable", path("{/,/**/}.env"), cc, pre, `{"tool_name":"Write","tool_input":{"file_path":"$HOME/x"}}`, ""},
		{"path_hidden_letters", path("{/,/**/}.env"), cc, pre, `{"tool_name":"Write","tool_input":{"file_path":"/no/.e\u200cnv"}}`, ""},
		{"path_two_spellings", path("/no/é"), cc, pre, `{"tool_name":"Write","tool_input":{"file_path":"/no/e\u0301"}}`, ""},
		{"patch", path("{/,/**/}.env"), "codex", pre, `{"tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: a.txt\n*** Add File: x/.env\n+a\n*** End Patch"}}`, ""},
		{"patch_of_others", path("{/,/**/}.env"), "codex", pre, `{"tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: a.txt\n*** End Patch"}}`, `when: path {/,/**/}.env does not match "/no/such/a.txt"`},
		{"prompt", prompt("(?i)deploy"), cc, "UserPromptSubmit", `{"prompt":"please DEPLOY"}`, ""},
		{"prompt_other", prompt("deploy"), cc, "UserPromptSubmit", `{"prompt":"please"}`, `when: prompt is not in what was typed`},
		{"prompt_gemini", prompt("deploy"), "gemini-cli", "BeforeAgent", `{"prompt":"deploy"}`, ""},
		{"prompt_no_text", prompt("deploy"), cc, "UserPromptSubmit", `{"prompt":["x"]}`, ""},
		{"prompt_elsewhere", prompt("deploy"), cc, "Stop", `{}`, `when: prompt is not in what was typed`},
		{"data", data("tool_input.url", "http://*"), cc, pre, `{"tool_name":"WebFetch","tool_input":{"url":"HTTP://x"}}`, ""},
		{"data_other", data("tool_input.url", "http://*"), cc, pre, `{"tool_name":"WebFetch","tool_input":{"url":"https://x"}}`, `when: data.tool_input.url http://* does not match`},
		{"data_missing", data("tool_input.url", "*"), cc, pre, `{"tool_name":"WebFetch","tool_input":{}}`, `when: data.tool_input.url * does not match`},
		{"data_number", data("n", "3"), cc, "Stop", `{"n":3}`, ""},
		{"data_list", data("list.name", "b"), cc, "Stop", `{"list":[{"name":"a"},{"name":"b"}]}`, ""},
		{"data_element", data("list.1", "b"), cc, "Stop", `{"list":["a","b"]}`, ""},
		{"data_as_given", data("tool_input.cmd", "ls"), cc, pre, `{"tool_name":"Bash","tool_input":{"command":"ls"}}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			given := tt.event
			if tt.name == "data_as_given" {
				given = "pre_tool_use"
			}
			e := event(tt.dialect, tt.event, "/no/such", tt.data)
			if got := New(e, NewDisk()).Unfit([]hook.Condition{tt.c}, given); got != tt.unfit {
				t.Errorf("got %q, want %q", got, tt.unfit)
			}
		})
	}
}

// Of several conditions one must fit, with all of its members; the members that do not fit are
// told for each.
func TestConditions(t *testing.T) {
	list := []hook.Condition{
		{Tools: []pattern.Fold{fold(t, "Bash")}, Commands: []facts.CommandPattern{compiled(t, "git push"), compiled(t, "rm")}},
		{Tools: []pattern.Fold{fold(t, "Write"), fold(t, "Edit")}},
	}
	for data, want := range map[string]string{
		`{"tool_name":"Bash","tool_input":{"command":"rm x"}}`:    "",
		`{"tool_name":"Edit","tool_input":{"file_path":"/x"}}`:    "",
		`{"tool_name":"Bash","tool_input":{"command":"ls"}}`:      `when[0]: command git push, rm is not in the line; when[1]: tool Write, Edit is not tool "Bash"`,
		`{"tool_name":"Read","tool_input":{"file_path":"rm x"}}`:  `when[0]: tool Bash is not tool "Read"; when[1]: tool Write, Edit is not tool "Read"`,
		`{"tool_name":"Read","TOOL_NAME":"Bash","tool_input":{}}`: "",
	} {
		e := event("claude-code", "PreToolUse", "/", data)
		if got := New(e, nil).Unfit(list, "PreToolUse"); got != want {
			t.Errorf("%s: got %q, want %q", data, got, want)
		}
	}
}

// A path that leads to the file over links fits; so does any where that cannot be told.
func TestLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"secret", "here/sub"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"here/notes": "../secret/.env", "here/dir": dir + "/secret", "here/chain": "notes", "here/loop": "loop",
		"here/sub/up": "../../secret", "here/dangling": "../secret/new/.env",
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	conditions := []hook.Condition{{Paths: []pattern.Fold{fold(t, dir+"/secret/**", '/')}}}
	for file, fits := range map[string]bool{
		"notes": true, "dir/x": true, "dir/../secret/x": true, "chain": true, "loop": true, "dangling": true,
		"sub/up/.env": true, "dir/new/file": true, "other": false, "sub/x": false, "../here/x": false, "../secret/x": true,
		"sub/up/../secret/x": true, "sub/up/../here/x": false,
	} {
		data := rawjson.With(json.RawMessage(`{"tool_name":"Write"}`), rawjson.Member{
			Key: "tool_input", Value: rawjson.With(nil, rawjson.StringMember("file_path", file)),
		})
		e := event("claude-code", "PreToolUse", filepath.Join(dir, "here"), string(data))
		if got := New(e, NewDisk()).Unfit(conditions, "PreToolUse"); (got == "") != fits {
			t.Errorf("%s: %q, want it to fit: %v", file, got, fits)
		}
		if got := New(e, nil).Unfit(conditions, "PreToolUse"); got != "" {
			t.Errorf("%s, where nothing tells of links: %q", file, got)
		}
	}
}

// A pattern whose folder is a link is a pattern for the link's target.
func TestLinkInPattern(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(dir+"/real/home", 0o700), os.Symlink("real", dir+"/link")); err != nil {
		t.Fatal(err)
	}
	for glob, fits := range map[string]bool{
		"/link/home/**": true, "/link/home/x": true, "/real/home/*": true, "/link/other/**": false, "/link/**": true,
	} {
		e := event("claude-code", "PreToolUse", dir, `{"tool_name":"Read","tool_input":{"file_path":"real/home/x"}}`)
		conditions := []hook.Condition{{Paths: []pattern.Fold{fold(t, dir+glob, '/')}}}
		if got := New(e, NewDisk()).Unfit(conditions, "PreToolUse"); (got == "") != fits {
			t.Errorf("%s: %q, want it to fit: %v", glob, got, fits)
		}
	}
}

// Each agent's own way to write a file and to run a command is understood.
func TestEachDialect(t *testing.T) {
	file := []hook.Condition{{Tools: []pattern.Fold{fold(t, "Write")}, Paths: []pattern.Fold{fold(t, "{/,/**/}.env", '/')}}}
	line := []hook.Condition{{Tools: []pattern.Fold{fold(t, "Bash")}, Commands: []facts.CommandPattern{compiled(t, "git push")}}}
	tried := 0
	for _, c := range events.All() {
		tool, input := "", ""
		for _, f := range c.Fields {
			switch f.Name {
			case "tool_name", "toolName", "tool":
				tool = f.Name
			case "tool_input", "tool_args", "toolInput", "toolArgs", "parameters":
				input = f.Name
			}
		}
		if c.Kind != events.KindToolBefore || c.Tools != "" || tool == "" || input == "" {
			continue
		}
		for _, tt := range []struct {
			tool, args string
			conditions []hook.Condition
			fits       bool
		}{
			{"Write", `{"file_path":"/no/such/.env","content":"x"}`, file, true},
			{"Write", `{"file_path":"/no/such/env","content":"x"}`, file, false},
			{"Bash", `{"command":"cd x && git -C y push"}`, line, true},
			{"Bash", `{"command":"git status"}`, line, false},
		} {
			own, args := dialect.OwnCall(c.Dialect, tt.tool, json.RawMessage(tt.args))
			data := rawjson.With(c.Example(), rawjson.StringMember(tool, own), rawjson.Member{Key: input, Value: args})
			e := event(string(c.Dialect), c.Name, "/no/such", string(data))
			if got := New(e, NewDisk()).Unfit(tt.conditions, c.Name); (got == "") != tt.fits {
				t.Errorf("%s %s: %s: %q, want it to fit: %v", c.Dialect, c.Name, data, got, tt.fits)
			}
			tried++
		}
	}
	if tried < 4*8 {
		t.Errorf("only %d calls of agents were tried", tried)
	}
}
