package fleet_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/fleet/fleettest"
	"github.com/hookd/hookd/internal/fleet/jetstream"
	"github.com/hookd/hookd/internal/hooks/pack"
	"github.com/hookd/hookd/internal/hooks/policy"
	"github.com/hookd/hookd/internal/record/store"
)

// bundler is a key of a policy.
type bundler struct {
	key    ed25519.PrivateKey
	public string
}

func newBundler(t *testing.T) bundler {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	public, err := policy.Generate(file)
	hooktest.Must(t, err)
	key, err := policy.PrivateKey(file)
	hooktest.Must(t, err)
	return bundler{key, public}
}

// bundle makes the bundle acme with a sequence, of some hundred KiB.
func (b bundler) bundle(t *testing.T, sequence uint64) (policy.Revision, []byte) {
	t.Helper()
	text, err := policy.Build(pack.Content{
		{Path: "guard/HOOK.yaml", Data: []byte("name: guard\nevents: [pre_tool_use]\ncommand: ./run.sh\n")},
		{Path: "guard/run.sh", Exec: true, Data: []byte("#!/bin/sh\nexit 2\n#" + strings.Repeat("x", 300<<10))},
	}, "acme", sequence, nil, b.key)
	hooktest.Must(t, err)
	read, err := policy.Peek(text)
	hooktest.Must(t, err)
	return policy.Revision{Name: "acme", Sequence: sequence, Digest: read.Head.Digest()}, text
}

func (b bundler) sign(t *testing.T, d policy.Directive) (policy.Directive, []byte) {
	t.Helper()
	d.Tenant = "t"
	signed, err := d.Sign(b.key, time.Now(), "ann")
	hooktest.Must(t, err)
	d, err = signed.Verify(b.key.Public().(ed25519.PublicKey), "t")
	hooktest.Must(t, err)
	text, err := json.Marshal(signed)
	hooktest.Must(t, err)
	return d, text
}

// follower is a machine that follows directives, as a daemon does.
type follower struct {
	home  policy.Home
	names fleet.Names
	fleet *fleet.Fleet
	end   context.CancelFunc
}

func (f *follower) TakeDirective(ctx context.Context, newestFirst [][]byte) error {
	_, err := f.home.Take(f.names.Tenant, newestFirst...)
	_, err2 := f.home.Follow(ctx, policy.Member{
		Tenant: f.names.Tenant, Machine: f.names.Machine, Check: func(string, policy.Bundle) error { return nil },
		Fetch: func(ctx context.Context, name string) ([]byte, error) {
			return f.fleet.Bundle(ctx, name, policy.MaxBytes)
		},
	})
	return errors.Join(err, err2)
}

// follow starts a machine on a home, until it is ended or the test ends.
func follow(t *testing.T, o engine.Options, home policy.Home) *follower {
	t.Helper()
	f := &follower{home: home, names: fleet.Names{Tenant: "t", Machine: o.Machine}}
	broker, err := jetstream.Connect(o, nil)
	hooktest.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	f.fleet = fleet.New(fleet.Options{Broker: broker, Names: f.names, Outbox: nothing{}, Position: &positions{}, Directives: f})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.fleet.Run(ctx)
	}()
	f.end = func() {
		cancel()
		<-ended
		broker.Close()
	}
	t.Cleanup(f.end)
	return f
}

// has says which bundle is in force, which is in the shadow, and whether a directive was refused.
func (f *follower) has(t *testing.T) string {
	t.Helper()
	c, _, err := f.home.Current()
	hooktest.Must(t, err)
	text := c.Head().Text() + "+" + c.ShadowHead().Text()
	for _, o := range c.Directive.Off {
		text += " off " + o.Hook
	}
	if c.State.Refused != "" {
		text += " refused"
	}
	return text
}

func (f *follower) gets(t *testing.T, want string) {
	t.Helper()
	hooktest.Until(t, fmt.Sprintf("%s has %q", f.names.Machine, want), func() bool { return f.has(t) == want })
}

// operators publish for all machines of a tenant.
type operators struct {
	*jetstream.Broker
	names fleet.Names
}

func operate(t *testing.T, o engine.Options, tenant string) operators {
	t.Helper()
	b, err := jetstream.Connect(o, nil)
	hooktest.Must(t, err)
	t.Cleanup(b.Close)
	names := fleet.Names{Tenant: tenant, Machine: o.Machine}
	hooktest.Until(t, "there are streams", func() bool { return b.Prepare(t.Context(), names.Layout()) == nil })
	return operators{b, names}
}

func (o operators) publish(t *testing.T, text []byte) {
	t.Helper()
	m, _, err := fleet.LatestDirective(t.Context(), o, o.names)
	hooktest.Must(t, err)
	hooktest.Must(t, fleet.ReplaceDirective(t.Context(), o, o.names, text, m.Seq))
}

func follows(t *testing.T, key string) policy.Home {
	t.Helper()
	home := policy.NewHome(t.TempDir())
	_, err := home.SetFleet(key, "ann")
	hooktest.Must(t, err)
	return home
}

// With the permissions that machines have, a bundle comes to each, also to a machine that was
// away. A hook is switched off. Attempts of servers and members against that are refused and
// reported. The policy in force stays: without servers and over restarts, too.
func TestDirectivesReachMachines(t *testing.T) {
	g := guard(t, map[fleet.Names]fleet.Role{
		{Tenant: "t", Machine: "ops"}: fleet.RoleOperator, {Tenant: "t", Machine: "laptop"}: fleet.RoleMachine,
		{Tenant: "t", Machine: "builder"}: fleet.RoleWorker, {Tenant: "other", Machine: "ops2"}: fleet.RoleOperator,
	})
	ann, thief := newBundler(t), newBundler(t)
	ops := operate(t, g.options("t", "ops"), "t")
	laptop := follow(t, g.options("t", "laptop"), follows(t, ann.public))
	builder := follow(t, g.options("t", "builder"), follows(t, ann.public))

	one, text := ann.bundle(t, 1)
	hooktest.Must(t, fleet.PutBundle(t.Context(), ops, ops.names, one.Text(), text))
	d, err := policy.Directive{}.Roll(one, policy.StageEnforce, 0)
	hooktest.Must(t, err)
	d, first := ann.sign(t, d)
	ops.publish(t, first)
	laptop.gets(t, "acme@1+")
	builder.gets(t, "acme@1+")
	if err := fleet.ReplaceDirective(t.Context(), ops, ops.names, first, 0); !errors.Is(err, engine.ErrReplaced) {
		t.Errorf("an operator who has not seen the newest directive: %v", err)
	}

	builder.end()
	two, text := ann.bundle(t, 2)
	hooktest.Must(t, fleet.PutBundle(t.Context(), ops, ops.names, two.Text(), text))
	d, err = d.Roll(two, policy.StageShadow, 0)
	hooktest.Must(t, err)
	d, second := ann.sign(t, d.SwitchOff(policy.Off{Hook: "guard", Reason: "r", By: "ann"}))
	ops.publish(t, second)
	laptop.gets(t, "acme@1+acme@2 off guard")
	if got := builder.has(t); got != "acme@1+" {
		t.Errorf("a machine that is away has %s", got)
	}
	builder = follow(t, g.options("t", "builder"), builder.home)
	builder.gets(t, "acme@1+acme@2 off guard")

	forged, err := policy.Directive{}.Roll(two, policy.StageEnforce, 0)
	hooktest.Must(t, err)
	_, foreign := thief.sign(t, forged)
	for what, text := range map[string][]byte{
		"a directive of another key": foreign, "an old directive": first, "no JSON": []byte("{"),
		"a signed one that is too long": append(second, strings.Repeat(" ", 220<<10)...),
	} {
		ops.publish(t, text)
		if what == "a signed one that is too long" { // blanks behind JSON say nothing
			laptop.gets(t, "acme@1+acme@2 off guard")
			continue
		}
		laptop.gets(t, "acme@1+acme@2 off guard refused")
		hooktest.Until(t, what+" is in the status", func() bool {
			return strings.Contains(status(t, laptop.fleet).Directive, "the newest directive of the fleet is refused: ")
		})
	}
	d, good := ann.sign(t, d)
	ops.publish(t, good)
	laptop.gets(t, "acme@1+acme@2 off guard")
	hooktest.Until(t, "the status says nothing against it", func() bool { return status(t, laptop.fleet).Directive == "" })
	builder.gets(t, "acme@1+acme@2 off guard")

	evil := &bundler{key: ann.key}
	_, swapped := evil.bundle(t, 7) // signed, and not the one that the directive names
	three := policy.Revision{Name: "acme", Sequence: 3, Digest: strings.Repeat("0", 64)}
	hooktest.Must(t, fleet.PutBundle(t.Context(), ops, ops.names, three.Text(), swapped))
	d, err = d.Roll(three, policy.StageEnforce, 0)
	hooktest.Must(t, err)
	d, third := ann.sign(t, d)
	ops.publish(t, third)
	hooktest.Until(t, "the status says that the bundle is another", func() bool {
		c, _, err := laptop.home.Current()
		return err == nil && strings.Contains(c.State.Error, "not the bundle that the directive names")
	})
	if got := laptop.has(t); got != "acme@1+acme@2 off guard" {
		t.Errorf("the last good one is not in force, but %s", got)
	}
	d, err = d.Revert()
	hooktest.Must(t, err)
	d, _ = d.SwitchOn("guard")
	_, back := ann.sign(t, d)
	ops.publish(t, back)
	laptop.gets(t, "acme@1+")
	builder.gets(t, "acme@1+")
}

// A directive of one tenant is nothing to another, also where it is published there.
func TestDirectivesStayInTheirTenant(t *testing.T) {
	url := fleettest.Start(t, nil).URL()
	ann := newBundler(t)
	ours, theirs := operate(t, engine.Options{Servers: []string{url}, Machine: "ops"}, "t"),
		operate(t, engine.Options{Servers: []string{url}, Machine: "ops"}, "other")
	laptop := follow(t, engine.Options{Servers: []string{url}, Machine: "laptop"}, follows(t, ann.public))
	off := policy.Directive{Tenant: "other"}.SwitchOff(policy.Off{Hook: "guard", Reason: "r", By: "ann"})
	signed, err := off.Sign(ann.key, time.Now(), "ann")
	hooktest.Must(t, err)
	text, err := json.Marshal(signed)
	hooktest.Must(t, err)
	theirs.publish(t, text)
	ours.publish(t, text)
	laptop.gets(t, "+ refused")
}

// Hooks in force and hooks off stay so where the servers are gone and the machine starts again.
func TestDirectivesOutlastServers(t *testing.T) {
	s := fleettest.Start(t, nil)
	ann, o := newBundler(t), engine.Options{Servers: []string{s.URL()}, Machine: "laptop"}
	ops := operate(t, engine.Options{Servers: []string{s.URL()}, Machine: "ops"}, "t")
	laptop := follow(t, o, follows(t, ann.public))
	d, text := ann.sign(t, policy.Directive{}.SwitchOff(policy.Off{Hook: "guard", Reason: "r", By: "ann"}))
	ops.publish(t, text)
	laptop.gets(t, "+ off guard")
	laptop.end()
	s.Stop()
	hooktest.Until(t, "the operator sees that the server is gone", func() bool { return !ops.State().Connected })
	laptop = follow(t, o, laptop.home)
	if got := laptop.has(t); got != "+ off guard" {
		t.Errorf("after a restart without servers it has %s", got)
	}
	s.Run()
	d, _ = d.SwitchOn("guard")
	_, text = ann.sign(t, d)
	hooktest.Until(t, "the operator is connected", func() bool { return ops.State().Connected })
	ops.publish(t, text)
	laptop.gets(t, "+")
}

// A member makes no consumer of the streams that it may read: it could have the server publish
// under another name with one.
func TestMembersMakeNoConsumers(t *testing.T) {
	g := guard(t, map[fleet.Names]fleet.Role{
		{Tenant: "t", Machine: "ops"}: fleet.RoleOperator, {Tenant: "t", Machine: "laptop"}: fleet.RoleMachine,
	})
	operate(t, g.options("t", "ops"), "t")
	key, err := nats.NkeyOptionFromSeed(g.keys["t/laptop"])
	hooktest.Must(t, err)
	refused := make(chan error, 1)
	nc, err := nats.Connect(g.url, key, nats.CustomInboxPrefix(engine.Inbox("laptop")),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	hooktest.Must(t, err)
	defer nc.Close()
	for _, stream := range []string{"HOOKD_t_LOG", "HOOKD_t_NOW", "HOOKD_t_DIRECTIVE", "OBJ_HOOKD_t_BUNDLES"} {
		ask := fmt.Sprintf(`{"stream_name":%q,"config":{"name":"evil","deliver_subject":"hookd.t.boss.every"}}`, stream)
		hooktest.Must(t, nc.PublishRequest("$JS.API.CONSUMER.CREATE."+stream+".evil", "_INBOX.laptop.x", []byte(ask)))
		if err := <-refused; !strings.Contains(err.Error(), "Permissions Violation for Publish") {
			t.Errorf("%s: %v", stream, err)
		}
	}
}

// The server refuses messages larger than it or a stream takes, and the client does so
// before that; earlier messages stay.
func TestGiantDirectivesAndBundles(t *testing.T) {
	url := fleettest.Start(t, func(o *server.Options) { o.MaxPayload = 512 << 10 }).URL()
	ops := operate(t, engine.Options{Servers: []string{url}, Machine: "ops"}, "t")
	for _, size := range []int{300 << 10, 600 << 10} { // of the stream, of the server
		err := fleet.ReplaceDirective(t.Context(), ops, ops.names, make([]byte, size), 0)
		if !errors.Is(err, engine.ErrTooLarge) {
			t.Errorf("a directive of %d bytes: %v", size, err)
		}
	}
	hooktest.Must(t, fleet.PutBundle(t.Context(), ops, ops.names, "acme@1", make([]byte, 1<<20)))
	if _, err := fleet.GetBundle(t.Context(), ops, ops.names, "acme@1", 1<<20-1); !errors.Is(err, engine.ErrTooLarge) {
		t.Errorf("a bundle that is larger than the limit: %v", err)
	}
	if text, err := fleet.GetBundle(t.Context(), ops, ops.names, "acme@1", 1<<20); err != nil || len(text) != 1<<20 {
		t.Errorf("a bundle of the limit: %d bytes, %v", len(text), err)
	}
	if _, err := fleet.GetBundle(t.Context(), ops, ops.names, "acme@2", 1<<20); !errors.Is(err, engine.ErrNoObject) {
		t.Errorf("a bundle that is not there: %v", err)
	}
}

// nothing is an outbox that has nothing.
type nothing struct{ fleet.Outbox }

func (nothing) OutboxLoad(context.Context) (store.OutboxLoad, error) { return store.OutboxLoad{}, nil }

func (nothing) Outgoing(context.Context, []string, bool, int, int64) ([]store.Outgoing, error) {
	return nil, nil
}

// The runbook for a directive that is lost with its stream: the machines keep what they have. The
// operator makes the streams, rolls out and switches off again, and that is newer for each machine.
func TestALostDirectiveIsSignedAgain(t *testing.T) {
	url := fleettest.Start(t, nil).URL()
	at := func(machine string) engine.Options { return engine.Options{Servers: []string{url}, Machine: machine} }
	ann := newBundler(t)
	ops := operate(t, at("ops"), "t")
	laptop := follow(t, at("laptop"), follows(t, ann.public))
	one, text := ann.bundle(t, 1)
	rollOut := func() {
		t.Helper()
		hooktest.Must(t, fleet.PutBundle(t.Context(), ops, ops.names, one.Text(), text))
		d, err := policy.Directive{}.Roll(one, policy.StageEnforce, 0)
		hooktest.Must(t, err)
		_, signed := ann.sign(t, d.SwitchOff(policy.Off{Hook: "guard", Reason: "r", By: "ann"}))
		ops.publish(t, signed)
	}
	rollOut()
	laptop.gets(t, "acme@1+ off guard")
	had, _, err := laptop.home.Current()
	hooktest.Must(t, err)
	first := had.Directive.Sequence
	streams := fleettest.Streams(t, []string{url})
	for _, name := range []string{"HOOKD_t_DIRECTIVE", "OBJ_HOOKD_t_BUNDLES"} {
		hooktest.Must(t, streams.DeleteStream(t.Context(), name))
	}
	hooktest.Must(t, ops.Prepare(t.Context(), ops.names.Layout()))
	laptop.fleet.LookForDirective()
	laptop.gets(t, "acme@1+ off guard refused") // the servers have none
	rollOut()
	hooktest.Until(t, "the machine has the new one", func() bool {
		c, _, err := laptop.home.Current()
		return err == nil && c.Directive.Sequence > first
	})
}
