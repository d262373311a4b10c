//go:build unix

package shadow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// locked runs f while no other run is at work on the shadow. The kernel gives
// the lock back when a process dies.
func (r *Repo) locked(ctx context.Context, f func() error) error {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(r.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := flock(ctx, file); err != nil {
		return fmt.Errorf("lock snapshots of %s: %w", r.Root, err)
	}
	// left by a git that was killed: under the lock no other process has the index
	if err := os.Remove(r.index() + ".lock"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return f()
}

func flock(ctx context.Context, file *os.File) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return nil
		}
		if err != syscall.EWOULDBLOCK && err != syscall.EINTR {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
