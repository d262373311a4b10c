package dispatch

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
	"github.com/hookd/hookd/wire"
)

// A line of an agent: "before" or "after", the call's id or - for an agent that tells none, the command,
// and of an event after it the result.
func agentLine(word, id, command, result string) string {
	dialect, before, after, tool := "claude-code", "PreToolUse", "PostToolUse", "Bash"
	if id == "-" {
		dialect, before, after, tool = "gemini-cli", "BeforeTool", "AfterTool", "run_shell_command"
	}
	event, more := before, ""
	if word == "after" {
		event, more = after, fmt.Sprintf(`,"tool_response":{"llmContent":%q,"stdout":%[1]q}`, result)
	}
	if word == "failed" {
		event, more = "PostToolUseFailure", fmt.Sprintf(`,"error":%q`, result)
	}
	if id != "-" {
		more += fmt.Sprintf(`,"tool_use_id":%q`, id)
	}
	return fmt.Sprintf(`{"event":%q,"dialect":%q,"session_id":"s","wait":true,"data":{"session_id":"s","tool_name":%q,"tool_input":{"command":%q}%s}}`,
		event, dialect, tool, command, more)
}

// Each call was asked about, or not, or was not obeyed; an unknown call is none of these.
func TestHowACallWasGuarded(t *testing.T) {
	deny := map[string]behaviour{"guard": {stdout: `{"decision":"deny","reason":"main is protected"}`}}
	lines := map[string]behaviour{"guard": {stdout: `{"decision":"deny","reason":"main is\n\"safe\""}`}}
	rewrite := map[string]behaviour{"guard": {stdout: `{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"npm ci"}}}`}}
	for _, tt := range []struct {
		name    string
		guard   map[string]behaviour
		lines   []string
		want    string // what is recorded of calls beside the question, and then of their ends
		earlier bool   // the session is older than the process
	}{
		{"asked", nil, []string{agentLine("before", "1", "ls", ""), agentLine("after", "1", "ls", "a b")}, "; 1 asked", false},
		{"not asked", nil, []string{agentLine("after", "1", "ls", "a b")}, "not asked: ls;", false},
		{"no id, not asked", nil, []string{agentLine("after", "-", "ls", "a b")}, "not asked: ls;", false},
		{"older than hookd", nil, []string{agentLine("after", "1", "ls", "a b")}, ";", true},
		{"denied, and a failure says so", deny, []string{agentLine("before", "1", "ls", ""), agentLine("failed", "1", "ls", "PreToolUse hook error")}, ";", false},
		{"denied, and the result is the reason", deny, []string{agentLine("before", "-", "ls", ""), agentLine("after", "-", "ls", "Tool execution blocked: main is  protected")}, ";", false},
		{"denied in lines, and an object says so", lines, []string{agentLine("before", "1", "ls", ""),
			strings.ReplaceAll(agentLine("failed", "1", "ls", "MESSAGE"), `"MESSAGE"`, `{"code":"internal","message":"main is\n\"safe\""}`)}, ";", false},
		{"denied, and it ran", deny, []string{agentLine("before", "1", "ls", ""), agentLine("after", "1", "ls", "a b")}, "disobeyed: ls; 1 disobeyed", false},
		{"denied, and it ran and failed", deny, []string{agentLine("before", "1", "ls", ""), agentLine("failed", "1", "ls", "Exit code 2")}, "disobeyed: ls; 1 disobeyed", false},
		{"no id, denied, and it ran", deny, []string{agentLine("before", "-", "ls", ""), agentLine("after", "-", "ls", "a b")}, "disobeyed: ls; 1 disobeyed", false},
		{"no id, denied, and another call came", deny, []string{agentLine("before", "-", "ls", ""), agentLine("after", "-", "pwd", "/")}, "not asked: pwd;", false},
		{"rewritten, and it ran so", rewrite, []string{agentLine("before", "1", "npm install", ""), agentLine("after", "1", "npm ci", "ok")}, "; 1 asked", false},
		{"rewritten, within a line", rewrite, []string{agentLine("before", "1", "npm install", ""), agentLine("after", "1", "cd x &&  npm ci", "ok")}, "; 1 asked", false},
		{"rewritten, and the old one ran", rewrite, []string{agentLine("before", "1", "npm install", ""), agentLine("after", "1", "npm install", "ok")}, "disobeyed: npm install; 1 disobeyed npm install", false},
		{"asked, and another line ran", nil, []string{
			agentLine("before", "1", "ls", ""), agentLine("after", "1", "terraform destroy", "ok"),
		}, "disobeyed: terraform destroy; 1 disobeyed terraform destroy", false},
		{"asked, and the line ran within another", nil, []string{
			agentLine("before", "1", "npm  test", ""), agentLine("after", "1", "cd x && npm test", "ok")}, "; 1 asked", false},
		{"an id that is counted again without a question", nil, []string{
			agentLine("before", "1", "ls", ""), agentLine("after", "1", "ls", "a"), agentLine("after", "1", "pwd", "/")}, "; 1 asked", false},
		{"no id, rewritten", rewrite, []string{agentLine("before", "-", "npm install", ""), agentLine("after", "-", "npm ci", "ok")}, "; 1 asked", false},
		{"an id that is counted again", deny, []string{
			agentLine("before", "1", "ls", ""), strings.ReplaceAll(agentLine("before", "1", "x", ""), "Bash", "Agent"),
			strings.ReplaceAll(agentLine("after", "1", "x", "done"), "Bash", "Agent")}, "disobeyed: x; 2 disobeyed", false},
		{"an id of another tool", deny, []string{
			agentLine("before", "1", "ls", ""), strings.ReplaceAll(agentLine("after", "1", "x", "done"), "Bash", "Agent")}, ";", false},
		{"two results", nil, []string{agentLine("before", "1", "ls", ""), agentLine("after", "1", "ls", "a"), agentLine("after", "1", "ls", "a")}, "; 1 asked", false},
		{"two results of one that was denied", deny, []string{
			agentLine("before", "1", "ls", ""), agentLine("after", "1", "ls", "a"), agentLine("after", "1", "ls", "a"),
		}, "disobeyed: ls; 1 disobeyed", false},
		{"no id, side by side", nil, []string{
			agentLine("before", "-", "a", ""), agentLine("before", "-", "b", ""), agentLine("before", "-", "a", ""),
			agentLine("after", "-", "a", ""), agentLine("after", "-", "a", ""), agentLine("after", "-", "b", "")}, "; 1 asked 2 asked 3 asked", false},
		{"no id, written another way", nil, []string{agentLine("before", "-", "a ", ""), agentLine("after", "-", "a", "")}, "; 1 asked", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told []string
				b := newBench(t, Options{Unguarded: func(d *wire.Decision) { told = append(told, string(d.Guarded)) }},
					[]*hook.Hook{matchtest.Hook("guard", "PreToolUse")}, tt.guard)
				if tt.earlier {
					b.tape.began = time.Now().Add(-time.Minute)
				}
				for _, line := range tt.lines {
					b.emit(t, line)
				}
				b.Drain(t.Context())
				var got, bad []string
				for _, d := range b.tape.decided {
					switch {
					case d.Kind == events.KindToolBefore && d.Guarded != wire.GuardedAsked:
						t.Errorf("the question of %s is on record as %q", d.Subject, d.Guarded)
					case d.Kind == events.KindToolAfter:
						got, bad = append(got, string(d.Outcome)+string(d.Guarded)+": "+d.Subject), append(bad, string(d.Guarded))
					}
				}
				var ends []string
				for seq, end := range b.tape.ended {
					ends = append(ends, fmt.Sprint(seq, " ", end))
				}
				slices.Sort(ends)
				if all := strings.TrimSpace(strings.Join(got, ", ") + "; " + strings.Join(ends, " ")); all != tt.want {
					t.Errorf("recorded %q, want %q", all, tt.want)
				}
				if !slices.Equal(told, bad) {
					t.Errorf("told of %q, recorded %q", told, bad)
				}
			})
		})
	}
}

// The result of a call that the process before was asked about is joined with its decision.
func TestResultsAfterARestart(t *testing.T) {
	asked := wire.Decision{SessionID: "s", Dialect: events.ClaudeCode, Kind: events.KindToolBefore, Tool: "Bash",
		CallID: "1", EventID: "E", EventSeq: 7, Decision: wire.OutcomeAllow}
	denied, ended, old, other := asked, asked, asked, asked
	denied.Decision, denied.Reason = wire.OutcomeDeny, "main is protected"
	ended.Ran = &wire.Ran{}
	old.Time = time.Now().Add(-time.Hour)
	other.Tool = "Agent"
	open := asked
	open.Decision, open.Told = wire.OutcomeNone, &wire.Told{Unsure: Unanswered}
	for _, tt := range []struct {
		name, id, result, want string
		before                 wire.Decision
	}{
		{"asked", "1", "a b", "; map[7:asked]", asked},
		{"denied, and it ran", "1", "a b", "disobeyed of E; map[7:disobeyed]", denied},
		{"denied, and the result is the reason", "1", "main is protected", "; map[]", denied},
		{"hookd was killed before it had answered", "1", "a b", "; map[7:not asked]; told not asked", open},
		{"its result has come", "1", "a b", "; map[]", ended},
		{"another call", "2", "a b", "; map[]", asked},
		{"an id of another tool", "1", "a b", "; map[]", other},
		{"too old", "1", "a b", "; map[]", old},
	} {
		t.Run(tt.name, func(t *testing.T) {
			told := ""
			b := newBench(t, Options{Unguarded: func(d *wire.Decision) {
				if d.Guarded == wire.GuardedNotAsked {
					told += "; told " + string(d.Guarded)
				}
			}}, []*hook.Hook{matchtest.Hook("guard", "PreToolUse")}, nil)
			if tt.before.Time.IsZero() {
				tt.before.Time = time.Now()
			}
			b.tape.began, b.tape.before = time.Now().Add(-time.Minute), []wire.Decision{tt.before}
			b.emit(t, agentLine("after", tt.id, "ls", tt.result))
			b.Drain(t.Context())
			got := ""
			for _, d := range b.tape.decided {
				got += string(d.Guarded) + " of " + d.PartOf
			}
			if got += fmt.Sprintf("; %v", b.tape.ended) + told; got != tt.want {
				t.Errorf("recorded %q, want %q", got, tt.want)
			}
		})
	}
}

// Before hooks are waited for that take time it is noted that there is no verdict yet; rules answer at once.
func TestEventsThatWaitAreNoted(t *testing.T) {
	b := newBench(t, Options{}, []*hook.Hook{
		matchtest.Hook("guard", "pre_tool_use"),
		matchtest.With(matchtest.Hook("rules", "tool_guard"), func(h *hook.Hook) { h.Type = hook.Rules }),
		matchtest.With(matchtest.Hook("watch", "permission_request"), inShadow),
	}, nil)
	b.emit(t, shellCall)
	b.emit(t, `{"event":"tool_guard","wait":true}`)
	b.emit(t, `{"event":"permission_request","wait":true}`)
	b.Drain(t.Context())
	if len(b.tape.undecided) != 1 {
		t.Fatalf("noted %+v, want one", b.tape.undecided)
	}
	d := b.tape.undecided[0]
	if d.EventSeq == 0 || d.Decision != wire.OutcomeNone || d.Guarded != wire.GuardedAsked || d.Told.Unsure == "" || d.Subject != "ls" {
		t.Errorf("noted %+v", d)
	}
}

// An agent that was not told of another input may run the old one.
func TestAnotherInputThatNoAgentHeard(t *testing.T) {
	for _, tt := range []struct {
		told *wire.Told
		want bool
	}{
		{nil, true}, // a plugin has the verdict itself
		{&wire.Told{Unsure: "killed"}, true},
		{&wire.Told{Decision: wire.OutcomeAllow, Rewrote: true}, true},
		{&wire.Told{Decision: wire.OutcomeNone}, false},
	} {
		var c calls
		about := &call{}
		rec := &wire.Decision{Kind: events.KindToolBefore, Rewrote: []string{"input"}, Told: tt.told}
		c.decided(about, rec, []change{{"command", `"a"`, `"b"`}})
		if got := about.changed != nil; got != tt.want {
			t.Errorf("told %+v: %v, want %v", tt.told, got, tt.want)
		}
	}
}

// The memory of calls is bounded, and keeps the calls that may still run.
func TestCallsAreForgotten(t *testing.T) {
	b := newBench(t, Options{}, []*hook.Hook{matchtest.Hook("guard", "PreToolUse")}, nil)
	b.emit(t, agentLine("before", "long", "sleep", ""))
	for i := range 3 * mostCalls {
		id := fmt.Sprint(i)
		for _, word := range []string{"before", "after"} {
			e := &events.Event{Envelope: events.Envelope{SessionID: "s", Dialect: events.ClaudeCode,
				Data: []byte(`{"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"` + id + `"}`)}}
			e.Contract = events.For(events.ClaudeCode, map[string]string{"before": "PreToolUse", "after": "PostToolUse"}[word])
			b.tracker.decisions.calls.note(e)
		}
	}
	if n := len(b.tracker.decisions.calls.recent) + len(b.tracker.decisions.calls.older); n > 2*mostCalls+1 {
		t.Errorf("%d calls are remembered", n)
	}
	b.emit(t, agentLine("after", "long", "sleep", "done"))
	b.Drain(t.Context())
	for _, d := range b.tape.decided {
		if d.Guarded == wire.GuardedNotAsked {
			t.Error("a long call counts as one that hookd was not asked about")
		}
	}
}

// A call whose bridge failed is recorded once: from the payload that was kept, or from its result, whichever comes
// first. A call that was asked about after all is not recorded.
func TestCallsOfABrokenBridge(t *testing.T) {
	missed := func(b *bench, line string) {
		var env events.Envelope
		if err := json.Unmarshal([]byte(line), &env); err != nil {
			t.Fatal(err)
		}
		env.At = time.Now()
		b.Missed(env, "its bridge is broken")
	}
	for _, tt := range []struct{ name, order, want string }{
		{"kept, then its result", "m1 r1", "PreToolUse ls"},
		{"its result, then kept", "r1 m1", "PostToolUse ls"},
		{"two of one kind", "m1 m2 r1 r2", "PreToolUse ls, PreToolUse ls"},
		{"side by side", "m1 r2 r1 m2", "PreToolUse ls, PostToolUse ls"},
		{"asked after all", "a1 m1 r1", ""},
		{"asked before", "a1 r1 m2", "PreToolUse ls"},
		{"no id", "m- r-", "BeforeTool ls"},
		{"no id, one more", "m- r- r-", "BeforeTool ls, AfterTool ls"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told := 0
				b := newBench(t, Options{Unguarded: func(*wire.Decision) { told++ }}, []*hook.Hook{matchtest.Hook("guard", "PreToolUse")}, nil)
				for step := range strings.FieldsSeq(tt.order) {
					switch id := step[1:]; step[0] {
					case 'm':
						missed(b, agentLine("before", id, "ls", ""))
					case 'r':
						b.emit(t, agentLine("after", id, "ls", "a b"))
					case 'a':
						b.emit(t, agentLine("before", id, "ls", ""))
					}
					synctest.Wait()
				}
				b.Drain(t.Context())
				var got []string
				for _, d := range b.tape.decided {
					if d.Guarded == wire.GuardedNotAsked {
						got = append(got, d.Event+" "+d.Subject)
					}
				}
				if strings.Join(got, ", ") != tt.want || told != len(got) {
					t.Errorf("recorded %q, want %q; told of %d", got, tt.want, told)
				}
			})
		})
	}
}

// Calls of an agent that tells no id run side by side with inputs of hooks. Each result is of the call that was given
// its input, in whatever order the results come. An ignored input is found; where a result fits two calls, nothing is said.
func TestRewrittenCallsSideBySide(t *testing.T) {
	agentCall := func(word, command string) *events.Event {
		e := &events.Event{EventID: command, Envelope: events.Envelope{SessionID: "s", Dialect: events.GeminiCLI,
			Data: fmt.Appendf(nil, `{"tool_name":"run_shell_command","tool_input":{"command":%q}}`, command)}}
		e.Contract = events.For(events.GeminiCLI, map[string]string{"before": "BeforeTool", "after": "AfterTool"}[word])
		e.Tool = "Bash"
		return e
	}
	for _, tt := range []struct {
		name, asked, ran, want string
	}{
		{"as given, in order", "mkdir 1, mkdir 2, mkdir 3", "mkdir -p 1, mkdir -p 2, mkdir -p 3", "mkdir 1, mkdir 2, mkdir 3"},
		{"as given, backwards", "mkdir 1, mkdir 2, mkdir 3", "mkdir -p 3, mkdir -p 2, mkdir -p 1", "mkdir 3, mkdir 2, mkdir 1"},
		{"one text within the other", "mkdir 1, mkdir 12, mkdir 123", "mkdir -p 123, mkdir -p 1, mkdir -p 12", "mkdir 123, mkdir 1, mkdir 12"},
		{"beside others", "ls, mkdir 1, pwd, mkdir 2", "pwd, mkdir -p 2, ls, mkdir -p 1", "pwd, mkdir 2, ls, mkdir 1"},
		{"one ignored", "mkdir 1, mkdir 2", "mkdir -p 2, mkdir 1", "mkdir 2, mkdir 1 disobeyed"},
		{"all ignored, backwards", "mkdir 1, mkdir 2", "mkdir 2, mkdir 1", "mkdir 2 disobeyed, mkdir 1 disobeyed"},
		{"alone, and another ran", "mkdir 1", "mkdir -m 0 9", "mkdir 1 disobeyed"},
		{"written in another way", "mkdir 1, mkdir 2", "cd x && mkdir -p 2, cd x && mkdir -p 1", "mkdir 2, mkdir 1"},
		{"fits none", "mkdir 1, mkdir 2", "mkdir -p /2, mkdir -p /1", "mkdir 1, mkdir 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c calls
			for command := range strings.SplitSeq(tt.asked, ", ") {
				e := agentCall("before", command)
				_, about := c.note(e)
				rec := &wire.Decision{Kind: events.KindToolBefore, Decision: wire.OutcomeAllow}
				var changed []change
				if name, found := strings.CutPrefix(command, "mkdir "); found {
					rec.Rewrote = []string{"input"}
					changed = changes(e, fmt.Appendf(nil, `{"command":%q}`, "mkdir -p "+name))
				}
				c.decided(about, rec, changed)
			}
			var got []string
			for command := range strings.SplitSeq(tt.ran, ", ") {
				e := agentCall("after", command)
				id, about := c.note(e)
				of := c.of(about)
				if !of.guessed && other(e, of.changed) {
					id += " disobeyed"
				}
				got = append(got, id)
			}
			if all := strings.Join(got, ", "); all != tt.want {
				t.Errorf("got %s\nwant %s", all, tt.want)
			}
		})
	}
}

// A call costs the same beside thousands of calls whose results never come.
func TestCallsWithoutResultsCostNoMore(t *testing.T) {
	calls, of := calls{recent: map[callOf][]*call{}}, callOf{session: "s", tool: "Bash"}
	one := &call{}
	for range mostCalls / 2 {
		calls.add(of, one)
	}
	if n := testing.AllocsPerRun(mostCalls/4, func() { calls.add(of, one) }); n > 0 {
		t.Errorf("%v allocations a call, want none but those of a growing list", n)
	}
}
