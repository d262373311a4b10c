package ui_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	_ "github.com/hookd/hookd/internal/contract/dialect" // registers the rows of events
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/wire"
)

// person is the folder that the page writes as ~ in tests.
const person = "/home/mira"

// seeder writes a history as agents and hooks would have made it.
type seeder struct {
	t   testing.TB
	s   *store.Store
	seq uint64
	rnd *rand.Rand

	callID string // of the next events
}

const codex = events.Dialect("codex")

// agentSession is one session of a seeded history.
type agentSession struct {
	id, cwd, agentID string
	dialect          events.Dialect
}

// kindNames are the names of the events of a dialect that a seeded history has.
var kindNames = map[events.Dialect]map[events.Kind]string{
	events.ClaudeCode: {
		events.KindPromptSubmit: "UserPromptSubmit", events.KindToolBefore: "PreToolUse", events.KindToolAfter: "PostToolUse",
		events.KindTurnStop: "Stop", events.KindSessionStart: "SessionStart", events.KindSessionEnd: "SessionEnd", events.KindSubagentStop: "SubagentStop",
	},
	codex: {
		events.KindPromptSubmit: "UserPromptSubmit", events.KindToolBefore: "PreToolUse", events.KindToolAfter: "PostToolUse", events.KindTurnStop: "Stop",
	},
	events.GeminiCLI: {events.KindToolBefore: "BeforeTool", events.KindToolAfter: "AfterTool", events.KindTurnStop: "AfterAgent"},
}

// openHistory opens the store of a home, to be filled before a daemon runs.
func openHistory(t testing.TB, home string) *seeder {
	t.Helper()
	s, err := store.Open(store.Options{
		Path: filepath.Join(home, "hookd.db"), Durable: store.DurableOS, Limits: store.Limits{Payload: store.PayloadFull},
	})
	hooktest.Must(t, err)
	return &seeder{t: t, s: s, seq: s.FirstSeq(), rnd: rand.New(rand.NewPCG(1, 2))}
}

func (s *seeder) close() {
	s.t.Helper()
	hooktest.Must(s.t, s.s.Flush(s.t.Context()))
	hooktest.Must(s.t, s.s.Close())
}

func (s *seeder) next() uint64 { s.seq++; return s.seq - 1 }

// event accepts an event.
func (s *seeder) event(at time.Time, in agentSession, kind events.Kind, tool, subject string) *events.Event {
	name := kindNames[in.dialect][kind]
	if name == "" {
		name = "pre_tool_use"
	}
	data := map[string]any{"hook_event_name": name, "session_id": in.id, "cwd": in.cwd}
	switch {
	case tool == "Bash":
		data["tool_name"], data["tool_input"] = tool, map[string]string{"command": subject, "description": "What the agent says that it does"}
	case tool != "":
		data["tool_name"], data["tool_input"] = tool, map[string]string{"file_path": subject}
	case kind == events.KindPromptSubmit:
		data["prompt"] = subject
	}
	text, err := json.Marshal(data)
	hooktest.Must(s.t, err)
	e := &events.Event{
		Envelope: events.Envelope{
			Event: name, Data: text, SessionID: in.id, AgentID: in.agentID, Cwd: in.cwd, Sender: "uid:1000", Dialect: in.dialect,
			Wait: kind == events.KindToolBefore,
		},
		EventID: events.NewID(at), Seq: s.next(), Time: at.UTC(), Tool: tool, Subject: subject, CallID: s.callID, Contract: events.For(in.dialect, name),
	}
	done := make(chan error, 1)
	hooktest.Must(s.t, s.s.Accept(e, nil, nil, func(err error) { done <- err }))
	hooktest.Must(s.t, <-done)
	return e
}

// said is the answer of a hook to an event: its name, outcome, reason, and how long it took.
type said struct {
	hook    string
	outcome wire.Outcome
	reason  string
	ms      float64
	failed  string // why; "" = it has not
	rule    string // that said so

	held time.Duration // for a person, who then allowed it; 0 = it was not
}

// decide records the runs of hooks and the decision that they make together.
func (s *seeder) decide(e *events.Event, observers []string, answers ...said) *wire.Decision {
	d := &wire.Decision{
		EventID: e.EventID, EventSeq: e.Seq, Time: e.Time, Event: e.Envelope.Event, Kind: e.Contract.Kind, Dialect: e.Dialect, SessionID: e.SessionID,
		AgentID: e.AgentID, AgentName: e.AgentName, Cwd: e.Cwd, Tool: e.Tool, Subject: e.Subject, CallID: e.CallID, Decision: wire.OutcomeNone,
	}
	rank := map[wire.Outcome]int{wire.OutcomeNone: 0, wire.OutcomeAllow: 1, wire.OutcomeAsk: 2, wire.OutcomeDeny: 3}
	record := func(a said, awaited bool) {
		r := wire.Run{
			ID: events.NewRunID(e.Time), Seq: s.next(), EventID: e.EventID, Event: e.Envelope.Event, Hook: a.hook, SessionID: e.SessionID, AgentID: e.AgentID,
			Dialect: e.Dialect, Tool: e.Tool, Subject: e.Subject, Awaited: awaited, Result: wire.ResultOK, Started: e.Time.Add(400 * time.Microsecond),
			QueueMS: 0.4, DurationMS: a.ms, Rule: a.rule, Input: string(e.Data[:min(len(e.Data), wire.InputPreview)]),
		}
		switch {
		case a.failed != "":
			r.Result, r.ExitCode, r.Error = wire.ResultFailed, 127, "exit code 127: "+a.failed
			if r.Cause = a.failed; awaited {
				r.Failure = wire.FailureDenies
			}
			r.Stderr = wire.Output{Head: a.failed + "\n", Bytes: int64(len(a.failed) + 1)}
		case a.outcome == wire.OutcomeDeny:
			r.Result, r.ExitCode, r.Decision, r.Reason = wire.ResultDeny, 2, a.outcome, a.reason
			r.Stderr = wire.Output{Head: a.reason + "\n", Bytes: int64(len(a.reason) + 1)}
		case a.outcome != wire.OutcomeNone:
			answer := fmt.Sprintf(`{"hookSpecificOutput":{"permissionDecision":%q,"permissionDecisionReason":%q}}`, a.outcome, a.reason)
			r.Decision, r.Reason, r.Stdout = a.outcome, a.reason, wire.Output{Head: answer, Bytes: int64(len(answer))}
		}
		s.s.Record(&r)
		if awaited {
			d.Runs = append(d.Runs, r.ID)
			d.DurationMS = max(d.DurationMS, a.ms+1)
		}
	}
	for _, a := range answers {
		record(a, true)
		outcome, reason := a.outcome, a.hook+": "+a.reason
		if a.failed != "" {
			outcome, reason = wire.OutcomeDeny, a.hook+" failed: "+a.failed
		}
		if rank[outcome] > rank[d.Decision] {
			d.Decision, d.Reason, d.DecidedBy = outcome, reason, []string{a.hook}
		}
		if a.held > 0 {
			d.Decision, d.DurationMS = wire.OutcomeAllow, float64(a.held.Milliseconds())
			d.Answered = &wire.Answered{
				By: "person", Answer: wire.OutcomeAllow, For: "session", HeldMS: d.DurationMS, Time: e.Time.Add(a.held),
				From: &wire.Answerer{User: "mira", UID: 1000, Door: "page"},
			}
		}
	}
	for _, o := range observers {
		record(said{hook: o, outcome: wire.OutcomeNone, ms: 31}, false)
	}
	if len(answers) > 0 {
		d.Seq = s.next()
		s.s.Decided(d)
	}
	return d
}

// call is a tool call: before, decided, and after where it was let through.
func (s *seeder) call(at time.Time, in agentSession, tool, subject string, took time.Duration, answers ...said) *wire.Decision {
	s.callID = fmt.Sprint("call_", s.seq)
	defer func() { s.callID = "" }()
	d := s.decide(s.event(at, in, events.KindToolBefore, tool, subject), []string{"audit-log"}, answers...)
	if d.Decision != wire.OutcomeDeny {
		s.event(at.Add(took), in, events.KindToolAfter, tool, subject)
	}
	return d
}

func quiet(hook string, ms float64) said {
	return said{hook: hook, outcome: wire.OutcomeNone, ms: ms}
}
func deny(hook, reason string, ms float64) said {
	return said{hook: hook, outcome: wire.OutcomeDeny, reason: reason, ms: ms}
}

// ledgerSession is the session of an agent that asks while the page is open.
const ledgerSession = "0191b2c3-77aa-4e21-8f10-5d0c9e8b7a65"

// calls are the calls that agents make all day.
var calls = [][2]string{
	{"Read", "worker/charge.go"}, {"Bash", "go test ./worker/... -run TestCharge -count=1"}, {"Grep", `func \(w \*Worker\) Charge`}, {"Edit", "src/cart/Total.tsx"},
	{"Bash", "npm run build -- --filter=ledger-web"}, {"Read", "internal/billing/retry.go"}, {"Edit", "internal/post/batch.go"}, {"Bash", "pnpm test --run cart"},
	{"WebFetch", "https://docs.stripe.com/api/payment_intents/capture"}, {"Bash", "git status --short"}, {"Read", "envs/prod/backend.tf"}, {"Write", "docs/retry.md"},
}

// An hour of a person with five agents, as the pictures in docs/page.md show it.
func (s *seeder) hour(now time.Time) {
	at := func(minutes, seconds float64) time.Time {
		return now.Add(-time.Duration((minutes*60 + seconds) * float64(time.Second)))
	}
	pay := agentSession{id: "7f3c01d2-5b0e-4a7e-9d55-2c1f0a9be811", cwd: person + "/src/payments-api", dialect: events.ClaudeCode}
	ledger := agentSession{id: ledgerSession, cwd: person + "/src/ledger", dialect: codex}
	shop := agentSession{id: "b81f44e0-2d67-4c4e-a1b2-90c3d4e5f607", cwd: person + "/src/web-shop", dialect: events.GeminiCLI}
	infra := agentSession{id: "3d9e8c7b-6a5f-4e3d-8c2b-1a0f9e8d7c6b", cwd: person + "/infra", dialect: events.ClaudeCode}
	reports := agentSession{id: "reports-20", cwd: person + "/src/reports", agentID: "reports", dialect: events.DockerAgent}
	notes := agentSession{id: "c0ffee00-1111-4222-8333-444455556666", cwd: person + "/notes", dialect: events.ClaudeCode}
	two := func() []said { return []said{quiet("secret-guard", 4), quiet("command-guard", 5)} }
	s.gaveUp(at(240, 0), notes)
	type planned struct {
		at time.Time
		do func(time.Time)
	}
	var plan []planned
	add := func(t time.Time, do func(time.Time)) { plan = append(plan, planned{t, do}) }

	add(at(190, 0), func(t time.Time) { s.event(t, reports, "", "", "") })
	add(at(38, 0), func(t time.Time) {
		s.call(t, reports, "Read", "out/2026-10.csv", time.Second, quiet("secret-guard", 3))
	})
	add(at(150, 0), func(t time.Time) {
		s.event(t, notes, events.KindPromptSubmit, "", "File the minutes of Tuesday under projects")
		s.call(t.Add(5*time.Second), notes, "Write", "projects/minutes.md", time.Second, two()...)
		s.event(t.Add(time.Minute), notes, events.KindSessionEnd, "", "")
	})
	for range 170 {
		in := []agentSession{ledger, ledger, shop, shop, infra, infra, pay}[s.rnd.IntN(7)]
		c := calls[s.rnd.IntN(len(calls))]
		minutes := 59 * s.rnd.Float64()
		if s.rnd.IntN(3) > 0 {
			minutes = 28 * s.rnd.Float64()
		}
		if in.id == pay.id && minutes > 5 {
			in = ledger // what that one did is told below
		}
		add(at(minutes+0.3, 0), func(t time.Time) {
			s.call(t, in, c[0], c[1], time.Duration(100+s.rnd.IntN(5000))*time.Millisecond, quiet("secret-guard", 2+3*s.rnd.Float64()), quiet("command-guard", 3+4*s.rnd.Float64()))
		})
	}
	add(at(54, 0), func(t time.Time) {
		s.event(t, pay, events.KindPromptSubmit, "", "Read the charge worker and tell me where it retries")
	})
	add(at(24, 20), func(t time.Time) {
		s.event(t, pay, events.KindPromptSubmit, "", "Make the retry in the charge worker idempotent, and add a test that proves it")
	})
	add(at(24, 8), func(t time.Time) {
		s.call(t, pay, "Read", "worker/charge.go", 100*time.Millisecond, quiet("secret-guard", 3))
	})
	add(at(23, 50), func(t time.Time) { s.call(t, pay, "Bash", "go test ./worker/...", 4800*time.Millisecond, two()...) })
	add(at(23, 5), func(t time.Time) {
		s.call(t, pay, "Bash", "rm -rf ./var/queue && make seed", 0, quiet("secret-guard", 4), deny("command-guard", "rm -rf on a folder that git does not track: ./var/queue (3 files)", 5.4))
	})
	add(at(22, 39), func(t time.Time) {
		s.call(t, pay, "Task", "Find every caller of Charge() and what it retries", 38*time.Second, quiet("secret-guard", 4))
		sub := pay
		sub.agentID = "explore-1"
		for i, c := range [][2]string{{"Grep", `\.Charge\(ctx`}, {"Read", "internal/billing/retry.go"}, {"WebFetch", "https://docs.stripe.com/api/idempotent_requests"}} {
			s.call(t.Add(time.Duration(3+7*i)*time.Second), sub, c[0], c[1], 100*time.Millisecond, quiet("secret-guard", 3))
		}
		s.event(t.Add(37*time.Second), sub, events.KindSubagentStop, "", "6 callers, 2 of them retry on their own")
	})
	add(at(21, 23), func(t time.Time) { s.call(t, pay, "Edit", "worker/charge.go", 200*time.Millisecond, two()...) })
	add(at(20, 20), func(t time.Time) {
		s.call(t, pay, "Bash", "git push -u origin idempotent-charge", 2100*time.Millisecond, quiet("secret-guard", 4),
			said{hook: "command-guard", outcome: wire.OutcomeAsk, reason: "first push of a branch: its remote and name are new", ms: 6, held: 12400 * time.Millisecond})
	})
	add(at(19, 29), func(t time.Time) {
		s.decide(s.event(t, pay, events.KindTurnStop, "", "Done: the worker keys each charge by its id."), nil,
			deny("test-at-stop", "2 of 41 tests fail: TestChargeTwice, TestRefund", 6100))
	})
	add(at(5, 58), func(t time.Time) {
		s.event(t, pay, events.KindPromptSubmit, "", "Now fix the two failing tests, do not touch Refund itself")
	})
	add(at(5, 40), func(t time.Time) { s.call(t, pay, "Edit", "worker/charge_test.go", 150*time.Millisecond, two()...) })
	add(at(3, 9), func(t time.Time) {
		s.decide(s.event(t, pay, events.KindTurnStop, "", "Charge is idempotent now; all tests pass."), nil, quiet("test-at-stop", 6200))
	})
	for i, f := range []string{"envs/staging/queue.tf", "envs/staging/main.tf", "modules/queue/main.tf", "envs/staging/queue.tf"} {
		add(at(12-3.7*float64(i), 0), func(t time.Time) {
			s.call(t, infra, []string{"Write", "Edit"}[i%2], f, 0, quiet("secret-guard", 4), said{hook: "tf-plan", failed: "terraform: command not found", ms: 11})
		})
	}
	add(at(51, 12), func(t time.Time) {
		s.call(t, ledger, "Bash", "git clean -fdx", 0, quiet("secret-guard", 4), deny("command-guard", "deletes ignored files, .env among them", 5))
	})
	add(at(36, 31), func(t time.Time) {
		s.call(t, shop, "Bash", "git checkout -- .", 0, quiet("secret-guard", 4), deny("command-guard", "throws away 4 changed files", 5))
	})
	add(at(18, 40), func(t time.Time) {
		s.call(t, shop, "Read", ".env.production", 0, deny("secret-guard", ".env.* is protected; ask for a value by name", 4))
	})
	add(at(1, 30), func(t time.Time) {
		s.event(t, ledger, events.KindPromptSubmit, "", "Squash the fixups and update the release branch")
	})
	add(at(1, 2), func(t time.Time) {
		e := s.event(t, pay, events.KindToolBefore, "Bash", `psql "$DATABASE_URL" -c "select id, state from charges where state = 'stuck' limit 20"`)
		s.rewrote(e, "secret-guard", "1 value in the result masked", 9)
	})
	add(at(1, 10), func(t time.Time) {
		e := s.event(t, infra, events.KindToolBefore, "WebFetch", "https://registry.example.com/terraform")
		s.shadowed(e, "egress-guard", "host not in allowed.txt")
	})
	add(at(0, 9), func(t time.Time) {
		s.call(t, pay, "Bash", "go test ./worker/... -run TestCharge -count=1", time.Minute, two()...)
	})
	for i := range plan { // in the order of time
		least := i
		for j := i + 1; j < len(plan); j++ {
			if plan[j].at.Before(plan[least].at) {
				least = j
			}
		}
		plan[i], plan[least] = plan[least], plan[i]
		plan[i].do(plan[i].at)
	}
}

// day records the runs of hooks in the 24 hours before, a run of each every few minutes: their
// times by the hour.
func (s *seeder) day(now time.Time) {
	usual := map[string]float64{"command-guard": 5, "secret-guard": 4, "no-prod-db": 5, "audit-log": 28, "git-checkpoint": 61}
	for minutes := 1439; minutes > 61; minutes -= 7 {
		at := now.Add(-time.Duration(minutes) * time.Minute).UTC()
		for _, hook := range slices.Sorted(maps.Keys(usual)) {
			ms := usual[hook] * (0.8 + 0.5*s.rnd.Float64())
			if s.rnd.IntN(12) == 0 {
				ms *= 2 + 2*float64(minutes%480)/480
			}
			s.s.Record(&wire.Run{
				ID: events.NewRunID(at), Seq: s.next(), EventID: events.NewID(at), Event: "PreToolUse", Hook: hook, Dialect: events.ClaudeCode, Tool: "Bash",
				Subject: "go vet ./...", Awaited: hook != "audit-log" && hook != "git-checkpoint", Result: wire.ResultOK, Started: at, DurationMS: ms,
			})
		}
	}
}

// rewrote records a call whose input a hook has changed.
func (s *seeder) rewrote(e *events.Event, hook, reason string, ms float64) {
	r := wire.Run{
		ID: events.NewRunID(e.Time), Seq: s.next(), EventID: e.EventID, Event: e.Envelope.Event, Hook: hook, SessionID: e.SessionID, Dialect: e.Dialect,
		Tool: e.Tool, Subject: e.Subject, Awaited: true, Result: wire.ResultOK, Started: e.Time, DurationMS: ms, Reason: reason,
	}
	s.s.Record(&r)
	s.s.Decided(&wire.Decision{
		EventID: e.EventID, EventSeq: e.Seq, Seq: s.next(), Time: e.Time, Event: e.Envelope.Event, Kind: e.Contract.Kind, Dialect: e.Dialect, SessionID: e.SessionID,
		Cwd: e.Cwd, Tool: e.Tool, Subject: e.Subject, Decision: wire.OutcomeNone, Rewrote: []string{"input"}, DecidedBy: []string{hook}, Reason: hook + ": " + reason,
		DurationMS: ms, Runs: []string{r.ID},
	})
}

// shadowed records a call about which a hook in the shadow would have said no.
func (s *seeder) shadowed(e *events.Event, hook, reason string) {
	s.s.Decided(&wire.Decision{
		EventID: e.EventID, EventSeq: e.Seq, Seq: s.next(), Time: e.Time, Event: e.Envelope.Event, Kind: e.Contract.Kind, Dialect: e.Dialect, SessionID: e.SessionID,
		Cwd: e.Cwd, Tool: e.Tool, Subject: e.Subject, Decision: wire.OutcomeNone, DurationMS: 7,
		Shadow: []wire.Shadowed{{Hook: hook, Decision: wire.OutcomeDeny, Reason: reason}},
	})
}

// gaveUp records an observer that was tried and given up.
func (s *seeder) gaveUp(at time.Time, in agentSession) {
	for i := range 3 {
		e := s.event(at.Add(time.Duration(i)*time.Second), in, events.KindTurnStop, "", "")
		pending := &events.Event{}
		*pending = *e
		pending.Seq, pending.EventID = s.next(), events.NewID(e.Time)
		done := make(chan error, 1)
		hooktest.Must(s.t, s.s.Accept(pending, nil, []string{"slack-notify"}, func(err error) { done <- err }))
		hooktest.Must(s.t, <-done)
		r := wire.Run{
			ID: events.NewRunID(e.Time), Seq: s.next(), EventID: pending.EventID, Event: e.Envelope.Event, Hook: "slack-notify", SessionID: in.id, Dialect: in.dialect,
			Result: wire.ResultFailed, ExitCode: 1, Error: "exit code 1: HTTP 503 from hooks.slack.com", Started: e.Time, DurationMS: 210,
		}
		s.s.GiveUp(events.PendingKey{Seq: pending.Seq, Hook: "slack-notify"}, &r, "HTTP 503 from hooks.slack.com")
	}
}

// many writes n decisions, one each 100 ms up to now.
func (s *seeder) many(n int, now time.Time) {
	in := agentSession{id: "load", cwd: person + "/load", dialect: events.ClaudeCode}
	row := events.For(in.dialect, "PreToolUse")
	for i := range n {
		at := now.Add(-time.Duration(n-i) * 100 * time.Millisecond).UTC()
		c := calls[i%len(calls)]
		d := &wire.Decision{
			EventID: events.NewID(at), EventSeq: s.next(), Seq: s.next(), Time: at, Event: "PreToolUse", Kind: row.Kind, Dialect: in.dialect, SessionID: in.id, Cwd: in.cwd,
			Tool: c[0], Subject: fmt.Sprintf("%s # %d", c[1], i), Decision: wire.OutcomeNone, DurationMS: 5,
		}
		if i%50 == 7 {
			d.Decision, d.Reason, d.DecidedBy = wire.OutcomeDeny, "command-guard: not in this test", []string{"command-guard"}
		}
		s.s.Decided(d)
		if i%2000 == 0 {
			hooktest.Must(s.t, s.s.Flush(s.t.Context()))
		}
	}
}

// hostile are texts that an agent or a hook could write, and that must stay text.
func hostile() []string {
	list := []string{
		`<script>window.ran=1</script>`, `<img src=x onerror="window.ran=1">`, `<svg onload=window.ran=1>`, `"><script>window.ran=1</script>`,
		`'><img src=x onerror=window.ran=1>`, `</code><iframe srcdoc="<script>parent.ran=1</script>">`, `<a href="javascript:window.ran=1">x</a>`,
		`javascript:window.ran=1//`, `<style>body{display:none}</style>`, `<link rel=stylesheet href=//evil.example/x.css>`, `<base href=//evil.example/>`,
		`<meta http-equiv=refresh content="0;url=//evil.example">`, `<form action=//evil.example><input name=q>`, `<details open ontoggle=window.ran=1>`,
		`<body onload=window.ran=1>`, `<math><mi xlink:href="javascript:window.ran=1">`, `<template><script>window.ran=1</script></template>`,
		`${window.ran=1}`, `{{constructor.constructor('window.ran=1')()}}`, "`;window.ran=1;`", `\u003cscript\u003ewindow.ran=1\u003c/script\u003e`,
		`&lt;script&gt;window.ran=1&lt;/script&gt;`, `<!--`, `]]>`, `__proto__`, `constructor`, `toString`, `hasOwnProperty`, `#now?x=1`, `//evil.example/x`,
		"\u202egnp.exe\u202c bidi", "\u2066\u2067isolate\u2069", "\u0000\u0001\u001b[31mred\u001b[0m", "emoji 👩‍👩‍👧‍👦 Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L", strings.Repeat("𝔘", 300),
		strings.Repeat("long-word-without-a-blank", 400), strings.Repeat("wide ", 2000), strings.Repeat("line\n", 500), `{"a":` + strings.Repeat(`{"a":`, 60) + `1` + strings.Repeat(`}`, 61),
		"tab\tand\rreturn", ` data:text/html,<script>window.ran=1</script>`, `blob:null/x`,
	}
	return list
}

// hostileHour writes one decision, with its event and run, for each hostile text.
func (s *seeder) hostileHour(now time.Time) {
	for i, text := range hostile() {
		at := now.Add(-time.Duration(60-i) * time.Second)
		cut := func(n int) string { return strings.ToValidUTF8(text[:min(len(text), n)], "") }
		in := agentSession{id: cut(200), cwd: "/" + cut(400), agentID: cut(100), dialect: events.ClaudeCode}
		s.decide(s.event(at, in, events.KindToolBefore, cut(60), cut(256)), []string{"audit-log"}, deny(cut(60), text, 4))
		s.event(at, in, events.KindPromptSubmit, "", cut(256))
	}
}
