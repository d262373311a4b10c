package contain

import (
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"
)

// ticketFile writes the file of tickets, in the order in which it gets the lines. A disk that hangs holds up
// nothing but the writes.
type ticketFile struct {
	path string // "" = there is none
	log  *zap.Logger

	mu      sync.Mutex
	text    []byte        // to be written
	whole   bool          // text is the whole file
	done    chan struct{} // closed when text is written
	writing bool

	file *os.File // of the goroutine that writes; nil = there is none
}

func newTicketFile(folder string, log *zap.Logger) *ticketFile {
	f := &ticketFile{log: log, done: make(chan struct{})}
	if folder != "" {
		f.path = filepath.Join(folder, "boxes.jsonl")
	}
	return f
}

// put has text written behind the earlier text, or in its place. The returned channel is closed when the system has it,
// or cannot take it.
func (f *ticketFile) put(text []byte, whole bool) (written <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if whole {
		f.text, f.whole = nil, true
	}
	f.text = append(f.text, text...)
	if !f.writing {
		f.writing = true
		go f.write()
	}
	return f.done
}

// write writes until there is nothing more.
func (f *ticketFile) write() {
	for {
		f.mu.Lock()
		text, whole, done := f.text, f.whole, f.done
		if f.writing = len(text) > 0 || whole; !f.writing {
			f.mu.Unlock()
			return
		}
		f.text, f.whole, f.done = nil, false, make(chan struct{})
		f.mu.Unlock()
		if f.path != "" {
			f.append(text, whole)
		}
		close(done)
	}
}

func (f *ticketFile) append(text []byte, whole bool) {
	if whole {
		f.open()
	}
	if f.file == nil {
		return
	}
	if _, err := f.file.Write(text); err != nil {
		f.log.Warn("a ticket of a box cannot be kept", zap.Error(err))
	}
}

// open begins a new file.
func (f *ticketFile) open() {
	if f.file != nil {
		f.file.Close()
	}
	var err error
	f.file, err = os.OpenFile(f.path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err == nil {
		err = os.Rename(f.path+".new", f.path)
	}
	if err != nil {
		f.file = nil
		f.log.Warn("tickets of boxes cannot be kept: after a restart of hookd a call gets a box without one", zap.Error(err))
	}
}

// writeTime is how long a call waits for its ticket to be written.
const writeTime = time.Second

// await waits for a write, for a bounded time.
func (f *ticketFile) await(written <-chan struct{}) {
	select {
	case <-written:
	case <-time.After(writeTime):
		f.log.Warn("the ticket of a box is not written yet: hookd's home does not answer")
	}
}
