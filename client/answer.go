package client

import "github.com/hookd/hookd/wire"

// An Answer is the reply that the sender of an event gets.
type Answer struct {
	wire.Answer

	own error // see Own
}

// Own returns why the user's own daemon has no part in the answer of a machine's system
// daemon; nil = it has, or there is no system daemon.
func (a Answer) Own() error { return a.own }
