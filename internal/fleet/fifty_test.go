package fleet_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/fleet/fleettest"
	"github.com/hookd/hookd/wire"
)

// decisionsEach is how many decisions each machine of the test makes.
const decisionsEach = 100

// From one machine all machines, decisions and asks of fifty are seen. The work of the servers
// for one decision does not grow with the number of machines.
func TestFiftyMachines(t *testing.T) {
	first := 0.0
	sizes := []int{5, 10}
	if hooktest.All() {
		sizes = []int{5, 10, 20, 50}
	}
	for _, machines := range sizes {
		t.Run(fmt.Sprint(machines), func(t *testing.T) {
			messages, bytes := costOfDecision(t, machines)
			t.Logf("%d machines: %.0f messages, %.2f messages and %.0f bytes a decision", machines, messages*float64(machines*decisionsEach), messages, bytes)
			if first == 0 {
				first = messages
			}
			if messages > 2*first {
				t.Errorf("a decision costs the servers %.1f messages, and %.1f with 5 machines", messages, first)
			}
		})
	}
}

// costOfDecision returns how many messages the server got for each decision, and how many bytes
// it stored, while that many machines each published decisions, an ask and their state.
func costOfDecision(t *testing.T, machines int) (messages, bytes float64) {
	t.Helper()
	server, now := fleettest.Start(t, nil), time.Now().UTC()
	var viewer *machine
	for i := range machines {
		l := &local{
			sessions: []wire.Session{{SessionID: "s", Last: now, State: wire.SessionWaiting, Cwd: "/"}},
			asks:     []wire.Ask{{ID: events.NewID(now), Hook: "guard", Until: now.Add(time.Hour)}},
		}
		for n := range decisionsEach {
			l.decided = append(l.decided, decision(now, n))
		}
		viewer = l.join(t, server.URL(), fmt.Sprintf("m%02d", i))
	}
	hooktest.Until(t, "all decisions are published", func() bool {
		n, _ := server.Stored("HOOKD_t_LOG")
		return n == uint64(machines*decisionsEach)
	})
	received := server.Received()
	_, stored := server.Stored("HOOKD_t_LOG")
	hooktest.Until(t, "all is seen", func() bool {
		q := wire.FleetQuery{DecisionQuery: wire.DecisionQuery{Limit: 5000}}
		page, err := viewer.Decisions(t.Context(), q)
		list, bad := viewer.Machines(t.Context())
		asks, worse := viewer.Asks(t.Context())
		return err == nil && bad == nil && worse == nil && len(page.Decisions) == machines*decisionsEach &&
			len(list) == machines && len(asks.Asks) == machines
	})
	decisions := float64(machines * decisionsEach)
	return float64(received) / decisions, float64(stored) / decisions
}

// decision is the n-th of a machine, as long as one usually is.
func decision(now time.Time, n int) wire.Decision {
	return wire.Decision{
		EventID: events.NewID(now), Seq: uint64(n + 1), EventSeq: uint64(n), Time: now, Event: "PreToolUse", Kind: "tool.before",
		Dialect: "claude-code", AgentID: "claude", SessionID: "5f1c0a52-0f5c-4c0e-9a57-2b8f0a1f7e11",
		Cwd: "/home/ann/src/project", Tool: "shell", Subject: "git push --force origin main && make deploy",
		Decision: wire.OutcomeDeny, Reason: "git push --force is not allowed on main", DecidedBy: []string{"command-guard"},
		DurationMS: 4.2, Runs: []string{events.NewID(now), events.NewID(now)},
	}
}
