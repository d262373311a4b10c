package client

import (
	"errors"
	"io"
)

// A Code is why hookd refused something.
type Code string

// Codes of an Error.
const (
	CodeBadJSON       Code = "bad_json"
	CodeBadEventName  Code = "bad_event_name"
	CodeBadData       Code = "bad_data"        // the data is not an object
	CodeBadField      Code = "bad_field"       // a field has a wrong type or value
	CodeReserved      Code = "reserved_event"  // hookd:* is the daemon's own
	CodeTooLarge      Code = "too_large"       // over max_event_bytes
	CodeTooDeep       Code = "too_deep"        // hooks that set off each other
	CodeTooMany       Code = "too_many_events" // a hook that sends too much
	CodeQueueFull     Code = "queue_full"
	CodeDiskQueueFull Code = "disk_queue_full" // the queue on disk is
	CodeStorage       Code = "storage"         // the event cannot be kept
	CodeDraining      Code = "draining"        // the daemon stops
	CodeNotFound      Code = "not_found"
	CodeIDConflict    Code = "id_conflict" // the ID is another event's
	CodeAnswerGone    Code = "answer_gone" // the event was accepted before, and its answer is no longer kept
	CodeRejected      Code = "rejected"    // a hook's file is broken
	CodeForbidden     Code = "forbidden"
	CodeAnswered      Code = "answered"    // the ask has ended, or was answered before
	CodeBadRequest    Code = "bad_request" // a bad glob or query
	CodeBadMethod     Code = "bad_method"
	CodeInternal      Code = "internal" // a fault of hookd
)

// A Result is how a run ended.
type Result string

// Results of a run.
const (
	ResultOK         Result = "ok"
	ResultBlock      Result = "block"       // it said no
	ResultFailed     Result = "failed"      // exit code, signal, or an answer that cannot be read
	ResultTimeout    Result = "timeout"     // killed at its deadline
	ResultSpawnError Result = "spawn_error" // it never started

	ResultInterrupted Result = "interrupted" // hookd ended while it ran
	ResultDropped     Result = "dropped"     // its hook was gone when its turn came
	ResultMerged      Result = "merged"      // left out by debounce or throttle
)

// Retryable reports whether the same call may succeed later: no daemon listens, a
// queue or the disk is full, the daemon stops, or the connection was lost after
// an event that has an ID, which hookd takes once however often it is sent. A
// lost connection after an event without one is not: the event may have been
// accepted, and would run again. Give those that you send again an ID.
func Retryable(err error) bool {
	var refused *Error
	if errors.As(err, &refused) {
		switch refused.Code {
		case CodeQueueFull, CodeDiskQueueFull, CodeStorage, CodeTooMany, CodeDraining:
			return true
		}
		return false
	}
	var lost *lostError
	return errors.Is(err, ErrNotRunning) || errors.As(err, &lost)
}

// lostError is a lost connection whose event has an ID.
type lostError struct{ error }

func (e *lostError) Unwrap() error { return e.error }

// markRetryable marks the loss of a connection as one after which an event can be sent
// again; other errors stay as they are.
func markRetryable(err error) error {
	var marked *lostError
	if errors.As(err, &marked) || !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return &lostError{err}
}

// unmark takes the mark off, for an event without an ID.
func unmark(err error) error {
	var marked *lostError
	if errors.As(err, &marked) {
		return marked.error
	}
	return err
}
