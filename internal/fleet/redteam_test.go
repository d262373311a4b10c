package fleet_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/fleet/jetstream"
)

// With the key of a machine or a worker the server publishes nothing into a stream: not the answer
// to any call that the key allows, whatever reply subject the call names, and not from a consumer.
func TestTheServerPublishesForNoMember(t *testing.T) {
	for _, role := range []fleet.Role{fleet.RoleMachine, fleet.RoleWorker} {
		t.Run(string(role), func(t *testing.T) { publishesForNone(t, role) })
	}
}

func publishesForNone(t *testing.T, role fleet.Role) {
	g := guard(t, map[fleet.Names]fleet.Role{
		{Tenant: "t", Machine: "ops"}: fleet.RoleOperator, {Tenant: "t", Machine: "laptop"}: role,
		{Tenant: "t", Machine: "builder"}: fleet.RoleMachine,
	})
	ops := g.operator(t, "t", "ops")
	names := fleet.Names{Tenant: "t", Machine: "ops"}
	hooktest.Must(t, fleet.ReplaceDirective(t.Context(), ops, names, []byte("signed"), 0))
	hooktest.Must(t, fleet.PutBundle(t.Context(), ops, names, "acme@1", []byte("bundle")))
	publish := func(subject, data string) {
		t.Helper()
		hooktest.Must(t, ops.Publish(t.Context(), []engine.Message{{Subject: subject, Data: []byte(data)}})[0])
	}
	publish("hookd.t.builder.now.machine", "the builder")
	publish("hookd.t.builder.answer", "an answer")
	publish("hookd.t.builder.every", "an event")
	before := contents(t, g)
	if len(before) < 6 {
		t.Fatalf("the streams have %v", before)
	}

	key, err := nats.NkeyOptionFromSeed(g.keys["t/laptop"])
	hooktest.Must(t, err)
	nc, err := nats.Connect(g.url, key, nats.CustomInboxPrefix(engine.Inbox("laptop")),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	hooktest.Must(t, err)
	defer nc.Close()
	own := []byte(`{"Machine":"builder","forged":true}`)
	_, err = nc.Request("hookd.t.laptop.now.machine", own, 5*time.Second)
	hooktest.Must(t, err)
	targets := []string{
		"hookd.t.ALL.directive.newest", "hookd.t.builder.now.machine", "hookd.t.builder.log.decision",
		"hookd.t.builder.answer", "hookd.t.builder.every", "hookd.t.builder.work.once", "hookd.t.ALL.news",
		"hookd.t.builder.dead.x", "$O.HOOKD_t_BUNDLES.M.YWNtZUAx", "$O.HOOKD_t_BUNDLES.C.x", "hookd.other.x.now.machine",
	}
	bodies := []string{
		"", "{}", `{"last_by_subj":"hookd.t.laptop.now.machine"}`, `{"seq":1}`, `{"seq":99999}`,
		`{"batch":10,"expires":1000000,"no_wait":true}`, "+ACK", "-NAK", "+NXT", string(own),
		`{"batch":100,"multi_last":["hookd.t.>"]}`, `{"next_by_subj":"hookd.t.>","seq":1,"batch":50}`,
	}
	machine := fleet.Names{Tenant: "t", Machine: "laptop"}
	calls := 0
	for _, allowed := range machine.Permissions(role, engine.Inbox("laptop")).Publish {
		subject := strings.ReplaceAll(strings.TrimSuffix(allowed, ">")+strings.Repeat("x", strings.Count(allowed, ">")), "*", "x")
		for _, reply := range targets {
			for _, body := range bodies {
				hooktest.Must(t, nc.PublishRequest(subject, reply, []byte(body)))
				calls++
			}
			for _, header := range []string{"Nats-Trace-Dest", "Nats-Rollup", "Nats-Schedule-Target", "Nats-Msg-Id"} {
				hooktest.Must(t, nc.PublishMsg(&nats.Msg{
					Subject: subject, Reply: reply, Data: []byte("{}"),
					Header: nats.Header{header: {reply}, "Nats-Schedule": {"@every 1s"}, "Nats-TTL": {"1s"}},
				}))
				calls++
			}
		}
	}
	for _, c := range machine.Queues("once") { // a push consumer, by its own name and by others
		for _, name := range []string{c.Name, "evil"} {
			for _, call := range []string{"CREATE." + c.Stream + "." + name, "DURABLE.CREATE." + c.Stream + "." + name, "CREATE." + c.Stream} {
				ask := fmt.Sprintf(`{"stream_name":%q,"config":{"durable_name":%q,"name":%q,"deliver_subject":"hookd.t.builder.now.machine"}}`,
					c.Stream, name, name)
				hooktest.Must(t, nc.PublishRequest("$JS.API.CONSUMER."+call, "_INBOX.laptop.x", []byte(ask)))
			}
		}
	}
	hooktest.Must(t, nc.Flush())
	_, err = nc.Request("hookd.t.laptop.now.asks", []byte("{}"), 10*time.Second) // all before it was worked off
	hooktest.Must(t, err)
	for subject, data := range contents(t, g) {
		if machine, _, _ := strings.Cut(strings.TrimPrefix(subject, "hookd.t."), "."); machine == "laptop" {
			continue
		}
		if before[subject] != data {
			t.Errorf("after %d calls %s has %q, before %q", calls, subject, data, before[subject])
		}
	}
	for subject := range before {
		if _, there := contents(t, g)[subject]; !there {
			t.Errorf("%s is gone", subject)
		}
	}
}

// A machine that sends as much as it can pushes out its own messages alone, and others go on.
func TestAFloodHidesNothing(t *testing.T) {
	for _, s := range (fleet.Names{Tenant: "t", Machine: "x"}).Layout() {
		if s.PerSubject == 0 && !s.Objects && s.Name != "HOOKD_t_DEAD" ||
			int64(s.PerSubject*s.MaxMessage) > s.MaxBytes/4 {
			t.Errorf("one machine has more than a quarter of %s: %+v", s.Name, s)
		}
	}
	g := guard(t, map[fleet.Names]fleet.Role{
		{Tenant: "t", Machine: "ops"}: fleet.RoleOperator, {Tenant: "t", Machine: "laptop"}: fleet.RoleMachine,
		{Tenant: "t", Machine: "builder"}: fleet.RoleMachine,
	})
	ops := g.operator(t, "t", "ops")
	all := g.streams(t)
	small := func(area string, by int64) (largest int) { // a stream of this part of its size
		s, err := all.Stream(t.Context(), "HOOKD_t_"+area)
		hooktest.Must(t, err)
		cfg := s.CachedInfo().Config
		cfg.MaxBytes, cfg.MaxMsgsPerSubject = cfg.MaxBytes/by, cfg.MaxMsgsPerSubject/by
		_, err = all.UpdateStream(t.Context(), cfg)
		hooktest.Must(t, err)
		return int(cfg.MaxMsgSize)
	}
	floods := map[string]int{
		"every": small("EVERY", 1024), "log.decision": small("LOG", 1024), "work.once": small("WORK", 1024),
	}
	send := func(b *jetstream.Broker, subject string, size int) error {
		return b.Publish(t.Context(), []engine.Message{{Subject: subject, Data: make([]byte, size)}})[0]
	}
	connect := func(machine string) *jetstream.Broker {
		b, err := jetstream.Connect(g.options("t", machine), nil)
		hooktest.Must(t, err)
		t.Cleanup(b.Close)
		hooktest.Until(t, "it is connected", func() bool { return b.State().Connected })
		return b
	}
	laptop, builder := connect("laptop"), connect("builder")
	for area, largest := range floods {
		hooktest.Must(t, send(builder, "hookd.t.builder."+area, 100))
		for i := range 100 {
			err := send(laptop, "hookd.t.laptop."+area, largest-200)
			if err != nil && (area != "work.once" || i == 0 || !errors.Is(err, engine.ErrRefused)) {
				t.Fatal(err)
			}
			if area == "work.once" { // there is no such queue
				if err := send(laptop, fmt.Sprint("hookd.t.laptop.work.x", i), largest-200); !errors.Is(err, engine.ErrNoStream) {
					t.Fatalf("without a queue: %v", err)
				}
			}
		}
		if err := send(builder, "hookd.t.builder."+area, 100); err != nil {
			t.Errorf("after a flood another machine cannot send to %s: %v", area, err)
		}
		stream := "HOOKD_t_" + strings.ToUpper(strings.Split(area, ".")[0])
		if n, err := ops.Count(t.Context(), stream, "hookd.t.builder.>"); n != 2 || err != nil {
			t.Errorf("after a flood %s has %d messages of the other machine, %v", stream, n, err)
		}
	}
}

// A member knows the ids of what others send before they do: it cannot have the servers take a
// message for another that they have.
func TestAnIDHidesNothing(t *testing.T) {
	g := guard(t, map[fleet.Names]fleet.Role{
		{Tenant: "t", Machine: "ops"}: fleet.RoleOperator, {Tenant: "t", Machine: "laptop"}: fleet.RoleMachine,
		{Tenant: "t", Machine: "builder"}: fleet.RoleMachine,
	})
	ops := g.operator(t, "t", "ops")
	key, err := nats.NkeyOptionFromSeed(g.keys["t/laptop"])
	hooktest.Must(t, err)
	nc, err := nats.Connect(g.url, key, nats.CustomInboxPrefix(engine.Inbox("laptop")))
	hooktest.Must(t, err)
	defer nc.Close()
	builder, err := jetstream.Connect(g.options("t", "builder"), nil)
	hooktest.Must(t, err)
	defer builder.Close()
	hooktest.Until(t, "it is connected", func() bool { return builder.State().Connected })
	for area, stream := range map[string]string{"log.decision": "LOG", "every": "EVERY", "work.once": "WORK"} {
		guess := &nats.Msg{Subject: "hookd.t.laptop." + area, Data: []byte("{}"), Header: nats.Header{js.MsgIDHeader: {"id/1"}}}
		_, err := nc.RequestMsg(guess, 5*time.Second)
		hooktest.Must(t, err)
		for range 2 { // the second is a double of the first
			hooktest.Must(t, builder.Publish(t.Context(), []engine.Message{{Subject: "hookd.t.builder." + area, ID: "id/1", Data: []byte("{}")}})[0])
		}
		if n, err := ops.Count(t.Context(), "HOOKD_t_"+stream, "hookd.t.builder.>"); n != 1 || err != nil {
			t.Errorf("%s has %d messages of the builder, %v", stream, n, err)
		}
	}
}

// streams connects to the servers' streams with the operator's key, until the test ends.
func (g guarded) streams(t *testing.T) js.JetStream {
	t.Helper()
	key, err := nats.NkeyOptionFromSeed(g.keys["t/ops"])
	hooktest.Must(t, err)
	nc, err := nats.Connect(g.url, key, nats.CustomInboxPrefix(engine.Inbox("ops")))
	hooktest.Must(t, err)
	t.Cleanup(nc.Close)
	all, err := js.New(nc)
	hooktest.Must(t, err)
	return all
}

// contents returns the last message of each subject of all streams of the tenant t, and how many
// there are.
func contents(t *testing.T, g guarded) map[string]string {
	t.Helper()
	all := g.streams(t)
	found := map[string]string{}
	for _, layout := range (fleet.Names{Tenant: "t", Machine: "ops"}).Layout() {
		s, err := all.Stream(t.Context(), layout.Name)
		hooktest.Must(t, err)
		info, err := s.Info(t.Context(), js.WithSubjectFilter(">"))
		hooktest.Must(t, err)
		for subject, n := range info.State.Subjects {
			m, err := s.GetLastMsgForSubject(t.Context(), subject)
			hooktest.Must(t, err)
			text := string(m.Data)
			found[subject] = fmt.Sprintf("%d of %q", n, text)
		}
	}
	return found
}
