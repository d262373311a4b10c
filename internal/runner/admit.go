package runner

import (
	"errors"
	"fmt"

	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/trust"
)

// Latest returns the version of the hook with the id that is in force, nil when
// there is none any more. again asks it to look at the disk first.
type Latest func(id string, again bool) *hook.Hook

// admitTries bounds how often hooks are read again for one run, while another
// process keeps writing into them.
const admitTries = 3

// admit returns the hook that may start in h's place now: h itself, or, when
// its files have changed since it was read, what a reload at this moment makes
// of it. So a hook that was just saved runs as it was saved, what runs has
// always been read, checked and recorded before, and a refusal is an error: a
// guard denies. looks is told of each file before it is looked at.
func (r *Runner) admit(h *hook.Hook, looks func(path string)) (*hook.Hook, error) {
	err := h.Seal.CheckWith(looks)
	var changed *trust.Changed
	for try := 0; errors.As(err, &changed) && r.latest != nil && try <= admitTries; try++ {
		now := r.latest(h.ID, try > 0)
		if now == nil {
			return nil, fmt.Errorf("refused: hook %s has been taken away", h.Name)
		}
		if now == h && try == 0 {
			continue
		}
		h, err = now, now.Seal.CheckWith(looks)
	}
	if err != nil {
		return nil, fmt.Errorf("refused: %w", err)
	}
	return h, nil
}

// trusted judges a program that no hook's seal covers.
func trusted(c *trust.Checker, l trust.Launch) error {
	if bad := c.Seal(c.Add(trust.Files{}, l)).Refusals(); len(bad) > 0 {
		return fmt.Errorf("refused: %w", &bad[0])
	}
	return nil
}
