package runner

import (
	"errors"
	"fmt"
	"time"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// InForce returns the version of the hook with the id that is in force, nil when there is
// none any more. With again it reads the disk first.
type InForce func(id string, again bool) *hook.Hook

// startTries bounds how often hooks are read again for one run, and how often a run starts
// again, while another process goes on replacing them.
const startTries = 3

// checkedHook is the version of a hook that may start now, as it was when it was looked at.
type checkedHook struct {
	hook *hook.Hook
	look *trust.Look
}

// startable returns the version of h that may start now: h itself, or, if its files have
// changed since it was read, the version that a reload makes. So a hook that was just
// saved runs as it was saved; each version that runs was read, checked and recorded
// before; and a refusal is an error, so that a guard denies. looks is called with each file
// before it is read.
func (r *Runner) startable(h *hook.Hook, looks func(path string)) (checkedHook, error) {
	look, err := lookWhenOld(h, h.Seal, looks)
	var changed *trust.Changed
	for try := 0; errors.As(err, &changed) && r.inForce != nil && try <= startTries; try++ {
		now := r.inForce(h.ID, try > 0)
		switch {
		case try == 0 && (now == nil || now == h): // nil = h comes into force just now
			continue
		case now == nil:
			return checkedHook{}, fmt.Errorf("refused: hook %s has been taken away", h.Name)
		}
		h = now
		look, err = lookWhenOld(h, h.Seal, looks)
	}
	if err != nil {
		return checkedHook{}, fmt.Errorf("refused: %w", err)
	}
	return checkedHook{hook: h, look: look}, nil
}

// lookWhenOld looks at sealed files of h until their last change is old enough to be told from
// the next one.
func lookWhenOld(h *hook.Hook, s *trust.Seal, looks func(path string)) (*trust.Look, error) {
	for try := 0; ; try++ {
		look, err := s.Look(looks)
		young := look.Young()
		if err != nil || young == 0 {
			return look, err
		}
		if try == startTries {
			return nil, fmt.Errorf("the files of hook %s change all the time; type `ls -l %s`", h.Name, escape.Quote(h.Dir))
		}
		time.Sleep(young)
	}
}

// confirm looks at the files of a run again, before its answer is taken. A difference is an
// error: it is not known which version has answered.
func (a checkedHook) confirm(looks func(path string)) error {
	if err := a.look.Again(looks); err != nil {
		return fmt.Errorf("refused: %w", err)
	}
	return nil
}

// trusted checks a program that no hook's seal covers, for one start.
func trusted(c *trust.Checker, l trust.Launch) (*trust.Look, error) {
	look, err := c.Seal(c.Add(trust.Files{}, l)).Look(func(string) {})
	if err != nil {
		return nil, fmt.Errorf("refused: %w", err)
	}
	return look, nil
}
