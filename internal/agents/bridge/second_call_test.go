package bridge

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// seen is a daemon that keeps the names of the events it got.
type seen struct {
	mu     sync.Mutex
	events []string
	v      verdict.Verdict
}

func (s *seen) serve(t *testing.T) (socket string) {
	return serve(t, func(_ context.Context, env events.Envelope) (wire.Answer, *wire.Error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.events = append(s.events, env.Event)
		if !env.Wait {
			return wire.Answer{}, nil
		}
		v := s.v
		return wire.Answer{Verdict: &v}, nil
	})
}

func (s *seen) take() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names, s.events = s.events, nil
	return names
}

// both are the two calls for one event, as the real Copilot made them with hooks
// in its own settings and in Claude Code's.
func both(t *testing.T, own, claudes string) (ownPayload, claudesPayload string) {
	t.Helper()
	texts := [2]string{}
	for i, name := range []string{"own-" + own, "claude-code-" + claudes} {
		text, err := os.ReadFile(filepath.Join("testdata/twice", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	return texts[0], texts[1]
}

var copilotsEvents = [][2]string{
	{"sessionStart", "SessionStart"}, {"userPromptSubmitted", "UserPromptSubmit"}, {"preToolUse", "PreToolUse"},
	{"permissionRequest", "PermissionRequest"}, {"postToolUse", "PostToolUse"}, {"agentStop", "Stop"}, {"sessionEnd", "SessionEnd"},
}

func TestCopilotBesideClaudeCodeSendsEachEventOnce(t *testing.T) {
	hookd := &seen{v: verdict.Verdict{Allowed: true, Continue: true}}
	socket, state := hookd.serve(t), t.TempDir()
	for _, e := range copilotsEvents {
		ownPayload, claudes := both(t, e[0], e[1])
		own, other := Options{Agent: "copilot", Args: []string{e[0]}, Socket: socket, State: state}, Options{Agent: "claude-code", Socket: socket, State: state}
		called(t, own, ownPayload)
		if got := hookd.take(); !slices.Contains(got, e[0]) {
			t.Errorf("%s: Copilot's own call sent %q", e[0], got)
		}
		quiet := called(t, other, claudes)
		if got := hookd.take(); len(got) > 0 || quiet.exit != 0 || quiet.stderr != "" {
			t.Errorf("%s: the second call sent %q and said %+v", e[0], got, quiet)
		}
		called(t, other, claudes) // now it comes first
		hookd.take()
		quiet = called(t, own, ownPayload)
		if got := hookd.take(); len(got) > 0 || quiet.exit != 0 || quiet.stderr != "" {
			t.Errorf("%s: Copilot's own call, as the second, sent %q and said %+v", e[0], got, quiet)
		}
		// Alone, it is sent: that one of the settings is connected no more, or not yet.
		called(t, other, claudes)
		if got := hookd.take(); len(got) == 0 {
			t.Errorf("%s: Claude Code's hook sent nothing without Copilot's own", e[1])
		}
	}
}

// An event that hookd has not answered by the first way is sent by the second.
func TestSecondCallGuardsWhatTheFirstDidNot(t *testing.T) {
	hookd := &seen{v: verdict.Verdict{Continue: true, Message: "no"}}
	socket := hookd.serve(t)
	own, claudes := both(t, "preToolUse", "PreToolUse")
	for name, tt := range map[string]struct {
		own, claudes   string
		first, second  Options
		brokenState    bool
		eventOfTheCall string
	}{
		"hookd did not run":      {first: Options{Socket: filepath.Join(t.TempDir(), "none")}},
		"another hookd":          {first: Options{Socket: (&seen{v: verdict.Verdict{Allowed: true, Continue: true}}).serve(t)}},
		"another answer to ask":  {first: Options{Ask: AskIsNone}},
		"another session":        {own: strings.Replace(own, `"sessionId":"`, `"sessionId":"x`, 1)},
		"another moment":         {own: strings.Replace(own, `"timestamp":1`, `"timestamp":2`, 1)},
		"another input":          {own: strings.Replace(own, "echo hi", "echo ho", 1)},
		"another event":          {eventOfTheCall: "postToolUse"},
		"no timestamp":           {claudes: strings.Replace(claudes, `"timestamp"`, `"time"`, 1)},
		"a strange timestamp":    {claudes: strings.Replace(claudes, `"timestamp":"`, `"timestamp":"x`, 1)},
		"a state that is a file": {brokenState: true},
	} {
		t.Run(name, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "state")
			if tt.brokenState {
				if err := os.WriteFile(state, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			first, second := tt.first, Options{Agent: "claude-code", Socket: socket, State: state}
			first.Agent, first.State, first.Args = "copilot", state, []string{"preToolUse"}
			if tt.eventOfTheCall != "" {
				first.Args = []string{tt.eventOfTheCall}
			}
			if first.Socket == "" {
				first.Socket = socket
			}
			if tt.own == "" {
				tt.own = own
			}
			if tt.claudes == "" {
				tt.claudes = claudes
			}
			called(t, first, tt.own)
			hookd.take()
			got := called(t, second, tt.claudes)
			if !strings.Contains(got.stdout, `"deny"`) || len(hookd.take()) != 1 {
				t.Errorf("the guard was walked past: %+v", got)
			}
		})
	}
}

// A real Claude Code's calls are never taken for a second one, whatever its
// environment and its hooks' marks say.
func TestClaudeCodesOwnEventsAreSent(t *testing.T) {
	hookd := &seen{v: verdict.Verdict{Continue: true, Message: "no"}}
	o := Options{Agent: "claude-code", Socket: hookd.serve(t), State: t.TempDir(), Getenv: func(string) string { return "1" }}
	for range 3 {
		called(t, o, captured(t, "claude-code/PreToolUse.json"))
	}
	if got := hookd.take(); len(got) != 3 {
		t.Errorf("sent %q", got)
	}
}

// A new input does not make the second call another event.
func TestSecondCallAfterARewrite(t *testing.T) {
	hookd := &seen{v: verdict.Verdict{Allowed: true, Continue: true, UpdatedInput: json.RawMessage(`{"description":"run it","command":"echo new"}`)}}
	socket, state := hookd.serve(t), t.TempDir()
	own, claudes := both(t, "preToolUse", "PreToolUse")
	called(t, Options{Agent: "copilot", Args: []string{"preToolUse"}, Socket: socket, State: state}, own)
	called(t, Options{Agent: "claude-code", Socket: socket, State: state}, strings.Replace(claudes, "echo hi", "echo new", 1))
	if got := hookd.take(); len(got) != 1 {
		t.Errorf("sent %q", got)
	}
}

// An event in Copilot's own form that Claude Code's settings lead here is
// answered in Copilot's words.
func TestCopilotsFormOutOfClaudeCodesSettings(t *testing.T) {
	hookd := &seen{v: verdict.Verdict{Continue: true, Message: "no"}}
	_, payload := both(t, "permissionRequest", "PermissionRequest")
	got := called(t, Options{Agent: "claude-code", Socket: hookd.serve(t)}, payload)
	if want := `{"behavior":"deny","message":"no"}` + "\n"; got != (said{want, "", 0}) {
		t.Errorf("got %+v, want %s", got, want)
	}
}

// Should Cursor give hooks in Claude Code's settings that one's names of events: its
// payloads have cursor_version, and a tool's call its tool_use_id.
func TestCursorBesideClaudeCode(t *testing.T) {
	hookd := &seen{v: verdict.Verdict{Allowed: true, Continue: true}}
	socket, state := hookd.serve(t), t.TempDir()
	payload := func(name, use string) string {
		return `{"conversation_id":"c","generation_id":"g","cursor_version":"2","hook_event_name":"` + name +
			`","tool_name":"Shell","tool_input":{"command":"ls"}` + use + `}`
	}
	for _, tt := range []struct {
		use  string
		want int
	}{{`,"tool_use_id":"1"`, 1}, {"", 2}} { // without one a turn's calls cannot be told apart
		called(t, Options{Agent: "cursor", Socket: socket, State: state}, payload("preToolUse", tt.use))
		called(t, Options{Agent: "claude-code", Socket: socket, State: state}, payload("PreToolUse", tt.use))
		if got := hookd.take(); len(got) != tt.want {
			t.Errorf("%q: sent %q", tt.use, got)
		}
	}
}
