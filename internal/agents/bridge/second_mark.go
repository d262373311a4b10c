package bridge

import (
	"context"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// mark says that one of the two calls for an event is under way, or answered. It is a
// symbolic link that leads nowhere: such a link is made whole or not at all, one call
// alone can make it, and reading it never hangs. The zero mark is kept nowhere.
type mark struct{ path, way string }

// mark is the mark of the event that key names, for a call that came by way.
func (s state) mark(key, way string) mark {
	if s.dir == "" || os.MkdirAll(s.dir, 0o700) != nil {
		return mark{}
	}
	return mark{s.path(key), way}
}

// lookAgain is how often a call looks whether the other one has been answered.
const lookAgain = 5 * time.Millisecond

// The words of a link: the way, the process, and whether the answer is written.
const (
	begun   = "begun"
	written = "written"
)

func (m mark) text(word string) string {
	return strings.Join([]string{m.way, strconv.Itoa(os.Getpid()), word}, " ")
}

// join reports whether the event's other call is answered, and takes its mark away then.
// It waits for a call that is under way, until ctx ends. Otherwise the mark is this
// call's: answer or withdraw ends it.
func (m mark) join(ctx context.Context) bool {
	if m.path == "" {
		return false
	}
	for {
		if os.Symlink(m.text(begun), m.path) == nil {
			return false
		}
		way, word, alive := m.read()
		switch {
		case way == m.way || way == "":
			return m.replace(begun) // an earlier event's, or no mark at all
		case word == written:
			return os.Remove(m.path) == nil
		case !alive || wait(ctx, lookAgain) != nil:
			return m.replace(begun)
		}
	}
}

// read returns the words of the link; way is "" if it says nothing, or nothing of late.
func (m mark) read() (way, word string, alive bool) {
	info, err := os.Lstat(m.path)
	if err != nil || time.Since(info.ModTime()) > fresh {
		return "", "", false
	}
	text, err := os.Readlink(m.path)
	parts := strings.Split(text, " ")
	if err != nil || len(parts) != 3 {
		return "", "", false
	}
	pid, err := strconv.Atoi(parts[1])
	return parts[0], parts[2], err == nil && pid > 0 && syscall.Kill(pid, 0) == nil
}

// replace makes the mark say word of this call, whatever is there. It returns false.
func (m mark) replace(word string) bool {
	temp := m.path + "." + strconv.Itoa(os.Getpid())
	os.Remove(temp) // of an earlier process with this id
	if os.Symlink(m.text(word), temp) != nil || os.Rename(temp, m.path) != nil {
		os.Remove(temp)
	}
	return false
}

// answer notes that the agent has its answer.
func (m mark) answer() {
	if m.path != "" {
		m.replace(written)
	}
}

// withdraw takes the mark of this call away: the other one is to send the event.
func (m mark) withdraw() {
	if text, err := os.Readlink(m.path); m.path != "" && err == nil && text == m.text(begun) {
		os.Remove(m.path)
	}
}

// wait waits for d; the error is that of a ctx that ends before.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
