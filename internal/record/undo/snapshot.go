package undo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/git"
	"github.com/hookd/hookd/internal/hooks/builtin/shadow"
)

// snapshotTime bounds a snapshot of a repository, which may go on when the verdict is given.
const snapshotTime = 20 * time.Second

// mark is the key of a call's snapshot.
const mark = "before"

// Limits of the ignored files that are copied for calls of unknown programs.
const (
	baseFiles = 2000
	baseFile  = 1 << 20
	baseBytes = 64 << 20
)

// baseline has the ignored files of a repository that are in no snapshot of git: .env and the like.
type baseline struct {
	mu   sync.Mutex                           // one look at a time
	last atomic.Pointer[map[string]baseState] // by path; never changed, only replaced
}

// baseState is a file, and where its bytes are.
type baseState struct {
	was  state
	kept string
}

// repositoryOf returns the repository of a folder whose snapshot can stand for the files that an unknown
// program destroys; "" = there is none. The repository of a home folder is too large.
func repositoryOf(dir string) string {
	top := git.Top(dir)
	if home, err := os.UserHomeDir(); top == "/" || err == nil && top == home {
		return ""
	}
	return top
}

// Warm takes a first snapshot of the repository of a folder, which later ones are quick after. It
// does not wait.
func (k *Keeper) Warm(dir string) {
	top := repositoryOf(dir)
	if k.settings.Load().Off || top == "" {
		return
	}
	go func() {
		if err := k.snapshot(top, "warm"); err != nil {
			k.log.Debug("no snapshot of a repository", zap.String("path", top), zap.Error(err))
		}
		k.refresh(top, time.Now().Add(snapshotTime))
	}()
}

// snapshot marks the tree of a repository as it is before a call.
func (k *Keeper) snapshot(top, id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), snapshotTime)
	defer cancel()
	r, err := shadow.Open(ctx, k.places.home, top, nil)
	if err != nil {
		return err
	}
	return r.Mark(ctx, id, mark)
}

// unknownFirst begins a snapshot for a call that runs something unknown, and returns a function that
// waits for it while there is time.
func (p *keeping) unknownFirst(why string) (wait func()) {
	top := repositoryOf(string(p.call.Cwd))
	if top == "" {
		return func() { p.lost.add(elseWords, "not known: "+why+", in no repository") }
	}
	p.call.Repo = Path(top)
	if p.out == nil {
		if err := p.begin(); err != nil {
			return func() { p.lost.add(elseWords, reason(err)) }
		}
	}
	taken, ignored, until := make(chan error, 1), make(chan map[string]baseState, 1), p.limits.until
	go func() { taken <- p.k.snapshot(top, p.call.ID) }()
	go func() { ignored <- p.k.refresh(top, until) }() // git may take longer than there is time
	return func() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		select {
		case p.base = <-ignored:
		case <-timer.C:
			timer.Reset(0)
			p.base = p.k.lastBase(top)
		}
		outside := "not known: " + why + "; its repository is kept, nothing outside"
		select {
		case err := <-taken:
			if err != nil {
				outside = "not known: " + why + "; no snapshot: " + reason(err)
			}
		case <-timer.C:
			outside = "not known: " + why + "; the snapshot of its repository is taken while it runs"
		}
		p.paths++
		p.lost.add(elseWords, outside)
	}
}

// refresh brings the copies of a repository's ignored files up to date, until the time is over.
func (k *Keeper) refresh(top string, until time.Time) map[string]baseState {
	k.mu.Lock()
	b := k.base[top]
	if b == nil {
		b = &baseline{}
		k.base[top] = b
	}
	k.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	files, total, before := map[string]baseState{}, int64(0), map[string]baseState{}
	if last := b.last.Load(); last != nil {
		before = *last
	}
	for _, path := range ignoredFiles(top) {
		was, err := look(path)
		if err != nil || was.Kind != kindFile || was.Size > baseFile || total+was.Size > baseBytes ||
			len(files) >= baseFiles || k.places.holds(path, false) != "" {
			continue
		}
		total += was.Size
		old, known := before[path]
		if known && old.was.untouched(was) && old.was.CTime == was.CTime {
			files[path] = old
			continue
		}
		if time.Now().After(until) {
			continue // it is too late for a copy: the call may have written to it
		}
		if kept, err := k.copyBase(path); err == nil {
			files[path] = baseState{was, kept}
		}
	}
	b.last.Store(&files)
	return files
}

// lastBase has the copies of a repository's ignored files as they were at the last look, where this
// one takes too long.
func (k *Keeper) lastBase(top string) map[string]baseState {
	k.mu.Lock()
	b := k.base[top]
	k.mu.Unlock()
	if b == nil {
		return nil
	}
	files := b.last.Load()
	if files == nil {
		return nil
	}
	return *files
}

// ignoredFiles lists the files that git ignores, except for those in folders that can be made again.
func ignoredFiles(top string) (paths []string) {
	r, err := git.Open(context.Background(), top, nil)
	if err != nil {
		return nil
	}
	out, err := r.Output(context.Background(), 4<<20, "ls-files", "-z", "--others", "--ignored", "--exclude-standard",
		"--directory")
	if err != nil && !errors.Is(err, git.ErrMuch) {
		return nil
	}
	for _, name := range strings.Split(string(out), "\x00") {
		path := filepath.Join(top, name)
		switch {
		case name == "":
		case !strings.HasSuffix(name, "/"):
			paths = append(paths, path)
		case built[filepath.Base(path)] == nil && !strings.HasSuffix(path, "cache"):
			walkNames(path, &budget{until: time.Now().Add(time.Second)}, func(rel string, folder bool) {
				if !folder && len(paths) < baseFiles {
					paths = append(paths, filepath.Join(path, rel))
				}
			})
		}
	}
	slices.Sort(paths)
	return paths
}

// copyBase copies a small file into the vault, under a name made of its bytes.
func (k *Keeper) copyBase(path string) (kept string, err error) {
	f, err := openToRead(unix.AT_FDCWD, path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, baseFile+1))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	dir := filepath.Join(k.places.home, "base")
	kept = filepath.Join(dir, hex.EncodeToString(sum[:]))
	if exists(kept) {
		return kept, nil
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	fresh := fmt.Sprintf("%s.%d", kept, time.Now().UnixNano())
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		return "", err
	}
	return kept, os.Rename(fresh, kept)
}

// mostLosses bounds the files of one call that come from a snapshot.
const mostLosses = 5000

// addSnapshot adds to a call the files of its repository that are not as they were before it. Paths
// that other calls changed meanwhile are theirs.
func (k *Keeper) addSnapshot(m *manifest, base map[string]baseState) {
	if m.call.Repo == "" {
		return
	}
	others := k.changedBy(m)
	add := func(path string, text []byte, from string, was state) {
		if others[path] {
			return
		}
		kept := filepath.Join(m.dir, keptFolder, fmt.Sprintf("s%06d", len(m.entries)))
		err := os.MkdirAll(filepath.Dir(kept), 0o700)
		if from != "" {
			err = errors.Join(err, os.Link(from, kept))
		} else {
			err = errors.Join(err, os.WriteFile(kept, text, 0o600))
		}
		if err != nil {
			k.log.Warn("a file of a snapshot is not kept", zap.String("path", path), zap.Error(err))
			return
		}
		m.entries = append(m.entries, entry{
			Path: Path(path), Effect: effectWrite, By: byCopy, At: Path(kept), Was: was,
		})
	}
	for path, b := range base {
		if now, err := look(path); err == nil && !b.was.untouched(now) {
			add(path, nil, b.kept, b.was)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), snapshotTime)
	defer cancel()
	r, err := shadow.Open(ctx, k.places.home, string(m.call.Repo), nil)
	if err == nil {
		err = r.Losses(ctx, m.call.ID, mark, mostLosses, func(l shadow.Loss) error {
			if !l.Link { // the file that is there now says more than git's mode
				add(l.Path, l.Text, "", stateOfLoss(l))
			}
			return nil
		})
	}
	if err != nil && !errors.Is(err, shadow.ErrNotRepository) {
		k.log.Warn("what a call did in its repository is not known", zap.String("call", m.call.ID), zap.Error(err))
	}
}

// stateOfLoss is a file as far as a snapshot knows it: owner and permissions are those of the file
// that has its name now, else those of a new one. Its time is not known.
func stateOfLoss(l shadow.Loss) state {
	was := state{
		Kind: kindFile, Size: int64(len(l.Text)), Mode: 0o644, UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()),
		Names: 1, MTime: time.Now().UnixNano(), ATime: time.Now().UnixNano(),
	}
	if l.Executable {
		was.Mode = 0o755
	}
	if now, err := look(l.Path); err == nil && now.Kind == kindFile {
		was.Mode, was.UID, was.GID = now.Mode, now.UID, now.GID
	}
	return was
}

// changedBy returns the paths of a call, and the paths that other calls changed since it began.
func (k *Keeper) changedBy(m *manifest) map[string]bool {
	paths := map[string]bool{}
	for _, o := range k.all() {
		if o.call.ID == m.call.ID || !o.call.Time.Before(m.call.Time) {
			for _, e := range o.entries {
				paths[string(e.Path)] = true
			}
		}
	}
	return paths
}
