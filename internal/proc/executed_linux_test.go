package proc

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"
)

// heard collects the programs that are told.
type heard struct {
	mu   sync.Mutex
	list []Started
}

func (h *heard) add(s Started) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, s)
}

// wait returns the first program that is so.
func (h *heard) wait(t *testing.T, so func(Started) bool) Started {
	t.Helper()
	for {
		h.mu.Lock()
		i := slices.IndexFunc(h.list, so)
		if i >= 0 {
			defer h.mu.Unlock()
			return h.list[i]
		}
		h.mu.Unlock()
		select {
		case <-t.Context().Done():
			t.Fatal("it was not told")
		case <-time.After(time.Millisecond):
		}
	}
}

// follow returns a running Executed, which follows this process as an agent.
func follow(t *testing.T) (*Executed, *heard) {
	t.Helper()
	h := &heard{}
	x := &Executed{Told: h.add}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- x.Run(ctx) }()
	for running := false; !running; {
		select {
		case err := <-ended:
			cancel()
			t.Skip(err)
		case <-time.After(time.Millisecond):
		}
		x.mu.Lock()
		running = x.running
		x.mu.Unlock()
	}
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	x.Add(os.Getpid())
	return x, h
}

func has(word string) func(Started) bool {
	return func(s Started) bool { return slices.Contains(s.Args, word) }
}

func run(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v %s", args, err, out)
	}
}

// A program counts as asked about while a call is open and below a program of one, and no other does.
func TestExecuted(t *testing.T) {
	x, h := follow(t)
	me := os.Getpid()
	run(t, "sh", "-c", "sleep 0.02; : before")
	if s := h.wait(t, has("sleep 0.02; : before")); s.Asked || s.Agent != me {
		t.Errorf("before any call: %+v", s)
	}
	x.Opened(me, OpenCall{"s", "1"})
	late := exec.Command("sh", "-c", "read line; sleep 0.02; : late")
	stdin, err := late.StdinPipe()
	if err != nil || late.Start() != nil {
		t.Fatal(err)
	}
	if s := h.wait(t, has("read line; sleep 0.02; : late")); !s.Asked || s.Later {
		t.Errorf("within a call: %+v", s)
	}
	x.Closed(me, OpenCall{"s", "1"})
	x.mu.Lock()
	x.agents[me].until = time.Time{} // the moment has passed
	x.mu.Unlock()
	stdin.Close()
	if s := h.wait(t, func(s Started) bool { return s.Later }); !slices.Equal(s.Args, []string{"sleep", "0.02"}) || !s.Asked {
		t.Errorf("of a call that has ended: %+v", s)
	}
	late.Wait()
	run(t, "sh", "-c", "sleep 0.02; : after")
	if s := h.wait(t, has("sleep 0.02; : after")); s.Asked {
		t.Errorf("after the call: %+v", s)
	}
	x.Opened(me, OpenCall{"s", "2"})
	x.Opened(me, OpenCall{"other", "3"})
	x.Idle(me, "s")
	x.mu.Lock()
	defer x.mu.Unlock()
	if f := x.agents[me]; len(f.open) != 1 || f.open[OpenCall{"other", "3"}] == nil {
		t.Errorf("a session is idle, and open are %v", f.open)
	}
}

// Hooks and bridges are hookd's own way to the agent, whatever they start.
func TestExecutedBridge(t *testing.T) {
	_, h := follow(t)
	run(t, "sh", "-c", "sleep 0.02; true /x/hookd-bridge claude-code || true")
	run(t, "sh", "-c", "sleep 0.02; : marker")
	h.wait(t, has("sleep 0.02; : marker"))
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.list {
		if ShellLine(s.Args) == "sleep 0.02; true /x/hookd-bridge claude-code || true" {
			t.Errorf("told: %+v", s)
		}
	}
}

func TestShellLine(t *testing.T) {
	for _, tt := range []struct {
		line string
		args []string
	}{
		{"ls -l", []string{"/bin/bash", "-c", "ls -l"}},
		{"ls", []string{"bash", "-lc", "ls", "x"}},
		{"ls", []string{"/bin/zsh", "-c", "-l", "ls"}},
		{"", []string{"bash", "script"}},
		{"", []string{"git", "-c", "a=b"}},
		{"", []string{"sh", "-c"}},
		{"", nil},
	} {
		if got := ShellLine(tt.args); got != tt.line {
			t.Errorf("%q: got %q, want %q", tt.args, got, tt.line)
		}
	}
}
