package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/pattern"
)

// Undo says which of the files that calls destroy are kept.
type Undo struct {
	Keep     bool
	Wait     time.Duration // of a verdict
	Late     string        // one of the words below
	MaxBytes int64
	MaxAge   time.Duration
	Never    []string // globs of paths, or of names
}

// Decisions about a call when the time is over before all is kept.
const (
	UndoWait = "wait" // longer, and then ask
	UndoGo   = "go"
	UndoAsk  = "ask"
	UndoDeny = "deny"
)

// undoNever reads globs of paths, which begin with / or ~, or of names.
func undoNever(c *Config, n *yaml.Node) error {
	list, err := texts(n, "['*.iso', /big/**]", func(glob string) error {
		if glob == "" || strings.Contains(glob, "/") && !filepath.IsAbs(glob) && !strings.HasPrefix(glob, "~/") {
			return fmt.Errorf("%q, want a path that begins with /, or a name", glob)
		}
		_, err := pattern.Compile(glob, '/')
		return err
	})
	if err == nil {
		c.Undo.Never = list
	}
	return err
}
