package doctor

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/hookd/hookd/client"
)

// fleetBehind is the age from which records that wait for the fleet are reported: a machine
// comes back within a minute after its servers.
const fleetBehind = 5 * time.Minute

// fleet says whether the records for the fleet of this machine reach it, and which records no
// machine took. lag is nil on a machine of none.
func (v *visit) fleet(ctx context.Context, lag *client.FleetLag) {
	if lag == nil {
		return
	}
	const do = "hookd fleet status"
	o := lag.Outbox
	waits := fmt.Sprintf("%d events and %d decisions wait on disk", o.Events, o.Decisions)
	if o.Oldest != nil {
		waits += fmt.Sprintf(", the oldest is %s old", time.Since(*o.Oldest).Round(time.Second))
	}
	since := lag.Since.Local().Format("2006-01-02 15:04:05")
	switch {
	case lag.Unread != "":
		v.say("fleet", Problem, do, "what waits for the fleet cannot be read: %s", lag.Unread)
	case !lag.Connected:
		v.say("fleet", Problem, do, "%s is not connected since %s: %s; %s", lag.Machine, since,
			cmp.Or(lag.Error, "no server answers"), waits)
	case lag.Error != "":
		v.say("fleet", Problem, do, "%s; %s", lag.Error, waits)
	case o.Oldest != nil && time.Since(*o.Oldest) > fleetBehind:
		v.say("fleet", Problem, do, "this machine is behind: %s", waits)
	default:
		v.say("fleet", OK, "", "%s is connected; %s", lag.Machine, waits)
	}
	if o.Refused > 0 {
		v.say("fleet", Problem, do, "%d events are never taken by the servers: %s", o.Refused, o.Why)
	}
	v.fleetDead(ctx, lag)
}

// fleetDead says how many events no machine of the fleet took.
func (v *visit) fleetDead(ctx context.Context, lag *client.FleetLag) {
	if !lag.Connected {
		return
	}
	ctx, cancel := v.ask(ctx)
	defer cancel()
	f, err := v.Client.Fleet(ctx)
	if err == nil && f.Dead > 0 {
		v.say("fleet", Note, "hookd dev dead list --fleet", "%d events were given up after 50 tries", f.Dead)
	}
}
