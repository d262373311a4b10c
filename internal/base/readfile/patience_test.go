package readfile

import (
	"slices"
	"testing"
	"time"
)

// Patience gives up on a call that hangs. It does not try the call again meanwhile, and
// holds up nothing else.
func TestPatience(t *testing.T) {
	back := make(chan struct{})
	p := NewPatience(20*time.Millisecond, func() { close(back) })
	mended := make(chan struct{})
	if p.Try("/dead", func() { <-mended }) {
		t.Error("a call that hangs has returned")
	}
	if p.Try("/dead", func() { t.Error("tried again while it hangs") }) || !slices.Equal(p.Hung(), []string{"/dead"}) {
		t.Errorf("hung: %q", p.Hung())
	}
	patient := NewPatience(time.Minute, nil)
	if ran := false; !patient.Try("/fine", func() { ran = true }) || !ran {
		t.Error("a call that returns has not")
	}
	close(mended)
	<-back
	if got := p.Hung(); len(got) != 0 {
		t.Errorf("still hung: %q", got)
	}
}
