package undo

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/pause"
	"github.com/hookd/hookd/internal/facts"
)

// Keeper keeps and brings back. It is safe for concurrent use; one process uses a home's vault
// at a time.
type Keeper struct {
	vaults   *vaults
	dev      uint64 // of the home's vault
	log      *zap.Logger
	settings atomic.Pointer[Settings]
	hung     atomic.Int32 // keepings that hang in a file system
	used     atomic.Int64 // bytes that the vaults hold, about

	bases   *bases
	Dumps   *Dumps
	undoing sync.Mutex // one undo at a time

	mu   sync.Mutex
	open map[string]*open // calls that are open

	Began chan struct{} // gets a value once calls have begun since the last one was taken: tend them then
}

// open is a call that has not been closed: its result has not come, or its files were not compared since.
type open struct {
	call  KeptCall
	late  *budget       // nil = nothing goes on
	kept  chan struct{} // closed when keeping has ended
	close sync.Mutex    // held while the call is closed
	ends  chan struct{} // closed when the call is; nil = its result has not come
	begun time.Time
	repo  string // of its sight
	sight *sight // nil = it runs nothing unknown, or is of an earlier process

	facts  *facts.Facts // that it was kept for
	result Copied       // that Keep has returned
}

// mostHung is how many keepings may hang in a file system before nothing more is kept.
const mostHung = 8

// Open makes the vault in a hookd's home if there is none. Calls of an earlier process are
// closed later, see CloseOld.
func Open(dir string, log *zap.Logger) (*Keeper, error) {
	if log == nil {
		log = zap.NewNop()
	}
	p, err := openVaults(dir)
	if err != nil {
		return nil, err
	}
	home, err := look(p.home)
	if err != nil {
		return nil, err
	}
	k := &Keeper{
		vaults: p, dev: home.Dev, log: log.Named("undo"), open: map[string]*open{}, Began: make(chan struct{}, 1),
	}
	k.Dumps = openDumps(filepath.Join(p.home, "dumps"), &k.settings)
	k.bases = &bases{vaults: p, settings: &k.settings, log: k.log, list: map[string]*baseline{}}
	k.Configure(DefaultSettings())
	for _, id := range p.unwritten() {
		k.remove(&manifest{call: KeptCall{ID: id}, dir: k.dir(id)})
	}
	for _, m := range k.all() {
		if m.summary == nil || m.summary.End == "" {
			done := make(chan struct{})
			close(done)
			k.open[m.call.ID] = &open{call: m.call, kept: done, begun: m.call.Time, repo: string(m.call.Repo)}
		}
		if m.summary != nil {
			k.used.Add(m.summary.Bytes)
		}
	}
	return k, nil
}

// opened makes a call one whose result has not come.
func opened(k *Keeper, o *open) {
	k.mu.Lock()
	k.open[o.call.ID] = o
	k.mu.Unlock()
	select {
	case k.Began <- struct{}{}:
	default:
	}
}

// Configure puts settings in force for calls that come later.
func (k *Keeper) Configure(s Settings) { k.settings.Store(&s) }

// dir is the folder of a call.
func (k *Keeper) dir(id string) string { return filepath.Join(k.vaults.calls(), id) }

// Has reports whether k keeps something for a call.
func Has(k *Keeper, id string) bool {
	_, err := os.Lstat(k.dir(id))
	return err == nil
}

// Concerns reports whether a call may destroy something, so that Keep looks at the disk.
func Concerns(f *facts.Facts) bool {
	return len(f.Doubts) > 0 || slices.ContainsFunc(f.Effects, func(e facts.Effect) bool {
		return destroying(e.Kind) || e.Kind == facts.KindRun || e.Kind == facts.KindHistory
	})
}

// Keep keeps the files that a call is about to destroy. It returns within Settings.Wait, or a few
// milliseconds later, and where there is much to keep within Settings.Most. Files kept until then are kept, and the
// result says so.
func (k *Keeper) Keep(c KeptCall, f *facts.Facts) Copied {
	s, begin := *k.settings.Load(), time.Now()
	dumped := len(k.Dumps.ofCall(&c)) > 0
	if s.Off || !Concerns(f) && !dumped || strings.ContainsAny(c.ID, "/.") || c.ID == "" {
		return Copied{}
	}
	c.Later = c.Later || goesOn(f)
	if k.hung.Load() >= mostHung {
		return Copied{Word: None, Lost: []Lost{{What: "all", Why: "file systems do not answer"}}, Late: true}
	}
	p := &keeping{
		k: k, call: c, dir: k.dir(c.ID), folders: map[string]*folder{}, seen: map[string]bool{},
		limits: k.budget(s, begin), dumped: dumped,
	}
	if r, known := k.keptAlready(c.ID, f, begin.Add(s.Wait)); known {
		return r
	}
	k.waitClosed(c.Session, begin.Add(s.Wait/2))
	o := &open{call: c, late: p.limits, kept: make(chan struct{}), begun: begin}
	p.o = o
	opened(k, o)
	r := k.wait(p, o, f, s)
	k.mu.Lock()
	o.facts, o.result = f, r
	k.mu.Unlock()
	return r
}

// keptAlready returns the result of a call that was kept before for the same facts, as a rule asks
// for that. Files kept for other facts are dropped: hooks have rewritten the call.
func (k *Keeper) keptAlready(id string, f *facts.Facts, until time.Time) (r Copied, known bool) {
	k.mu.Lock()
	o := k.open[id]
	if o != nil && o.facts == f {
		r, known = o.result, true
	}
	k.mu.Unlock()
	if o == nil || known {
		return r, known
	}
	o.late.stop()
	if pause.For(time.Until(until), o.kept) {
		return hangs, true
	}
	k.discard(id)
	return r, false
}

// hangs is the result of a keeping whose file system does not answer.
var hangs = Copied{
	Word: None, Late: true, Lost: []Lost{{What: hangWords, Why: "the file system does not answer"}},
}

// wait runs a keeping, and returns when it has ended, when its time is over, or when the file system is silent.
func (k *Keeper) wait(p *keeping, o *open, f *facts.Facts, s Settings) Copied {
	first := make(chan Copied, 2)
	p.publish = func() {
		r := p.result()
		r.Lost = append(r.Lost, Lost{What: "the rest", Why: errLate.Error() + p.counted.of(p.files)})
		r.Word = wordOf(p.paths, r.Lost)
		r.Took = time.Since(o.begun)
		first <- r
	}
	go func() {
		defer close(o.kept)
		r := p.run(f)
		r.Took = time.Since(o.begun)
		if err := p.close(&r); err != nil { // without its record nothing comes back
			k.log.Warn("what was kept for a call is not all on record", zap.String("call", o.call.ID), zap.Error(err))
			r = Copied{Word: None, Lost: []Lost{{What: "all", Why: reason(err)}}, Late: r.Late, Took: r.Took}
		}
		k.used.Add(r.Bytes)
		if p.out == nil {
			k.forget(o.call.ID)
		}
		first <- r
	}()
	silent := s.Wait + patience
	if s.Most > s.Wait {
		silent = max(silent, patient)
	}
	answers := time.NewTicker(silent)
	defer answers.Stop()
	last := o.begun.Add(max(s.Wait, s.Most) + patience)
	for looks := int64(-1); !time.Now().After(last); {
		now := p.limits.looks.Load()
		if now == looks && !p.limits.slow.Load() {
			break
		}
		looks = now
		select {
		case r := <-first:
			return r
		case <-answers.C:
		}
	}
	k.hung.Add(1)
	go func() {
		<-o.kept
		k.hung.Add(-1)
	}()
	r := hangs
	r.Took = time.Since(o.begun)
	return r
}

// patience is how long a file system may be silent after Settings.Wait. It may be so for patient where a verdict
// may wait longer than that: git, or a busy machine, may need it.
const (
	patience = 25 * time.Millisecond
	patient  = time.Second
)

// smallFree is how much of a disk stays free in any case. freeShare names the part of a disk that stays
// free of large copies.
const (
	smallFree = 256 << 20
	freeShare = 10
	smallCopy = 1 << 20
)

func (k *Keeper) budget(s Settings, begin time.Time) *budget {
	b := &budget{until: begin.Add(max(s.Wait, s.Most)), callMax: s.CallMax, fileMax: s.FileMax}
	var fs unix.Statfs_t
	if unix.Statfs(k.vaults.home, &fs) == nil {
		free, all := int64(fs.Bavail)*int64(fs.Bsize), int64(fs.Blocks)*int64(fs.Bsize)
		b.noCopy = free < smallFree
		switch {
		case k.used.Load() > s.Max:
			b.tooMuch = errCap
		case free < all/freeShare:
			b.tooMuch = errFull
		}
		if b.fileMax <= smallCopy {
			b.tooMuch = nil // the setting is the lower bound
		} else if b.tooMuch != nil {
			b.fileMax = smallCopy
		}
	}
	return b
}

func (k *Keeper) forget(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.open, id)
}

// Discard drops the files kept for a call that does not run, and its dumps.
func (k *Keeper) Discard(id string) {
	if c, is := k.discard(id); is {
		k.Dumps.remove(&c)
	}
}

func (k *Keeper) discard(id string) (c KeptCall, is bool) {
	k.mu.Lock()
	o := k.open[id]
	k.mu.Unlock()
	if o == nil {
		return c, false
	}
	o.late.stop()
	<-o.kept
	o.close.Lock()
	defer o.close.Unlock()
	if m, err := readManifest(k.dir(id)); err == nil {
		k.remove(m)
	}
	k.forget(id)
	return o.call, true
}

// stop ends a keeping that goes on after its time.
func (b *budget) stop() {
	if b != nil {
		b.stopped.Store(true)
	}
}

// remove deletes all that is kept for a call.
func (k *Keeper) remove(m *manifest) {
	for _, vault := range k.vaults.all()[1:] { // after a kill the manifest does not name all that it has
		_ = os.RemoveAll(filepath.Join(vault, m.call.ID)) // what stays is tried again with the next purge
	}
	if err := os.RemoveAll(m.dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		k.log.Warn("what was kept for a call cannot be removed", zap.String("call", m.call.ID), zap.Error(err))
		return
	}
	if m.summary != nil {
		k.used.Add(-m.summary.Bytes)
	}
}

// since returns the manifests that changed since a time, and those of open calls.
func (k *Keeper) since(t time.Time) (list []*manifest) {
	names, _ := namesIn(k.vaults.calls())
	for _, name := range names {
		dir := filepath.Join(k.vaults.calls(), name)
		is, err := look(filepath.Join(dir, manifestFile))
		if err != nil || is.MTime < t.Add(-coarse).UnixNano() && !k.isOpen(name) {
			continue
		}
		if m, err := readManifest(dir); err == nil {
			list = append(list, m)
		}
	}
	return list
}

// all returns the manifests of all calls, oldest first. A manifest that cannot be read is left out, and
// logged.
func (k *Keeper) all() (list []*manifest) {
	names, _ := namesIn(k.vaults.calls()) // sorted: ids begin with the time
	for _, name := range names {
		if len(name) < leastID || strings.Contains(name, ".") {
			continue
		}
		m, err := readManifest(filepath.Join(k.vaults.calls(), name))
		if err != nil {
			k.log.Warn("what was kept for a call cannot be read", zap.String("call", name), zap.Error(err))
			continue
		}
		list = append(list, m)
	}
	return list
}
