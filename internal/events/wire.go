package events

import "github.com/hookd/hookd/wire"

// Dialect is a system whose names an event uses.
type Dialect = wire.Dialect

// Kind is the meaning of an event, whatever its dialect calls it.
type Kind = wire.Kind
