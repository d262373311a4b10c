// Package discovery finds and reads hooks, watches for changes, and publishes the
// result as an immutable *hook.Snapshot behind an atomic pointer.
//
// It promises: a scan always reads everything and builds a new snapshot, so the
// result never depends on which notifications arrived. Hooks are in registration
// order. A source (a hook folder, or a file with many hooks) that breaks retains its
// last good version and is shown as degraded; other sources are never affected. A name
// belongs to the hook that has it already. Only a changed digest, problem or state
// makes a new generation, so a hook that writes into its own folder changes nothing.
// Where the system cannot watch, discovery polls and reports that. Nothing that
// happens on disk stops it.
//
// A hook that users other than this one and root can change is refused: it still
// matches, so that its runs fail, and a guard denies. With Options.Approved a new or
// changed hook waits until a person allows it, and the version that was allowed
// stays in force.
//
// It does not run hooks.
package discovery

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
)

// Options for New and Scan. Only Root is required.
type Options struct {
	Root     string                        // the hooks directory; it may be absent
	Read     hookdir.Options               // how a folder is read
	Files    []FilePlace                   // files with hooks, registered after the directory's
	Fixed    []*hook.Hook                  // hooks of the command line, registered after the files'
	Dirs     func() Dirs                   // more folders of hooks, called once a scan; nil = none
	Disabled func() func(name string) bool // hooks switched off by hand, called once a scan; nil = none
	Log      *zap.Logger                   // nil = no log

	// Approved returns the approvals of a person, by the ID of the hook
	// (reload.mode: ask): a new or changed hook waits, and a removed one denies. It
	// is called once a scan. Nil allows everything.
	Approved func() map[string]Approval
	// Parsers read files with hooks, by type, that Files does not name any more.
	Parsers map[string]Parse
	// LastGood returns the text of a source's file when it was last good, before this
	// start of hookd; nil = unknown. It is used for a file that is broken at the
	// start. A nil LastGood is the same as a LastGood that returns nil.
	LastGood func(hook.Source) []byte
	// Known returns the sources that LastGood knows. They are the hooks of a place that
	// cannot be listed at the start; nil = none.
	Known func() []hook.Source
	// Checker judges which users can change the files; nil = trust.New.
	Checker *trust.Checker
	// Digest returns the digest of a hook's files; nil = the one of their seal.
	Digest func(*trust.Seal) string

	// Watching is called once, by Run, when it watches and has read everything
	// again; nil = not called.
	Watching func()

	NoWatch bool          // only Load scans (reload.mode: manual)
	Rest    time.Duration // Run waits so long before it reads everything again; 0 = not at all
	Quiet   time.Duration // a change is read after that long without another; 0 = 200 ms
	Max     time.Duration // and at the latest after that long; 0 = 2 s
	Rescan  time.Duration // everything is read again that often; 0 = 5 min
	Poll    time.Duration // and that often where watching is impossible; 0 = 2 s
	Answer  time.Duration // how long the files of one source may take to answer; 0 = 5 s
}

// Discovery maintains the snapshot of all hooks.
type Discovery struct {
	opts       Options
	log        *zap.Logger
	newWatcher func() (*fsnotify.Watcher, error) // a seam: tests make it fail

	current  atomic.Pointer[hook.Snapshot]
	watching atomic.Pointer[string]
	dirty    chan struct{} // something that matters has changed
	lost     chan error    // notifications were lost: scan at once
	files    *readfile.Patience

	mu         sync.Mutex // one scan at a time; guards all below
	changed    Changed
	unreported bool      // the current snapshot came after the first Load and before Run
	watch      *watch    // nil = not watching
	watched    *watchSet // of the last scan; nil = there was none
	retry      time.Time // while polling: when to try to watch again; zero = not polling
}

// New returns a Discovery that has found nothing yet: call Load, then Run.
func New(opts Options) *Discovery {
	opts = opts.withDefaults()
	d := &Discovery{
		opts:       opts,
		log:        opts.Log.Named("discovery"),
		newWatcher: fsnotify.NewWatcher,
		dirty:      make(chan struct{}, 1),
		lost:       make(chan error, 1),
	}
	d.files = readfile.NewPatience(opts.Answer, func() { signal(d.dirty) })
	d.current.Store(&hook.Snapshot{})
	d.say("off")
	return d
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, value time.Duration) {
		if *d <= 0 {
			*d = value
		}
	}
	set(&o.Quiet, 200*time.Millisecond)
	set(&o.Max, 2*time.Second)
	set(&o.Rescan, 5*time.Minute)
	set(&o.Poll, 2*time.Second)
	set(&o.Answer, 5*time.Second)
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.Dirs == nil {
		o.Dirs = func() Dirs { return Dirs{} }
	}
	if o.Disabled == nil {
		o.Disabled = Markers{}.Disabled
	}
	if o.Digest == nil {
		o.Digest = (*trust.Seal).Digest
	}
	if o.Checker == nil {
		o.Checker = trust.New()
	}
	if o.Watching == nil {
		o.Watching = func() {}
	}
	if o.Read.Readings == nil {
		o.Read.Readings = new(hookdir.Readings)
	}
	return o
}

// vetter returns the vetter of one scan: it reads files that hooks share once only.
func (o Options) vetter(files *readfile.Patience, dirs Dirs) vetter {
	path, _ := trust.SafePath(cmp.Or(o.Read.Path, os.Getenv("PATH"))) // what is left out the runner logs
	v := vetter{
		checker: o.Checker.Cached(), digest: o.Digest, path: path,
		ask: o.Approved != nil, lastGood: o.LastGood, files: files, approved: map[string]Approval{},
		restore: func(source hook.Source, text []byte, blind bool) []*hook.Hook {
			return o.restore(dirs, source, text, blind)
		},
		known: o.Known, off: dirs.Off,
	}
	if v.ask {
		maps.Copy(v.approved, o.Approved())
	}
	maps.Copy(v.approved, dirs.Allowed)
	return v
}

// restore makes the hooks of an earlier text of a source's file.
func (o Options) restore(dirs Dirs, source hook.Source, text []byte, blind bool) []*hook.Hook {
	for _, dir := range dirs.List {
		if dir.holds(source) {
			return newHooksDir(dir, o.Read).restore(source, text, blind)
		}
	}
	if source.Type == hookdir.SourceType {
		return newHooksDir(Dir{}, o.Read).restore(source, text, blind)
	}
	if parse := o.Parsers[source.Type]; parse != nil {
		return FilePlace{Type: source.Type, Parse: parse}.restore(source, text, blind)
	}
	return nil
}

// Folder reads and seals the hook of one folder, in the hooks directory or not. The
// hook is nil when it is rejected.
func Folder(dir string, opts Options) (*hook.Hook, []hook.Problem) {
	opts = opts.withDefaults()
	h, problems := hookdir.Read(dir, opts.Read)
	if h != nil {
		h.Files = withRules(h.Files, h)
		opts.vetter(nil, Dirs{}).sealRead(h)
	}
	return h, problems
}

// Scan reads everything once, without a daemon. The previous snapshot gives
// last good versions and the owners of names; nil = there was none. It is
// returned itself when nothing has changed.
func Scan(opts Options, previous *hook.Snapshot) *hook.Snapshot {
	opts = opts.withDefaults()
	if previous == nil {
		previous = &hook.Snapshot{}
	}
	s := scan(opts, readfile.NewPatience(opts.Answer, nil), previous)
	if !differs(previous, s.snapshot) {
		return previous
	}
	s.snapshot.Generation = previous.Generation + 1
	return s.snapshot
}

// Current returns the published snapshot; before the first Load it is empty
// and its generation 0. It never blocks.
func (d *Discovery) Current() *hook.Snapshot { return d.current.Load() }

// Watching returns how changes are noticed: "fsnotify", "polling every 2s: REASON",
// or "off"; and which files do not answer.
func (d *Discovery) Watching() string {
	how := *d.watching.Load()
	hung := d.files.Hung()
	if len(hung) == 0 {
		return how
	}
	few := hung[:min(len(hung), mostNamed)]
	how += "; no answer from " + strings.Join(few, ", ")
	if more := len(hung) - len(few); more > 0 {
		how += fmt.Sprintf(" and %d more", more)
	}
	return how
}

// mostNamed is how many of the files that do not answer Watching names.
const mostNamed = 3

func (d *Discovery) say(how string) { d.watching.Store(&how) }

// Changed puts a new generation into force. It returns the function to call when Current returns
// that generation, nil = nothing: so a hook that Current has is in force. It must not call Load.
type Changed func(*hook.Snapshot) (then func())

// Load scans, publishes the snapshot if it differs, and returns the current one. If
// it differs and Run is running, changed has been called by the time Load returns.
func (d *Discovery) Load() *hook.Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reload()
}

// Run watches until ctx ends, then returns nil. It calls changed, which may be nil,
// after each new generation, one call at a time, whether a change on disk or a call
// of Load made it; and once at the start if there was a generation after that of the
// first Load.
func (d *Discovery) Run(ctx context.Context, changed Changed) error {
	d.start(changed)
	defer d.stop()
	if d.opts.NoWatch {
		d.opts.Watching()
		<-ctx.Done()
		return nil
	}
	select {
	case <-time.After(d.opts.Rest):
	case <-ctx.Done():
	}
	d.rescan() // changes from before the watch
	d.opts.Watching()
	quiet, net := time.NewTimer(time.Hour), time.NewTimer(d.interval())
	quiet.Stop()
	defer quiet.Stop()
	defer net.Stop()
	var latest time.Time // when a postponed scan is due at last; zero = none is
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-d.dirty:
			if latest.IsZero() {
				latest = time.Now().Add(d.opts.Max)
			}
			quiet.Reset(min(d.opts.Quiet, max(0, time.Until(latest))))
			continue
		case err := <-d.lost:
			d.recover(err)
		case <-quiet.C:
		case <-net.C:
		}
		quiet.Stop()
		latest = time.Time{}
		d.rescan()
		net.Reset(d.interval())
	}
}

// ManyHooks is from how many hooks on a scan uses tens of megabytes.
const ManyHooks = 1000

// rescan is a Load in the background. After reading many hooks it returns the memory
// to the system at once; the runtime would retain it for some minutes.
func (d *Discovery) rescan() {
	if snap := d.Load(); len(snap.Entries) >= ManyHooks {
		debug.FreeOSMemory()
	}
}

func (d *Discovery) start(changed Changed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed = changed
	if d.unreported && changed != nil {
		d.putInForce(d.Current())
	}
	d.unreported = false
	if d.opts.NoWatch {
		return
	}
	if d.openWatch(); d.watch != nil && d.watched != nil {
		_, _ = d.watch.update(d.watched) // so that the next scan finds its watches; it reports the error
	}
}

func (d *Discovery) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed, d.watched = nil, nil
	d.closeWatch("off")
	d.retry = time.Time{}
}

// recover replaces the watch after notifications were lost: which of its watches
// still work is unknown.
func (d *Discovery) recover(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log.Warn("notifications lost, reading all hooks again", zap.Error(err))
	d.openWatch()
}

// interval returns the time until the next scan without a change.
func (d *Discovery) interval() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.watch == nil {
		return d.opts.Poll
	}
	return d.opts.Rescan
}

// openWatch replaces the watch with a new watch on nothing yet.
func (d *Discovery) openWatch() {
	d.closeWatch("")
	w, err := d.newWatcher()
	if err != nil {
		d.poll(err)
		return
	}
	d.watch, d.retry = newWatch(w, d.dirty, d.lost), time.Time{}
	d.say("fsnotify")
}

func (d *Discovery) closeWatch(how string) {
	if d.watch != nil {
		d.watch.close()
		d.watch = nil
	}
	if how != "" {
		d.say(how)
	}
}

// poll stops watching until the next full rescan is due.
func (d *Discovery) poll(reason error) {
	how := fmt.Sprintf("polling every %v: %v", d.opts.Poll, reason)
	if d.Watching() != how {
		d.log.Warn("cannot watch the hooks directory, polling",
			zap.Duration("interval", d.opts.Poll), zap.Error(reason))
	}
	d.closeWatch(how)
	d.retry = time.Now().Add(d.opts.Rescan)
}

// maxPasses bounds how often one reload scans when folders come faster than
// they can be watched; after that the quiet timer takes over.
const maxPasses = 5

// reload scans until no watch had to be added: a change from before a watch is seen
// only by a scan after it.
func (d *Discovery) reload() *hook.Snapshot {
	if d.watch == nil && !d.retry.IsZero() && !time.Now().Before(d.retry) {
		d.openWatch()
	}
	latest := d.Current()
	for pass := 1; ; pass++ {
		s := scan(d.opts, d.files, latest)
		latest = s.snapshot
		if s.watched == nil && d.watch != nil {
			d.poll(errHung)
		}
		if d.watched = s.watched; d.watch == nil {
			break
		}
		added, err := d.watch.update(s.watched)
		if err != nil {
			d.poll(err)
			continue
		}
		if !added {
			break
		}
		if pass == maxPasses {
			signal(d.dirty)
			break
		}
	}
	return d.publish(latest)
}

func (d *Discovery) publish(latest *hook.Snapshot) *hook.Snapshot {
	current := d.Current()
	if current.Generation > 0 && !differs(current, latest) {
		return current
	}
	latest.Generation = current.Generation + 1
	d.putInForce(latest)
	d.report(current, latest)
	d.unreported = d.changed == nil && current.Generation > 0
	return latest
}

// putInForce makes a generation the current one.
func (d *Discovery) putInForce(now *hook.Snapshot) {
	var then func()
	if d.changed != nil {
		then = d.changed(now)
	}
	d.current.Store(now)
	if then != nil {
		then()
	}
}

// report logs a new snapshot and the problems that the last one did not have.
func (d *Discovery) report(before, now *hook.Snapshot) {
	count := map[hook.State]int{}
	for _, e := range now.Entries {
		count[e.State]++
		if len(e.Problems) == 0 || slices.ContainsFunc(before.Entries, func(old hook.Entry) bool {
			return old.Source == e.Source && sameProblems(old.Problems, e.Problems)
		}) {
			continue
		}
		for _, p := range e.Problems {
			d.log.Warn("hook has a problem", zap.String("hook", e.Name),
				zap.String("state", string(e.State)), zap.String("problem", p.String()))
		}
	}
	for _, p := range now.Problems {
		d.log.Warn("hooks cannot be found", zap.String("problem", p.String()))
	}
	d.log.Info("hooks loaded", zap.Uint64("generation", now.Generation),
		zap.Int("active", count[hook.Active]), zap.Int("degraded", count[hook.Degraded]),
		zap.Int("rejected", count[hook.Rejected]), zap.Int("disabled", count[hook.Disabled]),
		zap.Int("refused", count[hook.Refused]), zap.Int("waiting", count[hook.Waiting]),
		zap.Int("gone", count[hook.Gone]))
}

// signal sends to c, unless a signal waits there already.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
