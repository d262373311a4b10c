package shadow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
)

// state is the shadow's knowledge besides its trees, the file state.json.
type state struct {
	Root        string          `json:"root"` // for people who look into the directory
	Next        int             `json:"next"` // number of the next checkpoint
	Checkpoints []Checkpoint    `json:"checkpoints"`
	Marks       map[string]mark `json:"marks"` // by session
	Large       []string        `json:"large"` // new files left out for their size, sorted as git does
}

// mark is the memory of a session: trees by key.
type mark struct {
	Time  time.Time         `json:"time"`
	Trees map[string]string `json:"trees"`
}

// maxState is how large a state may be.
const maxState = 64 << 20

// load reads the state; the zero state where there is none.
func (r *Repo) load() (state, error) {
	st := state{Root: r.Root, Next: 1, Marks: map[string]mark{}}
	text, err := readfile.Read(r.stateFile(), maxState)
	if errors.Is(err, os.ErrNotExist) {
		return st, nil
	}
	if err != nil {
		return st, fmt.Errorf("read checkpoints: %w", err)
	}
	if err := json.Unmarshal(text, &st); err != nil {
		return st, fmt.Errorf("read checkpoints %s: %w", r.stateFile(), err)
	}
	if st.Marks == nil {
		st.Marks = map[string]mark{}
	}
	return st, nil
}

func (r *Repo) save(st state) error {
	text, err := json.Marshal(st)
	if err != nil {
		return fmt.Errorf("encode checkpoints: %w", err)
	}
	return replacefile.Write(r.stateFile(), text)
}

func (r *Repo) stateFile() string { return filepath.Join(r.dir, "state.json") }

// Mark captures the working tree and remembers it for the session under key,
// in place of the earlier tree. A later Since measures from this tree.
func (r *Repo) Mark(ctx context.Context, session, key string) error {
	return r.locked(ctx, func() error {
		tree, err := r.capture(ctx)
		if err != nil {
			return err
		}
		st, err := r.load()
		if err != nil {
			return err
		}
		m := st.Marks[session]
		if m.Trees == nil {
			m.Trees = map[string]string{}
		}
		m.Time, m.Trees[key] = time.Now(), tree
		st.Marks[session] = m
		if err := r.keep(ctx, "marks/"+tree, tree); err != nil {
			return err
		}
		return r.save(st)
	})
}

// Since pushes a checkpoint of the changes since the session's mark under key; changed
// is false where nothing did, or where there is no mark. The mark is used up unless stay
// is true. After a checkpoint all marks of the session stand at its end. So a turn and
// the tools within the turn do not count a change twice.
func (r *Repo) Since(
	ctx context.Context, session, key, note string, stay bool,
) (cp Checkpoint, changed bool, err error) {
	err = r.locked(ctx, func() error {
		st, err := r.load()
		if err != nil {
			return err
		}
		from, ok := st.Marks[session].Trees[key]
		if !ok {
			return nil
		}
		to, err := r.capture(ctx)
		if err != nil {
			return err
		}
		if cp, changed, err = r.push(ctx, from, to, session, note); err != nil {
			return err
		}
		return r.advance(ctx, session, key, to, stay, changed)
	})
	return cp, changed && err == nil, err
}

// advance moves the session's marks to a checkpoint's end.
func (r *Repo) advance(ctx context.Context, session, key, to string, stay, changed bool) error {
	st, err := r.load()
	if err != nil {
		return err
	}
	trees := st.Marks[session].Trees
	if !stay {
		delete(trees, key)
	}
	if !changed {
		return r.save(st)
	}
	for k := range trees {
		trees[k] = to
	}
	if err := r.keep(ctx, "marks/"+to, to); err != nil {
		return err
	}
	return r.save(st)
}

// keep names a tree, so that git does not throw it away.
func (r *Repo) keep(ctx context.Context, name, tree string) error {
	_, err := r.git(ctx, nil, "update-ref", "refs/hookd/"+name, tree)
	return err
}
