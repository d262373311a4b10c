package ask

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/wire"
)

// permit lets a call pass that was denied by hooks.
func (b *bench) permit(a asking, scope string) []wire.Grant {
	b.t.Helper()
	e := a.question().Event
	d := &wire.Decision{
		EventID: e.EventID, Tool: "Bash", Subject: a.command, Dialect: e.Dialect, Cwd: a.cwd, CallSum: b.Identify(e),
	}
	made, bad := b.AddPermits(b.t.Context(), d, a.hooks, scope, person().Answerer)
	if bad != nil {
		b.t.Fatal(bad)
	}
	return made
}

func TestPermitIsForTheSameCallOnce(t *testing.T) {
	b := newBench(t)
	hooks := []*hook.Hook{guard("one", "d1"), guard("two", "d2")}
	denied := asking{command: "rm -rf build", cwd: "/src", hooks: hooks}
	made := b.permit(denied, "once")
	if len(made) != 2 || len(b.Permits()) != 2 {
		t.Fatalf("got %d permits, %d in force, want 2", len(made), len(b.Permits()))
	}
	b.stop()
	b.start() // permits outlive the daemon
	other, elsewhere := denied, denied
	other.command, elsewhere.cwd = "rm -rf src", "/other"
	for name, e := range map[string]*events.Event{"other": other.question().Event, "elsewhere": elsewhere.question().Event} {
		if by := b.Permit(e, hooks); by != nil {
			t.Errorf("%s: got %+v, want no permit", name, by)
		}
	}
	if by := b.Permit(denied.question().Event, append(hooks, guard("three", "d3"))); by != nil {
		t.Errorf("a third hook denies, too: got %+v, want no permit", by)
	}
	if by := b.Permit(denied.question().Event, []*hook.Hook{guard("one", "changed")}); by != nil {
		t.Errorf("the hook has changed: got %+v, want no permit", by)
	}
	signed := guard("one", "d1")
	signed.Layer = hook.LayerPolicy
	if by := b.Permit(denied.question().Event, []*hook.Hook{signed}); by != nil {
		t.Errorf("the hook is of a policy: got %+v, want no permit", by)
	}
	by := b.Permit(denied.question().Event, hooks)
	if by == nil || by.By != wire.ByPermit || by.From.User != "ann" || by.For != "once" {
		t.Fatalf("got %+v, want ann's permit", by)
	}
	if by := b.Permit(denied.question().Event, hooks); by != nil {
		t.Errorf("the second time: got %+v, want no permit", by)
	}
}

func TestPermitForATimeCountsEachTime(t *testing.T) {
	b := newBench(t)
	denied := asking{command: "rm -rf build", cwd: "/src", hooks: []*hook.Hook{guard("one", "d1")}}
	made := b.permit(denied, "15m")
	for range 3 {
		if by := b.Permit(denied.question().Event, denied.hooks); by == nil {
			t.Fatal("got no permit")
		}
	}
	if asked := b.ask(denied); !asked.allowed() || asked.answered.By != wire.ByPermit {
		t.Errorf("the hook asks now: got %+v, want the permit", asked.answered)
	}
	if _, bad := b.Revoke(t.Context(), made[0].ID); bad != nil {
		t.Fatal(bad)
	}
	if by := b.Permit(denied.question().Event, denied.hooks); by != nil {
		t.Errorf("after its end: got %+v, want no permit", by)
	}
	for _, scope := range []string{"always", "session", "25h", "0s", "soon"} {
		d := &wire.Decision{CallSum: "x"}
		if _, bad := b.AddPermits(t.Context(), d, denied.hooks, scope, person().Answerer); bad == nil {
			t.Errorf("%s: got a permit", scope)
		}
	}
}

// An answer for a session is in force until its grant is revoked, also over a restart.
func TestGrantedUntilItIsRevoked(t *testing.T) {
	b := newBench(t)
	s := b.ask(push("git push"))
	if _, bad := b.reply(b.held(1)[0], wire.Reply{Answer: "allow", For: "session"}); bad != nil {
		t.Fatal(bad)
	}
	<-s.done
	b.stop()
	b.start()
	g := b.Grants()[0]
	if !b.Granted(g.EventID) || b.Granted("another") {
		t.Error("want the event of the answer alone")
	}
	if _, bad := b.Revoke(t.Context(), g.ID); bad != nil {
		t.Fatal(bad)
	}
	if b.Granted(g.EventID) {
		t.Error("it is in force after it was revoked")
	}
}

// forgetful is a store that does not take that a grant is gone.
type forgetful struct {
	Store
	broken bool
}

func (f *forgetful) DropGrants(ctx context.Context, ids ...string) error {
	if f.broken {
		return errors.New("the disk is full")
	}
	return f.Store.DropGrants(ctx, ids...)
}

// The use of a permit is on disk before it counts, and where it cannot be, nothing passes.
func TestPermitIsUsedOnDiskFirst(t *testing.T) {
	b := newBench(t)
	denied := asking{command: "rm -rf build", cwd: "/src", hooks: []*hook.Hook{guard("one", "d1")}}
	disk := &forgetful{Store: b.Holder.opts.Store, broken: true}
	b.Holder.opts.Store = disk
	b.permit(denied, "once")
	if by := b.Permit(denied.question().Event, denied.hooks); by != nil {
		t.Errorf("got %+v while the disk takes nothing, want no permit", by)
	}
	disk.broken = false
	b.permit(denied, "once")
	if by := b.Permit(denied.question().Event, denied.hooks); by == nil {
		t.Fatal("got no permit")
	}
	kept, err := disk.Grants(t.Context())
	if err != nil || len(kept) != 1 { // the one whose use was refused
		t.Errorf("%d grants are on disk when the verdict is out, %v", len(kept), err)
	}
}

// Of many same calls at once a permit for one call lets one pass.
func TestPermitOnceIsUsedOnce(t *testing.T) {
	b := newBench(t)
	denied := asking{command: "rm -rf build", cwd: "/src", hooks: []*hook.Hook{guard("one", "d1"), guard("two", "d2")}}
	b.permit(denied, "once")
	var passed atomic.Int32
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if b.Permit(denied.question().Event, denied.hooks) != nil {
				passed.Add(1)
			}
		})
	}
	all.Wait()
	if n := passed.Load(); n != 1 {
		t.Errorf("%d calls passed, want 1", n)
	}
}

// TestPermitOfALaterTime lets nothing pass: the clock was set back since, and it would last as much longer.
func TestPermitOfALaterTime(t *testing.T) {
	b := newBench(t)
	denied := asking{command: "rm -rf build", cwd: "/src", hooks: []*hook.Hook{guard("one", "d1")}}
	made := b.permit(denied, "15m")
	b.mu.Lock()
	g := b.grants[made[0].ID]
	g.Made, g.Until = g.Made.Add(time.Hour), g.Until.Add(time.Hour)
	b.mu.Unlock()
	if by := b.Permit(denied.question().Event, denied.hooks); by != nil || len(b.Permits()) > 0 {
		t.Errorf("got %+v, and %d are in force", by, len(b.Permits()))
	}
}
