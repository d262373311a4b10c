package discovery

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/goleak"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/hooks/hook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a hooks directory with a Discovery that runs on it.
type world struct {
	*testing.T
	dir      string // the parent of root
	root     string
	d        *Discovery
	changes  chan *hook.Snapshot
	watchers chan *fsnotify.Watcher // each one that was made
	reads    atomic.Int64           // hooks read, over all scans
	disabled atomic.Bool            // switches all hooks off: only a scan can see it
}

// newWorld makes a world whose timers are short, not yet running.
func newWorld(t *testing.T, change func(*Options)) *world {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, dir: dir, root: filepath.Join(dir, "hooks"), changes: make(chan *hook.Snapshot, 10_000), watchers: make(chan *fsnotify.Watcher, 100)}
	opts := Options{
		Root: w.root, Quiet: 10 * time.Millisecond, Max: 100 * time.Millisecond, Rescan: time.Hour, Poll: 10 * time.Millisecond,
		Disabled: func() func(string) bool { return func(string) bool { return w.disabled.Load() } },
	}
	opts.Digest = func(seal *trust.Seal) string {
		w.reads.Add(1)
		return seal.Digest()
	}
	if change != nil {
		change(&opts)
	}
	w.d = New(opts)
	w.d.newWatcher = func() (*fsnotify.Watcher, error) {
		fw, err := fsnotify.NewWatcher()
		if err == nil {
			w.watchers <- fw
		}
		return fw, err
	}
	return w
}

// run starts the Discovery and stops it at the end of the test.
func (w *world) run() *world {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- w.d.Run(ctx, func(s *hook.Snapshot) func() { return func() { w.changes <- s } }) }()
	w.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			w.Errorf("Run: %v", err)
		}
		if got := w.d.Watching(); got != "off" {
			w.Errorf("after Run, Watching() = %q, want off", got)
		}
	})
	return w
}

// start runs a world whose root exists.
func start(t *testing.T) *world {
	w := newWorld(t, nil)
	w.mkdir("hooks")
	return w.run()
}

// await waits until ok holds for the current snapshot.
func (w *world) await(what string, ok func(*hook.Snapshot) bool) *hook.Snapshot {
	w.Helper()
	late := time.After(hooktest.Patience)
	for {
		if s := w.d.Current(); ok(s) {
			return s
		}
		select {
		case <-w.changes:
		case <-late:
			w.Fatalf("%s: not seen; watching by %s; now:\n%s", what, w.d.Watching(), describe(w.d.Current()))
		}
	}
}

// poll waits for a condition that makes no snapshot.
func (w *world) poll(what string, ok func() bool) {
	w.Helper()
	hooktest.Until(w, what, ok)
}

// awaitState waits until the hook has that state.
func (w *world) awaitState(name string, state hook.State) *hook.Snapshot {
	w.Helper()
	return w.await(name+" "+string(state), func(s *hook.Snapshot) bool {
		e := entry(s, name)
		return e != nil && e.State == state
	})
}

// awaitText waits until the hook is active and has the description.
func (w *world) awaitText(name, description string) *hook.Snapshot {
	w.Helper()
	return w.await(name+" with "+description, func(s *hook.Snapshot) bool {
		e := entry(s, name)
		return e != nil && e.State == hook.Active && e.Hook.Description == description
	})
}

func (w *world) awaitGone(name string) {
	w.Helper()
	w.await(name+" gone", func(s *hook.Snapshot) bool { return entry(s, name) == nil && s.Generation > 0 })
}

func entry(s *hook.Snapshot, name string) *hook.Entry {
	for i := range s.Entries {
		if s.Entries[i].Name == name {
			return &s.Entries[i]
		}
	}
	return nil
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) mkdir(name string) {
	w.Helper()
	w.must(os.MkdirAll(w.path(name), 0o700))
}

func (w *world) write(name, text string) {
	w.Helper()
	w.must(os.WriteFile(w.path(name), []byte(text), 0o700))
}

func (w *world) rename(from, to string) {
	w.Helper()
	w.must(os.Rename(w.path(from), w.path(to)))
}

func (w *world) remove(name string) {
	w.Helper()
	w.must(os.RemoveAll(w.path(name)))
}

// link makes or retargets a link at once, as ln -sfn and mv -T do.
func (w *world) link(target, name string) {
	w.Helper()
	w.must(os.Symlink(target, w.path(name+".tmp")))
	w.rename(name+".tmp", name)
}

func yaml(name, description string) string {
	return "name: " + name + "\ndescription: '" + description + "'\nevents: agent:end\ncommand: ./run.sh\n"
}

// hook makes a hook folder.
func (w *world) hook(folder, name, description string) {
	w.Helper()
	w.mkdir(folder)
	w.write(folder+"/run.sh", "#!/bin/sh\n")
	w.write(folder+"/HOOK.yaml", yaml(name, description))
}
