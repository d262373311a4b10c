package undo

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/git"
	"github.com/hookd/hookd/internal/base/pause"
)

// Limits of the copies of one folder.
const (
	baseFiles = 50_000
	baseFile  = 16 << 20
	baseBytes = 512 << 20
)

// outsideFiles is how many files a folder that is no repository may have.
const outsideFiles = 2000

// baseline has the files of a repository as they were at the last look: an unknown program may destroy any
// of them. A look takes the files that changed; nothing else is read.
type baseline struct {
	top  string
	dir  string        // of the copies
	most int           // files
	free chan struct{} // empty while a look is under way
	once sync.Once     // reads the log
	bad  error         // of that
	last atomic.Pointer[treeState]

	// Only the holder of free uses these.
	fd    int             // of dir
	dev   uint64          // of top
	next  int64           // name of the next copy
	again map[string]bool // folders that git ignores
	baselineLog
	*vaults
}

// treeState is a folder at one moment. It is never changed.
type treeState struct {
	files map[string]baseState // by path; folders and links as well
	begun time.Time            // when the look at it began
	more  string               // why files are missing; "" = none is
}

// baseState is a path, and where its bytes are.
type baseState struct {
	Was   state             `json:"s"`
	Kept  string            `json:"k,omitempty"` // the name of its copy
	Xattr map[string][]byte `json:"x,omitempty"`
}

// rootOf returns the folder whose files may be destroyed by an unknown program that starts in dir: its
// repository, else the folder itself. "" = it is too large: the home folder, a folder that has it, or one of
// the system.
func rootOf(dir string) string {
	top := git.Top(dir)
	if top == "" {
		top = filepath.Clean(dir)
	}
	// A path that is gone stays as it is written.
	if real, err := filepath.EvalSymlinks(top); err == nil {
		top = real
	}
	home, err := os.UserHomeDir()
	if !filepath.IsAbs(top) || err == nil && inside(home, top) {
		return ""
	}
	if len(strings.Split(strings.Trim(top, "/"), "/")) < 2 {
		return "" // /, /usr, /tmp
	}
	return top
}

func (b *baseline) load() (err error) {
	if b.most = baseFiles; git.Top(b.top) == "" {
		b.most = outsideFiles
	}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return err
	}
	if b.fd, err = openFolder(unix.AT_FDCWD, b.dir); err != nil {
		return err
	}
	if err := b.open(b.dir); err != nil {
		return err
	}
	names, _ := namesIn(b.dir)
	for _, name := range names {
		if n, err := strconv.ParseInt(name, 36, 64); err == nil && name != baselineLogFile {
			b.next = max(b.next, n)
		}
	}
	files, err := b.read("")
	if err != nil {
		return err
	}
	if b.lines = len(files); b.lines > 0 {
		b.last.Store(&treeState{files: files})
	}
	b.give()
	return nil
}

// baseFolder is the folder of all baselines in the vault.
const baseFolder = "base"

// take waits until no other look is under way.
func (b *baseline) take(until time.Time) bool {
	select {
	case <-b.free:
		return true
	default:
	}
	return !pause.For(time.Until(until), b.free)
}

func (b *baseline) give() { b.free <- struct{}{} }

// round is one look at a folder.
type round struct {
	*baseline
	never  *Settings
	begun  time.Time
	until  time.Time
	runs   *atomic.Bool // the call may run by now; nil = none does
	old    map[string]baseState
	files  map[string]baseState
	bytes  int64
	more   losses
	missed bool // the time was over
}

func (r *round) over() bool { return time.Now().After(r.until) }

// coarse is how far the kernel's times of files may be behind the clock.
const coarse = 20 * time.Millisecond

// look brings the snapshot up to date, and returns it. Files that changed since the look began may be the
// call's work once it runs: they stay as they were. The caller has taken the baseline.
func (b *baseline) look(s *Settings, begun, until time.Time, runs *atomic.Bool, id string) (*treeState, error) {
	r := &round{baseline: b, never: s, begun: begun, until: until, runs: runs, files: map[string]baseState{}}
	if last := b.last.Load(); last != nil {
		r.old, r.files = last.files, make(map[string]baseState, len(last.files))
	}
	was, err := look(b.top)
	if err != nil {
		return nil, err
	}
	if was.Kind == kindDir {
		fd, err := openFolder(unix.AT_FDCWD, b.top)
		if err != nil {
			return nil, err
		}
		b.dev = was.Dev
		r.folder(fd, b.top, 0)
	}
	r.missing()
	seen := &treeState{files: r.files, begun: begun}
	if lost := r.more.all(); len(lost) > 0 {
		seen.more = lost[0].Why
	}
	if r.missed {
		seen.more = errLate.Error()
	}
	b.last.Store(seen)
	return seen, b.mark(id)
}

// mine reports whether a path is as it was before the call.
func (r *round) mine(ctime int64) bool {
	return r.runs == nil || !r.runs.Load() || ctime < r.begun.Add(-coarse).UnixNano()
}

// folder looks at the contents of an open folder, which it closes.
func (r *round) folder(fd int, path string, depth int) {
	dir := os.NewFile(uintptr(fd), path)
	defer dir.Close()
	type below struct {
		name string
		was  state
	}
	var folders []below
	for {
		names, err := dir.Readdirnames(512)
		for _, name := range names {
			if r.missed = r.missed || r.over(); r.missed {
				return
			}
			was, err := lookAt(fd, name)
			switch {
			case err != nil || name == ".git" || was.Dev != r.dev:
			case was.Kind == kindDir:
				folders = append(folders, below{name, was})
			case was.Kind == kindFile || was.Kind == kindLink:
				r.leaf(fd, name, filepath.Join(path, name), was)
			}
		}
		if err != nil || len(names) == 0 {
			break
		}
	}
	for _, f := range folders {
		r.below(fd, f.name, filepath.Join(path, f.name), f.was, depth+1)
	}
}

func (r *round) below(parent int, name, path string, was state, depth int) {
	if depth > maxDepth || r.holds(path, false) != "" || r.built(path) {
		return
	}
	fd, err := openFolder(parent, name)
	if err != nil {
		r.more.add(path, "hookd may not read the whole file")
		return
	}
	old, known := r.old[path]
	switch {
	case known && old.Was.untouched(was) || !r.mine(was.CTime) && known:
		r.files[path] = old
	case r.mine(was.CTime):
		r.put(path, baseState{Was: was, Xattr: attributes(fd)})
	}
	r.folder(fd, path, depth)
}

// built reports whether a folder can be made again, and looks at the precious files in it.
func (r *round) built(path string) bool {
	_, is := rebuilt(path, func(top string) bool {
		ignored, asked := r.again[path]
		if !asked {
			repo, err := git.Open(context.Background(), top, nil)
			if err == nil {
				_, err = repo.Output(context.Background(), 4096, "check-ignore", "-q", "--", path)
			}
			ignored = err == nil
			r.again[path] = ignored
		}
		return ignored
	})
	if is {
		eachPrecious(path, 0, func(dir string, name string) bool {
			fd, err := openFolder(unix.AT_FDCWD, dir)
			if err != nil {
				return true
			}
			defer unix.Close(fd)
			if was, err := lookAt(fd, name); err == nil && was.Kind == kindFile {
				r.leaf(fd, name, filepath.Join(dir, name), was)
			}
			return !r.over()
		})
	}
	return is
}

// leaf takes a file or a link that changed.
func (r *round) leaf(dir int, name, path string, was state) {
	if len(r.files) >= r.most {
		r.more.add(path, fmt.Sprintf("it has more than %d files", r.most))
		return
	}
	old, known := r.old[path]
	if known && old.Was.untouched(was) && old.Was.CTime == was.CTime {
		r.files[path], r.bytes = old, r.bytes+was.Size
		return
	}
	fresh := baseState{Was: was}
	var err error
	if was.Kind == kindFile {
		err = r.copy(&fresh, dir, name, path)
	}
	switch {
	case err == nil && r.mine(was.CTime):
		r.bytes += was.Size
		r.put(path, fresh)
		return
	case fresh.Kept != "":
		_ = unix.Unlinkat(r.fd, fresh.Kept, 0)
	}
	switch {
	case known && !r.mine(was.CTime):
		r.files[path] = old
	case err != nil:
		r.more.add(path, reason(err))
	}
}

// copy keeps the bytes of a file.
func (r *round) copy(f *baseState, dir int, name, path string) error {
	if r.never.never(path) {
		return errNever
	}
	from, err := openToRead(dir, name)
	if err != nil {
		return err
	}
	defer from.Close()
	fd := int(from.Fd())
	r.next++
	kept := strconv.FormatInt(r.next, 36)
	if clone(fd, r.fd, kept) != nil {
		if f.Was.Size > baseFile || r.bytes+f.Was.Size > min(baseBytes, r.never.Max/4) {
			return errLarge
		}
		if err := copyFile(from, f.Was.Size, r.fd, kept, r.over); err != nil {
			return err
		}
	}
	f.Kept, f.Xattr = kept, attributes(fd)
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return err
	}
	if now := stateOf(&s); now.Size != f.Was.Size || now.CTime != f.Was.CTime {
		return errChanged
	}
	return nil
}

// missing decides on the paths that are there no more: the call may have deleted them. The time of the folder
// tells whether they went before.
func (r *round) missing() {
	for path, old := range r.old {
		if _, seen := r.files[path]; seen {
			continue
		}
		before := r.runs == nil || !r.runs.Load()
		if parent, err := look(filepath.Dir(path)); err == nil && parent.Kind == kindDir {
			before = before || r.mine(parent.CTime)
		}
		if r.missed || !before {
			r.files[path] = old
			continue
		}
		r.note(path, baseState{Was: gone})
	}
}

func (r *round) put(path string, b baseState) {
	r.files[path] = b
	r.note(path, b)
}

// bases has the baselines of all folders.
type bases struct {
	*vaults
	settings *atomic.Pointer[Settings]
	log      *zap.Logger

	mu   sync.Mutex
	list map[string]*baseline // by folder
}

// of returns the baseline of a folder, with the knowledge of an earlier process.
func (k *bases) of(top string) (*baseline, error) {
	k.mu.Lock()
	b := k.list[top]
	if b == nil {
		sum := sha256.Sum256([]byte(top))
		b = &baseline{top: top, vaults: k.vaults, free: make(chan struct{}, 1), again: map[string]bool{}}
		b.dir = filepath.Join(k.home, baseFolder, hex.EncodeToString(sum[:16])) // sweep reads it at any time
		k.list[top] = b
	}
	k.mu.Unlock()
	b.once.Do(func() { b.bad = b.load() })
	return b, b.bad
}

// refresh brings the snapshot of a folder up to date.
func (k *bases) refresh(top string) {
	b, err := k.of(top)
	if err == nil && b.take(time.Now().Add(lookTime)) {
		_, err = b.look(k.settings.Load(), time.Now(), time.Now().Add(lookTime), nil, "")
		b.give()
	}
	if err != nil {
		k.log.Debug("no snapshot of a repository", zap.String("path", top), zap.Error(err))
	}
}

// sweep removes copies that no snapshot needs, and baselines that no look has used for so long. Beyond most
// bytes it removes the baselines that were not used for the longest time: a look makes them again. open returns
// the snapshots of the open calls of a folder, by id; nil = not all are known. It returns the bytes that are left.
func (k *bases) sweep(term time.Duration, most int64, open func(top string) map[string]*treeState) (held int64) {
	k.mu.Lock()
	var all []*baseline
	used := map[string]bool{}
	for _, b := range k.list {
		all, used[filepath.Base(b.dir)] = append(all, b), true
	}
	k.mu.Unlock()
	for _, b := range all {
		if b.take(time.Now()) {
			if needed := open(b.top); needed != nil && b.last.Load() != nil {
				b.sweep(needed)
			}
			b.give()
		}
	}
	dir := filepath.Join(k.home, baseFolder)
	names, _ := namesIn(dir)
	for _, name := range names {
		is, err := look(filepath.Join(dir, name, baselineLogFile))
		if !used[name] && err == nil && time.Since(time.Unix(0, is.MTime)) > term {
			_ = os.RemoveAll(filepath.Join(dir, name))
		}
	}
	return k.shrink(dir, all, most, open)
}

// shrink removes baselines beyond most bytes, but never the baseline that was used last.
func (k *bases) shrink(
	dir string, loaded []*baseline, most int64, open func(string) map[string]*treeState,
) (held int64) {
	type one struct {
		dir   string
		used  int64 // when it was
		bytes int64
		of    *baseline // nil = it is of an earlier process
	}
	var list []one
	for _, name := range firstOf(namesIn(dir)) {
		o := one{dir: filepath.Join(dir, name)}
		if at := slices.IndexFunc(loaded, func(b *baseline) bool { return b.dir == o.dir }); at >= 0 {
			o.of = loaded[at]
		}
		if is, err := look(filepath.Join(o.dir, baselineLogFile)); err == nil {
			o.used = is.MTime
		}
		o.bytes = o.of.size(o.dir)
		held += o.bytes
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b one) int { return cmp.Compare(a.used, b.used) })
	for _, o := range list[:max(0, len(list)-1)] {
		switch {
		case held <= most:
			return held
		case o.of == nil:
			_ = os.RemoveAll(o.dir)
			held -= o.bytes
		case o.of.take(time.Now()):
			if needed := open(o.of.top); needed != nil && len(needed) == 0 && o.of.empty() == nil {
				held -= o.bytes
			}
			o.of.give()
		}
	}
	return held
}

// size is how many bytes a baseline holds, nil that of an earlier process in dir.
func (b *baseline) size(dir string) (bytes int64) {
	if b == nil {
		for _, file := range firstOf(namesIn(dir)) {
			if is, err := look(filepath.Join(dir, file)); err == nil {
				bytes += is.Size
			}
		}
	} else if last := b.last.Load(); last != nil {
		for _, f := range last.files {
			if f.Kept != "" {
				bytes += f.Was.Size
			}
		}
	}
	return bytes
}

// empty forgets all files of a baseline. The caller has taken it.
func (b *baseline) empty() error {
	if err := b.rewrite(nil, nil); err != nil {
		return err
	}
	b.last.Store(&treeState{})
	b.sweep(map[string]*treeState{})
	b.last.Store(nil)
	return nil
}

func firstOf(names, _ []string) []string { return names }

// sweep removes the copies that no snapshot needs, and shortens a long log.
func (b *baseline) sweep(open map[string]*treeState) {
	last := b.last.Load()
	needed, same := map[string]bool{}, []string{} // calls whose snapshot is the last one
	open[""] = last
	for id, s := range open {
		for _, f := range s.files {
			needed[f.Kept] = true
		}
		if s == last && id != "" {
			same = append(same, id)
		}
	}
	if len(same) == len(open)-1 && b.lines > 2*len(last.files)+1000 && b.rewrite(last.files, same) != nil {
		return
	}
	names, _ := namesIn(b.dir)
	for _, name := range names {
		if !needed[name] && name != baselineLogFile && !strings.HasPrefix(name, ".") {
			_ = os.Remove(filepath.Join(b.dir, name))
		}
	}
}

// forget removes all copies.
func (k *bases) forget() error {
	k.mu.Lock()
	all := k.list
	k.list = map[string]*baseline{}
	k.mu.Unlock()
	for _, b := range all {
		if b.take(time.Now().Add(time.Second)) { // never given back: a later look makes another baseline
			unix.Close(b.fd)
			b.baselineLog.mu.Lock()
			_ = b.file.Close()
			b.baselineLog.mu.Unlock()
		}
	}
	return os.RemoveAll(filepath.Join(k.home, baseFolder))
}
