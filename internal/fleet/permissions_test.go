package fleet_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/fleet/fleettest"
	"github.com/hookd/hookd/internal/fleet/jetstream"
	"github.com/hookd/hookd/internal/fleet/machinekey"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/wire"
)

// guarded is a server whose users are as `hookd fleet user` prints them.
type guarded struct {
	url    string
	keys   map[string]string // files, by machine
	server *fleettest.Server
}

func guard(t *testing.T, users map[fleet.Names]fleet.Role) guarded {
	t.Helper()
	g, dir := guarded{keys: map[string]string{}}, t.TempDir()
	lists := map[string]map[bool][]string{} // of a tenant; true = operators
	for n, role := range users {
		file := filepath.Join(dir, n.Tenant+"-"+n.Machine)
		hooktest.Must(t, machinekey.New(file))
		public, err := machinekey.Public(file)
		hooktest.Must(t, err)
		g.keys[n.Tenant+"/"+n.Machine] = file
		if lists[n.Tenant] == nil {
			lists[n.Tenant] = map[bool][]string{}
		}
		of := role == fleet.RoleOperator
		lists[n.Tenant][of] = append(lists[n.Tenant][of], n.User(role, engine.Inbox(n.Machine), public, ""))
	}
	var accounts strings.Builder
	for tenant, of := range lists {
		var files [2]string
		for i, operators := range []bool{true, false} {
			files[i] = fmt.Sprintf("%s-%t.conf", tenant, operators)
			users := "users: [\n" + strings.Join(of[operators], "\n") + "\n]\n"
			hooktest.Must(t, os.WriteFile(filepath.Join(dir, files[i]), []byte(users), 0o600))
		}
		accounts.WriteString(fleet.Names{Tenant: tenant, Machine: "x"}.Accounts(files[0], files[1]))
	}
	conf := filepath.Join(dir, "nats.conf")
	text := fmt.Sprintf("jetstream: {store_dir: %q}\naccounts: {\n%s}\n", t.TempDir(), accounts.String())
	hooktest.Must(t, os.WriteFile(conf, []byte(text), 0o600))
	read, err := server.ProcessConfigFile(conf)
	hooktest.Must(t, err)
	g.server = fleettest.Start(t, func(o *server.Options) {
		o.Accounts, o.Nkeys, o.Users = read.Accounts, read.Nkeys, read.Users
	})
	g.url = g.server.URL()
	return g
}

// operator makes the streams of a tenant and the queue of the hook once, as its operator.
func (g guarded) operator(t *testing.T, tenant, operator string) *jetstream.Broker {
	t.Helper()
	b, err := jetstream.Connect(g.options(tenant, operator), nil)
	hooktest.Must(t, err)
	t.Cleanup(b.Close)
	names := fleet.Names{Tenant: tenant, Machine: operator}
	hooktest.Until(t, "there are streams", func() bool { return b.Prepare(t.Context(), names.Layout()) == nil })
	hooktest.Must(t, names.MakeQueues(t.Context(), b, "once"))
	return b
}

func (g guarded) options(tenant, machine string) engine.Options {
	return engine.Options{Servers: []string{g.url}, Machine: machine, Creds: g.keys[tenant+"/"+machine]}
}

// refused returns why the server does not let the laptop publish or subscribe; "" = it does.
func (g guarded) refused(t *testing.T, subject string, subscribe bool) string {
	t.Helper()
	key, err := nats.NkeyOptionFromSeed(g.keys["t/laptop"])
	hooktest.Must(t, err)
	nc, err := nats.Connect(g.url, key, nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	hooktest.Must(t, err)
	defer nc.Close()
	if subscribe {
		_, err = nc.SubscribeSync(subject)
	} else {
		err = nc.Publish(subject, []byte("{}"))
	}
	hooktest.Must(t, err)
	hooktest.Must(t, nc.Flush()) // a refusal comes before its answer
	if err := nc.LastError(); err != nil {
		return err.Error()
	}
	return ""
}

// A machine whose name is not that of its entry is told so, and so is an operator with the key of a machine: the
// server's own words are about a subject that people have never seen.
func TestTheNameIsThatOfTheEntry(t *testing.T) {
	hooktest.Long(t) // it waits until a server has not answered for 10 s
	g := guard(t, map[fleet.Names]fleet.Role{
		{Tenant: "t", Machine: "ops"}: fleet.RoleOperator, {Tenant: "t", Machine: "laptop"}: fleet.RoleMachine,
	})
	g.operator(t, "t", "ops")
	options := g.options("t", "laptop")
	options.Machine = "desk"
	b, err := jetstream.Connect(options, nil)
	hooktest.Must(t, err)
	t.Cleanup(b.Close)
	hooktest.Until(t, "it is connected", func() bool { return b.State().Connected })
	n := fleet.Names{Tenant: "t", Machine: "desk"}
	_, err = fleet.Machines(t.Context(), b, n)
	const want = "the servers know this key by another name than desk"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a read says %v", err)
	}
	subject := "hookd.t.desk.now.machine"
	if err := b.Publish(t.Context(), []engine.Message{{Subject: subject, Data: []byte("{}")}})[0]; err == nil {
		t.Error("it has published")
	}
	if s := b.State(); !strings.HasPrefix(s.Err, want) {
		t.Errorf("the state says %q", s.Err)
	}
}

// The permissions are enough for the work of machines, and a stolen laptop can publish as
// itself alone, reads no work and no other tenant, and changes no stream or consumer.
func TestStolenLaptop(t *testing.T) {
	g := guard(t, map[fleet.Names]fleet.Role{
		{Tenant: "t", Machine: "ops"}: fleet.RoleOperator, {Tenant: "t", Machine: "laptop"}: fleet.RoleMachine,
		{Tenant: "t", Machine: "builder"}: fleet.RoleWorker, {Tenant: "other", Machine: "ops2"}: fleet.RoleOperator,
	})
	g.operator(t, "t", "ops")
	g.operator(t, "other", "ops2")
	l := &local{}
	said, lines := observer.New(zap.InfoLevel)
	options := g.options("t", "laptop")
	laptop := joinAs(t, options, fleet.Options{Log: zap.New(said), Machine: l, Decisions: l, Asked: l}, once, each).hears(t)
	builder := joinAs(t, g.options("t", "builder"), fleet.Options{}, once, each).hears(t)
	laptop.emit(t, once, 0, 3)
	laptop.emit(t, each, 3, 3)
	hooktest.Until(t, "the builder has all", func() bool { return len(builder.data()) == 6 })
	builder.emit(t, each, 6, 1)
	hooktest.Until(t, "the laptop has what is for each", func() bool { return len(laptop.data()) == 1 })
	hooktest.Until(t, "the builder sees the laptop", func() bool {
		list, err := builder.Machines(t.Context())
		return err == nil && len(list) == 1 && list[0].Machine == "laptop"
	})
	hooktest.Until(t, "the laptop leaves work and dead letters to others", func() bool {
		return lines.FilterMessageSnippet("is left to other machines").Len() == 2
	})
	if s := laptop.broker.State(); s.Err != "" || lines.FilterLevelExact(zap.WarnLevel).Len() > 0 {
		t.Errorf("the laptop is in trouble, since it is no worker: %s; %v", s.Err, lines.All())
	}
	if n, err := laptop.Dead(t.Context()); n != 0 || err != nil {
		t.Errorf("the laptop counts %d dead letters, %v", n, err)
	}
	if _, err := laptop.DeadLetters(t.Context(), "", 0); !errors.Is(err, engine.ErrForbidden) {
		t.Errorf("the laptop reads dead letters: %v", err)
	}
	if _, bad := laptop.DeadLetter(t.Context(), 1); bad == nil || bad.Code != wire.CodeForbidden {
		t.Errorf("the laptop reads a dead letter: %v", bad)
	}
	waits := &hook.Hook{Name: "no-queue", Scope: hook.ScopeFleet}
	builder.Retain([]*hook.Hook{once, each, waits})
	hooktest.Until(t, "the builder says that a hook has no queue", func() bool {
		return strings.HasSuffix(builder.broker.State().Err, "it is not there: an operator has to type hookd fleet queue no-queue")
	})
	if list := g.server.Violations(); len(list) > 0 {
		t.Errorf("the log of the servers has lines of violations in ordinary life: %q", list)
	}
	for _, subject := range []string{
		"hookd.t.builder.every", "hookd.t.builder.work.once", "hookd.t.builder.now.machine", "hookd.t.builder.log.decision",
		"hookd.t.builder.answer", "hookd.t.laptop.now.session", "hookd.t.builder.news.every", "hookd.other.laptop.every", "hookd.other.ops2.log.decision",
		"$JS.API.STREAM.DELETE.HOOKD_t_EVERY", "$JS.API.STREAM.PURGE.HOOKD_t_EVERY", "$JS.API.STREAM.UPDATE.HOOKD_t_EVERY",
		"$JS.API.CONSUMER.DELETE.HOOKD_t_WORK.work_once", "$JS.API.CONSUMER.CREATE.HOOKD_t_EVERY.every_builder.x",
		"$JS.API.CONSUMER.CREATE.HOOKD_t_EVERY.every_laptop.x", "$JS.API.CONSUMER.CREATE.HOOKD_t_ANSWER.answer_laptop",
		"$JS.API.CONSUMER.CREATE.HOOKD_t_WORK.work_once.x",
		"$JS.API.CONSUMER.DURABLE.CREATE.HOOKD_t_EVERY.every_laptop", "$JS.API.CONSUMER.CREATE.HOOKD_t_NOW.x",
		"$JS.API.CONSUMER.MSG.NEXT.HOOKD_t_WORK.work_once", "$JS.ACK.HOOKD_t_WORK.work_once.1.1.1.1.1",
		"$JS.API.STREAM.MSG.GET.HOOKD_t_WORK", "_INBOX.builder.x",
		"hookd.t.ALL.directive.newest", "hookd.t.ALL.news", "$O.HOOKD_t_BUNDLES.M.YWNtZUAx", "$O.HOOKD_t_BUNDLES.C.x",
		"$JS.API.STREAM.PURGE.HOOKD_t_DIRECTIVE", "$JS.API.STREAM.MSG.DELETE.HOOKD_t_DIRECTIVE",
		"$JS.API.STREAM.DELETE.OBJ_HOOKD_t_BUNDLES", "$JS.API.STREAM.PURGE.OBJ_HOOKD_t_BUNDLES",
		"$JS.API.DIRECT.GET.HOOKD_other_DIRECTIVE.hookd.other.ALL.directive.newest",
		"hookd.t.laptop.dead.once",
		"$JS.API.STREAM.MSG.DELETE.HOOKD_t_DEAD", "$JS.API.CONSUMER.CREATE.HOOKD_t_DEAD.x.hookd.t.*.dead.*",
	} {
		if why := g.refused(t, subject, false); why == "" {
			t.Errorf("the laptop may publish to %s", subject)
		}
	}
	for _, subject := range []string{"hookd.t.laptop.every", "hookd.t.laptop.now.sessions", "hookd.t.laptop.news.every"} {
		if why := g.refused(t, subject, false); why != "" {
			t.Errorf("the laptop may not publish to %s: %s", subject, why)
		}
	}
	for _, subject := range []string{"_INBOX.builder.>", "hookd.>", "_INBOX.>", "$JS.>", "hookd.other.ALL.news", "hookd.t.ALL.directive.newest", "hookd.t.*.news.answer.builder", "hookd.t.*.every"} {
		if g.refused(t, subject, true) == "" {
			t.Errorf("the laptop may subscribe to %s", subject)
		}
	}
	if len(g.server.Violations()) == 0 {
		t.Error("the log of the servers has no line of a violation: the test does not see it")
	}
}
