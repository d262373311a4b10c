package daemon

import (
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// A stream is known once it was read, also when another of its name has taken its place: that is read from its
// first message.
func TestPositions(t *testing.T) {
	p, begun := positions{t.TempDir()}, time.Now()
	check := func(begun time.Time, want uint64, known bool) {
		t.Helper()
		if seq, is, err := p.ReadThrough("S", begun); seq != want || is != known || err != nil {
			t.Errorf("got %d, %v, %v; want %d, %v", seq, is, err, want, known)
		}
	}
	check(begun, 0, false)
	hooktest.Must(t, p.SetReadThrough("S", begun, 7))
	check(begun, 7, true)
	check(begun.Add(time.Hour), 0, true)
}
