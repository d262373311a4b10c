package fleet_test

import (
	"crypto/ed25519"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/fleet/fleettest"
	"github.com/hookd/hookd/wire"
)

// cable is the network between two halves of a cluster, which can be cut.
type cable struct {
	t     *testing.T
	delay time.Duration // of each byte

	mu   sync.Mutex
	cut  bool
	open []net.Conn
}

// to returns an address that leads to a port while the wire is whole.
func (w *cable) to(port int) *url.URL {
	w.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	hooktest.Must(w.t, err)
	w.t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(in, port)
		}
	}()
	return &url.URL{Scheme: "nats", Host: l.Addr().String()}
}

func (w *cable) carry(in net.Conn, port int) {
	defer in.Close()
	out, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return
	}
	defer out.Close()
	w.mu.Lock()
	if w.cut {
		w.mu.Unlock()
		return
	}
	w.open = append(w.open, in, out)
	w.mu.Unlock()
	go func() {
		w.copy(out, in)
		out.Close()
	}()
	w.copy(in, out)
}

// copy copies until either end ends, and has each piece wait for the delay.
func (w *cable) copy(to io.Writer, from io.Reader) {
	type piece struct {
		data []byte
		due  time.Time
	}
	way := make(chan piece, 1<<14)
	go func() {
		defer close(way)
		for {
			data := make([]byte, 32<<10)
			n, err := from.Read(data)
			if n > 0 {
				way <- piece{data[:n], time.Now().Add(w.delay)}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range way {
		<-time.After(time.Until(p.due))
		if _, err := to.Write(p.data); err != nil {
			return
		}
	}
}

// set cuts the wire or mends it.
func (w *cable) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
	for _, c := range w.open {
		c.Close()
	}
	w.open = nil
}

// halves are three servers that are one cluster; the third server is behind a wire.
func halves(t *testing.T) (two, one string, w *cable) {
	t.Helper()
	var ports [3]int
	for i := range ports {
		ports[i] = hooktest.FreePort(t)
	}
	w = &cable{t: t}
	direct := func(port int) *url.URL { return &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", port)} }
	routes := [3][]*url.URL{
		{direct(ports[1]), w.to(ports[2])}, {direct(ports[0]), w.to(ports[2])}, {w.to(ports[0]), w.to(ports[1])},
	}
	var servers [3]*fleettest.Server
	for i := range servers {
		servers[i] = fleettest.Start(t, func(o *server.Options) {
			o.ServerName, o.Routes = fmt.Sprint("n", i), routes[i]
			o.Cluster = server.ClusterOpts{Name: "fleet", Host: "127.0.0.1", Port: ports[i]}
			o.Cluster.Advertise = w.to(ports[i]).Host // else servers tell each other a way around the wire
		})
	}
	return servers[0].URL(), servers[2].URL(), w
}

// Two halves of a fleet cannot reach each other, and an approver in each answers the same
// ask. In the half without most servers no answer can be given: the ask waits, wherever its
// machine is. When the halves meet the first answer wins, and the other changes nothing.
func TestHalvesAnswerTheSameAsk(t *testing.T) {
	hooktest.Long(t)
	for name, among := range map[string]bool{"the machine is among most": true, "the machine is cut off": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			two, one, w := halves(t)
			public, key, err := ed25519.GenerateKey(nil)
			hooktest.Must(t, err)
			l := &local{approvers: map[string]ed25519.PublicKey{"ann": public}, asks: []wire.Ask{{
				ID: events.NewID(time.Now()), Hook: "guard", Subject: "git push", Until: time.Now().Add(time.Hour).UTC(),
			}}}
			at := one
			if among {
				at = two
			}
			l.join(t, at, "b")
			ann, bob := join(t, two, "ann"), join(t, one, "bob")
			of := shown(t, ann)
			shown(t, bob)
			w.set(true)

			yes, no := statement(of), statement(of)
			no.Answer = wire.OutcomeDeny
			pass := func(m *machine, s wire.FleetStatement) error {
				return m.PassAnswer(t.Context(), fleet.SignAnswer(s, key))
			}
			hooktest.Until(t, "the half with most servers stores an answer", func() bool { return pass(ann, no) == nil })
			if err := pass(bob, yes); err == nil {
				t.Error("the half with one server says that it stored an answer")
			}
			if got := l.answers(); !among && len(got) > 0 {
				t.Errorf("a machine that is cut off has the answers %v", got)
			}
			w.set(false)
			hooktest.Until(t, "the first answer is given", func() bool { return len(l.answers()) > 0 })
			hooktest.Until(t, "the other answer is stored, too", func() bool { return pass(bob, yes) == nil })
			l.hears(t, ann, of, key)
			if got := l.answers(); !slices.Equal(got, []string{"ann deny"}) {
				t.Errorf("the answers are %v", got)
			}
		})
	}
}
