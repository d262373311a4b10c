package runner

import (
	"errors"
	"fmt"

	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/trust"
)

// Latest returns the version of the hook with the id that is in force, nil when there is
// none any more. With again it reads the disk first.
type Latest func(id string, again bool) *hook.Hook

// admitTries bounds how often hooks are read again for one run, while another process
// goes on replacing them.
const admitTries = 3

// admit returns the version of h that may start now: h itself, or, if its files have
// changed since it was read, the version that a reload makes. So a hook that was just
// saved runs as it was saved; each version that runs was read, checked and recorded
// before; and a refusal is an error, so that a guard denies. A version that was read after
// this run wanted to start is not checked again: a hook must start also while another run
// of it writes a file that is among its arguments. looks is called with each file before it
// is read.
func (r *Runner) admit(h *hook.Hook, looks func(path string)) (*hook.Hook, error) {
	err := h.Seal.CheckWith(looks)
	var changed *trust.Changed
	for try := 0; errors.As(err, &changed) && r.latest != nil && try <= admitTries; try++ {
		now := r.latest(h.ID, try > 0)
		switch {
		case try == 0 && (now == nil || now == h): // nil = h comes into force just now
			continue
		case now == nil:
			return nil, fmt.Errorf("refused: hook %s has been taken away", h.Name)
		case try > 0 && now.Seal != h.Seal && len(now.Seal.Refusals()) == 0:
			return now, nil
		}
		h, err = now, now.Seal.CheckWith(looks)
	}
	if err != nil {
		return nil, fmt.Errorf("refused: %w", err)
	}
	return h, nil
}

// trusted checks a program that no hook's seal covers.
func trusted(c *trust.Checker, l trust.Launch) error {
	if bad := c.Seal(c.Add(trust.Files{}, l)).Refusals(); len(bad) > 0 {
		return fmt.Errorf("refused: %w", &bad[0])
	}
	return nil
}
