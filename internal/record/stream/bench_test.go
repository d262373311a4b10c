package stream

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// The cost of one record without readers.
func BenchmarkEncode(b *testing.B) {
	now := time.Now().UTC()
	event := &events.Event{
		Envelope: events.Envelope{Event: "agent:step", Data: json.RawMessage(`{"agent_id":"a","status":"ok","step":17}`), SessionID: "s1", AgentID: "a", Cwd: "/tmp", Sender: "uid:1000", Dialect: events.LibreFang},
		EventID:  events.NewID(now), Time: now,
	}
	run := &wire.Run{
		ID: events.NewRunID(now), EventID: event.EventID, Event: "agent:step", Hook: "audit", Source: "hooks_dir:/home/user/.librefang/hooks/audit",
		SessionID: "s1", Sender: "uid:1000", Started: now, DurationMS: 3.1, Result: wire.ResultOK, Stdout: wire.Output{Bytes: 20, Head: "twenty bytes of text"},
	}
	for name, encoder := range map[string]func() Encoder{
		"event": func() Encoder { return EventRecord(event) },
		"run":   func() Encoder { return RunRecord(run) },
	} {
		b.Run(name, func(b *testing.B) {
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				buf = encoder()(17, buf[:0])
			}
			b.SetBytes(int64(len(buf)))
		})
	}
}
