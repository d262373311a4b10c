package fleet_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/fleet"
	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/fleet/fleettest"
	"github.com/hookd/hookd/wire"
)

// busy is a machine whose state is another one each time that it is looked at.
type busy struct {
	local
	started time.Time
	hooks   atomic.Int64
}

func (b *busy) Facts() wire.FleetMachine {
	return wire.FleetMachine{Started: b.started, Hooks: int(b.hooks.Add(1))}
}

func (b *busy) join(t *testing.T, url, name string) *machine {
	return joinAs(t, engine.Options{Servers: []string{url}, Machine: name}, fleet.Options{Machine: b})
}

// Two machines with one name push out each other's state: both say so, and any machine shows it. A machine
// that has started again, and other machines, say nothing.
func TestTwoMachinesWithOneName(t *testing.T) {
	url, now := fleettest.Start(t, nil).URL(), time.Now()
	(&busy{started: now.Add(-time.Hour)}).join(t, url, "other")
	one := (&busy{started: now}).join(t, url, "laptop")
	hooktest.Until(t, "both are seen", func() bool {
		one.Changed()
		list, err := one.Machines(t.Context())
		return err == nil && len(list) == 2 && list[0].Hooks > 5
	})
	if s := status(t, one); s.Trouble != "" {
		t.Errorf("alone under its name the machine says %q", s.Trouble)
	}
	two := (&busy{started: now.Add(time.Minute)}).join(t, url, "laptop")
	const want = "two machines have the name laptop"
	for name, m := range map[string]*machine{"first": one, "second": two} {
		hooktest.Until(t, "the "+name+" says that there is another", func() bool {
			one.Changed()
			two.Changed()
			return strings.Contains(status(t, m).Trouble, want)
		})
	}
	hooktest.Until(t, "all see it", func() bool {
		one.Changed()
		two.Changed()
		list, err := two.Machines(t.Context())
		return err == nil && len(list) == 2 && strings.Contains(list[0].Trouble, want) && list[1].Trouble == ""
	})
}

// A machine whose report cannot be read, or is another machine's, is in the list, and why it is not known.
func TestReportsThatCannotBeRead(t *testing.T) {
	server := fleettest.Start(t, nil)
	m := (&busy{started: time.Now()}).join(t, server.URL(), "laptop")
	hooktest.Until(t, "there are streams", func() bool {
		list, err := m.Machines(t.Context())
		return err == nil && len(list) == 1
	})
	reports := map[string]string{
		"junk": "{{", "nothing": "null", "number": `{"machine":"number","hooks":"many"}`, "liar": `{"machine":"laptop","hooks":9}`,
	}
	for name, text := range reports {
		subject := strings.Join([]string{"hookd", "t", name, "now", "machine"}, ".")
		hooktest.Must(t, m.broker.Publish(t.Context(), []engine.Message{{Subject: subject, Data: []byte(text)}})[0])
	}
	list, err := m.Machines(t.Context())
	hooktest.Must(t, err)
	for _, of := range list {
		_, bad := reports[of.Machine]
		if bad != strings.Contains(of.Trouble, "cannot be read") || bad && of.Hooks != 0 || of.Time.IsZero() {
			t.Errorf("the list has %+v", of)
		}
	}
	if len(list) != len(reports)+1 {
		t.Errorf("the list has %d machines: %+v", len(list), list)
	}
}
