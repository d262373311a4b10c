// Package lookback keeps lines about past events, for rules that look back: two files that
// take turns, so that at most twice mostBytes of the newest lines stay.
//
// Add never blocks and never fails: a goroutine writes soon after. A kill of the process takes the
// lines of its last moment. A loss of power takes the lines that the system had not written. Lines
// that cannot be written are counted and logged, and so are lines that cannot be read: nothing
// unreadable is removed before newer lines take its place.
package lookback

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"sync"

	"go.uber.org/zap"
)

// Bounds of a Log.
const (
	mostBytes  = 4 << 20 // of one file: both are read within a second
	mostQueued = 8 << 20 // bytes that wait to be written
	mostLine   = 1 << 20
)

// Log is two files of lines, PATH and PATH.1, the older one. It is safe for concurrent use.
type Log struct {
	path string
	log  *zap.Logger

	mu      sync.Mutex
	wake    *sync.Cond
	queue   []queued
	waiting int // bytes of queue
	clear   bool
	dropped int // lines
	writing bool
	closed  bool
	ended   chan struct{}

	file *os.File // of the goroutine that writes
	size int64
}

// queued is a line that waits to be written.
type queued struct {
	size int
	line func() []byte
}

// Open returns the Log at a path. A file that cannot be opened is tried again with each
// write; log gets that, and may be nil.
func Open(path string, log *zap.Logger) *Log {
	if log == nil {
		log = zap.NewNop()
	}
	l := &Log{path: path, log: log.Named("past"), ended: make(chan struct{})}
	l.wake = sync.NewCond(&l.mu)
	go l.write()
	return l
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Add keeps a line of about size bytes. line returns it, without a line end in it, on the goroutine that
// writes: a sender waits for the caller. nil = there is none.
func (l *Log) Add(size int, line func() []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.waiting+size > mostQueued {
		l.dropped++
		return
	}
	l.queue, l.waiting = append(l.queue, queued{size, line}), l.waiting+size
	l.wake.Broadcast()
}

// Clear forgets all lines.
func (l *Log) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue, l.waiting, l.clear = nil, 0, true
	l.wake.Broadcast()
}

// Flush returns when all lines were written that were added before, or could not be.
func (l *Log) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for (len(l.queue) > 0 || l.clear || l.writing) && !l.closed {
		l.wake.Wait()
	}
}

// Close writes the remaining lines. Later lines are dropped.
func (l *Log) Close() {
	l.mu.Lock()
	l.closed = true
	l.wake.Broadcast()
	l.mu.Unlock()
	<-l.ended
}

// write writes the queued lines until the end.
func (l *Log) write() {
	defer close(l.ended)
	for {
		l.mu.Lock()
		l.writing = false
		l.wake.Broadcast()
		for len(l.queue) == 0 && !l.clear && !l.closed {
			l.wake.Wait()
		}
		queue, clear, dropped, closed := l.queue, l.clear, l.dropped, l.closed
		l.queue, l.waiting, l.clear, l.dropped, l.writing = nil, 0, false, 0, true
		l.mu.Unlock()
		if clear {
			l.forget()
		}
		lines, long := written(queue)
		dropped += long
		if err := l.append(lines); err != nil {
			l.log.Error("what happened is not kept for rules that look back", zap.String("path", l.path),
				zap.Int("lines", bytes.Count(lines, []byte{'\n'})), zap.Error(err))
		}
		if dropped > 0 {
			l.log.Error("lines for rules that look back were dropped: too many wait, or too long", zap.Int("lines", dropped))
		}
		if closed && len(queue) == 0 {
			if l.file != nil {
				l.file.Close()
			}
			return
		}
	}
}

// written is the text of lines, and how many of them were too long.
func written(queue []queued) (text []byte, long int) {
	for _, q := range queue {
		switch line := q.line(); {
		case len(line) > mostLine:
			long++
		case line != nil:
			text = fmt.Appendf(text, "%08x ", crc32.Checksum(line, castagnoli))
			text = append(append(text, line...), '\n')
		}
	}
	return text, long
}

// append writes lines to the newer file, which is made the older one when it is full.
func (l *Log) append(lines []byte) (err error) {
	if len(lines) == 0 {
		return nil
	}
	if l.file != nil && l.size > mostBytes {
		l.file.Close()
		if l.file = nil; os.Rename(l.path, l.path+".1") != nil {
			return fmt.Errorf("turn %s over", l.path)
		}
	}
	if l.file == nil {
		if l.file, err = os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600); err != nil {
			return err
		}
		if l.size, err = l.file.Seek(0, io.SeekEnd); err == nil && l.size > 0 {
			last := []byte{0}
			if _, err = l.file.ReadAt(last, l.size-1); err == nil && last[0] != '\n' { // of a process that was killed
				lines = append([]byte{'\n'}, lines...)
			}
		}
		if err != nil {
			return err
		}
	}
	n, err := l.file.Write(lines)
	l.size += int64(n)
	return err
}

// forget empties both files.
func (l *Log) forget() {
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
	for _, path := range []string{l.path + ".1", l.path} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.log.Error("what happened before cannot be forgotten", zap.String("path", path), zap.Error(err))
		}
	}
}

// Read calls each with every line, the oldest first. A line that is damaged is left out,
// counted and logged; the error is of a file that cannot be read.
func (l *Log) Read(each func(line []byte)) error {
	l.Flush()
	var errs []error
	for _, path := range []string{l.path + ".1", l.path} {
		damaged, err := read(path, each)
		if damaged > 0 {
			l.log.Warn("lines for rules that look back are damaged", zap.String("path", path),
				zap.Int("lines", damaged))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("read %s: %w", path, err))
		}
	}
	return errors.Join(errs...)
}

func read(path string, each func(line []byte)) (damaged int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, mostLine+16)
	for lines.Scan() {
		sum, line, found := bytes.Cut(lines.Bytes(), []byte{' '})
		switch {
		case len(lines.Bytes()) == 0:
		case !found || string(sum) != fmt.Sprintf("%08x", crc32.Checksum(line, castagnoli)):
			damaged++
		default:
			each(line)
		}
	}
	return damaged, lines.Err()
}
