package proc

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

func TestBackgroundChildLivesOn(t *testing.T) {
	// It writes far more than a pipe holds, for a while after the end of its
	// parent, and says so when it is through: a closed pipe would kill it, a
	// full one would hold it.
	script := `(
	while [ ! -e returned ]; do echo waiting; sleep 0.01; done
	i=0; while [ $i -lt 40 ]; do head -c 30000 /dev/zero || exit 1; head -c 10000 /dev/zero >&2 || exit 1; i=$((i+1)); done
	touch finished
) & echo hi`
	eachRunner(t, func(t *testing.T, r *Runner) {
		s := shell(t, script)
		e := r.Run(t.Context(), s)
		if e.Code != 0 || e.Killed != "" || e.Left != 0 || e.Late == nil {
			t.Fatalf("got %+v, want a clean end and a held pipe", e)
		}
		if len(survivors(t, mark(s))) == 0 {
			t.Error("the child is gone")
		}
		if err := os.WriteFile(filepath.Join(s.Dir, "returned"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		hooktest.Until(t, "the child to finish", func() bool { return exists(filepath.Join(s.Dir, "finished")) })
	})
}

func TestLateOutput(t *testing.T) {
	eachRunner(t, func(t *testing.T, r *Runner) {
		s := shell(t, `(while [ ! -e go ] && [ -d "$DIR" ]; do :; done; echo late; echo late2 >&2) & echo early`)
		s.Whole = 1000
		e := r.Run(t.Context(), s)
		if e.Late == nil || all(e.Stdout) != "early\n" {
			t.Fatalf("got %+v, want early output and a held pipe", e)
		}
		if err := os.WriteFile(filepath.Join(s.Dir, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		ended := e.Start.Add(e.Duration)
		stdout, stderr := e.Late()
		took := time.Since(ended)
		if all(stdout) == "early\nlate\n" && all(stderr) == "late2\n" && stdout.Bytes == 11 {
			return
		}
		if took < LateWindow {
			t.Errorf("got %q and %q after %v, want the late output", all(stdout), all(stderr), took)
		}
		t.Skipf("the machine was too busy: the child did not write within %v", LateWindow)
	})
}

func TestLateWindowCloses(t *testing.T) {
	r := newRunner(t, Options{})
	s := shell(t, `(while [ ! -e go ] && [ -d "$DIR" ]; do sleep 0.01; done; echo too late; touch done) & echo early`)
	e := r.Run(t.Context(), s)
	if e.Late == nil {
		t.Fatalf("got %+v, want a held pipe", e)
	}
	first, _ := e.Late()
	if got := time.Since(e.Start.Add(e.Duration)); got < LateWindow {
		t.Errorf("window closed after %v though the pipe is held, want %v", got, LateWindow)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	hooktest.Until(t, "the child", func() bool { return exists(filepath.Join(s.Dir, "done")) })
	second, _ := e.Late()
	if all(first) != "early\n" || all(second) != "early\n" {
		t.Errorf("got %q, then %q, want what came within the window", all(first), all(second))
	}
}

func TestLateEndsWithThePipe(t *testing.T) {
	s := shell(t, `(while [ ! -e go ] && [ -d "$DIR" ]; do sleep 0.01; done) & echo early`)
	e := newRunner(t, Options{}).Run(t.Context(), s)
	if e.Late == nil {
		t.Fatalf("got %+v, want a held pipe", e)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	hooktest.Until(t, "the child to end", func() bool { return len(survivors(t, mark(s))) == 0 })
	if stdout, _ := e.Late(); all(stdout) != "early\n" {
		t.Errorf("got %q", all(stdout))
	}
}

func TestEndlessBackgroundChildDoesNotHoldTheRun(t *testing.T) {
	s := shell(t, `"$EXE" & echo $! > pid; echo early`)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.Env = append(s.Env, "EXE="+exe, helperVar+"=endless")
	t.Cleanup(func() { killAll(t, mark(s)) })
	e := newRunner(t, Options{}).Run(t.Context(), s)
	if e.Code != 0 || e.Late == nil {
		t.Fatalf("got %+v, want a clean end", e)
	}
	if o, _ := e.Late(); len(o.Head) > HeadBytes || len(o.Tail) > TailBytes {
		t.Errorf("got %d+%d bytes, want them bounded", len(o.Head), len(o.Tail))
	}
}

// A background child that writes without end is read in bursts: between them it
// waits, and so does its reader.
func TestAWriterWithoutEndIsReadInBursts(t *testing.T) {
	eachRunner(t, func(t *testing.T, r *Runner) {
		paused, resume := make(chan time.Duration), make(chan struct{})
		r.pause = func(_ context.Context, d time.Duration) bool {
			paused <- d
			<-resume
			return true
		}
		s := shell(t, `while [ ! -e stop ]; do head -c 30000 /dev/zero; done & echo hi`) // often the pipe is empty
		e := r.Run(t.Context(), s)
		if e.Late == nil {
			t.Fatalf("got %+v, want a held pipe", e)
		}
		for range 3 {
			if got := <-paused; got != burstPause {
				t.Errorf("paused for %s, want %s", got, burstPause)
			}
			resume <- struct{}{}
		}
		<-paused
		if err := os.WriteFile(filepath.Join(s.Dir, "stop"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		close(resume)
		go func() {
			for range paused { // what it wrote before it saw that it is to stop
			}
		}()
		hooktest.Until(t, "the child to end", func() bool { return len(survivors(t, mark(s))) == 0 })
		e.Late()
		close(paused)
	})
}
