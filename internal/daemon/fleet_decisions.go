package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/wire"
)

// fleetPlace is the name under which the store keeps which decisions the fleet has. No
// target of forward can have it.
const fleetPlace = "the fleet"

// decisions fits fleet.Decisions.
type decisions struct{ d *Daemon }

// Ahead fits fleet.Decisions.
func (s decisions) Ahead(ctx context.Context, limit int) ([]wire.Decision, int64, error) {
	a, err := s.d.recorder.Ahead(ctx, fleetPlace, limit)
	return a.Decisions, a.Missed, err
}

// Published fits fleet.Decisions.
func (s decisions) Published(through uint64, missed int64) {
	s.d.store.Forwarded(fleetPlace, through, missed)
}

// Waiting fits fleet.Decisions.
func (s decisions) Waiting(ctx context.Context) (int, time.Time, error) {
	p, err := s.d.store.Place(ctx, fleetPlace)
	if errors.Is(err, store.ErrNotFound) { // the place is not written yet
		err = nil
	}
	return p.Waiting, p.Oldest, err
}
