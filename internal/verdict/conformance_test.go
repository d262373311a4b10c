package verdict_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/source/dockeragent"
	"github.com/hookd/hookd/internal/verdict"
)

// The conformance cases of docker-agent that need command hooks only, with
// real processes but without the daemon: what is proven here is that answers
// are read and folded as that system does.

type conformanceCase struct {
	Name, Kind, Event, Lane, Setup string
	Input                          map[string]any
	Hooks                          []map[string]any
	Env                            map[string]string
	Expect                         map[string]any
}

// notHere names the cases that test another room.
var notHere = map[string]string{
	"zero-valued-fields-are-absent": "the payload's shape is the dialect's business",
}

func TestConformance(t *testing.T) {
	text, err := os.ReadFile("../../testdata/conformance/docker-agent.json")
	if err != nil {
		t.Fatal(err)
	}
	var suite struct{ Cases []conformanceCase }
	if err := json.Unmarshal(text, &suite); err != nil {
		t.Fatal(err)
	}
	for _, c := range suite.Cases {
		if c.Kind == "config" {
			continue // package source/dockeragent runs those
		}
		t.Run(c.Name, func(t *testing.T) {
			if why := notHere[c.Name]; why != "" {
				t.Skip(why)
			}
			for _, h := range c.Hooks {
				if h["type"] != "command" {
					t.Skipf("needs a %s hook", h["type"])
				}
			}
			t.Parallel()
			c.run(t)
		})
	}
}

func (c conformanceCase) run(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if c.Setup != "" {
		if out, err := runIn(dir, exec.Command("/bin/sh", "-c", c.Setup)).CombinedOutput(); err != nil {
			t.Fatalf("setup: %v: %s", err, out)
		}
	}
	input := expand(c.Input, dir).(map[string]any)
	input["hook_event_name"] = c.Event
	data, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	c.check(t, c.dispatch(c.load(t, dir), dir, data))
}

// dispatch runs hooks one after another and folds their answers.
func (c conformanceCase) dispatch(hooks []*hook.Hook, dir string, data json.RawMessage) *verdict.Verdict {
	contract := *events.LookupIn(events.DockerAgent, c.Event)
	contract.Decidable = true // every dispatch of that system has a result
	if c.Lane == events.LanePreempt {
		contract = contract.Preempt()
	}
	tool, _ := c.Input["tool_name"].(string)
	var answers []verdict.Answer
	seen := map[string]bool{}
	now := data
	for _, h := range hooks {
		lane := h.Lane == events.LanePreempt
		if _, ok := h.Admits(hook.Subject{Tool: tool}); !ok || seen[h.Definition] || lane != (c.Lane == events.LanePreempt) {
			continue
		}
		seen[h.Definition] = true
		policy := verdict.Policy{Name: h.Name, Blocking: h.Blocks(&contract, h.Patterns[0]), OnError: string(h.OnError), StrictOutput: h.StrictOutput}
		a := verdict.Read(&contract, policy, c.execute(h, dir, now))
		answers = append(answers, a)
		if contract.Sequence {
			now = a.Rewrite(&contract, now)
		}
	}
	return verdict.Fold(&contract, data, answers)
}

// load reads the case's hooks as agents.root.hooks of a docker-agent file.
func (c conformanceCase) load(t *testing.T, dir string) []*hook.Hook {
	list := []any{}
	for _, h := range c.Hooks {
		if !events.LookupIn(events.DockerAgent, c.Event).ToolMatched || c.Event == "on_tool_approval_decision" {
			list = append(list, h)
			continue
		}
		group, fields := map[string]any{}, maps.Clone(h)
		for _, key := range []string{"matcher", "preempt_yolo"} {
			if v, ok := h[key]; ok {
				group[key] = v
				delete(fields, key)
			}
		}
		group["hooks"] = []any{fields}
		list = append(list, group)
	}
	text, err := json.Marshal(map[string]any{"agents": map[string]any{"root": map[string]any{"hooks": map[string]any{c.Event: list}}}})
	if err != nil {
		t.Fatal(err)
	}
	hooks, problems := dockeragent.Parse(filepath.Join(dir, "agent.yaml"), text, dockeragent.Options{Shell: "/bin/sh"})
	if len(problems) > 0 {
		t.Fatalf("load the hooks: %v", problems)
	}
	return hooks
}

func runIn(dir string, cmd *exec.Cmd) *exec.Cmd {
	cmd.Dir = dir
	return cmd
}

func (c conformanceCase) execute(h *hook.Hook, dir string, data []byte) verdict.Output {
	lookup := func(name string) string {
		if v, ok := c.Env[name]; ok {
			return v
		}
		return os.Getenv(name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), h.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, h.Shell, "-c", h.ScriptText)
	cmd.Dir = h.RunDir(dir, lookup)
	cmd.Env = append(cmd.Environ(), h.Environ(lookup)...)
	cmd.Stdin = bytes.NewReader(append(slices.Clone(data), '\n'))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	out := verdict.Output{ExitCode: -1, Stdout: stdout.Bytes(), Stderr: stderr.Bytes()}
	switch {
	case ctx.Err() != nil:
		out.Failure = "timed out after " + h.Timeout.String()
	case cmd.ProcessState == nil:
		out.Failure = err.Error()
	case stdout.Len() > 1<<20:
		out.Failure = "wrote more than 1048576 bytes to stdout"
	default:
		out.ExitCode = cmd.ProcessState.ExitCode()
	}
	return out
}

// expand replaces the suite's placeholders.
func expand(v any, dir string) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "${WORKDIR}", dir)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = expand(e, dir)
		}
		return out
	case map[string]any:
		if r, ok := v["$repeat"].([]any); ok {
			return strings.Repeat(r[0].(string), int(r[1].(float64)))
		}
		if parts, ok := v["$concat"].([]any); ok {
			var b strings.Builder
			for _, p := range parts {
				b.WriteString(expand(p, dir).(string))
			}
			return b.String()
		}
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = expand(e, dir)
		}
		return out
	}
	return v
}

// check compares the verdict with every expectation of the case.
func (c conformanceCase) check(t *testing.T, v *verdict.Verdict) {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range c.Expect {
		if key == "max_duration_ms" {
			continue // nothing here is measured
		}
		if field, ok := strings.CutSuffix(key, "_contains"); ok {
			said, _ := got[field].(string)
			for _, w := range want.([]any) {
				if !strings.Contains(said, w.(string)) {
					t.Errorf("%s = %q, want it to contain %q", field, said, w)
				}
			}
			continue
		}
		if !reflect.DeepEqual(orZero(got[key], want), want) {
			t.Errorf("%s = %#v, want %#v (verdict %s)", key, got[key], want, text)
		}
	}
}

// orZero is the value of a field that is absent from the wire.
func orZero(got, want any) any {
	if got != nil || want == nil {
		return got
	}
	return reflect.Zero(reflect.TypeOf(want)).Interface()
}
