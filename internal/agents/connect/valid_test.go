package connect

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/source/dockeragent"
)

// The agent reads the entries that connect writes: each stands under an event
// of the agent, in the form of that event, with a deadline, and calls the bridge.
func TestWrittenSettingsAreTheAgents(t *testing.T) {
	for _, a := range agents() {
		if a.Manual != "" || a.files != nil {
			continue
		}
		t.Run(string(a.name), func(t *testing.T) {
			var before []byte
			if a.Given {
				before = givenFile(a)
			}
			o, path := options(t, string(a.name), before)
			o.AllEvents = true
			apply(t, Connect, o)
			text := readOrNil(t, path)
			tree, err := a.parse(path, text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			for _, l := range a.Beside {
				if !holds(tree, append(slices.Clone(l.Path), l.Key)) {
					t.Errorf("%s is missing beside the hooks", l.Key)
				}
			}
			var seen []string
			for _, at := range a.containers(tree) {
				switch hooks := neutral.Value(tree, at...).(type) {
				case map[string]any:
					for event, list := range hooks {
						if _, ok := list.([]any); !ok && a.name == events.Antigravity {
							continue // enabled stands among the events
						}
						seen = append(seen, event)
						for _, item := range list.([]any) {
							checkItem(t, a, event, item.(map[string]any))
						}
					}
				case []any:
					for _, item := range hooks {
						event, _ := item.(map[string]any)["event"].(string)
						seen = append(seen, event)
						checkItem(t, a, event, item.(map[string]any))
					}
				}
			}
			slices.Sort(seen)
			want := a.events(true)
			slices.Sort(want)
			if !slices.Equal(seen, want) {
				t.Errorf("got events %v, want %v", seen, want)
			}
		})
	}
}

func checkItem(t *testing.T, a *agent, event string, item map[string]any) {
	t.Helper()
	row := events.LookupIn(a.name, event)
	if row == nil {
		t.Errorf("%s is no event of %s", event, a.name)
		return
	}
	handlers, isGroup := item["hooks"].([]any)
	wantGroup := a.Shape == neutral.Grouped || a.Shape == neutral.ByTool && row.ToolMatched && event != "on_tool_approval_decision"
	if isGroup != wantGroup {
		t.Errorf("%s: in a group is %v, want %v", event, isGroup, wantGroup)
	}
	if !isGroup {
		handlers = []any{item}
	}
	for _, h := range handlers {
		handler := h.(map[string]any)
		line, _ := handler[a.Keys.Command].(string)
		c, ok := callOf(line, string(a.name))
		if !ok || c.program != bridge || a.Named && (len(c.args) != 1 || c.args[0] != event) {
			t.Errorf("%s: %q does not call the bridge for it", event, line)
		}
		if _, ok := handler[a.Keys.Timeout]; a.Unit > 0 && !ok {
			t.Errorf("%s has no deadline", event)
		}
	}
}

// docker-agent refuses a file with one mistake in it: hookd's own reader, which
// is as strict, takes the file that connect writes, whatever stood there.
func TestDockerAgentReadsWhatConnectWrites(t *testing.T) {
	for _, all := range []bool{false, true} {
		for name, before := range map[string]string{
			"none": "agents:\n  root:\n    model: m\n", "flow": "agents: {root: {model: m, hooks: {stop: [{type: command, command: a}]}}, b: {model: m}}\n",
			"approval": "agents:\n  root:\n    hooks:\n      on_tool_approval_decision:\n        - {type: command, command: a}\n      pre_tool_use:\n        - matcher: shell\n          hooks:\n            - {type: command, command: b}\n",
		} {
			o, path := options(t, "docker-agent", []byte(before))
			o.AllEvents = all
			apply(t, Connect, o)
			hooks, problems := dockeragent.Parse(path, readOrNil(t, path), dockeragent.Options{})
			for _, p := range problems {
				if !p.Warning || !strings.Contains(p.Message, "hookd's own bridge") {
					t.Errorf("%s: %s", name, p)
				}
			}
			if want := strings.Count(before, "type: command"); len(hooks) != want {
				t.Errorf("%s: got %d hooks beside the bridge, want %d", name, len(hooks), want)
			}
		}
	}
}

// Files of whole agents are named after their events, and can be run.
func TestWrittenScriptsAreTheAgents(t *testing.T) {
	o, dir := options(t, "cline", nil)
	apply(t, Connect, o)
	for _, event := range find("cline").events(true) {
		info, err := os.Stat(filepath.Join(dir, event))
		if err != nil || info.Mode()&0o100 == 0 || events.LookupIn(events.Cline, event) == nil {
			t.Errorf("%s: %v %v", event, info, err)
		}
	}
	if dialect.Agent(events.Cline).EventName([]byte(`{"hookName":"tool_call"}`)) != "PreToolUse" {
		t.Error("the command line's word for PreToolUse is not known")
	}
}
