package client

import (
	"errors"
	"io"
)

// Retryable reports whether the same call may succeed later: no daemon listens, a queue
// or the disk is full, the daemon stops, or the connection was lost after an event that
// has an ID, which hookd takes once however often it is sent. A lost connection after
// an event without one is not: the event may have been accepted, and would run again.
// Give events that you send again an ID.
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
