package undo

import (
	"path/filepath"
	"time"

	"github.com/hookd/hookd/internal/base/git"
)

// Begin remembers the repository around c.Cwd as it is now, under c.Mark in the session, in place of an
// earlier one. Outside of a repository it does nothing. It waits for the look, and for no longer than
// 20 seconds. Settings.Off does not count: a hook asks for it.
func (k *Keeper) Begin(c KeptCall) error {
	top := git.Top(string(c.Cwd))
	if top == "" || rootOf(top) == "" {
		return nil
	}
	for _, old := range k.steps(c.Session) {
		if old.Mark == c.Mark {
			k.Discard(old.ID)
		}
	}
	c.Repo = Path(rootOf(top))
	done := make(chan struct{})
	close(done)
	o := &open{call: c, kept: done, begun: time.Now()}
	p := &keeping{k: k, call: c, dir: k.dir(c.ID)}
	if err := p.begin(); err != nil {
		return err
	}
	opened(k, o)
	s := k.sees(string(c.Repo), o, time.Now().Add(lookTime))
	r := Copied{Word: Kept}
	s.wait(lookTime)
	if seen := s.seen.Load(); seen == nil {
		r.Lost = []Lost{{What: "files of " + filepath.Base(top), Why: errLate.Error()}}
	} else if seen.more != "" {
		r.Lost = []Lost{{What: "files of " + filepath.Base(top), Why: seen.more}}
	}
	return p.close(&r)
}

// End puts on record the changes since Begin; without any there is no record.
func (k *Keeper) End(session, mark string) {
	for _, c := range k.steps(session) {
		if c.Mark == mark {
			k.closeCall(c.ID, endRan, true)
		}
	}
}

// Forget drops the steps of a session that have not ended.
func (k *Keeper) Forget(session string) {
	for _, c := range k.steps(session) {
		k.Discard(c.ID)
	}
}

func (k *Keeper) steps(session string) (list []KeptCall) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, o := range k.open {
		if o.call.Mark != "" && o.call.Session == session {
			list = append(list, o.call)
		}
	}
	return list
}
