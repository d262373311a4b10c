package client

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hangfs"
)

// A socket on a file system that hangs costs the time that the caller has, not more.
func TestASocketThatHangs(t *testing.T) {
	m := hangfs.New(t, map[string]string{"file": ""})
	m.Hang()
	t.Cleanup(m.Answer)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := New(Options{Socket: filepath.Join(m.Dir, "hookd.sock")}).Status(ctx)
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil || errors.Is(err, ErrNotRunning) {
			t.Errorf("got %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("it waits for a file system that hangs")
	}
}
