// Package kilo is Kilo, which began as OpenCode: hookd's plugin for Kilo sends the same
// events as the plugin for OpenCode. It has a name and settings of its own.
package kilo

import (
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/dialect/opencode"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	s := opencode.System()
	s.Name, s.Settings = events.Kilo, Settings
	return s
}
