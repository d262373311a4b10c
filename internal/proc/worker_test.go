package proc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

func startWorker(t testing.TB, r *Runner, s Spec) *Worker {
	t.Helper()
	k, err := r.StartWorker(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Kill(); k.Close() })
	return k
}

// line reads until the end of a line.
func line(t testing.TB, k *Worker) string {
	t.Helper()
	var got []byte
	for buf := make([]byte, 1<<10); !bytes.HasSuffix(got, []byte("\n")); {
		n, err := k.Read(buf)
		if err != nil {
			t.Fatalf("read after %q: %v", got, err)
		}
		got = append(got, buf[:n]...)
	}
	return string(got)
}

func ended(t testing.TB, k *Worker) Exit {
	t.Helper()
	select {
	case <-k.Done():
	case <-time.After(time.Minute):
		t.Fatal("the process does not end")
	}
	return k.Exit()
}

func TestKeepTalks(t *testing.T) {
	eachRunner(t, func(t *testing.T, r *Runner) {
		k := startWorker(t, r, shell(t, `while read -r l; do echo "note $l" >&2; echo "got $l"; done; exit 7`))
		for _, word := range []string{"one", "two"} {
			if err := k.Write([]byte(word + "\n")); err != nil {
				t.Fatal(err)
			}
			if got := line(t, k); got != "got "+word+"\n" {
				t.Errorf("got %q for %s", got, word)
			}
			if got := all(k.Stderr()); got != "note "+word+"\n" {
				t.Errorf("got stderr %q for %s", got, word)
			}
		}
		if k.Ended() || k.PID == 0 || (k.Cgroup != "") != (r.Cgroup() != "") {
			t.Errorf("got %+v, ended %v", k.Process, k.Ended())
		}
		k.CloseStdin()
		if e := ended(t, k); e.Code != 7 || e.Signal != "" || e.Killed != "" || e.Left != 0 || e.Duration <= 0 {
			t.Errorf("got %+v, want code 7", e)
		}
		if _, err := k.Read(make([]byte, 10)); err != io.EOF {
			t.Errorf("got %v, want the end", err)
		}
	})
}

func TestKeepStartError(t *testing.T) {
	_, err := newRunner(t, Options{}).StartWorker(t.Context(), Spec{Path: "/nowhere/hook"})
	var start *StartError
	if !errors.As(err, &start) || !strings.Contains(err.Error(), "/nowhere/hook") {
		t.Errorf("got %v, want a *StartError", err)
	}
}

// All output that a process wrote before it ended is read, though a background child
// holds the pipe.
func TestKeepReadsToTheEnd(t *testing.T) {
	eachRunner(t, func(t *testing.T, r *Runner) {
		s := shell(t, `(while [ ! -e "$DIR/go" ]; do sleep 0.01; done; echo late && touch "$DIR/wrote") & i=0; while [ $i -lt 2000 ]; do echo 0123456789; i=$((i+1)); done`)
		k := startWorker(t, r, s)
		var got int
		for buf := make([]byte, 100); ; {
			n, err := k.Read(buf)
			if got += n; err != nil {
				break
			}
		}
		if got != 22000 {
			t.Errorf("got %d bytes, want 22000", got)
		}
		if e := ended(t, k); e.Code != 0 {
			t.Errorf("got %+v", e)
		}
		k.Close()
		if err := os.WriteFile(s.Dir+"/go", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		hooktest.Until(t, "the background child to write into a pipe that is still read", func() bool { return exists(s.Dir + "/wrote") })
	})
}

func TestKeepKill(t *testing.T) {
	eachRunner(t, func(t *testing.T, r *Runner) {
		s := shell(t, `sleep 1000 & echo ready; sleep 1000`)
		k := startWorker(t, r, s)
		line(t, k)
		k.Kill()
		want := "tree"
		if r.Cgroup() != "" {
			want = "cgroup"
		}
		if e := ended(t, k); e.Code != -1 || e.Signal != "SIGKILL" || e.Killed != want || e.Left != 0 {
			t.Errorf("got %+v, want it killed by %s", e, want)
		}
		if pids := survivors(t, mark(s)); len(pids) > 0 {
			t.Errorf("%v survived", pids)
		}
		k.Kill() // again: nothing
	})
}

// A process that does not read blocks Write until it is killed.
func TestKeepWriteEndsWithTheProcess(t *testing.T) {
	k := startWorker(t, newRunner(t, Options{}), shell(t, `sleep 1000`))
	failed := make(chan error)
	go func() { failed <- k.Write(make([]byte, 1<<20)) }()
	k.Kill()
	select {
	case err := <-failed:
		if err == nil {
			t.Error("a megabyte was written to a process that does not read")
		}
	case <-time.After(time.Minute):
		t.Fatal("the write goes on after the end of the process")
	}
}

// Unblock ends Read and Write of a process that neither writes nor reads.
func TestWorkerUnblock(t *testing.T) {
	k := startWorker(t, newRunner(t, Options{}), shell(t, `echo ready; sleep 1000`))
	line(t, k)
	ended := make(chan error, 2)
	go func() { ended <- k.Write(make([]byte, 1<<20)) }()
	go func() { _, err := k.Read(make([]byte, 10)); ended <- err }()
	k.Unblock()
	for range 2 {
		select {
		case err := <-ended:
			if err == nil {
				t.Error("got no error")
			}
		case <-time.After(time.Minute):
			t.Fatal("it still blocks")
		}
	}
	if k.Ended() {
		t.Error("the process has ended")
	}
}

func TestKeepTerm(t *testing.T) {
	k := startWorker(t, newRunner(t, Options{}), shell(t, `trap 'exit 4' TERM; echo ready; while :; do sleep 0.01; done`))
	line(t, k)
	k.Term()
	if e := ended(t, k); e.Code != 4 || e.Killed != "" {
		t.Errorf("got %+v, want the trap's code", e)
	}
}

// Stderr is bounded whatever is written, and taking it never waits for the
// writer.
func TestKeepStderrIsBounded(t *testing.T) {
	k := startWorker(t, newRunner(t, Options{}), helper(t, "endless"))
	go io.Copy(io.Discard, reader{k})
	var total int64
	hooktest.Until(t, "a megabyte on stderr", func() bool {
		o := k.Stderr()
		if len(o.Head) > HeadBytes || len(o.Tail) > TailBytes {
			t.Fatalf("kept %d and %d bytes", len(o.Head), len(o.Tail))
		}
		total += o.Bytes
		return total > 1<<20
	})
}

type reader struct{ *Worker }

func (r reader) Read(b []byte) (int, error) { return r.Worker.Read(b) }

func TestKeepCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newRunner(t, Options{}).StartWorker(ctx, shell(t, "echo")); err == nil {
		t.Error("a process was started although the context had ended")
	}
}
