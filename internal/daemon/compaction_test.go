package daemon

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/events"
)

// docker-agent announces one compaction twice, to steer it and to veto it: a hook
// on one of the names runs for that alone. OpenClaw's only announcement is for
// both.
func TestHooksOnOneAnnouncementOfACompaction(t *testing.T) {
	home := newHome(t)
	writeHook(t, home, "steer", "events: [pre_compact]\n", "exit 0\n")
	writeHook(t, home, "veto", "events: [before_compaction]\n", "exit 0\n")
	h := start(t, home, func(c *config.Config) { c.FireStartup = false })
	for _, tt := range []struct {
		dialect events.Dialect
		event   string
		want    []string
	}{
		{events.DockerAgent, "pre_compact", []string{"steer"}},
		{events.DockerAgent, "before_compaction", []string{"veto"}},
		{events.ClaudeCode, "PreCompact", []string{"steer"}},
		{events.OpenClaw, "before_compaction", []string{"steer", "veto"}},
	} {
		a, err := h.client.Emit(
			t.Context(),
			client.Event{Event: tt.event, Dialect: client.Dialect(tt.dialect), Data: json.RawMessage(`{"session_id":"s"}`), Wait: true},
		)
		if err != nil || !slices.Equal(a.Matched, tt.want) {
			t.Errorf("%s of %s: matched %v, %v, want %v", tt.event, tt.dialect, a.Matched, err, tt.want)
		}
	}
}
