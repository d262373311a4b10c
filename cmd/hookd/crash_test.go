package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// TestKilledDaemonLosesNothing kills hookd after a random number of answers while eight
// agents send numbered events. It counts the events that ran.
func TestKilledDaemonLosesNothing(t *testing.T) {
	t.Parallel()
	rounds := amount(50, hooktest.Amount(20, 3))
	home := t.TempDir()
	ran := filepath.Join(home, "ran")
	writeCrashHook(t, home, ran)
	senders, answers := make([]*sender, 8), new(atomic.Int64)
	for i := range senders {
		senders[i] = &sender{session: fmt.Sprint("s", i), socket: filepath.Join(home, "hookd.sock"), answers: answers}
	}
	for range rounds {
		kill := serveUntilKilled(t, home)
		round, end := context.WithCancel(t.Context())
		var sending sync.WaitGroup
		for _, s := range senders {
			sending.Go(func() { s.send(round) })
		}
		enough := answers.Load() + rand.Int64N(400)
		hooktest.Until(t, "agents have got that many answers", func() bool { return answers.Load() >= enough })
		kill()
		end()
		sending.Wait()
	}
	kill := serveUntilKilled(t, home)
	defer kill()
	c := client.New(client.Options{Socket: senders[0].socket})
	hooktest.Until(t, "everything has run", func() bool {
		st, err := c.Status(t.Context())
		return err == nil && st.Store.PendingRuns == 0 && st.Queued == 0
	})
	countRuns(t, ran, senders, rounds)
}

// writeCrashHook makes a hook that notes its event in one write.
func writeCrashHook(t *testing.T, home, ran string) {
	t.Helper()
	dir := filepath.Join(home, "hooks", "note")
	for name, text := range map[string]string{
		"HOOK.yaml": "name: note\nevents: [agent:step]\ntimeout: 10m\ncommand: ./note.sh\n",
		"note.sh":   "#!/bin/sh\nprintf '%s\\n' \"$HOOK_EVENT_DATA\" >> " + ran + "\n",
	} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// serveUntilKilled starts hookd and returns how to kill it with SIGKILL.
func serveUntilKilled(t *testing.T, home string) (kill func()) {
	t.Helper()
	cmd := exec.Command(hookdBinary(t, home), "serve", "--fire-startup=false")
	var log bytes.Buffer
	cmd.Env, cmd.Stderr = append(os.Environ(), "LIBREFANG_HOME="+home), &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	var once sync.Once
	kill = func() {
		once.Do(func() {
			cmd.Process.Kill()
			<-ended
			for line := range strings.Lines(log.String()) {
				if strings.Contains(line, `"level":"error"`) {
					t.Error(line)
				}
			}
		})
	}
	t.Cleanup(kill)
	c := client.New(client.Options{Socket: filepath.Join(home, "hookd.sock")})
	hooktest.Until(t, "hookd is ready", func() bool {
		select {
		case <-ended:
			t.Fatalf("hookd ended: %s", log.String())
		default:
		}
		return c.Ready(t.Context()) == nil
	})
	return kill
}

// sender is an agent with one session and one event under way.
type sender struct {
	session, socket string
	answers         *atomic.Int64 // of all agents
	next            int
	acknowledged    []int
}

// send sends events until hookd is gone.
func (s *sender) send(ctx context.Context) {
	conn, err := client.New(client.Options{Socket: s.socket}).Dial(ctx)
	if err != nil {
		return
	}
	defer conn.Close()
	for ; ; s.next++ {
		data := fmt.Appendf(nil, `{"session":%q,"n":%d}`, s.session, s.next)
		err := conn.Send(ctx, client.Event{Event: "agent:step", SessionID: s.session, Data: data})
		if err == nil {
			_, err = conn.Receive(ctx)
		}
		if err != nil {
			s.next++ // it may have been accepted all the same
			return
		}
		s.acknowledged = append(s.acknowledged, s.next)
		s.answers.Add(1)
	}
}

// countRuns compares the events that ran with the acknowledged ones.
func countRuns(t *testing.T, ran string, senders []*sender, rounds int) {
	t.Helper()
	text, err := os.ReadFile(ran)
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]map[int]int{}
	newest := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		session, number, ok := strings.Cut(strings.TrimPrefix(lines.Text(), `{"session":"`), `","n":`)
		n, err := strconv.Atoi(strings.TrimSuffix(number, "}"))
		if !ok || err != nil {
			t.Fatalf("odd line %q", lines.Text())
		}
		if times[session] == nil {
			times[session] = map[int]int{}
			newest[session] = -1
		}
		if times[session][n]++; times[session][n] == 1 && n < newest[session] {
			t.Errorf("session %s: %d ran for the first time after %d", session, n, newest[session])
		}
		newest[session] = max(newest[session], n)
	}
	var acknowledged, once, more, lost int
	for _, s := range senders {
		for _, n := range s.acknowledged {
			acknowledged++
			switch times[s.session][n] {
			case 0:
				lost++
			case 1:
				once++
			default:
				more++
			}
		}
	}
	t.Logf("acknowledged %d, run once %d, run twice or more %d, lost %d", acknowledged, once, more, lost)
	if lost > 0 || acknowledged < rounds {
		t.Errorf("acknowledged %d, lost %d", acknowledged, lost)
	}
}
