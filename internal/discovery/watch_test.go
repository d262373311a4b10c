package discovery

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/hooks/hook"
)

func TestSaveByRename(t *testing.T) {
	w := start(t)
	w.hook("hooks/a", "a", "one")
	w.awaitText("a", "one")
	for _, text := range []string{"two", "three"} {
		w.write("hooks/a/.HOOK.yaml.new", yaml("a", text))
		w.rename("hooks/a/.HOOK.yaml.new", "hooks/a/HOOK.yaml")
		w.awaitText("a", text)
	}
}

func TestSaveInPlace(t *testing.T) {
	w := start(t)
	w.hook("hooks/a", "a", "one")
	w.awaitText("a", "one")
	w.write("hooks/a/HOOK.yaml", yaml("a", "two"))
	w.awaitText("a", "two")
}

// Vim moves the file away before it writes it again. The hook stays in force.
func TestSaveWithBackup(t *testing.T) {
	w := start(t)
	w.hook("hooks/a", "a", "0")
	w.awaitText("a", "0")
	for i := 1; i <= 20; i++ {
		w.rename("hooks/a/HOOK.yaml", "hooks/a/HOOK.yaml~")
		if i%5 == 0 { // slow enough to be seen
			w.awaitState("a", hook.Degraded)
		}
		w.write("hooks/a/HOOK.yaml", yaml("a", fmt.Sprint(i)))
		w.must(os.Chmod(w.path("hooks/a/HOOK.yaml"), 0o600))
		w.remove("hooks/a/HOOK.yaml~")
		w.awaitText("a", fmt.Sprint(i))
		if s := w.d.Current(); len(s.Runnable()) != 1 {
			t.Fatalf("round %d: %d hooks run, want 1", i, len(s.Runnable()))
		}
	}
}

// A chmod is a change: without the x bit a hook cannot run.
func TestChmodAndTouch(t *testing.T) {
	w := start(t)
	w.hook("hooks/a", "a", "one")
	w.awaitText("a", "one")
	problems := func(n int) func(*hook.Snapshot) bool {
		return func(s *hook.Snapshot) bool { e := entry(s, "a"); return e != nil && len(e.Problems) == n }
	}
	w.must(os.Chmod(w.path("hooks/a/run.sh"), 0o600))
	s := w.await("a not executable", problems(1))
	if p := entry(s, "a").Problems[0]; !p.Warning || p.Hint != "chmod +x "+w.path("hooks/a/run.sh") {
		t.Errorf("problem = %+v", p)
	}
	w.must(os.Chmod(w.path("hooks/a/run.sh"), 0o700))
	s = w.await("a executable again", problems(0))
	before := entry(s, "a").Hook.Digest
	w.must(os.Chtimes(w.path("hooks/a/run.sh"), time.Time{}, time.Unix(1_700_000_000, 0)))
	w.await("a touched", func(s *hook.Snapshot) bool { return entry(s, "a").Hook.Digest != before })
}

// Only one CREATE arrives for `mkdir b && write b/HOOK.yaml`.
func TestNewFolder(t *testing.T) {
	w := start(t)
	for i := range 20 {
		name := fmt.Sprintf("h%d", i)
		w.hook("hooks/"+name, name, "new")
		if i%3 == 0 {
			w.awaitText(name, "new")
		}
	}
	for i := range 20 {
		w.awaitText(fmt.Sprintf("h%d", i), "new")
	}
}

// A folder that is moved in sends no notification for its files.
func TestFolderMovedInAndOut(t *testing.T) {
	w := start(t)
	w.hook("elsewhere/a", "a", "one")
	w.rename("elsewhere/a", "hooks/a")
	w.awaitText("a", "one")
	w.rename("hooks/a", "elsewhere/a")
	w.awaitGone("a")
}

func TestFolderRenamed(t *testing.T) {
	w := start(t)
	w.hook("hooks/b", "b", "one")
	w.awaitText("b", "one")
	for i, move := range [][2]string{{"hooks/b", "hooks/c"}, {"hooks/c", "hooks/d"}, {"hooks/d", "hooks/b"}} {
		w.rename(move[0], move[1])
		w.await("b in "+move[1], func(s *hook.Snapshot) bool {
			e := entry(s, "b")
			return e != nil && e.Source.Path == w.path(move[1])
		})
		w.write(move[1]+"/HOOK.yaml", yaml("b", fmt.Sprint(i)))
		w.awaitText("b", fmt.Sprint(i))
	}
	w.rename("hooks/b", "hooks/b.disabled")
	w.awaitGone("b")
	w.rename("hooks/b.disabled", "hooks/b")
	w.awaitText("b", "2")
}

func TestLinkedFolder(t *testing.T) {
	w := start(t)
	w.hook("first", "a", "first")
	w.hook("second", "a", "second")
	w.link("../first", "hooks/a")
	w.awaitText("a", "first")
	w.write("first/HOOK.yaml", yaml("a", "first again"))
	w.awaitText("a", "first again")

	w.link(w.path("second"), "hooks/a")
	w.awaitText("a", "second")
	w.write("second/HOOK.yaml", yaml("a", "second again"))
	w.awaitText("a", "second again")

	// The old target does not matter any more.
	reads := w.reads.Load()
	for range 100 {
		w.write("first/HOOK.yaml", yaml("a", "old"))
	}
	w.write("second/HOOK.yaml", yaml("a", "last"))
	w.awaitText("a", "last")
	if n := w.reads.Load() - reads; n > 20 {
		t.Errorf("%d reads for changes in the old target", n)
	}

	w.remove("second")
	w.awaitGone("a")
	w.hook("second", "a", "reborn")
	w.awaitText("a", "reborn")
}

// A chain of links, each of which may change.
func TestLinkToLink(t *testing.T) {
	w := start(t)
	w.hook("v1", "a", "v1")
	w.hook("v2", "a", "v2")
	w.link("v1", "current")
	w.link("../current", "hooks/a")
	w.awaitText("a", "v1")
	w.link("v2", "current")
	w.awaitText("a", "v2")
	w.write("v2/HOOK.yaml", yaml("a", "v2 edited"))
	w.awaitText("a", "v2 edited")
}

// Links of files, as dotfile managers make them.
func TestLinkedFiles(t *testing.T) {
	w := start(t)
	w.mkdir("hooks/a")
	w.hook("dotfiles", "a", "one")
	w.link("../../dotfiles/HOOK.yaml", "hooks/a/HOOK.yaml")
	w.link("../../dotfiles/run.sh", "hooks/a/run.sh")
	w.awaitText("a", "one")
	w.await("script there", func(s *hook.Snapshot) bool { return len(entry(s, "a").Problems) == 0 })
	w.write("dotfiles/HOOK.yaml", yaml("a", "two"))
	s := w.awaitText("a", "two")
	before := entry(s, "a").Hook.Digest
	w.write("dotfiles/run.sh", "#!/bin/sh\nexit 1\n")
	w.await("another script", func(s *hook.Snapshot) bool { return entry(s, "a").Hook.Digest != before })
}

// Kubernetes swaps a link beside the file: HOOK.yaml itself never changes.
func TestDataSwap(t *testing.T) {
	w := start(t)
	w.mkdir("hooks/a")
	w.hook("hooks/a/..1", "a", "one")
	w.link("..1", "hooks/a/..data")
	w.link("..data/HOOK.yaml", "hooks/a/HOOK.yaml")
	w.link("..data/run.sh", "hooks/a/run.sh")
	w.awaitText("a", "one")
	for i := 2; i <= 4; i++ {
		w.hook(fmt.Sprintf("hooks/a/..%d", i), "a", fmt.Sprint(i))
		w.link(fmt.Sprintf("..%d", i), "hooks/a/..data")
		w.remove(fmt.Sprintf("hooks/a/..%d", i-1))
		w.awaitText("a", fmt.Sprint(i))
	}
}

func TestRootRemovedAndMadeAgain(t *testing.T) {
	w := start(t)
	for i := range 5 {
		w.hook("hooks/a", "a", fmt.Sprint(i))
		w.awaitText("a", fmt.Sprint(i))
		if i%2 == 0 { // held open, the directory's watch outlives it
			f, err := os.Open(w.root)
			w.must(err)
			defer f.Close()
		}
		w.remove("hooks")
		if i != 3 { // once it is there again before the watcher looks
			w.awaitGone("a")
		}
	}
	w.hook("hooks/a", "a", "last")
	w.awaitText("a", "last")
	w.write("hooks/a/HOOK.yaml", yaml("a", "edited"))
	w.awaitText("a", "edited")
}

// The root may be absent, with any number of folders above it, may come with
// all that is in it, and may be a link.
func TestRootAbsentAtStart(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Root += "/x/y/hooks" }).run()
	w.await("nothing", func(s *hook.Snapshot) bool { return s.Generation == 1 && len(s.Problems) == 0 })
	w.hook("hooks/x/y/hooks/a", "a", "one")
	w.awaitText("a", "one")
	w.write("hooks/x/y/hooks/a/HOOK.yaml", yaml("a", "two"))
	w.awaitText("a", "two")
	w.remove("hooks")
	w.awaitGone("a")
	w.hook("new/y/hooks/a", "a", "three")
	w.mkdir("hooks")
	w.rename("new", "hooks/x")
	w.awaitText("a", "three")
}

func TestRootIsLink(t *testing.T) {
	w := newWorld(t, nil).run()
	w.hook("one/a", "a", "one")
	w.hook("two/a", "a", "two")
	w.link("one", "hooks")
	w.awaitText("a", "one")
	w.link("two", "hooks")
	w.awaitText("a", "two")
	w.hook("two/b", "b", "new")
	w.awaitText("b", "new")
}

// A hook that writes into its own folder costs nothing and makes no snapshot,
// nor do changes beside the root.
func TestNoiseIsIgnored(t *testing.T) {
	w := start(t)
	w.hook("hooks/noisy", "noisy", "x")
	w.hook("hooks/other", "other", "one")
	w.awaitText("noisy", "x")
	w.awaitText("other", "one")
	s := w.await("up to date", func(s *hook.Snapshot) bool {
		return len(entry(s, "noisy").Problems)+len(entry(s, "other").Problems) == 0
	})
	reads := w.reads.Load()
	for i := range 500 {
		w.write("hooks/noisy/log", fmt.Sprint(i))
		w.write(fmt.Sprintf("hooks/noisy/state.%d", i), "x")
		w.rename(fmt.Sprintf("hooks/noisy/state.%d", i), "hooks/noisy/state")
		w.write("hookd.db", fmt.Sprint(i))
		w.write("hooks/.swap", fmt.Sprint(i))
		w.write("hooks/noisy.tmp", fmt.Sprint(i))
		w.remove("hooks/noisy.tmp")
	}
	// Notifications are in order: when this one is seen, so are those above.
	w.write("hooks/other/HOOK.yaml", yaml("other", "two"))
	now := w.awaitText("other", "two")
	if n := w.reads.Load() - reads; n > 40 {
		t.Errorf("%d reads of hooks for noise", n)
	}
	// Writing in place may be seen half done, never more often than that.
	if n := now.Generation - s.Generation; n > 2 {
		t.Errorf("%d generations for one change", n)
	}
	if entry(now, "noisy").Hook != entry(s, "noisy").Hook {
		t.Error("an unchanged hook is another value")
	}
}

func TestBurst(t *testing.T) {
	w := start(t)
	w.hook("hooks/a", "a", "one")
	w.awaitText("a", "one")
	for i := range hooktest.Amount(10_000, 1000) {
		name := fmt.Sprintf("hooks/f%d", i%50)
		w.write(name, "x")
		w.remove(name)
	}
	w.hook("hooks/b", "b", "after")
	w.awaitText("b", "after")
	w.write("hooks/a/HOOK.yaml", yaml("a", "two"))
	w.awaitText("a", "two")
}

// After an overflow everything is read at once, and watched again.
func TestOverflow(t *testing.T) {
	w := start(t)
	w.hook("hooks/a", "a", "one")
	w.awaitText("a", "one")
	for i := range 3 {
		w.disabled.Store(true)
		(<-w.watchers).Errors <- fsnotify.ErrEventOverflow
		w.awaitState("a", hook.Disabled)
		w.disabled.Store(false)
		w.write("hooks/a/HOOK.yaml", yaml("a", fmt.Sprint(i)))
		w.awaitText("a", fmt.Sprint(i))
	}
}

// An error that is not read would block fsnotify forever. All are read, also while
// a scan blocks everything else.
func TestErrorsAreDrained(t *testing.T) {
	w := start(t)
	w.hook("hooks/a", "a", "one")
	w.awaitText("a", "one")
	fw := <-w.watchers
	w.d.mu.Lock() // as a scan does
	for range 100 {
		select {
		case fw.Errors <- errors.New("broken"):
		case <-time.After(hooktest.Patience):
			t.Fatal("an error was not read")
		}
	}
	w.d.mu.Unlock()
	w.write("hooks/a/HOOK.yaml", yaml("a", "two"))
	w.awaitText("a", "two")
}

// Where no watcher can be made discovery polls, reports that, and tries again.
func TestPolling(t *testing.T) {
	w := newWorld(t, nil)
	w.mkdir("hooks")
	w.d.newWatcher = func() (*fsnotify.Watcher, error) { return nil, os.NewSyscallError("inotify_init1", syscall.EMFILE) }
	w.run()
	w.hook("hooks/a", "a", "one")
	w.awaitText("a", "one")
	if got, want := w.d.Watching(), "polling every 10ms: inotify_init1: too many open files"; got != want {
		t.Errorf("Watching() = %q, want %q", got, want)
	}
	w.write("hooks/a/HOOK.yaml", yaml("a", "two"))
	w.awaitText("a", "two")
}

// A watcher that accepts no more watches is closed, and tried again at the next full
// rescan.
func TestPollingRecovers(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Rescan = 50 * time.Millisecond })
	w.mkdir("hooks")
	made := 0
	w.d.newWatcher = func() (*fsnotify.Watcher, error) {
		fw, err := fsnotify.NewWatcher()
		if made++; made <= 2 && err == nil {
			err = errors.Join(err, fw.Close()) // each Add will fail
		}
		return fw, err
	}
	polled := make(chan string, 1)
	w.d.opts.Disabled = func() func(string) bool {
		if how := w.d.Watching(); strings.HasPrefix(how, "polling") {
			select {
			case polled <- how:
			default:
			}
		}
		return Markers{}.Disabled()
	}
	w.hook("hooks/a", "a", "one")
	w.run()
	w.awaitText("a", "one")
	if got, want := <-polled, "polling every 10ms: fsnotify: watcher already closed"; got != want {
		t.Errorf("Watching() = %q, want %q", got, want)
	}
	w.poll("watching again", func() bool { return w.d.Watching() == "fsnotify" })
	w.write("hooks/a/HOOK.yaml", yaml("a", "two"))
	w.awaitText("a", "two")
}

// A change without a notification is found by the full rescan.
func TestRescan(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Rescan = 20 * time.Millisecond })
	w.hook("hooks/a", "a", "one")
	w.run()
	w.awaitText("a", "one")
	w.disabled.Store(true)
	w.awaitState("a", hook.Disabled)
}
