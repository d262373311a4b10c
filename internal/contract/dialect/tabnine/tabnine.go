// Package tabnine is Tabnine's command line, which began as Gemini CLI and speaks its
// dialect under a name and with settings of its own.
package tabnine

import (
	"github.com/hookd/hookd/internal/contract/dialect/gemini"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// System is its entry in the index of package dialect.
func System() neutral.System {
	s := gemini.System()
	s.Unreported = nil // not looked at
	s.Name, s.Settings = events.Tabnine, Settings
	return s
}
