package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/fleet/fleettest"
)

var (
	noted   = regexp.MustCompile(`"note":"([^"]+)"`)
	eventID = regexp.MustCompile(`"event_id":"([^"]+)"`)
)

// noteEvents is the program of a persistent hook. It appends the note of each event to the file
// that it is given, in one write, and answers. The file is an argument or NOTES.
func noteEvents() {
	file := os.Getenv("NOTES")
	if len(os.Args) > 1 {
		file = os.Args[1]
	}
	out, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fmt.Fprintf(out, "%s\n", noted.FindSubmatch(lines.Bytes())[1])
		fmt.Printf("{\"event_id\":%q}\n", eventID.FindSubmatch(lines.Bytes())[1])
	}
}

// The fleet of the test, its load, and how often a part of the fleet is killed.
const (
	fleetMachines = 3
	fleetAgents   = 5   // on each machine, with a session each
	fleetRate     = 500 // events a second, of all agents together
	everyTenth    = 10  // of the events of an agent is for each machine
	killEvery     = time.Second
)

// member is a machine of a fleet: a daemon that is killed and started again.
type member struct {
	t      *testing.T
	name   string
	home   string
	client *client.Client
	cmd    *exec.Cmd
	within []string // the beginning of the command that starts it; nil = none
	bin    string   // folder of its programs; "" = those of the test
	env    []string // more than the test's
}

// Where the hooks of a machine are given the file in which they note the events that they ran for. A file
// that is an argument is a part of its hook. The hook then changes and is reloaded all the time.
const (
	inArgs = "args: [%s]"
	inEnv  = "env: {NOTES: %s}"
)

// newMember makes a machine with a hook for events of each scope. notes is inArgs or inEnv.
func newMember(t *testing.T, name string, servers []string, notes string) *member {
	t.Helper()
	m := makeMember(t, name, fmt.Sprintf("servers: [%s]", strings.Join(servers, ", ")), notes)
	m.join()
	return m
}

// makeMember makes a machine that does not run yet, with settings of its fleet.
func makeMember(t *testing.T, name, settings, notes string) *member {
	t.Helper()
	home := hooktest.ShortDir(t)
	m := &member{t: t, name: name, home: home, client: client.New(client.Options{Socket: filepath.Join(home, "hookd.sock")})}
	note := m.makeNotes()
	for scope, event := range map[string]string{"fleet": "agent:step", "every": "agent:mark", "local": "agent:walk"} {
		hooktest.Write(t, filepath.Join(home, "hooks", scope, "HOOK.yaml"), fmt.Sprintf(
			"name: %s\nevents: [%s]\nscope: %s\nmode: persistent\ncommand: %s\n"+notes+"\n",
			scope, event, scope, note, m.notes(scope)), 0o644)
	}
	hooktest.Write(t, filepath.Join(home, "hookd.yaml"),
		fmt.Sprintf("fleet: {name: %s, %s}\n", name, settings), 0o644)
	return m
}

// join starts the machine until the test ends.
func (m *member) join() {
	m.start()
	m.t.Cleanup(func() {
		if m.t.Failed() {
			m.tell()
		}
		m.kill()
	})
}

// tell logs the machine's view of the fleet, and the end of its own log.
func (m *member) tell() {
	f, err := m.client.Fleet(context.Background())
	said := content(m.t, filepath.Join(m.home, "log"))
	m.t.Logf("%s: %+v, %v\n%s", m.name, f, err, said[max(0, len(said)-4096):])
}

// makeNotes puts the program of the hooks in place, and returns its path.
func (m *member) makeNotes() string {
	note := filepath.Join(filepath.Dir(hookdBinary(m.t, m.home)), "note-events")
	self, err := os.Executable()
	hooktest.Must(m.t, err)
	hooktest.Must(m.t, os.Symlink(self, note))
	return note
}

func (m *member) notes(hook string) string { return filepath.Join(m.home, hook+".notes") }

// start starts the daemon and does not wait for it.
func (m *member) start() {
	bin, hookd := hooktest.Programs(m.t), hookdBinary(m.t, m.home)
	if m.bin != "" {
		bin, hookd = m.bin, filepath.Join(m.bin, "hookd")
	}
	command := append(slices.Clone(m.within), hookd, "serve", "--fire-startup=false")
	m.cmd = exec.Command(command[0], command[1:]...)
	m.cmd.Env = append(os.Environ(), "LIBREFANG_HOME="+m.home, "PATH="+bin+":"+os.Getenv("PATH"))
	m.cmd.Env = append(m.cmd.Env, m.env...)
	log, err := os.OpenFile(filepath.Join(m.home, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	hooktest.Must(m.t, err)
	defer log.Close()
	m.cmd.Stderr = log
	hooktest.Must(m.t, m.cmd.Start())
}

func (m *member) kill() {
	_ = m.cmd.Process.Kill()
	_ = m.cmd.Wait()
}

// agent sends events of one session through one machine, one after another.
type agent struct {
	session  string
	of       *member
	local    bool            // its events stay on their machine
	accepted map[string]bool // notes of events that the machine has accepted
}

// send sends events at a rate until ctx ends, also to a machine that has come back.
func (a *agent) send(ctx context.Context, rate time.Duration) {
	tick := time.NewTicker(rate)
	defer tick.Stop()
	var conn *client.Conn
	for n := 0; ; n++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if conn == nil {
			var err error
			if conn, err = a.of.client.Dial(ctx); err != nil {
				conn = nil
				continue
			}
		}
		event, note := "agent:step", fmt.Sprintf("%s/%06d", a.session, n)
		switch {
		case a.local:
			event = "agent:walk"
		case n%everyTenth == 0:
			event = "agent:mark"
		}
		err := conn.Send(ctx, client.Event{Event: event, SessionID: a.session, Data: fmt.Appendf(nil, `{"note":%q}`, note)})
		if err == nil {
			_, err = conn.Receive(ctx)
		}
		if err != nil { // it may have been accepted all the same
			conn.Close()
			conn = nil
			continue
		}
		a.accepted[note] = true
	}
}

// newMembers makes the machines of a fleet on servers, and returns when each sees the others.
func newMembers(t *testing.T, servers []*fleettest.Process, notes string) (members []*member, urls []string) {
	t.Helper()
	for _, s := range servers {
		urls = append(urls, s.URL())
	}
	for i := range fleetMachines {
		members = append(members, newMember(t, fmt.Sprintf("m%d", i), urls, notes))
	}
	for _, m := range members {
		hooktest.Until(t, "the machine sees the others", func() bool {
			f, err := m.client.Fleet(t.Context())
			return err == nil && f.Unread == "" && len(f.Machines) == fleetMachines
		})
	}
	return members, urls
}

// sendEvents has agents send events through members until ctx ends, for other machines too
// or, if local, for none. The function that it
// returns waits for that, and returns the notes of all events that were accepted.
func sendEvents(ctx context.Context, members []*member, local bool) (accepted func() map[string]bool) {
	var agents []*agent
	var sending sync.WaitGroup
	count := len(members) * fleetAgents
	for i := range count {
		m := members[i%len(members)]
		a := &agent{session: fmt.Sprintf("%s-a%d", m.name, i), of: m, local: local, accepted: map[string]bool{}}
		agents = append(agents, a)
		sending.Go(func() { a.send(ctx, time.Second*time.Duration(count)/fleetRate) })
	}
	return func() map[string]bool {
		sending.Wait()
		all := map[string]bool{}
		for _, a := range agents {
			maps.Copy(all, a.accepted)
		}
		return all
	}
}

// TestFleetOfKilledMachines kills one of three machines and three servers each second, while
// agents send 500 events a second. Each event that was accepted runs, on one machine or on
// each, in the order of its session, and runs twice only if it was in flight at a kill.
func TestFleetOfKilledMachines(t *testing.T) {
	hooktest.Long(t)
	servers := fleettest.Cluster(t, 3)
	members, urls := newMembers(t, servers, inArgs)
	ctx, end := context.WithTimeout(t.Context(), time.Duration(amount(120, 8))*time.Second)
	defer end()
	sent := sendEvents(ctx, members, false)
	kills := killInTurn(ctx, members, servers)
	accepted := sent()
	began := time.Now()
	drained(t, members, fleettest.Streams(t, urls))
	t.Logf("%d kills, %d events accepted, all taken %s after the last", kills, len(accepted), time.Since(began).Round(time.Second))
	countNotes(t, members, accepted, kills)
}

// killInTurn kills a machine and a server by turns, and starts each again at once, until ctx
// ends. It returns how many it has killed.
func killInTurn(ctx context.Context, members []*member, servers []*fleettest.Process) (kills int) {
	tick := time.NewTicker(killEvery)
	defer tick.Stop()
	for ; ; kills++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return kills
		}
		if i := kills / 2; kills%2 == 0 {
			m := members[i%len(members)]
			m.kill()
			m.start()
		} else {
			s := servers[i%len(servers)]
			s.Kill()
			s.Run()
		}
	}
}

// soon is hooktest.Until with a limit of minutes: machines pause for a minute at most, and a backlog is long.
func soon(t *testing.T, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(5 * time.Minute); !cond(); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Errorf("waited in vain until %s", what)
			return
		}
	}
}

// drained waits until nothing is on its way.
func drained(t *testing.T, members []*member, streams jetstream.JetStream) {
	t.Helper()
	for _, m := range members {
		soon(t, m.name+" has sent everything", func() bool {
			f, err := m.client.Fleet(t.Context())
			st, bad := m.client.Status(t.Context())
			return err == nil && bad == nil && f.Outbox.Events == 0 && st.Store.PendingRuns == 0 && st.Queued == 0
		})
	}
	work := fleet.Names{Tenant: "default", Machine: "x"}
	soon(t, "workers have everything", func() bool {
		of := work.Queues("fleet")[1]
		c, err := streams.Consumer(t.Context(), of.Stream, of.Name)
		return err == nil && c.CachedInfo().NumPending == 0 && c.CachedInfo().NumAckPending == 0
	})
	for _, m := range members {
		soon(t, m.name+" has read everything", func() bool {
			var at struct{ Through uint64 }
			text, _ := os.ReadFile(filepath.Join(m.home, "hookd", "fleet", "HOOKD_default_EVERY.json"))
			s, err := streams.Stream(t.Context(), "HOOKD_default_EVERY")
			return err == nil && json.Unmarshal(text, &at) == nil && at.Through == s.CachedInfo().State.LastSeq
		})
	}
	for _, m := range members {
		soon(t, m.name+" has run everything", func() bool {
			st, err := m.client.Status(t.Context())
			return err == nil && st.Store.PendingRuns == 0 && st.Queued == 0
		})
	}
}

// inFlight is how many events one machine can have had that it had taken from the servers,
// and had not told them yet, or had given to a hook that had not answered.
const inFlight = 3 * 64

// countNotes compares the events that ran with the accepted ones.
func countNotes(t *testing.T, members []*member, accepted map[string]bool, kills int) {
	t.Helper()
	once := map[string]int{}
	var doubles, lost int
	for _, m := range members {
		ran := readNotes(t, m.notes("fleet"), nil)
		t.Logf("%s ran %d events of scope fleet", m.name, len(ran))
		for note, n := range ran {
			once[note] += n
		}
		m.inOrder()
		every := readNotes(t, m.notes("every"), m.ranInOrder())
		for note := range accepted {
			if mark(note) && every[note] == 0 {
				t.Errorf("%s was not on %s", note, m.name)
			}
			doubles += max(0, every[note]-1)
		}
	}
	for note := range accepted {
		if !mark(note) && once[note] == 0 {
			if lost++; lost <= 5 {
				t.Errorf("%s is lost", note)
			}
		}
		doubles += max(0, once[note]-1)
	}
	t.Logf("%d lost, %d ran again, at most %d were in flight at a kill", lost, doubles, kills*inFlight)
	if lost > 0 || doubles > kills*inFlight || len(accepted) == 0 {
		t.Errorf("of %d events %d are lost, and %d ran again", len(accepted), lost, doubles)
	}
}

// mark reports whether the event of a note is for each machine.
func mark(note string) bool { return strings.HasSuffix(note, "0") }

// readNotes counts the notes of a file, and calls first with each when it stands there first.
func readNotes(t *testing.T, file string, first func(note string)) map[string]int {
	t.Helper()
	text, err := os.ReadFile(file)
	if !errors.Is(err, fs.ErrNotExist) { // it ran for none
		hooktest.Must(t, err)
	}
	times := map[string]int{}
	for note := range strings.Lines(string(text)) {
		note = strings.TrimSpace(note)
		if times[note]++; times[note] == 1 && first != nil {
			first(note)
		}
	}
	return times
}

// ranInOrder returns a function that is called with each event that the machine ran. It fails
// the test for an event that ran behind a later one of its session.
func (m *member) ranInOrder() func(note string) {
	newest := map[string]string{}
	return func(note string) {
		session, _, _ := strings.Cut(note, "/")
		if note < newest[session] {
			m.t.Errorf("%s has run %s after %s", m.name, note, newest[session])
		}
		newest[session] = note
	}
}

// inOrder fails the test where the machine has accepted an event that is for each machine
// behind a later one of its session.
func (m *member) inOrder() {
	m.t.Helper()
	newest, since, n := map[string]string{}, uint64(0), 0
	err := m.client.Tail(m.t.Context(), client.TailOptions{Since: &since, Once: true}, func(raw json.RawMessage) error {
		var r struct {
			Type, Event string
			Data        struct{ Note string }
		}
		if err := json.Unmarshal(raw, &r); err != nil || r.Type != "event" || r.Event != "agent:mark" {
			return err
		}
		session, _, _ := strings.Cut(r.Data.Note, "/")
		if r.Data.Note < newest[session] {
			m.t.Errorf("%s has accepted %s after %s", m.name, r.Data.Note, newest[session])
		}
		newest[session] = r.Data.Note
		n++
		return nil
	})
	if err != nil || n == 0 {
		m.t.Errorf("%s tells of %d events, %v", m.name, n, err)
	}
}
