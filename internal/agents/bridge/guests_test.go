package bridge

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// devins is the environment of a hook that Devin runs.
func devins(name string) string {
	return map[string]string{"DEVIN_PROJECT_DIR": "/home/u/project"}[name]
}

// visitors are agents that run the hooks of others' settings, each with the calls of the
// hooks in each settings.
var visitors = []struct {
	name    string
	payload string
	calls   []Options // by the agents' own order
}{
	{"devin", "devin/PreToolUse-measured.json", []Options{{Agent: "devin", Getenv: devins}, {Agent: "claude-code", Getenv: devins}}},
	{"devin, a result", "devin/PostToolUse-measured.json", []Options{{Agent: "devin", Getenv: devins}, {Agent: "claude-code", Getenv: devins}}},
	{"devin, a start", "devin/SessionStart-measured.json", []Options{{Agent: "devin", Getenv: devins}, {Agent: "claude-code", Getenv: devins}}},
	{"vscode", "vscode/PreToolUse-source.json", []Options{{Agent: "copilot", Args: []string{"preToolUse"}}, {Agent: "claude-code"}}},
	{"vscode in Claude Code's words", "vscode/PreToolUse.json", []Options{{Agent: "copilot", Args: []string{"preToolUse"}}, {Agent: "claude-code"}}},
	{"vscode, by a file of its own", "vscode/PreToolUse-source.json", []Options{{Agent: "vscode"}, {Agent: "claude-code"}}},
	{"grok", "grok/PreToolUse.json", []Options{{Agent: "grok"}, {Agent: "claude-code"}}},
	{"cursor", "cursor/preToolUse.json", []Options{{Agent: "cursor"}, {Agent: "claude-code"}}},
	{"cursor, a result", "cursor/postToolUse.json", []Options{{Agent: "cursor"}, {Agent: "claude-code"}}},
	{"cursor, a start", "cursor/sessionStart-measured.json", []Options{{Agent: "cursor"}, {Agent: "claude-code"}}},
}

// An event that an agent sends by two ways is sent once, whichever comes first, also
// when the same comes again, and the agent is denied in its own words by the first.
func TestEachEventOnceByTwoWays(t *testing.T) {
	for _, v := range visitors {
		for _, order := range [][2]int{{0, 1}, {1, 0}} {
			t.Run(v.name+" "+v.calls[order[0]].Agent+" first", func(t *testing.T) {
				hookd := &seen{v: verdict.Verdict{Continue: true, Message: "no"}}
				socket, state, payload := hookd.serve(t), t.TempDir(), captured(t, v.payload)
				for range 2 {
					for i, at := range order {
						o := v.calls[at]
						o.Socket, o.State = socket, state
						got := called(t, o, payload)
						if sent := len(hookd.take()); sent != 1-i {
							t.Errorf("the call of %s sent %d events and said %+v", o.Agent, sent, got)
						}
						if i == 1 && (got.exit != 0 || strings.Contains(got.stdout, "no")) {
							t.Errorf("the second call said %+v", got)
						}
						if strings.Contains(strings.ToLower(v.payload), "/pretooluse") && i == 0 && !strings.Contains(got.stdout, `"no"`) {
							t.Errorf("the first call said %+v", got)
						}
					}
				}
			})
		}
	}
}

// Calls at the same time are told apart, too: the later call waits for the other.
func TestEachEventOnceAtTheSameTime(t *testing.T) {
	for _, v := range visitors {
		t.Run(v.name, func(t *testing.T) {
			var calls sync.WaitGroup
			count, release := make(chan string, 4), make(chan struct{})
			socket := serve(t, func(_ context.Context, env events.Envelope) (wire.Answer, *wire.Error) {
				count <- env.Event
				<-release
				return wire.Answer{Verdict: &verdict.Verdict{Allowed: true, Continue: true}}, nil
			})
			state := t.TempDir()
			for _, o := range v.calls {
				o.Socket, o.State = socket, state
				calls.Go(func() { called(t, o, captured(t, v.payload)) })
			}
			<-count // one of them has sent it; the other one waits for its mark
			close(release)
			calls.Wait()
			if len(count) > 0 {
				t.Errorf("sent again: %s", <-count)
			}
		})
	}
}

// A guard on the canonical tool sees the calls that Devin, Cursor and Visual Studio Code give to
// hooks in others' settings, with their folder. The answer is in the agent's own words.
func TestGuestsAreReadAsWhatTheyAre(t *testing.T) {
	for _, tt := range []struct {
		o                   Options
		payload, cwd, wants string
		as                  events.Dialect
	}{
		{Options{Agent: "claude-code", Getenv: devins}, "devin/PreToolUse-measured.json", "/home/u/project",
			`{"decision":"block","reason":"no"}`, events.Devin},
		{Options{Agent: "claude-code"}, "vscode/PreToolUse-source.json", "", `"permissionDecision":"deny"`, events.VSCode},
		{Options{Agent: "copilot", Args: []string{"preToolUse"}}, "vscode/PreToolUse-source.json", "",
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"`, events.VSCode},
		{Options{Agent: "claude-code"}, "cursor/preToolUse.json", "/project", `"permission":"deny"`, events.Cursor},
	} {
		env := catch(t, tt.o, captured(t, tt.payload))
		if len(env) != 1 || env[0].Dialect != tt.as || env[0].Cwd != tt.cwd || env[0].SessionID == "" {
			t.Fatalf("%s: hookd got %+v", tt.o.Agent, env)
		}
		e := &events.Event{Envelope: env[0], Contract: events.For(env[0].Dialect, env[0].Event)}
		if names := dialect.ToolNames(e); !strings.Contains(strings.Join(names, " "), "Bash") {
			t.Errorf("the tool goes by %q", names)
		}
		d := &table{}
		d.set(verdict.Answer{ExitCode: 2, Stderr: "no", Blocked: true})
		o := tt.o
		o.Socket = serve(t, d.emit)
		if got := called(t, o, captured(t, tt.payload)).stdout; !strings.Contains(got, tt.wants) {
			t.Errorf("%s: the answer is %s", o.Agent, got)
		}
	}
}

// Agents that run no hooks of others' settings are never taken for ones that do: all
// their calls are sent, also those of a hook that was copied from Claude Code's settings.
func TestAgentsThatRunTheirOwnHooksAlone(t *testing.T) {
	for _, payload := range []string{"droid/PreToolUse.json", "qoder/PreToolUse.json", "qwen-code/PreToolUse.json", "codex/PreToolUse.json"} {
		agent, _, _ := strings.Cut(payload, "/")
		t.Run(agent, func(t *testing.T) {
			hookd := &seen{v: verdict.Verdict{Continue: true, Message: "no"}}
			socket, state := hookd.serve(t), t.TempDir()
			for _, by := range []string{agent, "claude-code", agent} {
				called(t, Options{Agent: by, Socket: socket, State: state}, captured(t, payload))
				if sent := hookd.take(); len(sent) != 1 {
					t.Errorf("the call of %s sent %q", by, sent)
				}
			}
		})
	}
}

// A payload that begins with a byte order mark is read, a part of such a mark is not, and
// nothing waits for more of a payload than there is.
func TestByteOrderMark(t *testing.T) {
	payload := captured(t, "cursor/preToolUse.json")
	for _, by := range []string{"cursor", "claude-code"} {
		if got := catch(t, Options{Agent: by}, "\ufeff"+payload); len(got) != 1 || got[0].Event != "preToolUse" || !json.Valid(got[0].Data) {
			t.Errorf("%s: hookd got %+v", by, got)
		}
	}
	if got := catch(t, Options{Agent: "cursor"}, "\xef\xbb"+payload); len(got) != 0 {
		t.Errorf("hookd got %+v", got)
	}
	short, in := io.Pipe()
	go io.WriteString(in, "{}") // and stays open
	if value, err := readOrLeave(t.Context(), &stdin{Reader: short}, maxReadTime); err != nil || string(value) != "{}" {
		t.Errorf("got %s, %v", value, err)
	}
}

// A call whose process is gone, or that got no answer, leaves the event to the other.
func TestMarkOfACallThatFailed(t *testing.T) {
	s := newState(filepath.Join(t.TempDir(), "state"))
	first, second := s.mark("key", "devin"), s.mark("key", "claude-code")
	if first.join(t.Context()) {
		t.Fatal("there was a mark")
	}
	joined := make(chan bool)
	go func() { joined <- second.join(t.Context()) }()
	first.withdraw()
	if <-joined {
		t.Error("a call without an answer counts")
	}

	gone := exec.Command("true")
	hooktest.Must(t, gone.Run())
	hooktest.Must(t, os.Remove(first.path))
	hooktest.Must(t, os.Symlink("devin "+strconv.Itoa(gone.ProcessState.Pid())+" "+begun, first.path))
	if second.join(t.Context()) {
		t.Error("a call whose process is gone counts")
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel() // its own time is up
	if first.replace(begun); second.join(ctx) {
		t.Error("a call that is under way for too long counts")
	}
	if first.answer(); !second.join(t.Context()) {
		t.Error("an answered call does not count")
	}
	if left, err := os.ReadDir(s.dir); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	first.answer()
	if s.prune(0); second.join(t.Context()) {
		t.Error("a mark that was pruned counts")
	}
}
