package fleet

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/wire"
)

// twin is another machine with this one's name. The two push out each other's state and asks, and run no hook for
// each other's events.
type twin struct {
	broker engine.Broker
	names  Names
	log    *zap.Logger

	mu    sync.Mutex        // guards the fields below
	state wire.FleetMachine // newest state under the name that is not of this process
	seen  time.Time         // when another state of the same process followed an earlier one; zero = never
}

// look notes another machine if the newest state under the name is not of the process that started then. The other
// counts when it has published twice: servers that lost their newest messages show the state before a restart once.
func (t *twin) look(ctx context.Context, started time.Time) {
	var newest wire.FleetMachine
	q := engine.Query{Stream: t.names.stream(areaNow), Subject: t.names.subject(areaNow, nowMachine)}
	err := t.broker.Read(ctx, q, func(m engine.Stored) bool {
		newest = wire.FleetMachine{}
		return json.Unmarshal(m.Data, &newest) == nil
	})
	if err != nil || newest.Time.IsZero() || newest.Started.Equal(started) {
		return
	}
	said := t.why()
	t.mu.Lock()
	if newest.Started.Equal(t.state.Started) && !newest.Time.Equal(t.state.Time) {
		t.seen = time.Now()
	}
	t.state = newest
	t.mu.Unlock()
	if why := t.why(); said == "" && why != "" {
		t.log.Warn(why, zap.Time("the_other_started", newest.Started), zap.String("its_version", newest.Version))
	}
}

// why says that another machine has the name; "" = none has had it for awayAfter.
func (t *twin) why() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen.IsZero() || time.Since(t.seen) > awayAfter {
		return ""
	}
	return "two machines have the name " + t.names.Machine + ": each hides what the other says, and gets none of its events. " +
		"Give one another fleet.name and key, see `hookd fleet keygen --help`; if there is one alone, its key is stolen: revoke it"
}
