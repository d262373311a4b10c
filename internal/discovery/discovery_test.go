package discovery

import (
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// states lists the hooks of a snapshot as name=state.
func states(s *hook.Snapshot) string {
	var out []string
	for _, e := range s.Entries {
		out = append(out, e.Name+"="+string(e.State))
	}
	return strings.Join(out, " ")
}

func (w *world) update(what, want string) *hook.Snapshot {
	w.Helper()
	s := w.d.Load()
	if got := states(s); got != want {
		w.Fatalf("%s: got %s\nwant %s\n%s", what, got, want, describe(s))
	}
	return s
}

func TestOrderAndSkippedNames(t *testing.T) {
	w := newWorld(t, nil)
	for _, name := range []string{"b", "a", "B", "10", "9", "ä", ".git", "x~", "x.swp", "x.bak", "x.tmp", "x.disabled"} {
		w.hook("hooks/"+name, "n-"+name, "x")
	}
	w.hook("target", "n-link", "x")
	w.link("../target", "hooks/link")
	w.link("../nowhere", "hooks/dangling")
	w.write("hooks/README.md", "no folder")
	w.update("first load", "n-10=active n-9=active n-B=active n-a=active n-b=active n-link=active n-ä=active")
}

// A broken hook keeps its last good version; a new broken one has none; others
// are never affected.
func TestLastGood(t *testing.T) {
	w := newWorld(t, nil)
	w.hook("hooks/a", "a", "good")
	w.hook("hooks/b", "b", "x")
	first := w.update("good", "a=active b=active")
	w.write("hooks/a/HOOK.yaml", "name: [\n")
	w.hook("hooks/c", "c", "x")
	w.write("hooks/c/HOOK.yaml", "nam: c\n")
	s := w.update("broken", "a=degraded b=active c=rejected")
	if got := entry(s, "a").Hook; got != entry(first, "a").Hook {
		t.Errorf("the last good version of a is %v", got)
	}
	if len(entry(s, "a").Problems) == 0 || len(s.Runnable()) != 2 {
		t.Errorf("problems %v, runnable %d", entry(s, "a").Problems, len(s.Runnable()))
	}
	w.write("hooks/a/HOOK.yaml", "name: a\nevents: '['\n")
	w.update("broken in another way", "a=degraded b=active c=rejected")
	w.remove("hooks/a/HOOK.yaml")
	w.update("without its file", "a=degraded b=active c=rejected")
	w.mkdir("hooks/d")
	w.update("a folder that never had one", "a=degraded b=active c=rejected d=rejected")
	w.hook("hooks/a", "a", "good")
	w.hook("hooks/c", "c", "x")
	w.remove("hooks/d")
	w.update("repaired", "a=active b=active c=active")
	w.remove("hooks/a")
	w.update("removed", "b=active c=active")
	w.mkdir("hooks/a")
	w.update("back without a file", "a=rejected b=active c=active")
}

// A name belongs to the hook that has it, wherever another one comes in the order.
func TestDuplicateNames(t *testing.T) {
	w := newWorld(t, nil)
	w.hook("hooks/m", "same", "m")
	w.hook("hooks/z", "same", "z")
	s := w.update("first load", "same=active z=rejected")
	p := entry(s, "z").Problems[0]
	if p.Line != 1 || p.Column != 7 || !strings.Contains(p.Message, w.path("hooks/m")) || !strings.Contains(p.Message, w.path("hooks/z")) {
		t.Errorf("the problem does not name both folders: %v", p)
	}
	w.hook("hooks/a", "same", "a")
	s = w.update("an earlier folder comes", "a=rejected same=active z=rejected")
	if got := entry(s, "same").Hook.Description; got != "m" {
		t.Errorf("the name went to %s", got)
	}
	w.remove("hooks/m")
	w.update("the owner goes", "same=active z=rejected")

	// A hook that is renamed to another's name retains its last good version.
	w.hook("hooks/b", "b", "x")
	w.update("b comes", "same=active b=active z=rejected")
	w.hook("hooks/b", "same", "x")
	w.update("b takes a name", "same=active b=degraded z=rejected")
	// Its name stays its own as long as it falls back to it.
	w.hook("hooks/0", "b", "x")
	w.update("a new hook wants the name of the degraded one", "0=rejected same=active b=degraded z=rejected")
}

func TestNamesSwapped(t *testing.T) {
	w := newWorld(t, nil)
	w.hook("hooks/1", "a", "x")
	w.hook("hooks/2", "b", "x")
	w.update("before", "a=active b=active")
	w.hook("hooks/1", "b", "x")
	w.hook("hooks/2", "a", "x")
	w.update("after", "b=active a=active")
}

func TestDisabled(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.Disabled = func() func(string) bool { return func(name string) bool { return name == "a" } }
	})
	w.hook("hooks/a", "a", "x")
	w.hook("hooks/b", "b", "x")
	w.write("hooks/b/HOOK.yaml", yaml("b", "x")+"enabled: false\n")
	w.hook("hooks/c", "c", "x")
	if s := w.update("load", "a=disabled b=disabled c=active"); len(s.Runnable()) != 1 {
		t.Errorf("%d hooks run, want 1", len(s.Runnable()))
	}
}

// Only a difference makes a generation, and unchanged hooks stay the same.
func TestGenerations(t *testing.T) {
	w := newWorld(t, nil)
	if s := w.d.Current(); s == nil || s.Generation != 0 || len(s.Entries) != 0 {
		t.Fatalf("before Load: %+v", s)
	}
	if s := w.update("no root", ""); s.Generation != 1 || len(s.Problems) != 0 {
		t.Errorf("generation %d, problems %v; want 1 and none", s.Generation, s.Problems)
	}
	w.hook("hooks/a", "a", "x")
	w.hook("hooks/b", "b", "x")
	s := w.update("two", "a=active b=active")
	w.write("hooks/a/log", "x")
	if again := w.d.Load(); again != s || s.Generation != 2 {
		t.Errorf("generation %d, want the same snapshot of generation 2", again.Generation)
	}
	w.write("hooks/b/HOOK.yaml", yaml("b", "y"))
	now := w.update("changed", "a=active b=active")
	if now.Generation != 3 || entry(now, "a").Hook != entry(s, "a").Hook || entry(now, "b").Hook == entry(s, "b").Hook {
		t.Errorf("generation %d, or the wrong hooks were replaced", now.Generation)
	}
}

// A root that cannot be listed loses no hook.
func TestRootUnreadable(t *testing.T) {
	w := newWorld(t, nil)
	w.hook("hooks/a", "a", "x")
	w.update("good", "a=active")
	w.rename("hooks", "away")
	w.write("hooks", "a file")
	s := w.update("a file", "a=degraded")
	if len(s.Problems) != 1 || s.Problems[0].File != w.root {
		t.Errorf("problems = %v", s.Problems)
	}
	w.must(os.Remove(w.root))
	w.rename("away", "hooks")
	if s := w.update("good again", "a=active"); len(s.Problems) != 0 {
		t.Errorf("problems = %v", s.Problems)
	}
}

// Scan needs no daemon and knows last good versions from a snapshot.
func TestScan(t *testing.T) {
	w := newWorld(t, nil)
	w.hook("hooks/a", "a", "x")
	opts := Options{Root: w.root}
	first := Scan(opts, nil)
	if states(first) != "a=active" || first.Generation != 1 {
		t.Fatalf("got %s in generation %d", states(first), first.Generation)
	}
	if again := Scan(opts, first); again != first {
		t.Error("an unchanged scan is another snapshot")
	}
	w.write("hooks/a/HOOK.yaml", "")
	if second := Scan(opts, first); states(second) != "a=degraded" || second.Generation != 2 {
		t.Errorf("got %s in generation %d", states(second), second.Generation)
	}
	if alone := Scan(opts, nil); states(alone) != "a=rejected" {
		t.Errorf("without a previous snapshot: %s", states(alone))
	}
}

// With reload.mode: manual only Load scans, and Run still calls changed.
func TestNoWatch(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.NoWatch = true })
	w.hook("hooks/a", "a", "one")
	w.run()
	w.poll("Run", func() bool { w.d.mu.Lock(); defer w.d.mu.Unlock(); return w.d.changed != nil })
	if got := w.d.Watching(); got != "off" || w.d.Current().Generation != 0 || len(w.watchers) != 0 {
		t.Errorf("watching by %q, generation %d", got, w.d.Current().Generation)
	}
	s := w.update("load", "a=active")
	if got := <-w.changes; got != s {
		t.Error("changed was not called with the snapshot")
	}
}

// By the time Load returns, changed has been called; calls are in order, also
// when many load at once.
func TestLoadCallsChanged(t *testing.T) {
	w := start(t)
	w.poll("first load", func() bool { return w.d.Current().Generation > 0 })
	w.hook("hooks/a", "a", "one")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				w.disabled.Store(!w.disabled.Load())
				w.d.Load()
			}
		})
	}
	wg.Wait()
	last := w.d.Load()
	w.d.mu.Lock() // no more calls
	defer w.d.mu.Unlock()
	var generations []uint64
	for len(w.changes) > 0 {
		generations = append(generations, (<-w.changes).Generation)
	}
	var want []uint64
	for g := uint64(1); g <= max(last.Generation, w.d.Current().Generation); g++ {
		want = append(want, g)
	}
	if !reflect.DeepEqual(generations, want) {
		t.Errorf("changed was called with %v, want %v", generations, want)
	}
}

// A hook that is listed is in force: Current returns a generation when changed has put it
// into force, and not before.
func TestListedHooksAreInForce(t *testing.T) {
	w := newWorld(t, nil)
	w.d.Load()
	var listed, then *hook.Snapshot
	w.d.start(func(*hook.Snapshot) func() {
		listed = w.d.Current()
		return func() { then = w.d.Current() }
	})
	defer w.d.stop()
	w.hook("hooks/a", "a", "one")
	now := w.d.Load()
	if len(now.Entries) != 1 || listed == now || len(listed.Entries) > 0 || then != now {
		t.Errorf("before: %s, then: %s, now: %s", states(listed), states(then), states(now))
	}
}

// Run calls changed for a generation that came after the first Load: a reload that
// early must not leave a guard out.
func TestRunTellsWhatWasLoadedBefore(t *testing.T) {
	w := newWorld(t, nil)
	w.hook("hooks/a", "a", "one")
	w.d.Load()
	w.run()
	w.poll("runs", func() bool { return w.d.Watching() == "fsnotify" })
	if len(w.changes) > 0 {
		t.Errorf("told of what the first Load returned: %s", states(<-w.changes))
	}

	early := newWorld(t, nil)
	early.hook("hooks/a", "a", "one")
	early.d.Load()
	early.hook("hooks/b", "b", "one")
	want := early.d.Load()
	early.run()
	select {
	case got := <-early.changes:
		if got != want {
			t.Errorf("told of %s, want %s", states(got), states(want))
		}
	case <-time.After(hooktest.Patience):
		t.Fatalf("not told of %s", states(want))
	}
}

// A problem is logged when it appears, with the hook as a field, and not again.
func TestProblemsAreLoggedOnce(t *testing.T) {
	core, logs := observer.New(zapcore.WarnLevel)
	w := newWorld(t, func(o *Options) { o.Log = zap.New(core) })
	w.hook("hooks/a", "a", "x")
	w.write("hooks/a/HOOK.yaml", "name: a\n")
	w.update("broken", "a=rejected")
	w.hook("hooks/b", "b", "x")
	w.update("another", "a=rejected b=active")
	entries := logs.FilterMessage("hook has a problem").FilterField(zap.String("hook", "a")).All()
	if len(entries) != 2 { // events and command are missing
		t.Errorf("%d problems logged, want 2: %v", len(entries), logs.All())
	}
}
