package rehearse

import (
	"fmt"
	"testing"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/wire"
)

// TestGiven runs the tests of a hook that looks back: each says which events came before it.
func TestGiven(t *testing.T) {
	c := config.Default(t.TempDir())
	h, err := catalog.Find(c, "testdata/order")
	hooktest.Must(t, err)
	tests, err := TestsLocal(t.Context(), c, h)
	hooktest.Must(t, err)
	for i, test := range tests.Tests {
		if !test.OK {
			t.Errorf("line %d: %s: want %s, got %s: %s", h.Tests[i].Line, test.Subject, test.Expect, test.Got, test.Why)
		}
	}
}

// TestWhatIfLooksBack asks a hook that looks back about events of the past, the newest first:
// it sees them in their order, also events that it is not for, and none that was denied.
func TestWhatIfLooksBack(t *testing.T) {
	c := config.Default(t.TempDir())
	h, err := catalog.Find(c, "testdata/order")
	hooktest.Must(t, err)
	const call = `{"tool_name":"Bash","tool_use_id":%q,"tool_input":{"command":%q}}`
	var past []Past
	add := func(event, id, line string, decision wire.Outcome) {
		p := pastCall(len(past), line)
		p.Envelope.Event, p.Data = event, fmt.Appendf(nil, call, id, line)
		p.Other = event != "PreToolUse"
		p.Decision = &wire.Decision{Decision: decision}
		past = append([]Past{p}, past...)
	}
	add("PreToolUse", "1", "git push", wire.OutcomeNone)
	add("PreToolUse", "2", "go test ./...", wire.OutcomeNone)
	add("PostToolUse", "2", "go test ./...", wire.OutcomeNone)
	add("PreToolUse", "3", "sed -i s/a/b/ x.go", wire.OutcomeDeny)
	add("PreToolUse", "4", "git push", wire.OutcomeNone)
	add("PreToolUse", "5", "sed -i s/a/b/ x.go", wire.OutcomeNone)
	add("PreToolUse", "6", "git push", wire.OutcomeNone)
	sum, err := WhatIfLocal(t.Context(), c, h, yields(past), func(*Asking) {})
	hooktest.Must(t, err)
	var got []string
	for _, change := range sum.Changes {
		got = append(got, change.EventID+" "+change.Now)
	}
	if want := "[e6 deny e0 deny]"; fmt.Sprint(got) != want {
		t.Errorf("changes %v, want %s", got, want)
	}
}
