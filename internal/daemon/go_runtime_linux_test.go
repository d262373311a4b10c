package daemon

import (
	"os"
	"testing"
)

// The threads that runs at once may need are there before the first run.
func TestThreadsAreMadeAtTheStart(t *testing.T) {
	const runs = 16
	addThreads(runs)
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	if len(threads) < runs+moreThreads {
		t.Errorf("%d threads, want at least %d", len(threads), runs+moreThreads)
	}
}
