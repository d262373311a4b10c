package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
)

// toolCall is an event of Claude Code before a tool call, in session s1.
func toolCall(tool, input string) string {
	return `{"event":"PreToolUse","dialect":"claude-code","wait":true,"session_id":"s1","cwd":"/w","data":{"tool_name":"` + tool +
		`","tool_input":` + input + `}}`
}

// The result of a call that was decided before hookd was started again is on its record.
func TestResultsAfterARestart(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	writeHook(t, home, "no-sudo", "events: PreToolUse\n", "#!/bin/sh\nif grep -q sudo; then echo 'no sudo here' >&2; exit 2; fi\n")
	quiet := func(c *config.Config) { c.FireStartup = false }
	h := start(t, home, quiet)
	call := func(command string) string {
		return strings.Replace(toolCall("Bash", `{"command":"`+command+`"}`), `"data":{`, `"data":{"tool_use_id":"`+command+`",`, 1)
	}
	asked, denied := h.emit(call("make")), h.emit(call("sudo ls"))
	h.stop()
	h = start(t, home, quiet)
	for _, command := range []string{"make", "sudo ls"} {
		h.emit(strings.Replace(call(command), "PreToolUse", "PostToolUse", 1))
	}
	for id, want := range map[string]client.Guarded{asked.EventID: "asked", denied.EventID: "disobeyed"} {
		h.until("the end of the call is recorded", func() bool {
			e, err := h.client.Event(t.Context(), id)
			return err == nil && e.Decision != nil && e.Decision.Ran != nil && e.Decision.Guarded == want
		})
	}
}

// The decisions of hooks are on record: with their subject, their reason, and their changes
// to the call.
func TestDecisionsAreOnRecord(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	writeHook(t, home, "no-sudo", "events: PreToolUse\n", "#!/bin/sh\nif grep -q sudo; then echo 'no sudo here' >&2; exit 2; fi\n")
	writeHook(t, home, "look", "events: PreToolUse\nmatcher: Write\n",
		"#!/bin/sh\n"+`echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"have a look","updatedInput":{"content":"y"}}}'`+"\n")
	writeHook(t, home, "broken", "events: PreToolUse\nmatcher: WebFetch\n", "#!/bin/sh\necho one >&2; echo 'NoModule: nope ghp_abcdefghijklmnopqrstuvwxyz0123456789' >&2; exit 1\n")
	h := start(t, home, func(c *config.Config) { c.FireStartup = false })
	for _, tt := range []struct {
		tool, input string
		want        client.Decision
	}{
		{"Bash", `{"command":"sudo ls"}`, client.Decision{
			Subject: "sudo ls", Decision: client.OutcomeDeny, Reason: "no sudo here", DecidedBy: []string{"no-sudo"}, Runs: make([]string, 1)}},
		{"Bash", `{"command":"cat <<E\n\u001b[2J\u202ex\nE"}`, client.Decision{
			Subject: `cat <<E\n\u001b[2J\u202ex\nE`, Decision: client.OutcomeNone, Runs: make([]string, 1)}},
		{"Bash", `{"command":"export T=ghp_abcdefghijklmnopqrstuvwxyz0123456789; ` + strings.Repeat("x", 1<<20) + `"}`, client.Decision{
			Subject: "", Decision: client.OutcomeNone, Runs: make([]string, 1)}},
		{"Write", `{"file_path":"/w/a","content":"x"}`, client.Decision{
			Subject: "/w/a", Decision: client.OutcomeAsk, Reason: "have a look", DecidedBy: []string{"look"}, Rewrote: []string{"input"}, Runs: make([]string, 2)}},
		{"WebFetch", `{"url":"https://x.example/"}`, client.Decision{
			Subject: "https://x.example/", Decision: client.OutcomeDeny, DecidedBy: []string{"broken"}, Runs: make([]string, 2)}},
		{"mcp__gh__make", `{"n":1,"title":"An issue"}`, client.Decision{Subject: "An issue", Decision: client.OutcomeNone, Runs: make([]string, 1)}},
	} {
		a := h.emit(toolCall(tt.tool, tt.input))
		var e client.StoredEvent
		var err error
		hooktest.Until(t, "the decision is recorded", func() bool { // a moment after the answer, if output is late
			e, err = h.client.Event(t.Context(), a.EventID)
			return err != nil || e.Decision != nil
		})
		if err != nil {
			t.Errorf("%s %.80s: got %+v %v, want a decision", tt.tool, tt.input, e, err)
			continue
		}
		d, want := *e.Decision, tt.want
		if want.Subject == "" { // too long to be shown
			if len(d.Subject) > 256 || !strings.HasSuffix(d.Subject, "x…") || strings.Contains(d.Subject, "ghp_") {
				t.Errorf("subject %q of 1 MiB", d.Subject)
			}
			want.Subject = d.Subject
		}
		if tt.tool == "WebFetch" {
			for _, part := range []string{"exited with status 1: NoModule: nope", "see: hookd log output broken", "hookd disable broken"} {
				told := strings.Contains(a.Verdict.Message, part) // the model is told no command that weakens
				if !strings.Contains(d.Reason, part) || told == (part == "hookd disable broken") {
					t.Errorf("reason %q, message %q, want %q", d.Reason, a.Verdict.Message, part)
				}
			}
			if strings.Contains(d.Reason+a.Verdict.Message, "ghp_abc") {
				t.Errorf("a secret is in %q or %q", d.Reason, a.Verdict.Message)
			}
			want.Reason = d.Reason
		}
		if d.Subject != want.Subject || d.Tool != tt.tool || d.Decision != want.Decision || d.Reason != want.Reason ||
			strings.Join(d.DecidedBy, ",") != strings.Join(want.DecidedBy, ",") || strings.Join(d.Rewrote, ",") != strings.Join(want.Rewrote, ",") ||
			len(d.Runs) != len(want.Runs) || d.SessionID != "s1" || d.Cwd != "/w" || d.Kind != "tool.before" || d.EventID != a.EventID {
			t.Errorf("%s: got  %+v\nwant %+v", tt.tool, d, want)
		}
	}
	list, err := h.client.Decisions(t.Context(), client.DecisionQuery{Decision: "deny,ask", Limit: 2})
	if err != nil || len(list) != 2 || list[0].Tool != "WebFetch" || list[1].Tool != "Write" {
		t.Errorf("the newest denials and questions: %+v %v", list, err)
	}
	if list, err := h.client.Decisions(t.Context(), client.DecisionQuery{Text: "SUDO", Hook: "no-sudo"}); err != nil || len(list) != 1 {
		t.Errorf("with sudo: %+v %v", list, err)
	}
	sessions, err := h.client.Sessions(t.Context(), client.SessionQuery{})
	if err != nil || len(sessions) != 1 || sessions[0].Denials != 2 || sessions[0].Asks != 1 || sessions[0].Tools != 6 || sessions[0].Subject != "An issue" {
		t.Errorf("sessions %+v %v", sessions, err)
	}
	runs, err := h.client.Runs(t.Context(), client.RunQuery{Tool: "Write", Text: "have a LOOK"})
	if err != nil || len(runs) != 1 || runs[0].Hook != "look" || runs[0].Decision != client.OutcomeAsk || runs[0].Subject != "/w/a" || !runs[0].Awaited {
		t.Errorf("runs %+v %v", runs, err)
	}
	if runs, err := h.client.Runs(t.Context(), client.RunQuery{Hook: "broken"}); err != nil || len(runs) != 1 || !strings.Contains(runs[0].Error, "NoModule") {
		t.Errorf("runs of the broken hook %+v %v", runs, err)
	}
}

// The stream has a decision after its runs, and the start of a run only for a subscriber
// that asks for starts.
func TestStreamTellsDecisionsAndStarts(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	writeHook(t, home, "guard", "events: PreToolUse\n", "#!/bin/sh\nexit 0\n")
	h := start(t, home, func(c *config.Config) { c.FireStartup = false })
	read := func(starts bool) <-chan string {
		begun, types := make(chan bool), make(chan string, 100)
		ctx, cancel := context.WithCancel(t.Context())
		t.Cleanup(cancel)
		go func() {
			_ = h.client.Tail(ctx, client.TailOptions{Starts: starts}, func(raw json.RawMessage) error {
				r, err := client.ParseRecord(raw)
				switch {
				case err != nil:
					return err
				case r.Type == "epoch":
					close(begun)
				default:
					types <- r.Type
				}
				return nil
			})
		}()
		<-begun
		return types
	}
	all, some := read(true), read(false)
	h.emit(toolCall("Bash", `{"command":"ls"}`))
	for _, tt := range []struct {
		types <-chan string
		want  []string
	}{{all, []string{"event", "start", "run", "verdict"}}, {some, []string{"event", "run", "verdict"}}} {
		for _, want := range tt.want {
			if got := <-tt.types; got != want {
				t.Errorf("got a record %s, want %s", got, want)
			}
		}
	}
}

// A verdict's record comes after those of its runs, also when a background child of a
// guard holds a pipe for longer than the verdict waits.
func TestVerdictIsRecordedAfterItsRuns(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	const child = "#!/bin/sh\nsleep 600 &\necho $! >> pids\n"
	dirs := []string{
		writeHook(t, home, "leaver", "events: PreToolUse\n", child+"exit 0\n"),
		writeHook(t, home, "shady", "events: PreToolUse\nshadow: true\n", child+"exit 2\n"),
	}
	t.Cleanup(func() {
		for _, dir := range dirs {
			for _, pid := range pids(t, dir) {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})
	h := start(t, home, func(c *config.Config) { c.FireStartup = false })
	for range 3 {
		h.emit(toolCall("Bash", `{"command":"ls"}`))
	}
	var decisions []client.Decision
	h.until("the verdicts are recorded", func() bool {
		var err error
		decisions, err = h.client.Decisions(t.Context(), client.DecisionQuery{})
		return err == nil && len(decisions) == 3
	})
	runs, err := h.client.Runs(t.Context(), client.RunQuery{})
	if err != nil || len(runs) != 6 {
		t.Fatalf("got %d runs %v", len(runs), err)
	}
	for _, d := range decisions {
		for _, r := range runs {
			if r.EventID == d.EventID && r.Seq > d.Seq {
				t.Errorf("run %d of hook %s was recorded after the verdict %d", r.Seq, r.Hook, d.Seq)
			}
		}
	}
}

// A run under way is seen, and can be ended alone.
func TestRunIsKilled(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	writeHook(t, home, "slow", "events: PreToolUse\ntimeout: 10m\n", "#!/bin/sh\nexec sleep 600\n")
	h := start(t, home, func(c *config.Config) { c.FireStartup = false })
	answers := make(chan client.Answer, 1)
	go func() { answers <- h.emit(toolCall("Bash", `{"command":"ls"}`)) }()
	var runs []client.RunUnderWay
	h.until("the run is under way", func() bool {
		runs, _ = h.client.Running(t.Context())
		return len(runs) == 1 && runs[0].PID > 0
	})
	if r := runs[0]; r.Hook != "slow" || r.Tool != "Bash" || r.Subject != "ls" || r.Slots != "decidable" || r.LeftMS <= 0 {
		t.Errorf("got %+v", r)
	}
	if killed, err := h.client.Kill(t.Context(), runs[0].RunID[18:]); err != nil || killed.RunID != runs[0].RunID {
		t.Errorf("got %+v %v", killed, err)
	}
	a := <-answers
	if a.Verdict.Allowed || !strings.Contains(a.Verdict.Message, "was killed by") {
		t.Errorf("verdict %+v", a.Verdict)
	}
	if _, err := h.client.Kill(t.Context(), runs[0].RunID); err == nil {
		t.Error("a run that has ended was killed again")
	}
	if left, err := h.client.Running(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("still under way: %+v %v", left, err)
	}
}

// A test is marked, and in no list, count or metric.
func TestTriedRunIsInNoList(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	writeHook(t, home, "guard", "events: PreToolUse\n", "#!/bin/sh\nexit 2\n")
	h := start(t, home, func(c *config.Config) { c.FireStartup = false })
	tested, err := h.client.Test(t.Context(), "guard", client.Event{Event: "PreToolUse", Dialect: "claude-code", Data: json.RawMessage(`{"tool_name":"Bash","tool_input":{"command":"ls"}}`)})
	if err != nil || !tested.Run.Test || tested.Run.Subject != "ls" {
		t.Fatalf("got %+v %v", tested, err)
	}
	runs, err := h.client.Runs(t.Context(), client.RunQuery{})
	stats, err2 := h.client.Stats(t.Context(), client.StatsQuery{})
	hook, err3 := h.client.Hook(t.Context(), "guard")
	if err != nil || err2 != nil || err3 != nil || len(runs) != 0 || len(stats) != 0 || len(hook.Counts) != 0 || hook.LastRun != nil {
		t.Errorf("runs %+v, stats %+v, counts %v, last %v (%v %v %v)", runs, stats, hook.Counts, hook.LastRun, err, err2, err3)
	}
	if runs, err := h.client.Runs(t.Context(), client.RunQuery{Test: true}); err != nil || len(runs) != 1 || runs[0].ID != tested.Run.ID {
		t.Errorf("tests: %+v %v", runs, err)
	}
	if run, err := h.client.Run(t.Context(), tested.Run.ID); err != nil || !run.Test {
		t.Errorf("got %+v %v", run, err)
	}
}

// An event that says of itself that it is tried, or has the session of a probe, counts as an agent's
// call where it does not come from a command of hookd that a person has typed: else a call could
// hide.
func TestNoEventHidesItself(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	writeHook(t, home, "guard", "events: PreToolUse\n", "#!/bin/sh\nexit 2\n")
	h := start(t, home, func(c *config.Config) { c.FireStartup = false })
	call := `{"event":"PreToolUse","dialect":"claude-code","wait":true,%s"data":{"tool_name":"Bash","tool_input":{"command":"true"}}}`
	for i, members := range []string{`"session_id":"` + events.ProbeSession + `",`, `"session_id":"s","tried":true,`} {
		line := fmt.Sprintf(call, members)
		for _, answer := range []string{
			fmt.Sprint(h.emit(line).Warnings), // of the daemon's own process, as calls over HTTP are
			func() string {
				text, err := hooktest.Send(t, h.client.Socket(), line).Answer() // a process below it, as a hook's are
				hooktest.Must(t, err)
				return text
			}(),
		} {
			if warned := strings.Contains(answer, "it counts as a call of an agent"); warned != (i == 1) {
				t.Errorf("%s is answered with %s", line, answer)
			}
		}
	}
	hooktest.Until(t, "all are decisions, and counted", func() bool {
		counts, err := h.client.Counts(t.Context(), client.CountQuery{})
		sessions, err2 := h.client.Sessions(t.Context(), client.SessionQuery{})
		stats, err3 := h.client.Stats(t.Context(), client.StatsQuery{})
		hooktest.Must(t, errors.Join(err, err2, err3))
		return counts.Total == 4 && counts.Tried == 0 && len(sessions) == 2 && sessions[0].Tools == 2 &&
			len(stats) == 1 && stats[0].Runs == 4
	})
}

// No record of the stream but the event itself has a secret of a command, wherever it
// stands: not the runs, not the verdict, not the start of a run.
func TestStreamHasNoSecretsOfACommand(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	writeHook(t, home, "guard", "events: PreToolUse\n", "#!/bin/sh\nexit 0\n")
	h := start(t, home, func(c *config.Config) { c.FireStartup = false })
	const token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	for _, pad := range []int{0, 150, 175, 190, 230} {
		h.emit(toolCall("Bash", `{"command":"`+strings.Repeat("echo ", pad/5)+`curl -u me:`+token+` x"}`))
	}
	hooktest.Until(t, "all decisions are recorded", func() bool { // a moment after the answers
		decisions, err := h.client.Decisions(t.Context(), client.DecisionQuery{})
		return err != nil || len(decisions) == 5
	})
	since, seen := uint64(0), 0
	err := h.client.Tail(t.Context(), client.TailOptions{Since: &since, Once: true, Starts: true}, func(raw json.RawMessage) error {
		r, err := client.ParseRecord(raw)
		if err != nil || r.Type == client.RecordEvent {
			return err
		}
		if seen++; strings.Contains(string(raw), "ghp_") {
			t.Errorf("a secret is in %s", raw)
		}
		return nil
	})
	if err != nil || seen < 10 {
		t.Errorf("saw %d records, %v", seen, err)
	}
}
