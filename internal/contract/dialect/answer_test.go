package dialect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// everyAnswer calls check with the reply to every event of every dialect, for
// each thing that a hook can say.
func everyAnswer(t *testing.T, check func(t *testing.T, row *events.Contract, a neutral.Asked, r neutral.Reply)) {
	stop := false
	answers := map[string]verdict.Answer{
		"none": {}, "allow": {PermissionDecision: "allow"}, "ask": {PermissionDecision: "ask", PermissionReason: "R"},
		"deny": {PermissionDecision: "deny", PermissionReason: "R", Blocked: true}, "exit2": {ExitCode: 2, Stderr: "R", Blocked: true}, "stop": {Continue: &stop, StopReason: "S"},
		"modify":  {UpdatedInput: json.RawMessage(`{"command":"x"}`), UpdatedResponse: json.RawMessage(`"x"`)},
		"blank":   {PermissionDecision: "deny", PermissionReason: " \u2028\ufeff", Blocked: true},
		"blanks":  {Continue: &stop, StopReason: "\n", UpdatedResponse: json.RawMessage(`"\t"`)},
		"context": {Context: "T"}, "message": {SystemMessage: "M"}, "failure": {Failure: "it crashed"},
	}
	for _, row := range events.All() {
		agent := Agent(row.Dialect)
		if agent == nil || agent.Answer == nil {
			continue
		}
		for kind, answer := range answers {
			t.Run(string(row.Dialect)+"/"+row.Name+"/"+kind, func(t *testing.T) {
				answer.Terms = verdict.Terms{Name: "hook", Blocking: true}
				a := neutral.Asked{Event: row.Name, Payload: json.RawMessage(`{}`), Verdict: verdict.Fold(row, json.RawMessage(`{}`), []verdict.Answer{answer})}
				if a.Asks() && !a.Is(agent.Asks) {
					return // the bridge has made it something else
				}
				check(t, row, a, agent.Answer(a))
			})
		}
	}
}

// Stdout holds nothing, or one JSON object, or plain context.
func TestAnswersAreWhatTheAgentReads(t *testing.T) {
	plain := map[events.Dialect]bool{events.Kimi: true, events.Familiar: true, events.Kiro: true}
	full := map[events.Dialect]bool{events.GeminiCLI: true, events.Cursor: true, events.Copilot: true, events.Cline: true, events.Antigravity: true, events.Hermes: true, events.Tabnine: true}
	everyAnswer(t, func(t *testing.T, row *events.Contract, a neutral.Asked, r neutral.Reply) {
		switch {
		case r.Stdout == "" && full[row.Dialect]:
			t.Errorf("stdout is empty")
		case r.Stdout == "", plain[row.Dialect] && r.Stdout == a.Verdict.AdditionalContext:
		case row.Dialect == events.LibreFang && r.Stdout == neutral.ResultText(a.Verdict.UpdatedToolResponse):
		case !json.Valid([]byte(r.Stdout)) || r.Stdout[0] != '{' || strings.Contains(r.Stdout, "\n"):
			t.Errorf("stdout is no object on one line: %s", r.Stdout)
		}
	})
}

// No exit code denies a call that no hook denied, and nothing is allowed that no hook
// allowed: a rewrite is not an approval.
func TestNoOpinionStaysNone(t *testing.T) {
	everyAnswer(t, func(t *testing.T, row *events.Contract, a neutral.Asked, r neutral.Reply) {
		if r.Exit != 0 && !a.Denies() {
			t.Errorf("exit %d without a denial", r.Exit)
		}
		if row.Dialect == events.Antigravity {
			return // its no opinion is spelled allow
		}
		if strings.Contains(r.Stdout, `"allow"`) && !a.Allows() {
			t.Errorf("allows without being told to: %s", r.Stdout)
		}
	})
}

// The answers that agents refuse.
func TestWhatAgentsMustNeverRead(t *testing.T) {
	everyAnswer(t, func(t *testing.T, row *events.Contract, a neutral.Asked, r neutral.Reply) {
		none := a.Verdict.Allowed && a.Verdict.PermissionDecision == "" && a.Verdict.SystemMessage == "" && a.Verdict.AdditionalContext == "" &&
			a.Verdict.UpdatedInput == nil && a.Verdict.UpdatedToolResponse == nil && !a.Verdict.PermissionAllowed
		switch row.Dialect {
		case events.Codex:
			if strings.Contains(r.Stdout, `"ask"`) || strings.Contains(r.Stdout, `"approve"`) || row.Name == "PreToolUse" && strings.Contains(r.Stdout, `"continue"`) {
				t.Errorf("Codex fails on %s", r.Stdout)
			}
			if none && r.Stdout != "" {
				t.Errorf("no opinion is %q", r.Stdout)
			}
		case events.Kimi:
			if none && r.Stdout != "" {
				t.Errorf("no opinion is %q", r.Stdout)
			}
		case events.Antigravity:
			if row.Name == "PreToolUse" && !strings.Contains(r.Stdout, `"decision":`) {
				t.Errorf("Antigravity denies on %s", r.Stdout)
			}
		case events.GeminiCLI:
			if r.Stderr != "" || r.Exit != 0 || r.Stdout == "" {
				t.Errorf("got %+v", r)
			}
		case events.Cursor, events.Copilot, events.Cline, events.Hermes:
			if left := row.Dialect == events.Cursor && a.RewritesOnly(); r.Exit != 0 || (r.Stderr != "") != left || !json.Valid([]byte(r.Stdout)) {
				t.Errorf("got %+v", r) // what a person must know of is on stderr, which Cursor does not read
			}
		}
	})
}

// Where an event can block, a denial reaches the agent, whichever it is.
func TestDenialsArrive(t *testing.T) {
	everyAnswer(t, func(t *testing.T, row *events.Contract, a neutral.Asked, r neutral.Reply) {
		if !a.Denies() || !a.Verdict.Continue {
			return
		}
		none := Agent(row.Dialect).Answer(neutral.Asked{Event: row.Name, Payload: a.Payload, Verdict: &verdict.Verdict{Allowed: true, Continue: true}})
		if r == none {
			t.Errorf("a denial is said like no opinion: %+v", r)
		}
	})
}

// A denial, a stop and another result in its words say why: Codex goes on where a reason is blank.
func TestNoReasonIsBlank(t *testing.T) {
	everyAnswer(t, func(t *testing.T, row *events.Contract, a neutral.Asked, r neutral.Reply) {
		var look func(v any)
		look = func(v any) {
			members, _ := v.(map[string]any)
			for key, v := range members {
				isReason := strings.HasSuffix(strings.ToLower(key), "reason") || key == "message"
				if text, is := v.(string); is && isReason && strings.Trim(text, " \n\t\u2028\ufeff") == "" {
					t.Errorf("%s is blank: %s", key, r.Stdout)
				}
				look(v)
			}
		}
		var top any
		_ = json.Unmarshal([]byte(r.Stdout), &top) // plain context has no reason
		look(top)
		if r.Exit != 0 && strings.TrimSpace(r.Stderr+r.Stdout) == "" {
			t.Errorf("it fails without a word")
		}
	})
}
