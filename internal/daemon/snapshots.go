package daemon

import (
	"context"
	"os"

	"github.com/hookd/hookd/internal/builtin/shadow"
	"github.com/hookd/hookd/internal/config"
)

// Snapshots opens the snapshots of the repository around dir, which the built-in of
// that name makes. It needs no daemon.
func Snapshots(ctx context.Context, c config.Config, dir string) (*shadow.Repo, error) {
	return shadow.Open(ctx, c.DataDir(), dir, os.Environ())
}
