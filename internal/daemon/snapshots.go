package daemon

import (
	"context"
	"os"

	"github.com/hookd/hookd/internal/builtin/shadow"
	"github.com/hookd/hookd/internal/config"
)

// Snapshots opens the snapshots that the built-in of that name keeps of the
// repository around dir. It needs no daemon.
func Snapshots(ctx context.Context, c config.Config, dir string) (*shadow.Repo, error) {
	return shadow.Open(ctx, c.DataDir(), dir, os.Environ())
}
