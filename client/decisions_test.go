package client

import (
	"errors"
	"testing"
)

func TestDecisionsAreReadInPages(t *testing.T) {
	_, c := start(t)
	for _, tt := range []struct{ limit, want int }{{0, 5}, {3, 3}, {1, 1}, {100, 5}} {
		got, err := c.Decisions(t.Context(), DecisionQuery{Decision: "deny", Tool: "Bash", Limit: tt.limit})
		if err != nil || len(got) != tt.want || got[0].Seq != 5 || got[0].Decision != OutcomeDeny || got[0].Tool != "Bash" {
			t.Errorf("limit %d: got %+v, %v, want %d of them", tt.limit, got, err, tt.want)
		}
	}
}

func TestSessionsAndRunsUnderWay(t *testing.T) {
	_, c := start(t)
	sessions, err := c.Sessions(t.Context(), SessionQuery{Agent: "codex", State: "idle"})
	if err != nil || len(sessions) != 1 || sessions[0].AgentName != "codex" || sessions[0].State != "idle" {
		t.Errorf("got %+v, %v", sessions, err)
	}
	runs, err := c.Running(t.Context())
	if err != nil || len(runs) != 1 || runs[0].Hook != "slow" {
		t.Errorf("got %+v, %v", runs, err)
	}
	killed, err := c.Kill(t.Context(), "r 1/x")
	if err != nil || killed.RunID != "r 1/x" {
		t.Errorf("got %+v, %v", killed, err)
	}
	var refused *Error
	if _, err := c.Kill(t.Context(), "none"); !errors.As(err, &refused) || refused.Code != CodeNotFound {
		t.Errorf("got %v", err)
	}
}
