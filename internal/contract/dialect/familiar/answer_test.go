package familiar

import (
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

func read(event, onFailure string, blocking bool, out verdict.Output) (RunAnswer, *verdict.Verdict) {
	c := events.Lookup(event)
	p := Terms{Terms: verdict.Terms{Name: "h", Blocking: blocking, OnError: onFailure}, Capture: true}
	a := Read(c, p, out)
	return a, verdict.Fold(c, nil, []verdict.Answer{a.Answer})
}

func exit(code int) verdict.Output {
	return verdict.Output{ExitCode: code, Stdout: []byte("out\n"), Stderr: []byte(" err \n")}
}

func TestExitCodesAndOnFailure(t *testing.T) {
	timeout := verdict.Output{ExitCode: -1, Failure: "timed out after 5s", Stdout: []byte("half")}
	for _, tt := range []struct {
		name, event, onFailure string
		blocking               bool
		out                    verdict.Output

		allowed, skip, aborts, silent bool
		message, context              string
		result                        wire.Result
	}{
		{"ok", "beforeToolCall", "abort", true, exit(0), true, false, false, false, "", "out", wire.ResultOK},
		{"warn", "beforeToolCall", "warn", true, exit(1), true, false, false, false, "", "", wire.ResultFailed},
		{"default", "beforeToolCall", "", true, exit(1), true, false, false, false, "", "", wire.ResultFailed},
		{"ignore", "beforeToolCall", "ignore", true, exit(1), true, false, false, true, "", "", wire.ResultFailed},
		{"abort", "beforeToolCall", "deny", true, exit(1), false, false, true, true, "err", "", wire.ResultDeny},
		{"abort-other-exit", "onStart", "deny", true, exit(127), false, false, true, false, "err", "", wire.ResultDeny},
		{"abort-timeout", "onStop", "deny", true, timeout, false, false, true, false, `hook "h" timed out after 5s`, "", wire.ResultDeny},
		{"abort-not-stoppable", "afterToolCall", "deny", true, exit(1), true, false, true, false, "", "", wire.ResultFailed},
		{"abort-not-blocking", "beforeToolCall", "deny", false, exit(1), true, false, false, false, "", "", wire.ResultFailed},
		{"warn-timeout", "beforeToolCall", "warn", true, timeout, true, false, false, false, "", "", wire.ResultFailed},
		{"warn-fail-closed", "PreToolUse", "warn", true, exit(1), true, false, false, false, "", "", wire.ResultFailed},
		{"warn-timeout-fail-closed", "pre_tool_use", "warn", true, timeout, true, false, false, false, "", "", wire.ResultFailed},
		{"abort-fail-closed", "PreToolUse", "deny", true, exit(1), false, false, true, true, "err", "", wire.ResultDeny},
		{"skip-tool", "beforeToolCall", "ignore", true, exit(2), false, true, false, false, "err", "", wire.ResultDeny},
		{"skip-other-dialect", "PreToolUse", "warn", true, exit(2), false, true, false, false, "err", "", wire.ResultDeny},
		{"skip-start", "onStart", "deny", true, exit(2), true, true, false, false, "", "", wire.ResultOK},
		{"skip-message", "beforeMessage", "warn", true, exit(2), true, true, false, false, "", "", wire.ResultOK},
		{"skip-not-blocking", "beforeToolCall", "warn", false, exit(2), true, false, false, false, "", "", wire.ResultOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, v := read(tt.event, tt.onFailure, tt.blocking, tt.out)
			if v.Allowed != tt.allowed || v.Skip != tt.skip || v.Message != tt.message || v.AdditionalContext != tt.context || !v.Continue {
				t.Errorf("verdict = %+v", v)
			}
			if a.Aborts != tt.aborts || a.Silent != tt.silent || a.Result() != tt.result || a.Answer.Failure != "" {
				t.Errorf("answer = %+v, result %s", a, a.Result())
			}
			if (a.Failure != "") != (tt.out.ExitCode != 0 && tt.out.ExitCode != 2) {
				t.Errorf("failure = %q", a.Failure)
			}
		})
	}
}

func TestStdoutOfAHookThatCapturesNothingSaysNothing(t *testing.T) {
	c := events.Lookup("onStart")
	a := Read(c, Terms{Terms: verdict.Terms{Name: "h", Blocking: true}}, verdict.Output{Stdout: []byte(`{"decision":"block"}`)})
	v := verdict.Fold(c, nil, []verdict.Answer{a.Answer})
	if a.Output != "" || !v.Allowed || v.AdditionalContext != "" || v.DecidedBy != nil {
		t.Errorf("answer %+v, verdict %+v; want no opinion", a, v)
	}
}

func TestAnObserversOutputIsCapturedAndHasNoSay(t *testing.T) {
	a, v := read("afterToolCall", "warn", false, exit(0))
	if a.Output != "out" || v.AdditionalContext != "" {
		t.Errorf("output %q, context %q; want out and none", a.Output, v.AdditionalContext)
	}
}

func TestMessagesAreTextAndBounded(t *testing.T) {
	out := exit(1)
	out.Stderr = []byte("\xff" + strings.Repeat("é", maxMessage))
	_, v := read("beforeToolCall", "deny", true, out)
	if !strings.HasPrefix(v.Message, "\uFFFDé") || !strings.HasSuffix(v.Message, "é…") || len(v.Message) > maxMessage+8 {
		t.Errorf("message of %d bytes: %.20q…", len(v.Message), v.Message)
	}
	out.Stderr = nil
	if _, v = read("beforeToolCall", "deny", true, out); v.Message != "out" {
		t.Errorf("message = %q, want stdout, as there is no stderr", v.Message)
	}
	out.Stdout = nil
	if _, v = read("beforeToolCall", "deny", true, out); v.Message != `hook "h" failed: exit status 1` {
		t.Errorf("message = %q", v.Message)
	}
}
