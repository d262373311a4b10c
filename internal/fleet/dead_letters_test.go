package fleet_test

import (
	"slices"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/fleet/fleettest"
	"github.com/hookd/hookd/wire"
)

// deadLetters returns the dead letters that a machine lists.
func deadLetters(t *testing.T, m *machine, hook string) []wire.DeadLetter {
	t.Helper()
	list, err := m.DeadLetters(t.Context(), hook, 0)
	hooktest.Must(t, err)
	return list.Dead
}

// Events that no machine took are listed with their data, taken by a machine that has the
// hook then, or dropped. A letter that another machine forged under its own name for another
// hook is none.
func TestDeadLettersOfTheFleet(t *testing.T) {
	url := fleettest.Start(t, nil).URL()
	a := joinAs(t, engine.Options{Servers: []string{url}, Machine: "a", Tries: 2}, fleet.Options{}, once)
	a.mu.Lock()
	a.refuse = func(events.Envelope) *wire.Error {
		return &wire.Error{Code: wire.CodeNotFound, Message: "no hook"}
	}
	a.mu.Unlock()
	want := a.emit(t, once, 0, 2)
	hooktest.Until(t, "both are given up", func() bool {
		n, err := a.Dead(t.Context())
		return err == nil && n == 2
	})
	list := deadLetters(t, a, "")
	if len(list) != 2 || list[0].ID <= list[1].ID || list[0].Attempts != 2 || list[0].Hook != "once" ||
		list[0].Machine != "a" || list[0].Data != nil || len(deadLetters(t, a, "other")) != 0 {
		t.Fatalf("the dead letters are %+v", list)
	}
	first, bad := a.DeadLetter(t.Context(), list[1].ID)
	if bad != nil || !slices.Contains(want, string(first.Data)) { // they are given up in any order
		t.Errorf("the first is %+v, %v", first, bad)
	}
	if _, bad := a.RetryDead(t.Context(), first.ID); bad == nil || bad.Code != wire.CodeNotFound {
		t.Errorf("a retry without the hook: %v", bad)
	}
	a.mu.Lock()
	a.refuse = nil
	a.mu.Unlock()
	if _, bad := a.RetryDead(t.Context(), first.ID); bad != nil {
		t.Fatal(bad)
	}
	if got := a.data(); len(got) != 1 || got[0] != string(first.Data) {
		t.Errorf("the machine took %v", got)
	}
	if _, bad := a.DropDead(t.Context(), list[0].ID); bad != nil {
		t.Fatal(bad)
	}
	hooktest.Must(t, a.broker.Publish(t.Context(), []engine.Message{
		{Subject: "hookd.t.a.dead.other", Data: []byte(`{"machine":"a","hook":"once"}`)},
	})[0])
	if left := deadLetters(t, a, ""); len(left) != 0 {
		t.Errorf("there are still %+v", left)
	}
	for _, id := range []int64{first.ID, list[0].ID, 0, -1, 1 << 40} {
		if _, bad := a.DeadLetter(t.Context(), id); bad == nil || bad.Code != wire.CodeNotFound {
			t.Errorf("letter %d: %v", id, bad)
		}
	}
}
