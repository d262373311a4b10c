package dockeragent

import (
	"flag"
	"fmt"
	_ "github.com/hookd/hookd/internal/contract/dialect" // the contract table
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const examples = "../../../../testdata/docker-agent"

var opt = Options{Shell: "/bin/sh"}

// load reads a file that must have no errors.
func load(t *testing.T, path string) ([]*hook.Hook, []hook.Problem) {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	hooks, problems := Parse(abs, readAll(t, path), opt)
	for _, p := range problems {
		if !p.Warning {
			t.Errorf("problem %s", p)
		}
	}
	return hooks, problems
}

// parse reads the hooks: block of one agent, root.
func parse(t *testing.T, block string) ([]*hook.Hook, []hook.Problem) {
	t.Helper()
	text := "agents:\n  root:\n    hooks:\n"
	for line := range strings.Lines(block) {
		text += "      " + line
	}
	return Parse("/srv/agent/agent.yaml", []byte(text), opt)
}

func TestExampleOfSeed002(t *testing.T) {
	hooks, problems := load(t, filepath.Join(examples, "hooks.yaml"))
	got := map[string]int{}
	for _, h := range hooks {
		got[h.Patterns[0].Text]++
	}
	want := map[string]int{
		"pre_tool_use": 2, "post_tool_use": 1, "permission_request": 1, "session_start": 2, "user_prompt_submit": 1,
		"turn_start": 2, "turn_end": 1, "before_llm_call": 1, "after_llm_call": 1, "session_end": 1, "pre_compact": 1,
		"subagent_stop": 1, "on_user_input": 1, "stop": 1, "notification": 1, "on_error": 1, "on_max_iterations": 1,
		"before_compaction": 1, "after_compaction": 1,
	}
	if len(got) != 19 || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("hooks by event = %v, want %v", got, want)
	}
	if len(problems) != 0 {
		t.Errorf("problems: %v", problems)
	}
}

func TestGolden(t *testing.T) {
	for _, name := range []string{"hooks", "hooks-summary", "agent"} {
		t.Run(name, func(t *testing.T) {
			hooks, problems := load(t, filepath.Join(examples, name+".yaml"))
			abs, err := filepath.Abs(examples)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.ReplaceAll(dump(hooks, problems), abs, "DIR")
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("hooks of %s.yaml differ from %s (rewrite it with -update):\n%s", name, golden, got)
			}
		})
	}
}

func dump(hooks []*hook.Hook, problems []hook.Problem) string {
	var b strings.Builder
	for _, h := range hooks {
		fmt.Fprintf(&b, "%s\n  name %.60q\n  source %s, file %s, dir %s, agent %s, event %s, matcher %q, lane %s\n", h.ID, h.Name, h.Source, h.File, h.Dir, h.Agent, h.Patterns[0].Text, h.MatcherText, h.Lane)
		fmt.Fprintf(&b, "  %s %s, timeout %s, on_error %s, strict %v, blocking %v, order %s, enabled %v\n", h.Type, h.Shell, h.Timeout, h.OnError, h.StrictOutput, *h.Blocking, h.Order, h.Enabled)
		fmt.Fprintf(&b, "  in event cwd %v, working dir %q, env %q\n", h.InEventCwd, h.WorkingDir, h.Env)
		for line := range strings.Lines(h.ScriptText) {
			fmt.Fprintf(&b, "  | %s", line)
		}
		if !strings.HasSuffix(h.ScriptText, "\n") {
			b.WriteByte('\n')
		}
	}
	for _, p := range problems {
		fmt.Fprintln(&b, p)
	}
	return b.String()
}

func TestDefaults(t *testing.T) {
	hooks, _ := parse(t, "stop:\n  type: command\n  command: |\n    echo bye\n")
	h := hooks[0]
	if h.Timeout != time.Minute || h.OnError != hook.OnErrorWarn || h.Lane != events.LaneDefault || !h.Enabled || h.StrictOutput {
		t.Errorf("defaults = %v %v %v %v %v", h.Timeout, h.OnError, h.Lane, h.Enabled, h.StrictOutput)
	}
	if h.Name != "root/stop[0]" || h.ScriptText != "echo bye\n" || h.Shell != "/bin/sh" || h.Agent != "root" || h.Dir != "/srv/agent" {
		t.Errorf("hook = %q %q %q %q %q", h.Name, h.ScriptText, h.Shell, h.Agent, h.Dir)
	}
	if want := "/srv/agent/agent.yaml#root.stop[0]"; h.ID != want {
		t.Errorf("ID = %q, want %q", h.ID, want)
	}
	if !h.Blocks(&events.Contract{Decidable: true}, h.Patterns[0]) {
		t.Error("the hook does not take part in the verdict of a decidable event")
	}
}

func TestShell(t *testing.T) {
	for _, tt := range []struct{ env, want string }{{"/bin/dash", "/bin/dash"}, {"", "/bin/sh"}, {"sh", "/bin/sh"}} {
		t.Setenv("SHELL", tt.env)
		if got := (Options{}).shell(); got != tt.want {
			t.Errorf("with SHELL=%q the shell is %q, want %q", tt.env, got, tt.want)
		}
	}
}

func TestShapes(t *testing.T) {
	for _, tt := range []struct {
		name, block string
		want        []string // ends of IDs
	}{
		{"nothing", "{}", nil},
		{"null-event", "stop:", nil},
		{"flat-list", "stop: [{type: command, command: a}, {type: command, command: b}]", []string{"root.stop[0]", "root.stop[1]"}},
		{"flat-mapping", "stop: {type: command, command: a}", []string{"root.stop[0]"}},
		{"groups", "pre_tool_use: [{hooks: [{type: command, command: a}]}, {hooks: [{type: command, command: b}, {type: command, command: c}]}]",
			[]string{"root.pre_tool_use[0].hooks[0]", "root.pre_tool_use[1].hooks[0]", "root.pre_tool_use[1].hooks[1]"}},
		{"group-mapping", "pre_tool_use: {matcher: shell, hooks: {type: command, command: a}}", []string{"root.pre_tool_use[0].hooks[0]"}},
		{"flat-tool-event", "on_tool_approval_decision: [{type: command, command: a}]", []string{"root.on_tool_approval_decision[0]"}},
		{"alias", "stop: &s [{type: command, command: a}]\nsession_end: *s", []string{"root.stop[0]", "root.session_end[0]"}},
		{"merge", "stop: [&h {type: command, command: a}, {<<: *h, command: b}]", []string{"root.stop[0]", "root.stop[1]"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hooks, problems := parse(t, tt.block)
			if len(problems) > 0 {
				t.Fatalf("problems: %v", problems)
			}
			var got []string
			for _, h := range hooks {
				_, id, _ := strings.Cut(h.ID, "#")
				got = append(got, id)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("hooks = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFields(t *testing.T) {
	hooks, problems := parse(t, `
pre_tool_use:
  - matcher: shell|edit_file
    preempt_yolo: true
    hooks:
      - name: guard
        type: command
        command: ./guard
        timeout: 5
        working_dir: ${env.GUARDS}/bin
        env: {TOKEN: "${env.TOK}", PORT: 8080}
        on_error: ignore
        strict_output: true
`)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	h := hooks[0]
	if h.Name != "guard" || h.Timeout != 5*time.Second || h.Lane != events.LanePreempt || h.OnError != hook.OnErrorIgnore || !h.StrictOutput {
		t.Errorf("hook = %q %v %v %v %v", h.Name, h.Timeout, h.Lane, h.OnError, h.StrictOutput)
	}
	if want := []string{"TOKEN=${env.TOK}", "PORT=8080"}; !slices.Equal(h.Env, want) {
		t.Errorf("Env = %q, want %q as configured", h.Env, want)
	}
	if h.WorkingDir != "${env.GUARDS}/bin" || !h.InEventCwd {
		t.Errorf("WorkingDir = %q in cwd %v", h.WorkingDir, h.InEventCwd)
	}
	for tool, want := range map[string]bool{"shell": true, "edit_file": true, "shell_exec": false, "my_shell": false, "Shell": false, "": false} {
		if got := h.Matcher.MatchString(tool); got != want {
			t.Errorf("matcher on %q = %v, want %v", tool, got, want)
		}
	}
}

func TestMatcherOfAll(t *testing.T) {
	for _, block := range []string{"post_tool_use: {matcher: '*', hooks: {type: command, command: a}}", "post_tool_use: {matcher: '', hooks: {type: command, command: a}}", "post_tool_use: {hooks: {type: command, command: a}}"} {
		hooks, problems := parse(t, block)
		if len(hooks) != 1 || hooks[0].Matcher != nil {
			t.Errorf("%s: hooks %v, problems %v; want one that matches everything", block, hooks, problems)
		}
	}
}

// Identity is every field as configured.
func TestDefinition(t *testing.T) {
	const base = "type: command, command: a"
	definition := func(fields string) string {
		hooks, problems := parse(t, "stop: [{"+fields+"}]")
		if len(hooks) != 1 {
			t.Fatalf("{%s}: %v", fields, problems)
		}
		return hooks[0].Definition
	}
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{base, "command: a, type: command", true},
		{base, base + ", args: [], env: {}", true},
		{base + ", env: {A: 1, B: 2}", base + ", env: {B: 2, A: 1}", true},
		{base, base + ", name: again", false},
		{base, base + ", timeout: 60", false},
		{base, base + ", on_error: warn", false},
		{base, base + ", strict_output: true", false},
		{base, base + ", working_dir: /", false},
		{base + ", env: {A: 1}", base + ", env: {A: 2}", false},
		{base + ", args: [x, y]", base + ", args: [y, x]", false},
	} {
		if got := definition(tt.a) == definition(tt.b); got != tt.same {
			t.Errorf("{%s} and {%s} are one hook: %v, want %v", tt.a, tt.b, got, tt.same)
		}
	}
	hooks, _ := parse(t, "pre_tool_use: [{hooks: {"+base+"}}, {preempt_yolo: true, hooks: {"+base+"}}]")
	if hooks[0].Definition == hooks[1].Definition {
		t.Error("hooks of two lanes are one hook")
	}
}

func TestRestOfTheFileIsLeftAlone(t *testing.T) {
	hooks, problems := Parse("/srv/a.yaml", []byte(`
version: "9"
agents:
  root: {model: x, sub_agents: [child], toolsets: [{type: nonsense}], hooks: {stop: {type: command, command: a}}}
  child: {hooks: {stop: {type: command, command: b}}, unknown_future_key: 1}
  plain: {model: y}
  empty: {hooks: }
  odd:
models: {x: {provider: openai}}
settings: {hooks: {nonsense: 1}}
`), opt)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if len(hooks) != 2 || hooks[0].Agent != "root" || hooks[1].Agent != "child" {
		t.Errorf("hooks = %+v, want one of root and one of child", hooks)
	}
}

func readAll(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A hook without a name is called by its place, never by its script, and no two
// of a file are called alike.
func TestNamesAreShort(t *testing.T) {
	hooks, problems := parse(t, "pre_tool_use:\n  - hooks: [{type: command, command: \"echo SECRET\"}, {type: command, command: \"echo SECRET\", name: mine}]\n"+
		"  - hooks: {type: command, command: \"echo SECRET\"}\nstop: [{type: builtin, command: add_date}]\n")
	var names []string
	for _, h := range hooks {
		names = append(names, h.Name)
	}
	if want := []string{"root/pre_tool_use[0]", "mine", "root/pre_tool_use[2]", "root/stop[0]"}; !slices.Equal(names, want) {
		t.Errorf("got %q %v, want %q", names, problems, want)
	}
}

// A hook without a name is called by its command in messages, where that is one short line,
// as docker-agent does; its own name is its place.
func TestCalledByItsCommand(t *testing.T) {
	long := strings.Repeat("x", maxCalled+1)
	for command, want := range map[string]string{
		`"exit 1"`: "exit 1", `"exit 1\n"`: "exit 1", `"` + long[1:] + `"`: long[1:],
		`"` + long + `"`: "", `"a\nb"`: "", `"a\u202eb"`: "", `"a\tb"`: "",
	} {
		hooks, problems := parse(t, "stop: {type: command, command: "+command+"}")
		if len(hooks) != 1 || hooks[0].Called != want || hooks[0].Name != "root/stop[0]" {
			t.Errorf("%s: %+v, %v, want it called %q", command, hooks, problems, want)
		}
	}
	if hooks, _ := parse(t, "stop: {type: command, name: mine, command: exit 1}"); hooks[0].Called != "" || hooks[0].Name != "mine" {
		t.Errorf("a hook with a name is called %q", hooks[0].Called)
	}
}
