// Package daemon is hookd as a library: it wires the rooms together, starts and stops
// them in the right order, and answers the socket's requests about all of them. It
// promises that settings with a mistake change nothing, that a stop gives running hooks
// time to finish, and that everything it started has ended when Run returns, except for
// calls that hang in a file system. It does nothing that one room alone could do.
package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/agents/bridge"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/base/project"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/dispatch"
	"github.com/hookd/hookd/internal/door/loopback"
	"github.com/hookd/hookd/internal/door/server"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/policy"
	"github.com/hookd/hookd/internal/hooks/when"
	"github.com/hookd/hookd/internal/people/ask"
	"github.com/hookd/hookd/internal/proc"
	"github.com/hookd/hookd/internal/record/lookback"
	"github.com/hookd/hookd/internal/record/metrics"
	"github.com/hookd/hookd/internal/record/recorder"
	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/internal/record/stream"
	"github.com/hookd/hookd/internal/record/trace"
	"github.com/hookd/hookd/internal/run/contain"
	"github.com/hookd/hookd/internal/run/runner"
	"github.com/hookd/hookd/internal/signals"
	"github.com/hookd/hookd/wire"
)

// DrainTime is how long running hooks have to finish when the daemon stops.
const DrainTime = 10 * time.Second

// Options of a Daemon. Config is required.
type Options struct {
	Config config.Config
	// Reconfigure reads the settings again on a reload; after an error the old ones
	// stay in force. Nil = they never change.
	Reconfigure func() (config.Config, error)
	Hooks       []*hook.Hook // of the command line, see FlagHooks; registered last
	Version     string
	Commit      string          // of the source; "" = unknown
	Log         *zap.Logger     // nil = none
	Level       zap.AtomicLevel // of Log; follows log.level. The zero value is left alone
	// ShareToken writes the token of http.listen into the settings of agents that have
	// an older one. Nil = no agent has it.
	ShareToken func(token string) error
}

// Daemon is one hookd on one home.
type Daemon struct {
	opts        Options
	log         *zap.Logger
	config      atomic.Pointer[config.Config]
	started     time.Time
	store       *store.Store
	unkept      string // why a kill may take decisions that are not on disk; "" = it takes none
	hub         *stream.Hub
	recorder    *recorder.Recorder
	forward     forwarding
	history     history // complete before the server serves
	proc        *proc.Runner
	runner      *runner.Runner
	before      *lookback.Log
	past        *runner.Past // feeds rules that look back
	dispatch    *dispatch.Dispatcher
	asks        *ask.Holder
	boxes       *contain.Boxer
	plans       *boxPlans
	fleet       *membership
	hooked      atomic.Bool // a hook runs for asks
	announces   atomic.Bool // a hook runs for decisions
	snoozes     snoozes
	agentWatch  *agentWatch
	discovery   *discovery.Discovery
	server      *server.Server
	persons     persons
	inventory   inventory // like meter complete before a hook is published
	meter       meter
	agentHTTP   *loopback.Door // nil = none
	metricsHTTP *loopback.Door // nil = none
	markers     discovery.Markers
	metrics     *metrics.Metrics
	trace       *trace.Tracer // nil = off
	changes     *catalog.Changes
	ready       atomic.Bool
	projects    *project.Finder
	links       *when.Disk
	reader      *facts.Reader // of calls; rules, conditions and cards share it
	suspects    suspects
	unguarded   unguarded
	programs    *programs // of agents; nil = they are not followed
	vault       vault
	watching    chan struct{} // closed when hooks are watched
	directed    chan struct{} // a directive of the fleet may want something new

	intents <-chan signals.Intent
	unwatch func() // gives signals back to the system
	files   *readfile.Patience

	reloading  sync.Mutex // one reload at a time
	recovering sync.Mutex // the same for taking back what was set aside
	lastGood   *catalog.LastGood
	policy     *policyLayer
	restart    atomic.Pointer[map[string]string] // settings whose change waits for a restart, by the values in force
	rejected   atomic.Pointer[wire.Problem]      // why the settings of the last reload are not in force; nil = they are
}

// New makes a daemon: everything that can fail fails here. It has locked the home; call
// Run next.
func New(o Options) (d *Daemon, err error) {
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	c := o.Config
	watched, unwatch := context.WithCancel(context.Background())
	d = &Daemon{
		opts:     o,
		log:      o.Log.Named("daemon"),
		started:  time.Now().UTC(),
		markers:  discovery.NewMarkers(c.DisabledDir()),
		projects: project.NewFinder(), links: when.NewDisk(),
		watching: make(chan struct{}), directed: make(chan struct{}, 1),
		// Before the socket exists: a signal may follow it at once.
		intents: signals.Watch(watched, func() { os.Exit(1) }), unwatch: unwatch,
		files: readfile.NewPatience(settingsTime, nil),
	}
	d.config.Store(&c)
	d.snoozes = snoozes{
		markers: d.markers, config: &d.config, changed: make(chan struct{}, 1), reload: d.Reload, log: d.log,
	}
	d.suspects.log = d.log
	d.persons = persons{config: &d.config, origin: d.origin, log: d.log}
	d.metrics = newMetrics(o, d.meter.load)
	if err := d.open(c); err != nil {
		unwatch()
		return nil, errors.Join(err, d.closeOpened())
	}
	d.wire(c)
	return d, nil
}

// open opens the things that may be in the way of a daemon: its home, the socket with its lock, the
// database, the ports and the fleet. The lock is first: it says that the rest is this
// daemon's own.
func (d *Daemon) open(c config.Config) (err error) {
	if err := prepareHome(c); err != nil {
		return err
	}
	if d.server, err = d.listen(); err != nil {
		return err
	}
	if d.store, d.unkept, err = openStore(c, d.log, d.about); err != nil {
		return err
	}
	if d.agentHTTP, err = loopback.OpenDoor(agentDoor(c, d.opts)); err != nil {
		return err
	}
	if d.metricsHTTP, err = loopback.OpenDoor(d.metricsDoor(c)); err != nil {
		return err
	}
	d.fleet, err = d.joinFleet()
	return err
}

// closeOpened closes everything that open has opened before it failed.
func (d *Daemon) closeOpened() error {
	errs := []error{d.metricsHTTP.Close(), d.agentHTTP.Close()}
	if d.store != nil {
		errs = append(errs, d.store.Close())
	}
	if d.server != nil {
		errs = append(errs, d.server.Shutdown(context.Background()))
	}
	return errors.Join(errs...)
}

// wire makes the rooms and connects them. Nothing runs yet.
func (d *Daemon) wire(c config.Config) {
	d.lastGood = catalog.NewLastGood(d.store)
	d.policy = &policyLayer{Home: policy.NewHome(c.PolicyDir()), config: &d.config, files: d.files, log: d.log}
	d.hub = stream.New(stream.Options{
		First:   d.store.FirstSeq(),
		Epoch:   d.store.Epoch(),
		Archive: recorder.Archive{Store: d.store, WaitStored: func() { d.recorder.WaitStored() }},
		About:   d.about,
	})
	d.recorder = recorder.New(d.hub, d.store)
	d.history = history{d.recorder, d}
	d.proc = proc.New(proc.Options{Cgroup: c.Cgroup, Journal: c.RunsFile(), Adopt: true})
	d.logSwept()
	d.forward, d.reader = d.newForward(), d.facts()
	d.vault = vault{undo: openVault(c, d.opts.Log), reader: d.reader, config: &d.config, log: d.log}
	d.runner = runner.New(runner.Options{
		Proc: d.proc, TempDir: c.TempDir(), DataDir: c.DataDir(), Log: d.opts.Log, Fleet: d.fleet.outgoing(),
		Facts: d.reader, Project: d.projects.Root, Undoable: d.vault.undoable, Steps: steps{d.vault.undo},
	})
	d.runner.Configure(c)
	d.before = lookback.Open(c.PastFile(), d.opts.Log)
	d.past = runner.NewPast(d.runner, d.before, d.redact)
	d.trace = newTracer(d.opts.Version, d.opts.Log)
	d.asks, d.boxes, d.plans = d.newAsks(), d.newBoxes(c), newBoxPlans()
	if c.WatchPrograms {
		d.programs = newPrograms(d, c)
	}
	d.dispatch = dispatch.New(d.dispatchOptions(c))
	d.runner.Track(d.dispatch.Starting, d.dispatch.Joined)
	d.agentWatch = &agentWatch{config: &d.config, missed: d.dispatch.Missed, faults: d.noteFaults, log: d.log}
	d.discovery = discovery.New(d.discoveryOptions(c))
	d.policy.hooks = d.discovery
	d.runner.UseInForce(hookInForce(d.discovery, c.ReloadMode))
	d.persons.store = d.store
	d.inventory = inventory{
		config: &d.config, rejected: &d.rejected, restart: &d.restart,
		suspects: &d.suspects, discovery: d.discovery, projects: d.projects,
		runner: d.runner, recorder: d.recorder, snoozes: &d.snoozes,
		doors: []*loopback.Door{d.metricsHTTP, d.agentHTTP},
	}
	d.meter = meter{
		metrics: d.metrics, inventory: &d.inventory, policy: d.policy, dispatch: d.dispatch, hub: d.hub,
		store: d.store, forward: d.forward, fleet: d.fleet,
	}
	d.changes = catalog.OpenChanges(c, d.opts.Log)
	d.changes.Observe(d.auditChange)
	if err := catalog.AllowFirstSettings(c); err != nil {
		d.log.Error("changes of settings will not wait to be allowed", zap.Error(err))
	}
	d.noteSettings(c)
}

func (d *Daemon) dispatchOptions(c config.Config) dispatch.Options {
	return dispatch.Options{
		Runner: d.runner, Recorder: announcer{d.recorder, d}, IDs: d.store, Tap: tap{d.metrics, d.trace},
		Log: d.opts.Log, Asks: d.asks, Boxes: d.boxes,
		Past:      d.past,
		Keeper:    d.vault,
		Observers: c.SlotsObservers, Decidable: c.SlotsDecidable,
		MaxEvents: c.QueueMaxEvents, MaxBytes: c.QueueMaxBytes,
		RewriteBytes: int(c.MaxEventBytes), GroupAlive: proc.GroupAlive,
		Redact:    d.redact,
		Fleet:     d.fleet != nil,
		Projects:  d.projects,
		Links:     d.links,
		Suspect:   d.suspects.suspect,
		Unguarded: d.callUnguarded,
	}
}

// listen returns a server on the service manager's socket if there is one, else on its
// own.
func (d *Daemon) listen() (*server.Server, error) {
	given, err := signals.Listener()
	if err != nil {
		return nil, err
	}
	o := d.serverOptions()
	o.Listener = given
	if d.config.Load().Fleet.Enabled() {
		o.Fleet = &control{d}
	}
	s, err := server.Listen(o)
	if err != nil && given != nil {
		given.Close()
	}
	return s, err
}

func (d *Daemon) serverOptions() server.Options {
	c, ctl := d.config.Load(), &control{d}
	return server.Options{
		Socket: c.Socket, Lock: c.LockFile(), Public: c.System,
		MaxEventBytes: int(c.MaxEventBytes), Log: d.opts.Log,
		Emitter: ctl, Streamer: ctl, Hooks: ctl, State: ctl, Asks: ctl, Boxes: ctl, Undo: ctl,
		Bridge: bridge.Serve,
		Runs:   &d.history, History: &d.history,
		Metrics: d.metrics.Handler(), Refused: func(c wire.Code) { d.metrics.Refused(string(c)) },
		Origin: d.persons.connect, Program: programOf, Weakens: d.persons.mayWeaken,
	}
}

// programOf returns the path of the program that a process executes; for another user's process,
// whose path the kernel shows to root alone, its short name.
func programOf(pid int) string { return cmp.Or(proc.Program(pid), proc.Comm(pid)) }

// origin returns whether the peer is a hook's process. It is called right after accept,
// while the process exists.
func (d *Daemon) origin(pid int) dispatch.Origin {
	sid, pgid, there := proc.Session(pid)
	return d.dispatch.Origin(dispatch.Sender{
		Session: sid, Group: pgid, Cgroup: d.proc.CgroupOf(pid), Gone: !there,
		Child: func() bool { return proc.Child(sid) },
	})
}

// Run serves until ctx ends or a signal stops it, and returns when everything has ended.
// SIGHUP reloads; the first SIGTERM or SIGINT drains; a second one, or the end of ctx,
// stops at once.
func (d *Daemon) Run(ctx context.Context) error {
	addProcs()
	addThreads(d.config.Load().SlotsObservers + d.config.Load().SlotsDecidable)
	limitMemory(d.config.Load().QueueMaxBytes, d.store.Health().InMemory)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer d.unwatch()
	d.agentWatch.makeFolder()
	d.policy.repair()
	found := d.discovery.Load()
	var rooms sync.WaitGroup
	ahead := make(chan struct{})
	rooms.Go(func() { d.readAhead(found); close(ahead) })
	gone := d.changes.Note(found)
	d.meter.publishMetrics(found)
	d.projects.Trust(found.Projects())
	d.retainAsks(found)
	d.past.Use(found.Readable())
	d.dispatch.Publish(found)
	d.runner.Retain(found.Runnable())
	d.fleet.retain(found.Runnable())
	go d.lastGood.Save(found)
	d.dispatch.Resume(d.store.FirstSeq(), d.config.Load().ReplayMaxAge)

	failed := make(chan error, 1)
	rooms.Go(func() { d.discovery.Run(ctx, d.publish) })
	rooms.Go(func() { signals.Watchdog(ctx, d.alive) })
	rooms.Go(func() { failed <- d.server.Serve(context.WithoutCancel(ctx)) })
	rooms.Go(func() { d.agentHTTP.Run(ctx) })
	rooms.Go(func() { d.metricsHTTP.Run(ctx) })
	rooms.Go(func() { d.policy.follow(ctx) })
	rooms.Go(func() { machine{d}.followFleet(ctx) })
	rooms.Go(func() { d.agentWatch.run(ctx) })
	rooms.Go(func() { d.programs.run(ctx) })
	rooms.Go(func() { d.unguarded.recall(ctx, d) })
	rooms.Go(func() { d.snoozes.end(ctx) })
	working, leaveFleet := context.WithCancel(ctx)
	defer leaveFleet()
	rooms.Go(func() { d.fleet.run(working) })
	rooms.Go(func() { d.forward.Run(ctx) })
	rooms.Go(func() { tendVault(ctx, d.vault.undo) })
	d.asks.EndLast(ctx)
	select { // calls are judged already; one that comes when hookd is ready waits for nothing
	case <-ahead:
	case <-time.After(aheadTime):
	case <-ctx.Done():
	}
	d.boot()
	d.tellGone(gone)
	rooms.Go(func() { d.freeStartMemory(ctx) })
	reload := make(chan struct{}, 1)
	rooms.Go(func() { d.reloadWhenAsked(ctx, reload) })

	err := d.handleSignals(ctx, reload, failed)
	leaveFleet() // no event of it comes any more; what is to leave stays on disk
	d.stop(ctx)
	cancel()
	if !waitFor(&rooms, leftBehind) {
		d.log.Warn("stopped while files do not answer, what waits for them is left behind")
	}
	closeTracer(d.trace, d.log)
	d.before.Close()
	return errors.Join(err, d.store.Close(), d.proc.Close(), os.RemoveAll(d.runner.TempDir()))
}

// leftBehind is how long the rooms may take to end: a room that hangs in a file
// system ends with the process.
const leftBehind = 2 * time.Second

func waitFor(rooms *sync.WaitGroup, most time.Duration) bool {
	ended := make(chan struct{})
	go func() {
		rooms.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return true
	case <-time.After(most):
		return false
	}
}

// boot announces the daemon: in the log, to hooks, and to the service manager.
func (d *Daemon) boot() {
	d.ready.Store(true)
	c := d.config.Load()
	d.log.Info(
		"hookd serves",
		zap.String("version", d.opts.Version),
		zap.Int("pid", os.Getpid()),
		zap.String("socket", c.Socket),
		zap.String("cgroup", d.proc.Cgroup()),
		zap.String("starts", d.proc.Way()),
	)
	if c.FireStartup {
		d.emitOwn(
			"gateway:startup",
			member("version", d.opts.Version),
			member("started_at", d.started.Format(time.RFC3339Nano)),
		)
	}
	signals.Ready(d.inventory.summary())
}

// aheadTime bounds how long readAhead may delay the moment when hookd is ready: its files may hang.
const aheadTime = 200 * time.Millisecond

// startOver delays the rest of the start's work, so that the first calls have the processor.
const startOver = time.Second

// freeStartMemory returns the memory that the start has used to the system, once the
// first events are recorded and the hooks are watched: in an idle daemon the runtime
// would retain some 10 MiB.
func (d *Daemon) freeStartMemory(ctx context.Context) {
	d.recorder.Flush(ctx)
	select {
	case <-d.watching:
	case <-ctx.Done():
	}
	if pause.For(startOver, ctx.Done()) {
		debug.FreeOSMemory()
	}
}

// handleSignals returns when a signal asks to stop, ctx ends or the server fails. It
// sends to reload for each signal that asks for a reload.
func (d *Daemon) handleSignals(ctx context.Context, reload chan<- struct{}, failed <-chan error) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return fmt.Errorf("serve the socket: %w", err)
		case intent := <-d.intents:
			if intent != signals.Reload {
				return nil
			}
			select {
			case reload <- struct{}{}:
			default: // one is due already
			}
		}
	}
}

// reloadWhenAsked reloads in a goroutine of its own: files may be slow, and
// handleSignals must see a signal to stop.
func (d *Daemon) reloadWhenAsked(ctx context.Context, reload <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-reload:
			d.Reload()
		}
	}
}

// stop refuses new events, drains, then kills the runs that are left.
func (d *Daemon) stop(ctx context.Context) {
	d.ready.Store(false)
	d.log.Info("hookd stops, running hooks have time to finish", zap.Duration("time", DrainTime))
	signals.Stopping("running hooks have 10 s to finish")
	d.server.LetWait()
	d.asks.Close() // before the drain, which would wait for them
	d.publishOwn("hookd:stop")
	drain, cancel := context.WithTimeout(ctx, DrainTime)
	defer cancel()
	go func() {
		select {
		case <-d.intents: // the second signal to stop
			cancel()
		case <-drain.Done():
		}
	}()
	if dropped := d.dispatch.Drain(drain); dropped > 0 {
		d.log.Warn("stopped before all queued runs had their turn", zap.Int("dropped", dropped))
	}
	d.forward.drain(ctx)
	d.hub.Close()
	end, cancelEnd := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancelEnd()
	d.runner.Close(end)
	if err := d.server.Shutdown(end); err != nil {
		d.log.Warn("connections were cut off", zap.Error(err))
	}
}

// publish puts a new snapshot into force. The function it returns emits which hooks changed.
func (d *Daemon) publish(snap *hook.Snapshot) (then func()) {
	gone := d.changes.Note(snap) // first: no hook runs before its change is recorded
	d.meter.publishMetrics(snap)
	d.projects.Trust(snap.Projects())
	d.retainAsks(snap)
	d.past.Use(snap.Readable())
	before := d.dispatch.Publish(snap)
	d.runner.Retain(snap.Runnable())
	d.fleet.retain(snap.Runnable())
	return func() { d.published(snap, snap.Since(before), gone) }
}

// published reports a snapshot that is in force, and its changes.
func (d *Daemon) published(snap *hook.Snapshot, changes []hook.Change, gone []wire.Change) {
	go d.lastGood.Save(snap)
	d.fleet.changed()
	for _, change := range changes {
		d.emitOwn(
			"hookd:hook-changed",
			member("hook", change.Hook.Name),
			member("change", change.What),
			member("digest", change.Hook.Digest),
		)
	}
	d.tellGone(gone)
	d.emitOwn("hookd:reload", number("generation", snap.Generation), number("hooks", uint64(len(snap.Runnable()))))
	signals.Ready(d.inventory.summary())
}

// emitOwn emits an event of the daemon itself. It fails only while draining, when there
// are no subscribers any more.
func (d *Daemon) emitOwn(name string, members ...rawjson.Member) {
	data := rawjson.With([]byte("{}"), members...)
	_, _ = d.dispatch.EmitOwn(events.Envelope{Event: name, Data: data, Sender: "hookd"})
}

// publishOwn is emitOwn for subscribers only.
func (d *Daemon) publishOwn(name string) {
	now := time.Now()
	e := &events.Event{
		Envelope: events.Envelope{Event: name, Data: []byte("{}"), Sender: "hookd", Dialect: events.Hookd},
		EventID:  events.NewID(now), Time: now.UTC(),
	}
	d.recorder.Publish(e)
}

func member(key, value string) rawjson.Member { return rawjson.StringMember(key, value) }

func number(key string, n uint64) rawjson.Member {
	return rawjson.Member{Key: key, Value: fmt.Appendf(nil, "%d", n)}
}

// metricsDoor says where metrics are read over HTTP.
func (d *Daemon) metricsDoor(c config.Config) loopback.DoorOptions {
	mux := http.NewServeMux()
	mux.Handle("GET "+wire.PathMetrics, d.metrics.Handler())
	return loopback.DoorOptions{Home: c.Home, Options: loopback.Options{
		For: loopback.ForMetrics, Handler: mux, Log: d.opts.Log,
		Listen: c.MetricsListen, TokenFile: c.MetricsTokenFile(),
	}}
}

// agentDoor says where agents call hooks over HTTP.
func agentDoor(c config.Config, o Options) loopback.DoorOptions {
	return loopback.DoorOptions{Home: c.Home, Share: o.ShareToken, Options: loopback.Options{
		Listen: c.HTTPListen, TokenFile: c.TokenFile(), Socket: c.Socket, Log: o.Log,
	}}
}
