package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

const (
	maxMemory  = (64 + 96) << 20 // the default of queue.max_bytes, and 96 MiB: with rules, facts and undo the program is larger
	largeBytes = 14 << 20        // of an event that is nearly as large as one may be
)

// peakMemory is the most memory that a process has had, in bytes; 0 = it is gone.
func peakMemory(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(m[1])) // digits
	return n << 10
}

// checkMemory fails the test when the daemon has ever had more memory than it may.
func (h *home) checkMemory(when string) {
	h.Helper()
	most := peakMemory(h.daemon.cmd.Process.Pid)
	h.Logf("%s: at most %d MiB", when, most>>20)
	if most == 0 || most > maxMemory && !raced {
		h.Errorf("%s: hookd took %d MiB, want no more than %d", when, most>>20, maxMemory>>20)
	}
}

// sendLarge sends n large events at once. Each is accepted, or refused with the
// reason that there is no room now; then it is sent again.
func (h *home) sendLarge(n int) {
	h.Helper()
	var senders sync.WaitGroup
	for range n {
		h.sent++
		number := fmt.Sprint(h.sent)
		h.acked = append(h.acked, number)
		senders.Go(func() {
			data := []byte(`{"n":` + number + `,"pad":"` + strings.Repeat("x", largeBytes) + `"}`)
			for {
				_, err := h.client.Emit(h.Context(), client.Event{Event: "agent:step", SessionID: "s", Data: data})
				var refused *client.Error
				if errors.As(err, &refused) && refused.Code == client.CodeQueueFull {
					continue
				}
				if err != nil {
					h.Errorf("large event %s: %v", number, err)
				}
				return
			}
		})
	}
	senders.Wait()
}

// largeHome makes a home whose hook note takes the data of a large event from stdin.
func largeHome(t *testing.T, settings string) *home {
	h := newHome(t)
	number := `head -c 200 | grep -o '"n":[0-9]*' | cut -d: -f2 >> ` + h.path("ran")
	h.script("note", "events: [agent:step]\norder: serial\ntimeout: 300s", "until [ -e "+h.path("go")+" ]; do sleep 0.05; done\n"+number)
	h.write("hookd.yaml", settings)
	return h
}

func TestMemoryWithLargeEventsThatWait(t *testing.T) {
	hooktest.Long(t)
	h := largeHome(t, "")
	h.serve()
	h.sendLarge(1)
	h.sendLarge(amount(59, 9))
	h.checkMemory("accepting while the hook is held up")
	h.end(syscall.SIGKILL)
	h.serve()
	hooktest.Until(t, "the first run", func() bool {
		st, err := h.client.Status(t.Context())
		return err == nil && st.Running["observers"] == 1
	})
	h.checkMemory("after a restart")
	h.write("go", "")
	h.ranAll()
	h.checkMemory("when all have run")
}

func TestMemoryWithSubscribersThatAreBehind(t *testing.T) {
	hooktest.Long(t)
	h := largeHome(t, "history: {payload: full}\n")
	h.write("go", "")
	h.serve()
	n := amount(40, 5)
	h.sendLarge(n)
	h.ranAll()
	h.end(syscall.SIGTERM)
	h.serve()
	var subscribers sync.WaitGroup
	for range amount(10, 3) {
		subscribers.Go(func() {
			var since uint64
			large := 0
			err := h.client.Tail(t.Context(), client.TailOptions{Since: &since, Once: true}, func(raw json.RawMessage) error {
				if len(raw) > largeBytes && json.Valid(raw) {
					large++
				}
				return nil
			})
			if err != nil || large != n {
				t.Errorf("a subscriber got %d large events of %d, %v", large, n, err)
			}
		})
	}
	subscribers.Wait()
	h.checkMemory("subscribers read what is on disk")
}

func TestMemoryWithHalfSentEvents(t *testing.T) {
	hooktest.Long(t)
	h := newHome(t)
	h.serve()
	half := `{"event":"agent:step","data":{"n":0,"pad":"` + strings.Repeat("x", largeBytes)
	body := fmt.Sprintf("POST /v1/events HTTP/1.1\r\nHost: hookd\r\nContent-Length: %d\r\n\r\n", len(half)+100)
	var sent atomic.Int64
	n := amount(60, 3)
	for i := range n {
		conn, err := net.Dial("unix", h.path("hookd.sock"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		go func() {
			io.WriteString(conn, []string{"", body}[i%2]+half)
			sent.Add(1)
		}()
	}
	hooktest.Until(t, "each has sent all, or was refused", func() bool { return sent.Load() == int64(n) })
	h.checkMemory("half-sent events")
}

func TestMemoryWithManyLargeAnswers(t *testing.T) {
	hooktest.Long(t)
	const size = 1_700_000
	h := newHome(t)
	h.script("rewrite", "events: [tool_response_transform]",
		`printf '{"hook_specific_output":{"updated_tool_response":"'; head -c `+fmt.Sprint(size)+` /dev/zero | tr '\0' x; printf '"}}'`)
	h.serve()
	var senders sync.WaitGroup
	for s := range amount(4, 2) {
		senders.Go(func() {
			for i := range amount(100, 15) {
				event := fmt.Sprintf(`{"event":"tool_response_transform","id":"%d-%d","data":{"tool_name":"shell","tool_response":"y"}}`, s, i)
				if r := h.request("POST", "/v1/events?wait=1", event); r.status != 200 || len(r.body) < size {
					t.Errorf("answer %d %.300s", r.status, r.body)
				}
			}
		})
	}
	senders.Wait()
	h.checkMemory("answers with ids")
}

func TestMemoryWithManyLargeEventsToDecide(t *testing.T) {
	hooktest.Long(t)
	h := newHome(t)
	h.serve()
	body := `{"event":"pre_tool_use","data":{"tool_name":"shell","tool_input":{"x":"` + strings.Repeat("x", 8<<20) + `"}}}`
	var senders sync.WaitGroup
	for range amount(100, 12) {
		senders.Go(func() {
			r := h.request("POST", "/v1/events?wait=1", body)
			if denied := r.Verdict != nil && !r.Verdict.Allowed; r.status != 200 && r.Error.Code != "queue_full" || r.status == 200 && !denied {
				t.Errorf("answer %d %.300s, want a denial or a reason", r.status, r.body)
			}
		})
	}
	senders.Wait()
	h.checkMemory("large events that are decided")
}
