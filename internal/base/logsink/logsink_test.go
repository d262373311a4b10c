package logsink

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func notice(dropped uint64) []byte { return fmt.Appendf(nil, "dropped %d\n", dropped) }

// A pipe that nothing reads holds up nothing. Once it is read, the lines come in order,
// then how many are missing, then the lines that were logged since.
func TestUnreadPipe(t *testing.T) {
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := New(in, notice)
	const lines = 300_000 // more than the sink, what it writes just now and the pipe have room for
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for i := range lines / 4 {
				fmt.Fprintf(s, "line %d of many\n", i)
			}
		})
	}
	writers.Wait() // although nothing is read
	if err := s.Sync(); !errors.Is(err, ErrNotWritten) {
		t.Errorf("flushed into a pipe that nothing reads: %v", err)
	}

	read := bufio.NewScanner(out)
	came, dropped, notices := 0, 0, 0
	for came+dropped < lines && read.Scan() {
		text, n := read.Text(), 0
		if _, err := fmt.Sscanf(text, "dropped %d", &n); err == nil {
			dropped += n
			notices++
		} else if strings.HasPrefix(text, "line ") && strings.HasSuffix(text, " of many") {
			came++
		} else {
			t.Fatalf("got %q after %d lines", text, came)
		}
	}
	// Two at most: the first batch may be taken after lines were dropped, too.
	if came+dropped != lines || dropped == 0 || came == 0 || notices > 2 {
		t.Errorf("%d came, %d were dropped by the count of %d notices, of %d", came, dropped, notices, lines)
	}
	fmt.Fprintf(s, "after\n")
	if !read.Scan() || read.Text() != "after" {
		t.Errorf("after the dropped lines came %q", read.Text())
	}
	if err := errors.Join(s.Close(), in.Close(), out.Close()); err != nil {
		t.Error(err)
	}
}

// flaky fails while fail is set.
type flaky struct {
	mu   sync.Mutex
	fail bool
	text strings.Builder
}

func (f *flaky) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail {
		return 0, io.ErrClosedPipe
	}
	return f.text.Write(p)
}

func (f *flaky) set(fail bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = fail
}

// Lines that the log refuses are counted as well.
func TestRefusedLines(t *testing.T) {
	to := &flaky{fail: true}
	s := New(to, notice)
	for range 3 {
		fmt.Fprintf(s, "lost\n")
		if err := s.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	to.set(false)
	fmt.Fprintf(s, "kept\n")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	fmt.Fprintf(s, "late\n")
	if got := to.text.String(); got != "kept\ndropped 3\n" {
		t.Errorf("got %q", got)
	}
}

// Lines that were written before the end are in the log.
func TestClose(t *testing.T) {
	to := &flaky{}
	s := New(to, notice)
	want := ""
	for i := range 1000 {
		line := fmt.Sprintf("line %d\n", i)
		want += line
		io.WriteString(s, line)
	}
	if err := s.Close(); err != nil || to.text.String() != want {
		t.Errorf("got %d of %d bytes, %v", to.text.Len(), len(want), err)
	}
}
