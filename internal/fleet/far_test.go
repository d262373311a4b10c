package fleet_test

import (
	"slices"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/fleet/fleettest"
)

// Servers that are 200 ms away cost a round trip for many events, not for each: those of one
// session come in their order, and work comes beside them.
func TestFarServers(t *testing.T) {
	hooktest.Long(t)
	servers := fleettest.Start(t, nil)
	far := &cable{t: t, delay: 100 * time.Millisecond}
	url := far.to(servers.Port()).String()
	a, b := join(t, url, "a", each), join(t, url, "b", once, each)
	hooktest.Until(t, "both have begun", func() bool {
		return status(t, a).State.Connected && status(t, b).State.Connected
	})
	const events = 2000
	far.set(true) // all wait on disk first: to write them takes longer than to send them
	want := a.emit(t, each, 0, events)
	a.emit(t, once, events, events)
	far.set(false)
	hooktest.Until(t, "the first has come", func() bool { return len(b.data()) > 0 })
	began := time.Now()
	hooktest.Until(t, "all have come", func() bool { return len(b.data()) == 2*events })
	t.Logf("%d events of one session, and as many without an order, in %s after the first", events, time.Since(began))
	got := slices.DeleteFunc(b.data(), func(s string) bool { return !slices.Contains(want, s) })
	if !slices.Equal(got, want) {
		t.Error("the events of the session come in another order")
	}
	if n, _ := servers.Stored("HOOKD_t_EVERY"); n > events/20 {
		t.Errorf("%d events took %d messages", events, n)
	}
}

// A stream that is full holds up nothing but its own events.
func TestAFullStreamStopsItself(t *testing.T) {
	servers := fleettest.Start(t, nil)
	a, b := join(t, servers.URL(), "a", each), join(t, servers.URL(), "b", once)
	hooktest.Until(t, "there are streams", func() bool { return status(t, a).State.Connected && status(t, a).Trouble == "" })
	streams := fleettest.Streams(t, []string{servers.URL()})
	hooktest.Until(t, "the stream takes no more", func() bool {
		s, err := streams.Stream(t.Context(), "HOOKD_t_EVERY")
		if err != nil {
			return false
		}
		cfg := s.CachedInfo().Config
		cfg.MaxMsgSize, cfg.MaxBytes = 1, 1
		_, err = streams.UpdateStream(t.Context(), cfg)
		return err == nil
	})
	a.emit(t, each, 0, 300)
	a.emit(t, once, 300, 300)
	hooktest.Until(t, "work goes on", func() bool { return len(b.data()) == 300 })
}

// Streams that are made again, as after a lost disk, begin their numbers again: no event is taken for
// an earlier one.
func TestStreamsThatBeginAgain(t *testing.T) {
	servers := fleettest.Start(t, nil)
	a, b := join(t, servers.URL(), "a", each), join(t, servers.URL(), "b", each)
	streams := fleettest.Streams(t, []string{servers.URL()})
	for round := range 3 {
		hooktest.Until(t, "the streams are there", func() bool {
			_, err := streams.Stream(t.Context(), "HOOKD_t_EVERY")
			return err == nil
		})
		hooktest.Must(t, streams.DeleteStream(t.Context(), "HOOKD_t_EVERY"))
		servers.Stop()
		a.emit(t, each, 3*round, 3) // all in one message
		servers.Run()
		hooktest.Until(t, "all have come", func() bool { return len(b.data()) == 3*(round+1) })
	}
}
