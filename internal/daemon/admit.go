package daemon

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/trust"
)

// latest returns the version of a hook that is in force, nil when there is
// none any more. again asks to look at the disk first.
type latest func(id string, again bool) *hook.Hook

// latestOf looks a hook up in what was discovered. With reload.mode: manual
// only the user reads hooks again.
func latestOf(d *discovery.Discovery, mode string) latest {
	return func(id string, again bool) *hook.Hook {
		snap := d.Current()
		if again && mode != "manual" {
			snap = d.Load()
		}
		for _, e := range snap.Entries {
			if e.Hook != nil && e.Hook.ID == id {
				return e.Hook
			}
		}
		return nil
	}
}

// admitTries bounds how often hooks are read again for one run, while somebody
// keeps writing into them.
const admitTries = 3

// admit returns the hook that may start in h's place now: h itself, or, when
// its files have changed since it was read, what a reload at this moment makes
// of it. So a hook that was just saved runs as it was saved, what runs has
// always been read, checked and recorded before, and a refusal is an error: a
// guard denies.
func (r *runner) admit(h *hook.Hook) (*hook.Hook, error) {
	err := h.Seal.Check()
	var changed *trust.Changed
	for try := 0; errors.As(err, &changed) && r.latest != nil && try <= admitTries; try++ {
		now := r.latest(h.ID, try > 0)
		if now == nil {
			return nil, fmt.Errorf("refused: hook %s has been taken away", h.Name)
		}
		if now == h && try == 0 {
			continue
		}
		h, err = now, now.Seal.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("refused: %w", err)
	}
	return h, nil
}

// trusted judges a program that no hook's seal covers.
func trusted(c *trust.Checker, program string, args []string, path string) error {
	run, _ := trust.Programs(program, args, filepath.Dir(program), path)
	if bad := c.Seal(trust.Files{Run: run}).Refusals(); len(bad) > 0 {
		return fmt.Errorf("refused: %w", &bad[0])
	}
	return nil
}

// approved says what has been allowed, nil when nothing has to be.
func approved(c config.Config) func(string) (discovery.Approval, bool) {
	if c.ReloadMode != "ask" {
		return nil
	}
	return discovery.NewApprovals(c.AllowedDir()).Get
}

// prepareHome makes the home, for the user alone, and refuses one that others
// can change. The home is LibreFang's too, so one that others may read stays
// so; hookd's own files in it do not.
func prepareHome(c config.Config) error {
	if err := os.MkdirAll(c.Home, 0o700); err != nil {
		return fmt.Errorf("make the home: %w", err)
	}
	seal := trust.New().Seal(trust.Files{Folder: c.Home, Read: []string{c.Socket, filepath.Join(c.Home, "hookd.lock")}})
	if bad := seal.Refusals(); len(bad) > 0 {
		return fmt.Errorf("use the home %s: %w", trust.Quote(c.Home), &bad[0])
	}
	if err := checkSettings(c.Home); err != nil {
		return err
	}
	for _, pattern := range []string{"hookd", "hookd/*", "hookd.lock", "hookd.db*"} {
		found, _ := filepath.Glob(filepath.Join(c.Home, pattern)) // the pattern is right
		for _, path := range found {
			if err := makePrivate(path); err != nil {
				return fmt.Errorf("keep %s from others: %w", path, err)
			}
		}
	}
	return nil
}

func makePrivate(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSymlink != 0 || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return os.Chmod(path, info.Mode().Perm()&0o700)
}

// checkSettings refuses a hookd.yaml that others can change: it names programs.
func checkSettings(home string) error {
	if err := trust.New().Check(filepath.Join(home, "hookd.yaml")); err != nil {
		return fmt.Errorf("obey the settings: %w", err)
	}
	return nil
}

// Mend returns the command that mends a home, settings or a database that New
// refused, "" for other errors.
func Mend(err error) string {
	var refusal *trust.Refusal
	var unfit *unfitStore
	switch {
	case errors.As(err, &refusal):
		return refusal.Do
	case errors.As(err, &unfit):
		aside := filepath.Join(filepath.Dir(unfit.path), "aside")
		return "mkdir " + trust.Quote(aside) + " && mv " + trust.Quote(unfit.path) + "* " + trust.Quote(aside)
	}
	return ""
}

// unfitStore is why a database is not opened, and will not be later.
type unfitStore struct {
	error
	path string
}

func (u *unfitStore) Unwrap() error { return u.error }
