package daemon

import (
	"slices"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/record/recorder"
	"github.com/hookd/hookd/wire"
)

// announcer is the recorder, and emits hookd:decided for each decision while a hook asks for that
// event. It fits dispatch.Recorder.
type announcer struct {
	*recorder.Recorder
	d *Daemon
}

// Decided fits dispatch.Recorder.
func (a announcer) Decided(rec *wire.Decision) {
	var data []byte
	if a.d.announces.Load() {
		if rec.Outcome == "" {
			rec.Outcome = rec.Word()
		}
		data = append(rec.AppendJSON([]byte{'{'}), '}') // now: the record is the recorder's own from then on
	}
	id, denied := rec.EventID, rec.Decision == wire.OutcomeDeny
	a.Recorder.Decided(rec)
	if data == nil {
		return
	}
	more := []rawjson.Member{rawjson.StringMember("why", "hookd why "+id)}
	if denied {
		more = append(more, rawjson.StringMember("permit", "hookd permit "+id))
	}
	_, _ = a.d.dispatch.EmitOwn(events.Envelope{ // as emitOwn
		Event: events.EventDecided, Data: rawjson.With(data, more...), Sender: "hookd",
	})
}

// noteAnnounced notes whether a hook of snap asks for decisions.
func (d *Daemon) noteAnnounced(snap *hook.Snapshot) {
	d.announces.Store(slices.ContainsFunc(snap.Entries, func(e hook.Entry) bool {
		return runsFor(e, events.EventDecided)
	}))
}
