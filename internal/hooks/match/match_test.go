package match

import (
	"encoding/json"
	"github.com/hookd/hookd/internal/facts"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/match/matchtest"
)

func TestMatchingIsThatOfTheDocumentedTable(t *testing.T) {
	for _, tt := range []struct {
		patterns string
		event    string
		given    string // "" = does not run
	}{
		{"agent:*", "agent:start", "agent:start"},
		{"agent:*", "agent:step", "agent:step"},
		{"agent:*", "session:start", ""},
		{"session:*", "session:reset", "session:reset"},
		{"*", "gateway:startup", "gateway:startup"},
		{"*", "custom.event", "custom.event"},
		{"{agent,session}:start", "session:start", "session:start"},
		{"{agent,session}:start", "agent:end", ""},
		{"agent:end", "Stop", "agent:end"},
		{"agent:end", "stop", "agent:end"},
		{"pre_tool_use", "PreToolUse", "pre_tool_use"},
		{"beforeToolCall pre_tool_use", "PreToolUse", "beforeToolCall"},
		{"agent:end onStop", "Stop", "onStop"},
		{"*", "hookd:reload", ""},
		{"hookd:*", "hookd:reload", "hookd:reload"},
		{"agent:end", "agent:start", ""},
	} {
		t.Run(tt.patterns+"/"+tt.event, func(t *testing.T) {
			d := Explain(matchtest.Snapshot(matchtest.Hook("h", strings.Fields(tt.patterns)...)), events.Envelope{Event: tt.event, Data: json.RawMessage("{}")}, "", nil)[0]
			if d.Runs != (tt.given != "") || d.Runs && d.Given != tt.given {
				t.Errorf("runs %t given %q (%s), want %q", d.Runs, d.Given, d.Why, tt.given)
			}
		})
	}
}

func TestWildcardHooksObserve(t *testing.T) {
	yes := true
	for _, tt := range []struct {
		name    string
		hook    *hook.Hook
		event   string
		decides bool
	}{
		{"exact", matchtest.Hook("h", "pre_tool_use"), "pre_tool_use", true},
		{"wildcard", matchtest.Hook("h", "*"), "pre_tool_use", false},
		{"braces", matchtest.Hook("h", "{pre_tool_use,stop}"), "pre_tool_use", true},
		{"wildcard-and-exact", matchtest.Hook("h", "*", "pre_tool_use"), "pre_tool_use", true},
		{"wildcard-set", matchtest.With(matchtest.Hook("h", "*"), func(h *hook.Hook) { h.Blocking = &yes }), "pre_tool_use", true},
		{"librefang-observes", matchtest.With(matchtest.Hook("h", "agent:end"), func(h *hook.Hook) { h.Blocking = &yes }), "Stop", false},
		{"transform", matchtest.Hook("h", "transform_tool_result"), "transform_tool_result", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Explain(matchtest.Snapshot(tt.hook), events.Envelope{Event: tt.event}, "", nil)[0]
			if !d.Runs || d.Blocks != tt.decides {
				t.Errorf("runs %t (%s), decides %t, want %t", d.Runs, d.Why, d.Blocks, tt.decides)
			}
		})
	}
}

// A hook with conditions runs for the events that they fit. A hook whose conditions may fit
// after a rewrite by an earlier hook is there, too, and says so.
func TestMatchWithConditions(t *testing.T) {
	command, err := facts.ParsePattern("git push")
	if err != nil {
		t.Fatal(err)
	}
	conditional := func(name string, block bool) *hook.Hook {
		h := matchtest.Hook(name, "PreToolUse")
		h.When, h.Blocking = []hook.Condition{{Commands: []facts.CommandPattern{command}}}, &block
		return h
	}
	snap := matchtest.Snapshot(conditional("first", true), matchtest.Hook("always", "PreToolUse"), conditional("guard", true), conditional("log", false))
	for line, want := range map[string][]string{
		"git push": {"first", "always", "guard", "log"},
		"ls":       {"always", "guard?"},
	} {
		e := &events.Event{Envelope: events.Envelope{
			Event: "PreToolUse", Wait: true, Data: json.RawMessage(`{"tool_name":"Bash","tool_input":{"command":"` + line + `"}}`),
		}}
		e.Contract = events.For("", "PreToolUse")
		e.Dialect = e.Contract.Dialect
		var got []string
		for _, m := range New(snap, Options{}).Match(e) {
			name := m.Hook.Name
			if m.Unfit != "" {
				name += "?"
			}
			got = append(got, name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", line, got, want)
		}
		d := Explain(snap, e.Envelope, "", nil)[0]
		if why := "when: command git push is not in the line"; d.Runs != (line == "git push") || !d.Runs && d.Why != why {
			t.Errorf("%s: runs %v: %s", line, d.Runs, d.Why)
		}
	}
}
