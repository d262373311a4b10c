package daemon

import (
	"time"

	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/record/audit"
	"github.com/hookd/hookd/wire"
)

// auditChange puts the change of a hook or of the settings into the audit chain. It fits
// catalog.Changes.Tell.
func (d *Daemon) auditChange(c wire.Change) {
	kind := audit.Hook
	if c.Hook == catalog.SettingsRecord {
		kind = audit.Settings
	}
	d.store.Audit(c.Time, kind, c)
}

// tellGone records guards that can deny no more, and emits an event for each.
func (d *Daemon) tellGone(gone []wire.Change) {
	for _, c := range gone {
		c.Time = time.Now().UTC()
		d.store.Audit(c.Time, audit.Gone, c)
		d.emitOwn(
			events.EventGuardGone,
			member("hook", c.Hook), member("change", c.Change), member("digest", c.From),
			member("layer", catalog.LayerOf(c.Hook).Text()), member("by", c.By), member("why", c.Why),
		)
	}
}
