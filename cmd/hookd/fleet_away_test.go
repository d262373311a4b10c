package main

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/fleet/fleettest"
)

// TestFleetWithoutServers takes all servers for 30 s away from machines that accept 500 events
// a second: once they hang, once they are killed. Each machine says how far
// it is behind; when the servers are back each event runs, in the order of its session.
func TestFleetWithoutServers(t *testing.T) {
	if !*long {
		t.Skip("it takes some minutes: run it with -long")
	}
	for name, how := range map[string]struct{ leave, back func(*fleettest.Process) }{
		"hang": {
			func(s *fleettest.Process) { s.Signal(syscall.SIGSTOP) },
			func(s *fleettest.Process) { s.Signal(syscall.SIGCONT) },
		},
		"killed": {(*fleettest.Process).Kill, (*fleettest.Process).Run},
	} {
		t.Run(name, func(t *testing.T) {
			servers := fleettest.Cluster(t, 3)
			members, urls := newMembers(t, servers, inEnv)
			ctx, end := context.WithCancel(t.Context())
			defer end()
			sent := sendEvents(ctx, members, false)
			for _, m := range members {
				hooktest.Until(t, m.name+" sends events", func() bool {
					f, err := m.client.Fleet(t.Context())
					return err == nil && f.Events.Sent > 0
				})
			}
			away, back := context.WithTimeout(ctx, 30*time.Second)
			defer back()
			for _, s := range servers {
				how.leave(s)
			}
			<-away.Done()
			for _, m := range members {
				m.isBehind()
			}
			if text := members[0].run("doctor"); !doctorBehind.MatchString(text) {
				t.Errorf("doctor says\n%s", text)
			}
			for _, s := range servers {
				how.back(s)
			}
			catchUp(t, members, servers)
			end()
			accepted := sent()
			drained(t, members, fleettest.Streams(t, urls))
			t.Logf("%d events accepted", len(accepted))
			countNotes(t, members, accepted, 1)
		})
	}
}

var (
	statusBehind  = regexp.MustCompile(`(?m)^ *fleet.*waiting: [0-9][0-9,]* events?`)
	doctorBehind  = regexp.MustCompile(`(?m)fleet.*(wait|behind|answers)`)
	metricsBehind = regexp.MustCompile(`(?m)^hookd_fleet_waiting\{.*what="events".*\} [1-9]`)
	metricsLag    = regexp.MustCompile(`(?m)^hookd_fleet_lag_seconds(\{.*\})? [0-9.e+-]*[1-9]`)
)

// isBehind fails the test unless the machine tells in each place how many events wait on it.
func (m *member) isBehind() {
	m.t.Helper()
	status, err := m.client.Status(m.t.Context())
	hooktest.Must(m.t, err)
	f := status.Fleet
	if f.Outbox.Events == 0 || f.Outbox.Oldest == nil {
		m.t.Errorf("%s tells of %+v", m.name, f.Outbox)
		return
	}
	m.t.Logf("%s: %d events of %d bytes wait, the oldest for %s, connected %v", m.name, f.Outbox.Events, f.Outbox.Bytes,
		time.Since(*f.Outbox.Oldest).Round(time.Second), f.Connected)
	if text := m.run("status"); !statusBehind.MatchString(text) {
		m.t.Errorf("status of %s says\n%s", m.name, text)
	}
	if text, err := m.client.Metrics(m.t.Context()); err != nil || !metricsBehind.Match(text) || !metricsLag.Match(text) {
		m.t.Errorf("metrics of %s say %v\n%s", m.name, err, text)
	}
}

// command is a command of hookd in the home of the machine.
func (m *member) command(args ...string) *exec.Cmd {
	cmd := exec.Command(hookdBinary(m.t, m.home), args...)
	cmd.Env = append(cmd.Environ(), "LIBREFANG_HOME="+m.home, "PATH="+hooktest.Programs(m.t)+":"+os.Getenv("PATH"))
	return cmd
}

// run returns the output of a command of hookd on the machine.
func (m *member) run(args ...string) string {
	text, _ := m.command(args...).CombinedOutput() // doctor fails where it finds something
	return string(text)
}

// catchUp waits until nothing waits on any machine, and logs how fast that went.
func catchUp(t *testing.T, members []*member, servers []*fleettest.Process) {
	t.Helper()
	began, last := time.Now(), time.Now()
	var first, sent uint64
	var bytes int64
	var fastest, widest float64
	hooktest.Until(t, "what waited has left", func() bool {
		var now uint64
		left := 0
		for _, m := range members {
			f, err := m.client.Fleet(t.Context())
			if err != nil {
				return false
			}
			now, left = now+f.Events.Sent, left+f.Outbox.Events
		}
		in := int64(0)
		for _, s := range servers {
			in += s.Received()
		}
		if first == 0 {
			first = now
		} else if span := time.Since(last); span >= time.Second/2 {
			fastest, widest = max(fastest, float64(now-sent)/span.Seconds()), max(widest, float64(in-bytes)/span.Seconds())
			last, sent, bytes = time.Now(), now, in
		}
		if sent == 0 {
			sent, bytes = now, in
		}
		return left < fleetRate // of what comes meanwhile some always waits
	})
	t.Logf("%s after the servers were back all had left; %.0f events a second at most, and %.1f MB a second into all servers",
		time.Since(began).Round(time.Second/10), fastest, widest/1e6)
}
