package readfile_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hangfs"
	"github.com/hookd/hookd/internal/base/readfile"
)

// While a file is open that is never read to its end, processes start. A pipe that was
// open before comes to its end when it is closed.
func TestAFileThatHangsHoldsNothing(t *testing.T) {
	m := hangfs.New(t, map[string]string{"f": "text"})
	path := filepath.Join(m.Dir, "f")
	if data, err := readfile.Read(path, 100); err != nil || string(data) != "text" {
		t.Fatalf("before it hangs: %q, %v", data, err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	m.Hang(hangfs.Read, hangfs.Flush)
	read := make(chan string, 1)
	go func() {
		data, err := readfile.Head(path, 2)
		if err != nil {
			t.Error(err)
		}
		read <- string(data)
	}()
	m.Held()

	went := make(chan error, 2)
	go func() { went <- exec.Command("true").Run() }()
	w.Close()
	go func() {
		_, err := io.ReadAll(r)
		went <- err
	}()
	for range 2 {
		select {
		case err := <-went:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Error("a start, or the end of a pipe, waits for a file that hangs")
			m.Answer() // else the whole test would hang
		}
	}
	runtime.GC()
	m.Answer()
	if got := <-read; got != "te" {
		t.Errorf("after it hung: %q", got)
	}
}
