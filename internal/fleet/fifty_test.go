package fleet_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/fleet/fleettest"
	"github.com/hookd/hookd/internal/fleet/jetstream"
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

// A thousand machines, or as many as FLEET_MACHINES says, cost no consumer, a few subjects each, and as
// many messages for a decision as five.
func TestManyMachines(t *testing.T) {
	if !hooktest.All() {
		t.Skip("it has a thousand machines")
	}
	machines, each := 1000, 10
	if n, err := strconv.Atoi(os.Getenv("FLEET_MACHINES")); err == nil {
		machines = n
	}
	server, now := fleettest.Start(t, nil), time.Now().UTC()
	began := time.Now()
	for i := range machines {
		l := &local{sessions: []wire.Session{{SessionID: "s", Last: now, State: wire.SessionWaiting, Cwd: "/"}}}
		for n := range each {
			l.decided = append(l.decided, decision(now, n))
		}
		names := fleet.Names{Tenant: "t", Machine: fmt.Sprintf("m%05d", i)}
		b, err := jetstream.Connect(engine.Options{Servers: []string{server.URL()}, Machine: names.Machine}, nil)
		hooktest.Must(t, err)
		t.Cleanup(b.Close)
		f := fleet.New(fleet.Options{Broker: b, Names: names, Outbox: nothing{}, Position: &positions{}, Machine: l, Decisions: l})
		hooktest.Run(t, func(ctx context.Context) error { f.Run(ctx); return nil })
	}
	hooktest.Until(t, "all decisions are published", func() bool {
		n, _ := server.Stored("HOOKD_t_LOG")
		return n == uint64(machines*each)
	})
	hooktest.Until(t, "each machine says how it is", func() bool {
		n, _ := server.Stored("HOOKD_t_NOW")
		return n >= uint64(2*machines)
	})
	all := fleettest.Streams(t, []string{server.URL()})
	info, err := all.AccountInfo(t.Context())
	hooktest.Must(t, err)
	_, stored := server.Stored("HOOKD_t_LOG")
	_, facts := server.Stored("HOOKD_t_NOW")
	t.Logf("%d machines in %s: %.1f messages and %d bytes a decision; %d streams, %d consumers, %d bytes of state", machines,
		time.Since(began).Round(time.Second), float64(server.Received())/float64(machines*each), int(stored)/(machines*each),
		info.Streams, info.Consumers, facts)
	if info.Consumers > 0 || info.Streams != len((fleet.Names{Tenant: "t", Machine: "x"}).Layout()) {
		t.Errorf("there are %d streams and %d consumers", info.Streams, info.Consumers)
	}
}
