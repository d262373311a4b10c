package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/record/otlp"
)

// arrivals are the events whose decisions have arrived at a target, each the first time.
type arrivals struct {
	mu    sync.Mutex
	seen  map[string]bool
	order []string
}

func (a *arrivals) add(ids []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range ids {
		if !a.seen[id] {
			a.seen[id] = true
			a.order = append(a.order, id)
		}
	}
}

func (a *arrivals) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.order)
}

// flaky is a server that answers every second request with a failure. Half of these come after it has
// taken the records in the request.
func flaky(t *testing.T, ids func(body []byte) ([]string, error)) (url string, a *arrivals) {
	a = &arrivals{seen: map[string]bool{}}
	var mu sync.Mutex
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // hookd was killed
		}
		mu.Lock()
		n++
		turn := n % 4
		mu.Unlock()
		if turn == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		list, err := ids(body)
		if err != nil {
			t.Error(err)
		}
		a.add(list)
		if turn == 3 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, a
}

func webhookIDs(body []byte) (ids []string, err error) {
	var b struct{ Decisions []client.Decision }
	err = json.Unmarshal(body, &b)
	for _, d := range b.Decisions {
		ids = append(ids, d.EventID)
	}
	return ids, err
}

func collectorIDs(body []byte) (ids []string, err error) {
	var data otlp.Request
	if err := json.Unmarshal(body, &data); err != nil {
		return nil, err
	}
	for _, r := range data.ResourceLogs[0].ScopeLogs[0].LogRecords {
		for _, a := range r.Attributes {
			if a.Key == "hookd.event_id" {
				ids = append(ids, *a.Value.String)
			}
		}
	}
	return ids, nil
}

// fileIDs reads a file of decisions; a line that was cut off is none.
func fileIDs(path string) (ids []string) {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		var d client.Decision
		if json.Unmarshal([]byte(line), &d) == nil && d.EventID != "" {
			ids = append(ids, d.EventID)
		}
	}
	return ids
}

// TestKilledDaemonForwardsEachDecision kills hookd after random numbers of answers while four
// sessions are denied their calls, and targets fail half of the time. Each decision of the history
// arrives at each target, in order.
func TestKilledDaemonForwardsEachDecision(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	hook, webhook := flaky(t, webhookIDs)
	otlp, collector := flaky(t, collectorIDs)
	path := h.path("decisions.ndjson")
	h.write("hookd.yaml", fmt.Sprintf("forward:\n- {type: webhook, url: %q}\n- {type: otlp, url: %q}\n- {type: file, path: %q}\n",
		hook, otlp, path))
	answered := &arrivals{seen: map[string]bool{}}
	for range amount(30, hooktest.Amount(4, 1)) {
		h.serve()
		hooktest.Until(t, "hookd is ready", h.ready)
		var sending sync.WaitGroup
		for s := range 4 {
			sending.Go(func() { denials(h, fmt.Sprint("s", s), answered) })
		}
		enough := answered.count() + rand.IntN(hooktest.Amount(1000, 200))
		hooktest.Until(t, "that many calls are answered", func() bool { return answered.count() >= enough })
		h.end(syscall.SIGKILL)
		sending.Wait()
	}
	h.serve()
	list := everyDecision(t, h.client) // with those that the kill has left
	if len(list) < len(answered.order)/2 {
		t.Fatalf("%d calls were answered, the history has %d", len(answered.order), len(list))
	}
	file := &arrivals{seen: map[string]bool{}}
	hooktest.Until(t, "each target has them all", func() bool {
		file.add(fileIDs(path))
		return min(webhook.count(), collector.count(), file.count()) >= len(list)
	})
	for name, a := range map[string]*arrivals{"webhook": webhook, "collector": collector, "file": file} {
		a.mu.Lock()
		if got, want := strings.Join(a.order, "\n"), strings.Join(list, "\n"); got != want {
			t.Errorf("%s: %d of %d decisions arrived, or in another order", name, len(a.order), len(list))
		}
		a.mu.Unlock()
	}
}

// denials sends calls of a session one after the other, and notes the answered
// calls, until hookd is gone.
func denials(h *home, session string, answered *arrivals) {
	conn, err := net.Dial("unix", filepath.Join(h.path("hookd.sock")))
	if err != nil {
		return
	}
	defer conn.Close()
	lines := bufio.NewReader(conn)
	for i := 0; ; i++ {
		if _, err := fmt.Fprintln(conn, codexCall(fmt.Sprint("rm ", i), session)); err != nil {
			return
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		var a struct {
			EventID string `json:"event_id"`
		}
		if json.Unmarshal([]byte(line), &a) != nil || !strings.Contains(line, `"allowed":false`) {
			h.Errorf("the answer is %s", line)
			return
		}
		answered.add([]string{a.EventID})
	}
}

// everyDecision returns the events of all decisions of the history, oldest first.
func everyDecision(t *testing.T, c *client.Client) (ids []string) {
	t.Helper()
	all, err := c.Decisions(t.Context(), client.DecisionQuery{Limit: 1_000_000})
	hooktest.Must(t, err)
	for i := range all {
		ids = append(ids, all[len(all)-1-i].EventID)
	}
	return ids
}
