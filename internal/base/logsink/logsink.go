// Package logsink makes logging non-blocking. A pipe that no process reads, a disk that
// hangs or a terminal that is stopped blocks the code that writes to it; a Sink blocks
// only its own goroutine.
//
// It promises: Write copies the line and returns at once. Lines are written whole and
// in order, as soon as the log accepts them. The queue is bounded; a line without room
// is dropped, and so is a line that the log has refused. When lines are written again,
// the next one says how many were dropped. Sync and Close wait until the queue is
// written, but not for ever.
//
// Sampled keeps one kind of line from filling the log, and counts the lines that it
// leaves out.
//
// A process that crashes or is killed loses its queue.
package logsink

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"
)

const (
	maxWaiting = 1 << 20         // bytes of lines that wait
	patience   = 2 * time.Second // of Sync and Close
)

// ErrNotWritten is the error when the queue was not written in time.
var ErrNotWritten = errors.New("the log does not take what is written to it")

// Sink is a log that never blocks. It may be used by many goroutines.
type Sink struct {
	to     io.Writer
	notice func(dropped uint64) []byte
	wake   chan struct{} // buffered: there is something to do

	mu      sync.Mutex
	waiting []byte        // lines; guarded by mu, as is what follows
	dropped uint64        // lines since the last notice that was written
	writing bool          // a write is under way
	written chan struct{} // closed when the queue is empty; nil = no call waits for that
	closed  bool
}

// New returns a Sink that writes to a log. notice makes the line that says how many
// lines were dropped. The caller must call Close.
func New(to io.Writer, notice func(dropped uint64) []byte) *Sink {
	s := &Sink{to: to, notice: notice, wake: make(chan struct{}, 1)}
	go s.run()
	return s
}

// Write queues one line. It never fails.
func (s *Sink) Write(line []byte) (int, error) {
	s.mu.Lock()
	if s.closed || len(s.waiting)+len(line) > maxWaiting {
		s.dropped++
	} else {
		s.waiting = append(s.waiting, line...)
	}
	s.mu.Unlock()
	s.rouse()
	return len(line), nil
}

func (s *Sink) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run writes until Close: each time the whole queue, with one write.
func (s *Sink) run() {
	var spare []byte
	for range s.wake {
		for {
			lines, dropped, closed := s.takeQueue(spare)
			if lines == nil {
				if closed {
					return
				}
				break
			}
			s.put(lines, dropped)
			spare = lines
		}
	}
}

// takeQueue removes the queue and returns it, nil for none. spare becomes its buffer.
func (s *Sink) takeQueue(spare []byte) (lines []byte, dropped uint64, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		s.writing = false
		if s.written != nil {
			close(s.written)
			s.written = nil
		}
		return nil, 0, s.closed
	}
	lines, dropped = s.waiting, s.dropped
	s.waiting, s.dropped, s.writing = spare[:0], 0, true
	return lines, dropped, s.closed
}

// put writes lines, and after them the notice of the lines that were dropped behind
// them. Lines that cannot be written are dropped, too.
func (s *Sink) put(lines []byte, dropped uint64) {
	if _, err := s.to.Write(lines); err != nil {
		dropped += uint64(bytes.Count(lines, []byte{'\n'}))
	} else if dropped > 0 {
		if _, err := s.to.Write(s.notice(dropped)); err == nil {
			dropped = 0
		}
	}
	if dropped > 0 {
		s.mu.Lock()
		s.dropped += dropped
		s.mu.Unlock()
	}
}

// Sync waits, for 2 s at most, until all that was written is in the log.
func (s *Sink) Sync() error {
	s.mu.Lock()
	if len(s.waiting) == 0 && !s.writing {
		s.mu.Unlock()
		return nil
	}
	if s.written == nil {
		s.written = make(chan struct{})
	}
	written := s.written
	s.mu.Unlock()
	s.rouse()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-written:
		return nil
	case <-timer.C:
		return ErrNotWritten
	}
}

// Close is Sync, after which lines are dropped.
func (s *Sink) Close() error {
	err := s.Sync()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.rouse()
	return err
}
