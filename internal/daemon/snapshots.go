package daemon

import (
	"context"
	"os"
	"path/filepath"

	"github.com/hookd/hookd/internal/builtin/shadow"
	"github.com/hookd/hookd/internal/config"
)

// Snapshots opens the snapshots that the built-in of that name keeps of the
// repository around dir. It needs no daemon.
func Snapshots(ctx context.Context, c config.Config, dir string) (*shadow.Repo, error) {
	return shadow.Open(ctx, dataDir(c), dir, os.Environ())
}

// dataDir is where built-ins keep what outlives a run.
func dataDir(c config.Config) string { return filepath.Join(c.Home, "data") }
