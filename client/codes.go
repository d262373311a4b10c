package client

import (
	"errors"

	"github.com/hookd/hookd/internal/events"
)

// Codes of an Error.
const (
	CodeBadJSON       = events.CodeBadJSON
	CodeBadEventName  = events.CodeBadEventName
	CodeBadData       = events.CodeBadData    // the data is not an object
	CodeBadField      = events.CodeBadField   // a field has a wrong type or value
	CodeReserved      = events.CodeReserved   // hookd:* is the daemon's own
	CodeBadRequest    = events.CodeBadRequest // a bad glob or query
	CodeTooDeep       = events.CodeTooDeep    // hooks that set off each other
	CodeTooLarge      = events.CodeTooLarge   // over max_event_bytes
	CodeTooMany       = events.CodeTooMany    // a hook that sends too much
	CodeQueueFull     = events.CodeQueueFull
	CodeDiskQueueFull = events.CodeDiskQueueFull // the queue on disk is
	CodeStorage       = events.CodeStorage       // the event cannot be kept
	CodeDraining      = events.CodeDraining      // the daemon stops
	CodeNotFound      = events.CodeNotFound
	CodeRejected      = events.CodeRejected // a hook's file is broken
	CodeForbidden     = events.CodeForbidden
	CodeInternal      = events.CodeInternal // a fault of hookd
)

// Results of a run.
const (
	ResultOK         = events.ResultOK
	ResultBlock      = events.ResultBlock      // it said no
	ResultFailed     = events.ResultFailed     // exit code, signal, or an answer that cannot be read
	ResultTimeout    = events.ResultTimeout    // killed at its deadline
	ResultSpawnError = events.ResultSpawnError // it never started

	ResultInterrupted = events.ResultInterrupted // hookd ended while it ran
	ResultDropped     = events.ResultDropped     // its hook was gone when its turn came
)

// Retryable reports whether the same call may succeed later: nobody listens,
// a queue or the disk is full, the daemon stops. It says nothing about whether an event
// was accepted; give those that you send again an ID.
func Retryable(err error) bool {
	var refused *Error
	if errors.As(err, &refused) {
		switch refused.Code {
		case CodeQueueFull, CodeDiskQueueFull, CodeStorage, CodeTooMany, CodeDraining:
			return true
		}
		return false
	}
	return errors.Is(err, ErrNotRunning)
}
