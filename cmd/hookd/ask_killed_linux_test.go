package main

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// TestKilledWhileAsksAreHeld kills hookd at the moment when the last of many asks is
// held. Each agent gets an answer or a closed connection, none is allowed, and the restarted
// daemon has the end of each ask on record.
func TestKilledWhileAsksAreHeld(t *testing.T) {
	t.Parallel()
	rounds, agents := amount(50, hooktest.Amount(2, 1)), amount(1000, hooktest.Amount(100, 20))
	h := newAskHome(t)
	h.write("hooks/push/HOOK.yaml", asksPush+"timeout: 5m\n") // so many shells take their time
	h.write("hookd.yaml", "asks: {timeout: 10m}\n")
	h.says(0, "", "reload")
	for round := range rounds {
		h.present()
		answers := make(chan string, agents)
		for i := range agents {
			conn, err := net.Dial("unix", h.client.Socket())
			hooktest.Must(t, err)
			_, err = fmt.Fprintln(conn, codexCall(fmt.Sprintf("git push %d %d", round, i), "s"))
			hooktest.Must(t, err)
			go func() {
				defer conn.Close()
				line, _ := bufio.NewReader(conn).ReadString('\n')
				answers <- line
			}()
		}
		hooktest.Until(t, "all asks are held", func() bool {
			list, err := h.client.Asks(t.Context())
			return err == nil && len(list.Asks) == agents
		})
		h.end(syscall.SIGKILL)
		for range agents {
			if line := <-answers; line != "" && !strings.Contains(line, `"permission_decision":"ask"`) {
				t.Fatalf("round %d: an agent was told %s", round, line)
			}
		}
		h.serve()
		hooktest.Until(t, "hookd is ready", h.ready)
		if list, err := h.client.Asks(t.Context()); err != nil || len(list.Asks) > 0 {
			t.Fatalf("round %d: after the restart %d asks wait, %v", round, len(list.Asks), err)
		}
		q := client.DecisionQuery{Text: fmt.Sprintf("git push %d ", round), Limit: agents + 1}
		var ended []client.Decision
		hooktest.Until(t, "the end of each ask is on record", func() bool {
			var err error
			ended, err = h.client.Decisions(t.Context(), q)
			return err == nil && len(ended) >= agents
		})
		subjects := map[string]bool{}
		for _, d := range ended {
			subjects[d.Subject] = true
			if d.Decision != client.OutcomeAsk || d.Answered == nil || d.Answered.By != client.ByRestart {
				t.Fatalf("round %d: recorded as %+v", round, d)
			}
		}
		if len(ended) != agents || len(subjects) != agents {
			t.Fatalf("round %d: %d records of %d asks", round, len(ended), len(subjects))
		}
	}
}
