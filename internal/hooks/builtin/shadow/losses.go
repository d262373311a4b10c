package shadow

import (
	"context"
	"path/filepath"
)

// Loss is a file as a mark has it, which was changed or deleted since.
type Loss struct {
	Path       string // absolute
	Link       bool   // Text is where it leads
	Executable bool
	Text       []byte
}

// Losses captures the tree and calls each with the files that the mark of a session has and that
// are not the same any more, at most so many, then forgets the session. A session without that mark
// has none.
func (r *Repo) Losses(ctx context.Context, session, key string, most int, each func(Loss) error) error {
	return r.locked(ctx, func() error {
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
		if from != to {
			if err := r.eachLoss(ctx, from, to, most, each); err != nil {
				return err
			}
		}
		if st, err = r.load(); err != nil {
			return err
		}
		delete(st.Marks, session)
		return r.save(st)
	})
}

func (r *Repo) eachLoss(ctx context.Context, from, to string, most int, each func(Loss) error) error {
	changes, err := r.diff(ctx, from, to)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.from == (entry{}) || most == 0 {
			continue
		}
		most--
		text, err := r.git(ctx, nil, "cat-file", "blob", c.from.blob)
		if err != nil {
			return err
		}
		err = each(Loss{
			Path: filepath.Join(r.Root, c.path), Link: c.from.mode == modeLink,
			Executable: c.from.mode == modeExecutable, Text: text,
		})
		if err != nil {
			return err
		}
	}
	return nil
}
