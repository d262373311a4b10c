package wire

import "encoding/json"

// A BoxStart describes a box before it is made.
type BoxStart struct {
	Profile string `json:"profile"`
	Line    string `json:"line"` // that its shell runs
	Cwd     string `json:"cwd"`
}

// A BoxBegun is the answer to it.
type BoxBegun struct {
	// Approved: a verdict made this box, for this line, and nothing has used it yet. A box that is
	// not approved contains all the same.
	Approved bool            `json:"approved"`
	Profile  json.RawMessage `json:"profile,omitempty"` // of run/box, with Approved
	Hide     []string        `json:"hide,omitempty"`    // hookd's own folders and sockets
}

// A BoxEnd is how a box ended.
type BoxEnd struct {
	Level string   `json:"level"`
	Exit  int      `json:"exit"`
	Kept  []string `json:"kept,omitempty"` // what it made and may not, where it is now
	// Refused are destinations that its proxy refused, as HOST:PORT.
	Refused []string `json:"refused,omitempty"`
}

// A BoxTold is the answer to it.
type BoxTold struct {
	Tell string `json:"tell,omitempty"` // a line for the model; "" = nothing
}
