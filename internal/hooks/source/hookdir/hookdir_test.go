package hookdir

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// folder makes a hook folder with an executable run.sh.
func folder(t *testing.T, yaml string) string {
	t.Helper()
	dir := t.TempDir()
	hooktest.Write(t, filepath.Join(dir, FileName), yaml, 0o600)
	hooktest.Write(t, filepath.Join(dir, "run.sh"), "#!/bin/sh\n", 0o700)
	return dir
}

// said renders problems as line:column, level and text.
func said(dir string, problems []hook.Problem) []string {
	out := []string{}
	for _, p := range problems {
		s := strings.TrimLeft(strings.TrimPrefix(p.String(), filepath.Join(dir, FileName)), ": ")
		if p.Warning {
			s = "warning " + s
		}
		out = append(out, strings.ReplaceAll(s, dir, "DIR"))
	}
	return out
}

// All fields together come out as they were written.
func TestReadEveryField(t *testing.T) {
	dir := folder(t, `
name: all
description: every field
events: [pre_tool_use, "agent:*"]
command: ./run.sh
args: ["-n", "a b", ""]
type: command
timeout: 1500ms
term_before: 0.5
blocking: false
on_error: block
strict_output: true
matcher: shell|edit_.*
filter:
  tools: [shell]
  exclude_tools: [edit_file]
  workspaces: ["/w/*", "~/p/"]
  agents: ["cod*"]
lane: preempt
env:
  A: "x ${env.HAVE} $HAVE ${HAVE}"
  PORT: 0x1F
working_dir: sub
enabled: false
concurrency: 3
order: parallel
`)
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	h, problems := Read(dir, Options{
		Home: "/home/me",
		Env:  func(name string) (string, bool) { return "<" + name + ">", true },
	})
	if h == nil || len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	if got, want := patterns(h.Patterns), []string{"pre_tool_use", "agent:*"}; !reflect.DeepEqual(got, want) {
		t.Errorf("events = %q, want %q", got, want)
	}
	if got, want := patterns(h.Filter.Workspaces), []string{"/w/*", "/home/me/p"}; !reflect.DeepEqual(got, want) {
		t.Errorf("workspaces = %q, want %q", got, want)
	}
	if got, want := patterns(h.Filter.Agents), []string{"cod*"}; !reflect.DeepEqual(got, want) {
		t.Errorf("agents = %q, want %q", got, want)
	}
	if w := h.Filter.Workspaces[0]; !w.Match("/w/a") || w.Match("/w/a/b") {
		t.Error("* in a workspace does not stop at /")
	}
	if got, want := h.Matcher.String(), "^(?:shell|edit_.*)$"; got != want {
		t.Errorf("matcher = %q, want %q", got, want)
	}
	if h.Blocking == nil || *h.Blocking {
		t.Errorf("blocking = %v, want false", h.Blocking)
	}
	text, err := os.ReadFile(h.File)
	if err != nil {
		t.Fatal(err)
	}
	no := false
	want := hook.Hook{
		ID: "all", Name: "all", Description: "every field",
		Source: hook.Source{Type: SourceType, Path: dir}, File: filepath.Join(dir, FileName), Line: 2, Column: 7, Dir: dir,
		Type: hook.Command, Path: filepath.Join(dir, "run.sh"), Args: []string{"-n", "a b", ""}, Command: "./run.sh",
		Patterns: h.Patterns, Matcher: h.Matcher, MatcherText: "shell|edit_.*",
		Filter: hook.Filter{Tools: []string{"shell"}, ExcludeTools: []string{"edit_file"}, Workspaces: h.Filter.Workspaces, Agents: h.Filter.Agents},
		Lane:   events.LanePreempt, Blocking: &no, OnError: hook.OnErrorDeny, StrictOutput: true,
		Timeout: 1500 * time.Millisecond, TermBefore: 500 * time.Millisecond,
		Env: []string{"A=x ${env.HAVE} $HAVE ${HAVE}", "PORT=0x1F"}, WorkingDir: filepath.Join(dir, "sub"),
		Concurrency: 3, Order: hook.OrderParallel, Sum: h.Sum, Text: text,
	}
	if len(h.Sum) != 64 {
		t.Errorf("sum %q has %d digits, want 64", h.Sum, len(h.Sum))
	}
	if !reflect.DeepEqual(*h, want) {
		t.Errorf("got  %+v\nwant %+v", *h, want)
	}
}

func patterns(list []pattern.Pattern) []string {
	var out []string
	for _, p := range list {
		out = append(out, p.Text)
	}
	return out
}

// Fields that are absent, or present without a value, have their defaults.
func TestReadDefaults(t *testing.T) {
	for _, more := range []string{"", "timeout:\nfilter:\nargs: ~\nmatcher: null\n"} {
		h, problems := Read(folder(t, "name: a\nevents: '*'\ncommand: ./run.sh x\n"+more), Options{})
		if h == nil || len(problems) > 0 {
			t.Fatalf("problems: %v", problems)
		}
		if h.Timeout != hook.DefaultTimeout || h.Type != hook.Command || h.OnError != hook.OnErrorWarn || h.Order != hook.OrderSession ||
			h.Lane != events.LaneDefault || !h.Enabled || h.Blocking != nil || h.Matcher != nil || h.WorkingDir != "" || h.TermBefore != 0 {
			t.Errorf("defaults: %+v", h)
		}
		if !reflect.DeepEqual(h.Args, []string{"x"}) {
			t.Errorf("args = %q, want [x]", h.Args)
		}
	}
}

func TestReadScript(t *testing.T) {
	dir := folder(t, "name: s\nevents: a\ntype: script\nscript: |\n  echo one\n  echo two\n")
	h, problems := Read(dir, Options{Timeouts: map[hook.Type]time.Duration{hook.Script: time.Minute}})
	if h == nil || len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	if h.ScriptText != "echo one\necho two\n" || h.Shell != "/bin/sh" || h.Timeout != time.Minute || h.Path != "" {
		t.Errorf("got %+v", h)
	}
}

const good = "name: a\nevents: agent:end\ncommand: ./run.sh\n"

// Everything that can be wrong, and where it is said to be.
func TestReadProblems(t *testing.T) {
	for _, c := range []struct {
		name, yaml string
		rejected   bool
		want       []string
	}{
		{"empty", "", true, []string{"the file is empty (it needs name, events and command)"}},
		{"comments", "# a\n", true, []string{"the file is empty (it needs name, events and command)"}},
		{"null", "~\n", true, []string{"1:1: the file is empty (it needs name, events and command)"}},
		{"list", "- a\n", true, []string{"1:1: must be a mapping, is a list (write `name: …`, `events: …`, `command: …`)"}},
		{"tab", "name: a\nevents:\n\t- b\n", true, []string{"3:1: a tab in the indentation (indent with blanks)"}},
		{"tab_after_blank", "name: a\nevents:\n  - a\n \t- b\n", true, []string{"4:2: a tab in the indentation (indent with blanks)"}},
		{"syntax", "name: a\nevents: [a\ncommand: b\n", true, []string{"2:1: did not find expected ',' or ']'"}},
		{"syntax_first_line", "name: 'a\n", true, []string{"2:1: found unexpected end of stream"}},
		{"two_documents", good + "---\nname: b\n", true, []string{"4:1: a second YAML document (one folder is one hook: move it to a folder of its own)"}},
		{"second_document_broken", good + "---\n\tx: [\n", true, []string{"5:1: a tab in the indentation (indent with blanks)"}},
		{"missing_all", "description: x\n", true, []string{"1:1: missing required field `name`", "1:1: missing required field `events`", "1:1: missing required field `command`"}},
		{"missing_name_value", "name:\nevents: a\ncommand: ./run.sh\n", true, []string{"1:1: missing required field `name`"}},
		{"missing_script", "name: a\nevents: a\ntype: script\n", true, []string{"1:1: missing required field `script`"}},
		{"script_blank", "name: a\nevents: a\ntype: script\nscript: ''\n", true, []string{"4:9: script must be text for a shell"}},
		{"script_without_type", "name: a\nevents: a\nscript: echo\n", true, []string{"1:1: missing required field `command` (add `type: script`)", "warning 3:1: `script` is not used by type command"}},
		{"duplicate_key", good + "name: b\n", true, []string{"4:1: duplicate key `name`, first on line 1"}},
		{"unknown_key", good + "comand: b\n", false, []string{"warning 4:1: unknown key `comand`, did you mean `command`?"}},
		{"unknown_camel", good + "workingDir: b\n", false, []string{"warning 4:1: unknown key `workingDir`, did you mean `working_dir`?"}},
		{"unknown_far", good + "whatever: b\n", false, []string{"warning 4:1: unknown key `whatever`"}},
		{"unknown_dotted", good + "filter.tools: [b]\n", false, []string{"warning 4:1: unknown key `filter.tools`"}},
		{"later_key", good + "quorum: {max: 3}\n", false, []string{"warning 4:1: unknown key `quorum`"}},
		{"nested_key", good + "filter: {tool: [b]}\n", false, []string{"warning 4:10: unknown key `tool`, did you mean `tools`?"}},
		{"merge_key", "name: a\n<<: {events: b}\nevents: a\ncommand: ./run.sh\n", true, []string{"2:1: merge keys are not read (write the fields out)"}},
		{"key_is_list", good + "? [a]\n: b\n", true, []string{"4:3: a key must be a word, is a list"}},
		{"name_number", "name: 5\nevents: a\ncommand: ./run.sh\n", true, []string{"1:7: name must be a string, is a number (write \"5\")"}},
		{"name_blank", "name: ' '\nevents: a\ncommand: ./run.sh\n", true, []string{"1:7: name must not be blank"}},
		{"name_control", "name: \"a\\nb\"\nevents: a\ncommand: ./run.sh\n", true, []string{"1:7: name must not have control characters"}},
		{"events_mapping", "name: a\nevents:\n  - agent: end\ncommand: ./run.sh\n", true, []string{"3:5: events must be a string, is a mapping (write agent:end, without a blank)"}},
		{"events_number", "name: a\nevents: 5\ncommand: ./run.sh\n", true, []string{"2:9: events must be a list of strings, is a number"}},
		{"events_empty", "name: a\nevents: []\ncommand: ./run.sh\n", true, []string{"2:9: events is empty (write at least one event, or \"*\" for all)"}},
		{"events_blank", "name: a\nevents: ['']\ncommand: ./run.sh\n", true, []string{"2:10: bad glob \"\": empty pattern"}},
		{"events_misspelt", "name: a\nevents: agent:edn\ncommand: ./run.sh\n", false, []string{"warning 2:9: unknown event `agent:edn`, did you mean `agent:end`?"}},
		{"events_custom", "name: a\nevents: [deploy:done, 'agent:*', 'agent:e?d']\ncommand: ./run.sh\n", false, []string{}},
		{"command_list", "name: a\nevents: a\ncommand: [./run.sh]\n", true, []string{"3:10: command must be a string, is a list"}},
		{"command_blank", "name: a\nevents: a\ncommand: ' '\n", true, []string{"3:10: command must name an executable"}},
		{"args_string", good + "args: x\n", true, []string{"4:7: args must be a list of strings, is a string"}},
		{"args_number", good + "args: [1]\n", true, []string{"4:8: args must be a string, is a number (write \"1\")"}},
		{"type", good + "type: comand\n", true, []string{"4:7: type unknown value `comand`, did you mean `command`?; it is one of command, script, builtin, model, rules"}},
		{"type_later", good + "type: agent\n", true, []string{"4:7: type unknown value `agent`; it is one of command, script, builtin, model, rules"}},
		{"timeout_short", good + "timeout: 49ms\n", true, []string{"4:10: timeout 49ms is out of range, 50ms to 10m0s"}},
		{"timeout_least", good + "timeout: 50ms\n", false, []string{}},
		{"timeout_most", good + "timeout: 600\n", false, []string{}},
		{"timeout_long", good + "timeout: 10m1s\n", true, []string{"4:10: timeout 10m1s is out of range, 50ms to 10m0s"}},
		{"timeout_huge", good + "timeout: 1e300\n", true, []string{"4:10: timeout 1e300 is out of range (write 500ms, 5s, 2m, or a number of seconds)"}},
		{"timeout_nan", good + "timeout: .nan\n", true, []string{"4:10: timeout .nan is out of range (write 500ms, 5s, 2m, or a number of seconds)"}},
		{"timeout_zero", good + "timeout: 0\n", true, []string{"4:10: timeout 0s is out of range, 50ms to 10m0s"}},
		{"timeout_word", good + "timeout: soon\n", true, []string{"4:10: timeout is not a duration: \"soon\" (write 500ms, 5s, 2m, or a number of seconds)"}},
		{"timeout_list", good + "timeout: [5]\n", true, []string{"4:10: timeout must be a duration, is a list (write 500ms, 5s, 2m, or a number of seconds)"}},
		{"term_before", good + "timeout: 2s\nterm_before: 2s\n", true, []string{"5:14: term_before 2s must be shorter than the timeout 2s"}},
		{"term_before_default", good + "term_before: 5\n", true, []string{"4:14: term_before 5s must be shorter than the timeout 5s"}},
		{"bool_word", good + "enabled: yes\n", true, []string{"4:10: enabled must be true or false, is a string"}},
		{"on_error", good + "on_error: halt\n", true, []string{"4:11: on_error unknown value `halt`; it is one of warn, ignore, deny"}},
		{"matcher", good + "matcher: 'a)|(b'\n", true, []string{"4:10: bad matcher \"a)|(b\": error parsing regexp: unexpected ): `a)|(b` (RE2 syntax, like \"shell|edit_.*\")"}},
		{"filter_list", good + "filter: [a]\n", true, []string{"4:9: filter must be a mapping, is a list"}},
		{"filter_glob", good + "filter: {agents: ['[']}\n", true, []string{"4:19: bad glob \"[\": glob: syntax error at 1: unexpected end of input"}},
		{"workspace_relative", good + "filter: {workspaces: [proj]}\n", false, []string{"warning 4:23: workspace \"proj\" never matches: directories are absolute (begin with /, ~/ or **/)"}},
		{"env_list", good + "env: [A]\n", true, []string{"4:6: env must be a mapping, is a list"}},
		{"env_name", good + "env: {A=B: c}\n", true, []string{"4:7: env: \"A=B\" cannot be the name of a variable"}},
		{"env_null", good + "env: {A: }\n", true, []string{"4:10: env A must be a string, is nothing (write \"\" for an empty value)"}},
		{"env_duplicate", good + "env: {A: b, A: c}\n", true, []string{"4:13: duplicate key `A` in env"}},
		{"env_unset", good + "env: {A: '${env.NOT_SET}'}\n", false, []string{"warning 4:10: ${env.NOT_SET} is not set in the daemon's environment and expands to nothing"}},
		{"working_dir", good + "working_dir: gone\n", false, []string{"warning 4:14: working_dir DIR/gone: no such file or directory"}},
		{"concurrency", good + "concurrency: -1\n", true, []string{"4:14: concurrency must not be negative (0 is no limit)"}},
		{"concurrency_float", good + "concurrency: 1.5\n", true, []string{"4:14: concurrency must be a whole number, is a number"}},
		{"mode", good + "mode: persistant\n", true, []string{"4:7: mode unknown value `persistant`, did you mean `persistent`?; it is one of spawn, persistent"}},
		{"mode_builtin", "name: a\nevents: [x]\ntype: builtin\ncommand: b\nmode: persistent\n", false, []string{"warning 5:1: `mode` is not used by type builtin"}},
		{"mode_term", good + "mode: persistent\nterm_before: 1s\n", false, []string{"warning 5:1: `term_before` is not used by mode persistent: one answer too late, and it is killed"}},
		{"order_of_file", "timeot: 1\nname: a\nevents: ['[']\ncommand: ./run.sh\nlane: x\n", true, []string{
			"warning 1:1: unknown key `timeot`, did you mean `timeout`?",
			"3:10: bad glob \"[\": glob: syntax error at 1: unexpected end of input",
			"5:7: lane unknown value `x`; it is one of default, preempt"}},
		{"alias", "name: &n a\nevents: *n\ncommand: ./run.sh\ndescription: *n\n", false, []string{}},
		{"carriage_returns", strings.ReplaceAll(good, "\n", "\r\n"), false, []string{}},
		{"byte_order_mark", "\ufeff" + good, false, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t, c.yaml)
			h, problems := Read(dir, Options{
				KnownEvents: []string{"agent:start", "agent:end"},
				Env:         func(string) (string, bool) { return "", false },
			})
			if got := said(dir, problems); !reflect.DeepEqual(got, c.want) {
				t.Errorf("problems:\n got %q\nwant %q", got, c.want)
			}
			if (h == nil) != c.rejected {
				t.Errorf("rejected = %v, want %v", h == nil, c.rejected)
			}
		})
	}
}

func TestReadStrict(t *testing.T) {
	dir := folder(t, good+"comand: b\n")
	h, problems := Read(dir, Options{Strict: true})
	want := []string{"4:1: unknown key `comand`, did you mean `command`?"}
	if got := said(dir, problems); h != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v %q, want rejected %q", h, got, want)
	}
}

// A path that is not a readable file of bounded size is refused without blocking.
func TestReadNoFile(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(dir string) error
		want string
	}{
		{"absent", func(dir string) error { return nil }, "no HOOK.yaml in DIR (each hook folder needs one HOOK.yaml; to remove the hook, remove its folder)"},
		{"other_name", func(dir string) error { return os.WriteFile(filepath.Join(dir, "hook.yml"), nil, 0o600) }, "no HOOK.yaml in DIR (rename DIR/hook.yml)"},
		{"folder", func(dir string) error { return os.Mkdir(filepath.Join(dir, FileName), 0o700) }, "not a regular file"},
		{"device", func(dir string) error { return os.Symlink("/dev/zero", filepath.Join(dir, FileName)) }, "not a regular file"},
		{"large", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, FileName), []byte(good+strings.Repeat("#", MaxFileSize)), 0o600)
		}, "larger than 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := c.make(dir); err != nil {
				t.Fatal(err)
			}
			h, problems := Read(dir, Options{})
			if h != nil || len(problems) != 1 {
				t.Fatalf("got %v %v, want one problem", h, problems)
			}
			if got := said(dir, problems)[0]; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// A nest of aliases costs nothing: they are followed only where a value is read.
func TestReadAliasBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString(good + "a0: &a0 [x]\n")
	last := "a0"
	for _, n := range []string{"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9"} {
		b.WriteString(n + ": &" + n + " [" + strings.Repeat("*"+last+", ", 9) + "*" + last + "]\n")
		last = n
	}
	b.WriteString("args: *a9\n")
	h, problems := Read(folder(t, b.String()), Options{})
	if h != nil || len(problems) == 0 {
		t.Errorf("got %v with %d problems, want it rejected", h, len(problems))
	}
}

// Each key of the schema is documented, and each is read.
func TestFields(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Fields() {
		if seen[f.Key] || f.Doc == "" || f.Type == "" {
			t.Errorf("field %+v is listed twice or not described", f)
		}
		seen[f.Key] = true
	}
	for _, key := range []string{"name", "events", "command", "filter.workspaces", "order"} {
		if !seen[key] {
			t.Errorf("no field %s", key)
		}
	}
}

func TestReadMode(t *testing.T) {
	for _, c := range []struct {
		yaml string
		want bool
	}{
		{"command: ./run.sh\n", false},
		{"command: ./run.sh\nmode: spawn\n", false},
		{"command: ./run.sh\nmode: persistent\n", true},
		{"type: script\nscript: cat\nmode: persistent\n", true},
		{"type: builtin\ncommand: b\nmode: persistent\n", false}, // it has no process
	} {
		h, problems := Read(folder(t, "name: a\nevents: [x]\n"+c.yaml), Options{})
		if h == nil || h.Persistent != c.want {
			t.Errorf("%s: got %+v, %v, want persistent %v", c.yaml, h, problems, c.want)
		}
	}
}

// The checked hook is the hook read next: once, and only with the options of its check.
func TestReadingsAreTakenOnce(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, FileName)
	hooktest.Must(t, os.WriteFile(file, []byte("name: first\nevents: x\ntype: script\nscript: \"true\"\n"), 0o600))
	known := new(Readings)
	opt := Options{Prefix: "policy:", Layer: hook.LayerPolicy, Readings: known}
	h, problems := Read(dir, opt)
	if h == nil {
		t.Fatal(problems)
	}
	known.Keep(opt, []Reading{{Dir: dir, Hook: h, Problems: problems}})
	hooktest.Must(t, os.WriteFile(file, []byte("name: second\nevents: x\ntype: script\nscript: \"true\"\n"), 0o600))
	shadow := opt
	shadow.Prefix = "policy-shadow:"
	for i, c := range []struct {
		opt  Options
		want string
	}{{shadow, "policy-shadow:second"}, {opt, "policy:first"}, {opt, "policy:second"}} {
		if got, _ := Read(dir, c.opt); got == nil || got.Name != c.want {
			t.Errorf("%d: got %+v, want %s", i, got, c.want)
		}
	}
}
