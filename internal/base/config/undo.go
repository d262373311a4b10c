package config

import "time"

// Undo says which of the files that calls destroy are kept.
type Undo struct {
	Keep     bool
	Wait     time.Duration // of a verdict
	Late     string        // one of the words below
	MaxBytes int64
	MaxAge   time.Duration
}

// Decisions about a call when the time is over before all is kept.
const (
	UndoGo   = "go"
	UndoAsk  = "ask"
	UndoDeny = "deny"
)
