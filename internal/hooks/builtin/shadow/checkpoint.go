package shadow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of the history that Prune leaves.
const (
	maxCheckpoints = 500
	maxAge         = 30 * 24 * time.Hour // of checkpoints
	maxMarkAge     = 7 * 24 * time.Hour  // of what a session remembers that never ended
	maxFiles       = 100                 // names a checkpoint lists
)

// ErrNoCheckpoint says that there is no checkpoint, or none with that number.
var ErrNoCheckpoint = errors.New("no such checkpoint")

// Checkpoint is one step that can be undone.
type Checkpoint struct {
	N       int       `json:"n"` // from 1, never given twice in one shadow
	Time    time.Time `json:"time"`
	Session string    `json:"session"`
	Note    string    `json:"note"`    // what made it, such as the tool; "" = unknown
	From    string    `json:"from"`    // tree before
	To      string    `json:"to"`      // tree after
	Files   []File    `json:"files"`   // the first 100, sorted by path
	Changed int       `json:"changed"` // number of all files that changed
}

// File is one file that a checkpoint changed.
type File struct {
	Path   string `json:"path"`   // below the root, with slashes
	Status string `json:"status"` // added, modified or deleted
}

// push records the step between two captured trees as a checkpoint. changed is false, and
// nothing is recorded, where they are equal. The caller has the lock.
func (r *Repo) push(
	ctx context.Context, from, to, session, note string,
) (cp Checkpoint, changed bool, err error) {
	if from == to {
		return Checkpoint{}, false, nil
	}
	changes, err := r.diff(ctx, from, to)
	if err != nil || len(changes) == 0 {
		return Checkpoint{}, false, err
	}
	st, err := r.load()
	if err != nil {
		return Checkpoint{}, false, err
	}
	cp = Checkpoint{
		N: st.Next, Time: time.Now().UTC(), Session: session, Note: note, From: from, To: to, Changed: len(changes),
	}
	for _, c := range changes[:min(len(changes), maxFiles)] {
		cp.Files = append(cp.Files, File{c.path, c.status()})
	}
	for name, tree := range map[string]string{"from": from, "to": to} {
		if err := r.keep(ctx, strconv.Itoa(cp.N)+"/"+name, tree); err != nil {
			return Checkpoint{}, false, err
		}
	}
	st.Next, st.Checkpoints = cp.N+1, append(st.Checkpoints, cp)
	return cp, true, r.save(st)
}

// List returns the checkpoints, oldest first.
func (r *Repo) List(context.Context) ([]Checkpoint, error) {
	st, err := r.load()
	return st.Checkpoints, err
}

// Show returns the changes of checkpoint n as a unified diff; 0 is the last one.
func (r *Repo) Show(ctx context.Context, n int) (diff string, err error) {
	err = r.locked(ctx, func() error {
		st, err := r.load()
		if err != nil {
			return err
		}
		i, err := st.find(n)
		if err != nil {
			return err
		}
		cp := st.Checkpoints[i]
		out, err := r.git(ctx, nil, "diff-tree", "-r", "-p",
			"--no-renames", "--no-color", "--no-ext-diff", "--no-textconv", cp.From, cp.To)
		diff = string(out)
		return err
	})
	return diff, err
}

// find returns the index of checkpoint n, of the last one for 0.
func (st state) find(n int) (int, error) {
	i := slices.IndexFunc(st.Checkpoints, func(cp Checkpoint) bool { return cp.N == n })
	if n == 0 {
		i = len(st.Checkpoints) - 1
	}
	if i < 0 {
		return 0, ErrNoCheckpoint
	}
	return i, nil
}

// Forget drops the marks of the session. Its checkpoints stay.
func (r *Repo) Forget(ctx context.Context, session string) error {
	return r.locked(ctx, func() error {
		st, err := r.load()
		if err != nil {
			return err
		}
		if _, ok := st.Marks[session]; !ok {
			return nil
		}
		delete(st.Marks, session)
		return r.save(st)
	})
}

// Prune drops checkpoints over 500 or 30 days, and marks over 7 days. It lets git
// throw away objects that nothing names any more, when git finds it worth while. A
// shadow that was never used stays unmade.
func (r *Repo) Prune(ctx context.Context) error {
	if !r.made() {
		return nil
	}
	return r.locked(ctx, func() error {
		st, err := r.load()
		if err != nil {
			return err
		}
		st.expire(time.Now())
		if err := r.save(st); err != nil {
			return err
		}
		if err := r.dropRefs(ctx, st); err != nil {
			return err
		}
		_, err = r.git(ctx, nil, "gc", "--auto", "--quiet")
		return err
	})
}

// made reports whether something was captured yet.
func (r *Repo) made() bool {
	_, err := os.Stat(r.GitDir())
	return err == nil
}

func (st *state) expire(now time.Time) {
	old := max(0, len(st.Checkpoints)-maxCheckpoints)
	isOld := func(cp Checkpoint) bool { return now.Sub(cp.Time) > maxAge }
	st.Checkpoints = slices.DeleteFunc(slices.Clone(st.Checkpoints[old:]), isOld)
	for session, m := range st.Marks {
		if now.Sub(m.Time) > maxMarkAge {
			delete(st.Marks, session)
		}
	}
}

// dropRefs removes the names of trees that the state no longer knows.
func (r *Repo) dropRefs(ctx context.Context, st state) error {
	keep := map[string]bool{"undone": true}
	for _, cp := range st.Checkpoints {
		keep[fmt.Sprintf("%d/from", cp.N)], keep[fmt.Sprintf("%d/to", cp.N)] = true, true
	}
	for _, m := range st.Marks {
		for _, tree := range m.Trees {
			keep["marks/"+tree] = true
		}
	}
	out, err := r.git(ctx, nil, "for-each-ref", "--format=%(refname)", "refs/hookd/")
	if err != nil {
		return err
	}
	var orders strings.Builder
	for ref := range strings.Lines(string(out)) {
		ref = strings.TrimSpace(ref)
		if !keep[strings.TrimPrefix(ref, "refs/hookd/")] {
			orders.WriteString("delete " + ref + "\n")
		}
	}
	_, err = r.git(ctx, []byte(orders.String()), "update-ref", "--stdin")
	return err
}
