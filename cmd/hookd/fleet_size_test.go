package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/fleet/fleettest"
)

// deniesOrAsks is a guard that asks about a push and denies all else.
const deniesOrAsks = `name: guard
events: PreToolUse
type: script
script: |
  decision=deny
  grep -q push && decision=ask
  echo "{\"hookSpecificOutput\":{\"permissionDecision\":\"$decision\",\"permissionDecisionReason\":\"a rule\"}}"
`

// denialsEach is how many calls are denied on each machine.
const denialsEach = 10

// TestFleetOfWholeMachines starts daemons, 50 with -long. Each daemon decides and holds an
// ask. Any daemon shows all machines, decisions, sessions and asks. The server's work
// for a decision does not grow with their number.
func TestFleetOfWholeMachines(t *testing.T) {
	hooktest.Long(t)
	first, sizes := 0.0, []int{3}
	if *long {
		sizes = []int{5, 50}
	}
	for _, machines := range sizes {
		t.Run(fmt.Sprint(machines), func(t *testing.T) {
			cost := wholeMachines(t, machines)
			if first == 0 {
				first = cost
			}
			if cost > 2*first {
				t.Errorf("the server gets %.1f messages for each decision, and %.1f with fewer machines", cost, first)
			}
		})
	}
}

// wholeMachines returns how many messages the server got for each decision.
func wholeMachines(t *testing.T, n int) (messages float64) {
	t.Helper()
	server := fleettest.Start(t, nil)
	members := make([]*member, n)
	var starting sync.WaitGroup
	for i := range members {
		home := hooktest.ShortDir(t)
		members[i] = &member{
			t: t, name: fmt.Sprintf("m%02d", i), home: home,
			client: client.New(client.Options{Socket: filepath.Join(home, "hookd.sock")}),
		}
		hooktest.Write(t, filepath.Join(home, "hooks", "guard", "HOOK.yaml"), deniesOrAsks, 0o644)
		hooktest.Write(t, filepath.Join(home, "hookd.yaml"), fmt.Sprintf(
			"fleet: {name: %s, servers: [%s], approvers: {ann: \"ed25519:tfoLthMGMHEWDEAaq3Cv5JNJJP4Nsug8DHjpJ4wD/N0=\"}}\n",
			members[i].name, server.URL()), 0o644)
		members[i].start()
		t.Cleanup(members[i].kill)
	}
	viewer := members[n/2]
	hooktest.Until(t, "a machine sees all others", func() bool {
		f, err := viewer.client.Fleet(t.Context())
		return err == nil && f.Unread == "" && len(f.Machines) == n
	})
	before := server.Received()
	for _, m := range members {
		starting.Go(m.decideAndAsk)
	}
	starting.Wait()
	hooktest.Until(t, "all decisions are told", func() bool {
		told, _ := server.Stored("HOOKD_default_LOG")
		return told >= uint64(n*denialsEach)
	})
	messages = float64(server.Received()-before) / float64(n*denialsEach)
	told, bytes := server.Stored("HOOKD_default_LOG")
	for _, m := range []*member{members[0], viewer, members[n-1]} {
		m.showsAll(n)
	}
	t.Logf("%d machines: %.1f messages and %d bytes a decision, %d MiB in the largest daemon", n, messages, bytes/told, largest(t, members)>>10)
	return messages
}

// decideAndAsk has calls denied, and one held that a person is asked about.
func (m *member) decideAndAsk() {
	call := func(command string) client.Event {
		return client.Event{Event: "PreToolUse", Dialect: "codex", SessionID: "s-" + m.name, Cwd: "/p", Data: fmt.Appendf(nil,
			`{"tool_name":"Bash","tool_input":{"command":%q}}`, command)}
	}
	for i := range denialsEach {
		if v, err := m.client.Decide(m.t.Context(), call(fmt.Sprint("make ", i))); err != nil || v.Allowed {
			m.t.Errorf("%s decides %+v, %v", m.name, v, err)
		}
	}
	go m.client.Decide(m.t.Context(), call("git push")) // is held until the test ends
}

// showsAll waits until the machine shows everything that is on all n machines.
func (m *member) showsAll(n int) {
	m.t.Helper()
	var shown string
	defer func() { m.t.Logf("%s shows %s", m.name, shown) }()
	hooktest.Until(m.t, m.name+" shows everything", func() bool {
		f, err := m.client.Fleet(m.t.Context())
		page, bad := m.client.FleetDecisions(m.t.Context(), client.FleetQuery{DecisionQuery: client.DecisionQuery{Decision: "deny", Limit: 1000}})
		asks, worse := m.client.FleetAsks(m.t.Context())
		sessions, worst := m.client.FleetSessions(m.t.Context(), client.SessionQuery{Limit: 500})
		shown = fmt.Sprintf("%d machines, %d decisions, %d asks, %d sessions, %v", len(f.Machines), len(page.Decisions),
			len(asks), len(sessions), errors.Join(err, bad, worse, worst))
		return err == nil && bad == nil && worse == nil && worst == nil && len(f.Machines) == n &&
			len(page.Decisions) == n*denialsEach && len(asks) == n && len(sessions) == n
	})
}

// largest returns how many KiB of memory the largest daemon has, 0 where that is not known.
func largest(t *testing.T, members []*member) (kib int) {
	t.Helper()
	for _, m := range members {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.cmd.Process.Pid)) // Linux only
		for line := range strings.Lines(string(text)) {
			var n int
			if _, err := fmt.Sscanf(line, "RssAnon: %d kB", &n); err == nil {
				kib = max(kib, n)
			}
		}
	}
	return kib
}
