package api

import "time"

// Change is one record of what became of a hook.
type Change struct {
	Time   time.Time `json:"time"`
	Hook   string    `json:"hook"`           // its ID
	Change string    `json:"change"`         // added, changed, removed, or the state that it came to
	From   string    `json:"from,omitempty"` // digests
	To     string    `json:"to,omitempty"`
	File   string    `json:"file,omitempty"`
	By     string    `json:"by,omitempty"`  // who owns the file, or allowed the change
	Why    string    `json:"why,omitempty"` // the first problem of a hook that came to a bad state
}
