package main

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/hooktest"
)

// TestKilledWhileAsksAreHeld kills hookd while many agents wait for a person. Each gets
// an answer or a closed connection, none is allowed, and the next life has it on record.
func TestKilledWhileAsksAreHeld(t *testing.T) {
	rounds, agents := amount(50, 2), amount(1000, 100)
	h := newAskHome(t)
	for round := range rounds {
		h.present()
		answers := make(chan string, agents)
		for i := range agents {
			conn, err := net.Dial("unix", h.client.Socket())
			hooktest.Must(t, err)
			_, err = fmt.Fprintln(conn, codexCall(fmt.Sprintf("git push %d", i), "s"))
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
	}
	var allowed, ended int
	hooktest.Until(t, "the ends are on record", func() bool {
		list, err := h.client.Decisions(t.Context(), client.DecisionQuery{Limit: rounds*agents + 1})
		allowed, ended = 0, 0
		for _, d := range list {
			if d.Decision == client.OutcomeAllow {
				allowed++
			}
			if d.Answered != nil && d.Answered.By == client.ByRestart {
				ended++
			}
		}
		return err == nil && (ended > 0 || allowed > 0)
	})
	if allowed > 0 {
		t.Errorf("%d calls were allowed", allowed)
	}
	t.Logf("%d of %d asks are on record as ended by the restart", ended, rounds*agents)
}
