package wire

import "time"

// Change is one recorded change of a hook.
type Change struct {
	Time   time.Time `json:"time"`
	Hook   string    `json:"hook"`           // its ID
	Change string    `json:"change"`         // added, changed, removed, or its new state
	From   string    `json:"from,omitempty"` // digests
	To     string    `json:"to,omitempty"`
	File   string    `json:"file,omitempty"`
	By     string    `json:"by,omitempty"`    // the owner of the file, or the user who allowed the change
	Guard  bool      `json:"guard,omitempty"` // it is a guard; a removed hook was one
	Why    string    `json:"why,omitempty"`   // the first problem of a hook with a bad state
}
