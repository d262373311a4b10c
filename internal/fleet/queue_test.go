package fleet_test

import (
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// Work for a hook without a queue, or with a full one, waits on its machine, which says why. Work for
// other hooks leaves, and nothing is lost.
func TestAQueueHoldsUpItsOwnHook(t *testing.T) {
	g := guard(t, map[fleet.Names]fleet.Role{
		{Tenant: "t", Machine: "ops"}: fleet.RoleOperator, {Tenant: "t", Machine: "laptop"}: fleet.RoleMachine,
		{Tenant: "t", Machine: "builder"}: fleet.RoleWorker,
	})
	ops := g.operator(t, "t", "ops")
	names := fleet.Names{Tenant: "t", Machine: "ops"}
	late := &hook.Hook{Name: "late", Scope: hook.ScopeFleet}
	laptop := joinAs(t, g.options("t", "laptop"), fleet.Options{}, once, late)
	laptop.emit(t, late, 0, 300) // more than leave at once
	laptop.emit(t, once, 300, 1)
	builder := joinAs(t, g.options("t", "builder"), fleet.Options{}, once, late)
	hooktest.Until(t, "the work of the other hook is taken", func() bool { return len(builder.data()) == 1 })
	hooktest.Until(t, "the machine says why the rest waits", func() bool {
		s := status(t, laptop)
		return s.Outbox.Messages == 300 && strings.Contains(s.Trouble, "hookd fleet queue late")
	})
	hooktest.Must(t, names.MakeQueues(t.Context(), ops, "late"))
	stream, err := g.streams(t).Stream(t.Context(), "HOOKD_t_WORK")
	hooktest.Must(t, err)
	if cfg := stream.CachedInfo().Config; len(cfg.Subjects) != 2 || cfg.MaxMsgsPerSubject != 1024 {
		t.Errorf("with two queues the stream has %v and %d messages of each machine", cfg.Subjects, cfg.MaxMsgsPerSubject)
	}
	hooktest.Until(t, "all is taken", func() bool { return len(builder.data()) == 301 })
	hooktest.Until(t, "nothing waits", func() bool { s := status(t, laptop); return s.Outbox.Messages == 0 && s.Trouble == "" })
	hooktest.Until(t, "the stream is empty", func() bool {
		info, err := stream.Info(t.Context())
		return err == nil && info.State.Msgs == 0
	})
	hooktest.Must(t, names.RemoveQueues(t.Context(), ops, "late"))
	info, err := stream.Info(t.Context())
	hooktest.Must(t, err)
	if list := info.Config.Subjects; len(list) != 1 || list[0] != "hookd.t.*.work.once" {
		t.Errorf("after a queue is removed the stream has %v", list)
	}
}

// A stream that was deleted stops itself alone: members go on with the others, and say which.
func TestAMissingStreamStopsItselfAlone(t *testing.T) {
	g := guard(t, map[fleet.Names]fleet.Role{
		{Tenant: "t", Machine: "ops"}: fleet.RoleOperator, {Tenant: "t", Machine: "laptop"}: fleet.RoleMachine,
		{Tenant: "t", Machine: "builder"}: fleet.RoleMachine,
	})
	ops := g.operator(t, "t", "ops")
	for _, name := range []string{"HOOKD_t_LOG", "HOOKD_t_WORK"} {
		hooktest.Must(t, g.streams(t).DeleteStream(t.Context(), name))
	}
	laptop := joinAs(t, g.options("t", "laptop"), fleet.Options{}, each)
	builder := joinAs(t, g.options("t", "builder"), fleet.Options{}, each).hears(t)
	laptop.emit(t, each, 0, 3)
	hooktest.Until(t, "the others have the events", func() bool { return len(builder.data()) == 3 })
	hooktest.Until(t, "the machine says which streams are missing", func() bool {
		why := status(t, laptop).Trouble
		return strings.Contains(why, "HOOKD_t_LOG") && strings.Contains(why, "HOOKD_t_WORK") && strings.Contains(why, "hookd fleet init")
	})
	names := fleet.Names{Tenant: "t", Machine: "ops"}
	hooktest.Must(t, ops.Prepare(t.Context(), names.Layout()))
	hooktest.Must(t, names.MakeQueues(t.Context(), ops, "once"))
	hooktest.Until(t, "nothing is missing", func() bool { return status(t, laptop).Trouble == "" })
}
