package catalog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/wire"
)

// AllowFirstSettings stores the settings of the first start with reload.mode: ask as
// allowed: from then on changes wait.
func AllowFirstSettings(c config.Config) error {
	if c.ReloadMode != "ask" || c.Asks {
		return nil
	}
	return config.Allowed{At: time.Now().UTC(), By: "the first start with reload.mode: ask", Text: c.File}.Allow(c.Home)
}

// HeldSettings returns the problem that settings wait, if some do.
func HeldSettings(c config.Config) []wire.Problem {
	if len(c.Held) == 0 {
		return []wire.Problem{}
	}
	return []wire.Problem{{
		File: filepath.Join(c.Home, "hookd.yaml"), Warning: true, Hint: "hookd allow --settings",
		Message: "has changed and waits to be allowed: " + strings.Join(c.Held, ", ") +
			"; until then the settings before stay in force",
	}}
}

// Settings records a change of hookd.yaml, and reports whether there was one.
func (r *Changes) Settings(c config.Config) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	was, now, allowed := r.last[SettingsRecord], trust.Sum(c.File), trust.Sum(c.AllowedText)
	change := wire.Change{Hook: SettingsRecord, File: filepath.Join(c.Home, "hookd.yaml")}
	switch {
	case len(c.Held) > 0 && was.waits == now:
		return false
	case len(c.Held) > 0:
		change.Change, change.From, change.To, change.Why = "waiting", allowed, now, strings.Join(c.Held, ", ")
		if info, err := os.Stat(change.File); err == nil {
			change.By = written(info)
		} else if info := nearest(change.File); info != nil {
			change.By = fmt.Sprintf("it is gone from %s", written(info))
		}
	case was.digest == now, was.digest == "" && len(c.File) == 0:
		return false
	default:
		change.Change, change.From, change.To = "changed", was.digest, now
		if a, known, err := config.LoadAllowed(c.Home); err == nil && known && bytes.Equal(a.Text, c.File) {
			change.By = fmt.Sprintf("allowed by %s at %s", a.By, a.At.Format(time.RFC3339))
		}
	}
	r.write([]wire.Change{change})
	return true
}
